#ifndef SWZ_RUNTIME_RECORD_FILE_MAPPING_H
#define SWZ_RUNTIME_RECORD_FILE_MAPPING_H

/* The memory of the profile: where it is mapped, and how room is taken in it.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "base/status.h"
#include "asm/x86_64/offsets.h"

/* The address of the profile, and whose it is (runtime/record/record_file.h
 * has the rest). */

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

#endif
