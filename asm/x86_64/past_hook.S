/* The way past a hook: where a trampoline goes, in place of its hook, whose function
 * is not to be hooked at present though the jump to the trampoline stays
 * (SWZ_SITE_LASTS).
 *
 * In:   as in enter.S. Out: to the body, every register and flag as at entry. */

#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

FUNC(swz_past_hook)
	BEGIN_HOOK
	movq	%rax, -8(%rsp)			/* as in enter.S, S-80 */
	RESTORE	%rax
	jmpq	*-16(%rsp)
END(swz_past_hook)

	.section .note.GNU-stack, "", @progbits
