#ifndef SWZ_TOOLS_DUMP_RESULT_H
#define SWZ_TOOLS_DUMP_RESULT_H

/* The result for a writer: made of one thread or of several. */

#include "profile/costs/joined.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"

struct swz_dump_result {
	struct swz_report report;
	struct swz_contexts contexts;
	bool has_contexts;
};

/* To be called before threads are added: all that are wanted, or one. It is for
 * the line that says how far the work is. */
void swz_dump_begin_adding(const struct swz_dump_input *input,
			   const struct swz_dump_options *options,
			   const struct swz_profile_thread *only);

void swz_dump_begin_result(struct swz_dump_result *result,
			   const struct swz_dump_options *options);
void swz_dump_add_thread(struct swz_dump_result *result,
			 struct swz_binding *binding,
			 const struct swz_profile_thread *thread,
			 const struct swz_dump_options *options);
void swz_dump_end_result(struct swz_dump_result *result);
void swz_dump_free_result(struct swz_dump_result *result);

/* The facts about functions that a report needs. */
struct swz_catalog_options swz_dump_catalog_options(
	const struct swz_dump_options *options);

/* Finds the names of all that was added. */
void swz_dump_resolve(struct swz_catalog *catalog);

/* Finds the names of all that will be added: filters are by name, and a name
 * may depend on those of other threads, which are written later. */
void swz_dump_name_all(const struct swz_dump_input *input,
		       const struct swz_dump_options *options);

void swz_dump_warn_result(const struct swz_dump_result *result,
			  const struct swz_dump_options *options);
/* Says which patterns match no function, and which names they might mean.
 * False: none matches any. Names are resolved. */
bool swz_dump_has_functions(const struct swz_catalog *catalog,
			    const char *option,
			    const struct swz_patterns *patterns);

/* The same of all options; names are resolved. */
void swz_dump_warn_filter(struct swz_catalog *catalog,
			  const struct swz_dump_options *options);

/* A section for it, of the profile at an index and its like. */
struct swz_section swz_dump_new_section(const struct swz_dump_input *input,
					size_t index,
					const struct swz_dump_result *result,
					const struct swz_dump_options *options);

/* --- counts and times of one run ------------------------------------------ */

/* Counts of a run whose calls were recorded, and times of one that was sampled,
 * mostly the same: see profile/costs/joined.h. Each side is added up by itself,
 * with one catalog, in which a function is the same in both: by build-id and
 * address. */

/* Reads both and writes them in the options' format. Returns an exit status. */
int swz_dump_times(const struct swz_dump_options *options);

/* The same of what was read: INPUT, and the samples that it has. */
int swz_dump_pair(struct swz_dump_input *input,
		  const struct swz_dump_options *options);

/* --- for comparisons ----------------------------------------------------- */

/* The caller adds threads to `counts` and `times`. At the end `counts` has
 * both, is the caller's to free, and swz_dump_join_free() frees the rest. */
struct swz_dump_join {
	struct swz_dump_result counts, times;
	struct swz_counting *counting;
	struct swz_joined joined;
};

void swz_dump_join_begin(struct swz_dump_join *join);
void swz_dump_join_end(struct swz_dump_join *join,
		       const struct swz_dump_input *input,
		       const struct swz_dump_input *samples);
void swz_dump_join_free(struct swz_dump_join *join);

/* Makes the bindings of an input's profiles. */
void swz_dump_bind(struct swz_dump_input *input, struct swz_catalog *catalog);

/* Marks functions of REPORT that no hook has counted: those without a call that
 * were not hooked in any of the inputs. IS_FIRST: begins anew. */
void swz_dump_mark_uncounted(struct swz_report *report,
			     const struct swz_catalog *catalog,
			     const struct swz_dump_input *input, bool is_first);

#endif
