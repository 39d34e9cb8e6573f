/* Any bytes as an ELF file: every view lies within the file (each byte of it is
 * read, so that the address sanitizer sees one that does not). */

#include <stdlib.h>
#include <string.h>

#include "image/elf_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(struct swz_bytes bytes)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < bytes.size; i += 1 + bytes.size / 256)
		sum += bytes.data[i];
	if (bytes.size)
		sum += bytes.data[bytes.size - 1];
	sink += sum;
}

static void touch_symbols(const struct swz_elf *elf, uint32_t type)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	if (swz_elf_symbols_open(&it, elf, type) != SWZ_OK)
		return;
	while (swz_elf_symbols_next(&it, &symbol))
		sink += strlen(symbol.name) + symbol.value;
}

static void touch_elf(const struct swz_elf *elf)
{
	size_t i;

	for (i = 0; i < elf->section_count; i++)
		touch(swz_elf_section_bytes(elf, &elf->sections[i]));
	for (i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		touch(swz_elf_bytes_from(elf, segment->p_vaddr));
		touch(swz_elf_bytes_at(elf, segment->p_vaddr,
				       segment->p_memsz));
		touch(swz_elf_bytes_at(
			elf, segment->p_vaddr + segment->p_filesz - 1, 1));
	}
	sink += swz_elf_section(elf, ".text") != NULL;
	touch(swz_elf_build_id(elf));
	touch_symbols(elf, SHT_SYMTAB);
	touch_symbols(elf, SHT_DYNSYM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swz_elf elf;
	/* aligned as a mapping is, and with nothing readable behind it */
	uint8_t *copy = size ? malloc(size) : NULL;
	struct swz_bytes file = {copy, size};

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (swz_elf_open(&elf, file) == SWZ_OK)
		touch_elf(&elf);
	free(copy);
	return 0;
}
