/* The rules are those of glibc's do_lookup_x and check_match: a reference with
 * a version takes a definition with the same one, or an unversioned one; one
 * without takes the base or default version. */

#include "runtime/module/bind.h"

#include <elf.h>
#include <string.h>

/* DT_RELRSZ and DT_RELR: not in all headers yet. */
enum { TAG_RELRSZ = 35, TAG_RELR = 36 };

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Whether the linker has relocated the pointer in place: then it leads near to
 * where it is. (The bias of a module that is linked at a higher address than it
 * is mapped at is a negative number.) */
static bool is_relocated(const struct swz_dynamic *d, const ElfW(Dyn) * entry)
{
	uint64_t place = (uintptr_t)entry, to = entry->d_un.d_ptr;

	return distance(to, place) <= distance(to + d->load_bias, place);
}

static void note(struct swz_dynamic *d, const ElfW(Dyn) * entry)
{
	const void *p = (const void *)entry->d_un.d_ptr;

	if (entry->d_tag == DT_RELASZ)
		d->rela_count = entry->d_un.d_val / sizeof(Elf64_Rela);
	if (entry->d_tag == DT_PLTRELSZ)
		d->jmprel_count = entry->d_un.d_val / sizeof(Elf64_Rela);
	if (entry->d_tag == TAG_RELRSZ)
		d->relr_count = entry->d_un.d_val / sizeof(uint64_t);
	/* the linker relocates all but these in place (but for the vdso's) */
	if (entry->d_tag == DT_VERNEED || entry->d_tag == DT_VERDEF) {
		if (!is_relocated(d, entry))
			p = (const char *)p + d->load_bias;
	} else if (!is_relocated(d, entry)) {
		return;
	}
	switch (entry->d_tag) {
	case DT_SYMTAB:
		d->symbols = p;
		break;
	case DT_STRTAB:
		d->strings = p;
		break;
	case DT_GNU_HASH:
		d->hash = p;
		break;
	case DT_VERSYM:
		d->versyms = p;
		break;
	case DT_VERNEED:
		d->verneed = p;
		break;
	case DT_VERDEF:
		d->verdef = p;
		break;
	case DT_RELA:
		d->rela = p;
		break;
	case DT_JMPREL:
		d->jmprel = p;
		break;
	case TAG_RELR:
		d->relr = p;
		break;
	}
}

bool swz_dynamic_read(uint64_t load_bias, const ElfW(Dyn) * entry,
		      struct swz_dynamic *dynamic)
{
	memset(dynamic, 0, sizeof(*dynamic));
	dynamic->load_bias = load_bias;
	for (; entry && entry->d_tag != DT_NULL; entry++)
		note(dynamic, entry);
	if (!dynamic->rela)
		dynamic->rela_count = 0;
	if (!dynamic->jmprel)
		dynamic->jmprel_count = 0;
	if (!dynamic->relr)
		dynamic->relr_count = 0;
	return dynamic->symbols && dynamic->strings;
}

/* The version that a reference asks for; NULL: none. */
static const char *wanted_version(const struct swz_dynamic *from,
				  uint32_t symbol)
{
	uint16_t index;

	if (!from->versyms || !from->verneed)
		return NULL;
	index = from->versyms[symbol] & 0x7fff;
	if (index < 2)
		return NULL;
	for (const Elf64_Verneed *n = from->verneed;;) {
		const Elf64_Vernaux *a = (const void *)((const char *)n +
							n->vn_aux);

		for (unsigned i = 0; i < n->vn_cnt; i++) {
			if ((a->vna_other & 0x7fff) == index)
				return from->strings + a->vna_name;
			a = (const void *)((const char *)a + a->vna_next);
		}
		if (!n->vn_next)
			return NULL;
		n = (const void *)((const char *)n + n->vn_next);
	}
}

static const char *defined_version(const struct swz_dynamic *m, uint16_t index)
{
	for (const Elf64_Verdef *d = m->verdef; d;) {
		if (d->vd_ndx == index) {
			const Elf64_Verdaux *a =
				(const void *)((const char *)d + d->vd_aux);

			return m->strings + a->vda_name;
		}
		if (!d->vd_next)
			break;
		d = (const void *)((const char *)d + d->vd_next);
	}
	return "";
}

static bool has_version(const struct swz_dynamic *m, uint32_t symbol,
			const char *wanted)
{
	bool hidden;
	uint16_t index;

	if (!m->versyms)
		return true;
	hidden = m->versyms[symbol] & 0x8000;
	index = m->versyms[symbol] & 0x7fff;
	if (!wanted)
		return index < 3 || !hidden;
	return strcmp(defined_version(m, index), wanted) == 0 ||
	       (index < 2 && !hidden);
}

static bool is_definition(const Elf64_Sym *s)
{
	unsigned binding = ELF64_ST_BIND(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value &&
	       (binding == STB_GLOBAL || binding == STB_WEAK ||
		binding == STB_GNU_UNIQUE);
}

const Elf64_Sym *swz_dynamic_find(const struct swz_dynamic *module,
				  const struct swz_dynamic *from,
				  uint32_t symbol)
{
	const char *name = from->strings + from->symbols[symbol].st_name;
	const uint32_t *table = module->hash, *bucket, *chain;
	const uint64_t *bloom;
	const char *version;
	uint32_t hash = 5381, i;
	uint64_t word;

	if (!table || !table[0] || !table[2])
		return NULL;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	/* buckets, first symbol, words of the Bloom filter, its second shift */
	bloom = (const uint64_t *)(const void *)(table + 4);
	word = bloom[hash / 64 % table[2]];
	if (!(word >> (hash % 64) & word >> ((hash >> table[3]) % 64) & 1))
		return NULL;
	bucket = table + 4 + 2 * (size_t)table[2];
	chain = bucket + table[0];
	i = bucket[hash % table[0]];
	if (i < table[1])
		return NULL;
	version = wanted_version(from, symbol);
	for (;; i++) {
		uint32_t h = chain[i - table[1]];
		const Elf64_Sym *s = &module->symbols[i];

		if ((h | 1) == (hash | 1) && is_definition(s) &&
		    strcmp(module->strings + s->st_name, name) == 0 &&
		    has_version(module, i, version))
			return s;
		if (h & 1)
			return NULL;
	}
}
