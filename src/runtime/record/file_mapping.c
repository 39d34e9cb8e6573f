/* The memory of the profile. A forked child finds that it is its parent's by a
 * word in memory that the kernel wipes. Pages are made present before they are
 * used: a page fault on a full disk would be a SIGBUS in the program. */

#include "runtime/record/file_mapping.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "swizzle/format.h"
#include "base/page.h"
#include "base/status.h"
#include "base/syscall.h"
#include "runtime/record/thread.h"

/* ------------------------------------------------------------- the mapping */

struct swz_file_header *swz_file;

/* In memory that the kernel wipes in a forked child; NULL: there is no file. */
static _Atomic uint32_t *is_own;

void swz_file_own(_Atomic uint32_t *wiped)
{
	is_own = wiped;
	if (is_own)
		atomic_store_explicit(is_own, 1, memory_order_relaxed);
}

bool swz_file_is_inherited(void)
{
	return is_own && !atomic_load_explicit(is_own, memory_order_relaxed);
}

bool swz_file_is_ours(void)
{
	return is_own && atomic_load_explicit(is_own, memory_order_relaxed) &&
	       swz_file->pid == (int32_t)SWZ_SYSCALL(SYS_getpid);
}

/* --------------------------------------------------------- room for tables */

/* A block is what is needed soon: this for each edge that the thread has. */
#define BLOCK_BYTES_EACH 4u
#define LEAST_BLOCK 1024u
#define MOST_BLOCK 65536u
/* The pages of one that is as large are made present together. */
#define WORTH_ASKING 16384u
/* A quarter is left for folded contexts. */
#define FOLD_SHARE 4

struct range {
	char *start;
	uint64_t bytes;
	_Atomic uint64_t used;
};

static struct range ranges[2];
static char *room_end;

void swz_table_room_begin(char *first, uint64_t first_bytes, char *second,
			  uint64_t second_bytes)
{
	ranges[0] = (struct range){.start = first, .bytes = first_bytes};
	ranges[1] = (struct range){.start = second,
				   .bytes = second_bytes - SWZ_PAGE};
	room_end = second + second_bytes - SWZ_PAGE;
}

char *swz_table_room_end(void)
{
	return room_end;
}

static uint64_t bound_of(const struct range *range)
{
	return swz_file->flags & SWZ_FILE_FOLDED
		       ? range->bytes
		       : range->bytes - range->bytes / FOLD_SHARE;
}

/* Takes bytes of a range. The end of the first range is used first: it lies
 * beside what follows. */
static char *take_of(struct range *range, uint64_t bytes)
{
	uint64_t used = atomic_load_explicit(&range->used,
					     memory_order_relaxed);

	do {
		if (used + bytes > bound_of(range))
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&range->used, &used, used + bytes, memory_order_relaxed,
		memory_order_relaxed));
	return range == &ranges[0]
		       ? range->start + (range->bytes - used - bytes)
		       : range->start + used;
}

static char *take(uint64_t bytes)
{
	char *at = take_of(&ranges[0], bytes);

	return at ? at : take_of(&ranges[1], bytes);
}

static uint64_t block_bytes(const struct swz_thread_cold *cold)
{
	uint64_t bytes = (uint64_t)cold->nodes_made * BLOCK_BYTES_EACH;

	if (bytes < LEAST_BLOCK)
		return LEAST_BLOCK;
	return bytes > MOST_BLOCK ? MOST_BLOCK
				  : bytes & -(uint64_t)SWZ_TABLE_UNIT;
}

/* A block is one word, since a signal handler may take of it, too: how many
 * units before the end it begins, and below that, how many before it ends. */
static uint64_t block_at(const char *start, uint64_t bytes)
{
	uint64_t units = (uint64_t)(room_end - start) / SWZ_TABLE_UNIT;

	return units << 32 | (units - bytes / SWZ_TABLE_UNIT);
}

static char *take_of_block(struct swz_thread_cold *cold, uint64_t bytes)
{
	const uint64_t units = bytes / SWZ_TABLE_UNIT;
	uint64_t block = cold->table_block;

	do {
		if ((block >> 32) - (uint32_t)block < units)
			return NULL;
	} while (!__atomic_compare_exchange_n(
		&cold->table_block, &block, block - (units << 32), true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return room_end - (block >> 32) * SWZ_TABLE_UNIT;
}

char *swz_table_room_take(struct swz_thread_cold *cold, uint64_t bytes)
{
	char *table, *block;
	uint64_t more;

	bytes = (bytes + SWZ_TABLE_UNIT - 1) & -(uint64_t)SWZ_TABLE_UNIT;
	table = take_of_block(cold, bytes);
	if (table)
		return table;
	more = block_bytes(cold);
	if (2 * bytes > more)
		return take(bytes);
	block = take(more);
	if (!block)
		return take(bytes);
	if (more >= WORTH_ASKING) /* where it is refused, by faults */
		SWZ_SYSCALL(SYS_madvise, ((uintptr_t)block & -SWZ_PAGE),
			    ((uintptr_t)block + more - 1) / SWZ_PAGE *
					    SWZ_PAGE -
				    ((uintptr_t)block & -SWZ_PAGE),
			    MADV_POPULATE_WRITE);
	/* what was left is too small, or a handler's new one: it stays unused
	 */
	__atomic_store_n(&cold->table_block,
			 block_at(block + bytes, more - bytes),
			 __ATOMIC_RELAXED);
	return block;
}

/* A hook that the fork has interrupted may yet write to the parent's tables: it
 * goes on behind these, as long as there is much room. */
void swz_table_room_begin_again(void)
{
	if (ranges[1].used > ranges[1].bytes / 2)
		ranges[0].used = ranges[1].used = 0;
}

/* ---------------------------------------------------- pages that are there */

bool swz_make_present(char *start, uint64_t bytes)
{
	char *page = (char *)((uintptr_t)start & -(uintptr_t)4096);
	char *end = start + bytes;
	long r = SWZ_SYSCALL(SYS_madvise, page, (size_t)(end - page),
			     MADV_POPULATE_WRITE);

	if (r == 0)
		return true;
	if (r != -EINVAL && r != -EPERM)
		return false;
	/* before Linux 5.14, or where the program has given up that call: let
	 * the kernel write, which fails where we would be killed */
	for (; page < end; page += 4096) {
		char *at = page < start ? start : page;

		if (SWZ_SYSCALL(SYS_clock_gettime, CLOCK_MONOTONIC, at) != 0)
			return false;
		memset(at, 0, sizeof(struct timespec));
	}
	return true;
}

/* ---------------------------------------------------- the page of requests */

/* A page of its own: another one is mapped over it. */
uint8_t swz_request_page[SWZ_HEADER_BYTES]
	__attribute__((aligned(SWZ_HEADER_BYTES)));

enum swz_status swz_request_map(int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	return swz_sys_mmap(swz_request_page, SWZ_HEADER_BYTES,
			    PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0)
		       ? SWZ_OK
		       : SWZ_E_SYSTEM;
}

bool swz_request_set(enum swz_request_state state, uint64_t ticks)
{
	struct swz_request *request = swz_request();

	uint32_t old = __atomic_load_n(&request->paused, __ATOMIC_RELAXED);

	if (old == (uint32_t)state || old == SWZ_REQUEST_DETACH)
		return false;
	__atomic_store_n(&request->changed_ticks, ticks, __ATOMIC_RELAXED);
	if (state != SWZ_REQUEST_RECORD)
		__atomic_store_n(&request->stopped_ticks, ticks,
				 __ATOMIC_RELAXED);
	/* release: the time, for swz_request_is_paused() */
	__atomic_store_n(&request->paused, (uint32_t)state, __ATOMIC_RELEASE);
	return true;
}
