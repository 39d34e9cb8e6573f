/* The vdso is a shared object that the kernel maps: a segment that holds all of
 * it, whose dynamic section leads to symbols. Its addresses are relative to
 * where it lies, as nobody relocates it (man 7 vdso). */

#include "runtime/support/config.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "base/syscall.h"

typedef int reader(clockid_t clock, struct timespec *now);

static reader *in_vdso;

struct vdso {
	uint64_t bias;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash; /* buckets, symbols, ... (System V ABI) */
};

static const uint8_t *vdso_of(char **envp)
{
	const Elf64_auxv_t *aux;

	while (*envp)
		envp++;
	for (aux = (const Elf64_auxv_t *)(const void *)(envp + 1); aux->a_type;
	     aux++)
		if (aux->a_type == AT_SYSINFO_EHDR)
			return (const uint8_t *)(uintptr_t)aux->a_un.a_val;
	return NULL;
}

static const Elf64_Dyn *dynamic_section(const uint8_t *start, uint64_t *bias)
{
	const Elf64_Ehdr *header = (const void *)start;
	const Elf64_Phdr *segments = (const void *)(start + header->e_phoff);
	const Elf64_Dyn *dynamic = NULL;

	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD && !segments[i].p_offset)
			*bias = (uintptr_t)start - segments[i].p_vaddr;
		if (segments[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(start + segments[i].p_offset);
	}
	return dynamic;
}

static bool open_vdso(struct vdso *v, const uint8_t *start)
{
	const Elf64_Dyn *d = dynamic_section(start, &v->bias);

	for (; d && d->d_tag != DT_NULL; d++) {
		const void *at = (const void *)(v->bias + d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			v->symbols = at;
		if (d->d_tag == DT_STRTAB)
			v->strings = at;
		if (d->d_tag == DT_HASH)
			v->hash = at;
	}
	return v->symbols && v->strings && v->hash;
}

void swz_clock_begin_start(char **envp)
{
	const uint8_t *start = vdso_of(envp);
	struct vdso v = {0};

	if (!start || memcmp(start, ELFMAG, SELFMAG) != 0 ||
	    !open_vdso(&v, start))
		return;
	for (uint32_t i = 0; i < v.hash[1]; i++) {
		const Elf64_Sym *s = &v.symbols[i];

		if (s->st_shndx != SHN_UNDEF &&
		    strcmp(v.strings + s->st_name, "__vdso_clock_gettime") == 0)
			*(void **)&in_vdso = (void *)(v.bias + s->st_value);
	}
}

void swz_clock_end_start(void)
{
	in_vdso = NULL;
}

bool swz_clock_read(clockid_t clock, struct timespec *now)
{
	if (in_vdso)
		return in_vdso(clock, now) == 0;
	return SWZ_SYSCALL(SYS_clock_gettime, clock, now) == 0;
}

uint64_t swz_clock_monotonic_ns(void)
{
	struct timespec now = {0, 0};

	if (!swz_clock_read(CLOCK_MONOTONIC, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
