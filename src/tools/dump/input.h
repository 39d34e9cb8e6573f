#ifndef SWZ_TOOLS_DUMP_INPUT_H
#define SWZ_TOOLS_DUMP_INPUT_H

/* The two profiles of a run with -m both: that with the samples is beside the
 * other and called like it, with ".samples", and its header names the other. */

#include <stdbool.h>
#include <stddef.h>

#include "profile/file/inputs.h"
#include "profile/names/catalog.h"
#include "tools/dump/dump_options.h"

/* --- profiles ------------------------------------------------------------ */

/* The profiles that are read. */

struct swz_dump_input {
	struct swz_profile **profiles;
	struct swz_binding *bindings; /* NULL until reports are made */
	size_t count;
	size_t capacity;
	/* -m both: the profiles that have the times of these; see input.h */
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

/* True if the format and the options can be had of INPUT: if calls were counted
 * without times (-m count), not all. Says so; the program's status. */
int swz_dump_check_counts(const struct swz_dump_input *input,
			  const struct swz_dump_options *options);

/* Reads them; complains of what is wrong with them. */
void swz_dump_read_inputs(struct swz_dump_input *input,
			  const struct swz_dump_options *options,
			  char **arguments, size_t count);
void swz_dump_free_input(struct swz_dump_input *input);

/* How many files could not be read, of all that were named or found. Each was
 * said; the program's status is not EXIT_OK then, whatever is shown. */
size_t swz_dump_unread(void);

/* Says what is missing from a profile that was read. */
void swz_dump_warn_damage(const struct swz_profile *profile);

/* True if there is a thread that is asked for. */
bool swz_dump_has_thread(const struct swz_dump_input *input,
			 const struct swz_dump_options *options);

/* True if each --tid names one; says which does not, and what threads there
 * are.
 */
bool swz_dump_has_all_threads(const struct swz_dump_input *input,
			      const struct swz_dump_options *options);

/* The same where a thread may be in the counts or in the samples of a run. */
bool swz_dump_has_named_threads(const struct swz_dump_input *counts,
				const struct swz_dump_input *samples,
				const struct swz_dump_options *options);

/* Keeps the samples alone where no module was hooked (-M) that could have been
 * counted, and says so. */
void swz_dump_leave_out_uncounted(struct swz_dump_input *input,
				  const struct swz_dump_options *options);

/* True if the format shows samples by themselves, and all have some with times.
 */
bool swz_dump_shows_samples(const struct swz_dump_input *input,
			    const struct swz_dump_options *options);

/* True if all are traces. */
bool swz_dump_is_traced(const struct swz_dump_input *input);

/* -f calls without --at, --blame and --calls-of: whether no profile is a trace,
 * and one has the values of last calls. */
bool swz_dump_has_last_values(const struct swz_dump_input *input,
			      const struct swz_dump_options *options);

/* --- counts and samples of one run --------------------------------------- */

/* Reads the samples that belong to the input, unless they were taken out of it,
 * and says so. */
void swz_dump_find_pairs(struct swz_dump_input *input,
			 const struct swz_dump_options *options);

/* The first profile of a run that has samples stands for its process: adds the
 * profiles of the programs that the process has executed since. */
void swz_dump_add_programs(struct swz_inputs *inputs);

/* Takes out of the input the profiles that are the samples of others in it:
 * they become input->samples. */
void swz_dump_take_pairs(struct swz_dump_input *input);

/* Takes out profiles whose process another one has, too: a copy, a snapshot, a
 * part of a sum. Says which, unless QUIET. */
void swz_dump_count_once(struct swz_dump_input *input, bool quiet);

/* The same as swz_dump_find_pairs. QUIET: only says which samples could not be
 * read. */
void swz_dump_find_beside(struct swz_dump_input *input, bool quiet);

/* True if a profile of SAMPLES belongs to one of COUNTS. */
bool swz_dump_is_pair(const struct swz_dump_input *samples,
		      const struct swz_dump_input *counts);

#endif
