#ifndef SWZ_RUNTIME_HOOKS_UNWIND_H
#define SWZ_RUNTIME_HOOKS_UNWIND_H

/* Exceptions and other unwinders, on their way through hooked frames. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "runtime/record/thread.h"
#include "thunks/arena.h"

/* The functions of one unwinder, in the module [start, end). (Itanium C++ ABI:
 * Exception Handling, 1.5 and 1.6.) */
struct swz_unwinder {
	uint64_t start;
	uint64_t end;
	/* _Unwind_GetIP, or _Unwind_GetIPInfo, which wants the second one */
	uint64_t (*get_ip)(void *context, int *is_before);
	void (*set_gr)(void *context, int index, uint64_t value);
	void (*set_ip)(void *context, uint64_t value);
	uint64_t (*get_gr)(void *context, int index); /* or NULL */
	uint64_t (*get_cfa)(void *context);           /* or NULL */
	void *resume;                                 /* _Unwind_Resume */
	/* where _Unwind_RaiseException and _Unwind_Resume are, which begin an
	 * unwinding; 0: not known, or hooked */
	struct swz_unwinder_begins {
		uint64_t start;
		uint64_t bytes;
	} raise, go_on;
	bool wraps_set_ip; /* its _Unwind_SetIP goes through our wrapper */
};

/* Provided by the runtime (src/runtime/hooks/unwind.c). The unwinder whose
 * code holds this address, or NULL if its functions cannot be found. It is in
 * the caller's room if it is not to be kept. */
const struct swz_unwinder *swz_unwinder_of(uint64_t address,
					   struct swz_unwinder *room);

/* A module has come to these addresses, or gone from there: what is known of
 * unwinders there is forgotten. */
void swz_unwinders_forget(uint64_t start, uint64_t end);

/* Provided by the runtime, too. Makes an unwinder known that exports nothing;
 * addresses are copied. False if one of its functions is missing (0), or the
 * table is full. To be called while no other thread unwinds. */
bool swz_unwinder_note(const struct swz_unwinder *unwinder) SWZ_MUST_CHECK;

/* Looks at an address that an unwinder asks about: whether it is of one that
 * tells where it will land, and begins an unwinding. */
enum swz_unwinding {
	SWZ_UNWINDING_NOT,
	SWZ_UNWINDING_RAISES,
	SWZ_UNWINDING_GOES_ON
};
enum swz_unwinding swz_unwinder_begins(uint64_t address, uint64_t *module_start,
				       uint64_t *module_end);

/* True if a loaded module exports this symbol. */
bool swz_unwinders_export(const char *name);

/* Makes thunk frames such that an unwinder passes them without our help, for
 * the rest of the process: to be called before anything can be unwound, if the
 * program holds an unwinder whose functions are not known. SWZ_E_NOTFOUND,
 * SWZ_E_SYSTEM: it could not be done, and an exception that such an unwinder
 * leads through a thunk into the very next frame would abort the program. */
enum swz_status swz_unwind_apart(void) SWZ_MUST_CHECK;

/* Called by the landing pad: the thunk's frame is gone. Accounts its exit,
 * frees it, returns the address of the _Unwind_Resume to go on with. */
void *swz_unwound(struct swz_thunk *thunk);

/* Counts, by node, the activations that an exception has ended (struct
 * swz_unwound_record in swizzle/format.h). */

/* The frame of a live thunk of the thread's is being unwound: to be said before
 * it is accounted. What there is no room for is not counted. Signals must be
 * blocked. */
void swz_unwound_note(struct swz_thread *thread, const struct swz_thunk *thunk);

/* The end of an unwinder's way past hooked frames. All are async-signal-safe.
 * See docs/internals/unwinding.md. */

/* An unwinder asks for the unwind information of this address. If that is in
 * one of its functions that begin an unwinding, the frames that it will come to
 * are exposed at once. */
void swz_landing_begin(uint64_t address);

/* The calling thread walks its stack in functions whose frames lie beneath
 * this one: that may come across such a function, too. */
void swz_landing_walk(const void *frame);

/* This exception (as a personality routine is told of it) is on its way to the
 * calling thread's next landing. */
void swz_landing_exception(const void *exception);

/* The unwinder will land in the frame whose %rsp was `cfa` when it made the
 * call from before `call_site`, at `pad`. Returns where it is to go instead: a
 * thunk that accounts the frames passed, or `pad`. */
uint64_t swz_landing_prepare(const uint64_t *cfa, uint64_t call_site,
			     uint64_t pad);

/* True if this is such a thunk; it was gone to, and slot + 1 is %rsp. Accounts
 * the frames and returns the landing pad. */
bool swz_is_landing(const struct swz_thunk *thunk);
uint64_t swz_landing_arrive(struct swz_thunk *thunk, const uint64_t *slot);

/* The wrapper of _Unwind_SetIP (asm/x86_64/wrappers.S). */
void swz_wrap_set_ip(void);

#endif
