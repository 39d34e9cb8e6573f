#ifndef SWZ_IMAGE_LSDA_H
#define SWZ_IMAGE_LSDA_H

/* The language-specific data area of C++ and the languages that share its
 * tables (Itanium C++ ABI: Exception Handling Tables, 7.3; the bytes are
 * hostile). Pure, thread safe, async-signal-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "image/elf_view.h"

/* Whether an exception at one of the `count` bytes from `offset` on (from the
 * function's first byte) goes to a landing pad. True also if the table cannot
 * be read. lsda: from its first byte on, any number of bytes. */
bool swz_lsda_lands(struct swz_bytes lsda, uint64_t offset, uint64_t count);

#endif
