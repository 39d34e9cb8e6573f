/* Some systems let nothing become executable that was written to (SELinux's
 * execmod, seccomp filters, PR_SET_MDWE). The text would then stay without its
 * execute permission, which is the end of the program; so it is tried out
 * beforehand on a page of the same file that nothing runs in. */

#include "runtime/module/text.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/support/untouched.h"

#define PAGE UINT64_C(4096)

static const ElfW(Phdr) *
	segment_of(const struct swz_module *m, uint64_t address)
{
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
		    address < s->p_vaddr + s->p_memsz)
			return s;
	}
	return NULL;
}

static int protection_of(const ElfW(Phdr) * s)
{
	if (!s)
		return PROT_READ | PROT_EXEC;
	/* what is executable was made readable: runtime/module/module.c */
	return (s->p_flags & (PF_R | PF_X) ? PROT_READ : 0) |
	       (s->p_flags & PF_W ? PROT_WRITE : 0) |
	       (s->p_flags & PF_X ? PROT_EXEC : 0);
}

static char *first_page(const struct swz_module *m,
			const struct swz_range *text)
{
	return (char *)(uintptr_t)((m->load_bias + text->start) & -PAGE);
}

static uint64_t bytes_of(const struct swz_module *m,
			 const struct swz_range *text)
{
	uint64_t end = (m->load_bias + text->end + PAGE - 1) & -PAGE;

	return end - (uintptr_t)first_page(m, text);
}

bool swz_page_may_be_executed(char *page)
{
	bool may;

	if (swz_sys_mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0)
		return false;
	/* cppcheck-suppress selfAssignment */
	*(volatile char *)page = *(volatile char *)page;
	may = swz_sys_mprotect(page, PAGE, PROT_READ | PROT_EXEC) == 0;
	if (!may && swz_sys_mprotect(page, PAGE, PROT_READ) != 0)
		return false;
	return may;
}

static bool may_come_back(const struct swz_module *m)
{
	char *page = (char *)(uintptr_t)m->file.file.data;

	/* cannot be tried; the trampolines were possible */
	return !page || swz_page_may_be_executed(page);
}

bool swz_text_unlock(const struct swz_module *m, const struct swz_range *text)
{
	return may_come_back(m) &&
	       swz_sys_mprotect(first_page(m, text), bytes_of(m, text),
				PROT_READ | PROT_WRITE) == 0;
}

bool swz_text_let_go(const struct swz_module *m, const struct swz_range *text)
{
	uint64_t start = (uintptr_t)first_page(m, text);
	uint64_t bytes = bytes_of(m, text);

	return swz_is_untouched(start, start + bytes) &&
	       SWZ_SYSCALL(SYS_madvise, start, bytes, MADV_DONTNEED) == 0;
}

/* The text as the file has it: the dynamic linker writes into none (DT_TEXTREL
 * is not for x86-64). */
static void map_again(const struct swz_module *m, const struct swz_range *text)
{
	const ElfW(Phdr) *s = segment_of(m, text->start);
	const char *path = m->path[0] == '/' ? m->path : "/proc/self/exe";
	long fd = SWZ_SYSCALL(SYS_open, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (s)
		swz_sys_mmap(first_page(m, text), bytes_of(m, text),
			     protection_of(s), MAP_PRIVATE | MAP_FIXED, (int)fd,
			     (s->p_offset + text->start - s->p_vaddr) & -PAGE);
	SWZ_SYSCALL(SYS_close, fd);
}

bool swz_text_lock(const struct swz_module *m, const struct swz_range *text)
{
	int protection = protection_of(segment_of(m, text->start));

	/* twice: memory may have been short */
	for (int i = 0; i < 2; i++)
		if (swz_sys_mprotect(first_page(m, text), bytes_of(m, text),
				     protection) == 0)
			return true;
	map_again(m, text);
	return false;
}

void swz_text_will_write(struct swz_text_run *run, const uint8_t *at,
			 size_t bytes)
{
	uint64_t first = (uintptr_t)at & -PAGE;
	uint64_t end = ((uintptr_t)at + bytes + PAGE - 1) & -PAGE;

	if (bytes && first <= run->end && first >= run->start) {
		if (end > run->end)
			run->end = end;
		return;
	}
	if (run->start < run->end)
		SWZ_SYSCALL(SYS_madvise, run->start, run->end - run->start,
			    MADV_POPULATE_WRITE);
	run->start = first;
	run->end = end;
}
