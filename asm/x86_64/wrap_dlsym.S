#include "macros.h"
#include "offsets.h"

	.text

/* Wrapper of dlsym and dlvsym where a module calls them
 * (src/runtime/imports/pointers.c): %r10 = that module's struct swz_dlsym_way,
 * %rax = the real function, or the way through the PLT to the dynamic linker. It
 * looks which module its return address is in. So it returns to a `ret` in the
 * caller's, which returns to us; and, if the caller is in another one, or where that
 * `ret` was is something else, to the caller. */
FUNC(swz_wrap_dlsym)
	movq	(%rsp), %rcx
	cmpq	SWZ_DLSYM_START(%r10), %rcx
	jb	1f
	cmpq	SWZ_DLSYM_END(%r10), %rcx
	jae	1f
	movq	SWZ_DLSYM_RETURN(%r10), %rcx
	cmpb	$0xc3, (%rcx)
	jne	1f
	leaq	2f(%rip), %r10
	PUSH	%r10
	PUSH	%rcx
	jmp	*%rax
	.cfi_def_cfa_offset 8
1:	jmp	*%rax			/* its row is the one for a return to 2 */
2:	leaq	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rax, %rdi
	call	swz_pointer_of
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
END(swz_wrap_dlsym)

	.section .note.GNU-stack, "", @progbits
