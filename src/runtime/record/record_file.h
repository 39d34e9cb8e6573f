#ifndef SWZ_RUNTIME_RECORD_RECORD_FILE_H
#define SWZ_RUNTIME_RECORD_RECORD_FILE_H

/* The profile that this process writes: made, made longer, closed. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "asm/x86_64/offsets.h"
#include "swizzle/format.h"
#include "base/basics.h"

/* --- the mapping --------------------------------------------------------- */

/* The memory of the profile: where it is mapped, and how room is taken in it.
 */

/* Bytes that one entry of the second level of page tables maps; a multiple of
 * it lies at a multiple of it. */
#define SWZ_HUGE_PAGE (2ul << 20)

/* The mapping; NULL while there is none. Its address never changes, also in a
 * forked child's own file. */
extern struct swz_file_header *swz_file;

/* The file is this process's from now on. WIPED: a word that is 0 in a forked
 * child, or NULL: there is no file any more. */
void swz_file_own(_Atomic uint32_t *wiped);

/* Until a forked child has its own file, its mapping is its parent's. The child
 * only reads that. (Process ids do not tell: in another namespace the child's
 * may be the same as its parent's.) */
bool swz_file_is_inherited(void);

/* False also where this process shares the memory of the one that has the file
 * (vfork), and where system calls were given up. */
bool swz_file_is_ours(void);

/* Room for the tables of contexts (edge_table.h): one range of address space
 * for the process, zeros at first and again in a forked child. A thread takes
 * blocks of it, and tables of these. Nothing is given back: as with nodes, of
 * which tables take less. */

struct swz_thread_cold;

/* A table's place is a number of these before swz_table_room_end(). */
#define SWZ_TABLE_UNIT (1u << SWZ_TABLE_SHIFT)

/* Two ranges, the first, which may be empty, to be used up before the second.
 * At the end of that one is a page that stays zeros. */
void swz_table_room_begin(char *first, uint64_t first_bytes, char *second,
			  uint64_t second_bytes);
char *swz_table_room_end(void);

/* So many bytes of zeros, at a multiple of SWZ_TABLE_UNIT, for the thread.
 * NULL: there are none left, but for tables of folded contexts.
 * Async-signal-safe, needs no system call. */
char *swz_table_room_take(struct swz_thread_cold *cold, uint64_t bytes);

/* In a forked child, whose threads have no block. */
void swz_table_room_begin_again(void);

/* Makes the pages of [start, start + bytes), of which no byte has been used,
 * present and writable. False: there is no memory, or no room on the disk, for
 * them; to touch one would be a SIGBUS. Async-signal-safe. */
bool swz_make_present(char *start, uint64_t bytes);

/* Requests of others to the hooks: struct swz_request of the profile's first
 * page. That page is mapped a second time, into this library, where the hooks
 * get at it by one instruction. */

/* The first page of swz_file; zeros before there is one. Of a forked child that
 * has none yet: its parent's. */
extern uint8_t swz_request_page[SWZ_HEADER_BYTES]
	__attribute__((visibility("hidden")));

static inline struct swz_request *swz_request(void)
{
	return (struct swz_request *)(void *)(swz_request_page +
					      SWZ_REQUEST_OFFSET);
}

static inline bool swz_request_is_paused(void)
{
	/* acquire: its time */
	return __atomic_load_n(&swz_request()->paused, __ATOMIC_ACQUIRE) != 0;
}

/* Maps it: of the file behind the descriptor, or (-1) plain memory. */
enum swz_status swz_request_map(int fd);

static inline bool swz_request_is_detached(void)
{
	return __atomic_load_n(&swz_request()->paused, __ATOMIC_RELAXED) ==
	       SWZ_REQUEST_DETACH;
}

/* Says it to all threads. Returns whether that is a change. What is detached
 * stays so. */
bool swz_request_set(enum swz_request_state state, uint64_t ticks);

/* --- the file ------------------------------------------------------------- */

/* The file gets no longer than AT from now on, whatever its bound is. Says so
 * in it, and once on stderr if it is swz_file. A child of vfork, which runs in
 * its parent's memory, has its own view of files: what it finds is not for
 * good. Async-signal-safe. */
void swz_file_is_full(struct swz_file_header *file, enum swz_file_full why,
		      uint64_t at);

/* How long the profile is. It is mapped as long as it may ever get, once; the
 * file grows in steps, so that a process that is killed leaves one that is
 * little longer than what is in it. What lies behind the file's end is mapped
 * without access: to touch it is no SIGBUS for who reads all memory that may
 * be read (memcheck does when it looks for leaks, word by word).
 *
 * There are two at most: swz_file, and a forked child's before it is in place
 * (swz_file_create_beside). All calls but the first are async-signal-safe, with
 * signals blocked where they make system calls. */

/* The length of swz_file: in a forked child that still has its parent's, what
 * it was at the fork. */
uint64_t swz_extent(void);

/* Makes FILE at least so long, no more than its limit. False: it cannot be, and
 * has been said to be full. */
bool swz_extent_reach(struct swz_file_header *file, uint64_t bytes);

/* Makes swz_file as long as it may get: the program is about to do what may
 * leave it without access to the file's name. In a forked child that still has
 * its parent's, and in one of vfork, which does it to itself alone, nothing is
 * done. */
void swz_extent_reach_all(void);

/* The profile file: created, mapped shared, closed; no descriptor is kept, so
 * that the program's own descriptors are numbered as ever.
 * runtime/record/record_file.h takes space from it.
 * See docs/internals/file.md. */

/* Creates the file that the output pattern names for this process and maps
 * it. On failure *problem says why, as the start of a sentence that ends in
 * swz_file_path(). */
enum swz_status swz_file_create(const char **problem) SWZ_MUST_CHECK;

/* Removes the mapping and the file of a start that failed. */
void swz_file_discard(void);

/* Bytes of address space. */
uint64_t swz_file_mapped_bytes(void);

/* How much of swz_file is used: in a forked child that still has its parent's,
 * of what it can read. */
uint64_t swz_file_used(void);

/* For swz_thread.links: as many as the mapping has units, zero at first and
 * again in a forked child. */
struct swz_links;

struct swz_links *swz_file_links(void);

/* Bytes of address space, with the room for tables. */
uint64_t swz_file_links_bytes(void);

/* A word that is 0 in a forked child, whatever is in it at the fork. */
_Atomic uint32_t *swz_file_wiped_word(void);

/* Bytes of a new file that are present, if it is as long. */
#define SWZ_PRESENT_BYTES (UINT64_C(4) * SWZ_HEADER_BYTES)

/* Puts the file behind its first SWZ_HUGE_PAGE, and the links of it, into huge
 * pages. Async-signal-safe. */
void swz_file_begin_huge_pages(struct swz_file_header *file);

/* Maps a new file for a forked child beside the parent's; returns the address
 * of the new mapping, not yet in place, or NULL. */
struct swz_file_header *swz_file_create_beside(void);

/* Removes the file of one that does not get into place. */
void swz_file_remove_beside(void);

/* Puts it in the place of the old, which moves to *old (to be dropped by the
 * next call below) and stays readable there. */
enum swz_status swz_file_replace(struct swz_file_header *beside,
				 struct swz_file_header **old) SWZ_MUST_CHECK;
void swz_file_drop(struct swz_file_header *old);

/* Puts plain memory there: nothing is recorded any more. */
void swz_file_detach(void);

/* Orderly end: end time, and the file cut to what is used. */
void swz_file_finish(void);

/* Takes the sample `which` of swz_file_header.clock; the latest is 2. */
void swz_file_sample_clock(unsigned which);

static inline uint32_t swz_unit_of(const void *p)
{
	return (uint32_t)(((uintptr_t)p - (uintptr_t)swz_file) /
			  SWZ_UNIT_BYTES);
}

static inline void *swz_unit_at(uint64_t unit)
{
	return (char *)swz_file + unit * SWZ_UNIT_BYTES;
}

/* --- chunks --------------------------------------------------------------- */

/* Space in the profile file, by chunks (include/swizzle/format.h). Every page
 * is made present before it is used, so that a full disk is an error here and
 * no SIGBUS later. */

/* A chunk of this payload, header filled but its magic, or NULL: full. The
 * caller fills the payload and publishes. Lock free, async-signal-safe. */
struct swz_chunk *swz_chunk_take(struct swz_file_header *file, uint32_t type,
				 uint64_t payload_bytes, uint32_t count,
				 uint32_t owner);
void swz_chunk_publish(struct swz_chunk *chunk);

/* For who will need much: lets what is taken from now on lie in huge pages, if
 * the file system has them. What is left of the first one, which is of small
 * pages, is passed over, and takes no room on the disk. Lock free,
 * async-signal-safe. */
void swz_chunks_begin_huge_pages(void);

/* Leaves all before UNTIL a hole, where that takes no more than half of the
 * room. For a file that no other thread knows yet. */
void swz_chunks_pass_over(struct swz_file_header *file, uint64_t until);

/* A chunk of events (SWZ_CHUNK_EVENTS or SWZ_CHUNK_PACKED) of so many pages,
 * all zero, not published. NULL: there is no room for that many. Lock free,
 * async-signal-safe. */
struct swz_chunk *swz_chunk_take_events(uint32_t type, uint32_t pages,
					uint32_t owner);

/* How many bytes are left for all but events. */
uint64_t swz_chunks_room(void);

/* In bytes: the last part of the bound is kept for folded contexts, and for
 * what runs while the process ends. */
uint64_t swz_nodes_fold_reserve(void);
/* --- the file's name ------------------------------------------------------ */

/* The profile by its name: found, locked, removed, and spoken of. */

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
