/* The library's constructor and destructor. */

#include <stddef.h>
#include <string.h>
#include <sys/time.h>

#include "asm/x86_64/offsets.h"
#include "base/syscall.h"
#include "runtime/compat/compat.h"
#include "runtime/discovery/filter.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/imports/imports.h"
#include "runtime/module/loaded.h"
#include "runtime/plan/plan.h"
#include "runtime/record/annotations.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/recording.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "swizzle/format.h"
#include "thunks/arena.h"

/* ---------------------------------------------- constructor and destructor */

/* Start and end.
 *
 * The library is marked DF_1_INITFIRST (-z initfirst): the dynamic linker runs
 * its constructor before every other one, the program's preinit array
 * included, when all libraries of the start are mapped and relocated and one
 * thread runs. So everything that comes later runs hooked, and nothing can be
 * executing what is patched.
 * See docs/internals/start.md. */

static void list_and_exit(void)
{
	struct swz_modules modules = {0};

	if (swz_plan_make(&modules) != SWZ_OK) {
		swz_say("cannot make a plan: no memory", NULL, NULL);
		SWZ_SYSCALL(SYS_exit_group, 1);
	}
	swz_plan_print(&modules);
	swz_filter_tell(&modules);
	if (swz_line_lost())
		swz_say("standard output: cannot write the list", NULL, NULL);
	SWZ_SYSCALL(SYS_exit_group, swz_line_lost());
}

/* Timers of processor time survive an exec. What we take of it is not the
 * program's: one that expired meanwhile would kill it, as handlers are not
 * there yet (a profiler in LD_PRELOAD sets its timer in each program, and its
 * handler again in what that executes). */
static const int timers[] = {ITIMER_VIRTUAL, ITIMER_PROF};

#define TIMER_COUNT (sizeof(timers) / sizeof(timers[0]))

static void stop_timers(struct itimerval *left)
{
	static const struct itimerval off;

	for (unsigned i = 0; i < TIMER_COUNT; i++)
		if (SWZ_SYSCALL(SYS_getitimer, timers[i], &left[i]) ||
		    (!left[i].it_value.tv_sec && !left[i].it_value.tv_usec) ||
		    SWZ_SYSCALL(SYS_setitimer, timers[i], &off, &left[i]))
			left[i] = off;
}

static void continue_timers(const struct itimerval *left)
{
	for (unsigned i = 0; i < TIMER_COUNT; i++)
		if (left[i].it_value.tv_sec || left[i].it_value.tv_usec)
			(void)SWZ_SYSCALL(SYS_setitimer, timers[i], &left[i],
					  NULL);
}

extern const char swz_image_start[], swz_text_start[], swz_own_text_end[];
extern char swz_used_bss_start[], swz_used_bss_end[];

/* Most of these pages will be used, one after the other: by one call into the
 * kernel, not by a fault each, or two. */
static void make_text_present(void)
{
	SWZ_SYSCALL(SYS_madvise, swz_text_start,
		    (size_t)(swz_own_text_end - swz_text_start),
		    MADV_POPULATE_READ);
}

static void make_bss_present(void)
{
	SWZ_SYSCALL(SYS_madvise, swz_used_bss_start,
		    (size_t)(swz_used_bss_end - swz_used_bss_start),
		    MADV_POPULATE_WRITE);
}

/* Without memory for the tables swizzle-ctl does what it can by the request. */
static void begin_control(struct swz_modules *modules)
{
	struct swz_control *c = &swizzle_control;

	c->preloaded = 1;
	c->finish = (uintptr_t)&swz_attach_finish;
	swz_control_describe();
	if (swz_control_begin_tables() && swz_config.off_native &&
	    swz_modules_list(modules) == SWZ_OK &&
	    !swz_program_resumes_itself(modules))
		c->code_state = SWZ_CODE_NATIVE;
	c->was_hooked = c->code_state == SWZ_CODE_HOOKED;
}

__attribute__((constructor)) static void start(int argc, char **argv,
					       char **envp)
{
	struct itimerval left[TIMER_COUNT];
	struct swz_modules modules = {0};
	const char *problem;

	make_text_present();
	if (swz_came_late() || (!swz_is_preloaded(envp) && swz_is_linked())) {
		swz_config.linked = true;
		return;
	}
	make_bss_present();
	swz_clock_begin_start(envp);
	problem = swz_config_read(argc, argv, envp);
	swz_message_begin();
	swz_own_add((uintptr_t)swz_image_start,
		    (uintptr_t)swz_arena_end - (uintptr_t)swz_image_start);
	if (problem) {
		swz_clock_end_start();
		swz_say(problem, ": not profiled", NULL);
		return;
	}
	if (swz_config.list)
		list_and_exit();
	begin_control(&modules);
	stop_timers(left);
	problem = swz_recording_begin(&modules);
	swz_workers_end();
	swz_scratch_free_all();
	if (!swz_config.follow)
		swz_config_unfollow();
	if (problem) {
		swz_say(problem, swz_file_path(), ": not profiled");
		/* Its address space is the program's, which may have little;
		 * hooks that are there go on to need it. */
		if (!swz_recording)
			swz_file_discard();
		swz_recording = false;
	}
	continue_timers(left);
	swz_clock_end_start();
}

/* A forked child that came to no hook has its parent's file. So has a vforked
 * one, which should not come here: without system calls that is not known. */
static bool is_complete_elsewhere(void)
{
	return swz_file_is_inherited() ||
	       (!swz_system_calls_end && !swz_file_is_ours()) ||
	       /* who has detached it has completed it */
	       swz_request_is_detached();
}

/* (A thread that ends the process may have come to no hook.) */
__attribute__((destructor)) static void end(void)
{
	struct swz_thread *thread = swz_thread_here();

	if (!swz_recording || is_complete_elsewhere())
		return;
	if (thread && thread->cold)
		swz_thread_note_name(thread->record);
	if (swz_title_is_new())
		swz_title_note();
	swz_thread_note_ended();
	swz_code_names_keep();
	swz_late_end();
	swz_file_finish();
	/* other libraries' destructors may come yet; _exit comes after them, if
	 * it has its wrapper */
	if (!swz_wrapped_is_expected())
		swz_tell_end();
}

/* -------------------------------------------------- the assembly's numbers */

/* Holds the assembly's numbers against the structures. */

#define SAME(number, type, member) \
	_Static_assert((number) == offsetof(struct type, member), #number)

SAME(SWZ_THREAD_LINKS, swz_thread, links);
SAME(SWZ_THREAD_KEY, swz_thread, key);
SAME(SWZ_THREAD_TOP, swz_thread, top);
SAME(SWZ_THREAD_TABLES, swz_thread, tables);
SAME(SWZ_THREAD_OPEN, swz_thread, open);
SAME(SWZ_THREAD_RECORD, swz_thread, record);
SAME(SWZ_THREAD_EPOCH, swz_thread, epoch);
SAME(SWZ_THREAD_FILE, swz_thread, file);
SAME(SWZ_THREAD_EXPECTED, swz_thread, expected);
SAME(SWZ_THREAD_COLD, swz_thread, cold);
SAME(SWZ_THREAD_EVENT, swz_thread, event);
SAME(SWZ_THREAD_MIN_TICKS, swz_thread, min_ticks);
SAME(SWZ_THREAD_SEEN, swz_thread, seen);
SAME(SWZ_THREAD_TIMES, swz_thread, times);
SAME(SWZ_COLD_RECORDS, swz_thread_cold, records);
SAME(SWZ_COLD_RANDOM, swz_thread_cold, random);
SAME(SWZ_COLD_HOME_LOW, swz_thread_cold, home_low);
SAME(SWZ_COLD_HOME_HIGH, swz_thread_cold, home_high);
SAME(SWZ_DLSYM_START, swz_dlsym_way, start);
SAME(SWZ_DLSYM_END, swz_dlsym_way, end);
SAME(SWZ_DLSYM_RETURN, swz_dlsym_way, return_at);
SAME(SWZ_LINKS_FREE, swz_links, free);
SAME(SWZ_LINKS_FIRST, swz_links, first);
SAME(SWZ_LINKS_NEXT, swz_links, next);
SAME(SWZ_LINKS_CHILDREN, swz_links, children);
SAME(SWZ_LINKS_TABLE, swz_links, children[SWZ_TABLE_AT]);
SAME(SWZ_LINKS_TABLE_MASK, swz_links, children[SWZ_TABLE_MASK]);

_Static_assert(sizeof(struct swz_links) == 1 << SWZ_LINKS_SHIFT, "links");

SAME(SWZ_THUNK_BODY, swz_thunk, body);
SAME(SWZ_THUNK_RETURN, swz_thunk, return_address);
SAME(SWZ_THUNK_NODE, swz_thunk, node);
SAME(SWZ_THUNK_START, swz_thunk, start_ticks);
SAME(SWZ_THUNK_PARENT, swz_thunk, parent);
SAME(SWZ_THUNK_NEXT_FREE, swz_thunk, next_free);
SAME(SWZ_THUNK_LINK, swz_thunk, link);
SAME(SWZ_THUNK_SLOT, swz_thunk, slot);
SAME(SWZ_THUNK_PENDING, swz_thunk, pending);
SAME(SWZ_NODE_KEY, swz_node, function);
SAME(SWZ_NODE_KEY + 4, swz_node, parent);
SAME(SWZ_NODE_CALL_SITE, swz_node, call_site);
SAME(SWZ_NODE_CALLS, swz_node, calls);
SAME(SWZ_NODE_TICKS, swz_node, ticks);
SAME(SWZ_NODE_OUTER_TICKS, swz_node, outer_ticks);
SAME(SWZ_NODE_MIN_TICKS, swz_node, min_ticks);
SAME(SWZ_NODE_WEIGHT, swz_node, weight);
SAME(SWZ_NODE_SKIP, swz_node, skip);
SAME(SWZ_NODE_SCORE, swz_node, score);
SAME(SWZ_NODE_TIMED, swz_node, timed);
SAME(SWZ_NODE_SQUARES, swz_node, squares);
SAME(SWZ_NODE_MAX_TICKS, swz_node, max_ticks);
SAME(SWZ_NODE_CONTEXT, swz_node, context);
SAME(SWZ_NODE_OPEN, swz_node, open);

_Static_assert(SWZ_NODE_OPEN_ONE == 1 << SWZ_NODE_OPEN_SHIFT, "open");

_Static_assert(SWZ_NODE_OPEN_PASS == SWZ_NODE_PASS, "open");
_Static_assert(SWZ_NODE_OPEN_CYCLE == SWZ_NODE_CYCLE, "open");

_Static_assert(SWZ_EVENT_RETURN_KIND == SWZ_EVENT_RETURN, "events");

_Static_assert(SWZ_EVENT_SHIFT_TICKS == SWZ_EVENT_TICKS_SHIFT, "events");

_Static_assert(SWZ_EVENT_SHIFT_NODE == SWZ_EVENT_NODE_SHIFT, "events");

_Static_assert(SWZ_TURN_IS_AGAIN == SWZ_TURN_AGAIN, "events");

_Static_assert(SWZ_EVENT_PAGE_MASK == SWZ_EVENT_PAGE - 1, "events");

_Static_assert(SWZ_EVENT_MOST_TICKS == (1 << SWZ_EVENT_TICKS_BITS) - 1,
	       "events");

_Static_assert(SWZ_FILTER_IS_ONLY == SWZ_FILTER_ONLY, "filters");

_Static_assert((uint32_t)SWZ_NODE_IS_ROOT == SWZ_FUNCTION_ROOT, "root");

_Static_assert(SWZ_REQUEST_PAUSED ==
		       SWZ_REQUEST_OFFSET +
			       offsetof(struct swz_request, paused),
	       "request");

SAME(SWZ_RECORD_LAST, swz_thread_record, last_ticks);
