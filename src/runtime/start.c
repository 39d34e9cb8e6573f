/* Start and end.
 *
 * The library is marked DF_1_INITFIRST (-z initfirst): the dynamic linker runs
 * its constructor before every other one, the program's preinit array
 * included, when all libraries of the start are mapped and relocated and one
 * thread runs. So everything that comes later runs hooked, and nothing can be
 * executing what is patched.
 * See docs/internals/start.md. */

#include "runtime/attach.h"
#include "runtime/control.h"
#include "runtime/compat/resumes_itself.h"
#include "runtime/compat/wrapped_functions.h"
#include "runtime/discovery/filter.h"
#include "runtime/module/linked.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/print.h"
#include "runtime/record/code_names.h"
#include "runtime/record/file.h"
#include "runtime/record/file_name.h"
#include "runtime/record/request.h"
#include "runtime/record/tell_end.h"
#include "runtime/record/thread.h"
#include "runtime/record/title.h"
#include "runtime/recording.h"
#include "runtime/support/clock.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/preload.h"
#include "runtime/support/scratch.h"
#include "runtime/support/worker_threads.h"

#include <string.h>
#include <sys/time.h>

#include "base/syscall.h"
#include "runtime/hooks/thread_life.h"

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

/* (A thread that ends the process it may have come to no hook, if we came when
 * it ran already.) */
__attribute__((destructor)) static void end(void)
{
	struct swz_thread *thread = swz_thread_here();

	if (!swz_recording)
		return;
	if (thread && thread->cold)
		swz_thread_note_name(thread);
	else if (!swz_config.attached)
		return;
	/* who has detached it has completed it */
	if (swz_request_is_detached())
		return;
	if (swz_title_is_new())
		swz_title_note();
	swz_thread_note_ended();
	swz_code_names_keep();
	swz_file_finish();
	/* other libraries' destructors may come yet; _exit comes after them, if
	 * it has its wrapper */
	if (!swz_wrapped_is_expected())
		swz_tell_end();
}
