#include "runtime/discovery/distance_table.h"

#include <string.h>

uint64_t swz_distance_table_end(const struct swz_module *m, uint64_t table)
{
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *p = &m->segments[i];
		uint64_t end = p->p_vaddr + p->p_filesz;

		if (p->p_type == PT_LOAD && p->p_flags & PF_R &&
		    table - p->p_vaddr < p->p_filesz)
			return end - table > SWZ_MOST_ENTRIES * UINT64_C(4)
				       ? table + SWZ_MOST_ENTRIES * UINT64_C(4)
				       : end;
	}
	return 0;
}

void swz_distance_table_read(const struct swz_module *m,
			     const struct swz_function *f, uint64_t label,
			     uint64_t table,
			     void (*found)(void *context, uint64_t to),
			     void *context)
{
	uint64_t end = swz_distance_table_end(m, table);

	for (; table + 4 <= end; table += 4) {
		int32_t distance;
		uint64_t to;

		memcpy(&distance, swz_module_bytes(m, table), sizeof(distance));
		to = label + (uint64_t)(int64_t)distance;
		if (!swz_function_has(f, to))
			break;
		found(context, to);
	}
}
