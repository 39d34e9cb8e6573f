#include "runtime/record/nodes.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/site_table.h"

/* Chunks of nodes, with their headers: 1 KiB for a thread's first, since there
 * may be ten thousand threads, then 4 KiB, then 16; 64 and 256 KiB for one that
 * has made so many times as many that it will need more, and as long as so many
 * such are left of the bound. */
#define FIRST_NODES 15u
#define LAST_NODES 255u
#define MOST_NODES 4095u
#define TIMES_AS_MANY 16u
#define CHUNKS_LEFT 64u
#define PAGE ((uintptr_t)4096)
/* For a thread that has made so many, those to come lie in huge pages. */
#define HUGE_NODES 1500u
#define STOCK_NODES 8191
/* What of these is for folded contexts: a quarter. */
#define KEPT_SHARE 4
/* What is left of the bound when contexts begin to be folded: an eighth; where
 * that is less than what a large program's call edges need, up to a half. */
#define FOLD_SHARE 8u
#define FOLD_SHARE_MOST 2u
#define FOLD_BYTES (8ull << 20)

static struct swz_links *links_of_chunk(const struct swz_chunk *chunk)
{
	return &swz_file_links()[swz_unit_of(chunk)];
}

struct swz_chunk *swz_nodes_chunk(const struct swz_thread_cold *cold,
				  const struct swz_chunk *after)
{
	uint32_t unit = after ? links_of_chunk(after)->next
			      : cold->latest_chunk;

	return unit ? swz_unit_at(unit) : NULL;
}

void swz_nodes_begin(struct swz_thread_cold *cold)
{
	cold->next_node = cold->last_node = NULL;
	cold->latest_chunk = 0;
	cold->chunk_nodes = FIRST_NODES;
	cold->kept_nodes = 0;
}

static void make_links_present(const struct swz_chunk *chunk, uint32_t count)
{
	uintptr_t start = (uintptr_t)links_of_chunk(chunk) & -PAGE;
	uintptr_t end = (uintptr_t)(links_of_chunk(chunk) + count);

	SWZ_SYSCALL(SYS_madvise, start, end - start, MADV_POPULATE_WRITE);
}

static enum swz_status take_chunk(struct swz_thread_cold *cold, uint32_t count)
{
	struct swz_chunk *chunk;

	if (cold->nodes_made >= HUGE_NODES)
		swz_chunks_begin_huge_pages();
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_NODES,
			       count * sizeof(struct swz_node), count,
			       cold->index);
	if (!chunk)
		return SWZ_E_NOMEM;
	cold->next_node = (struct swz_node *)(chunk + 1);
	cold->last_node = cold->next_node + count;
	/* the header has links too, as it takes a unit */
	links_of_chunk(chunk)->next = cold->latest_chunk;
	if (count > LAST_NODES) /* where it is refused, by faults */
		make_links_present(chunk, count + 1);
	cold->latest_chunk = swz_unit_of(chunk);
	swz_chunk_publish(chunk);
	swz_file_sample_clock(2);
	return SWZ_OK;
}

struct swz_node *swz_nodes_next_slot(struct swz_thread_cold *cold)
{
	struct swz_node *node = __atomic_load_n(&cold->next_node,
						__ATOMIC_RELAXED);

	do {
		if (node == cold->last_node)
			return NULL;
	} while (!__atomic_compare_exchange_n(&cold->next_node, &node, node + 1,
					      true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return node;
}

bool swz_nodes_are_kept(const struct swz_thread_cold *cold)
{
	return cold->last_node - cold->next_node <= cold->kept_nodes &&
	       cold->kept_nodes && !(swz_file->flags & SWZ_FILE_ENDED);
}

/* After a chunk of `count`. */
static uint32_t next_chunk_nodes(const struct swz_thread_cold *cold,
				 uint32_t count)
{
	uint64_t bytes = (count + 1) * sizeof(struct swz_node);
	uint32_t more = 4 * count + 3;

	if (count < LAST_NODES)
		return more;
	if (swz_chunks_room() < CHUNKS_LEFT * bytes)
		return LAST_NODES;
	return more <= MOST_NODES && cold->nodes_made >= TIMES_AS_MANY * count
		       ? more
		       : count;
}

struct swz_node *swz_nodes_take(struct swz_thread_cold *cold, uint64_t reserve)
{
	struct swz_node *node;
	uint32_t count = cold->chunk_nodes;

	node = reserve && swz_nodes_are_kept(cold) ? NULL
						   : swz_nodes_next_slot(cold);
	if (node)
		return node;
	if (swz_chunks_room() < reserve || take_chunk(cold, count) != SWZ_OK)
		return NULL;
	cold->kept_nodes = 0; /* more can be had */
	cold->chunk_nodes = next_chunk_nodes(cold, count);
	return swz_nodes_next_slot(cold);
}

uint64_t swz_nodes_fold_reserve(void)
{
	uint64_t bound = swz_file->limit_bytes - swz_file->event_limit_bytes;
	uint64_t bytes = bound / FOLD_SHARE_MOST;

	if (swz_file->flags & SWZ_FILE_ENDED)
		return 0;
	if (bytes > FOLD_BYTES)
		bytes = FOLD_BYTES;
	return bytes > bound / FOLD_SHARE ? bytes : bound / FOLD_SHARE;
}

/* Less where the bound is small: what is kept for folded contexts stays. */
void swz_nodes_stock_up(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	uint32_t count = STOCK_NODES;

	while (count > LAST_NODES &&
	       swz_chunks_room() < count * sizeof(struct swz_node) +
					   swz_nodes_fold_reserve())
		count /= 2;
	swz_site_table_make_room(cold, count);
	if (cold->last_node - cold->next_node < (int64_t)count)
		(void)take_chunk(cold, count); /* none: calls are lost */
	cold->kept_nodes = (uint32_t)(cold->last_node - cold->next_node) /
			   KEPT_SHARE;
}
