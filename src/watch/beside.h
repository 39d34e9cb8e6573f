/* How the sampler comes to a thread that runs, so that it stands where it was:
 * by taking its processor from it.
 *
 * The kernel marks a thread of another processor as one that is to stop, or to
 * make room, and sends an interrupt, which takes some 20 us in a virtual
 * machine. If the thread makes a system call meanwhile, it stops at the end of
 * that: a program with a call every 5 us was found in the kernel 8 of 10 times,
 * where it is 3 of 100. So the sampler goes to the thread's processor and
 * sleeps there for a moment. The timer's interrupt comes there, wherever the
 * thread is, and the sampler takes its place.
 *
 * To be used by one thread of the sampler. */
#ifndef SWIZZLE_WATCH_BESIDE_H
#define SWIZZLE_WATCH_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

/* Goes to that processor, and stays there. False: it may not. */
bool swz_beside_go(int32_t processor);

/* Sleeps for 50 to 150 us, by chance. */
void swz_beside_sleep(void);

/* Any processor will do again. */
void swz_beside_leave(void);

/* Whether the sampler, when its time has come, takes a processor from what runs
 * there at once (SCHED_FIFO, where it is permitted). Otherwise it may have to
 * wait until a turn ends, and finds threads where theirs ended. For waiting and
 * stopping alone, not for work. */
void swz_beside_be_prompt(bool prompt);

#endif
