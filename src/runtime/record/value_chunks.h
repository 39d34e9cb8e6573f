#ifndef SWZ_RUNTIME_RECORD_VALUE_CHUNKS_H
#define SWZ_RUNTIME_RECORD_VALUE_CHUNKS_H

/* A thread's chunk of values (SWZ_CHUNK_VALUES), and the next one when it is
 * full. All are async-signal-safe. */

#include <stdint.h>

#include "runtime/record/thread.h"

/* Room for so many bytes, a multiple of 8; NULL: there is none, which is
 * counted. */
void *swz_value_chunk_take(struct swz_thread *thread, uint64_t bytes);

/* A chunk that has room for a record, if there is one. Not on a stack of the
 * program that may be small. */
void swz_value_chunk_next(struct swz_thread *thread);

/* The thread writes no more to its chunk. */
void swz_value_chunk_leave(struct swz_thread_cold *cold);

/* What the state says of a chunk is not its own. */
void swz_value_chunk_forget(struct swz_thread_cold *cold);

#endif
