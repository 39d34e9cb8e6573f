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

#include "runtime/record/values.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/record/chunks.h"
#include "runtime/record/event_chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/file_values.h"
#include "runtime/record/slow_stack.h"
#include "runtime/record/value_summary.h"
#include "runtime/support/config.h"

#define FIRST_PAGES 2u
#define PAGES 16u
#define PAGE UINT64_C(4096)
#define MOST_TRIES 8u
#define KEPT_CALLS 512u /* a power of two */
#define NEAR_CALLS 64u  /* of these the latest are looked at */
#define ROOMS 3u

void swz_store_vectors(uint8_t out[128]);
void swz_store_x87(uint8_t out[512]);

#define MOST_PLACED 128u

/* A record that is put together. */
struct recording {
	const uint64_t *slot;
	const uint64_t *kept; /* or NULL */
	uint64_t *keep;
	uint8_t *vectors, *x87;     /* or NULL */
	uint16_t *places;           /* of parts, in the bytes; or NULL */
	struct swz_file_value file; /* the latest of its; fd -1: none */
	/* The latest memory that was read: its address, where it lies in
	 * `bytes`, how much it is. */
	uint64_t object;
	size_t object_at, object_bytes;
	size_t used;
	_Alignas(8) uint8_t bytes[SWZ_MOST_VALUE_BYTES];
};

/* What that takes. */
struct room {
	struct recording recording;
	uint16_t places[MOST_PLACED];
	_Alignas(16) uint8_t vectors[128];
	_Alignas(16) uint8_t x87[512];
};

/* Of the thread's calls, what SWZ_PART_KEEP says; the sockets that it has
 * described; and its rooms. */
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

/* ------------------------------------------------------ room in the profile */

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
	swz_event_chunk_leave(chunk);
	swz_event_chunk_pass(chunk);
	chunk = swz_event_chunk_take(SWZ_CHUNK_VALUES,
				     chunk ? PAGES : FIRST_PAGES, FIRST_PAGES,
				     cold->index);
	cold->values = chunk;
	cold->value_at = chunk ? (uintptr_t)(chunk + 1) : 0;
	cold->values_full = !chunk;
	if (!chunk)
		return;
	chunk->reserved[0] = cold->value_chunks++;
	swz_chunk_publish(chunk);
}

/* Room for so many bytes, a multiple of 8; NULL: there is none. */
static void *take(struct swz_thread *thread, uint64_t bytes)
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

void swz_values_begin_thread(struct swz_thread_cold *cold)
{
	swz_event_chunk_leave(cold->values);
	swz_values_forget(cold);
}

void swz_values_forget(struct swz_thread_cold *cold)
{
	cold->values = NULL;
	cold->value_at = 0;
	cold->value_chunks = 0;
	cold->values_full = false;
	if (!cold->kept)
		return;
	cold->kept->next = 0;
	memset(&cold->kept->sockets, 0, sizeof(cold->kept->sockets));
}

/* ----------------------------------------------------------------- memory */

/* How many bytes from FROM on can be read, up to SIZE; they are copied. A page
 * that cannot be read ends it. */
static size_t read_memory(uint64_t from, void *to, size_t size)
{
	size_t first = PAGE - from % PAGE;
	struct iovec local = {to, size};
	struct iovec remote[2] = {{(void *)(uintptr_t)from, size}};
	unsigned pieces = 1;
	long got;

	if (from < PAGE || from >> 47)
		return 0;
	if (first < size) {
		remote[0].iov_len = first;
		remote[1].iov_base = (void *)(uintptr_t)(from + first);
		remote[1].iov_len = size - first;
		pieces = 2;
	}
	got = SWZ_SYSCALL(SYS_process_vm_readv, swz_file->pid, &local, 1,
			  remote, pieces, 0);
	return got > 0 ? (size_t)got : 0;
}

/* ------------------------------------------------------------------ parts */

static const void *address_of(const struct recording *r, unsigned place,
			      int32_t offset)
{
	static const uint8_t below[] = {5, 4, 3, 2, 6, 7, 1, 3};
	static const uint64_t none;

	if (place < SWZ_PLACE_VECTOR)
		return r->slot - below[place];
	if (place < SWZ_PLACE_STACK)
		return r->vectors
			       ? r->vectors + 16ul * (place - SWZ_PLACE_VECTOR)
			       : NULL;
	if (place == SWZ_PLACE_STACK)
		return (const uint8_t *)(r->slot + 1) + offset;
	if (place < SWZ_PLACE_KEPT)
		return r->x87 ? r->x87 + 32 + 16ul * (place - SWZ_PLACE_X87)
			      : NULL;
	return r->kept ? &r->kept[place - SWZ_PLACE_KEPT] : &none;
}

static uint64_t word_at(const struct recording *r, unsigned place,
			int32_t offset)
{
	const void *from = address_of(r, place, offset);
	uint64_t word = 0;

	if (from)
		memcpy(&word, from, sizeof(word));
	return word;
}

static bool has_room(const struct recording *r, size_t bytes)
{
	return sizeof(r->bytes) - r->used >= bytes;
}

/* As read_memory(), but what has just been read is copied: texts of an object,
 * short ones, too, lie in it. */
static size_t read_near(const struct recording *r, uint64_t from, void *to,
			size_t size)
{
	uint64_t at;

	if (!r->object_bytes || size > r->object_bytes)
		return read_memory(from, to, size);
	at = from - r->object;
	if (at > r->object_bytes - size)
		return read_memory(from, to, size);
	memcpy(to, r->bytes + r->object_at + at, size);
	return size;
}

static void add_text(struct recording *r, uint64_t from, uint64_t length,
		     bool ends)
{
	size_t most = swz_config.string_bytes, got;
	uint8_t *to = r->bytes + r->used + 2;
	uint16_t head;

	if (!has_room(r, 2))
		return;
	if (!has_room(r, 2 + most))
		most = sizeof(r->bytes) - r->used - 2;
	if (!ends && length < most)
		most = (size_t)length;
	got = most ? read_near(r, from, to, most) : 0;
	head = (uint16_t)(got < most ? SWZ_TEXT_BAD : 0);
	if (!ends && length > got && !head)
		head = SWZ_TEXT_CUT;
	for (size_t i = 0; ends && i < got; i++)
		if (!to[i]) {
			got = i;
			head = 0;
			ends = false;
		}
	if (ends && !head)
		head = SWZ_TEXT_CUT;
	if (ends && !from)
		head = SWZ_TEXT_BAD | SWZ_TEXT_CUT;
	head |= (uint16_t)got;
	memcpy(to - 2, &head, 2);
	r->used += 2 + got;
}

static void add_bad_text(struct recording *r)
{
	uint16_t head = SWZ_TEXT_BAD;

	if (!has_room(r, 2))
		return;
	memcpy(r->bytes + r->used, &head, 2);
	r->used += 2;
}

static void add_counted(struct recording *r, const struct swz_value_part *p,
			uint64_t object)
{
	uint64_t words[2] = {0, 0};
	size_t bytes = p->bytes == 4 ? 4 : 8;

	if (read_near(r, object + (uint64_t)(int64_t)p->offset, &words[0], 8) !=
	    8)
		add_bad_text(r);
	else if (read_near(r,
			   p->kind == SWZ_PART_OLD_STRING ? words[0] - 24
							  : object + p->other,
			   &words[1], bytes) != bytes)
		add_bad_text(r);
	else
		add_text(r, words[0], words[1], false);
}

static void add_field(struct recording *r, const struct swz_value_part *p,
		      uint64_t object)
{
	uint64_t text;

	if (read_near(r, object + (uint64_t)(int64_t)p->offset, &text, 8) == 8)
		add_text(r, text, 0, true);
	else
		add_bad_text(r);
}

static void add_memory(struct recording *r, const struct swz_value_part *p,
		       uint64_t object)
{
	uint8_t *to = r->bytes + r->used;
	bool whole;

	if (!has_room(r, 1u + p->bytes))
		return;
	whole = read_memory(object + (uint64_t)(int64_t)p->offset, to + 1,
			    p->bytes) == p->bytes;
	*to = whole;
	r->object = object + (uint64_t)(int64_t)p->offset;
	r->object_at = r->used + 1;
	r->object_bytes = whole ? p->bytes : 0;
	r->used += whole ? 1u + p->bytes : 1;
}

static void add_plain(struct recording *r, const struct swz_value_part *p)
{
	const void *from = address_of(r, p->place, p->offset);

	if (!has_room(r, p->bytes))
		return;
	if (p->place >= SWZ_PLACE_KEPT || !from)
		memset(r->bytes + r->used, 0, p->bytes);
	if (from && p->bytes <= (p->place == SWZ_PLACE_STACK ? UINT16_MAX : 16))
		memcpy(r->bytes + r->used, from, p->bytes);
	r->used += p->bytes;
}

static void add_file(struct recording *r, int32_t fd)
{
	if (!has_room(r, sizeof(r->file)))
		return;
	swz_file_value_read(fd, &r->file);
	memcpy(r->bytes + r->used, &r->file, sizeof(r->file));
	r->used += sizeof(r->file);
}

static void add_file_at(struct recording *r, uint64_t from)
{
	int32_t fd;

	add_file(r, read_memory(from, &fd, sizeof(fd)) == sizeof(fd) ? fd : -1);
}

/* At the place of the stack the offset is that of the place. */
static uint64_t pointer_of(const struct recording *r,
			   const struct swz_value_part *p)
{
	uint64_t pointer = word_at(r, p->place,
				   p->place == SWZ_PLACE_STACK ? p->offset : 0);

	if (p->through &&
	    read_memory(pointer + p->through - 1, &pointer, 8) != 8)
		return 0;
	return pointer;
}

static uint64_t length_of(const struct recording *r,
			  const struct swz_value_part *p)
{
	return p->other < SWZ_PLACES
		       ? word_at(r, p->other, 0)
		       : word_at(r, SWZ_PLACE_STACK, p->other - SWZ_PLACES);
}

static uint64_t span_of(const struct recording *r,
			const struct swz_value_part *p)
{
	uint64_t length = length_of(r, p), times = 1;

	if (p->offset > 0 && p->offset <= 6)
		times = word_at(r, SWZ_PLACE_INTEGER + (unsigned)p->offset - 1,
				0);
	/* (more than is ever read of it) */
	return length > UINT32_MAX || times > UINT32_MAX ? UINT32_MAX
							 : length * times;
}

static void add_parts(struct recording *r, const struct swz_value_part *parts,
		      unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct swz_value_part p = parts[i];
		uint64_t pointer = p.kind ? pointer_of(r, &p) : 0;

		if (r->places && i < MOST_PLACED)
			r->places[i] = (uint16_t)r->used;
		if (p.place == SWZ_PLACE_STACK && p.kind != SWZ_PART_PLAIN)
			p.offset = 0;
		switch (p.kind) {
		case SWZ_PART_PLAIN:
			add_plain(r, &p);
			break;
		case SWZ_PART_MEMORY:
			add_memory(r, &p, pointer);
			break;
		case SWZ_PART_STRING:
			add_text(r, pointer, 0, true);
			break;
		case SWZ_PART_COUNTED:
		case SWZ_PART_OLD_STRING:
			add_counted(r, &p, pointer);
			break;
		case SWZ_PART_SPAN:
			add_text(r, pointer, span_of(r, &p), false);
			break;
		case SWZ_PART_FIELD:
			add_field(r, &p, pointer);
			break;
		case SWZ_PART_KEEP:
			if (r->keep && p.other < SWZ_MOST_KEPT)
				r->keep[p.other] = pointer;
			break;
		case SWZ_PART_FILE:
			add_file(r, (int32_t)pointer);
			break;
		case SWZ_PART_FILE_AT:
			add_file_at(r, pointer + (uint64_t)(int64_t)p.offset);
			break;
		}
	}
}

/* ---------------------------------------------------------------- records */

static void write_record(struct swz_thread *thread, struct recording *r,
			 uint32_t node, uint64_t ticks,
			 enum swz_value_moment moment)
{
	struct swz_value_record *record;
	size_t body, bytes;

	if (r->used > SWZ_MOST_VALUE_BYTES - sizeof(*record))
		r->used = SWZ_MOST_VALUE_BYTES - sizeof(*record);
	body = (r->used + 7) & ~(size_t)7;
	bytes = sizeof(*record) + body;
	record = take(thread, bytes);
	if (!record)
		return;
	record->node = node;
	record->bytes = (uint16_t)bytes;
	record->kind = (uint8_t)moment;
	record->ticks = ticks;
	memcpy(record + 1, r->bytes, r->used);
	__atomic_store_n(&record->whole, 1, __ATOMIC_RELEASE);
}

static void sum_up(struct swz_thread *thread, const struct swz_captured *c,
		   const struct recording *r, uint32_t node,
		   enum swz_value_moment moment)
{
	unsigned parts = moment == SWZ_VALUES_ENTRY ? c->entry_parts
						    : c->return_parts;
	const struct swz_value_bytes_of of = {
		r->bytes, r->used, r->places,
		parts < MOST_PLACED ? parts : MOST_PLACED};

	swz_summary_put(thread, c, node, moment, &of);
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

/* What was kept for a call that ends; it is no longer. */
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
static void add_socket(struct swz_thread *thread, struct recording *r,
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
	struct recording r = {.used = sizeof(uint64_t)};
	uint64_t self;

	/* which is what pthread_self returns (glibc, musl) */
	__asm__("movq %%fs:0, %0" : "=r"(self));
	memcpy(r.bytes, &self, sizeof(self));
	next_chunk(thread);
	write_record(thread, &r, thread->cold->root,
		     thread->record->start_ticks, SWZ_VALUES_THREAD);
}

/* What is to be recorded, and of what; `done`: it was. */
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

static void begin(struct recording *r, const struct capture *of)
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
	struct recording *r = &room->recording;
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

	record(&capture);
}

/* In a trace a record; otherwise the latest, of the node. */
static void keep(struct recording *r, const struct capture *of,
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
	struct recording *r = &room->recording;

	begin(r, capture);
	if (keeps(c))
		r->keep = keep_for(capture->thread, capture->owner);
	if (c->entry_vectors) {
		swz_store_vectors(room->vectors);
		r->vectors = room->vectors;
	}
	r->places = swz_config.trace ? NULL : room->places;
	add_parts(r, c->parts, c->entry_parts);
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
	struct recording *r = &room->recording;

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
	add_parts(r, c->parts + c->entry_parts, c->return_parts);
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

/* ------------------------------------------------------------------ checks */

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
static int64_t in_order(uint64_t bits, unsigned bytes)
{
	int64_t number = bytes == 4 ? (int64_t)(bits << 32) : (int64_t)bits;

	return number < 0 ? (int64_t)(UINT64_C(1) << 63) - number : number;
}

static bool is_nan(uint64_t bits, unsigned bytes)
{
	return bytes == 4 ? (bits & 0x7fffffff) > 0x7f800000
			  : (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
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
					compare(in_order(word, bytes),
						in_order((uint64_t)check->value,
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

/* Of the callers as far as they are known. */
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

static bool check_holds(const struct swz_value_check *check,
			const struct swz_captured *c,
			const struct swz_thread *thread,
			const struct recording *r)
{
	const uint8_t *at;
	size_t left;

	if (check->kind == SWZ_CHECK_BACKTRACE)
		return backtrace_holds(check, thread);
	if (check->part >= c->entry_parts || check->part >= MOST_PLACED)
		return true;
	at = r->bytes + r->places[check->part];
	left = r->used - r->places[check->part];
	return check->kind == SWZ_CHECK_TEXT || check->kind == SWZ_CHECK_NULL
		       ? text_holds(check, c, at, left)
		       : number_holds(check, &c->parts[check->part], at, left);
}

static void check(struct capture *capture, struct room *room)
{
	const struct swz_captured *c = capture->c;
	struct recording *r = &room->recording;

	begin(r, capture);
	r->places = room->places;
	if (c->entry_vectors) {
		swz_store_vectors(room->vectors);
		r->vectors = room->vectors;
	}
	add_parts(r, c->parts, c->entry_parts);
	for (uint32_t i = 0; i < c->check_count && capture->holds; i++)
		capture->holds = check_holds(&c->checks[i], c, capture->thread,
					     r);
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

/* Of the Itanium C++ ABI: the header of the language lies before that of the
 * unwinder, and begins with the type, or, of one that was rethrown from another
 * thread, with the address of the object. The type has its name at 8. */
#define TYPE_BEFORE_HEADER 80u
#define TYPE_BEFORE_OBJECT 112u
#define CXX_LANGUAGE UINT64_C(0x432b2b00) /* "C++\0" */

static void raise(struct capture *capture, struct room *room)
{
	uint64_t at = (uintptr_t)capture->exception, type = 0, name = 0;
	struct recording *r = &room->recording;
	uint64_t language;

	begin(r, capture);
	if (read_memory(at, &language, 8) == 8 &&
	    (language & UINT64_C(0xffffff00)) == CXX_LANGUAGE &&
	    read_memory(at - TYPE_BEFORE_HEADER, &type, 8) == 8) {
		if (language & 1 &&
		    read_memory(type - TYPE_BEFORE_OBJECT, &type, 8) != 8)
			type = 0;
		if (type && read_memory(type + 8, &name, 8) == 8)
			add_text(r, name, 0, true);
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
