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

#include "base/syscall.h"
#include "runtime/record/file.h"
#include "runtime/record/file_values.h"
#include "runtime/record/recording.h"
#include "runtime/record/slow_stack.h"
#include "runtime/record/value_checks.h"
#include "runtime/record/value_chunks.h"
#include "runtime/record/value_summary.h"
#include "runtime/support/config.h"

#define KEPT_CALLS 512u /* a power of two */
#define NEAR_CALLS 64u  /* of these the latest are looked at */
#define ROOMS 3u

void swz_store_vectors(uint8_t out[128]);
void swz_store_x87(uint8_t out[512]);

/* What that takes. */
struct room {
	struct swz_recording recording;
	uint16_t places[SWZ_MOST_PLACED];
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

/* ------------------------------------------------------- what a thread keeps
 */

void swz_values_begin_thread(struct swz_thread_cold *cold)
{
	swz_value_chunk_leave(cold);
	swz_values_forget(cold);
}

void swz_values_forget(struct swz_thread_cold *cold)
{
	swz_value_chunk_forget(cold);
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
	record = swz_value_chunk_take(thread, bytes);
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
		   const struct swz_recording *r, uint32_t node,
		   enum swz_value_moment moment)
{
	unsigned parts = moment == SWZ_VALUES_ENTRY ? c->entry_parts
						    : c->return_parts;
	const struct swz_value_bytes_of of = {
		r->bytes, r->used, r->places,
		parts < SWZ_MOST_PLACED ? parts : SWZ_MOST_PLACED};

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

	/* which is what pthread_self returns (glibc, musl) */
	__asm__("movq %%fs:0, %0" : "=r"(self));
	memcpy(r.bytes, &self, sizeof(self));
	swz_value_chunk_next(thread);
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
		capture->holds = swz_value_check_holds(&c->checks[i], c,
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

/* Of the Itanium C++ ABI: the header of the language lies before that of the
 * unwinder, and begins with the type, or, of one that was rethrown from another
 * thread, with the address of the object. The type has its name at 8. */
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
