#include "runtime/discovery/relocated_pointers.h"

#include <string.h>

#include "runtime/module/bind.h"

struct report {
	const struct swz_module *module;
	void (*found)(void *context, uint64_t where, uint64_t to);
	void *context;
};

static void report_relocations(const struct report *r,
			       const struct swz_dynamic *d)
{
	for (uint64_t i = 0; i < d->rela_count; i++) {
		const Elf64_Rela *rela = &d->rela[i];
		const Elf64_Sym *symbol =
			&d->symbols[ELF64_R_SYM(rela->r_info)];
		uint32_t type = ELF64_R_TYPE(rela->r_info);

		if (type == R_X86_64_RELATIVE)
			r->found(r->context, rela->r_offset,
				 (uint64_t)rela->r_addend);
		else if (type == R_X86_64_64 && symbol->st_shndx != SHN_UNDEF)
			r->found(r->context, rela->r_offset,
				 symbol->st_value + (uint64_t)rela->r_addend);
	}
}

/* A word that the linker has relocated, or yet will: where a module comes later
 * one does not know which. No address in it is both. */
static void report_word(const struct report *r, uint64_t where)
{
	uint64_t value;

	memcpy(&value, swz_module_bytes(r->module, where), sizeof(value));
	r->found(r->context, where, value - r->module->load_bias);
	if (r->module->late)
		r->found(r->context, where, value);
}

/* Relative relocations packed as addresses and bitmaps of the 63 words behind
 * (gABI, SHT_RELR). */
static void report_packed(const struct report *r, const struct swz_dynamic *d)
{
	uint64_t next = 0;

	for (uint64_t i = 0; i < d->relr_count; i++) {
		uint64_t entry = d->relr[i];

		if (!(entry & 1)) {
			report_word(r, entry);
			next = entry + 8;
			continue;
		}
		for (uint64_t at = next; entry >>= 1; at += 8)
			if (entry & 1)
				report_word(r, at);
		next += UINT64_C(63) * 8;
	}
}

void swz_pointers_relocated(const struct swz_module *module,
			    void (*found)(void *context, uint64_t where,
					  uint64_t to),
			    void *context)
{
	const struct report r = {module, found, context};
	struct swz_dynamic d;

	if (!swz_dynamic_read(module->load_bias, swz_module_dynamic(module),
			      &d))
		return;
	report_relocations(&r, &d);
	report_packed(&r, &d);
}
