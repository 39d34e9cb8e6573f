/* Keeps capstone small: its cs.o names the entry points of every architecture,
 * each of which would pull a disassembler of its own out of libcapstone.a. They
 * are defined here instead, so that the linker takes the x86 members alone. For
 * these architectures cs_open() then gives handles that cannot decode: nobody
 * may ask for one.
 *
 * The two printers of x86 are replaced as well. They would write mnemonics and
 * operands, which nothing here reads, and take half of the decoding time. */

#include <capstone/capstone.h>
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

#define DECLARE_ARCHITECTURE(name) \
	void name##_global_init(void); \
	int name##_option(size_t handle, int type, size_t value);
ARCHITECTURES(DECLARE_ARCHITECTURE)
#undef DECLARE_ARCHITECTURE

void X86_Intel_printInst(void *insn, void *stream, void *info);
void X86_ATT_printInst(void *insn, void *stream, void *info);

#define DEFINE_ARCHITECTURE(name) \
	void name##_global_init(void) \
	{ \
	} \
	int name##_option(size_t handle, int type, size_t value) \
	{ \
		(void)handle; \
		(void)type; \
		(void)value; \
		return CS_ERR_OPTION; \
	}

ARCHITECTURES(DEFINE_ARCHITECTURE)

void X86_Intel_printInst(void *insn, void *stream, void *info)
{
	(void)insn;
	(void)stream;
	(void)info;
}

void X86_ATT_printInst(void *insn, void *stream, void *info)
{
	(void)insn;
	(void)stream;
	(void)info;
}
