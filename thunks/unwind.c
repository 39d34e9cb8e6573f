/* The personality routine of the thunk arena (the FDE in asm/x86_64/arena.S).
 *
 * While an exception, a forced unwind or a cancellation cleans up, each thunk
 * frame installs our landing pad (asm/x86_64/support.S). That accounts the exit
 * at the moment it happens and frees the thunk; and it keeps libgcc from
 * mistaking the thunk's frame for its handler's, which has the same CFA when
 * the handler is in the very next frame.
 *
 * An unwinder that was linked into the program statically exports nothing to do
 * that with. For its sake the frames are told apart by their CFA (rsp + 1, with
 * an explicit rule for rsp); that is not done always, since nongnu libunwind
 * takes rsp from the CFA. An exit by such an exception is noticed later, like
 * one by longjmp.
 *
 * The functions that act on an unwinder's context must be that unwinder's own
 * (a program can hold several: libgcc, LLVM's, nongnu's). So they are looked up
 * in the module that called us, once for each. */

#include "thunks/unwind.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/arena.h"

enum { URC_INSTALL_CONTEXT = 7, URC_CONTINUE_UNWIND = 8 };
enum { UA_SEARCH_PHASE = 1, UA_CLEANUP_PHASE = 2 };

void swz_landing(void);
void swz_landing_return_pushed(void);
void swz_landing_rax_pushed(void);

int swz_personality(int version, int actions, uint64_t exception_class,
		    void *exception, void *context);

int swz_personality(int version, int actions, uint64_t exception_class,
		    void *exception, void *context)
{
	const struct swz_unwinder *unwinder;
	uint64_t pc, at;

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

enum swz_status swz_unwind_apart(void)
{
	/* what the CFA of asm/x86_64/arena.S begins with: an expression of 17
	 * bytes, rsp + 0, pc + 0, 63 */
	static const uint8_t program[] = {0x0f, 17, 0x77, 0};
	static const uint8_t behind[] = {0x80, 0, 0x08, 0x3f};
	static bool done;
	uint8_t *at = swz_eh_frame_start;
	char *page;
	size_t bytes;

	if (done)
		return SWZ_OK;
	while (memcmp(at, program, sizeof(program)) != 0 ||
	       memcmp(at + sizeof(program), behind, sizeof(behind)) != 0)
		if (++at + sizeof(program) + sizeof(behind) > swz_eh_frame_end)
			return SWZ_E_NOTFOUND;
	at += sizeof(program) - 1;
	page = (char *)((uintptr_t)at & -(uintptr_t)4096);
	bytes = (size_t)((char *)at - page) + 1;
	if (swz_sys_mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0)
		return SWZ_E_SYSTEM;
	*at = 1;
	swz_sys_mprotect(page, bytes, PROT_READ);
	done = true;
	return SWZ_OK;
}
