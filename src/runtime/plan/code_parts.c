#include "runtime/plan/code_parts.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/discovery/function.h"
#include "runtime/module/known_code.h"

#define LONGEST_PADDING 15u

static bool is_next_to(const struct swz_function *f,
		       const struct swz_code_part *part)
{
	return f->start <= (uint64_t)part->end + LONGEST_PADDING;
}

static uint32_t fill(struct swz_code_part *parts, const struct swz_module *m)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];
		uint32_t end = (uint32_t)(f->start + f->size);
		struct swz_code_part *last = count ? &parts[count - 1] : NULL;

		if (!last || !is_next_to(f, last))
			parts[count++] = (struct swz_code_part){
				(uint32_t)f->start, end};
		else if (end > last->end)
			last->end = end;
	}
	return count;
}

bool swz_plan_note_code(const struct swz_module *m, uint32_t end)
{
	struct swz_code_part *parts;

	if (!m->tableless || !m->function_count)
		return true;
	parts = swz_sys_mmap(NULL, m->function_count * sizeof(*parts),
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return parts && swz_known_code_note(m, end, parts, fill(parts, m));
}
