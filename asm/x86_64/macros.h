#ifndef SWZ_ASM_MACROS_H
#define SWZ_ASM_MACROS_H

#define FUNC(name)               \
	.globl name;             \
	.hidden name;            \
	.type name, @function;   \
	.balign 16;              \
name:                            \
	.cfi_startproc

#define END(name)                \
	.cfi_endproc;            \
	.size name, . - name

/* push and pop of a register that the unwinder should find again */
.macro SAVE reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \reg, 0
.endm

.macro RESTORE reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore \reg
.endm

#endif
