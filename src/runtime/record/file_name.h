#ifndef SWZ_RUNTIME_RECORD_FILE_NAME_H
#define SWZ_RUNTIME_RECORD_FILE_NAME_H

/* The profile's name: which one it gets, and how it is got at by name later, as
 * no descriptor is kept.
 *
 * A profile that is being written is never touched. Its writer holds a lock on
 * it (flock), which lasts as long as the mapping does: it ends with the process
 * however that ends, and is none of another that gets the same number. On file
 * systems where it ends with the descriptor (overlayfs), the header tells who
 * writes it. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "swizzle/format.h"

/* Creates the file that the output pattern names for this process, empty and
 * locked, or another where that is not to be had. An older profile of the very
 * name is removed if REPLACE, unless it is being written. PID is the calling
 * process. Returns a descriptor, and in *ST what it is; or -errno. */
long swz_file_name_create(int32_t pid, bool replace, struct stat *st);

const char *swz_file_path(void);

/* Remembers which file it is, to be known by name. */
void swz_file_name_keep(uint64_t device, uint64_t inode);
/* No file has a name any more. */
void swz_file_name_forget(void);

/* Makes the file this long; FILE is where it is mapped, up to its length
 * MAPPED. It is found where it was renamed to, too, if /proc is there. Not for
 * two threads at a time. Async-signal-safe; sends no signal. */
enum swz_file_full swz_file_name_resize(const struct swz_file_header *file,
					uint64_t mapped, uint64_t bytes);

#endif
