#include "runtime/compat/resumes_itself.h"

#include <stdint.h>
#include <string.h>

static const char name[] = "swizzle_resume_process";

static bool holds_name(const char *bytes, uint64_t count)
{
	uint64_t begins, at;

	memcpy(&begins, name, sizeof(begins));
	for (uint64_t i = 0; i + sizeof(name) <= count; i++) {
		memcpy(&at, bytes + i, sizeof(at));
		if (at == begins && memcmp(bytes + i, name, sizeof(name)) == 0)
			return true;
	}
	return false;
}

static bool is_in(const struct swz_module *m)
{
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type == PT_LOAD && s->p_flags & PF_R &&
		    !(s->p_flags & PF_W) &&
		    holds_name((const char *)swz_module_bytes(m, s->p_vaddr),
			       s->p_filesz))
			return true;
	}
	return false;
}

bool swz_program_resumes_itself(const struct swz_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++)
		if (modules->of[i].in_scope && is_in(&modules->of[i]))
			return true;
	return false;
}
