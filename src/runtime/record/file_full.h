#ifndef SWZ_RUNTIME_RECORD_FILE_FULL_H
#define SWZ_RUNTIME_RECORD_FILE_FULL_H

#include <stdint.h>

#include "swizzle/format.h"

/* The file gets no longer than AT from now on, whatever its bound is. Says so
 * in it, and once on stderr if it is swz_file. A child of vfork, which runs in
 * its parent's memory, has its own view of files: what it finds is not for
 * good. Async-signal-safe. */
void swz_file_is_full(struct swz_file_header *file, enum swz_file_full why,
		      uint64_t at);

#endif
