#ifndef SWZ_THUNKS_NEAR_H
#define SWZ_THUNKS_NEAR_H

#include <stddef.h>
#include <stdint.h>

/* Maps `bytes` of fresh memory, read+write, every byte of which reaches every
 * byte of [start, end) by a 32-bit displacement and the reverse; NULL if there
 * is no such hole in the address space. Holes are taken as close to the range
 * as they are, but for a program at a fixed address: there at random. Reads
 * /proc/self/maps; without it holes are found by trial. */
void *swz_near_map(uint64_t start, uint64_t end, size_t bytes);

/* Gives back the last bytes, whole pages, of what was got there. */
void swz_near_unmap(void *memory, size_t bytes);

#endif
