#ifndef SWZ_RUNTIME_CACHE_PLAN_CACHE_H
#define SWZ_RUNTIME_CACHE_PLAN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/cursor.h"
#include "image/elf_view.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* The plan cache: what planning one module came to, kept for other processes
 * that have the same module mapped (docs/cache.md). One thread at a time. */

/* To be called when the modules of the start are known; our own is among them.
 */
void swz_cache_begin(const struct swz_module *modules, unsigned count);

/* Looks for the module's plan, once the module is open and its scope and
 * `late` are known; sets module->saved, or leaves it NULL. */
void swz_cache_find(struct swz_module *module);

/* Makes of module->saved what planning the module would: functions, their
 * trampolines (leading to the hook; ids from module->first_id, of which there
 * are `ids` left), resolver. False: there is none, or it cannot be used here,
 * and module->saved is NULL. */
bool swz_cache_use(struct swz_module *module, const struct swz_hooks *hooks,
		   uint32_t ids);

/* Keeps the plan, which nothing has been patched by yet. */
void swz_cache_store(const struct swz_module *module);

/* Planning for now is over: keeps the cache's size within its bounds. */
void swz_cache_end(void);

/* One line on stderr (-v). */
void swz_cache_report(void);

/* --- files and keys ------------------------------------------------------- */

/* The directory of the plan cache, and the keys by which its files are found.
 */

/* --- the directory and its files ------------------------------------------ */

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

/* True if the text is that which the plan was made of. */
bool swz_cache_text_is_that_of(const struct swz_module *module,
			       const struct swz_saved_header *header);

/* --- the record of earlier starts ----------------------------------------- */

/* Facts that a start finds out and that are the same for the next one,
 * whatever program that is: the cost of the hooks, as long as it is not long
 * ago; where the dynamic linker is changed; and what there is in modules out
 * of scope. They are kept beside the plans (docs/cache.md), for the running
 * kernel, one libswizzle.so, one linker and one choice of hooks. */

/* The cost of a call, in 1/1024 ticks: see swz_file_header. */
struct swz_costs {
	uint64_t inside, outside, untimed, leaf;
	uint64_t measured_ns; /* CLOCK_MONOTONIC; 0: not measured */
	uint32_t confirmed;   /* not 0: by enough rounds that agree */
	uint32_t plain;       /* ticks of so many calls without a hook, as they
			       * were made to measure this */
};

struct swz_start_record {
	struct swz_costs costs;
	struct swz_linker_calls calls;
};

/* Facts about a module that is not in scope. */
struct swz_other_module {
	struct swz_file_identity file;
	uint64_t build; /* a hash of the build-id */
	uint32_t asks, offers,
		walks; /* swz_wrapped_asks, swz_wrapped_is_offered,
			* swz_stack_walkers_are_in; 0 or 1 */
	uint32_t reserved;
};

/* Reads what earlier starts have left. Once, when the directory of the cache is
 * known. */
void swz_start_record_begin(const struct swz_modules *modules);

/* The facts about a module that has not been opened; NULL: nothing is known,
 * or its file is another one by now. */
const struct swz_other_module *swz_start_record_of(
	const struct swz_module *module);

/* Notes that, of one that is open, for the next start. */
void swz_start_record_note(const struct swz_module *module,
			   struct swz_other_module other);

/* Sets the facts: those of an earlier start, and zeros for what is not known or
 * too old. */
void swz_start_record_find(struct swz_start_record *facts);

/* Keeps them for others if they are not those that were found. */
void swz_start_record_keep(const struct swz_start_record *facts);

/* A file of facts, as it lies in the cache. */

#define SWZ_MOST_OTHERS 12 /* modules */

struct swz_start_record_file {
	char magic[8];
	uint64_t hash; /* of all behind it */
	/* for whom: */
	struct swz_saved_key linker; /* `options` are those of hooks */
	uint64_t boot_ns;            /* since the epoch */
	uint32_t other_count;
	uint32_t reserved;
	struct swz_start_record facts;
	struct swz_other_module others[SWZ_MOST_OTHERS]; /* the newest last */
};

static inline uint64_t swz_start_record_file_hash(
	const struct swz_start_record_file *file)
{
	const uint8_t *from = (const uint8_t *)&file->linker;
	const uint8_t *end = (const uint8_t *)(file + 1);

	return swz_hash(0, (struct swz_bytes){from, (size_t)(end - from)});
}

#endif
