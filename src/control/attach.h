#ifndef SWZ_CONTROL_ATTACH_H
#define SWZ_CONTROL_ATTACH_H

/* A process that is attached to: brings the exact profiler into it and takes it
 * out again (docs/attach.md), takes hooks out of a program that was started
 * with the library and puts them back (docs/control.md). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/control.h"
#include "base/run_summary.h"
#include "control/target.h"
#include "launch/run_options.h"

/* A process that is attached to, and how its library and this process take
 * turns (base/control.h). */

/* After so many stops in which a thread is where it must not be, it is given
 * up. */
#define SWZ_ATTACH_TRIES 400u
/* Between two looks at what the library does. */
#define SWZ_ATTACH_LOOK_NS 200000
/* How long the library's thread may take for its part of a stop. */
#define SWZ_ATTACH_ANSWER_NS UINT64_C(10000000000)

/* Stops of all threads. */
struct swz_stop_times {
	uint32_t count;
	uint64_t longest_ns, sum_ns; /* since the first was asked to stop */
	uint64_t longest_work_ns;    /* since the last one stood */
	uint64_t gathering_ns;       /* of the sum, until then */
};

struct swz_attached {
	struct swz_target target;
	struct swz_borrower borrower;
	struct swz_control control;  /* as it was read last */
	uint64_t control_at;         /* in the target */
	struct swz_stop_times stops; /* since it began to attach, or detach */
	uint64_t longest_ns;         /* of all stops, of one thread too */
	unsigned lates;      /* the latest stops in which not all had stopped in
			      * time */
	bool has_other_root; /* the profile is in the process's file system */
	size_t skipped;      /* functions */
	bool taken_over;     /* an earlier attach's controller was killed: its
			      * profile was closed */
	uint64_t start_stack; /* when it was opened: of the program then */
	int lock;
	char problem[1024]; /* of the latest call that failed */
};

/* Opens the process's memory. False: ->problem says why. To be closed in any
 * case. */
bool swz_attached_open(struct swz_attached *attached, int32_t pid);
void swz_attached_close(struct swz_attached *attached);

/* One controller at a time: the lock is free again when its process ends.
 * False: another one has had it for so long. */
bool swz_attached_lock(struct swz_attached *attached, uint64_t wait_ns);

/* True if the process executes another program than when it was opened. */
bool swz_attached_has_executed(const struct swz_attached *attached);

/* Sets ->problem; one that comes from its execution of another program
 * meanwhile is that. Returns false. */
bool swz_attached_fail(struct swz_attached *attached, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Stops all threads but the library's own. */
enum swz_stop_result swz_attached_try_stop(struct swz_attached *attached,
					   struct swz_stop *stop);

/* Likewise. False: *GOOD says whether to try again, after so many tries. */
bool swz_attached_stop_all(struct swz_attached *attached, struct swz_stop *stop,
			   unsigned tries, bool *good);

/* Lets all threads go, and notes how long they were stopped. */
void swz_attached_end_stop(struct swz_attached *attached,
			   struct swz_stop *stop);

/* How often and how long all threads were stopped, in ms, and one for a call of
 * ours: text for people, without a newline. */
uint64_t swz_attached_longest_ns(const struct swz_attached *attached);

#define SWZ_STOPS_BYTES 256u

void swz_attached_tell_stops(const struct swz_attached *attached,
			     char text[SWZ_STOPS_BYTES]);

/* Renews ->control. False: the library is not there any more. */
bool swz_attached_read(struct swz_attached *attached);

/* The same, and reads the sites. While the program loads libraries their table
 * may move: what was read counts if it was there before and after. False: it
 * cannot be read. */
bool swz_attached_read_sites(struct swz_attached *attached,
			     struct swz_sites *sites);

/* enum swz_control_state; FAILED where it cannot be read. */
uint32_t swz_attached_state(const struct swz_attached *attached);
bool swz_attached_set_state(const struct swz_attached *attached,
			    uint32_t state);

/* Lets the threads run on after a stop in which one of them was where it must
 * not be, or did not stop in time; so many there were before. */
void swz_attached_pause(const struct swz_attached *attached, unsigned tries);

/* The library's own thread, while there is one; 0: there is none. Its number in
 * ->control is that of the process's own namespace, and some other thread may
 * have it by now. */
int32_t swz_attached_agent(const struct swz_attached *attached);

/* Tells the library's thread that we are there. */
bool swz_attached_beat(const struct swz_attached *attached);

/* Until the library has left a state, for NS at most. False: it has not, or
 * the process is gone. Renews ->control. */
bool swz_attached_wait_while(struct swz_attached *attached, uint32_t state,
			     uint64_t ns);

/* Threads that execute code of the library's: hooks, thunks, trampolines. */

/* The code that the library has made, ->control.code_count of them; NULL: it
 * cannot be read. To be freed. */
struct swz_control_code *swz_our_code_read(const struct swz_attached *attached);

/* True if a stopped thread executes such code, or will when it returns from a
 * signal's handler. */
bool swz_is_in_us(const struct swz_attached *attached,
		  const struct swz_control_code *code,
		  const struct swz_stopped *thread);

/* While all threads are stopped: none does. Those that are in a hook are let
 * run until they have left it, as far as that is soon. */
bool swz_nobody_stays_in_us(const struct swz_attached *attached,
			    const struct swz_control_code *code,
			    struct swz_stop *stop);

/* Stops all threads when none of them stands where it must not, and writes the
 * sites, or restores them. False: ->problem. */
bool swz_attach_patch(struct swz_attached *attached, bool patch);

/* In a stop: whether no thread stands within a site. Those that do are let run
 * until they are somewhere else, as far as that is soon; after many tries the
 * functions are left out. */
bool swz_sites_come_free(struct swz_sites *sites, struct swz_stop *stop,
			 unsigned tries);

/* The last part of a detach, when no function leads to a hook any more: stops
 * all threads when none of them is in code of ours, has the library put the
 * real return addresses back and close the profile. False: ->problem. */
bool swz_attach_finish(struct swz_attached *attached);

/* The exact profiler, brought into a process that runs, and taken out of it
 * again. See docs/attach.md. */

struct swz_attach_settings {
	int32_t pid;
	const char *library; /* absolute path of libswizzle.so */
	char **environment;  /* SWIZZLE_*=...; NULL at the end */
	bool verbose;
};

/* Loads the library, has it plan, and patches. False: nothing is patched, and
 * ->problem says why. To be freed in any case. */
bool swz_attach_begin(struct swz_attached *attached,
		      const struct swz_attach_settings *settings);

/* True if the process still runs the program that was attached to. Renews
 * ->control. */
bool swz_attach_goes_on(struct swz_attached *attached);

/* Restores the code, closes the profile. False: ->problem says what was left.
 */
bool swz_attach_end(struct swz_attached *attached);
void swz_attach_free(struct swz_attached *attached);

/* A process that was started with the library: its hooks taken out of its code
 * while recording is stopped, and put back. See docs/control.md.
 *
 * Whoever is killed meanwhile leaves a process that runs right, with some of
 * its functions hooked (SWZ_CODE_CHANGING); the next one makes it whole. */

/* Opens it, and waits until no other controller is at work. False: ->problem
 * says why its code cannot be changed. To be closed in any case
 * (swz_attached_close). */
bool swz_native_open(struct swz_attached *attached, int32_t pid);

/* To be called when recording is stopped; before it is started. False:
 * ->problem; some hooks may be there. */
bool swz_native_take_out(struct swz_attached *attached);
bool swz_native_put_back(struct swz_attached *attached);

/* When the profile is detached: restores all code, and takes the library's
 * return addresses off the stacks. */
bool swz_native_detach(struct swz_attached *attached);

/* Processes that were forked while one was attached to, and are hooked as it
 * was. */

struct swz_child_processes {
	unsigned ended;     /* that are native now */
	unsigned left;      /* that are not */
	char problem[1024]; /* of the last one of those */
};

/* Detaches from all of them, and theirs. The process itself is native by now,
 * or has ended. */
void swz_attach_end_children(const struct swz_attached *attached,
			     struct swz_child_processes *children);

/* --- the library in the process ------------------------------------------- */

/* libswizzle.so in the process: found, loaded, called. */

/* libswizzle.so in the process: found, loaded, called. */

/* Where it is mapped, or NULL. */
const struct swz_target_mapping *swz_injected_mapping(
	const struct swz_target *target);

/* Finds what the library shares with us: ->control_at, ->control. False: it is
 * not there, or is of another version. */
bool swz_injected_find(struct swz_attached *attached);

/* True if the dynamic linker has loaded it at the program's start: then it
 * profiles from there on. */
bool swz_injected_was_preloaded(struct swz_attached *attached);

/* Loads it, unless it is there, and has it begin to plan. */
bool swz_injected_load(struct swz_attached *attached, const char *path,
		       char **environment);

/* Calls a function with two arguments on a borrowed thread; SAFE: see
 * swz_borrow_call. */
bool swz_injected_call(struct swz_attached *attached, uint64_t function,
		       uint64_t first, uint64_t second, bool safe,
		       uint64_t *result);

/* Likewise, once no thread of the library's own is there, from an earlier call.
 * False: the function has returned an error, too. */
bool swz_injected_call_when_free(struct swz_attached *attached,
				 uint64_t function, uint64_t argument,
				 bool safe);

/* --- swizzle-run -p PID: attaches, waits, detaches -------------------------
 */

/* The caller's part between attaching and detaching. PROFILE is the path of the
 * one that the process writes; NULL: it is in another root. */
struct swz_attach_beside {
	void (*begin)(void *context, const char *profile);
	void (*end)(void *context);
	void *context;
};

/* False: what keeps the process from being hooked keeps samples from it, too:
 * it has ended, is stopped or frozen, or a thread of the kernel. */
bool swz_attach_may_sample(int32_t pid);

/* Returns swizzle-run's exit status. RUN is that of the process: its pid, its
 * start. LIBRARY is the path of libswizzle.so, ENVIRONMENT holds the settings.
 * BESIDE may be NULL. */
int swz_attach_run(struct swz_run *run, const struct swz_sampling *options,
		   const char *library, char **environment,
		   const struct swz_attach_beside *beside);

/* --- swizzle-run --check -------------------------------------------------- */

/* swizzle-run --check: what works on this machine, what does not and why, and
 * the command that would change it, on standard output. LIBRARY: the path of
 * libswizzle.so. Returns the exit status: 0, or 1 if something does not work.
 */
int swz_check_machine(const char *library);

/* --- calls cut short by the sampler --------------------------------------- */

/* From now on calls that a pause of the sampler cuts short go on, by the few
 * instructions that attaching uses, in a gap of the process's code.
 * They are put there when they are first needed, and taken away when the
 * sampler ends, if no thread is in them. A sampler that is killed leaves them:
 * they need nobody. See docs/internals/blocking-calls.md. */
void swz_pause_calls_mend(void);

#endif
