#ifndef SWZ_RUNTIME_CACHE_FILES_H
#define SWZ_RUNTIME_CACHE_FILES_H

/* The directory of the plan cache: $XDG_CACHE_HOME/swizzle, or
 * ~/.cache/swizzle. Whatever is not as it should be there means that there is
 * no cache; nothing is said, and nothing waits. One thread at a time. */

#include <stdbool.h>
#include <stdint.h>

#include "image/elf_view.h"

/* Finds the directory and makes it if it is missing. To be called once, at the
 * start. */
void swz_cache_files_begin(void);

/* Whether one was found. */
bool swz_cache_files_begun(void);

/* Whether there is one, and is the same as at the start: a program may have
 * changed its root directory, or its user, since. */
bool swz_cache_files_are_there(void);

/* How names of files begin, and how long they are at most, with the NUL. */
#define SWZ_CACHE_PLAN "plan-"
#define SWZ_CACHE_START_PREFIX "start-"
#define SWZ_CACHE_NAME_BYTES 96

struct swz_cache_file {
	int fd;
	uint64_t bytes;
	/* a small file's contents, of which what is left is read next; NULL: it
	 * is read from the descriptor */
	const uint8_t *whole;
	uint64_t left;
};

/* Opens a file that only this user can have written, to be read in order.
 * False: there is none. */
bool swz_cache_files_open(const char *name, struct swz_cache_file *file);
bool swz_cache_files_read(struct swz_cache_file *file, void *to, size_t bytes);
void swz_cache_files_close(const struct swz_cache_file *file);

/* Makes the file of these parts, all at once, or not at all: false. */
bool swz_cache_files_write(const char *name, const struct swz_bytes *parts,
			   unsigned count);

/* Removes what was not used for the longest time, if it is too much that was
 * stored. */
void swz_cache_files_tidy(void);

#endif
