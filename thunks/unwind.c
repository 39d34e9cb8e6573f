/* The personality routine of the thunk arena (the FDE in asm/x86_64/arena.S).
 *
 * While an exception, a forced unwind or a cancellation cleans up, each thunk
 * frame installs our landing pad (asm/x86_64/support.S). That accounts the exit
 * at the moment it happens and frees the thunk; and it keeps libgcc from
 * mistaking the thunk's frame for its handler's, which has the same CFA when
 * the handler is in the very next frame.
 *
 * The functions that act on an unwinder's context must be that unwinder's own
 * (a program can hold several: libgcc, LLVM's, nongnu's). So they are looked up
 * in the module that called us, once for each. */

#include "thunks/unwind.h"

#include <stdatomic.h>
#include <stddef.h>

#include "thunks/arena.h"

enum { URC_INSTALL_CONTEXT = 7, URC_CONTINUE_UNWIND = 8 };
enum { UA_SEARCH_PHASE = 1, UA_CLEANUP_PHASE = 2 };

void swz_landing(void);

int swz_personality(int version, int actions, uint64_t exception_class,
		    void *exception, void *context);

int swz_personality(int version, int actions, uint64_t exception_class,
		    void *exception, void *context)
{
	const struct swz_unwinder *unwinder;
	uint64_t pc;

	(void)exception_class;
	if (version != 1 || !(actions & UA_CLEANUP_PHASE))
		return URC_CONTINUE_UNWIND;
	unwinder = swz_unwinder_of(
		(uint64_t)(uintptr_t)__builtin_return_address(0));
	if (!unwinder)
		return URC_CONTINUE_UNWIND;
	pc = unwinder->get_ip(context);
	if (!swz_arena_contains(pc))
		return URC_CONTINUE_UNWIND;
	swz_unwind_begin(unwinder);
	unwinder->set_gr(context, 0, (uintptr_t)exception);
	unwinder->set_gr(context, 1, (uintptr_t)swz_arena_thunk_at(pc));
	unwinder->set_ip(context, (uintptr_t)&swz_landing);
	return URC_INSTALL_CONTEXT;
}
