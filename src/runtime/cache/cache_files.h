#ifndef SWZ_RUNTIME_CACHE_CACHE_FILES_H
#define SWZ_RUNTIME_CACHE_CACHE_FILES_H

/* The directory of the plan cache, and the keys by which its files are found.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/elf_view.h"
#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* The directory of the plan cache: $XDG_CACHE_HOME/swizzle, or
 * ~/.cache/swizzle. Whatever is not as it should be there means that there is
 * no cache; nothing is said, and nothing waits. One thread at a time. */

/* Finds the directory and makes it if it is missing. To be called once, at the
 * start. */
void swz_cache_files_begin(void);

/* True if a directory was found. */
bool swz_cache_files_begun(void);

/* True if there is a directory, and it is the same as at the start: a program
 * may have changed its root directory, or its user, since. */
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

/* By what a plan in the cache is found, and taken for the module's. */

/* Our own build-id, which is part of all keys. False: it cannot be. */
bool swz_cache_key_begin(struct swz_bytes build_id);
void swz_cache_key_make(struct swz_saved_key *key,
			const struct swz_module *module);

/* Writes the name of the file for that key, of SWZ_CACHE_NAME_BYTES at most. */
void swz_cache_key_name(const char *prefix, const struct swz_saved_key *key,
			size_t build_id_bytes, char *name);

/* True if the text is the file's, and will be as long as the file's times are
 * what they are. */
bool swz_cache_text_is_of_file(const struct swz_module *module);

/* True if a change of the module's file would show in its times: they are not
 * exact. */
bool swz_cache_file_is_settled(const struct swz_module *module);

/* True if the text is that which the plan was made of. */
bool swz_cache_text_is_that_of(const struct swz_module *module,
			       const struct swz_saved_header *header);

#endif
