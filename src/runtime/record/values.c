#include "runtime/record/values.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/syscall.h"
#include "runtime/record/events.h"
#include "runtime/record/kept_calls.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "swizzle/values.h"

/* ------------------------------------------------------------------ chunks */

/* A thread's chunk of values (SWZ_CHUNK_VALUES), and the next one when it is
 * full. All are async-signal-safe. */

#define FIRST_PAGES 2u
#define PAGES 16u
#define MOST_TRIES 8u

static uint64_t end_of(const struct swz_chunk *chunk)
{
	return (uintptr_t)chunk + chunk->bytes;
}

static void next_chunk(void *argument)
{
	struct swz_thread *thread = argument;
	struct swz_thread_cold *cold = thread->cold;
	struct swz_chunk *chunk = cold->values;

	/* a signal handler may have been here */
	if (chunk && end_of(chunk) - cold->value_at >= SWZ_MOST_VALUE_BYTES)
		return;
	if (swz_config.slow) {
		chunk = swz_kept_calls_chunk(thread, SWZ_CHUNK_VALUES);
	} else {
		swz_event_chunk_leave(chunk);
		swz_event_chunk_pass(chunk);
		chunk = swz_event_chunk_take(SWZ_CHUNK_VALUES,
					     chunk ? PAGES : FIRST_PAGES,
					     FIRST_PAGES, cold->index);
	}
	cold->values = chunk;
	cold->value_at = chunk ? (uintptr_t)(chunk + 1) : 0;
	cold->values_full = !chunk;
	if (!chunk)
		return;
	chunk->reserved[0] = cold->value_chunks++;
	swz_chunk_publish(chunk);
}

/* A chunk that has room for a record, if there is one. Not on a stack of the
 * program that may be small. */
static void value_chunk_next(struct swz_thread *thread)
{
	next_chunk(thread);
}

/* Room for so many bytes, a multiple of 8; NULL: there is none, which is
 * counted. */
static void *value_chunk_take(struct swz_thread *thread, uint64_t bytes)
{
	struct swz_thread_cold *cold = thread->cold;

	for (unsigned i = 0; i < MOST_TRIES && !cold->values_full; i++) {
		uint64_t at = __atomic_load_n(&cold->value_at,
					      __ATOMIC_RELAXED);

		if (!at || at + bytes > end_of(cold->values)) {
			swz_slowly(thread, next_chunk, thread);
			continue;
		}
		if (__atomic_compare_exchange_n(
			    &cold->value_at, &at, at + bytes, false,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return (void *)(uintptr_t)at;
	}
	__atomic_fetch_add(&swz_file->lost_values, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* The thread writes no more to its chunk. */
static void value_chunk_leave(struct swz_thread_cold *cold)
{
	swz_event_chunk_leave(cold->values);
}

/* Forgets a chunk. Its state is not its own. */
static void value_chunk_forget(struct swz_thread_cold *cold)
{
	cold->values = NULL;
	cold->value_at = 0;
	cold->value_chunks = 0;
	cold->values_full = false;
}

/* --------------------------------------------------------------- summaries */

/* The bytes of a record: BYTES, with PLACES[i] where part i of the moment
 * begins. */
struct swz_value_bytes_of {
	const uint8_t *bytes;
	size_t size;
	const uint16_t *places;
	unsigned count; /* parts */
};

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

/* (Apart, as put_values: a stack may be small, and each has but its own frame
 * on it.) */
__attribute__((noinline)) static struct swz_value_summary *summary_of(
	struct swz_thread *thread, const struct swz_captured *c, uint32_t node)
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

static void summary_put(struct swz_value_summary *summary,
			const struct swz_captured *c,
			enum swz_value_moment moment,
			const struct swz_value_bytes_of *of)
{
	unsigned first = moment == SWZ_VALUES_ENTRY ? 0 : c->entry_parts;
	struct swz_value_range *range;
	struct swz_last_values *last;

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

/* ----------------------------------------------------------------- records */

/* A record is put together on the stack, as its length is known only then; it
 * goes to the thread's chunk of values in one piece.
 *
 * What a return's parts need of the entry (where an out-parameter lies) is kept
 * in a ring of the thread's own, in the order of calls: the latest that has the
 * activation's owner is the one. A call that was deeper than the ring is long
 * has nothing kept, which the record says.
 *
 * A record that is put together takes some kilobytes, which the program's stack
 * may not have (a signal's, a fiber's). So the thread has some rooms for that,
 * since a signal handler may come between. One that never returns keeps its
 * room; when there is none left, the slow stack serves. */

#define KEPT_CALLS 512u /* a power of two */
#define NEAR_CALLS 64u  /* of these the latest are looked at */
#define ROOMS 3u

void swz_store_vectors(uint8_t out[128]);
void swz_store_x87(uint8_t out[512]);

/* The room that this takes. */
struct room {
	struct swz_recording recording;
	uint16_t places[SWZ_MOST_PLACED];
	_Alignas(16) uint8_t vectors[128];
	_Alignas(16) uint8_t x87[512];
};

/* Values that are kept of a thread's calls (SWZ_PART_KEEP), the sockets that
 * it has described, and its rooms. */
struct swz_kept_values {
	struct swz_met_sockets sockets;
	uint32_t next;
	struct kept {
		const void *owner;
		uint64_t of[SWZ_MOST_KEPT];
	} calls[KEPT_CALLS];
	_Atomic uint32_t taken; /* rooms, a bit each */
	struct room rooms[ROOMS];
};

/* ------------------------------------------------------- what a thread keeps
 */

void swz_values_begin_thread(struct swz_thread_cold *cold)
{
	value_chunk_leave(cold);
	swz_values_forget(cold);
}

void swz_values_forget(struct swz_thread_cold *cold)
{
	value_chunk_forget(cold);
	if (!cold->kept)
		return;
	cold->kept->next = 0;
	memset(&cold->kept->sockets, 0, sizeof(cold->kept->sockets));
}

/* ---------------------------------------------------------------- records */

static void write_record(struct swz_thread *thread, struct swz_recording *r,
			 uint32_t node, uint64_t ticks,
			 enum swz_value_moment moment)
{
	struct swz_value_record *record;
	size_t body, bytes;

	if (r->used > SWZ_MOST_VALUE_BYTES - sizeof(*record))
		r->used = SWZ_MOST_VALUE_BYTES - sizeof(*record);
	body = (r->used + 7) & ~(size_t)7;
	bytes = sizeof(*record) + body;
	record = value_chunk_take(thread, bytes);
	if (!record)
		return;
	record->node = node;
	record->bytes = (uint16_t)bytes;
	record->kind = (uint8_t)moment;
	record->ticks = ticks;
	memcpy(record + 1, r->bytes, r->used);
	__atomic_store_n(&record->whole, 1, __ATOMIC_RELEASE);
}

__attribute__((noinline)) static void put_values(
	struct swz_value_summary *summary, const struct swz_captured *c,
	const struct swz_recording *r, enum swz_value_moment moment)
{
	unsigned parts = moment == SWZ_VALUES_ENTRY ? c->entry_parts
						    : c->return_parts;
	const struct swz_value_bytes_of of = {
		r->bytes, r->used, r->places,
		parts < SWZ_MOST_PLACED ? parts : SWZ_MOST_PLACED};

	summary_put(summary, c, moment, &of);
}

static void sum_up(struct swz_thread *thread, const struct swz_captured *c,
		   const struct swz_recording *r, uint32_t node,
		   enum swz_value_moment moment)
{
	struct swz_value_summary *summary = summary_of(thread, c, node);

	if (summary)
		put_values(summary, c, r, moment);
}

static void make_kept(void *argument)
{
	struct swz_thread *thread = argument;

	if (!thread->cold->kept)
		thread->cold->kept = swz_sys_mmap(
			NULL, sizeof(*thread->cold->kept),
			PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
}

static struct swz_kept_values *kept_values(struct swz_thread *thread)
{
	if (!thread->cold->kept)
		swz_slowly(thread, make_kept, thread);
	return thread->cold->kept;
}

static uint64_t *keep_for(struct swz_thread *thread, const void *owner)
{
	struct swz_kept_values *kept = kept_values(thread);
	struct kept *call;

	if (!kept)
		return NULL;
	call = &kept->calls[kept->next++ % KEPT_CALLS];
	call->owner = owner;
	return call->of;
}

/* Takes the values that were kept for a call that ends. */
static const uint64_t *kept_of(const struct swz_thread *thread,
			       const void *owner)
{
	struct swz_kept_values *kept = thread->cold->kept;

	for (uint32_t i = 1; kept && i <= NEAR_CALLS && i <= kept->next; i++) {
		struct kept *call = &kept->calls[(kept->next - i) % KEPT_CALLS];

		if (call->owner != owner)
			continue;
		call->owner = NULL;
		kept->next -= i;
		return call->of;
	}
	return NULL;
}

static bool keeps(const struct swz_captured *c)
{
	for (unsigned i = c->entry_parts; i && i--;)
		if (c->parts[i].kind == SWZ_PART_KEEP)
			return true;
	return false;
}

/* Says which socket it was, if the thread has not said so yet. */
static void add_socket(struct swz_thread *thread, struct swz_recording *r,
		       uint32_t node, uint64_t ticks)
{
	struct swz_socket_value socket;
	struct swz_kept_values *kept;

	if (r->file.fd < 0 || !S_ISSOCK(r->file.mode))
		return;
	kept = kept_values(thread);
	if (!kept || !swz_socket_is_new(&kept->sockets, &r->file, &socket))
		return;
	memcpy(r->bytes, &socket, sizeof(socket));
	r->used = sizeof(socket);
	write_record(thread, r, node, ticks, SWZ_VALUES_SOCKET);
}

void swz_values_note_thread(struct swz_thread *thread)
{
	struct swz_recording r = {.used = sizeof(uint64_t)};
	uint64_t self;

	/* (with --slow nothing is kept outside of watched calls) */
	if (swz_kept_calls_pass(thread->cold))
		return;
	/* which is what pthread_self returns (glibc, musl) */
	__asm__("movq %%fs:0, %0" : "=r"(self));
	memcpy(r.bytes, &self, sizeof(self));
	value_chunk_next(thread);
	write_record(thread, &r, thread->cold->root,
		     thread->record->start_ticks, SWZ_VALUES_THREAD);
}

/* One recording: the values, the call that they are of, and `done`. */
struct capture {
	void (*how)(struct capture *capture, struct room *room);
	struct swz_thread *thread;
	const struct swz_captured *c;
	const void *owner;
	const uint64_t *slot;
	const void *exception;
	uint64_t ticks;
	uint32_t node;
	bool done, holds;
};

/* ROOMS: none is free. */
static unsigned take_room(struct swz_kept_values *kept)
{
	uint32_t taken = atomic_load_explicit(&kept->taken,
					      memory_order_relaxed);
	unsigned i;

	do {
		for (i = 0; i < ROOMS && taken >> i & 1; i++)
			;
	} while (i < ROOMS &&
		 !atomic_compare_exchange_weak_explicit(
			 &kept->taken, &taken, taken | 1u << i,
			 memory_order_acquire, memory_order_relaxed));
	return i;
}

static void give_room(struct swz_kept_values *kept, unsigned i)
{
	atomic_fetch_and_explicit(&kept->taken, ~(1u << i),
				  memory_order_release);
}

/* On the slow stack. */
static void put_together_there(void *argument)
{
	struct capture *capture = argument;
	struct room room;

	capture->how(capture, &room);
	capture->done = true;
}

/* False: the slow stack is in use. */
static bool put_together(struct capture *capture)
{
	struct swz_kept_values *kept = kept_values(capture->thread);
	unsigned i = kept ? take_room(kept) : ROOMS;

	if (i < ROOMS) {
		capture->how(capture, &kept->rooms[i]);
		give_room(kept, i);
		return true;
	}
	swz_slowly(capture->thread, put_together_there, capture);
	return capture->done;
}

static void record(struct capture *capture)
{
	if (!put_together(capture))
		__atomic_fetch_add(&swz_file->lost_values, 1, __ATOMIC_RELAXED);
}

static void begin(struct swz_recording *r, const struct capture *of)
{
	r->slot = of->slot;
	r->kept = NULL;
	r->keep = NULL;
	r->vectors = r->x87 = NULL;
	r->places = NULL;
	r->file.fd = -1;
	r->object_bytes = 0;
	r->used = 0;
}

static void note_exec(struct capture *capture, struct room *room)
{
	struct swz_recording *r = &room->recording;
	uint64_t pid = (uint64_t)SWZ_SYSCALL(SYS_getpid);

	begin(r, capture);
	memcpy(r->bytes, &pid, sizeof(pid));
	r->used = sizeof(pid);
	write_record(capture->thread, r, capture->thread->cold->root,
		     swz_ticks(), SWZ_VALUES_EXEC);
}

void swz_values_note_exec(struct swz_thread *thread)
{
	struct capture capture = {.how = note_exec, .thread = thread};

	if (!swz_kept_calls_pass(thread->cold))
		record(&capture);
}

/* In a trace a record; otherwise the latest, of the node. */
static void keep(struct swz_recording *r, const struct capture *of,
		 enum swz_value_moment moment)
{
	if (!swz_config.trace) {
		sum_up(of->thread, of->c, r, of->node, moment);
		return;
	}
	write_record(of->thread, r, of->node, of->ticks, moment);
	add_socket(of->thread, r, of->node, of->ticks);
}

static void enter(struct capture *capture, struct room *room)
{
	const struct swz_captured *c = capture->c;
	struct swz_recording *r = &room->recording;

	begin(r, capture);
	if (keeps(c))
		r->keep = keep_for(capture->thread, capture->owner);
	if (c->entry_vectors) {
		swz_store_vectors(room->vectors);
		r->vectors = room->vectors;
	}
	r->places = swz_config.trace ? NULL : room->places;
	swz_recording_parts(r, c->parts, c->entry_parts);
	keep(r, capture, SWZ_VALUES_ENTRY);
}

void swz_values_enter(struct swz_thread *thread, const struct swz_captured *c,
		      uint32_t node, uint64_t ticks, const void *owner,
		      const uint64_t *slot)
{
	struct capture capture = {.how = enter,
				  .thread = thread,
				  .c = c,
				  .node = node,
				  .ticks = ticks,
				  .owner = owner,
				  .slot = slot};

	if (c->entry_parts)
		record(&capture);
}

static void leave(struct capture *capture, struct room *room)
{
	const struct swz_captured *c = capture->c;
	struct swz_recording *r = &room->recording;

	begin(r, capture);
	if (keeps(c))
		r->kept = kept_of(capture->thread, capture->owner);
	if (c->return_vectors) {
		swz_store_vectors(room->vectors);
		r->vectors = room->vectors;
	}
	if (c->return_x87) {
		swz_store_x87(room->x87);
		r->x87 = room->x87;
	}
	r->places = swz_config.trace ? NULL : room->places;
	swz_recording_parts(r, c->parts + c->entry_parts, c->return_parts);
	keep(r, capture, SWZ_VALUES_RETURN);
}

void swz_values_return(struct swz_thread *thread, const struct swz_captured *c,
		       uint32_t node, uint64_t ticks, const void *owner,
		       const uint64_t *slot)
{
	struct capture capture = {.how = leave,
				  .thread = thread,
				  .c = c,
				  .node = node,
				  .ticks = ticks,
				  .owner = owner,
				  .slot = slot};

	if (c->return_parts)
		record(&capture);
}

/* R has the parts of the entry, with their places. What cannot be decided, as
 * it could not be read, holds. */
static bool value_check_holds(const struct swz_value_check *check,
			      const struct swz_captured *c,
			      const struct swz_thread *thread,
			      const struct swz_recording *r);

static void check(struct capture *capture, struct room *room)
{
	const struct swz_captured *c = capture->c;
	struct swz_recording *r = &room->recording;

	begin(r, capture);
	r->places = room->places;
	if (c->entry_vectors) {
		swz_store_vectors(room->vectors);
		r->vectors = room->vectors;
	}
	swz_recording_parts(r, c->parts, c->entry_parts);
	for (uint32_t i = 0; i < c->check_count && capture->holds; i++)
		capture->holds = value_check_holds(&c->checks[i], c,
						   capture->thread, r);
}

bool swz_values_hold(struct swz_thread *thread, const struct swz_captured *c,
		     const uint64_t *slot)
{
	struct capture capture = {.how = check,
				  .thread = thread,
				  .c = c,
				  .slot = slot,
				  .holds = true};

	(void)put_together(&capture);
	return capture.holds;
}

/* -------------------------------------------------------------- exceptions */

/* Offsets of the Itanium C++ ABI: the header of the language lies before that
 * of the unwinder. It begins with the type, or, for an exception that was
 * rethrown from another thread, with the address of the object. The type has
 * its name at 8. */
#define TYPE_BEFORE_HEADER 80u
#define TYPE_BEFORE_OBJECT 112u
#define CXX_LANGUAGE UINT64_C(0x432b2b00) /* "C++\0" */

static void raise(struct capture *capture, struct room *room)
{
	uint64_t at = (uintptr_t)capture->exception, type = 0, name = 0;
	struct swz_recording *r = &room->recording;
	uint64_t language;

	begin(r, capture);
	if (swz_recording_read(at, &language, 8) == 8 &&
	    (language & UINT64_C(0xffffff00)) == CXX_LANGUAGE &&
	    swz_recording_read(at - TYPE_BEFORE_HEADER, &type, 8) == 8) {
		if (language & 1 &&
		    swz_recording_read(type - TYPE_BEFORE_OBJECT, &type, 8) !=
			    8)
			type = 0;
		if (type && swz_recording_read(type + 8, &name, 8) == 8)
			swz_recording_text(r, name, 0, true);
	}
	if (r->used > 2)
		write_record(capture->thread, r, capture->node, capture->ticks,
			     SWZ_VALUES_EXCEPTION);
}

void swz_values_exception(struct swz_thread *thread, uint32_t node,
			  uint64_t ticks, const void *exception)
{
	struct capture capture = {.how = raise,
				  .thread = thread,
				  .node = node,
				  .ticks = ticks,
				  .exception = exception};

	if (swz_config.trace)
		record(&capture);
}

/* -------------------------------------------------------------- conditions */

/* Conditions of calls (`only_show_if`) that are decided when a call is about to
 * be entered. Async-signal-safe. */

static bool decide(unsigned op, int order)
{
	switch (op) {
	case 0:
		return order == 0;
	case 1:
		return order != 0;
	case 2:
		return order < 0;
	case 3:
		return order <= 0;
	case 4:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* Bits of a floating-point number, so that whole numbers are in its order. */
static int64_t is_in_order(uint64_t bits, unsigned bytes)
{
	int64_t number = bytes == 4 ? (int64_t)(bits << 32) : (int64_t)bits;

	return number < 0 ? (int64_t)(UINT64_C(1) << 63) - number : number;
}

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* AT, up to the end of what was recorded, has the part's bytes. */
static bool number_holds(const struct swz_value_check *check,
			 const struct swz_value_part *part, const uint8_t *at,
			 size_t left)
{
	unsigned bytes = part->bytes, unused = 64 - 8 * bytes;
	uint64_t word = 0;

	if (part->kind == SWZ_PART_MEMORY) {
		if (!left || !*at)
			return true;
		at++;
		left--;
	}
	if (!bytes || bytes > 8 || left < bytes)
		return true;
	memcpy(&word, at, bytes);
	if (check->kind == SWZ_CHECK_FLOAT)
		return is_nan(word, bytes)
			       ? check->op == 1
			       : decide(check->op,
					compare(is_in_order(word, bytes),
						is_in_order(
							(uint64_t)check->value,
							bytes)));
	if (check->kind == SWZ_CHECK_SIGNED)
		return decide(check->op,
			      compare((int64_t)(word << unused) >> unused,
				      check->value));
	return decide(check->op, word < (uint64_t)check->value
					 ? -1
					 : word > (uint64_t)check->value);
}

static bool text_holds(const struct swz_value_check *check,
		       const struct swz_captured *c, const uint8_t *at,
		       size_t left)
{
	size_t length, common;
	uint16_t head;
	bool bad, cut;
	int order;

	if (left < 2)
		return true;
	memcpy(&head, at, 2);
	length = head & SWZ_TEXT_LENGTH;
	bad = head & SWZ_TEXT_BAD;
	cut = head & SWZ_TEXT_CUT;
	if (check->kind == SWZ_CHECK_NULL)
		return (bad && cut) == (check->op == 0);
	if (bad && cut) /* NULL is no text */
		return check->op == 1;
	if (bad || left - 2 < length)
		return true;
	common = length < check->length ? length : check->length;
	order = memcmp(at + 2, c->text + check->text, common);
	if (!order && cut && length <= check->length)
		return true;
	if (!order)
		order = length < check->length ? -1 : length > check->length;
	return decide(check->op, order);
}

/* True if the callers, as far as they are known, are as the check wants. */
static bool backtrace_holds(const struct swz_value_check *check,
			    const struct swz_thread *thread)
{
	const struct swz_node *node = swz_unit_at(
		(uint32_t)(thread->key >> 32));

	for (unsigned i = 0;
	     i < check->part && node->function != SWZ_FUNCTION_ROOT &&
	     node->parent;
	     i++) {
		if (swz_signature_marks_of(node->function) &
		    (uint64_t)check->value)
			return true;
		node = swz_unit_at(node->parent);
	}
	return false;
}

static bool value_check_holds(const struct swz_value_check *check,
			      const struct swz_captured *c,
			      const struct swz_thread *thread,
			      const struct swz_recording *r)
{
	const uint8_t *at;
	size_t left;

	if (check->kind == SWZ_CHECK_BACKTRACE)
		return backtrace_holds(check, thread);
	if (check->part >= c->entry_parts || check->part >= SWZ_MOST_PLACED)
		return true;
	at = r->bytes + r->places[check->part];
	left = r->used - r->places[check->part];
	return check->kind == SWZ_CHECK_TEXT || check->kind == SWZ_CHECK_NULL
		       ? text_holds(check, c, at, left)
		       : number_holds(check, &c->parts[check->part], at, left);
}
