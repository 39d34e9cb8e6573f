#ifndef SWZ_RUNTIME_SUPPORT_SCRATCH_H
#define SWZ_RUNTIME_SUPPORT_SCRATCH_H

#include <stddef.h>

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

#endif
