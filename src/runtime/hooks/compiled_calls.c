/* Calls that compilers put at the beginning and the end of functions for
 * profilers: calls of __cyg_profile_func_enter and _exit
 * (-finstrument-functions), of mcount or __fentry__ (-pg). */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/number_bytes.h"
#include "runtime/hooks/hooks.h"
#include "runtime/module/loaded.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "thunks/arena.h"

/* --- -finstrument-functions ---------------------------------------------- */

/* Programs compiled with -finstrument-functions call these: at the beginning
 * and end of each function, inlined ones, too. Functions that are hooked are
 * recorded already: their calls come from their own code. All others are as
 * spans of the function in which they are inlined, or which has called them,
 * but with the id that the function has. Being preloaded, we stand before the
 * library that another tool brings for them: it gets the calls, too. */

#define OVERRIDABLE __attribute__((visibility("default"), weak))

typedef void profile_function(void *function, void *call_site);

static void do_nothing(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
}

/* The one that would be called without us; looked up once. */
static profile_function *next(_Atomic(void *) *known, const char *name)
{
	void *found = atomic_load_explicit(known, memory_order_relaxed);
	profile_function *function;

	if (!found) {
		found = swz_next_symbol(name);
		if (!found) {
			function = do_nothing;
			found = *(void **)&function;
		}
		atomic_store_explicit(known, found, memory_order_relaxed);
	}
	*(void **)&function = found;
	return function;
}

/* A function's record in the profile, found at its first call. */
struct instrumented {
	_Atomic uint64_t start; /* 0: free */
	uint64_t size;
	uint32_t id;
	bool is_hooked;
	_Atomic bool is_ready;
};

#define MOST_INSTRUMENTED 8192u /* a power of two; others are not recorded */

static struct instrumented instrumented[MOST_INSTRUMENTED];

/* The next chunk of the profile; NULL: there is none. */
static const struct swz_chunk *next_chunk(uint64_t *at)
{
	uint64_t end = swz_file_used();

	while (*at + sizeof(struct swz_chunk) <= end) {
		const struct swz_chunk *chunk =
			(const void *)((const char *)swz_file + *at);

		/* acquire: swz_chunk_publish() */
		if (__atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) !=
		    SWZ_CHUNK_MAGIC) {
			*at += SWZ_UNIT_BYTES;
			continue;
		}
		*at += chunk->bytes;
		return chunk;
	}
	return NULL;
}

/* Reads the function at ADDRESS of the file out of its module's list. */
static bool find_in(const struct swz_chunk *chunk, uint64_t address,
		    struct instrumented *found)
{
	const uint8_t *body = (const uint8_t *)(chunk + 1), *at = body;
	const uint8_t *limit = body + chunk->bytes - sizeof(*chunk);
	struct swz_function_record record;
	uint32_t end = 0, id;

	memcpy(&id, at, sizeof(id));
	at += sizeof(id);
	for (uint32_t i = 0; i < chunk->count; i++) {
		if (!swz_function_unpack(&at, limit, &end, &record))
			return false;
		if (record.address != address)
			continue;
		found->size = record.size;
		found->id = id + i;
		found->is_hooked = record.status == SWZ_PATCHED;
		return true;
	}
	return false;
}

static void look_up(void *argument)
{
	struct instrumented *found = argument;
	uint64_t start = atomic_load_explicit(&found->start,
					      memory_order_relaxed);
	uint64_t at = SWZ_HEADER_BYTES, bias = 0;
	const struct swz_chunk *chunk;
	uint32_t module = UINT32_MAX;

	/* a list follows its module, and a module that comes later counts */
	while ((chunk = next_chunk(&at)) != NULL) {
		const struct swz_module_record *record = (const void *)(chunk +
									1);

		if (chunk->type == SWZ_CHUNK_MODULE && start >= record->start &&
		    start < record->end) {
			module = chunk->owner;
			bias = record->load_bias;
		} else if (chunk->type == SWZ_CHUNK_PACKED_FUNCTIONS &&
			   chunk->owner == module)
			(void)find_in(chunk, start - bias, found);
	}
	/* release: with what has been found */
	atomic_store_explicit(&found->is_ready, true, memory_order_release);
}

/* NULL: it is none of the profile's, or there is no room. */
static const struct instrumented *find_instrumented(struct swz_thread *thread,
						    uint64_t start)
{
	uint32_t at = (uint32_t)((start >> 4) * UINT32_C(0x9e3779b1) >> 19);

	for (unsigned i = 0; i < 32; i++) {
		struct instrumented *f =
			&instrumented[(at + i) & (MOST_INSTRUMENTED - 1)];
		uint64_t there = atomic_load_explicit(&f->start,
						      memory_order_relaxed);

		if (!there &&
		    atomic_compare_exchange_strong_explicit(
			    &f->start, &there, start, memory_order_relaxed,
			    memory_order_relaxed)) {
			swz_slowly(thread, look_up, f);
			there = start;
		}
		if (there == start)
			return atomic_load_explicit(&f->is_ready,
						    memory_order_acquire) &&
					       f->id
				       ? f
				       : NULL;
	}
	return NULL;
}

/* The function that is to be recorded at a call from CODE, and the thread;
 * NULL: it is none. SLOT: the return slot of the call. */
static const struct instrumented *to_record(const void *function, uint64_t code,
					    const uint64_t *slot,
					    struct swz_thread **thread)
{
	uint64_t start = (uintptr_t)function;
	const struct instrumented *f;

	if (!swz_recording || !start || swz_pause_concerns())
		return NULL;
	*thread = swz_this_thread(NULL, slot);
	if (!*thread || !(*thread)->cold)
		return NULL;
	f = find_instrumented(*thread, start);
	if (!f || (f->is_hooked && code >= start && code < start + f->size))
		return NULL;
	return f;
}

static void record_enter(const void *function, uint64_t code,
			 const uint64_t *slot)
{
	struct swz_thread *thread;
	const struct instrumented *f = to_record(function, code, slot, &thread);

	if (swz_arena_contains(code))
		code = SWZ_CALL_SITE_TAIL;
	if (f && swz_config.count)
		swz_count_call(thread, f->id, code);
	else if (f)
		swz_span_begin(thread, slot, f->id, code, swz_ticks());
}

static void record_exit(const void *function, uint64_t code,
			const uint64_t *slot)
{
	struct swz_thread *thread;
	const struct instrumented *f = swz_config.count
					       ? NULL
					       : to_record(function, code, slot,
							   &thread);

	if (f)
		swz_span_end(thread, slot, f->id, swz_ticks());
}

/* The return slot of the function that this stands in. */
#define OWN_SLOT \
	swz_slot_below((const uint64_t *)__builtin_frame_address(0) + 1)
#define OWN_CALLER (uintptr_t) __builtin_return_address(0)

OVERRIDABLE void __cyg_profile_func_enter(void *function, void *call_site);
OVERRIDABLE void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
	static _Atomic(void *) known;

	record_enter(function, OWN_CALLER, OWN_SLOT);
	next(&known, "__cyg_profile_func_enter")(function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	static _Atomic(void *) known;

	record_exit(function, OWN_CALLER, OWN_SLOT);
	next(&known, "__cyg_profile_func_exit")(function, call_site);
}

/* --- gcc -pg ------------------------------------------------------------- */

/* mcount counts a call by two addresses: the return address of the function
 * that it is called in, which it takes from the stack, and its own. libc's
 * would find a thunk's there, which is in no function, and gmon.out would have
 * no call graph. What it does with the two is a function that it calls, which
 * no symbol names: the call's target is read from its code. Where that is not
 * as glibc's (sysdeps/x86_64/_mcount.S), the real one is jumped to. */

#define MCOUNT_BYTES 96u /* of both, so far */

typedef void arc_counter(uint64_t from, uint64_t self);

/* The call behind "mov 8(%rbp), %rdi" or "mov 72(%rsp), %rdi". */
static uint64_t arc_counter_of(const uint8_t *code)
{
	static const uint8_t of_frame[] = {0x48, 0x8b, 0x7d, 0x08, 0xe8};
	static const uint8_t of_stack[] = {0x48, 0x8b, 0x7c, 0x24, 0x48, 0xe8};

	for (unsigned i = 0; i + 12 < MCOUNT_BYTES; i++) {
		unsigned behind = 0;
		int32_t distance;

		if (code[i] == 0xc3)
			break;
		if (memcmp(code + i, of_frame, sizeof(of_frame)) == 0)
			behind = i + sizeof(of_frame);
		else if (memcmp(code + i, of_stack, sizeof(of_stack)) == 0)
			behind = i + sizeof(of_stack);
		if (!behind)
			continue;
		memcpy(&distance, code + behind, sizeof(distance));
		return (uintptr_t)code + behind + 4 +
		       (uint64_t)(int64_t)distance;
	}
	return 0;
}

/* For a function that goes on at SELF, with this return slot. Returns 0, or
 * what is to be jumped to. (asm/x86_64/wrappers.S) */
uint64_t swz_count_arc(const uint64_t *slot, uint64_t self, unsigned which);

uint64_t swz_count_arc(const uint64_t *slot, uint64_t self, unsigned which)
{
	static const char *const names[] = {"mcount", "__fentry__"};
	static _Atomic uint64_t counters[2], reals[2];
	_Atomic uint64_t *counter = &counters[which], *real = &reals[which];
	/* relaxed: whoever looks them up finds the same */
	uint64_t found = atomic_load_explicit(counter, memory_order_relaxed);
	uint64_t address = *slot;
	arc_counter *count;
	void *mcount;

	if (!found && !atomic_load_explicit(real, memory_order_relaxed)) {
		mcount = swz_next_symbol(names[which]);
		if (!mcount)
			return 0;
		found = arc_counter_of(mcount);
		atomic_store_explicit(counter, found, memory_order_relaxed);
		atomic_store_explicit(real, (uintptr_t)mcount,
				      memory_order_relaxed);
	}
	if (!found)
		return atomic_load_explicit(real, memory_order_relaxed);
	if (swz_arena_contains(address))
		address = swz_arena_thunk_at(address)->return_address;
	memcpy(&count, &found, sizeof(count));
	count(address, self);
	return 0;
}
