/* The arena's address space, for tests: what asm/x86_64/arena.S is in the
 * library. Its header is not included, which says that nothing is written there
 * by that name. */

#include "asm/x86_64/offsets.h"

extern char swz_arena_start[SWZ_ARENA_BYTES], swz_arena_end[1];

_Alignas(4096) char swz_arena_start[SWZ_ARENA_BYTES];
char swz_arena_end[1];
