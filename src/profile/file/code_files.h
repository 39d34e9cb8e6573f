#ifndef SWZ_PROFILE_FILE_CODE_FILES_H
#define SWZ_PROFILE_FILE_CODE_FILES_H

/* Ranges of code made at run time, each with its name and with the moment from
 * which on it has lain there. What comes later takes the place of what was
 * there, but what was there is still known. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/file/scan.h"
#include "util/memory.h"

/* --- ranges of code ------------------------------------------------------ */

#define SWZ_SIZE_CLASSES 48

struct swz_code_range {
	uint64_t start, size;
	uint64_t time_ns; /* since then; 0: always */
	uint32_t number;  /* they are numbered as they come */
	uint32_t name;    /* where it begins in the text */
};

/* The ranges whose size has its highest bit at the same place. */
struct swz_code_range_list {
	struct swz_code_range *ranges;
	size_t count, capacity;
	size_t sorted; /* the first so many are, by start and number */
};

/* Zero-initialise it. */
struct swz_code_ranges {
	struct swz_code_range_list lists[SWZ_SIZE_CLASSES];
	uint32_t count;
	char *text;
	size_t text_bytes, text_capacity;
};

/* The name of what lay at the address at that time: the latest that was there
 * by then, else the first that came. NULL: none. Valid until something is
 * added. */
const char *swz_code_ranges_find(struct swz_code_ranges *ranges,
				 uint64_t address, uint64_t time_ns);

void swz_code_ranges_copy(struct swz_code_ranges *to,
			  const struct swz_code_ranges *from);
void swz_code_ranges_free(struct swz_code_ranges *ranges);

/* --- perf map files ------------------------------------------------------ */

/* Perf maps: lines of "START SIZE NAME", both numbers hexadecimal. */

/* Adds what the text's whole lines say, and returns how many bytes these have.
 * TIME_NS: when the code may have come to lie there. Lines that say nothing of
 * the kind are passed over; a name ends at its first NUL. */
size_t swz_perf_map_read(struct swz_code_ranges *ranges, const char *text,
			 size_t size, uint64_t time_ns);

/* --- jitdump files ------------------------------------------------------- */

/* Jitdump files: records of code that was made or moved, with times
 * (tools/perf/Documentation/jitdump-specification.txt in Linux). */

/* Zero-initialise it. */
struct swz_jitdump {
	bool begun, damaged;
	bool no_times;           /* they are not of CLOCK_MONOTONIC */
	struct swz_map by_index; /* of code: where its name is in `names` */
	char *names;
	size_t name_bytes, name_capacity;
};

/* Adds what whole records at BYTES say, which continue those that were read
 * before. Returns how many bytes it is done with; may be more than SIZE, as the
 * code itself does not matter. */
uint64_t swz_jitdump_read(struct swz_jitdump *dump,
			  struct swz_code_ranges *ranges, const uint8_t *bytes,
			  size_t size);

void swz_jitdump_free(struct swz_jitdump *dump);

/* --- files of a profiled process ----------------------------------------- */

/* Files that a process has written about the code that it made at run time,
 * read afterwards: /tmp/perf-PID.map, and jit-PID.dump in its working
 * directory. */

struct swz_code_process {
	int32_t pid;     /* as it knows it itself */
	const char *cwd; /* "": not known */
	int64_t start;   /* seconds since the epoch */
	int64_t end;     /* the same; 0: not known to have ended */
	uid_t owner;     /* whose files are read, too */
};

/* Adds what files say that belong to root, to the user or to `owner`, and were
 * written last while the process ran. */
void swz_code_files_read(struct swz_code_ranges *ranges,
			 const struct swz_code_process *process);

/* --- places of functions that lie in no file ----------------------------- */

/* FNV-1a */
static inline uint64_t swz_code_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash;
}

/* Where a function that lies in no file is in its module, SWZ_CODE_MODULE_NAME
 * or a script. A reader takes functions of two profiles that lie at one address
 * of a module for the same, so a name has the same address everywhere. Two that
 * have one, which is rare, are to be told apart by taking the next. */
static inline uint32_t swz_code_place(const char *name, uint32_t line)
{
	uint64_t hash = swz_code_hash(name);

	return (uint32_t)(hash ^ hash >> 32) +
	       line * 0x9e3779b1u; /* 2^32 / golden ratio */
}

/* --- code made at run time ----------------------------------------------- */

/* Code made at run time that has called hooked functions (SWZ_FUNCTION_CODE):
 * it becomes functions of a module of its own, by the names that the profile
 * has (SWZ_CHUNK_CODE), or those in files that the process has left. */

/* Before the profile is indexed, with its clock known: gives each such node a
 * function, and the profile these. OWNER: of the profile's file; NULL: no other
 * file is read. */
void swz_run_time_code_index(struct swz_scan *scan, const uid_t *owner);

/* --- the chunk of names -------------------------------------------------- */

/* Names of code made at run time, as the file has them (SWZ_CHUNK_CODE). */

/* A chunk of names. */
void swz_scan_code(struct swz_scan *scan, const uint8_t *body, size_t size);

/* SIZE bytes of the profile, from an offset on that is a multiple of 64, become
 * as they are in the file. */
void swz_run_time_code_undo(const struct swz_profile *profile, uint64_t offset,
			    uint8_t *bytes, size_t size);

/* The chunk of names for the profile, if it has none: SWZ_CHUNK_CODE, with its
 * header; the caller's to free. NULL: there is nothing to be said. *names: how
 * many functions it names. */
uint8_t *swz_run_time_code_chunk(const struct swz_profile *profile,
				 size_t *names);

void swz_run_time_code_free(struct swz_profile *profile);

#endif
