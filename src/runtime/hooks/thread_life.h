#ifndef SWZ_RUNTIME_HOOKS_THREAD_LIFE_H
#define SWZ_RUNTIME_HOOKS_THREAD_LIFE_H

/* How threads get their states, leave them to others, and find them again in a
 * forked child. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* Sets the calling thread up: state (a dead thread's where there is one), a
 * block of thunks, a record and a root context in the profile. Signals must be
 * blocked. Returns NULL if memory is refused; the thread then runs unrecorded.
 */
struct swz_thread *swz_thread_begin(void);

/* The process, or its recording, ends now. Notes this moment in the profile,
 * which threads have ended by now, the processor time of the others, and the
 * context switches of all. */
void swz_thread_note_ended(void);

/* The calling thread is about to end: its state is the next new thread's. */
void swz_thread_give_back_own(void);

/* Puts the thread's current name into its record. */
void swz_thread_note_name(struct swz_thread_record *record);

/* Who makes the new profile of a forked child: one thread, mostly the one that
 * forked, but it may start others first. */
enum swz_child {
	SWZ_CHILD_OURS = 0, /* the calling thread has to make it */
	SWZ_CHILD_DONE,     /* it is made, or this is no forked child */
	SWZ_CHILD_OTHER,    /* another thread is making it, for very long */
};
enum swz_child swz_thread_claim_child(void);

/* True if this is a forked child whose profile is not made. */
bool swz_thread_in_new_child(void);

/* Makes states in advance, for some hundred threads to come. */
void swz_thread_stock_states(void);

/* True if that will be known: the kernel must wipe a page in the child. One
 * before Linux 4.14 does not, and an emulator may say that it will and not do
 * so (qemu-user 7.2 says yes to any advice). */
bool swz_thread_forks_show(void);
void swz_thread_child_done(void);

/* In a forked child whose first hook is on a new thread: no state but new ones
 * may be taken, since one of them is the forking thread's still. */
void swz_thread_orphan_states(void);

/* True if the calling thread's state is one of these still: what its frames
 * refer to is in the profile of an earlier process than the file's. (The thread
 * has forked again, before its first hook.) */
bool swz_thread_is_orphan(const struct swz_thread *hot);

/* For the forking thread, then: its state, with no frame open. */
enum swz_status swz_thread_rejoin(struct swz_thread *hot) SWZ_MUST_CHECK;

/* For one that is not profiled: a hook of the parent's that goes on there may
 * use the state, and no other one finds anything in it. */
void swz_thread_disarm(struct swz_thread *hot);

/* In a forked child: makes the state that the calling thread had (hot, all of
 * which the kernel has wiped) usable again, with a new record in the new
 * profile, no thunk free and none live; the other threads' states become
 * free. */
enum swz_status swz_thread_revive(struct swz_thread *hot) SWZ_MUST_CHECK;

/* The number of function ids that `open` must have room for; set once before
 * the first thread begins. */
void swz_thread_set_functions(uint32_t count);

/* The end of recording in a process that goes on, while no thread runs, none
 * is in a hook, and no site is patched any more. */

/* Puts the real return addresses back where thunks' addresses lie. Returns how
 * many frames are left that could not be reached: they return by way of their
 * thunks. */
uint32_t swz_restore_return_addresses(void);

/* How the hooks get at the calling thread's state. */

/* Makes the way there shorter by one load, by writing into the hooks how far
 * from the thread pointer swz_thread_self lies, which is the same in all
 * threads (initial-exec TLS; ELF Handling For Thread-Local Storage, 4.3.6).
 * Leaves them as they are where nothing may be executed that was written to. To
 * be called once, before any hook can run, with one thread. False: they may not
 * be executed any more, and no function may be patched. */
bool swz_thread_access_shorten(void);

/* --- stacks of ours, and valgrind ----------------------------------------- */

/* Tells valgrind about a stack of ours. It sees the program's stack pointer
 * change, and takes a change of less than 2 MiB for a stack that grows or
 * shrinks: what lies between is undefined to it then, or not to be accessed. Of
 * a thread that would be much, its descriptor for instance. A stack that it was
 * told about is another one. */

#define SWZ_REQUEST_STACK_REGISTER 0x1501u
#define SWZ_REQUEST_DRD_THREAD_ID 0x44520000u /* 'D', 'R' and two zeros */

/* A client request of valgrind.h: a pointer to its words in %rax, and four
 * rotations of %rdi that come to nothing. Processors find in them and in the
 * exchange an effect on the flags, no more. Returns valgrind's answer, or 0. */
static inline uint64_t swz_client_request(uint64_t what, uintptr_t first,
					  uintptr_t second)
{
	const uint64_t words[6] = {what, first, second};
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(words)
			 : "cc", "memory");
	return answer;
}

/* LOW and TOP: the addresses between which the stack pointer will be, both
 * included. Not said to DRD, which would take the stack for the only one of the
 * thread that says so, and stop with an assertion when that ends. */
static inline void swz_stack_announce(const char *low, const char *top)
{
	if (swz_client_request(SWZ_REQUEST_DRD_THREAD_ID, 0, 0) == 0)
		swz_client_request(SWZ_REQUEST_STACK_REGISTER, (uintptr_t)low,
				   (uintptr_t)top);
}

#endif
