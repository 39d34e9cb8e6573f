/* An exception removes frames. Where the unwinder goes from frame to frame its
 * way is that of the native run (thread_thunks.h). What is left to see is
 * where it ends, for the exits of the frames that it has passed are accounted
 * at that moment: whoever sends it to a landing pad says so by _Unwind_SetIP,
 * which has a wrapper (src/runtime/compat/stack_walkers.c). It makes the
 * unwinder go to a thunk first. To who walks the stack meanwhile that is one as
 * of any other call: its return address is that of the call in the frame that
 * lands.
 *
 * Where the thunk's frame and the handler's follow one another the unwinder
 * would take one for the other. There, and where another stack begins, it lands
 * at the thunk, and is sent on by _Unwind_Resume. */

#include "runtime/hooks/unwind.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/module/loaded.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "runtime/support/live_sites.h"
#include "thunks/arena.h"
#include "thunks/trampoline.h"

/* --- unwinders ----------------------------------------------------------- */

/* Finds the unwinder that is calling, by the module that its code is in. One
 * that was linked into a module exports nothing; planning notes where it is, if
 * the file's symbol table tells. */

/* A plugin may bring one along that is its own. */
#define MOST_UNWINDERS 64

/* An entry counts while its `end` is not 0. */
static struct swz_unwinder known[MOST_UNWINDERS];
static atomic_bool taken[MOST_UNWINDERS];
/* Unwinders that planning has found in symbol tables that are not mapped. */
static struct swz_unwinder noted[MOST_UNWINDERS];
static unsigned noted_count;

/* Our own calls are not the program's. */
static void *past_hook(void *function)
{
	return (void *)(uintptr_t)swz_unhooked(function);
}

static bool is_complete(const struct swz_unwinder *u)
{
	return u->get_ip && u->set_gr && u->set_ip && u->resume;
}

static uint64_t end_of(const struct swz_unwinder *u)
{
	/* acquire: matches the release in publish */
	return __atomic_load_n(&u->end, __ATOMIC_ACQUIRE);
}

static bool is_of(const struct swz_unwinder *u, uint64_t address)
{
	return address < end_of(u) && address >= u->start;
}

/* At a place that does not count yet. */
static void publish(struct swz_unwinder *at, struct swz_unwinder u)
{
	uint64_t end = u.end;

	u.end = 0;
	*at = u;
	/* release: who sees the end sees the rest */
	__atomic_store_n(&at->end, end, __ATOMIC_RELEASE);
}

bool swz_unwinder_note(const struct swz_unwinder *unwinder)
{
	unsigned i = 0;

	while (i < noted_count && noted[i].end)
		i++;
	if (!is_complete(unwinder) || i == MOST_UNWINDERS)
		return false;
	publish(&noted[i], *unwinder);
	if (i == noted_count)
		noted_count++;
	return true;
}

bool swz_unwinders_export(const char *name)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next)
		if (swz_map_symbol(m, name))
			return true;
	return false;
}

/* One may go, and another come, while it is read. */
static bool look_up_noted(uint64_t address, struct swz_unwinder *u)
{
	for (unsigned i = 0; i < noted_count; i++) {
		if (!is_of(&noted[i], address))
			continue;
		*u = noted[i];
		atomic_thread_fence(memory_order_acquire);
		if (is_of(u, address) && end_of(&noted[i]) == u->end)
			return true;
	}
	return false;
}

/* LLVM's and nongnu's take their first frame's return address from the stack
 * like the others. libgcc's has loaded its own by the time that it is seen to
 * begin. */
static bool takes_its_own(const struct link_map *map)
{
	return !swz_map_symbol(map, "unw_step") &&
	       !swz_map_symbol(map, "_ULx86_64_step");
}

static struct swz_unwinder_begins begins(const struct link_map *map,
					 const char *name)
{
	struct swz_unwinder_begins b = {0};
	void *function = swz_map_symbol_sized(map, name, &b.bytes);

	/* its own slot must hold the real return address */
	if (function == past_hook(function) &&
	    (!takes_its_own(map) || swz_unwrapped(function, swz_wrap_reader)))
		b.start = (uintptr_t)function;
	return b;
}

static bool look_up(uint64_t address, struct swz_unwinder *u)
{
	const struct link_map *map = swz_map_at(address, &u->end);

	if (!map)
		return false;
	*(void **)&u->get_ip = swz_map_symbol(map, "_Unwind_GetIP");
	if (!u->get_ip)
		*(void **)&u->get_ip = swz_map_symbol(map, "_Unwind_GetIPInfo");
	*(void **)&u->set_gr = swz_map_symbol(map, "_Unwind_SetGR");
	*(void **)&u->set_ip = swz_map_symbol(map, "_Unwind_SetIP");
	*(void **)&u->get_gr = swz_map_symbol(map, "_Unwind_GetGR");
	*(void **)&u->get_cfa = swz_map_symbol(map, "_Unwind_GetCFA");
	u->resume = swz_map_symbol(map, "_Unwind_Resume");
	u->raise = begins(map, "_Unwind_RaiseException");
	u->go_on = begins(map, "_Unwind_Resume");
	u->start = map->l_addr;
	return is_complete(u);
}

/* Where it is known from now on. There may be no room: as many threads may
 * throw for the first time at once, each looking for the same. */
static const struct swz_unwinder *keep(const struct swz_unwinder *found,
				       uint64_t address)
{
	for (unsigned i = 0; i < MOST_UNWINDERS; i++) {
		if (atomic_exchange_explicit(&taken[i], true,
					     memory_order_acquire)) {
			if (is_of(&known[i], address)) /* by now */
				return &known[i];
			continue;
		}
		publish(&known[i], *found);
		return &known[i];
	}
	return found;
}

const struct swz_unwinder *swz_unwinder_of(uint64_t address,
					   struct swz_unwinder *room)
{
	const bool written = swz_live_sites_are_written();
	const void *past_wrapper;

	for (unsigned i = 0; i < MOST_UNWINDERS; i++)
		if (is_of(&known[i], address))
			return &known[i];
	if (!look_up_noted(address, room) && !look_up(address, room))
		return NULL;
	/* _Unwind_Resume above all: a hook would call it from where our landing
	 * pad was, and that frame's thunk would land there again */
	*(void **)&room->get_ip = past_hook(*(void **)&room->get_ip);
	*(void **)&room->set_gr = past_hook(*(void **)&room->set_gr);
	*(void **)&room->get_gr = past_hook(*(void **)&room->get_gr);
	*(void **)&room->get_cfa = past_hook(*(void **)&room->get_cfa);
	past_wrapper = swz_unwrapped(*(void **)&room->set_ip, swz_wrap_set_ip);
	room->wraps_set_ip = past_wrapper != NULL;
	*(void **)&room->set_ip = past_wrapper
					  ? (void *)(uintptr_t)past_wrapper
					  : past_hook(*(void **)&room->set_ip);
	room->resume = past_hook(room->resume);
	/* (what leads past no hook now does not when that is there) */
	if (written && swz_live_sites_are_written())
		return keep(room, address);
	return room;
}

static _Atomic bool tell_nothing;

static void unwinders_tell_nothing(void)
{
	tell_nothing = true;
}

/* True if it will tell where it lands: never once frames are told apart by
 * their CFAs (swz_unwind_apart), by which it finds its handler again. */
static bool unwinder_tells_landing(const struct swz_unwinder *unwinder)
{
	return unwinder->wraps_set_ip &&
	       !atomic_load_explicit(&tell_nothing, memory_order_relaxed);
}

static bool is_in(uint64_t address, const struct swz_unwinder_begins *b)
{
	return b->start && address - b->start < b->bytes;
}

enum swz_unwinding swz_unwinder_begins(uint64_t address, uint64_t *module_start,
				       uint64_t *module_end)
{
	for (unsigned i = 0; i < MOST_UNWINDERS && end_of(&known[i]); i++) {
		const struct swz_unwinder *u = &known[i];

		if (!is_of(u, address))
			continue;
		*module_start = u->start;
		*module_end = end_of(u);
		if (!unwinder_tells_landing(u))
			return SWZ_UNWINDING_NOT;
		return is_in(address, &u->raise)   ? SWZ_UNWINDING_RAISES
		       : is_in(address, &u->go_on) ? SWZ_UNWINDING_GOES_ON
						   : SWZ_UNWINDING_NOT;
	}
	return SWZ_UNWINDING_NOT;
}

void swz_unwinders_forget(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < noted_count; i++)
		if (noted[i].start >= start && noted[i].start < end)
			__atomic_store_n(&noted[i].end, 0, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < MOST_UNWINDERS; i++) {
		struct swz_unwinder *u = &known[i];

		if (end_of(u) <= start || u->start >= end)
			continue;
		if (u->start < start) { /* another's, and in use perhaps */
			__atomic_store_n(&u->end, start, __ATOMIC_RELEASE);
			continue;
		}
		__atomic_store_n(&u->end, 0, __ATOMIC_RELEASE);
		atomic_store_explicit(&taken[i], false, memory_order_release);
	}
}

/* --- what was unwound ---------------------------------------------------- */

/* A node has no room for one more counter that few would use. Counts lie in
 * hash tables of the thread's own, chunks of the profile; each next one is
 * twice as large, and what is in an earlier one stays there, so that no count
 * is ever in two places. */

#define FIRST_BYTES UINT64_C(1024) /* with the chunk's header */
#define LAST_BYTES (UINT64_C(1) << 20)

/* Where a node's record is in a table, or the empty one where it would be; NULL
 * if the table is full. */
static struct swz_unwound_record *place(struct swz_chunk *table, uint32_t node)
{
	struct swz_unwound_record *records =
		(struct swz_unwound_record *)(table + 1);
	uint32_t at = node * 0x9e3779b1u % table->count;

	for (uint32_t i = 0; i < table->count; i++) {
		struct swz_unwound_record *r = &records[at];

		if (r->node == node || r->node == 0)
			return r;
		at = at + 1 < table->count ? at + 1 : 0;
	}
	return NULL;
}

static struct swz_chunk *table_at(uint64_t unit)
{
	return unit ? swz_unit_at(unit) : NULL;
}

static struct swz_chunk *new_table(struct swz_thread_cold *cold,
				   const struct swz_chunk *previous)
{
	uint64_t bytes = previous ? 2 * previous->bytes : FIRST_BYTES;
	struct swz_chunk *table;

	if (bytes > LAST_BYTES)
		bytes = LAST_BYTES;
	bytes -= sizeof(*table);
	table = swz_chunk_take(
		swz_file, SWZ_CHUNK_UNWOUND, bytes,
		(uint32_t)(bytes / sizeof(struct swz_unwound_record)),
		cold->index);
	if (!table)
		return NULL;
	table->reserved[SWZ_UNWOUND_PREVIOUS] = cold->unwound;
	cold->unwound = swz_unit_of(table);
	swz_chunk_publish(table);
	return table;
}

static struct swz_unwound_record *find(const struct swz_thread_cold *cold,
				       uint32_t node)
{
	struct swz_chunk *t = table_at(cold->unwound);

	for (; t; t = table_at(t->reserved[SWZ_UNWOUND_PREVIOUS])) {
		struct swz_unwound_record *r = place(t, node);

		if (r && r->node)
			return r;
	}
	return NULL;
}

/* A signal handler may come between, and count too. */
static void count_again(struct swz_unwound_record *record)
{
	__asm__("incq %0" : "+m"(record->count) : : "cc");
}

static void count(struct swz_thread_cold *cold, uint32_t node)
{
	struct swz_chunk *newest = table_at(cold->unwound);
	struct swz_unwound_record *r = find(cold, node);

	if (r) {
		count_again(r);
		return;
	}
	if (!newest || 4 * newest->reserved[SWZ_UNWOUND_USED] >=
			       3 * (uint64_t)newest->count)
		newest = new_table(cold, newest);
	r = newest ? place(newest, node) : NULL;
	if (!r)
		return;
	newest->reserved[SWZ_UNWOUND_USED]++;
	r->count = 1;
	/* release: who sees the node sees its count */
	__atomic_store_n(&r->node, node, __ATOMIC_RELEASE);
}

void swz_unwound_note(struct swz_thread *thread, const struct swz_thunk *thunk)
{
	uint32_t jumps[SWZ_MOST_JUMPS];
	unsigned n, passed = 0;

	if (!thunk->node || thunk->pending == SWZ_CLOSED)
		return;
	for (const struct swz_thunk *p = thunk->pending; swz_is_record(p);
	     p = swz_record_next(p, &passed))
		count(thread->cold, p->node);
	n = swz_jumps_of(swz_file, thunk, jumps);
	while (n--)
		count(thread->cold, jumps[n]);
	count(thread->cold, thunk->node);
}

/* The same with nothing blocked, if each of them has been counted before;
 * false: nothing was done. */
static bool unwound_note_again(const struct swz_thread *thread,
			       const struct swz_thunk *thunk)
{
	struct swz_unwound_record *r;

	if (!thunk->node || thunk->pending)
		return false;
	r = find(thread->cold, thunk->node);
	if (r)
		count_again(r);
	return r;
}

/* --- landing pads -------------------------------------------------------- */

/* In thunk->pending, of a thunk that has no node: no record, and no frame's. */
#define LANDING ((struct swz_thunk *)(SWZ_IS_CLOSED | SWZ_IS_JUMPS))

/* _Unwind_Resume, between the personality routine and the landing. The thread
 * may have no state: a frame may move to any thread with its stack. */
static __thread void *landing_resume __attribute__((tls_model("initial-exec")));

static struct swz_thread *recorded_thread(void)
{
	struct swz_thread *thread = swz_thread_here();

	return swz_recording && thread && thread->cold ? thread : NULL;
}

void swz_landing_exception(const void *exception)
{
	struct swz_thread *thread = recorded_thread();

	if (thread)
		thread->cold->exception = exception;
}

void swz_landing_walk(const void *frame)
{
	struct swz_thread *thread = recorded_thread();

	if (thread)
		thread->cold->walk_frame = frame;
}

/* A forced unwind is on its way: no frame of it is passed. */
static void landing_forced(void)
{
	struct swz_thread *thread = recorded_thread();

	if (thread)
		thread->cold->unwind_is_forced = true;
}

static void pass_from(struct swz_thread *thread, const struct swz_thunk *thunk)
{
	const uint64_t **from = &thread->cold->unwound_from;

	if (!*from || *from > thunk->slot)
		*from = thunk->slot;
}

/* Its own frames are the latest: they return to its module. */
void swz_landing_begin(uint64_t address)
{
	struct swz_thread *thread = recorded_thread();
	enum swz_unwinding what;
	uint64_t start, end;
	struct swz_thunk *y;

	if (!thread || thread->top == &swz_bottom)
		return;
	what = swz_unwinder_begins(address, &start, &end);
	if (what == SWZ_UNWINDING_NOT ||
	    (uintptr_t)__builtin_frame_address(0) <
		    (uintptr_t)thread->cold->walk_frame)
		return;
	if (what == SWZ_UNWINDING_RAISES)
		thread->cold->unwind_is_forced = false;
	if (thread->cold->unwind_is_forced)
		return;
	y = thread->top;
	while (y != &swz_bottom && swz_frame_is_amid_stack(thread, y) &&
	       y->return_address - start < end - start)
		y = y->link;
	if (y == &swz_bottom || !swz_frame_is_amid_stack(thread, y))
		return;
	pass_from(thread, y);
	swz_frames_expose(thread, y);
}

/* An unwinder that tells where it will land has come to this thunk's frame. In
 * the search phase nothing is to be done but that. When it cleans up, returns
 * whether it may pass: the frame will be accounted where the unwinder lands. */
static void landing_search(struct swz_thunk *thunk)
{
	struct swz_thread *thread = recorded_thread();

	if (thread)
		swz_frames_expose_callers(thread, thunk);
}

static bool landing_pass(struct swz_thunk *thunk)
{
	struct swz_thread *thread = recorded_thread();

	if (!thread || !swz_frame_is_amid_stack(thread, thunk))
		return false;
	pass_from(thread, thunk);
	swz_frames_expose_callers(thread, thunk);
	return true;
}

uint64_t swz_landing_prepare(const uint64_t *cfa, uint64_t call_site,
			     uint64_t pad)
{
	struct swz_thread *thread = recorded_thread();
	struct swz_thunk *thunk;

	if (!thread)
		return pad;
	if (!thread->cold->unwound_from || thread->cold->unwound_from >= cfa) {
		swz_frames_cover(thread, cfa);
		return pad;
	}
	thunk = swz_take_record(thread);
	if (!thunk) {
		thread->cold->unwound_from = NULL;
		swz_frames_cover(thread, cfa);
		return pad;
	}
	thunk->body = (const uint8_t *)pad;
	thunk->return_address = call_site;
	thunk->node = 0;
	thunk->start_ticks = 0;
	thunk->slot = NULL;
	thunk->pending = LANDING;
	return swz_thunk_address(thunk);
}

bool swz_is_landing(const struct swz_thunk *thunk)
{
	return thunk->pending == LANDING && !thunk->node;
}

struct unwinding {
	struct swz_thread *thread;
	struct swz_thunk *thunk;
};

static void note_unwound(void *argument)
{
	const struct unwinding *u = argument;

	swz_unwound_note(u->thread, u->thunk);
}

/* Before it ends. */
static void note_unwinding(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct unwinding u = {thread, thunk};

	if (!unwound_note_again(thread, thunk))
		swz_slowly(thread, note_unwound, &u);
}

/* Behind its end, by its node. */
static void note_exception(struct swz_thread *thread, uint32_t node)
{
	if (swz_capturing && node)
		swz_captured_exception(thread, node, thread->cold->exception);
}

static void end_frame(struct swz_thread *thread, struct swz_thunk *thunk)
{
	bool is_own = swz_thread_owns(thread, thunk) && thunk->slot;
	uint32_t node = thunk->node;

	if (is_own)
		note_unwinding(thread, thunk);
	swz_leave_frame(thread, thunk, thunk->slot, SWZ_EVENT_UNWIND, false);
	if (is_own)
		note_exception(thread, node);
}

/* The unwinder's own frames are the latest, then come those that it has passed:
 * up to `last`, and not `until`. Their stack is free: a signal handler's frames
 * may lie there, and close them as skipped. Who moves `top` on has the one that
 * it was to itself. */
static void end_passed(struct swz_thread *thread, const uint64_t *last,
		       const struct swz_thunk *until)
{
	const uint64_t *from = thread->cold->unwound_from;
	struct swz_thunk *y;

	thread->cold->unwound_from = NULL;
	while (from && (y = thread->top) != until) {
		const uint64_t *slot = y->slot;
		bool is_passed = slot >= from, ends;
		uint32_t node = y->node;

		ends = slot > last || !swz_frame_is_amid_stack(thread, y);
		if (ends && y == thread->top)
			break;
		if (ends)
			continue; /* it was closed just now */
		thread->key = (uint64_t)y->parent << 32;
		if (!__atomic_compare_exchange_n(&thread->top, &y, y->link,
						 false, __ATOMIC_RELAXED,
						 __ATOMIC_RELAXED))
			continue;
		y->slot = NULL;
		atomic_signal_fence(memory_order_seq_cst);
		if (is_passed)
			note_unwinding(thread, y);
		swz_leave_taken(thread, y,
				is_passed ? SWZ_EVENT_UNWIND : SWZ_EVENT_SKIP);
		if (is_passed)
			note_exception(thread, node);
	}
}

uint64_t swz_landing_arrive(struct swz_thunk *thunk, const uint64_t *slot)
{
	struct swz_thread *thread = swz_this_thread(NULL, slot);
	uint64_t pad = (uintptr_t)thunk->body;

	if (!thread)
		return pad;
	if (swz_thread_is_paused())
		swz_pause_catch_up(thread, thread->top->slot - 1);
	swz_frames_cover(thread, slot + 1);
	end_passed(thread, slot, NULL);
	if (thread->top->slot <= slot)
		swz_close_skipped(thread, slot, NULL);
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
	if (swz_thread_owns(thread, thunk)) {
		thunk->pending = NULL;
		swz_thread_free_record(thread, thunk);
	}
	return pad;
}

void *swz_unwound(struct swz_thunk *thunk)
{
	struct swz_thread *thread = swz_this_thread(thunk, thunk->slot);
	const uint64_t *slot = thunk->slot;

	if (!thread)
		return landing_resume;
	if (swz_thread_is_paused() && slot)
		swz_pause_catch_up(thread, thread->top->slot - 1);
	if (slot) {
		swz_frames_cover(thread, slot + 1);
		end_passed(thread, slot, thunk);
	}
	end_frame(thread, thunk);
	if (swz_thread_is_paused() && slot)
		swz_pause_goes_on(thread, slot);
	return landing_resume;
}

/* Notes for the calling thread that its next landing belongs to this one. */
static void unwind_begin(const struct swz_unwinder *unwinder)
{
	landing_resume = unwinder->resume;
}

/* --- unwinding ----------------------------------------------------------- */

/* The personality routine of the thunk arena (the FDE in asm/x86_64/arena.S).
 *
 * While an exception, a forced unwind or a cancellation cleans up, a thunk's
 * frame that cannot be passed installs our
 * landing pad (asm/x86_64/wrappers.S). That accounts the exit at the moment it
 * happens and frees the thunk; and it keeps libgcc from mistaking the thunk's
 * frame for its handler's, which has the same CFA when the handler is in the
 * very next frame.
 *
 * An unwinder that was linked into the program statically exports nothing to do
 * that with; its functions are found by the file's symbol table, but not in a
 * program that was stripped. For its sake
 * the frames are told apart by their CFA (rsp + 1, with an explicit rule for
 * rsp), and have no personality: libgcc compares CFAs, and LLVM's unwinder
 * looks whether a frame that has a personality and the handler's %rsp wants to
 * stop. That is not done always, since nongnu libunwind takes rsp from the CFA,
 * and since exits by exceptions are then noticed later, like those by longjmp.
 *
 * The landing pad needs the stack of the frame that it is in, which may be the
 * one that has overflown, where the handler of that signal throws from a stack
 * of its own (Ada's Storage_Error). There only the frame next to the handler
 * lands, and the others are ended with it.
 *
 * The functions that act on an unwinder's context must be that unwinder's own
 * (a program can hold several: libgcc, LLVM's, nongnu's). So they are looked up
 * in the module that called us, once for each. */

enum { URC_INSTALL_CONTEXT = 7, URC_CONTINUE_UNWIND = 8 };
enum {
	UA_SEARCH_PHASE = 1,
	UA_CLEANUP_PHASE = 2,
	UA_HANDLER_FRAME = 4,
	UA_FORCE_UNWIND = 8
};

void swz_landing(void);
void swz_landing_return_pushed(void);
void swz_landing_rax_pushed(void);

/* Most bytes of stack that _Unwind_Resume needs, where frames follow one
 * another. */
#define NEAR_BYTES (64u << 10)

/* True if the unwinder runs on a signal stack, and the frame is elsewhere. */
static bool is_on_another_stack(const struct swz_thunk *thunk)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t slot = (uintptr_t)thunk->slot, start;
	stack_t signal_stack;

	if (slot - here < NEAR_BYTES ||
	    SWZ_SYSCALL(SYS_sigaltstack, NULL, &signal_stack) != 0 ||
	    signal_stack.ss_flags & SS_DISABLE)
		return false;
	start = (uintptr_t)signal_stack.ss_sp;
	return here - start < signal_stack.ss_size &&
	       slot - start >= signal_stack.ss_size;
}

int swz_personality(int version, int actions, uint64_t exception_class,
		    void *exception, void *context);

/* The thunk's frame that the unwinder is at. A personality routine finds the
 * stack pointer of the frame as the CFA: behind the slot, but for what the
 * thunk has pushed when a signal came. */
static struct swz_thunk *frame_at(const struct swz_unwinder *unwinder,
				  void *context, uint64_t pc)
{
	struct swz_thunk *thunk = swz_arena_thunk_at(pc);
	const struct swz_thread *thread = swz_thread_here();
	uint64_t at = pc % SWZ_THUNK_BYTES, slot;

	if (!swz_thunk_leads(thunk) || !thread || !unwinder->get_cfa)
		return thunk;
	slot = unwinder->get_cfa(context) - sizeof(slot);
	slot += sizeof(slot) * (at >= SWZ_THUNK_RETURN_PUSHED);
	slot += sizeof(slot) * (at >= SWZ_THUNK_RAX_PUSHED);
	return swz_frame_at(thread, thunk, (const uint64_t *)(uintptr_t)slot);
}

/* True if the unwinder may go on past the thunk without landing. */
static bool may_pass(const struct swz_unwinder *unwinder, int actions,
		     struct swz_thunk *thunk, uint64_t pc)
{
	if (actions & UA_FORCE_UNWIND)
		landing_forced();
	if (actions & UA_HANDLER_FRAME)
		return false;
	if (is_on_another_stack(thunk))
		return true;
	return unwinder_tells_landing(unwinder) &&
	       !(actions & UA_FORCE_UNWIND) && pc == swz_thunk_address(thunk) &&
	       landing_pass(thunk);
}

/* Where the thunk's data holds the return address, nongnu libunwind stores the
 * landing pad's if it lands in the next frame. A leader's data are those of all
 * its followers: so the frame gets its own thunk's T first. */
static void pass_by_its_own(const struct swz_unwinder *unwinder, void *context,
			    struct swz_thunk *thunk, uint64_t pc)
{
	if (!swz_thunk_follows(thunk) || pc != swz_thunk_address(thunk))
		return;
	swz_frame_stop_following(swz_thread_here(), swz_arena_thunk_at(pc),
				 thunk->slot);
	unwinder->set_ip(context, swz_thunk_address(thunk));
}

int swz_personality(int version, int actions, uint64_t exception_class,
		    void *exception, void *context)
{
	const struct swz_unwinder *unwinder;
	struct swz_unwinder room;
	struct swz_thunk *thunk;
	int is_before = 0;
	uint64_t pc, at;

	(void)exception_class;
	unwinder = version == 1 ? swz_unwinder_of(
					  (uint64_t)(uintptr_t)
						  __builtin_return_address(0),
					  &room)
				: NULL;
	if (!unwinder)
		return URC_CONTINUE_UNWIND;
	pc = unwinder->get_ip(context, &is_before);
	if (!swz_arena_contains(pc))
		return URC_CONTINUE_UNWIND;
	thunk = frame_at(unwinder, context, pc);
	if (!(actions & UA_CLEANUP_PHASE)) {
		if (unwinder_tells_landing(unwinder))
			landing_search(thunk);
		return URC_CONTINUE_UNWIND;
	}
	if (may_pass(unwinder, actions, thunk, pc)) {
		pass_by_its_own(unwinder, context, thunk, pc);
		return URC_CONTINUE_UNWIND;
	}
	swz_landing_exception(exception);
	unwind_begin(unwinder);
	unwinder->set_gr(context, 0, (uintptr_t)exception);
	unwinder->set_gr(context, 1, (uintptr_t)thunk);
	/* a signal may have come behind either of the thunk's two pushes */
	at = pc % SWZ_THUNK_BYTES;
	unwinder->set_ip(context,
			 (uintptr_t)(at >= SWZ_THUNK_RAX_PUSHED
					     ? swz_landing_rax_pushed
				     : at >= SWZ_THUNK_RETURN_PUSHED
					     ? swz_landing_return_pushed
					     : swz_landing));
	return URC_INSTALL_CONTEXT;
}

extern uint8_t swz_eh_frame_start[], swz_eh_frame_end[];

/* Where `pattern` is in our own unwind table; a byte of 0xff is any byte. */
static uint8_t *find_in_table(const uint8_t *pattern, size_t bytes)
{
	/* cppcheck-suppress comparePointers */
	for (uint8_t *at = swz_eh_frame_start; at + bytes <= swz_eh_frame_end;
	     at++) {
		size_t i = 0;

		while (i < bytes && (at[i] == pattern[i] || pattern[i] == 0xff))
			i++;
		if (i == bytes)
			return at;
	}
	return NULL;
}

enum swz_status swz_unwind_apart(void)
{
	/* the CIE of asm/x86_64/arena.S: augmentation, its data (the length,
	 * how and where the personality is, how addresses are encoded), and
	 * what every one begins with (def_cfa rsp + 8); without the personality
	 * the place is filled by DW_CFA_nop */
	static const uint8_t cie[] = {'z',  'P',  'R',  0,    1,    0x78, 16, 6,
				      0x1b, 0xff, 0xff, 0xff, 0xff, 0x1b, 12};
	static const uint8_t mute[] = {'z', 'R', 0, 1, 0x78, 16, 1, 0x1b,
				       0,   0,   0, 0, 0,    0,  12};
	/* its CFA: an expression, rsp + 0, pc + 0, 63 */
	static const uint8_t cfa[] = {
		0x0f, SWZ_THUNK_CFA_BYTES, 0x77, 0, 0x80, 0, 0x08, 0x3f};
	static bool done;
	uint8_t *at_cie = find_in_table(cie, sizeof(cie));
	uint8_t *at_cfa = find_in_table(cfa, sizeof(cfa));
	uintptr_t pages = (uintptr_t)swz_eh_frame_start & -(uintptr_t)4096;
	size_t bytes = (uintptr_t)swz_eh_frame_end - pages;

	_Static_assert(sizeof(cie) == sizeof(mute), "it keeps its length");
	if (done)
		return SWZ_OK;
	if (!at_cie || !at_cfa)
		return SWZ_E_NOTFOUND;
	if (swz_sys_mprotect((void *)pages, bytes, PROT_READ | PROT_WRITE) != 0)
		return SWZ_E_SYSTEM;
	memcpy(at_cie, mute, sizeof(mute));
	at_cfa[3] = 1;
	swz_sys_mprotect((void *)pages, bytes, PROT_READ);
	unwinders_tell_nothing();
	done = true;
	return SWZ_OK;
}
