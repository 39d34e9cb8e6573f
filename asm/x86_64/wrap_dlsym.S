#include "macros.h"
#include "offsets.h"

	.text

/* Wrapper of dlsym and dlvsym where a module calls them (src/runtime/
 * import_pointers.c): %r10 = that module's struct swz_dlsym_way. The real
 * function looks which module its return address is in. So it returns to a `ret`
 * in the caller's, which returns to us; and, if the caller is in another one,
 * or where that `ret` was is something else, to the caller. */
FUNC(swz_wrap_dlsym)
	movq	(%rsp), %rax
	cmpq	SWZ_DLSYM_START(%r10), %rax
	jb	1f
	cmpq	SWZ_DLSYM_END(%r10), %rax
	jae	1f
	movq	SWZ_DLSYM_RETURN(%r10), %rax
	cmpb	$0xc3, (%rax)
	jne	1f
	leaq	2f(%rip), %r10
	PUSH	%r10
	PUSH	%rax
	jmp	*%r11
	.cfi_def_cfa_offset 8
1:	jmp	*%r11			/* its row is the one for a return to 2 */
2:	leaq	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rax, %rdi
	call	swz_pointer_of
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
END(swz_wrap_dlsym)

	.section .note.GNU-stack, "", @progbits
