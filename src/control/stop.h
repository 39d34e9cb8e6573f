#ifndef SWZ_CONTROL_STOP_H
#define SWZ_CONTROL_STOP_H

/* Threads of another process, stopped and let go, and the system calls that a
 * stop cuts short. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

/* System calls that a stop has cut short: each goes on as if there had been no
 * stop. docs/internals/blocking-calls.md lists them. */

/* A thread that slept in a call with a time limit, before it was stopped. */
struct swz_sleeper {
	int32_t tid;
	uint64_t turns;    /* how often it had got a processor */
	uint64_t since_ns; /* when it ran last */
};

struct swz_sleepers {
	struct swz_sleeper *list;
	size_t count, capacity;
};

/* Before the stop: notes the threads of a process that sleep so. */
void swz_sleepers_note(struct swz_sleepers *sleepers, int32_t pid);
void swz_sleepers_note_one(struct swz_sleepers *sleepers, int32_t pid,
			   int32_t tid);
void swz_sleepers_free(struct swz_sleepers *sleepers);

/* A thread that has stopped. */
struct swz_cut_call {
	int32_t pid, tid;
	/* Addresses of code to resume calls (src/base/resume_call.h), the
	 * first for those to come; 0: none. */
	uint64_t code[2];
	/* The caller puts it there, if it is needed, before the thread goes. */
	bool code_is_to_come;
	const struct swz_sleepers *sleepers; /* or NULL */
};

/* That code: RESUME_BYTES of it (stub.S). A call is led to no other. */
extern const uint8_t swz_stub_resume[];

/* True if the thread must get other registers (*AGAIN), so that its call goes
 * on. The data for that has been written to its stack. The kernel finds the
 * call interrupted, and makes it again when it lets the thread go. If a
 * signal's handler is to run then, the call ends as it does without a stop:
 * with EINTR, or the part that is done. */
bool swz_call_resume(const struct swz_cut_call *call,
		     const struct user_regs_struct *registers,
		     struct user_regs_struct *again);

/* The thread's own registers, where it is in that code. */
struct user_regs_struct swz_call_origin(
	const struct swz_cut_call *call,
	const struct user_regs_struct *registers);

/* Threads of another process, stopped and let go. They are seized for that
 * (ptrace), and should this process be killed the kernel lets them go. */

struct swz_stopped {
	int32_t tid;
	int32_t signal; /* to be delivered when it goes on; 0: none */
	bool asked;     /* to stop */
	bool stopped;
	bool held; /* by job control */
	struct user_regs_struct registers;
	/* With these its call goes on. It has got them as soon as it had
	 * stopped: who is killed then leaves it right. */
	struct user_regs_struct again;
	bool resumes; /* they differ */
	bool changed; /* registers are to be written back */
	bool astray;  /* it stands where it must not: see swz_stop_move */
	bool moved;   /* it has run since the stop began */
};

/* After that all are let go, rather than held until the last one stops. */
#define SWZ_STOP_MOST_NS 50000000u

struct swz_stop {
	int32_t pid, except;
	bool alone; /* one is to stop; the others are bystanders */
	struct swz_stopped *threads;
	size_t count, capacity;
	struct swz_sleepers sleepers;
	uint64_t code[2]; /* to resume calls: see struct swz_cut_call */
	uint64_t most_ns; /* how long it may take; 0: SWZ_STOP_MOST_NS */
	uint64_t until_ns;
	uint64_t began_ns;   /* when the first was asked to stop */
	uint64_t stopped_ns; /* when the last one had stopped */
	uint64_t lasted_ns;  /* of the latest one, also where it has failed */
};

enum swz_stop_result {
	SWZ_STOP_DONE,
	SWZ_STOP_ENDED,  /* there is no such process any more */
	SWZ_STOP_TRACED, /* a debugger has a thread of it */
	SWZ_STOP_DENIED, /* ptrace is not permitted */
	SWZ_STOP_HELD,   /* stopped by job control (SIGSTOP) */
	SWZ_STOP_LATE    /* a thread did not stop in time */
};

/* Does WORK, which is one stop, on a thread of its own that traces. When that
 * thread ends the kernel lets all that it has stopped go at one moment: a
 * signal that is ignored, which a traced thread keeps pending, never wakes one
 * that has been let go already. What WORK does after swz_stop_end makes the
 * stop longer. Returns when all have been let go, but for those that do not
 * stop in time. */
void swz_stop_session(void (*work)(void *context), void *context);

/* Stops all threads but EXCEPT (0: none), those that are created meanwhile
 * too. Unless it is done, all have been let go. (->code is the caller's.) */
enum swz_stop_result swz_stop_all(struct swz_stop *stop, int32_t pid,
				  int32_t except);

/* Stops one. While one stands for which signals come (swz_stop_gets_signals),
 * another may be woken for those. */
enum swz_stop_result swz_stop_one(struct swz_stop *stop, int32_t pid,
				  int32_t tid);

/* True if this thread gets the signals of its process as a whole, or of its
 * children. */
bool swz_stop_gets_signals(int32_t pid, int32_t tid);

/* Lets the threads that are marked as astray run for a moment, while all others
 * stand, and stops them again. False: it is no use, so all have to be let go
 * for a while: there is a signal for one, or it waits, or it would take too
 * long. */
bool swz_stop_move(struct swz_stop *stop);

/* Writes registers back that were changed, and lets all go (in a session: at
 * its end). What the stop has cut short goes on. Returns how long they were
 * stopped, in ns. */
uint64_t swz_stop_end(struct swz_stop *stop);

/* Why it is not done, for people. */
const char *swz_stop_problem(enum swz_stop_result result);

/* The thread as what its call was cut short. */
struct swz_cut_call swz_stop_cut(const struct swz_stop *stop,
				 const struct swz_stopped *thread);

/* Its own registers: see swz_call_origin. */
struct user_regs_struct swz_stop_origin(const struct swz_stop *stop,
					const struct swz_stopped *thread);
void swz_stop_free(struct swz_stop *stop);

#endif
