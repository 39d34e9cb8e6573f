#include "runtime/discovery/readers.h"

#include <string.h>

#include "runtime/discovery/text_maps.h"
#include "runtime/module/bind.h"

bool swz_is_reader_name(const char *name)
{
	static const char *const names[] = {
		"dlopen",
		"dlmopen",
		"dlsym",
		"dlvsym",
		"dladdr1",
		"dl_iterate_phdr",
		"setjmp",
		"_setjmp",
		"__sigsetjmp",
		"sigsetjmp",
		"getcontext",
		"swapcontext",
		"vfork",
		"__vfork",
		"_Unwind_RaiseException",
		"_Unwind_Resume",
		"_Unwind_Resume_or_Rethrow",
		"_Unwind_ForcedUnwind",
		"_Unwind_Backtrace",
		"backtrace",
		"mcount",
		"_mcount",
		"__fentry__",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

void swz_readers_find(struct swz_readers *readers, const struct swz_module *m)
{
	struct swz_dynamic d;
	const Elf64_Rela *tables[2];
	uint64_t counts[2];

	readers->slot_count = 0;
	if (!swz_dynamic_read(m->load_bias, swz_module_dynamic(m), &d))
		return;
	tables[0] = d.jmprel;
	counts[0] = d.jmprel_count;
	tables[1] = d.rela;
	counts[1] = d.rela_count;
	for (unsigned t = 0; t < 2; t++) {
		for (uint64_t i = 0; i < counts[t]; i++) {
			const Elf64_Rela *rela = &tables[t][i];
			uint32_t type = ELF64_R_TYPE(rela->r_info);
			const Elf64_Sym *symbol =
				&d.symbols[ELF64_R_SYM(rela->r_info)];

			if ((type == R_X86_64_JUMP_SLOT ||
			     type == R_X86_64_GLOB_DAT) &&
			    readers->slot_count < SWZ_MAX_READERS &&
			    swz_is_reader_name(d.strings + symbol->st_name))
				readers->slots[readers->slot_count++] =
					rela->r_offset;
		}
	}
}

bool swz_is_reader_slot(const struct swz_readers *readers, uint64_t address)
{
	for (unsigned i = 0; i < readers->slot_count; i++)
		if (readers->slots[i] == address)
			return true;
	return false;
}

bool swz_is_reader_stub(const struct swz_readers *readers, uint64_t address)
{
	for (unsigned i = 0; i < readers->stub_count; i++)
		if (readers->stubs[i] == address)
			return true;
	return false;
}

static void note_stub(struct swz_readers *readers, const struct swz_module *m,
		      uint64_t stub)
{
	if (readers->stub_count < 2 * SWZ_MAX_READERS)
		readers->stubs[readers->stub_count++] = stub;
	swz_text_mark(m, SWZ_TEXT_MARKS, stub);
}

/* Where the PLT entry begins whose jump through memory is at this offset:
 * entries of 8 bytes are no more than that (with bnd before it), others have 16
 * and more before it (endbr64; mold's the relocation's index, too). */
static uint64_t begin_of_entry(uint64_t at)
{
	return at & (at % 8 < 2 ? -8ull : -16ull);
}

/* PLT entries that jump through one of the slots; or which, against speculation
 * (-z retpolineplt), begin with a load of it to %r11. */
void swz_readers_mark_stubs(struct swz_readers *readers,
			    const struct swz_module *m)
{
	readers->stub_count = 0;
	for (unsigned i = 0; i < m->plt_count && readers->slot_count; i++) {
		uint64_t start = m->plt[i].start, end = m->plt[i].end;
		const uint8_t *code = swz_module_bytes(m, start);

		for (uint64_t at = 0; at + 6 <= end - start; at++) {
			const uint8_t *c = code + at;
			bool jumps = c[0] == 0xff && c[1] == 0x25;
			uint64_t slot;

			if (!jumps && (c[0] != 0x4c || c[1] != 0x8b ||
				       c[2] != 0x1d || at + 7 > end - start))
				continue;
			slot = swz_module_relative(m, start + at +
							      (jumps ? 2 : 3));
			if (swz_is_reader_slot(readers, slot))
				note_stub(readers, m,
					  start + (jumps ? begin_of_entry(at)
							 : at));
		}
	}
}
