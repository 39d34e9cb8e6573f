#include "runtime/record/value_summary.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/slow_stack.h"
#include "runtime/support/config.h"

/* By node: the chunk of its summary, in units; 0: none, 1: there was no room.
 * In a forked child, which has a file of its own, all are 0. */
static uint32_t *by_node;
static uint64_t node_count;

#define NO_ROOM 1u

enum swz_status swz_summaries_begin(void)
{
	uint64_t bytes;

	if (swz_config.trace || !swz_signatures_are_wanted())
		return SWZ_OK;
	node_count = swz_file_mapped_bytes() / SWZ_UNIT_BYTES;
	bytes = node_count * sizeof(*by_node);
	by_node = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			       0);
	if (!by_node ||
	    SWZ_SYSCALL(SYS_madvise, by_node, bytes, MADV_WIPEONFORK) != 0)
		return SWZ_E_NOMEM;
	SWZ_SYSCALL(SYS_madvise, by_node, bytes, MADV_DONTDUMP);
	return SWZ_OK;
}

/* ----------------------------------------------------------------- numbers */

/* A number that can be compared: its kind; -1: it is none. */
static int kind_of(const struct swz_captured *c, unsigned part)
{
	const struct swz_value_part *p = &c->parts[part];

	if (p->kind != SWZ_PART_PLAIN || !p->bytes || p->bytes > 8)
		return -1;
	switch (swz_signature_kind(c, part)) {
	case SWZ_TYPE_SIGNED:
	case SWZ_TYPE_CHAR:
	case SWZ_TYPE_ENUM:
		return SWZ_RANGE_SIGNED;
	case SWZ_TYPE_UNSIGNED:
	case SWZ_TYPE_HEX:
	case SWZ_TYPE_OCTAL:
	case SWZ_TYPE_BOOL:
		return SWZ_RANGE_UNSIGNED;
	case SWZ_TYPE_FLOAT:
		return p->bytes == 4 || p->bytes == 8 ? SWZ_RANGE_FLOAT : -1;
	default:
		return -1;
	}
}

/* In the order of the numbers that they stand for. */
static uint64_t in_order(uint64_t bits, unsigned bytes, int kind)
{
	const uint64_t top = UINT64_C(1) << 63;
	unsigned unused = 64 - 8 * bytes;

	bits <<= unused;
	if (kind == SWZ_RANGE_FLOAT)
		return bits & top ? ~bits : bits | top;
	return kind == SWZ_RANGE_SIGNED ? bits ^ top : bits;
}

static bool is_nan(uint64_t bits, unsigned bytes)
{
	return bytes == 4 ? (bits & 0x7fffffff) > 0x7f800000
			  : (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static void widen(struct swz_value_range *range,
		  const struct swz_value_part *part, uint64_t bits)
{
	unsigned bytes = part->bytes;
	int kind = range->kind;
	uint64_t key = in_order(bits, bytes, kind);

	if (kind == SWZ_RANGE_FLOAT && is_nan(bits, bytes))
		return;
	if (!range->count || key < in_order(range->low, bytes, kind))
		range->low = bits;
	if (!range->count || key > in_order(range->high, bytes, kind))
		range->high = bits;
	range->count++;
}

/* --------------------------------------------------------------- summaries */

struct making {
	struct swz_thread *thread;
	const struct swz_captured *c;
	uint32_t node;
};

static unsigned range_count(const struct swz_captured *c)
{
	unsigned count = 0;

	for (unsigned i = 0; i < (unsigned)c->entry_parts + c->return_parts;
	     i++)
		count += kind_of(c, i) >= 0;
	return count;
}

static void make(void *argument)
{
	const struct making *m = argument;
	const struct swz_captured *c = m->c;
	struct swz_value_summary *summary;
	struct swz_value_range *range;
	struct swz_chunk *chunk;
	unsigned ranges = range_count(c);

	if (by_node[m->node]) /* a signal handler was here */
		return;
	by_node[m->node] = NO_ROOM;
	chunk = swz_chunk_take(
		swz_file, SWZ_CHUNK_SUMMARY,
		sizeof(*summary) + (c->entry_parts ? SWZ_LAST_VALUE_BYTES : 0) +
			(c->return_parts ? SWZ_LAST_VALUE_BYTES : 0) +
			ranges * sizeof(*range),
		1, m->thread->cold->index);
	if (!chunk) {
		__atomic_fetch_add(&swz_file->lost_values, 1, __ATOMIC_RELAXED);
		return;
	}
	summary = (void *)(chunk + 1);
	summary->node = m->node;
	summary->ranges = (uint16_t)ranges;
	range = swz_summary_ranges(summary);
	for (unsigned i = 0; i < (unsigned)c->entry_parts + c->return_parts;
	     i++)
		if (kind_of(c, i) >= 0)
			*range++ = (struct swz_value_range){
				.part = (uint16_t)i,
				.kind = (uint16_t)kind_of(c, i)};
	swz_chunk_publish(chunk);
	by_node[m->node] = (uint32_t)(((uintptr_t)chunk - (uintptr_t)swz_file) /
				      SWZ_UNIT_BYTES);
}

static struct swz_value_summary *summary_of(struct swz_thread *thread,
					    const struct swz_captured *c,
					    uint32_t node)
{
	struct making m = {thread, c, node};

	if (!by_node || node >= node_count)
		return NULL;
	if (!by_node[node])
		swz_slowly(thread, make, &m);
	if (by_node[node] <= NO_ROOM)
		return NULL;
	return (void *)((struct swz_chunk *)swz_unit_at(by_node[node]) + 1);
}

void swz_summary_put(struct swz_thread *thread, const struct swz_captured *c,
		     uint32_t node, enum swz_value_moment moment,
		     const struct swz_value_bytes_of *of)
{
	struct swz_value_summary *summary = summary_of(thread, c, node);
	unsigned first = moment == SWZ_VALUES_ENTRY ? 0 : c->entry_parts;
	struct swz_value_range *range;
	struct swz_last_values *last;

	if (!summary)
		return;
	last = moment == SWZ_VALUES_ENTRY ? &summary->entry : &summary->result;
	/* odd: what is there is not whole. A signal handler that comes between
	 * is of another context, but where it recurses: then it is the last. */
	last->sequence |= 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last->calls++;
	last->bytes = (uint16_t)(of->size < SWZ_LAST_VALUE_BYTES
					 ? of->size
					 : SWZ_LAST_VALUE_BYTES);
	memcpy(moment == SWZ_VALUES_ENTRY
		       ? swz_summary_entry(summary)
		       : swz_summary_result(summary, c->entry_parts != 0),
	       of->bytes, last->bytes);
	range = swz_summary_ranges(summary);
	for (unsigned i = 0; i < summary->ranges; i++, range++) {
		const struct swz_value_part *part = &c->parts[range->part];
		unsigned at = range->part - first;
		uint64_t bits = 0;

		if (range->part < first || at >= of->count ||
		    of->places[at] + part->bytes > of->size)
			continue;
		memcpy(&bits, of->bytes + of->places[at], part->bytes);
		widen(range, part, bits);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	last->sequence = (last->sequence | 1) + 1;
}
