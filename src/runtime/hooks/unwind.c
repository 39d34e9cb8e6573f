/* The personality routine of the thunk arena (the FDE in asm/x86_64/arena.S).
 *
 * While an exception, a forced unwind or a cancellation cleans up, a thunk's
 * frame that cannot be passed (src/runtime/hooks/landing.c) installs our
 * landing pad (asm/x86_64/landing.S). That accounts the exit at the moment it
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

#include "runtime/hooks/unwind.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/hooks/followers.h"
#include "runtime/hooks/landing.h"
#include "thunks/arena.h"

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

/* What _Unwind_Resume needs at most, where frames follow one another. */
#define NEAR_BYTES (64u << 10)

/* Whether the unwinder runs on a signal stack, and the frame is elsewhere. */
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

/* Whether the unwinder may go on past the thunk without landing. */
static bool may_pass(const struct swz_unwinder *unwinder, int actions,
		     struct swz_thunk *thunk, uint64_t pc)
{
	if (actions & UA_FORCE_UNWIND)
		swz_landing_forced();
	if (actions & UA_HANDLER_FRAME)
		return false;
	if (is_on_another_stack(thunk))
		return true;
	return swz_unwinder_tells_landing(unwinder) &&
	       !(actions & UA_FORCE_UNWIND) && pc == swz_thunk_address(thunk) &&
	       swz_landing_pass(thunk);
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
	struct swz_thunk *thunk;
	int is_before = 0;
	uint64_t pc, at;

	(void)exception_class;
	unwinder = version == 1 ? swz_unwinder_of(
					  (uint64_t)(uintptr_t)
						  __builtin_return_address(0))
				: NULL;
	if (!unwinder)
		return URC_CONTINUE_UNWIND;
	pc = unwinder->get_ip(context, &is_before);
	if (!swz_arena_contains(pc))
		return URC_CONTINUE_UNWIND;
	thunk = frame_at(unwinder, context, pc);
	if (!(actions & UA_CLEANUP_PHASE)) {
		if (swz_unwinder_tells_landing(unwinder))
			swz_landing_search(thunk);
		return URC_CONTINUE_UNWIND;
	}
	if (may_pass(unwinder, actions, thunk, pc)) {
		pass_by_its_own(unwinder, context, thunk, pc);
		return URC_CONTINUE_UNWIND;
	}
	swz_landing_exception(exception);
	swz_unwind_begin(unwinder);
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
	swz_unwinders_tell_nothing();
	done = true;
	return SWZ_OK;
}
