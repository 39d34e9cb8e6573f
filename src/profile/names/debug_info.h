#ifndef SWZ_PROFILE_NAMES_DEBUG_INFO_H
#define SWZ_PROFILE_NAMES_DEBUG_INFO_H

/* Source lines and inlined functions of one module, by libdw: for symbols.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- compilation units --------------------------------------------------- */

struct Dwfl_Module;
struct swz_debug_info;

/* The debug information of a module of libdwfl's, which must live as long. The
 * first question loads it. */
struct swz_debug_info *swz_debug_info_open(struct Dwfl_Module *module);
void swz_debug_info_close(struct swz_debug_info *info); /* NULL is fine */

struct swz_source {
	const char *file; /* absolute where that is known; NULL: unknown.
			   * Overwritten by the next call. */
	int line;         /* 0: unknown, as is file then */
};

struct swz_source swz_debug_info_line(struct swz_debug_info *info,
				      uint64_t address);

struct swz_inline {
	const char *name; /* innermost inlined function, mangled if it can
			   * be; NULL: the address is not in inlined code */
	int line; /* where the function itself has the outermost call that
		   * was inlined; 0: unknown */
};

struct swz_inline swz_debug_info_inline(struct swz_debug_info *info,
					uint64_t address);

/* True if some of it could not be decompressed; known after the first question.
 */
bool swz_debug_info_lacks_sections(const struct swz_debug_info *info);

/* The same of a module at once: it is loaded. */
bool swz_debug_info_is_packed(struct Dwfl_Module *module);

/* --- files with debug information ---------------------------------------- */

/* Where the files of modules, and separate debug files, are looked for. */

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

/* The same in /usr/lib/debug, beside PATH and in a folder .debug there. */
int swz_debug_files_find_usual(const char *path, const uint8_t *build_id,
			       size_t build_id_bytes, char **found);

/* --- unit index ----------------------------------------------------------- */

/* Where a thread's nodes, which the file names by units, are in an array. */

struct swz_unit_index {
	/* Per unit from the first to the last: 1 + index; 0: none. Pages that
	 * no node of the thread is in are never touched. */
	uint32_t *items;
	size_t count;
	uint32_t first;
	uint32_t root; /* the unit whose index is 0 */
};

/* UINT32_MAX if there is none. */
static inline uint32_t swz_unit_index(const struct swz_unit_index *units,
				      uint32_t unit)
{
	size_t at = (size_t)unit - units->first;

	if (unit == units->root)
		return 0;
	if (unit < units->first || at >= units->count)
		return UINT32_MAX;
	return units->items[at] - 1;
}

#endif
