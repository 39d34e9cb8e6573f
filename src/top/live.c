/* A profile says all since its beginning, so the difference to what it said
 * before is taken: by function, and by context (by names, so that it does not
 * matter where in the file a context is). A time may then seem to go back by
 * what the hooks' cost was estimated otherwise: it counts as nothing.
 *
 * A profile is gone after the round, the catalog stays: so what is named by a
 * profile, as it is in no file, is known by that name. */

#include "top/live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/call_tree.h"
#include "profile/costs/report.h"
#include "profile/file/reader.h"
#include "util/memory.h"
#include "watch/proc_task.h"

#define NAME_STEP 16u

static void begin_contexts(const struct swz_live *live,
			   struct swz_contexts *contexts)
{
	swz_contexts_begin(contexts, SWZ_CATALOG_OUTSIDE, live->offsets);
	contexts->by_offset = contexts->by_hit = live->offsets;
}

static void begin_figures(const struct swz_live *live,
			  struct swz_live_figures *figures)
{
	*figures = (struct swz_live_figures){0};
	begin_contexts(live, &figures->contexts);
}

static void free_figures(struct swz_live_figures *figures)
{
	free(figures->functions);
	swz_contexts_free(&figures->contexts);
}

void swz_live_begin(struct swz_live *live, bool samples, bool offsets,
		    uint64_t now_ns)
{
	*live = (struct swz_live){
		.samples = samples, .offsets = offsets, .round_ns = now_ns};
	swz_catalog_begin(&live->catalog,
			  &(struct swz_catalog_options){
				  .symbols = true,
				  .demangle = SWZ_DEMANGLE_SIMPLE,
				  .quiet = true,
			  });
	begin_figures(live, &live->recent);
	begin_figures(live, &live->total);
}

void swz_live_free(struct swz_live *live)
{
	free_figures(&live->recent);
	free_figures(&live->total);
	swz_catalog_free(&live->catalog);
	swz_map_free(&live->by_tid);
	swz_map_free(&live->process_rounds);
	swz_map_free(&live->name_numbers);
	swz_intern_free(&live->names);
	free(live->threads);
	free(live->damaged);
	*live = (struct swz_live){0};
}

void swz_live_begin_round(struct swz_live *live)
{
	free_figures(&live->recent);
	begin_figures(live, &live->recent);
	live->round++;
	live->processes = live->live_threads = 0;
}

void swz_live_only(struct swz_live *live, int32_t pid, int32_t tid)
{
	live->only_pid = pid;
	live->only_tid = tid;
	free_figures(&live->recent);
	free_figures(&live->total);
	begin_figures(live, &live->recent);
	begin_figures(live, &live->total);
}

static bool is_wanted(const struct swz_live *live, int32_t pid, int32_t tid)
{
	return !live->only_tid ||
	       (live->only_pid == pid && live->only_tid == tid);
}

/* ------------------------------------------------------------- functions */

static struct swz_live_function *at(struct swz_live_function **functions,
				    size_t *count, size_t index)
{
	if (index >= *count) {
		size_t wanted = index + 1 + index / 2;

		*functions = swz_reallocate(*functions, wanted,
					    sizeof(**functions));
		memset(*functions + *count, 0,
		       (wanted - *count) * sizeof(**functions));
		*count = wanted;
	}
	return &(*functions)[index];
}

static void add_function(struct swz_live_figures *to, size_t index,
			 const struct swz_live_function *f)
{
	struct swz_live_function *sum;

	if (!f->calls && !f->self_ns && !f->inclusive_ns)
		return;
	sum = at(&to->functions, &to->function_count, index);
	sum->calls += f->calls;
	sum->self_ns += f->self_ns;
	sum->inclusive_ns += f->inclusive_ns;
	to->total_ns += f->self_ns;
	to->calls += f->calls;
}

static int64_t more(int64_t now, int64_t before)
{
	return now > before ? now - before : 0;
}

static uint64_t more_calls(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* ------------------------------------------------------------- contexts */

/* Where the contexts of FROM are in TO; to be freed. */
static uint32_t *find_contexts(struct swz_contexts *to,
			       const struct swz_contexts *from)
{
	uint32_t *found = swz_allocate(from->count, sizeof(*found));

	for (size_t i = 1; i < from->count; i++)
		found[i] = swz_contexts_like(to, found[from->items[i].parent],
					     &from->items[i]);
	return found;
}

static void merge_contexts(struct swz_contexts *to,
			   const struct swz_contexts *from)
{
	uint32_t *found = find_contexts(to, from);

	for (size_t i = 0; i < from->count; i++)
		swz_context_merge(&to->items[found[i]], &from->items[i]);
	free(found);
}

/* FROM becomes what is more in it than in BEFORE, which becomes FROM. */
static void subtract_contexts(struct swz_contexts *from,
			      struct swz_contexts *before)
{
	uint32_t *found = find_contexts(before, from);

	for (size_t i = 0; i < from->count; i++) {
		struct swz_context *now = &from->items[i];
		struct swz_context *then = &before->items[found[i]];
		struct swz_context whole = *now;

		now->calls = more_calls(now->calls, then->calls);
		now->self_ns = more(now->self_ns, then->self_ns);
		then->calls = whole.calls;
		then->self_ns = whole.self_ns;
	}
	free(found);
}

/* ------------------------------------------------------------- threads */

static struct swz_live_thread *thread_of(struct swz_live *live, int32_t pid,
					 int32_t tid)
{
	uint32_t *index = swz_map_at(&live->by_tid, (uint32_t)pid,
				     (uint32_t)tid);

	if (*index == SWZ_MAP_NONE) {
		swz_grow(&live->threads, &live->thread_capacity,
			 live->thread_count, sizeof(*live->threads));
		*index = (uint32_t)live->thread_count++;
		live->threads[*index] = (struct swz_live_thread){.pid = pid,
								 .tid = tid};
	}
	return &live->threads[*index];
}

static void count_thread(struct swz_live *live, int32_t pid)
{
	uint32_t *seen = swz_map_at(&live->process_rounds, (uint32_t)pid, 0);

	live->live_threads++;
	if (*seen != (uint32_t)live->round)
		live->processes++;
	*seen = (uint32_t)live->round;
}

static void see_thread(struct swz_live *live, struct swz_live_thread *thread,
		       const struct swz_profile_thread *record)
{
	if (thread->seen != live->round) {
		thread->seen = live->round;
		thread->calls = 0;
		thread->used_ns = 0;
		if (!record->record.end_ticks)
			count_thread(live, thread->pid);
	}
	if (!thread->has_name)
		memcpy(thread->name, record->name, sizeof(thread->name));
}

static void count_samples(struct swz_live *live, int32_t pid,
			  const struct swz_profile_thread *record,
			  uint64_t calls)
{
	struct swz_live_thread *thread = thread_of(live, pid,
						   record->record.tid);

	see_thread(live, thread, record);
	thread->calls += calls;
	thread->used_ns += record->record.processor_ns;
	thread->total_calls += calls;
	thread->total_used_ns += record->record.processor_ns;
}

/* The sums since the thread's begin. */
static void count_calls(struct swz_live *live, int32_t pid,
			const struct swz_profile_thread *record, uint64_t calls,
			bool earlier)
{
	struct swz_live_thread *thread = thread_of(live, pid,
						   record->record.tid);
	uint64_t used_ns = 0;

	if (record->record.end_ticks && thread->seen != live->round - 1)
		return; /* long ago */
	if (!swz_proc_task_time(pid, record->record.tid, &used_ns))
		used_ns = record->record.processor_ns;
	/* (it may have got another one since the profile was told) */
	if ((!thread->known || used_ns != thread->known_used_ns) &&
	    swz_proc_task_name(pid, record->record.tid, thread->name))
		thread->has_name = true;
	see_thread(live, thread, record);
	if (thread->known || !earlier) {
		thread->calls = more_calls(calls, thread->known_calls);
		thread->used_ns = more_calls(used_ns, thread->known_used_ns);
	}
	thread->known_calls = thread->total_calls = calls;
	thread->known_used_ns = thread->total_used_ns = used_ns;
	thread->known = true;
}

/* ------------------------------------------------------------- profiles */

static int by_place(const void *left, const void *right)
{
	const struct swz_profile_symbol *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* The number that stands for a name from now on. */
static uint64_t number_of_name(struct swz_live *live, const char *name)
{
	const char *kept = swz_intern(&live->names, name);
	uint32_t *number = swz_map_at(&live->name_numbers, (uintptr_t)kept, 0);

	if (*number == SWZ_MAP_NONE)
		*number = (uint32_t)live->name_numbers.count;
	return *number;
}

/* Functions that the profile names are those of that name. */
static void use_names(struct swz_live *live, struct swz_profile *profile)
{
	if (!profile->symbol_count)
		return;
	qsort(profile->symbols, profile->symbol_count,
	      sizeof(*profile->symbols), by_place);
	for (size_t i = 0; i < profile->function_count; i++) {
		struct swz_profile_function *f = &profile->functions[i];
		struct swz_profile_symbol key = {.module = f->module,
						 .address = f->address};
		const struct swz_profile_symbol *found = bsearch(
			&key, profile->symbols, profile->symbol_count,
			sizeof(key), by_place);

		if (!found)
			continue;
		f->name = found->name;
		f->address = NAME_STEP * number_of_name(live, found->name);
	}
	profile->symbol_count = 0;
}

static uint64_t sum_calls(const struct swz_tree *tree)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (!(tree->nodes[i].flags & SWZ_NODE_HIDDEN))
			calls += tree->nodes[i].calls;
	return calls;
}

struct read {
	struct swz_report report;
	struct swz_contexts contexts;
};

static struct swz_profile *open_profile(struct swz_live *live, const char *path)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (swz_profile_read(path, &profile, &error) != SWZ_OK) {
		free(live->damaged);
		live->damaged = swz_print("%s: %s", path, error.text);
		return NULL;
	}
	use_names(live, profile);
	return profile;
}

static void add_thread(struct swz_live *live, struct read *read,
		       struct swz_binding *binding,
		       const struct swz_profile_thread *thread, bool earlier)
{
	int32_t pid = (int32_t)binding->profile->header.pid;
	const struct swz_view view = {.script = live->script};
	struct swz_tree tree;
	uint64_t calls;

	if (view.script)
		swz_view_prepare(binding, thread);
	swz_tree_build(&tree, binding->profile, thread, true);
	if (view.script)
		swz_view_apply(&view, binding, &tree);
	calls = sum_calls(&tree);
	if (is_wanted(live, pid, thread->record.tid))
		swz_contexts_add(&read->contexts, &read->report, binding,
				 &tree);
	swz_tree_free(&tree);
	if (live->samples)
		count_samples(live, pid, thread, calls);
	else
		count_calls(live, pid, thread, calls, earlier);
}

static void add_threads(struct swz_live *live, struct read *read,
			struct swz_profile *profile, bool earlier)
{
	struct swz_binding binding;

	*read = (struct read){.report.without_edges = true};
	begin_contexts(live, &read->contexts);
	swz_catalog_bind(&binding, &live->catalog, profile);
	for (size_t i = 0; i < profile->thread_count; i++)
		add_thread(live, read, &binding, &profile->threads[i], earlier);
	swz_binding_free(&binding);
}

static void free_read(struct read *read)
{
	swz_report_free(&read->report);
	swz_contexts_free(&read->contexts);
}

static struct swz_live_function function_of(const struct swz_report *report,
					    size_t index)
{
	struct swz_report_function f = swz_report_function(report,
							   (uint32_t)index);

	return (struct swz_live_function){f.calls, f.self_ns, f.inclusive_ns};
}

static void add_header(struct swz_live_figures *to,
		       const struct swz_file_header *header)
{
	to->lost += header->lost_samples;
	to->missed += header->missed_samples;
	to->cut += header->cut_stacks + header->broken_stacks;
}

void swz_live_add_samples(struct swz_live *live, const char *path)
{
	struct swz_profile *profile = open_profile(live, path);
	struct read read;

	if (!profile)
		return;
	add_threads(live, &read, profile, false);
	for (size_t i = 0; i < live->catalog.function_count; i++) {
		struct swz_live_function f = function_of(&read.report, i);

		add_function(&live->recent, i, &f);
		add_function(&live->total, i, &f);
	}
	merge_contexts(&live->recent.contexts, &read.contexts);
	merge_contexts(&live->total.contexts, &read.contexts);
	add_header(&live->recent, &profile->header);
	add_header(&live->total, &profile->header);
	free_read(&read);
	swz_profile_free(profile);
}

static void add_new_calls(struct swz_live *live, struct swz_live_source *source,
			  const struct swz_report *report, bool is_recent)
{
	for (size_t i = 0; i < live->catalog.function_count; i++) {
		struct swz_live_function now = function_of(report, i), fresh;
		struct swz_live_function *then = at(&source->functions,
						    &source->function_count, i);

		fresh = (struct swz_live_function){
			more_calls(now.calls, then->calls),
			more(now.self_ns, then->self_ns),
			more(now.inclusive_ns, then->inclusive_ns)};
		*then = now;
		add_function(&live->total, i, &fresh);
		if (is_recent)
			add_function(&live->recent, i, &fresh);
	}
}

void swz_live_add_exact(struct swz_live *live, struct swz_live_source *source,
			bool earlier)
{
	struct swz_profile *profile = open_profile(live, source->path);
	bool is_recent = source->known || !earlier;
	struct read read;

	if (!profile)
		return;
	live->without_times |= (profile->header.flags & SWZ_FILE_COUNTS) != 0;
	if (!source->known)
		begin_contexts(live, &source->contexts);
	add_threads(live, &read, profile, earlier);
	add_new_calls(live, source, &read.report, is_recent);
	subtract_contexts(&read.contexts, &source->contexts);
	merge_contexts(&live->total.contexts, &read.contexts);
	if (is_recent)
		merge_contexts(&live->recent.contexts, &read.contexts);
	source->known = true;
	free_read(&read);
	swz_profile_free(profile);
}

void swz_live_source_restart(struct swz_live_source *source)
{
	free(source->functions);
	source->functions = NULL;
	source->function_count = 0;
	if (source->known)
		swz_contexts_free(&source->contexts);
	source->known = false;
}

void swz_live_source_free(struct swz_live_source *source)
{
	free(source->path);
	free(source->functions);
	swz_contexts_free(&source->contexts);
	*source = (struct swz_live_source){0};
}

void swz_live_end_round(struct swz_live *live, uint64_t now_ns)
{
	live->recent.wall_ns = now_ns - live->round_ns;
	live->total.wall_ns += live->recent.wall_ns;
	live->round_ns = now_ns;
	swz_contexts_sum(&live->recent.contexts);
	swz_contexts_sum(&live->total.contexts);
	swz_catalog_resolve(&live->catalog);
}

const char *swz_live_name(const struct swz_live *live, uint32_t function)
{
	return live->catalog.functions[function].name;
}

const char *swz_live_module(const struct swz_live *live, uint32_t function)
{
	return swz_catalog_module_name(&live->catalog,
				       &live->catalog.functions[function]);
}
