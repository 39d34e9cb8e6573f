/* What a profile begins with, at a program's start and when a process is joined
 * that ran already: the file, the plan, its first thread. */

#include "runtime/recording.h"

#include "runtime/cache/cache.h"
#include "runtime/cache/start_record.h"
#include "runtime/calibrate.h"
#include "runtime/compat/address_space.h"
#include "runtime/discovery/filter.h"
#include "runtime/hooks/hook_choice.h"
#include "runtime/hooks/thread_access.h"
#include "runtime/late.h"
#include "runtime/module/program_file.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/record.h"
#include "runtime/record/chunks.h"
#include "runtime/record/events.h"
#include "runtime/record/file.h"
#include "runtime/record/file_name.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/marks.h"
#include "runtime/record/processor_time.h"
#include "runtime/record/request.h"
#include "runtime/record/sampling.h"
#include "runtime/record/span_names.h"
#include "runtime/record/signatures.h"
#include "runtime/record/thread.h"
#include "runtime/record/title.h"
#include "runtime/record/value_summary.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch.h"
#include "runtime/support/worker_threads.h"

#include <string.h>

#include "base/labels.h"
#include "base/syscall.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/record/function_ids.h"

/* Of the file that was executed, which is the first module's. */
static size_t put_program(char *to, size_t room, const char *path)
{
	size_t length = strlen(path);

	if (path[0] != '/' || length >= room)
		return swz_program_file(to, room);
	memcpy(to, path, length + 1);
	return length;
}

static enum swz_status record_command(const struct swz_modules *modules)
{
	struct swz_chunk *chunk;
	char *text = swz_scratch_alloc(2 * 4096 + 16);
	uint64_t bytes;
	uint32_t count = 2;
	long n;
	char *to;

	if (!text)
		return SWZ_E_NOMEM;
	to = text + put_program(text, 4096, modules->of[0].path) + 1;
	n = SWZ_SYSCALL(SYS_getcwd, to, 4096);
	to += n > 0 ? n : 1;
	bytes = (uint64_t)(to - text);
	for (int i = 0; i < swz_config.argc; i++, count++)
		bytes += strlen(swz_config.argv[i]) + 1;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_COMMAND, bytes, count, 0);
	if (!chunk)
		return SWZ_E_NOMEM;
	memcpy(chunk + 1, text, (size_t)(to - text));
	to = (char *)(chunk + 1) + (to - text);
	for (int i = 0; i < swz_config.argc; i++) {
		size_t length = strlen(swz_config.argv[i]) + 1;

		memcpy(to, swz_config.argv[i], length);
		to += length;
	}
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

/* Where there is no room for them the profile does without. */
static void record_labels(void)
{
	struct swz_labels *labels = swz_scratch_alloc(sizeof(*labels));
	struct swz_chunk *chunk;

	if (!labels)
		return;
	swz_labels_read(labels, swz_config.envp);
	chunk = labels->strings
			? swz_chunk_take(swz_file, SWZ_CHUNK_LABELS,
					 labels->bytes, labels->strings, 0)
			: NULL;
	if (!chunk)
		return;
	memcpy(chunk + 1, labels->text, labels->bytes);
	swz_chunk_publish(chunk);
}

static void report(const struct swz_modules *modules, uint64_t began_ns)
{
	uint32_t functions = 0, patched = 0;
	struct swz_line line;

	for (unsigned i = 0; i < modules->count; i++) {
		functions += modules->of[i].hookable_count;
		patched += modules->of[i].counts[SWZ_PATCHED];
	}
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: ");
	swz_line_number(&line, patched);
	swz_line_string(&line, " of ");
	swz_line_number(&line, functions);
	swz_line_string(&line, " functions hooked; profile ");
	swz_line_string(&line, swz_file_path());
	swz_line_write(&line);
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: ready after ");
	swz_line_number(&line, (swz_sys_monotonic_ns() - began_ns) / 1000000);
	swz_line_string(&line, " ms, threads that planned: ");
	swz_line_number(&line, swz_workers_members());
	swz_line_write(&line);
	swz_cache_report();
}

/* The first calls find it out. */
static void begin_paused(struct swz_thread *thread)
{
	uint64_t ticks = thread->record->start_ticks;

	if (swz_request_set(SWZ_REQUEST_PAUSE, ticks))
		swz_marks_add(thread, SWZ_MARK_PROCESS_PAUSED, "", 0, ticks);
}

const char *swz_recording_begin(struct swz_modules *modules)
{
	uint64_t began_ns = swz_config.verbose ? swz_sys_monotonic_ns() : 0;
	struct swz_thread *thread;
	struct swz_start_record facts;
	const char *problem;

	if (swz_file_create(&problem) != SWZ_OK)
		return problem;
	swizzle_control.file = (uintptr_t)swz_file;
	if (!swz_limits_leave_room())
		return "too little address space (ulimit -v, -d) for ";
	if (!swz_thread_access_shorten())
		return "the hooks may not be executed, no profile ";
	swz_file_sample_clock(0);
	if (swz_config.sampled)
		swz_sampling_begin();
	if (swz_config.trace)
		swz_events_begin();
	swz_hooks_begin();
	problem = swz_signatures_read();
	if (problem)
		return problem;
	if (swz_plan_make(modules) != SWZ_OK ||
	    swz_signatures_begin() != SWZ_OK || swz_summaries_begin() != SWZ_OK)
		return "no memory to plan for ";
	if (swz_ids_filtered)
		swz_file->flags |= SWZ_FILE_FILTERED;
	if (swz_span_names_begin() != SWZ_OK)
		return "too many functions for ";
	if (!swz_config.attached)
		swz_thread_set_main_stack(swz_config.envp);
	swz_thread_set_functions(swz_ids_bound());
	if (!swz_thread_forks_show())
		return "forked children cannot be known here, no profile ";
	swz_marks_begin(swz_file);
	thread = record_command(modules) == SWZ_OK ? swz_thread_begin() : NULL;
	if (!swz_config.attached)
		swz_title_begin(swz_config.argc, swz_config.argv,
				swz_config.envp);
	record_labels();
	if (!thread)
		return "no room in the profile ";
	swz_start_record_find(&facts);
	swz_recording = true;
	swz_calibrate(&facts.costs);
	swz_plan_apply(modules);
	if (swz_plan_obstacle(modules))
		swz_say("no function is hooked: ", swz_plan_obstacle(modules),
			NULL);
	if (swz_plan_record(modules) != SWZ_OK)
		return "no room in the profile ";
	if (swz_config.fresh && !swz_plan_obstacle(modules))
		swz_filter_tell(modules);
	swz_file_sample_clock(1);
	if (swz_config.trace)
		swz_events_set_min_time(thread);
	if (swz_config.verbose)
		report(modules, began_ns);
	swz_late_begin(modules, &facts.calls);
	swz_start_record_keep(&facts);
	for (unsigned i = 0; i < modules->count; i++)
		swz_module_close(&modules->of[i]);
	if (swz_config.trace)
		swz_events_restart(thread);
	/* the program's time begins now */
	thread->record->start_ticks = swz_ticks();
	thread->record->last_ticks = thread->record->start_ticks;
	swz_processor_time_begin(thread->record);
	swz_request()->native = swz_live_sites_are_native();
	if (swz_config.off)
		begin_paused(thread);
	/* release: what it begins with */
	__atomic_store_n(&swz_request()->ready, 1, __ATOMIC_RELEASE);
	return NULL;
}
