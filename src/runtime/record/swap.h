#ifndef SWZ_RUNTIME_RECORD_SWAP_H
#define SWZ_RUNTIME_RECORD_SWAP_H

/* Compare and exchange, and sums, by one instruction, between which and itself
 * no signal handler can come.
 *
 * Who may be beside us is another thread with the same thread-local storage (a
 * raw clone). So exchanges are locked: without a lock cmpxchg writes what it
 * has read, also where it swaps nothing (Intel SDM, CMPXCHG), and so takes back
 * what the other one has just put there. A child's word that is older than its
 * neighbours leads a hook to any address. They are for what is seldom changed.
 *
 * Sums have no lock, which takes twenty cycles: one's addition may be lost. */

#include <stdbool.h>
#include <stdint.h>

/* True if the word was *THERE, and is VALUE now; else *there is what it is. */
static inline bool swz_swap32(uint32_t *word, uint32_t *there, uint32_t value)
{
	bool swapped;

	__asm__ volatile("lock cmpxchgl %3, %1"
			 : "=@ccz"(swapped), "+m"(*word), "+a"(*there)
			 : "r"(value)
			 : "memory");
	return swapped;
}

/* Swaps 16 bytes, at a multiple of 16. */
static inline bool swz_swap_pair(uint64_t *words, const uint64_t *there,
				 const uint64_t *values)
{
	uint64_t low = there[0], high = there[1];
	bool swapped;

	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(swapped), "+m"(*(uint64_t(*)[2])words),
			   "+a"(low), "+d"(high)
			 : "b"(values[0]), "c"(values[1])
			 : "memory");
	return swapped;
}

/* Adds to a word. An addition that a signal handler makes meanwhile stays,
 * too. */
static inline void swz_add64(uint64_t *word, uint64_t more)
{
	__asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(more) : "cc");
}

static inline void swz_add32(uint32_t *word, uint32_t more)
{
	__asm__ volatile("addl %1, %0" : "+m"(*word) : "er"(more) : "cc");
}

#endif
