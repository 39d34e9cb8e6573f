#ifndef SWZ_THUNKS_CAPSTONE_X86_ONLY_H
#define SWZ_THUNKS_CAPSTONE_X86_ONLY_H

/* Names inside capstone 4 that capstone_x86_only.c defines in place of the
 * library's own. */

#include <stddef.h>

#define SWZ_CAPSTONE_ARCHITECTURES(X) \
	X(ARM) \
	X(AArch64) \
	X(EVM) \
	X(M680X) \
	X(M68K) \
	X(Mips) \
	X(PPC) \
	X(Sparc) \
	X(SystemZ) \
	X(TMS320C64x) \
	X(XCore)

#define SWZ_DECLARE_ARCHITECTURE(name) \
	void name##_global_init(void); \
	int name##_option(size_t handle, int type, size_t value);
SWZ_CAPSTONE_ARCHITECTURES(SWZ_DECLARE_ARCHITECTURE)
#undef SWZ_DECLARE_ARCHITECTURE

void X86_Intel_printInst(void *insn, void *stream, void *info);
void X86_ATT_printInst(void *insn, void *stream, void *info);

#endif
