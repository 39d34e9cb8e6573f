#include "runtime/discovery/profile_calls.h"

#include "runtime/module/bind.h"
#include "thunks/encoding.h"

static const char *const names[] = {"__cyg_profile_func_enter",
				    "__cyg_profile_func_exit"};

static bool is_name(const char *name)
{
	return strcmp(name, names[0]) == 0 || strcmp(name, names[1]) == 0;
}

static void find_slots(struct swz_profile_calls *c, const Elf64_Rela *table,
		       uint64_t count, const struct swz_dynamic *d)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t type = ELF64_R_TYPE(table[i].r_info);
		const Elf64_Sym *symbol =
			&d->symbols[ELF64_R_SYM(table[i].r_info)];

		if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
		    c->slot_count < sizeof(c->slots) / sizeof(c->slots[0]) &&
		    is_name(d->strings + symbol->st_name))
			c->slots[c->slot_count++] = table[i].r_offset;
	}
}

void swz_profile_calls_find(struct swz_profile_calls *c,
			    const struct swz_module *m)
{
	struct swz_dynamic d;

	*c = (struct swz_profile_calls){.function_count = 0};
	for (unsigned i = 0; i < 2; i++) {
		struct swz_elf_symbol symbol;

		if (swz_module_symbol(m, names[i], &symbol))
			c->functions[c->function_count++] = symbol.value;
	}
	if (!swz_dynamic_read(m->load_bias, swz_module_dynamic(m), &d))
		return;
	find_slots(c, d.jmprel, d.jmprel_count, &d);
	find_slots(c, d.rela, d.rela_count, &d);
}

static bool is_slot(const struct swz_profile_calls *c, uint64_t address)
{
	for (unsigned i = 0; i < c->slot_count; i++)
		if (c->slots[i] == address)
			return true;
	return false;
}

/* call and jmp through memory, with or without a prefix (bnd, notrack). */
enum { CALL = 2, JUMP = 4 };

static bool goes_by_slot(const struct swz_profile_calls *c,
			 const struct swz_module *m, uint64_t pc, uint64_t end,
			 unsigned how)
{
	struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
	struct swz_encoding e;

	return swz_encoding_read(code, &e) == SWZ_OK &&
	       e.map == SWZ_MAP_ONE_BYTE && e.opcode == 0xff &&
	       swz_modrm_reg(e.modrm) == how && swz_encoding_rip_relative(&e) &&
	       is_slot(c, swz_module_relative(m, pc + e.displacement_at));
}

/* endbr64 and the number of a relocation may come before the jump. */
static bool is_stub(const struct swz_profile_calls *c,
		    const struct swz_module *m, uint64_t pc, uint64_t end)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t mov[] = {0x41, 0xbb}; /* $number, %r11d */

	if (end - pc > sizeof(endbr) &&
	    memcmp(swz_module_bytes(m, pc), endbr, sizeof(endbr)) == 0)
		pc += sizeof(endbr);
	if (end - pc > 6 &&
	    memcmp(swz_module_bytes(m, pc), mov, sizeof(mov)) == 0)
		pc += 6;
	return goes_by_slot(c, m, pc, end, JUMP);
}

bool swz_profile_calls_has(const struct swz_profile_calls *c,
			   const struct swz_module *m, uint64_t pc,
			   uint64_t end)
{
	uint64_t to;

	if (!c->function_count && !c->slot_count)
		return false;
	if (end - pc < 5 || *swz_module_bytes(m, pc) != 0xe8)
		return goes_by_slot(c, m, pc, end, CALL);
	to = swz_module_relative(m, pc + 1);
	for (unsigned i = 0; i < c->function_count; i++)
		if (c->functions[i] == to)
			return true;
	for (unsigned i = 0; i < m->plt_count; i++)
		if (to >= m->plt[i].start && to < m->plt[i].end)
			return is_stub(c, m, to, m->plt[i].end);
	return false;
}
