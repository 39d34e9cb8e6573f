#ifndef SWZ_RUNTIME_DISCOVERY_OPERAND_H
#define SWZ_RUNTIME_DISCOVERY_OPERAND_H

/* The memory operand that ModRM and SIB describe (Intel SDM volume 2, 2.1.5).
 */

#include "thunks/encoding.h"

#define SWZ_NO_REGISTER 16u

static inline bool swz_operand_is_memory(const struct swz_encoding *e)
{
	return e->modrm_at && swz_modrm_mod(e->modrm) != 3;
}

/* Its base; SWZ_NO_REGISTER: none, or %rip. Of a memory operand, or of a
 * register, which is itself. */
static inline unsigned swz_operand_base(const struct swz_encoding *e)
{
	unsigned base = swz_modrm_rm(e->modrm);

	if (swz_encoding_rip_relative(e))
		return SWZ_NO_REGISTER;
	if (swz_encoding_has_sib(e)) {
		base = e->sib & 7u;
		if (base == 5 && swz_modrm_mod(e->modrm) == 0)
			return SWZ_NO_REGISTER;
	}
	return base | (e->extends_base ? 8u : 0);
}

/* Its index; SWZ_NO_REGISTER: none. */
static inline unsigned swz_operand_index(const struct swz_encoding *e)
{
	unsigned index = (e->sib >> 3 & 7u) | (e->extends_index ? 8u : 0);

	return swz_encoding_has_sib(e) && index != 4 ? index : SWZ_NO_REGISTER;
}

/* The general register that the instruction sets, in the forms that compilers
 * use; SWZ_NO_REGISTER: none, or it is another form. */
unsigned swz_operand_set(const struct swz_encoding *e);

#endif
