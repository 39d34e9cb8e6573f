#ifndef SWZ_CONTROL_ATTACHED_H
#define SWZ_CONTROL_ATTACHED_H

/* A process that is attached to, and how its library and this process take
 * turns (base/control.h). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/control.h"
#include "control/borrow.h"
#include "control/stop.h"
#include "control/target.h"

/* Of a stop in which no thread is where it must not be. */
#define SWZ_ATTACH_TRIES 400u
/* After the first ones; then longer, as a thread may have to wait for a
 * processor before it is elsewhere. */
#define SWZ_ATTACH_PAUSE_NS 500000u
#define SWZ_ATTACH_LONGEST_PAUSE_NS 10000000u
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
	bool has_other_root; /* the profile is in the process's file system */
	size_t skipped;      /* functions */
	bool taken_over;     /* an earlier attach's controller was killed: its
			      * profile was closed */
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

/* Sets ->problem. Returns false. */
bool swz_attached_fail(struct swz_attached *attached, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Stops all threads but the library's own. False: *GOOD says whether to try
 * again, after so many tries. */
bool swz_attached_stop_all(struct swz_attached *attached, struct swz_stop *stop,
			   unsigned tries, bool *good);

/* Lets all threads go, and notes how long they were stopped. */
void swz_attached_end_stop(struct swz_attached *attached,
			   struct swz_stop *stop);

/* How often and how long all threads were stopped, in ms, and one for a call of
 * ours: text for people, without a newline. */
#define SWZ_STOPS_BYTES 256u
void swz_attached_tell_stops(const struct swz_attached *attached,
			     char text[SWZ_STOPS_BYTES]);

/* Renews ->control. False: the library is not there any more. */
bool swz_attached_read(struct swz_attached *attached);

/* enum swz_control_state; FAILED where it cannot be read. */
uint32_t swz_attached_state(const struct swz_attached *attached);
bool swz_attached_set_state(const struct swz_attached *attached,
			    uint32_t state);

/* Lets the threads run on after a stop in which one of them was where it must
 * not be; so many there were before. */
void swz_attached_pause(unsigned tries);

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

#endif
