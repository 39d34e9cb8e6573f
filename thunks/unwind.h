#ifndef SWZ_THUNKS_UNWIND_H
#define SWZ_THUNKS_UNWIND_H

#include <stdint.h>

struct swz_thunk;

/* The functions of one unwinder, in the module [start, end). (Itanium C++ ABI:
 * Exception Handling, 1.5 and 1.6.) */
struct swz_unwinder {
	uint64_t start;
	uint64_t end;
	uint64_t (*get_ip)(void *context);
	void (*set_gr)(void *context, int index, uint64_t value);
	void (*set_ip)(void *context, uint64_t value);
	void *resume; /* _Unwind_Resume */
};

/* Provided by the runtime (src/runtime/unwinders.c). The unwinder whose code
 * holds this address, or NULL if its functions cannot be found. */
const struct swz_unwinder *swz_unwinder_of(uint64_t address);

/* Notes for the calling thread that its next landing belongs to this one. */
void swz_unwind_begin(const struct swz_unwinder *unwinder);

/* Called by the landing pad: the thunk's frame is gone. Accounts its exit,
 * frees it, returns the address of the _Unwind_Resume to go on with. */
void *swz_unwound(struct swz_thunk *thunk);

#endif
