#include "runtime/module/linked.h"

#include <link.h>
#include <string.h>

#include "runtime/module/bind.h"

extern const char swz_image_start[];

/* The linker puts itself behind all that it loads at the start. */
bool swz_came_late(void)
{
	bool linker_seen = false;

	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		if (m->l_addr == (uintptr_t)swz_image_start)
			return linker_seen;
		if (m->l_addr == _r_debug.r_ldbase)
			linker_seen = true;
	}
	return false;
}

bool swz_is_linked(void)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		struct swz_dynamic d;

		if (!swz_dynamic_read(m->l_addr, m->l_ld, &d))
			continue;
		for (const ElfW(Dyn) *e = m->l_ld; e->d_tag != DT_NULL; e++)
			if (e->d_tag == DT_NEEDED &&
			    strstr(d.strings + e->d_un.d_val, "libswizzle.so"))
				return true;
	}
	return false;
}
