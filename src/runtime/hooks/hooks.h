#ifndef SWZ_RUNTIME_HOOKS_HOOKS_H
#define SWZ_RUNTIME_HOOKS_HOOKS_H

/* The C side of the hooks in asm/x86_64: all but the usual case. It runs on the
 * program's stack and is async-signal-safe; what needs more room, or must not
 * be interrupted, goes to the thread's slow stack with signals blocked.
 * See docs/internals/hooks.md. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "thunks/arena.h"
#include "thunks/trampoline.h"

/* The entry hook (registers saved by the caller): the function whose relocated
 * prologue is `body` was entered and *slot is its return address. Returns the
 * code of the thunk to go through, or NULL: go to the body as things are. */
const uint8_t *swz_enter(const uint8_t *body, uint64_t *slot);

/* The entry hook: as swz_enter; the arguments are in registers that lie below
 * the slot, and in vector registers (record/values.h). */
const uint8_t *swz_enter_captured(const uint8_t *body, uint64_t *slot);

/* The exit hook: a frame of the thunk's has returned from this slot. Returns 0,
 * or where to go on instead of the address there, with the slot popped. */
uint64_t swz_exit(struct swz_thunk *thunk, uint64_t *slot);

/* A function that looks at its return address has been jumped to by a hooked
 * one: *slot is a thunk's address. Puts the real one there, and ends the frame,
 * as its thunk will not be returned to. */
void swz_enter_reader(uint64_t *slot);

/* The wrapper that calls this (asm/x86_64/wrappers.S). */
void swz_wrap_reader(void);

/* The calling thread's state, or NULL if it has none. The first such call in a
 * forked child gives it a profile of its own. */
struct swz_thread *swz_current_thread(void);

/* The program is about to give up system calls: stocks up for the calling
 * thread, and makes none any more but those that its filters let pass. */
void swz_hooks_go_quiet(void);

/* Ends recording, and all use of the clock: of the calling thread at once, of
 * others at their next new edge. */
void swz_hooks_stop(void);

/* Decides where return thunks go. When the mode is known, and none is made. */
void swz_hooks_begin(void);

/* The entry hooks that trampolines lead to, by the mode and by whether there
 * are filters. When both are known. */
const struct swz_hooks *swz_hooks_choose(void);

/* A hooked function has ended in a jump to another: the return slot holds its
 * thunk, which from now on stands for the new function too, so that a chain of
 * tail calls takes no more of the return stack than the program's own does, and
 * one that goes in circles no more memory than its functions. */
void swz_enter_by_jump(struct swz_thread *thread, struct swz_thunk *thunk,
		       uint32_t function);

/* --- what a hook needs --------------------------------------------------- */

/* A hook's needs: taken where they lie ready, or else made on the thread's slow
 * stack, with signals blocked. All are async-signal-safe. */

/* The calling thread's state, made if need be; NULL: it runs unrecorded. HERE:
 * the return slot of the frame that the hook is for, or NULL; `exiting`: the
 * thunk that it returns by, if it does. */
struct swz_thread *swz_this_thread(struct swz_thunk *exiting,
				   const uint64_t *here);

/* The node of the edge that leads from the context in `key` by this call site
 * to the function; NULL: there is no room. With a body and a slot given, and if
 * the node is new, *thunk is one of its thunks too. */
struct swz_node *swz_take_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk);

/* The same of an edge that has just not been found. */
struct swz_node *swz_make_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk);

/* A thunk for a call of this edge; NULL if there is none. */
struct swz_thunk *swz_take_thunk(struct swz_thread *thread,
				 struct swz_node *node, const uint8_t *body,
				 const uint64_t *slot);

/* A record of a call by a jump (runtime/record/thread.h); NULL if there is
 * none. */
struct swz_thunk *swz_take_record(struct swz_thread *thread);

/* Stocks up for the thread that has no system calls any more. */
void swz_stock_up(struct swz_thread *thread);

/* The time since BEFORE (ticks) was ours, so it is nobody's: it is noted in a
 * node of its own below the current context. Signals must be blocked. */
void swz_note_own_time(struct swz_thread *thread, uint64_t before);

/* Counts a call that is not recorded. */
void swz_lose_call(void);

/* True if a signal handler that has interrupted a hook, or what a hook calls,
 * may be running above SLOT, the return slot of a frame: by what lies on the
 * stack there, and on those that this leads to, where a handler was interrupted
 * by one on another stack. False where the handler's frame is very far from the
 * slot, or memory may not be looked at. */
bool swz_interrupted_hook(const uint64_t *slot);

/* --- hooks that count ---------------------------------------------------- */

/* -m count: the C side of the hooks. Async-signal-safe. */

/* From asm/x86_64/enter_counted.S: counts a call. HEAD_END: of the trampoline's
 * head. Returns the displaced instructions. */
const uint8_t *swz_count_enter(const uint8_t *head_end, const uint64_t *slot);

/* Each call of any thread comes to swz_count_enter() from now on, which looks
 * at swz_request, until it finds that it may be counted. */
void swz_counts_ask(void);

/* Counts a call that no hook has seen; CALL_SITE: as a return address.
 * Async-signal-safe. */
void swz_count_call(struct swz_thread *thread, uint32_t id, uint64_t call_site);

/* --- what a program may ask ---------------------------------------------- */

/* Spans: times that the program has named. One is an activation in the context
 * tree like that of a function. It hangs, as calls by jumps do, from the latest
 * frame, and ends with that at the latest, however it ends. */

/* The context of the thread's outermost frames: its root, or the latest span
 * that no frame holds. */
static inline uint32_t swz_span_root(const struct swz_thread_cold *cold)
{
	const struct swz_node *node;

	if (!cold->span_count)
		return cold->root;
	node = swz_unit_at(cold->spans[cold->span_count - 1].node);
	return node->context;
}

/* A return slot as the functions below want it. What a tail call finds at its
 * slot is the address of a thunk: the frame of that still runs. */
static inline const uint64_t *swz_slot_below(const uint64_t *slot)
{
	return swz_arena_contains(*slot) ? slot - 1 : slot;
}

/* Begins one, at a time (rdtsc). SLOT: the return slot of the call by which the
 * program asks, or a place below the latest frame; what lies beneath has been
 * skipped. ID: of a span's name, or of any function. CALL_SITE: where it is
 * called from. Async-signal-safe. */
void swz_span_begin(struct swz_thread *thread, const uint64_t *slot,
		    uint32_t id, uint64_t call_site, uint64_t ticks);

/* Ends the latest one of the latest frame, if it has any that nothing else has
 * begun after: of that id only, or 0: of any name. Async-signal-safe. */
bool swz_span_end(struct swz_thread *thread, const uint64_t *slot, uint32_t id,
		  uint64_t ticks);

/* Pauses: calls pass unrecorded. One is a span of that name in what ran when it
 * began (SWZ_SPAN_PAUSED), so its time is nobody else's. The frames that are
 * open stay so; when one returns meanwhile the pause goes on in its caller.
 *
 * A paused thread has swz_paused_thread or swz_paused_process as its state: the
 * hooks find nothing in it (asm/x86_64/gate.h). A thread learns at its next
 * call that the whole process was paused, and at its next call or return that
 * it is no more. Where swizzle-ctl takes the hooks out of the code there is no
 * such call: then it puts the state aside itself, and the span is begun later,
 * with the time of the stop. All are async-signal-safe. */

/* True if a call with this return slot passes, for an entry hook. */
bool swz_pause_passes(const uint64_t *slot);

/* Before anything else is recorded of a thread that is paused: begins the span
 * if that has not been done. SLOT: see swz_span_begin. */
void swz_pause_catch_up(struct swz_thread *thread, const uint64_t *slot);

/* A frame of a thread that is paused has ended, from this slot: the pause goes
 * on above. */
void swz_pause_goes_on(struct swz_thread *thread, const uint64_t *slot);

static inline bool swz_pause_concerns(void)
{
	return swz_thread_is_paused() || swz_request_is_paused();
}

#endif
