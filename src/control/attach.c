#include "control/attach.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/process_start.h"
#include "control/request.h"
#include "control/safe_place.h"
#include "control/interrupted.h"
#include "control/stop.h"
#include "watch/clock.h"

#define LOOK_NS 200000
#define TRIES 400u /* of a stop in which no thread is where it must not be */
#define TRIES_TO_SKIP 100u /* after so many, functions are left out */
#define ANSWER_NS UINT64_C(10000000000)

__attribute__((format(printf, 2, 3))) static bool fail(struct swz_attached *a,
						       const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(a->problem, sizeof(a->problem), format, arguments);
	va_end(arguments);
	return false;
}

static void rest(uint64_t ns)
{
	struct timespec time = {0, (long)ns};

	nanosleep(&time, NULL);
}

/* -------------------------------------------------------------- the control */

static bool read_control(struct swz_attached *a)
{
	return swz_target_read(&a->target, a->control_at, &a->control,
			       sizeof(a->control)) &&
	       a->control.magic == SWZ_CONTROL_MAGIC &&
	       a->control.version == SWZ_CONTROL_VERSION &&
	       a->control.bytes == sizeof(a->control);
}

static bool set_state(const struct swz_attached *a, uint32_t state)
{
	return swz_target_write(
		&a->target, a->control_at + offsetof(struct swz_control, state),
		&state, sizeof(state));
}

static uint32_t state_of(const struct swz_attached *a)
{
	uint32_t state = SWZ_CONTROL_FAILED;

	(void)swz_target_read(
		&a->target, a->control_at + offsetof(struct swz_control, state),
		&state, sizeof(state));
	return state;
}

/* Tells the library's thread that we are there. */
static bool beat(const struct swz_attached *a)
{
	uint64_t now = swz_watch_now();

	return swz_target_write(&a->target,
				a->control_at +
					offsetof(struct swz_control, heartbeat),
				&now, sizeof(now));
}

/* Until the library has left a state; NS: for so long. False: it has not, or
 * the process is gone. */
static bool wait_while(struct swz_attached *a, uint32_t state, uint64_t ns)
{
	uint64_t end = swz_watch_now() + ns;

	while (state_of(a) == state) {
		if (!beat(a) || swz_watch_now() > end)
			return false;
		swz_stop_reap();
		rest(LOOK_NS);
	}
	return read_control(a);
}

/* -------------------------------------------------------------- the library */

static const struct swz_target_mapping *library_in(const struct swz_target *t)
{
	for (size_t i = 0; i < t->mapping_count; i++) {
		const char *base = strrchr(t->mappings[i].path, '/');

		if (base && strncmp(base, "/libswizzle.so", 14) == 0)
			return &t->mappings[i];
	}
	return NULL;
}

static bool find_control(struct swz_attached *a)
{
	const struct swz_target_mapping *m;

	if (!swz_target_read_mappings(&a->target))
		return false;
	m = library_in(&a->target);
	a->control_at = m ? swz_target_symbol_in(&a->target, m,
						 SWZ_CONTROL_SYMBOL)
			  : 0;
	return a->control_at && read_control(a);
}

static bool open_target(struct swz_attached *a, int32_t pid)
{
	*a = (struct swz_attached){.target = {.memory = -1}, .lock = -1};
	if (!swz_target_open(&a->target, pid))
		return fail(a, "its memory cannot be opened: %s",
			    strerror(errno));
	if (!swz_target_read_mappings(&a->target))
		return fail(a, "/proc/%d/maps cannot be read: %s", (int)pid,
			    strerror(errno));
	a->places = swz_safe_places_of(&a->target);
	a->borrower.target = &a->target;
	a->borrower.places = a->places;
	return true;
}

static bool call(struct swz_attached *a, uint64_t function, uint64_t first,
		 uint64_t second, bool safe, uint64_t *result)
{
	const uint64_t arguments[4] = {first, second};
	bool done = swz_borrow_call(&a->borrower, function, arguments, safe,
				    result);

	if (a->borrower.stopped_ns > a->longest_stop_ns)
		a->longest_stop_ns = a->borrower.stopped_ns;
	return done || fail(a, "%s", a->borrower.problem);
}

/* Until no thread of the library's own is there, from an earlier call. */
static bool call_when_free(struct swz_attached *a, uint64_t function,
			   uint64_t argument, bool safe)
{
	uint64_t end = swz_watch_now() + 2 * SWZ_CONTROL_PATIENCE_NS;
	uint64_t result;

	for (;;) {
		if (!call(a, function, argument, 0, safe, &result))
			return false;
		if (!result)
			return true;
		if ((int64_t)result != -EBUSY || swz_watch_now() > end)
			return fail(a, "the library refuses: %s",
				    strerror(-(int)result));
		rest(1000000);
	}
}

/* What the dynamic linker has to say. */
static bool fail_to_load(struct swz_attached *a)
{
	uint64_t function = swz_target_symbol(&a->target, "dlerror"), text = 0;
	char why[512] = "";

	if (function && call(a, function, 0, 0, true, &text) && text)
		(void)!pread(a->target.memory, why, sizeof(why) - 1,
			     (off_t)text);
	return fail(a, "its dynamic linker cannot load the library: %s", why);
}

/* One that an earlier attach has loaded is there to stay. */
static bool load_library(struct swz_attached *a, uint64_t open, uint64_t path,
			 uint64_t *handle)
{
	*handle = a->control_at ? a->control.handle : 0;
	if (*handle)
		return true;
	return call(a, open, path, RTLD_NOW, true, handle) &&
	       (*handle || fail_to_load(a));
}

static bool load(struct swz_attached *a, const char *library,
		 char **environment)
{
	uint64_t open = swz_target_symbol(&a->target, "dlopen");
	uint64_t close = swz_target_symbol(&a->target, "dlclose");
	uint64_t path, request, handle, begin;
	struct swz_attach_request r;

	if (!open || !close)
		return fail(a, "its libc has no dlopen");
	if (!swz_request_write(&a->borrower, library, environment, &path,
			       &request))
		return fail(a, "the settings are too long");
	if (!load_library(a, open, path, &handle))
		return false;
	if (!find_control(a))
		return fail(a,
			    "the library that is loaded is of another version "
			    "than %s",
			    library);
	if (!swz_target_read(&a->target, request, &r, sizeof(r)))
		return fail(a, "the process has ended");
	r.dlopen = open;
	r.dlclose = close;
	r.handle = handle;
	if (!swz_target_write(&a->target, request, &r, sizeof(r)))
		return fail(a, "the process has ended");
	begin = swz_target_symbol_in(&a->target, library_in(&a->target),
				     SWZ_ATTACH_SYMBOL);
	return call_when_free(a, begin, request, true);
}

/* By the dynamic linker, at the program's start: then it profiles from
 * there on.
 */
static bool was_preloaded(struct swz_attached *a)
{
	return library_in(&a->target) && find_control(a) &&
	       a->control.preloaded;
}

/* -----------------------------------------------------------------
 * patching */

static const char *stop_problem(enum swz_stop_result result)
{
	switch (result) {
	case SWZ_STOP_ENDED:
		return "the process has ended";
	case SWZ_STOP_TRACED:
		return "a debugger has it";
	case SWZ_STOP_DENIED:
		return "ptrace is not permitted";
	case SWZ_STOP_HELD:
		return "it is stopped. Continue it (kill -CONT), and "
		       "try again";
	case SWZ_STOP_LATE:
		return "one of its threads does not stop: it waits in "
		       "the "
		       "kernel (state D)";
	case SWZ_STOP_DONE:
		break;
	}
	return "";
}

/* Whether a thread executes code of ours. */
static bool is_ours(const struct swz_attached *a,
		    const struct swz_control_code *code, uint32_t count,
		    uint64_t address)
{
	const struct swz_target_mapping *m = swz_target_mapping_at(&a->target,
								   address);
	const char *base = m ? strrchr(m->path, '/') : NULL;

	if (base && strncmp(base, "/libswizzle.so", 14) == 0)
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (address >= code[i].start && address < code[i].end)
			return true;
	return false;
}

/* The code that the library has made, to be freed. */
static struct swz_control_code *read_code(const struct swz_attached *a)
{
	uint32_t count = a->control.code_count;
	struct swz_control_code *code;

	if (count > SWZ_CONTROL_MOST_CODE)
		return NULL;
	code = calloc(count + 1, sizeof(*code));
	if (code && swz_target_read(&a->target, a->control.code, code,
				    count * sizeof(*code)))
		return code;
	free(code);
	return NULL;
}

struct look {
	const struct swz_control_code *code;
	uint32_t count;
	bool found;
};

static bool look_at(void *context, uint64_t word)
{
	struct look *look = context;

	for (uint32_t i = 0; i < look->count; i++)
		if (word >= look->code[i].start && word < look->code[i].end)
			look->found = true;
	return !look->found;
}

/* Nor will it be again, when it returns from a signal's handler. */
static bool nobody_is_in_us(const struct swz_attached *a,
			    const struct swz_control_code *code,
			    const struct swz_stop *stop)
{
	struct look look = {code, a->control.code_count, false};

	for (size_t i = 0; i < stop->count && !look.found; i++) {
		const struct user_regs_struct *r = &stop->threads[i].registers;

		if (is_ours(a, code, a->control.code_count, r->rip))
			return false;
		swz_interrupted_each(&a->target, r->rsp, look_at, &look);
	}
	return !look.found;
}

static void note_stop(struct swz_attached *a, uint64_t ns)
{
	if (ns > a->longest_stop_ns)
		a->longest_stop_ns = ns;
}

/* In the stop: the library's part, then the sites. *DONE: that was possible. */
static bool commit(struct swz_attached *a, const struct swz_sites *sites,
		   bool *done)
{
	*done = false;
	if (state_of(a) == SWZ_CONTROL_PLANNED) {
		if (!set_state(a, SWZ_CONTROL_COMMIT) ||
		    !wait_while(a, SWZ_CONTROL_COMMIT, ANSWER_NS))
			return fail(a, "the library does not answer");
		if (a->control.state == SWZ_CONTROL_PLANNED)
			return true; /* a list is about to change */
		if (a->control.state != SWZ_CONTROL_COMMITTED)
			return fail(a, "the library has given up");
	}
	*done = true;
	if (!swz_sites_write(sites))
		return fail(a, "its code cannot be written");
	return set_state(a, SWZ_CONTROL_RECORDING) ||
	       fail(a, "the process has ended");
}

static bool try_patch(struct swz_attached *a, struct swz_sites *sites,
		      struct swz_stop *stop, unsigned attempt, bool *done)
{
	enum swz_stop_result result = swz_stop_all(stop, a->target.pid,
						   a->control.agent_tid);
	bool good = true;

	*done = false;
	if (result == SWZ_STOP_LATE && attempt < TRIES)
		return true;
	if (result != SWZ_STOP_DONE)
		return fail(a, "%s", stop_problem(result));
	if (swz_sites_are_free(sites, stop, attempt > TRIES_TO_SKIP)) {
		good = commit(a, sites, done);
		swz_borrow_close_gap(&a->borrower);
	}
	a->patch_stop_ns = swz_stop_end(stop);
	note_stop(a, a->patch_stop_ns);
	return good;
}

static bool patch(struct swz_attached *a)
{
	struct swz_sites sites;
	struct swz_stop stop = {0};
	bool done = false, good = true;

	if (!swz_target_read_mappings(&a->target) ||
	    !swz_sites_read(&sites, &a->target, &a->control))
		return fail(a, "its memory cannot be read");
	for (unsigned i = 0; good && !done && i <= TRIES; i++) {
		(void)beat(a);
		good = try_patch(a, &sites, &stop, i, &done);
		if (!done)
			rest(1000000);
	}
	if (good && !done)
		good = fail(a, "its threads do not leave what is to be "
			       "changed");
	a->skipped = sites.skipped;
	swz_sites_free(&sites);
	swz_stop_free(&stop);
	return good;
}

static bool unpatch(struct swz_attached *a)
{
	struct swz_sites sites = {0};
	struct swz_stop stop = {0};
	bool done = false, good = true;

	for (unsigned i = 0; good && !done && i <= TRIES; i++) {
		enum swz_stop_result result;

		result = swz_stop_all(&stop, a->target.pid,
				      a->control.agent_tid);
		if (result == SWZ_STOP_LATE && i < TRIES)
			continue;
		if (result != SWZ_STOP_DONE)
			return fail(a, "%s", stop_problem(result));
		if (!read_control(a) ||
		    !swz_sites_read(&sites, &a->target, &a->control)) {
			good = fail(a, "its memory cannot be read");
		} else if (!a->control.late_busy) {
			swz_sites_leave_islands(&sites, &stop);
			good = swz_sites_restore(&sites, SWZ_PHASE_JUMP) ||
			       fail(a, "its code cannot be written");
			(void)set_state(a, SWZ_CONTROL_ENDING);
			done = true;
		}
		swz_sites_free(&sites);
		note_stop(a, swz_stop_end(&stop));
		if (!done)
			rest(1000000);
	}
	swz_stop_free(&stop);
	return good && (done || fail(a, "it does not stop loading libraries"));
}

bool swz_attach_patch(struct swz_attached *a, bool wanted)
{
	return wanted ? patch(a) : unpatch(a);
}

/* ----------------------------------------------------------------
 * beginning */

/* One controller at a time: the name is free again when its process
 * ends. */
static bool lock(struct swz_attached *a)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int length = snprintf(
		name.sun_path + 1, sizeof(name.sun_path) - 1,
		"swizzle-attach-%d-%llu", (int)a->target.pid,
		(unsigned long long)swz_process_start(a->target.pid));

	a->lock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (a->lock < 0)
		return true; /* there are no sockets here */
	return bind(a->lock, (struct sockaddr *)&name,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				(size_t)length)) == 0 ||
	       fail(a, "it is being profiled by swizzle already: by "
		       "another "
		       "swizzle-run -p");
}

/* The library is there: of an attach that is over, or of one whose
 * controller was killed, which is brought to its end. */
static bool take_over(struct swz_attached *a)
{
	uint32_t state;

	if (!find_control(a) || !a->control.region)
		return true; /* nothing has begun */
	if (!swz_borrow_begin(&a->borrower, a->control.region))
		return fail(a, "%s", a->borrower.problem);
	/* its thread finds that nobody is there, or has been told to go
	 * on */
	for (uint64_t end = swz_watch_now() + 2 * SWZ_CONTROL_PATIENCE_NS;
	     (state = state_of(a)) == SWZ_CONTROL_PLANNING ||
	     state == SWZ_CONTROL_PLANNED || state == SWZ_CONTROL_COMMIT ||
	     state == SWZ_CONTROL_ABANDONED || state == SWZ_CONTROL_FINISHING;
	     rest(LOOK_NS)) {
		if (state == SWZ_CONTROL_PLANNED)
			(void)set_state(a, SWZ_CONTROL_ABANDONED);
		if (swz_watch_now() > end)
			return fail(a, "an earlier attach is not over");
	}
	if (state == SWZ_CONTROL_COMMITTED || state == SWZ_CONTROL_RECORDING ||
	    state == SWZ_CONTROL_ENDING) {
		a->taken_over = true;
		return swz_attach_end(a);
	}
	return true;
}

/* What the library says of why it cannot: a line of its own. */
static bool pass_on(struct swz_attached *a)
{
	static const char prefix[] = "swizzle: ";
	const char *text = a->control.message;
	int length = (int)a->control.message_bytes;

	if (length > (int)sizeof(a->control.message))
		length = 0;
	if (length > (int)sizeof(prefix) &&
	    strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
		text += sizeof(prefix) - 1;
		length -= (int)sizeof(prefix) - 1;
	}
	while (length && text[length - 1] == '\n')
		length--;
	return fail(a,
		    "%.*s (the process writes it itself, with the rights of "
		    "its user)",
		    length, text);
}

/* Nothing of ours stays in its code. */
static bool give_up(struct swz_attached *a)
{
	struct swz_stop stop = {0};

	if (swz_stop_all(&stop, a->target.pid, a->control.agent_tid) ==
	    SWZ_STOP_DONE) {
		swz_borrow_close_gap(&a->borrower);
		(void)swz_stop_end(&stop);
	}
	swz_stop_free(&stop);
	return false;
}

static bool has_begun(struct swz_attached *a,
		      const struct swz_attach_settings *settings)
{
	struct swz_sites sites;
	uint64_t result;

	if (!load(a, settings->library, settings->environment) ||
	    !wait_while(a, SWZ_CONTROL_PLANNING, UINT64_MAX / 4))
		return a->problem[0] ? false : fail(a, "the process has ended");
	if (a->control.state != SWZ_CONTROL_PLANNED)
		return pass_on(a);
	/* while no module can be unloaded, and its place be somebody's */
	if (!swz_target_read_mappings(&a->target) ||
	    !swz_sites_read(&sites, &a->target, &a->control))
		return fail(a, "its memory cannot be read");
	swz_sites_copy_pages(&sites);
	swz_sites_free(&sites);
	/* One that is unloaded from now on has nothing to be patched. */
	return call(a, a->control.release, 0, 0, true, &result) && patch(a);
}

bool swz_attach_begin(struct swz_attached *a,
		      const struct swz_attach_settings *settings)
{
	if (!open_target(a, settings->pid) || !lock(a))
		return false;
	if (was_preloaded(a))
		return fail(a, "it is being profiled by swizzle already");
	if (library_in(&a->target) && !take_over(a))
		return false;
	if (!a->borrower.region && !swz_borrow_begin(&a->borrower, 0)) {
		(void)fail(a, "%s", a->borrower.problem);
		return give_up(a);
	}
	a->longest_stop_ns = a->borrower.stopped_ns = 0;
	return has_begun(a, settings) || give_up(a);
}

bool swz_attach_goes_on(struct swz_attached *a)
{
	return read_control(a);
}

bool swz_attach_open(struct swz_attached *a, int32_t pid)
{
	if (!open_target(a, pid))
		return false;
	if (!find_control(a) || !a->control.region)
		return fail(a, "it is not being profiled by an attach");
	return swz_borrow_begin(&a->borrower, a->control.region) ||
	       fail(a, "%s", a->borrower.problem);
}

/* -------------------------------------------------------------------
 * ending */

static void forget_threads(const struct swz_attached *a,
			   const struct swz_stop *stop)
{
	for (size_t i = 0; i < stop->count; i++) {
		uint64_t at = stop->threads[i].registers.fs_base +
			      (uint64_t)a->control.thread_slot;
		uint64_t there;

		if (swz_target_read(&a->target, at, &there, sizeof(there)) &&
		    there)
			(void)swz_target_write(&a->target, at,
					       &a->control.nobody,
					       sizeof(a->control.nobody));
	}
}

/* What is left of the sites: the inner ones, and those of a thread that was
 * about to hook what it had loaded. */
static bool restore_all_sites(struct swz_attached *a)
{
	struct swz_sites sites;
	bool done;

	if (!read_control(a))
		return fail(a, "the process has ended");
	done = swz_sites_read(&sites, &a->target, &a->control) &&
	       swz_sites_restore(&sites, SWZ_PHASE_INNER);
	swz_sites_free(&sites);
	return done || fail(a, "its code cannot be written");
}

/* With all threads stopped, and none in code of ours. */
static bool close_profile(struct swz_attached *a, const struct swz_stop *stop)
{
	if (!restore_all_sites(a))
		return false;
	forget_threads(a, stop);
	if (!set_state(a, SWZ_CONTROL_FINISHING) ||
	    !wait_while(a, SWZ_CONTROL_FINISHING, ANSWER_NS) ||
	    a->control.state != SWZ_CONTROL_ENDED)
		return fail(a, "the library does not answer");
	return true;
}

/* That of an earlier controller, which was killed. */
static bool closer_waits(struct swz_attached *a)
{
	char path[64];

	if (!a->taken_over || state_of(a) != SWZ_CONTROL_ENDING || !beat(a))
		return false;
	rest(5000000); /* until it has seen that */
	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)a->target.pid,
		 (int)a->control.agent_tid);
	return access(path, F_OK) == 0;
}

static bool finish(struct swz_attached *a)
{
	struct swz_control_code *code;
	struct swz_stop stop = {0};
	bool done = false, good = true;

	if (!closer_waits(a) && !call_when_free(a, a->control.finish, 0, false))
		return false;
	if (!read_control(a))
		return fail(a, "the process has ended");
	code = read_code(a);
	if (!code || !swz_target_read_mappings(&a->target)) {
		free(code);
		return fail(a, "its memory cannot be read");
	}
	for (unsigned i = 0; good && !done && i <= TRIES; i++) {
		enum swz_stop_result stopped;

		(void)beat(a);
		stopped = swz_stop_all(&stop, a->target.pid,
				       a->control.agent_tid);
		if (stopped != SWZ_STOP_DONE && stopped != SWZ_STOP_LATE) {
			good = fail(a, "%s", stop_problem(stopped));
			break;
		}
		if (stopped == SWZ_STOP_DONE &&
		    nobody_is_in_us(a, code, &stop)) {
			good = close_profile(a, &stop);
			done = true;
		}
		if (stopped == SWZ_STOP_DONE)
			note_stop(a, swz_stop_end(&stop));
		if (!done)
			rest(500000);
	}
	free(code);
	swz_stop_free(&stop);
	return good &&
	       (done || fail(a, "a thread of it does not leave a hook"));
}

bool swz_attach_end(struct swz_attached *a)
{
	return read_control(a) && unpatch(a) && finish(a);
}

void swz_attach_free(struct swz_attached *a)
{
	swz_safe_places_free(a->places);
	swz_target_close(&a->target);
	if (a->lock >= 0)
		close(a->lock);
	a->lock = -1;
}
