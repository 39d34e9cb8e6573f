#ifndef SWZ_PROFILE_NAMES_DEBUG_FILES_H
#define SWZ_PROFILE_NAMES_DEBUG_FILES_H

/* Where the files of modules, and separate debug files, are looked for. */

#include <stddef.h>
#include <stdint.h>

struct swz_debug_files {
	char *root;         /* modules lie below it (--symfs); NULL: "/" */
	char **directories; /* with debug files, besides the usual ones */
	size_t count;
	size_t capacity;
	char *usual; /* libdwfl's list of directories */
};

/* Where only the usual places are searched; not to be freed. */
extern const struct swz_debug_files swz_debug_files_usual;

/* Zero-initialised: as swz_debug_files_usual. Both return -1 (see errno) if it
 * is no directory. */
int swz_debug_files_set_root(struct swz_debug_files *files, const char *path);
int swz_debug_files_add(struct swz_debug_files *files, const char *path);
void swz_debug_files_free(struct swz_debug_files *files);

/* Where the module that was at PATH is to be looked for; to be freed. */
char *swz_debug_files_module(const struct swz_debug_files *files,
			     const char *path);

/* Opens a regular file for reading; -1: it is none. */
int swz_debug_files_open(const char *path);

/* Opens a file that has symbols or debug information of the module that was at
 * PATH, and its build-id. *FOUND is its path, to be freed. -1: there is none in
 * the directories that were added or below the root. */
int swz_debug_files_find(const struct swz_debug_files *files, const char *path,
			 const uint8_t *build_id, size_t build_id_bytes,
			 char **found);

/* The same in /usr/lib/debug. */
int swz_debug_files_find_usual(const uint8_t *build_id, size_t build_id_bytes,
			       char **found);

#endif
