#ifndef SWZ_RUNTIME_RECORD_FILE_NAME_H
#define SWZ_RUNTIME_RECORD_FILE_NAME_H

/* The profile by its name: found, locked, removed, and spoken of. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "swizzle/format.h"

/* The profile's name: which one it gets, and how it is got at by name later, as
 * no descriptor is kept.
 *
 * A profile that is being written is never touched. Its writer holds a lock on
 * it (flock), which lasts as long as the mapping does: it ends with the process
 * however that ends, and is none of another that gets the same number. On file
 * systems where it ends with the descriptor (overlayfs), the header tells who
 * writes it. */

/* Creates the file that the output pattern names for the process of HEADER, the
 * calling one: locked, with that header and nothing else. Creates another where
 * that name is taken. An older profile of the very name is removed if REPLACE,
 * unless it is being written. Returns a descriptor, and in *ST what it is; or
 * -errno: -ENOSPC if there is no room for a profile. */
long swz_file_name_create(const struct swz_file_header *header, bool replace,
			  struct stat *st);
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

/* The process ends now: if it is the one that swizzle-run became, it prints the
 * line that ends the run (base/run_summary.h), once. Makes system calls only,
 * those that the program has not given up. Async-signal-safe; for a child of
 * vfork, too. */
void swz_tell_end(void);

#endif
