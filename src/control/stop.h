#ifndef SWZ_CONTROL_STOP_H
#define SWZ_CONTROL_STOP_H

/* Threads of another process, stopped and let go. They are seized for that
 * (ptrace), and should this process be killed the kernel lets them go. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

struct swz_stopped {
	int32_t tid;
	int32_t signal; /* to be delivered when it goes on; 0: none */
	bool stopped;
	struct user_regs_struct registers;
	bool changed; /* registers are to be written back */
	bool astray;  /* it stands where it must not: see swz_stop_move */
};

struct swz_stop {
	int32_t pid, except;
	struct swz_stopped *threads;
	size_t count, capacity;
	uint64_t began_ns;   /* when the first was asked to stop */
	uint64_t stopped_ns; /* when the last one had stopped */
};

enum swz_stop_result {
	SWZ_STOP_DONE,
	SWZ_STOP_ENDED,  /* there is no such process any more */
	SWZ_STOP_TRACED, /* a debugger has a thread of it */
	SWZ_STOP_DENIED, /* ptrace is not permitted */
	SWZ_STOP_HELD,   /* stopped by job control (SIGSTOP) */
	SWZ_STOP_LATE    /* a thread did not stop in time */
};

/* Stops all threads but EXCEPT (0: none), those that are created meanwhile
 * too. Unless it is done, all have been let go. */
enum swz_stop_result swz_stop_all(struct swz_stop *stop, int32_t pid,
				  int32_t except);
/* Stops one. */
enum swz_stop_result swz_stop_one(struct swz_stop *stop, int32_t pid,
				  int32_t tid);

/* Lets the threads that are marked as astray run for a moment, while all others
 * stand, and stops them again. False: it is no use, so all have to be let go
 * for a while: there is a signal for one, or it waits, or it is late. */
bool swz_stop_move(struct swz_stop *stop);

/* Writes registers back that were changed, and lets all go. What a stop has
 * interrupted begins anew. Returns how long they were stopped, in ns. */
uint64_t swz_stop_end(struct swz_stop *stop);

/* Lets threads go that have stopped too late: to be called now and then. */
void swz_stop_reap(void);

/* Why it is not done, for people. */
const char *swz_stop_problem(enum swz_stop_result result);

void swz_stop_free(struct swz_stop *stop);

#endif
