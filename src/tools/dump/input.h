#ifndef SWZ_TOOLS_DUMP_INPUT_H
#define SWZ_TOOLS_DUMP_INPUT_H

/* The profiles that are read. */

#include <stdbool.h>
#include <stddef.h>

#include "profile/names/catalog.h"
#include "profile/file/inputs.h"
#include "tools/dump/options.h"

struct swz_dump_input {
	struct swz_profile **profiles;
	struct swz_binding *bindings; /* NULL until reports are made */
	size_t count;
	size_t capacity;
	/* -m both: the profiles that have the times of these; see pairs.h */
	struct swz_profile **samples;
	size_t sample_count, sample_capacity;
	char *others; /* names of processes that were not asked for, or NULL */
};

/* The files that the arguments mean; complains of those that are not there.
 * Ends the program if one would be replaced by what is made of it. */
void swz_dump_find_inputs(struct swz_inputs *inputs,
			  const struct swz_dump_options *options,
			  char **arguments, size_t count);

/* Samples and calls do not add up, nor can they be compared: says so and exits
 * if one of the profiles is of the other kind than FIRST. */
void swz_dump_check_kinds(const struct swz_dump_input *input,
			  const struct swz_profile *first);

/* Reads them; complains of what is wrong with them. */
void swz_dump_read_inputs(struct swz_dump_input *input,
			  const struct swz_dump_options *options,
			  char **arguments, size_t count);
void swz_dump_free_input(struct swz_dump_input *input);

/* Whether there is a thread that is asked for. */
bool swz_dump_has_thread(const struct swz_dump_input *input,
			 const struct swz_dump_options *options);

/* Whether each --tid names one; says which does not, and what threads there
 * are.
 */
bool swz_dump_has_all_threads(const struct swz_dump_input *input,
			      const struct swz_dump_options *options);

/* Whether all are traces. */
bool swz_dump_is_traced(const struct swz_dump_input *input);

/* -f calls without --at, --blame and --calls-of: whether no profile is a trace,
 * and one has the values of last calls. */
bool swz_dump_has_last_values(const struct swz_dump_input *input,
			      const struct swz_dump_options *options);

#endif
