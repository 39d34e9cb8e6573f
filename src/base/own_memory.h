#ifndef SWZ_BASE_OWN_MEMORY_H
#define SWZ_BASE_OWN_MEMORY_H

/* Where in the target what is mapped is ours. What is small is not noted, nor
 * what comes when a table of some thousand places is full. Lock free, async-
 * signal-safe, thread safe: a range that is being added or removed meanwhile
 * may be found or not. */

#include <stdbool.h>
#include <stdint.h>

/* By swz_sys_mmap and swz_sys_munmap, if it is worth it. What is unmapped of
 * one that was added is its whole, its beginning or its end. */
extern uint64_t swz_own_least;
void swz_own_add(uint64_t start, uint64_t bytes);
void swz_own_remove(uint64_t start, uint64_t bytes);

/* The first range of ours that begins at `low` or later, or holds it, and ends
 * before `high`: *start and *end, cut to those. False: there is none. */
bool swz_own_next(uint64_t low, uint64_t high, uint64_t *start, uint64_t *end);

#endif
