#include "runtime/discovery/distance_table.h"

#include <string.h>

static struct swz_bytes as_in_file(const struct swz_module *m,
				   const ElfW(Phdr) * p, uint64_t at)
{
	struct swz_bytes file = m->file.file;
	struct swz_bytes words = {swz_module_bytes(m, at),
				  p->p_vaddr + p->p_filesz - at};
	uint64_t offset = p->p_offset + (at - p->p_vaddr);

	/* what is not written to is the same, and in memory already */
	if (p->p_flags & PF_W && offset <= file.size &&
	    words.size <= file.size - offset)
		words.data = file.data + offset;
	return words;
}

struct swz_bytes swz_distance_table_at(const struct swz_module *m,
				       uint64_t table)
{
	struct swz_bytes words = {NULL, 0};

	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *p = &m->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_R &&
		    table - p->p_vaddr < p->p_filesz) {
			words = as_in_file(m, p, table);
			break;
		}
	}
	if (words.size > SWZ_MOST_ENTRIES * UINT64_C(4))
		words.size = SWZ_MOST_ENTRIES * UINT64_C(4);
	return words;
}

void swz_distance_table_read(const struct swz_module *m,
			     const struct swz_function *f, uint64_t label,
			     uint64_t table,
			     void (*found)(void *context, uint64_t to),
			     void *context)
{
	struct swz_bytes words = swz_distance_table_at(m, table);

	for (size_t at = 0; at + 4 <= words.size; at += 4) {
		int32_t distance;
		uint64_t to;

		memcpy(&distance, words.data + at, sizeof(distance));
		to = label + (uint64_t)(int64_t)distance;
		if (!swz_function_has(f, to))
			break;
		found(context, to);
	}
}
