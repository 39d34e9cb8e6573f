#ifndef SWZ_RUNTIME_SUPPORT_SCRATCH_MEMORY_H
#define SWZ_RUNTIME_SUPPORT_SCRATCH_MEMORY_H

/* Memory for the time of planning, and the way back to the library's variables
 * as they were when it was loaded. */

#include <stdbool.h>
#include <stddef.h>

/* Mappings for the time of planning, apart from the modules: where the kernel
 * would put them, between the libraries, is the room that is within reach of
 * these libraries' jumps. */

/* As swz_sys_mmap without an address and with offset 0. */
void *swz_map_far(size_t bytes, int protection, int flags, int fd);

/* Memory for planning: handed out from large mappings, zeroed, 16-byte aligned,
 * given back all at once. One thread at a time. NULL if memory is refused. */
void *swz_scratch_alloc(size_t bytes);
void swz_scratch_free_all(void);

/* The same, but not zeroed, and handed out again after swz_scratch_reuse. */
void *swz_scratch_alloc_brief(size_t bytes);
void swz_scratch_reuse(void);

/* Says how much of it will be wanted at once at most, as far as one can tell:
 * it then is one mapping, in which what a small module has touched serves a
 * large one, too. To be called before any is taken. */
void swz_scratch_expect_brief(size_t bytes);

/* In a forked child, if a thread of the parent was at work: what it had stays
 * mapped. */
void swz_scratch_abandon(void);

/* All variables as they were when we were loaded: a process that is attached to
 * a second time begins anew. Return thunks stay, since a copied stack may yet
 * return through one (thunks/arena.h). */

/* Marks a variable, all zero at first, that a reset leaves alone. */
#define SWZ_KEPT __attribute__((section(".bss.kept")))

/* Before anything has changed: notes what there is, the first time. False: no
 * memory. */
bool swz_reset_note(void);

/* Brings that back, and gives all memory back that is ours, but the library's
 * own, what was noted, and the mapping of the calling thread's stack. No thread
 * may be in a hook. (One that unwinds may yet come to a thunk, and so to us: it
 * finds nothing that is recorded, and goes on.) */
void swz_reset(const void *own_stack);

#endif
