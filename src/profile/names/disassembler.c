/* Keeps capstone small, as thunks/capstone_x86_only.c does, but with the
 * printers of x86: its cs.o names the entry points of every architecture, each
 * of which would pull a disassembler of its own out of libcapstone.a. They are
 * weak, for unit tests link both files. */

#include "profile/names/disassembler.h"

#include <stddef.h>

/* The names inside capstone 4. */
#define ARCHITECTURES(X) \
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

#define DEFINE_ARCHITECTURE(name) \
	void name##_global_init(void); \
	int name##_option(size_t handle, int type, size_t value); \
	__attribute__((weak)) void name##_global_init(void) \
	{ \
	} \
	__attribute__((weak)) int name##_option(size_t handle, int type, \
						size_t value) \
	{ \
		(void)handle; \
		(void)type; \
		(void)value; \
		return CS_ERR_ARCH; \
	}
ARCHITECTURES(DEFINE_ARCHITECTURE)

bool swz_disassembler_open(csh *handle, bool intel)
{
	if (cs_open(CS_ARCH_X86, CS_MODE_64, handle) != CS_ERR_OK)
		return false;
	cs_option(*handle, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(*handle, CS_OPT_SYNTAX,
		  intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	return true;
}
