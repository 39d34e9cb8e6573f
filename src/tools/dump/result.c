/* The tree of each thread is made, filtered and given back as soon as it is
 * added. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/events.h"
#include "tools/dump/reports.h"
#include "util/interpreters.h"
#include "util/memory.h"
#include "util/output.h"

static uint64_t node_count(const struct swz_profile_thread *thread)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < thread->span_count; i++)
		count += thread->spans[i].count;
	return count;
}

void swz_dump_begin_result(struct swz_dump_result *result,
			   const struct swz_dump_options *options)
{
	unsigned int needs = options->format->needs;

	*result = (struct swz_dump_result){.has_contexts = needs &
							   SWZ_NEEDS_CONTEXTS};
	result->report.without_edges = !(needs & SWZ_NEEDS_EDGES);
	result->report.hits.wanted = needs & SWZ_NEEDS_HITS;
	if (result->has_contexts)
		swz_contexts_begin(&result->contexts, SWZ_CATALOG_OUTSIDE,
				   needs & SWZ_NEEDS_PLACES ||
					   options->table.offsets);
	result->contexts.by_offset = options->table.offsets;
	result->contexts.by_unit = needs & SWZ_NEEDS_UNITS;
	result->contexts.finds_jumps = true;
}

void swz_dump_add_thread(struct swz_dump_result *result,
			 struct swz_binding *binding,
			 const struct swz_profile_thread *thread,
			 const struct swz_dump_options *options)
{
	struct swz_tree tree;

	swz_tree_build_range(
		&tree, binding->profile, thread, options->compensate,
		swz_dump_has_range(options) ? &options->range : NULL);
	if (!swz_view_is_whole(&options->view))
		swz_view_apply(&options->view, binding, &tree);
	if (result->has_contexts)
		swz_contexts_add(&result->contexts, &result->report, binding,
				 &tree);
	else
		swz_report_add(&result->report, binding, &tree);
	if (result->contexts.by_unit && swz_profile_traced(binding->profile) &&
	    swz_event_extent_is_partial(binding->profile, thread))
		swz_contexts_add_untraced(&result->contexts);
	swz_tree_free(&tree);
}

void swz_dump_end_result(struct swz_dump_result *result)
{
	swz_report_sort(&result->report);
	swz_contexts_sum(&result->contexts);
}

void swz_dump_free_result(struct swz_dump_result *result)
{
	swz_report_free(&result->report);
	swz_contexts_free(&result->contexts);
}

void swz_dump_begin_adding(const struct swz_dump_input *input,
			   const struct swz_dump_options *options,
			   const struct swz_profile_thread *only)
{
	uint64_t count = 0;
	size_t i, j;

	for (i = 0; i < input->count && !only; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				count += node_count(
					&input->profiles[i]->threads[j]);
	/* twice: making the tree, and adding its costs */
	swz_progress_stage("adding up", 2 * (only ? node_count(only) : count));
}

struct swz_catalog_options swz_dump_catalog_options(
	const struct swz_dump_options *options)
{
	return (struct swz_catalog_options){
		.symbols = true,
		.lines = options->format->needs & SWZ_NEEDS_LINES ||
			 swz_rules_need_files(&options->config) ||
			 options->annotate || options->by == SWZ_BY_FILE ||
			 options->by == SWZ_BY_LINE,
		.demangle = options->format->of_symbols ? SWZ_DEMANGLE_NO
							: options->demangle,
		.quiet = options->quiet,
		.files = &options->files,
	};
}

void swz_dump_resolve(struct swz_catalog *catalog)
{
	swz_catalog_resolve(catalog);
	swz_progress_end();
}

void swz_dump_name_all(const struct swz_dump_input *input,
		       const struct swz_dump_options *options)
{
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				swz_view_prepare(
					&input->bindings[i],
					&input->profiles[i]->threads[j]);
	if (input->count)
		swz_dump_resolve(input->bindings[0].catalog);
}

void swz_dump_warn_result(const struct swz_dump_result *result,
			  const struct swz_dump_options *options)
{
	size_t split = swz_report_split(&result->report);

	/* groups (--by) have the time of a table */
	if (split && result->has_contexts && !options->quiet &&
	    options->by == SWZ_BY_NOTHING &&
	    !(options->format->takes & SWZ_TELLS_FOLDED))
		swz_dump_complain("%zu function%s less inclusive time here "
				  "than in -f text, as calls were folded. "
				  "Record with a larger --recursion or "
				  "--max-memory",
				  split, split == 1 ? " has" : "s have");
	if (result->report.dropped_nodes && !options->quiet)
		swz_dump_complain("%" PRIu64
				  " inconsistent contexts were left out",
				  result->report.dropped_nodes);
}

#define MOST_MEANT 3

/* A function's name without its namespaces and classes. */
static const char *own_name(const char *name)
{
	const char *at = name, *s;
	int depth = 0;

	for (s = name; *s && *s != '('; s++) {
		depth += (*s == '<') - (*s == '>');
		if (depth == 0 && s[0] == ':' && s[1] == ':')
			at = s + 2;
	}
	return at;
}

/* Without parameters and template arguments. */
static bool is_called(const char *name, const char *pattern)
{
	const char *own = own_name(name);

	return strcspn(own, "(<") == strlen(pattern) &&
	       strncmp(own, pattern, strlen(pattern)) == 0;
}

/* "; did you mean 'shop::catalog::discount'?": functions whose own name is
 * PATTERN, or whose name has it somewhere; to be freed. */
static char *meant_by(const struct swz_catalog *catalog, const char *pattern)
{
	char *list = swz_duplicate("");
	size_t count = 0;

	for (int pass = 0; pass < 2 && !count; pass++)
		for (size_t i = 0; i < catalog->function_count; i++) {
			const char *name = catalog->functions[i].name;
			char *longer;

			if (!name || !SWZ_CATALOG_IS_REAL(i) ||
			    !(pass ? strstr(name, pattern) != NULL
				   : is_called(name, pattern)))
				continue;
			if (count++ >= MOST_MEANT)
				continue;
			longer = swz_print("%s%s'%s'", list, *list ? ", " : "",
					   name);
			free(list);
			list = longer;
		}
	if (*list) {
		char *all = swz_print("; did you mean %s%s?", list,
				      count > MOST_MEANT ? ", ..." : "");

		free(list);
		list = all;
	}
	return list;
}

bool swz_dump_has_functions(const struct swz_catalog *catalog,
			    const char *option,
			    const struct swz_patterns *patterns)
{
	bool *hits = swz_allocate(patterns->count, sizeof(*hits));
	bool any = !patterns->count;
	size_t i;

	for (i = 0; patterns->count && i < catalog->function_count; i++)
		if (catalog->functions[i].name)
			swz_patterns_match(patterns, catalog, (uint32_t)i,
					   hits);
	for (i = 0; i < patterns->count; i++) {
		char *meant;

		any |= hits[i];
		if (hits[i])
			continue;
		meant = meant_by(catalog, patterns->items[i]);
		swz_dump_complain("%s '%s' matches no function that was "
				  "recorded%s",
				  option, patterns->items[i], meant);
		free(meant);
	}
	free(hits);
	return any;
}

static bool has_script(const struct swz_catalog *catalog)
{
	for (size_t i = 0; i < catalog->function_count; i++) {
		const struct swz_catalog_function *f = &catalog->functions[i];

		if (f->module != SWZ_INDEX_NONE &&
		    catalog->modules[f->module].lies_in_no_file &&
		    !(f->name && strcmp(f->name, SWZ_CODE_UNNAMED) == 0))
			return true;
	}
	return false;
}

static void warn_script(struct swz_catalog *catalog)
{
	char *unread = swz_dump_unread_version(catalog);

	if (unread)
		swz_dump_complain("--script: no function of a script was "
				  "recorded. %s, and they can be read "
				  "of " SWZ_KNOWN_SCRIPTS " only",
				  unread);
	else if (catalog->samples)
		swz_dump_complain("--script: the samples hit no function of a "
				  "script. docs/interpreters.md says what each "
				  "interpreter needs; " SWZ_KNOWN_SCRIPTS
				  " are not read with --engine perf");
	else
		swz_dump_complain(
			"--script: no function of a script was "
			"recorded. Record with swizzle-run -m sample; "
			"docs/interpreters.md says what each interpreter "
			"needs");
	free(unread);
}

void swz_dump_warn_filter(struct swz_catalog *catalog,
			  const struct swz_dump_options *options)
{
	if (options->quiet)
		return;
	/* where rows are filtered, or else contexts */
	(void)swz_dump_has_functions(catalog, "-F", &options->table.filters);
	(void)swz_dump_has_functions(catalog, "-F", &options->view.only);
	(void)swz_dump_has_functions(catalog, "-N", &options->view.without);
	(void)swz_dump_has_functions(catalog, "-H", &options->view.hidden);
	(void)swz_dump_has_functions(catalog, "-C", &options->view.callers);
	if (options->view.script && !has_script(catalog))
		warn_script(catalog);
}

uint64_t swz_dump_first_origin(const struct swz_dump_input *input)
{
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < input->count; i++)
		if (swz_profile_origin(input->profiles[i]) < first)
			first = swz_profile_origin(input->profiles[i]);
	return first;
}

void swz_dump_count_merged_threads(struct swz_report *report,
				   const struct swz_dump_input *input,
				   const struct swz_dump_options *options)
{
	const size_t records = report->thread_count;

	if (options->threads.count) /* threads of these names are not counted */
		return;
	for (size_t i = 0; i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		if (profile->header.flags & SWZ_FILE_MERGED &&
		    profile->header.merged_threads > profile->thread_count)
			report->thread_count += profile->header.merged_threads -
						profile->thread_count;
	}
	if (records && report->silent_threads == records)
		report->silent_threads = report->thread_count;
	if (records && report->unseen_threads == records)
		report->unseen_threads = report->thread_count;
}

struct swz_section swz_dump_new_section(const struct swz_dump_input *input,
					size_t index,
					const struct swz_dump_result *result,
					const struct swz_dump_options *options)
{
	return (struct swz_section){
		.catalog = input->bindings[index].catalog,
		.report = &result->report,
		.contexts = result->has_contexts ? &result->contexts : NULL,
		.profile = input->profiles[index],
		.binding = &input->bindings[index],
		.view = &options->view,
		.threads = &options->threads,
		.profiles = &input->profiles[index],
		.profile_count = 1,
		.part = 1,
		.origin = swz_dump_first_origin(input),
		.compensated = options->compensate,
		.range = swz_dump_has_range(options) ? &options->range : NULL,
	};
}
