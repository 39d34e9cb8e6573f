#include "macros.h"

	.text

/* What the dynamic linker calls instead of its _dl_debug_state (src/runtime/
 * late.c): that first, so that a debugger may look and set its breakpoints, then
 * ours. An ordinary function. */
FUNC(swz_linker_stub)
	SAVE	%rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	*swz_linker_state(%rip)
	call	swz_linker_event
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	RESTORE	%rbp
	ret
END(swz_linker_stub)

	.section .note.GNU-stack, "", @progbits
