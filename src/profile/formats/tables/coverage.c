/* A profile lists all functions of the modules that it hooks, with the reason
 * why one has no hook. Those with a hook and without a call did not run.
 * Nothing is known of those without a hook: they are never taken for one or the
 * other. A function is one of the catalog, so profiles of several runs add up.
 */

#include "profile/formats/tables/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"

/* --- what ran ------------------------------------------------------------ */

const char *swz_coverage_problem(const struct swz_profile *profile)
{
	uint32_t flags = profile->header.flags;

	if (flags & SWZ_FILE_SAMPLES)
		return "it has samples, which do not say what never ran. "
		       "Record with swizzle-run -m cover";
	if (flags & SWZ_FILE_MERGED && !(flags & SWZ_FILE_LISTED))
		return "this sum has only the functions that were called. "
		       "Name the profiles that it is of";
	if (flags & SWZ_FILE_FILTERED)
		return "options such as -F and -D left calls out, so it does "
		       "not say what never ran";
	return NULL;
}

/* Part of a function: GCC and LLVM move what is rarely executed elsewhere. It
 * is entered by jumps, and is no function of the source. */
static bool is_part(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && (!cold[5] || cold[5] == '.');
}

/* The function of the old build that a profile's function is; NULL: it is of
 * another module. */
static const struct swz_old_function *old_function(
	const struct swz_profile *profile, const struct swz_rebuilt *rebuilt,
	const struct swz_profile_function *f)
{
	if (f->module == SWZ_INDEX_NONE || f->flags & SWZ_FUNCTION_IMPORT ||
	    !swz_build_is(&rebuilt->old, &profile->modules[f->module]))
		return NULL;
	return swz_rebuilt_find(rebuilt, f->address);
}

/* The same one in the new build; SWZ_INDEX_NONE: there is none. */
static uint32_t carried_over(struct swz_coverage *coverage,
			     const struct swz_binding *binding,
			     const struct swz_profile_function *f)
{
	const struct swz_old_function *old = old_function(binding->profile,
							  coverage->rebuilt, f);

	if (!old || old->change != SWZ_CODE_SAME)
		return SWZ_INDEX_NONE;
	return swz_catalog_function_at(binding->catalog, coverage->new_module,
				       old->new_address + f->address -
					       old->address);
}

static struct swz_covered *covered_function(struct swz_coverage *coverage,
					    uint32_t function)
{
	uint32_t *at = swz_map_at(&coverage->index, function, 0);

	if (*at == SWZ_MAP_NONE) {
		*at = (uint32_t)coverage->count;
		swz_grow(&coverage->items, &coverage->capacity, coverage->count,
			 sizeof(*coverage->items));
		coverage->items[coverage->count++] = (struct swz_covered){
			.function = function};
	}
	return &coverage->items[*at];
}

/* NULL: it belongs to no file, stands for calls from elsewhere, or is not in
 * the new build. */
static struct swz_covered *covered_at(struct swz_coverage *coverage,
				      struct swz_binding *binding,
				      uint32_t index)
{
	const struct swz_profile *profile = binding->profile;
	const struct swz_profile_function *f = &profile->functions[index];
	uint32_t function;

	if (f->module == SWZ_INDEX_NONE || f->flags & SWZ_FUNCTION_IMPORT ||
	    swz_module_is_no_file(&profile->modules[f->module]))
		return NULL;
	if (coverage->rebuilt &&
	    swz_build_is(&coverage->rebuilt->old, &profile->modules[f->module]))
		function = carried_over(coverage, binding, f);
	else
		function = swz_binding_function(binding, index, f->id);
	return function == SWZ_INDEX_NONE
		       ? NULL
		       : covered_function(coverage, function);
}

/* The new build's: whether these run is known only if it did. */
static void add_others(struct swz_coverage *coverage,
		       struct swz_catalog *catalog)
{
	const struct swz_rebuilt *rebuilt = coverage->rebuilt;
	size_t i;

	for (i = 0; i < rebuilt->other_count; i++) {
		struct swz_covered *covered = covered_function(
			coverage,
			swz_catalog_function_at(catalog, coverage->new_module,
						rebuilt->others[i].address));

		if (!covered->size)
			covered->size = rebuilt->others[i].size;
	}
}

static void add_functions(struct swz_coverage *coverage,
			  struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;
	uint32_t i;

	for (i = 0; i < profile->function_count; i++) {
		const struct swz_profile_function *f = &profile->functions[i];
		struct swz_covered *covered = covered_at(coverage, binding, i);

		if (!covered)
			continue;
		covered->hooked |= f->status == SWZ_PATCHED;
		if (f->size > covered->size)
			covered->size = f->size;
	}
}

static void add_node(struct swz_coverage *coverage, struct swz_binding *binding,
		     const struct swz_node *node)
{
	uint32_t index = swz_profile_function_by_id(binding->profile,
						    node->function);
	struct swz_covered *covered;

	if (!node->calls || index == SWZ_INDEX_NONE)
		return;
	covered = covered_at(coverage, binding, index);
	if (!covered)
		return;
	covered->hooked = true;
	covered->calls = swz_add_count(covered->calls, node->calls);
}

/* (A node that was counted twice, in two threads, adds up.) */
static void add_calls(struct swz_coverage *coverage,
		      struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;
	size_t i, j;
	uint32_t n;

	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];

		for (j = 0; j < thread->span_count; j++)
			for (n = 0; n < thread->spans[j].count; n++)
				add_node(coverage, binding,
					 swz_profile_node(
						 profile,
						 thread->spans[j].unit + n));
	}
}

/* Only the first of several calls counts. */
static void add_order(struct swz_coverage *coverage,
		      struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;
	struct swz_map seen = {0};
	size_t i, place = 0;

	for (i = 0; i < profile->first_call_count; i++) {
		uint32_t id = profile->first_calls[i].function;
		uint32_t *at = swz_map_at(&seen, id, 0);
		uint32_t index = swz_profile_function_by_id(profile, id);
		struct swz_covered *covered;

		if (*at != SWZ_MAP_NONE || index == SWZ_INDEX_NONE)
			continue;
		*at = 0;
		covered = covered_at(coverage, binding, index);
		if (!covered)
			continue;
		covered->ordered++;
		covered->places += (double)place++ /
				   (double)profile->first_call_count;
	}
	swz_map_free(&seen);
}

/* NULL: they have none, or not the same. */
static char *test_of(const struct swz_binding *bindings, size_t count)
{
	const char *test = swz_profile_label(bindings[0].profile, "test");
	size_t i;

	for (i = 1; test && i < count; i++) {
		const char *other = swz_profile_label(bindings[i].profile,
						      "test");

		if (!other || strcmp(test, other) != 0)
			test = NULL;
	}
	return test ? swz_duplicate(test) : NULL;
}

static uint32_t program_of(const struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;
	size_t i;

	for (i = 0; i < profile->module_count; i++)
		if (strcmp(profile->modules[i].path, profile->executable) == 0)
			return binding->modules[i];
	return SWZ_INDEX_NONE;
}

static void find_new_module(struct swz_coverage *coverage,
			    const struct swz_binding *binding)
{
	const struct swz_build *old = &coverage->rebuilt->old;
	const struct swz_build *new = &coverage->rebuilt->new;

	coverage->new_module = swz_catalog_file(binding->catalog, new->path,
						new->build_id,
						new->build_id_bytes);
	if (coverage->program == swz_catalog_file(binding->catalog, old->path,
						  old->build_id,
						  old->build_id_bytes))
		coverage->program = coverage->new_module;
}

void swz_coverage_find(struct swz_coverage *coverage,
		       struct swz_binding *bindings, size_t count)
{
	size_t i;

	coverage->catalog = bindings[0].catalog;
	coverage->counts_calls = true;
	coverage->test = test_of(bindings, count);
	coverage->program = program_of(&bindings[0]);
	if (coverage->rebuilt)
		find_new_module(coverage, &bindings[0]);
	for (i = 0; i < count; i++) {
		add_functions(coverage, &bindings[i]);
		add_calls(coverage, &bindings[i]);
		add_order(coverage, &bindings[i]);
		if (bindings[i].profile->header.flags & SWZ_FILE_COVER)
			coverage->counts_calls = false;
	}
	if (coverage->rebuilt)
		add_others(coverage, bindings[0].catalog);
}

void swz_coverage_free(struct swz_coverage *coverage)
{
	free(coverage->items);
	free(coverage->test);
	swz_map_free(&coverage->index);
}

/* --- single functions ---------------------------------------------------- */

static const struct swz_catalog_function *function_of(
	const struct swz_coverage *coverage, const struct swz_covered *covered)
{
	return &coverage->catalog->functions[covered->function];
}

static bool is_shown(const struct swz_coverage *coverage,
		     const struct swz_covered *covered)
{
	const char *name = function_of(coverage, covered)->name;

	return !is_part(name) &&
	       (!coverage->filters || !coverage->filters->count ||
		swz_patterns_match(coverage->filters, coverage->catalog,
				   covered->function, NULL));
}

bool swz_coverage_reaches(struct swz_binding *binding,
			  const struct swz_patterns *patterns)
{
	struct swz_coverage coverage = {.catalog = binding->catalog,
					.filters = patterns};
	bool reached = false;
	size_t i;

	add_calls(&coverage, binding);
	for (i = 0; i < coverage.count && !reached; i++)
		reached = is_shown(&coverage, &coverage.items[i]);
	swz_coverage_free(&coverage);
	return reached;
}

static bool node_is_affected(const struct swz_profile *profile,
			     const struct swz_rebuilt *rebuilt,
			     const struct swz_node *node)
{
	uint32_t index = swz_profile_function_by_id(profile, node->function);
	const struct swz_old_function *old;

	if (!node->calls || index == SWZ_INDEX_NONE)
		return false;
	old = old_function(profile, rebuilt, &profile->functions[index]);
	return old && old->change != SWZ_CODE_SAME;
}

bool swz_coverage_is_affected(const struct swz_binding *binding,
			      const struct swz_rebuilt *rebuilt)
{
	const struct swz_profile *profile = binding->profile;
	size_t i, j;
	uint32_t n;

	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];

		for (j = 0; j < thread->span_count; j++)
			for (n = 0; n < thread->spans[j].count; n++)
				if (node_is_affected(
					    profile, rebuilt,
					    swz_profile_node(
						    profile,
						    thread->spans[j].unit + n)))
					return true;
	}
	return false;
}

struct swz_coverage_counts swz_coverage_ask(FILE *stream,
					    const struct swz_coverage *coverage)
{
	struct swz_coverage_counts counts = {0};
	size_t i;

	for (i = 0; i < coverage->count; i++) {
		const struct swz_covered *covered = &coverage->items[i];
		const struct swz_catalog_function *f = function_of(coverage,
								   covered);

		if (!is_shown(coverage, covered))
			continue;
		counts.ran += covered->calls != 0;
		counts.never += covered->hooked && !covered->calls;
		counts.unknown += !covered->hooked;
		if (!stream)
			continue;
		swz_put_text(stream, f->name);
		fprintf(stream, " in ");
		swz_put_text(stream,
			     swz_catalog_module_name(coverage->catalog, f));
		if (!covered->hooked)
			fputs(": not known, as it has no hook\n", stream);
		else if (!covered->calls)
			fputs(": never ran\n", stream);
		else if (coverage->counts_calls)
			fprintf(stream, ": ran, %" PRIu64 " %s\n",
				covered->calls,
				covered->calls == 1 ? "call" : "calls");
		else
			fputs(": ran\n", stream);
	}
	return counts;
}

/* --- sorted lists -------------------------------------------------------- */

/* qsort has no argument for what it compares by. */
struct entry {
	const struct swz_covered *covered;
	const struct swz_catalog_function *f;
	const char *module, *file; /* "-": not known */
};

struct list {
	struct entry *items;
	size_t count;
};

static int compare_texts(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

static int by_file(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int by = compare_texts(a->module, b->module);

	if (!by)
		by = compare_texts(a->file, b->file);
	if (by)
		return by;
	if (a->f->line != b->f->line)
		return a->f->line < b->f->line ? -1 : 1;
	return compare_texts(a->f->name, b->f->name);
}

static int by_size(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->covered->size != b->covered->size)
		return a->covered->size > b->covered->size ? -1 : 1;
	return by_file(left, right);
}

static int by_source(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int by = compare_texts(a->file, b->file);

	if (by)
		return by;
	if (a->f->line != b->f->line)
		return a->f->line < b->f->line ? -1 : 1;
	return compare_texts(a->f->name, b->f->name);
}

/* Those that more profiles have first; of these, by the mean of places. */
static int by_order(const void *left, const void *right)
{
	const struct swz_covered *a = ((const struct entry *)left)->covered;
	const struct swz_covered *b = ((const struct entry *)right)->covered;

	if (a->ordered != b->ordered)
		return a->ordered > b->ordered ? -1 : 1;
	if (a->places < b->places || a->places > b->places)
		return a->places < b->places ? -1 : 1;
	return by_file(left, right);
}

static struct list list_of(const struct swz_coverage *coverage,
			   int (*compare)(const void *, const void *))
{
	struct list list = {.items = swz_allocate(coverage->count + 1,
						  sizeof(*list.items))};
	size_t i;

	for (i = 0; i < coverage->count; i++) {
		const struct swz_covered *covered = &coverage->items[i];
		const struct swz_catalog_function *f = function_of(coverage,
								   covered);

		if (is_shown(coverage, covered))
			list.items[list.count++] = (struct entry){
				.covered = covered,
				.f = f,
				.module = swz_catalog_module_name(
					coverage->catalog, f),
				.file = f->file ? f->file : "-"};
	}
	if (list.count > 1)
		qsort(list.items, list.count, sizeof(*list.items), compare);
	return list;
}

/* --- the table ----------------------------------------------------------- */

static struct swz_coverage_counts count_from(const struct list *list,
					     size_t from, bool of_file,
					     size_t *end)
{
	struct swz_coverage_counts counts = {0};
	size_t i = from;

	for (; i < list->count; i++) {
		const struct entry *entry = &list->items[i];

		if (compare_texts(entry->module, list->items[from].module) ||
		    (of_file &&
		     compare_texts(entry->file, list->items[from].file)))
			break;
		counts.ran += entry->covered->calls != 0;
		counts.never += entry->covered->hooked &&
				!entry->covered->calls;
		counts.unknown += !entry->covered->hooked;
	}
	*end = i;
	return counts;
}

static void put_counts(FILE *stream, const struct swz_coverage_counts *counts,
		       const char *indent, const char *name)
{
	size_t known = counts->ran + counts->never;

	fprintf(stream, "%9zu %9zu %9zu %9zu ", known + counts->unknown,
		counts->ran, counts->never, counts->unknown);
	if (known)
		fprintf(stream, "%7.1f %%  %s",
			100 * (double)counts->ran / (double)known, indent);
	else
		fprintf(stream, "%9s  %s", "-", indent);
	swz_put_text(stream, name);
	putc('\n', stream);
}

/* A module's row, and below it those of its files, if any is known. */
void swz_write_cover(FILE *stream, const struct swz_coverage *coverage)
{
	struct list list = list_of(coverage, by_file);
	size_t at = 0, end, file, file_end;

	fprintf(stream, "%9s %9s %9s %9s %9s  %s\n", "functions", "ran",
		"never", "unknown", "ran", "module, file");
	for (; at < list.count; at = end) {
		struct swz_coverage_counts counts = count_from(&list, at, false,
							       &end);

		put_counts(stream, &counts, "", list.items[at].module);
		for (file = at; file < end; file = file_end) {
			counts = count_from(&list, file, true, &file_end);
			if (file == at && file_end == end &&
			    !list.items[at].f->file)
				break;
			put_counts(stream, &counts, "  ",
				   list.items[file].f->file
					   ? list.items[file].file
					   : "(file not known)");
		}
	}
	free(list.items);
}

static void put_place(FILE *stream, const struct entry *entry)
{
	if (!entry->f->file)
		return;
	fputs("  ", stream);
	swz_put_text(stream, entry->f->file);
	if (entry->f->line)
		fprintf(stream, ":%d", entry->f->line);
}

void swz_write_never(FILE *stream, const struct swz_coverage *coverage)
{
	struct list list = list_of(coverage, by_size);
	uint64_t bytes = 0, functions = 0;
	size_t i, shown = 0;

	for (i = 0; i < list.count; i++)
		if (list.items[i].covered->hooked &&
		    !list.items[i].covered->calls) {
			bytes += list.items[i].covered->size;
			functions++;
		}
	fprintf(stream,
		"# %" PRIu64 " function%s never ran, %" PRIu64
		" byte%s\n%9s  %s\n",
		functions, swz_s(functions), bytes, swz_s(bytes), "bytes",
		"function  module  file");
	for (i = 0; i < list.count; i++) {
		const struct entry *entry = &list.items[i];

		if (!entry->covered->hooked || entry->covered->calls)
			continue;
		if (coverage->rows && shown++ >= coverage->rows)
			break;
		fprintf(stream, "%9" PRIu32 "  ", entry->covered->size);
		swz_put_text(stream, entry->f->name);
		fputs("  ", stream);
		swz_put_text(stream, entry->module);
		put_place(stream, entry);
		putc('\n', stream);
	}
	free(list.items);
}

/* --- lcov ---------------------------------------------------------------- */

/* geninfo(1) has the format. A line that two functions begin in (templates,
 * macros) has the larger count; so have functions with one name there. */

/* lcov knows letters, digits and _ alone. */
static void put_test(FILE *stream, const char *test)
{
	fputs("TN:", stream);
	for (; test && *test; test++)
		putc((*test >= 'a' && *test <= 'z') ||
				     (*test >= 'A' && *test <= 'Z') ||
				     (*test >= '0' && *test <= '9')
			     ? *test
			     : '_',
		     stream);
	putc('\n', stream);
}

static bool is_in_lcov(const struct entry *entry)
{
	return entry->f->file && entry->f->line && entry->covered->hooked;
}

/* The calls of ENTRY, and of those behind it with the same line, and name; 1
 * where only the first is known. */
static uint64_t calls_from(const struct swz_coverage *coverage,
			   const struct list *list, size_t from, size_t end,
			   bool with_name, size_t *next)
{
	const struct entry *first = &list->items[from];
	uint64_t calls = 0;
	size_t i;

	for (i = from; i < end; i++) {
		const struct entry *entry = &list->items[i];

		if (entry->f->line != first->f->line ||
		    (with_name &&
		     compare_texts(entry->f->name, first->f->name)))
			break;
		if (entry->covered->calls > calls)
			calls = entry->covered->calls;
	}
	*next = i;
	return calls && !coverage->counts_calls ? 1 : calls;
}

/* The functions of one file, which are sorted by line and name. */
static void put_file(FILE *stream, const struct swz_coverage *coverage,
		     const struct list *list, size_t from, size_t end)
{
	size_t found = 0, hit = 0, i, next;
	uint64_t calls;

	put_test(stream, coverage->test);
	fprintf(stream, "SF:%s\n", list->items[from].f->file);
	for (i = from; i < end; i = next) {
		calls = calls_from(coverage, list, i, end, true, &next);
		fprintf(stream, "FN:%d,%s\nFNDA:%" PRIu64 ",%s\n",
			list->items[i].f->line, list->items[i].f->name, calls,
			list->items[i].f->name);
		found++;
		hit += calls != 0;
	}
	fprintf(stream, "FNF:%zu\nFNH:%zu\n", found, hit);
	for (i = from, found = hit = 0; i < end; i = next) {
		calls = calls_from(coverage, list, i, end, false, &next);
		fprintf(stream, "DA:%d,%" PRIu64 "\n", list->items[i].f->line,
			calls);
		found++;
		hit += calls != 0;
	}
	fprintf(stream, "LF:%zu\nLH:%zu\nend_of_record\n", found, hit);
}

void swz_write_lcov(FILE *stream, const struct swz_coverage *coverage)
{
	struct list list = list_of(coverage, by_source);
	size_t kept = 0, i, end;

	for (i = 0; i < list.count; i++)
		if (is_in_lcov(&list.items[i]))
			list.items[kept++] = list.items[i];
	list.count = kept;
	for (i = 0; i < list.count; i = end) {
		for (end = i;
		     end < list.count &&
		     !compare_texts(list.items[end].file, list.items[i].file);
		     end++)
			;
		put_file(stream, coverage, &list, i, end);
	}
	free(list.items);
}

/* --- the order of first calls -------------------------------------------- */

/* Linkers take the names of symbols, or of sections (gcc -ffunction-sections).
 * Functions are those of the program, unless the user has chosen some. */
static void write_order(FILE *stream, const struct swz_coverage *coverage,
			const char *prefix)
{
	struct list list = list_of(coverage, by_order);
	size_t i;

	for (i = 0; i < list.count; i++) {
		const struct entry *entry = &list.items[i];

		if (!entry->covered->ordered || entry->f->nameless ||
		    ((!coverage->filters || !coverage->filters->count) &&
		     entry->f->module != coverage->program))
			continue;
		fprintf(stream, "%s%s\n", prefix,
			entry->f->first_name ? entry->f->first_name
					     : entry->f->name);
	}
	free(list.items);
}

void swz_write_order(FILE *stream, const struct swz_coverage *coverage)
{
	write_order(stream, coverage, "");
}

void swz_write_sections(FILE *stream, const struct swz_coverage *coverage)
{
	write_order(stream, coverage, ".text.");
}
