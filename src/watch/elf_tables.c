#include "watch/elf_tables.h"

#include <string.h>
#include <unistd.h>

/* What cannot be read is zeros, and says nothing. A file of which sections lie
 * on top of each other, thousands of times, is not worth the time. */
static void copy_part(struct swz_elf_tables *tables, uint64_t offset,
		      uint64_t size)
{
	if (size <= tables->copy.size &&
	    tables->copy.copied <= tables->copy.size)
		(void)!swz_elf_copy_read(&tables->copy, tables->fd, offset,
					 size);
}

static void copy_section(struct swz_elf_tables *tables,
			 const Elf64_Shdr *section)
{
	if (section && section->sh_type != SHT_NOBITS)
		copy_part(tables, section->sh_offset, section->sh_size);
}

static void copy_notes(struct swz_elf_tables *tables)
{
	const struct swz_elf *elf = &tables->elf;

	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_NOTE)
			copy_part(tables, elf->segments[i].p_offset,
				  elf->segments[i].p_filesz);
	copy_section(tables, swz_elf_section(elf, ".note.gnu.build-id"));
}

void swz_elf_tables_copy(struct swz_elf_tables *tables)
{
	const struct swz_elf *elf = &tables->elf;

	if (tables->fd < 0)
		return;
	for (size_t i = 0; i < elf->section_count; i++) {
		const Elf64_Shdr *s = &elf->sections[i];

		if (s->sh_type != SHT_SYMTAB && s->sh_type != SHT_DYNSYM &&
		    s->sh_type != SHT_DYNAMIC)
			continue;
		copy_section(tables, s);
		if (s->sh_link < elf->section_count)
			copy_section(tables, &elf->sections[s->sh_link]);
	}
	copy_section(tables, swz_elf_section(elf, ".eh_frame"));
	close(tables->fd);
	tables->fd = -1;
}

bool swz_elf_tables_open(struct swz_elf_tables *tables, int fd)
{
	memset(tables, 0, sizeof(*tables));
	tables->fd = fd;
	if (!swz_elf_copy_open(&tables->copy, fd)) {
		close(fd);
		tables->fd = -1;
		return false;
	}
	tables->elf = tables->copy.elf;
	copy_notes(tables);
	return true;
}

void swz_elf_tables_close(struct swz_elf_tables *tables)
{
	if (tables->fd >= 0)
		close(tables->fd);
	tables->fd = -1;
	swz_elf_copy_close(&tables->copy);
}
