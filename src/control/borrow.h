#ifndef SWZ_CONTROL_BORROW_H
#define SWZ_CONTROL_BORROW_H

#include <stdbool.h>
#include <stdint.h>

#include "control/stop.h"
#include "control/target.h"

/* The stubs: see stub.S. */

extern const uint8_t swz_stub_call[], swz_stub_call_end[];
/* (swz_stub_resume lies between them) */

/* Calls in the target, on one of its own threads that is borrowed for a moment.
 * The thread finds its way back by itself: once it has been let go, whether the
 * controller lives makes no difference to it. What it waited for it waits for
 * again, and sees no EINTR. */

struct swz_borrower {
	struct swz_target *target;
	struct swz_safe_places *places; /* made when they are needed */
	uint64_t gap;     /* in some code, where nothing is: swz_stub_call */
	uint64_t region;  /* memory of ours in the target */
	uint64_t code[2]; /* to resume calls (struct swz_cut_call): the
			   * library's; in the gap */
	uint64_t errno_place;
	int32_t agent; /* the library's own thread, which is not borrowed: it
			* has no state of libc's. 0: there is none */
	uint64_t heartbeat;  /* where in the target to say that we are there,
			      * while a thread is waited for; 0: nowhere */
	uint64_t stopped_ns; /* the longest stop of a thread, lately */
	uint64_t longest_ns; /* ... of all */
	const char *problem; /* of the latest call that failed */
};

#define SWZ_REGION_BYTES (UINT64_C(768) << 10)
/* Free for the caller, in the region. */
#define SWZ_REGION_TEXTS (UINT64_C(32) << 10)
#define SWZ_REGION_TEXTS_END (UINT64_C(256) << 10)

/* Finds places and maps the region; with REGION not 0: that of an earlier
 * attach. False: *problem says why. */
bool swz_borrow_begin(struct swz_borrower *borrower, uint64_t region);

/* A gap in the target's code, of which the mappings have been read, in the LAST
 * one that has any or else the first; 0: there is none. Attaching takes the
 * first. The sampler takes the last: it knows no region from which a borrowed
 * thread returns to the gap, and so must not take that one away. */
uint64_t swz_borrow_find_gap(const struct swz_target *target, bool last);
/* Puts swz_stub_call there, unless it is there. False: there is something else.
 */
bool swz_borrow_fill_gap(const struct swz_target *target, uint64_t gap);

/* Address of swz_stub_resume in the gap. */
uint64_t swz_borrow_resume(const struct swz_borrower *borrower);

/* Calls a function with up to four arguments. SAFE: on a thread that is nowhere
 * near the dynamic linker, malloc or a signal handler. False: there was none,
 * or it has not come back; *problem says so. */
bool swz_borrow_call(struct swz_borrower *borrower, uint64_t function,
		     const uint64_t arguments[4], bool safe, uint64_t *result);
void swz_borrow_end(struct swz_borrower *borrower);

/* Unmaps the region: nobody but us knows it. Nothing is done where a thread is
 * in it, or none can be borrowed. */
void swz_borrow_unmap(struct swz_borrower *borrower);

/* While all threads are stopped: takes back what was written into the gap.
 * False: one of them was led there, and has not come back. */
bool swz_borrow_close_gap(const struct swz_borrower *borrower,
			  const struct swz_stop *stop);

#endif
