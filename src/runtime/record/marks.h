#ifndef SWZ_RUNTIME_RECORD_MARKS_H
#define SWZ_RUNTIME_RECORD_MARKS_H

/* Moments that have a name: struct swz_mark_record in swizzle/format.h. */

#include <stddef.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* Adds one of the thread. At most SWZ_MARK_MOST_BYTES of the text are kept; it
 * is not cut within a character of UTF-8. Where there is no room it is counted
 * as lost. Async-signal-safe. */
void swz_marks_add(struct swz_thread *thread, enum swz_mark_kind kind,
		   const char *text, size_t bytes, uint64_t ticks);

/* Room for marks that other processes make. In a new file. */
void swz_marks_begin(struct swz_file_header *file);

/* A mark or a span for which there was no room. */
void swz_marks_lose(void);

#endif
