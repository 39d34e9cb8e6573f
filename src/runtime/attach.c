/* Two threads of our own come and go: one plans, and waits until the controller
 * has stopped all others and says so; the other closes the profile, likewise.
 * In between there is none. Neither waits for ever: where the controller's
 * heartbeat stops, nothing was patched, or everything is left as it is. */

#include "runtime/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/syscall.h"
#include "runtime/control.h"
#include "runtime/hooks/take_back.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/late.h"
#include "runtime/module/linker.h"
#include "runtime/record/file.h"
#include "runtime/record/file_name.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/request.h"
#include "runtime/recording.h"
#include "runtime/support/config.h"
#include "runtime/support/lasting_sites.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/own_thread.h"
#include "runtime/support/reset.h"
#include "runtime/support/scratch.h"
#include "runtime/support/worker_threads.h"

#define LOOK_NS 200000

extern const char swz_image_start[];

static struct swz_modules modules;
/* Ours: there is one at a time. */
static struct swz_own_thread worker SWZ_KEPT;

typedef void *open_library(const char *name, int flags);
typedef int close_library(void *handle);

/* ------------------------------------------------------------------ state */

static void set_state(enum swz_control_state state)
{
	/* release: matches the controller's reading of the rest */
	__atomic_store_n(&swizzle_control.state, state, __ATOMIC_RELEASE);
}

static enum swz_control_state get_state(void)
{
	return __atomic_load_n(&swizzle_control.state, __ATOMIC_ACQUIRE);
}

/* Until the controller says so. False: there is none any more. */
static bool wait_for(enum swz_control_state state)
{
	const struct timespec look = {0, LOOK_NS};
	uint64_t beat = 0, since = swz_sys_monotonic_ns();

	while (get_state() != state) {
		uint64_t now = swz_sys_monotonic_ns();
		uint64_t latest = __atomic_load_n(&swizzle_control.heartbeat,
						  __ATOMIC_RELAXED);

		if (latest != beat) {
			beat = latest;
			since = now;
		} else if (now - since > SWZ_CONTROL_PATIENCE_NS ||
			   get_state() == SWZ_CONTROL_ABANDONED) {
			return false;
		}
		SWZ_SYSCALL(SYS_nanosleep, &look, NULL);
	}
	return true;
}

static long start_worker(void (*function)(void))
{
	long error;

	swz_own_thread_free(&worker);
	error = swz_own_thread_start(&worker, function);
	if (!error)
		swizzle_control.agent_tid = worker.tid;
	return error;
}

/* -------------------------------------------------------- modules, held */

/* So that none is unloaded while it is read. Those of the start are not. */
static void **held;
static uint32_t held_count;
static close_library *close_held;

/* False: it has gone, or is not to be held. */
static bool hold(const struct swz_module *m, open_library *open)
{
	void *handle = m->path[0] == '/'
			       ? open(m->path, RTLD_LAZY | RTLD_NOLOAD)
			       : NULL;

	/* the first member of struct link_map */
	if (handle && *(const uint64_t *)handle == m->load_bias) {
		held[held_count++] = handle;
		return true;
	}
	if (handle)
		close_held(handle);
	return false;
}

static enum swz_status hold_modules(const struct swz_attach_request *request)
{
	const unsigned count = modules.count;
	bool linker_seen = false;
	open_library *open;

	memcpy(&open, &request->dlopen, sizeof(open));
	memcpy(&close_held, &request->dlclose, sizeof(close_held));
	modules.count = held_count = 0;
	held = swz_sys_mmap(NULL, count * sizeof(*held) + 1,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (!held)
		return SWZ_E_NOMEM;
	for (unsigned i = 0; i < count; i++) {
		const struct swz_module *m = &modules.of[i];
		const bool is_us = m->load_bias == (uintptr_t)swz_image_start;

		if (!linker_seen || is_us || hold(m, open))
			modules.of[modules.count++] = *m;
		if (m->load_bias == swz_linker_debug(&modules)->r_ldbase)
			linker_seen = true;
	}
	return SWZ_OK;
}

long swz_attach_release(void)
{
	while (held_count)
		close_held(held[--held_count]);
	return 0;
}

/* --------------------------------------------------------------- planning */

static uint32_t total(bool patched)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < modules.count; i++)
		sum += patched ? modules.of[i].counts[SWZ_PATCHED]
			       : modules.of[i].hookable_count;
	return sum;
}

static void give_all_back(void)
{
	struct swz_control *c = &swizzle_control;

	c->site_count = c->code_count = 0;
	(void)swz_request_map(-1); /* in our own image: not the file's page */
	swz_reset(worker.memory);
}

static void fail(const char *problem)
{
	swz_say(problem, swz_file_path(), NULL);
	swz_recording = false;
	swz_file_discard();
	give_all_back();
	set_state(SWZ_CONTROL_FAILED);
}

/* The time until now was ours. */
static void begin_now(void)
{
	struct timespec now;

	swz_file->start_ticks = swz_ticks();
	SWZ_SYSCALL(SYS_clock_gettime, CLOCK_REALTIME, &now);
	swz_file->start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u +
				      (uint64_t)now.tv_nsec;
}

static void plan(void)
{
	struct swz_control *c = &swizzle_control;
	uint64_t began = swz_sys_monotonic_ns();
	const char *problem = "no memory for ";

	SWZ_SYSCALL(SYS_prctl, PR_SET_NAME, "swizzle");
	swz_thread_self = (struct swz_thread *)(uintptr_t)&swz_nobody;
	if (swz_control_begin_tables())
		problem = swz_recording_begin(&modules);
	swz_workers_end();
	if (problem) {
		fail(problem);
		return;
	}
	memcpy(c->path, swz_file_path(), strlen(swz_file_path()) + 1);
	c->functions = total(false);
	c->hooked = total(true);
	c->planning_ns = swz_sys_monotonic_ns() - began;
	do {
		set_state(SWZ_CONTROL_PLANNED);
		if (!wait_for(SWZ_CONTROL_COMMIT)) {
			fail("nobody has waited for ");
			return;
		}
	} while (!swz_late_commit(&modules));
	swz_scratch_free_all();
	begin_now();
	swz_thread_give_back_own();
	set_state(SWZ_CONTROL_COMMITTED);
}

__attribute__((visibility("default"))) long swizzle_attach(
	const struct swz_attach_request *request)
{
	struct swz_control *c = &swizzle_control;
	const char *problem;
	long error;

	if (get_state() != SWZ_CONTROL_IDLE &&
	    get_state() != SWZ_CONTROL_FAILED &&
	    get_state() != SWZ_CONTROL_ENDED)
		return -EALREADY;
	if (swz_own_thread_lives(&worker))
		return -EBUSY;
	if (!swz_reset_note())
		return -ENOMEM;
	swz_own_least = 1; /* all of it is given back at the end */
	c->finish = (uintptr_t)&swz_attach_finish;
	c->release = (uintptr_t)&swz_attach_release;
	c->message_bytes = 0;
	c->frames_left = 0;
	c->controller_pid = request->controller_pid;
	c->controller_start = request->controller_start;
	c->handle = request->handle;
	c->region = request->region;
	c->region_bytes = request->region_bytes;
	swz_control_describe();
	swz_config.linked = false;
	swz_config.attached = true;
	set_state(SWZ_CONTROL_PLANNING);
	problem = swz_config_read((int)request->argument_count,
				  (char **)(uintptr_t)request->arguments,
				  (char **)(uintptr_t)request->environment);
	if (problem) {
		swz_say(problem, NULL, NULL);
		set_state(SWZ_CONTROL_FAILED);
		return 0;
	}
	swz_own_add((uintptr_t)swz_image_start,
		    (uintptr_t)swz_arena_end - (uintptr_t)swz_image_start);
	swz_thread_set_main_stack((const void *)(uintptr_t)request->main_stack);
	error = swz_modules_list(&modules) == SWZ_OK &&
				hold_modules(request) == SWZ_OK
			? start_worker(plan)
			: -ENOMEM;
	if (error) {
		swz_say("no thread can be started", NULL, NULL);
		set_state(SWZ_CONTROL_FAILED);
	}
	return 0;
}

/* ---------------------------------------------------------------- closing */

static void finish(void)
{
	struct swz_control *c = &swizzle_control;

	SWZ_SYSCALL(SYS_prctl, PR_SET_NAME, "swizzle");
	if (!wait_for(SWZ_CONTROL_FINISHING))
		return;
	swz_thread_self = (struct swz_thread *)(uintptr_t)&swz_nobody;
	c->frames_left = swz_take_back_frames();
	/* (a forked child that came to no hook has its parent's) */
	if (swz_recording &&
	    swz_file->pid == (int32_t)SWZ_SYSCALL(SYS_getpid)) {
		swz_thread_note_ended();
		swz_recording = false;
		swz_file_finish();
	}
	swz_recording = false;
	/* (what was there from the start leads to more than frames) */
	if (swz_config.attached)
		give_all_back();
	else
		swz_lasting_sites_restore();
	set_state(SWZ_CONTROL_ENDED);
}

long swz_attach_finish(void)
{
	return swz_own_thread_lives(&worker) ? -EBUSY : start_worker(finish);
}
