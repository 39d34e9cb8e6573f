#ifndef SWZ_RUNTIME_COMPAT_FIND_OBJECT_H
#define SWZ_RUNTIME_COMPAT_FIND_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

/* Notes that the module [start, end) holds an unwinder that exports nothing;
 * that it does not any more. One thread at a time.
 * See docs/internals/unwinding.md. */
void swz_note_unwinder(uint64_t start, uint64_t end);
void swz_forget_unwinder(uint64_t start);

#endif
