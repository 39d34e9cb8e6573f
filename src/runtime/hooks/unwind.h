#ifndef SWZ_RUNTIME_HOOKS_UNWIND_H
#define SWZ_RUNTIME_HOOKS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct swz_thunk;

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

/* Provided by the runtime (src/runtime/hooks/unwinders.c). The unwinder whose
 * code holds this address, or NULL if its functions cannot be found. */
const struct swz_unwinder *swz_unwinder_of(uint64_t address);

/* A module has come to these addresses, or gone from there: what is known of
 * unwinders there is forgotten. */
void swz_unwinders_forget(uint64_t start, uint64_t end);

/* Provided by the runtime, too. Makes an unwinder known that exports nothing;
 * addresses are copied. False if one of its functions is missing (0), or the
 * table is full. To be called while no other thread unwinds. */
bool swz_unwinder_note(const struct swz_unwinder *unwinder) SWZ_MUST_CHECK;

/* Whether it will tell where it lands: never once frames are told apart by
 * their CFAs (swz_unwind_apart), by which it finds its handler again. */
bool swz_unwinder_tells_landing(const struct swz_unwinder *unwinder);
void swz_unwinders_tell_nothing(void);

/* Looks at an address that an unwinder asks about: whether it is of one that
 * tells where it will land, and begins an unwinding. */
enum swz_unwinding {
	SWZ_UNWINDING_NOT,
	SWZ_UNWINDING_RAISES,
	SWZ_UNWINDING_GOES_ON
};
enum swz_unwinding swz_unwinder_begins(uint64_t address, uint64_t *module_start,
				       uint64_t *module_end);

/* Notes for the calling thread that its next landing belongs to this one. */
void swz_unwind_begin(const struct swz_unwinder *unwinder);

/* Whether a loaded module exports this symbol. */
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

#endif
