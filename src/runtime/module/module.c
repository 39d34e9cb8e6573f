/* The modules of the process: their segments, texts and tables in memory, and
 * the file of each. The file may be another one than the one that is mapped,
 * and is used only if its build-id or its text says that it is the same. */

#include "runtime/module/module.h"

#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "image/elf_view.h"
#include "runtime/module/loaded.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch_memory.h"
#include "swizzle/format.h"

/* ---------------------------------------- pages that nobody has written to */

/* /proc/self/pagemap has 8 bytes for each page. Of one that was written to the
 * process has a copy of its own, which is no page of a file. */

#define PRESENT (UINT64_C(1) << 63)
#define SWAPPED (UINT64_C(1) << 62)
#define OF_FILE (UINT64_C(1) << 61)

static bool is_copy(uint64_t entry)
{
	return entry & SWAPPED || (entry & PRESENT && !(entry & OF_FILE));
}

static bool are_of_file(int fd, uint64_t page, uint64_t end)
{
	uint64_t entries[256];

	while (page < end) {
		uint64_t count = end - page < 256 ? end - page : 256;
		long r = SWZ_SYSCALL(SYS_pread64, fd, entries,
				     count * sizeof(*entries),
				     page * sizeof(*entries));

		if (r != (long)(count * sizeof(*entries)))
			return false;
		for (uint64_t i = 0; i < count; i++)
			if (is_copy(entries[i]))
				return false;
		page += count;
	}
	return true;
}

/* True if the kernel says that [start, end), part of a private mapping of a
 * file, has not been written to. False: it has, or it is not known. */
static bool is_untouched(uint64_t start, uint64_t end)
{
	static uint64_t written = 1; /* a page that is a copy, to be sure */
	uint64_t own = (uintptr_t)&written / SWZ_PAGE;
	long fd = SWZ_SYSCALL(SYS_openat, AT_FDCWD, "/proc/thread-self/pagemap",
			      O_RDONLY | O_CLOEXEC);
	bool untouched;

	if (fd < 0)
		return false;
	__atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
	untouched = !are_of_file((int)fd, own, own + 1) &&
		    are_of_file((int)fd, start / SWZ_PAGE,
				(end + SWZ_PAGE - 1) / SWZ_PAGE);
	SWZ_SYSCALL(SYS_close, fd);
	return untouched;
}

/* ----------------------------------------------------------- writable text */

/* Some systems let nothing become executable that was written to (SELinux's
 * execmod, seccomp filters, PR_SET_MDWE). The text would then stay without its
 * execute permission, which is the end of the program; so it is tried out
 * beforehand on a page of the same file that nothing runs in. */

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
	return (char *)(uintptr_t)swz_page_down(m->load_bias + text->start);
}

static uint64_t bytes_of(const struct swz_module *m,
			 const struct swz_range *text)
{
	uint64_t end = swz_page_up(m->load_bias + text->end);

	return end - (uintptr_t)first_page(m, text);
}

bool swz_page_may_be_executed(char *page)
{
	bool may;

	if (swz_sys_mprotect(page, SWZ_PAGE, PROT_READ | PROT_WRITE) != 0)
		return false;
	/* cppcheck-suppress selfAssignment */
	*(volatile char *)page = *(volatile char *)page;
	may = swz_sys_mprotect(page, SWZ_PAGE, PROT_READ | PROT_EXEC) == 0;
	if (!may && swz_sys_mprotect(page, SWZ_PAGE, PROT_READ) != 0)
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

	return is_untouched(start, start + bytes) &&
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
			     (s->p_offset + text->start - s->p_vaddr) &
				     -SWZ_PAGE);
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
	uint64_t first = swz_page_down((uintptr_t)at);
	uint64_t end = swz_page_up((uintptr_t)at + bytes);

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

/* ------------------------------------------------- modules and their files */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool starts_with(const char *string, const char *prefix)
{
	return strncmp(string, prefix, strlen(prefix)) == 0;
}

/* ld.so and we ourselves are never hooked, whatever is asked. */
static bool is_untouchable(const char *name)
{
	return starts_with(name, "ld-linux") || starts_with(name, "ld.so") ||
	       starts_with(name, "linux-vdso") ||
	       starts_with(name, "libswizzle.so");
}

static bool is_libc(const char *name)
{
	return starts_with(name, "libc.so") || starts_with(name, "libc-2.") ||
	       starts_with(name, "libpthread.so") ||
	       starts_with(name, "libpthread-2.");
}

static bool is_left_out_by_default(const char *name)
{
	return is_libc(name) || starts_with(name, "libm.so") ||
	       starts_with(name, "libmvec.so") || starts_with(name, "libm-2.");
}

struct swz_pattern_hits swz_module_hits;

/* CALLED: another path of it, or NULL. */
static bool in_scope(const char *path, const char *called)
{
	const char *name = base_name(path);
	const char *names[] = {name, path, called ? base_name(called) : NULL,
			       called};
	bool wanted = !is_left_out_by_default(name);
	unsigned found;

	if (is_untouchable(name))
		return false;
	found = swz_patterns_find(swz_config.module, names, called ? 4 : 2,
				  &swz_module_hits);
	if (swz_patterns_any_positive(swz_config.module))
		wanted = found & SWZ_PATTERN_WANTS;
	return wanted && !(found & SWZ_PATTERN_EXCLUDES);
}

struct listing {
	struct swz_module *modules;
	unsigned count, room;
	enum swz_status status;
};

static const char *program_path(const void *inside)
{
	char *path = swz_scratch_alloc(4096);

	return path && swz_program_file(path, 4096, inside) ? path : "program";
}

static void add_text(struct swz_module *m, uint64_t start, uint64_t bytes)
{
	if (m->text_count == SWZ_MAX_TEXT_RANGES) {
		m->texts_left_out = true;
		return;
	}
	m->text[m->text_count].start = start;
	m->text[m->text_count++].end = start + bytes;
}

/* A name that is relative to the working directory, made absolute. */
static const char *absolute(const char *path)
{
	size_t length = strlen(path) + 1;
	char *whole;
	long n;

	if (path[0] == '/' || !strchr(path, '/'))
		return path;
	whole = swz_scratch_alloc(4096 + length);
	n = whole ? SWZ_SYSCALL(SYS_getcwd, whole, 4096) : -1;
	if (n <= 1)
		return path;
	if (whole[n - 2] != '/')
		whole[n++ - 1] = '/';
	memcpy(whole + n - 1, path, length);
	return whole;
}

/* Text in a segment without read permission (execute-only: processors with
 * protection keys heed that) is made readable, and stays so. If it cannot be,
 * nothing may look at the module. */
static bool make_readable(const struct swz_module *m, const ElfW(Phdr) * s)
{
	uint64_t start = m->load_bias + s->p_vaddr;
	uint64_t end = start + s->p_memsz;

	if (s->p_flags & (PF_R | PF_W))
		return true;
	start = swz_page_down(start);
	end = swz_page_up(end);
	return swz_sys_mprotect((void *)start, end - start,
				PROT_READ | PROT_EXEC) == 0;
}

/* Code of the medium model has arrays behind all else, which it does not
 * address by 32 bits. */
#define MOST_NEAR (UINT64_C(1) << 30)

static void find_near(struct swz_module *m)
{
	m->near.start = m->start;
	m->near.end = m->end;
	if (m->end - m->start <= MOST_NEAR || !m->text_count)
		return;
	m->near.start = m->load_bias + m->text[0].start;
	m->near.end = m->load_bias + m->text[m->text_count - 1].end;
}

static void describe(struct swz_module *m, uint64_t load_bias,
		     const ElfW(Phdr) * segments, unsigned count,
		     const char *path)
{
	const char *called;

	m->load_bias = load_bias;
	m->segments = segments;
	m->segment_count = count;
	m->start = UINT64_MAX;
	for (unsigned i = 0; i < count; i++) {
		const ElfW(Phdr) *s = &segments[i];

		if (s->p_type == PT_NOTE && !m->build_id.size)
			m->build_id = swz_build_id_in(
				(struct swz_bytes){
					swz_module_bytes(m, s->p_vaddr),
					s->p_memsz},
				s->p_align);
		if (s->p_type != PT_LOAD)
			continue;
		if (m->load_bias + s->p_vaddr < m->start)
			m->start = m->load_bias + s->p_vaddr;
		if (m->load_bias + s->p_vaddr + s->p_memsz > m->end)
			m->end = m->load_bias + s->p_vaddr + s->p_memsz;
		if (!(s->p_flags & PF_X))
			continue;
		if (make_readable(m, s))
			add_text(m, s->p_vaddr, s->p_filesz);
		else
			m->texts_left_out = true;
	}
	find_near(m);
	m->path = absolute(path);
	m->link_name = m->path + strlen(m->path) - strlen(path);
	called = m->is_program ? swz_program_called(m->path) : NULL;
	m->in_scope = m->text_count && !m->texts_left_out &&
		      in_scope(m->path, called);
	m->has_flows = m->text_count && !m->texts_left_out &&
		       (swz_config.flows || swz_config.prints) &&
		       is_libc(base_name(m->path));
	m->flows_only = m->has_flows && !m->in_scope;
	m->in_scope |= m->has_flows;
}

static int list_one(struct dl_phdr_info *info, size_t size, void *context)
{
	struct listing *l = context;

	(void)size;
	if (l->count == l->room)
		return 1;
	l->modules[l->count].is_program = l->count == 0;
	describe(&l->modules[l->count], info->dlpi_addr, info->dlpi_phdr,
		 info->dlpi_phnum,
		 l->count == 0 ? program_path(info->dlpi_phdr)
			       : info->dlpi_name);
	l->count++;
	return 0;
}

/* Every library that today's linkers make begins with its ELF header, at ELF
 * address 0, so the header lies at the load bias. */
bool swz_module_describe(struct swz_module *m, const struct link_map *map)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)map->l_addr;
	const ElfW(Phdr) * segments;
	bool whole = false, same = false;
	uint64_t bytes;

	if (!map->l_addr || map->l_addr % 4096 || !map->l_name[0] ||
	    !swz_sys_is_readable(map->l_addr) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phentsize != sizeof(*segments))
		return false;
	bytes = header->e_phoff + (uint64_t)header->e_phnum * sizeof(*segments);
	if (header->e_phoff > 4096 || bytes > 4096)
		return false;
	segments = (const ElfW(Phdr) *)(map->l_addr + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *s = &segments[i];

		if (s->p_type == PT_LOAD && s->p_vaddr == 0 &&
		    s->p_offset == 0 && s->p_filesz >= bytes)
			whole = true;
		if (s->p_type == PT_DYNAMIC &&
		    map->l_addr + s->p_vaddr == (uintptr_t)map->l_ld)
			same = true;
	}
	if (!whole || !same)
		return false;
	describe(m, map->l_addr, segments, header->e_phnum, map->l_name);
	return true;
}

static int count_one(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info, (void)size;
	++*(unsigned *)context;
	return 0;
}

enum swz_status swz_modules_list(struct swz_modules *modules)
{
	struct listing l = {0};

	swz_next_iterate_phdr(count_one, &l.room);
	l.modules = swz_scratch_alloc(l.room * sizeof(*l.modules));
	if (!l.modules)
		return SWZ_E_NOMEM;
	swz_next_iterate_phdr(list_one, &l);
	modules->of = l.modules;
	modules->count = l.count;
	return SWZ_OK;
}

/* The table of all functions' addresses is the same. */
static bool same_functions(const struct swz_module *m)
{
	const struct swz_bytes file = m->file.file;

	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type == PT_GNU_EH_FRAME)
			return s->p_offset <= file.size &&
			       s->p_filesz <= file.size - s->p_offset &&
			       memcmp(file.data + s->p_offset,
				      swz_module_bytes(m, s->p_vaddr),
				      s->p_filesz) == 0;
	}
	return true;
}

static bool same_build(const struct swz_module *m)
{
	struct swz_bytes id = swz_elf_build_id(&m->file);

	if (!id.size && !m->build_id.size)
		return same_functions(m);
	return id.size == m->build_id.size &&
	       memcmp(id.data, m->build_id.data, id.size) == 0;
}

static uint64_t in_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static struct swz_file_identity identity_of(const struct stat *st)
{
	return (struct swz_file_identity){
		.device = st->st_dev,
		.inode = st->st_ino,
		.bytes = (uint64_t)st->st_size,
		.mtime_ns = in_ns(&st->st_mtim),
		.ctime_ns = in_ns(&st->st_ctim),
	};
}

bool swz_file_identify(const char *path, struct swz_file_identity *identity)
{
	struct stat st;

	if (SWZ_SYSCALL(SYS_stat, path, &st) != 0 || st.st_size <= 0)
		return false;
	*identity = identity_of(&st);
	return true;
}

struct swz_bytes swz_file_map(const char *path,
			      struct swz_file_identity *identity)
{
	struct swz_bytes file = {0};
	struct stat st;
	long fd = SWZ_SYSCALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return file;
	if (SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 && st.st_size > 0) {
		file.size = (size_t)st.st_size;
		file.data = swz_map_far(file.size, PROT_READ, MAP_PRIVATE,
					(int)fd);
	}
	SWZ_SYSCALL(SYS_close, fd);
	if (!file.data)
		file.size = 0;
	else if (identity)
		*identity = identity_of(&st);
	return file;
}

static void map_file(struct swz_module *m, const char *path)
{
	struct swz_bytes file = swz_file_map(path, &m->identity);

	if (!file.size)
		return;
	if (swz_elf_open(&m->file, file) == SWZ_OK && same_build(m))
		return;
	memset(&m->file, 0, sizeof(m->file));
	swz_sys_munmap((void *)(uintptr_t)file.data, file.size);
}

static bool is_usual_code(const char *name)
{
	return starts_with(name, ".text") || starts_with(name, ".init") ||
	       starts_with(name, ".fini") || starts_with(name, ".plt");
}

/* True if there may be a direct call or jump, or one through a pointer at an
 * address relative to the program counter, from the section to elsewhere. Each
 * byte may begin one. */
static bool may_lead_out(const Elf64_Shdr *s, struct swz_bytes code)
{
	for (size_t i = 0; i + 5 <= code.size; i++) {
		const uint8_t *at = code.data + i;
		bool near = (at[0] & 0xfe) == 0xe8;
		int32_t offset;

		if (at[0] == 0xff && (at[1] == 0x15 || at[1] == 0x25))
			return true;
		if (i > 0 && at[-1] == 0x0f && (at[0] & 0xf0) == 0x80)
			near = true;
		memcpy(&offset, at + 1, sizeof(offset));
		if (near && i + 5 + (uint64_t)(int64_t)offset >= s->sh_size)
			return true;
	}
	return false;
}

/* Code gets a section of its own where the program needs to know from where to
 * where it goes, for instance to copy it to another place, and runs there if it
 * does not call anything (User-mode Linux runs a page of such code in other
 * processes). It must stay as it is: the jump that we would write leads from
 * there to anywhere. */
static bool may_be_copied(const struct swz_module *m, const Elf64_Shdr *s)
{
	struct swz_bytes code = swz_elf_section_bytes(&m->file, s);

	return code.size && code.size <= SWZ_PAGE && !may_lead_out(s, code);
}

static void note_sections(struct swz_module *m)
{
	for (size_t i = 0; i < m->file.section_count; i++) {
		const Elf64_Shdr *s = &m->file.sections[i];
		const char *name;

		if (s->sh_name >= m->file.section_names.size)
			continue;
		name = (const char *)m->file.section_names.data + s->sh_name;
		if (starts_with(name, ".plt") &&
		    m->plt_count < SWZ_MAX_PLT_RANGES) {
			m->plt[m->plt_count].start = s->sh_addr;
			m->plt[m->plt_count++].end = s->sh_addr + s->sh_size;
		}
		if ((s->sh_flags & SHF_EXECINSTR) && !is_usual_code(name) &&
		    m->loose_count < SWZ_MAX_LOOSE_RANGES &&
		    may_be_copied(m, s)) {
			m->loose[m->loose_count].start = s->sh_addr;
			m->loose[m->loose_count++].end = s->sh_addr +
							 s->sh_size;
		}
	}
}

/* Entries have 16 bytes, or 8. */
static void note_plt_at(struct swz_module *m, uint64_t address)
{
	struct swz_range around = {address & -16ull, (address & -16ull) + 16};

	if (m->plt_count && m->plt[m->plt_count - 1].end >= around.start)
		m->plt[m->plt_count - 1].end = around.end;
	else if (m->plt_count < SWZ_MAX_PLT_RANGES)
		m->plt[m->plt_count++] = around;
}

/* The entry before them all, which pushes and jumps on to the dynamic linker.
 * The unwind table's entry for the PLT begins there. */
static void note_first_entry(const struct swz_module *m, struct swz_range *plt)
{
	const uint8_t *code;

	if (!swz_module_is_text(m, plt->start - 16, 16))
		return;
	code = swz_module_bytes(m, plt->start - 16);
	if (code[0] == 0xff && code[1] == 0x35)
		plt->start -= 16;
}

/* Finds PLT entries in a file without section headers: only they jump through
 * the word that a relocation for one names. */
static void find_plt(struct swz_module *m)
{
	struct swz_range slots = {UINT64_MAX, 0};
	struct swz_dynamic d;

	if (!swz_dynamic_read(m->load_bias, swz_module_dynamic(m), &d))
		return;
	for (uint64_t i = 0; i < d.jmprel_count; i++) {
		uint64_t slot = d.jmprel[i].r_offset;

		if (ELF64_R_TYPE(d.jmprel[i].r_info) != R_X86_64_JUMP_SLOT)
			continue;
		if (slot < slots.start)
			slots.start = slot;
		if (slot >= slots.end)
			slots.end = slot + 8;
	}
	for (unsigned i = 0; i < m->text_count && slots.end; i++)
		for (uint64_t at = m->text[i].start; at + 6 <= m->text[i].end;
		     at++) {
			const uint8_t *code = swz_module_bytes(m, at);
			uint64_t slot;

			if (code[0] != 0xff || code[1] != 0x25)
				continue;
			slot = swz_module_relative(m, at + 2);
			if (slot >= slots.start && slot < slots.end)
				note_plt_at(m, at);
		}
	for (unsigned i = 0; i < m->plt_count; i++)
		note_first_entry(m, &m->plt[i]);
}

/* Narrows the text down to code. If the linker was not told to keep code apart
 * (-z noseparate-code), all that is read only lies in the segment with the
 * code, constants and tables too. The section headers, if there are any, say
 * what is code. */
static void narrow_text(const struct swz_module *m, struct swz_range *text)
{
	struct swz_range code = {UINT64_MAX, 0};

	for (size_t i = 0; i < m->file.section_count; i++) {
		const Elf64_Shdr *s = &m->file.sections[i];
		uint64_t end = text->end;

		if (!(s->sh_flags & SHF_EXECINSTR) ||
		    s->sh_addr < text->start || s->sh_addr >= text->end)
			continue;
		if (s->sh_size < end - s->sh_addr)
			end = s->sh_addr + s->sh_size;
		if (s->sh_addr < code.start)
			code.start = s->sh_addr;
		if (end > code.end)
			code.end = end;
	}
	if (code.start < code.end)
		*text = code;
}

/* .eh_frame by way of PT_GNU_EH_FRAME: version, three encodings, a pointer to
 * the section (LSB 5.0, 10.6.2). Its end is that of the segment it lies in, the
 * zero terminator comes before. */
static void find_eh_frame(struct swz_module *m)
{
	const ElfW(Phdr) *header = NULL;
	const uint8_t *at;
	uint64_t frame;
	int32_t offset;

	for (unsigned i = 0; i < m->segment_count; i++)
		if (m->segments[i].p_type == PT_GNU_EH_FRAME)
			header = &m->segments[i];
	if (!header || header->p_memsz < 8)
		return;
	at = swz_module_bytes(m, header->p_vaddr);
	if (at[0] != 1 || at[1] != 0x1b) /* pcrel | sdata4, as every linker */
		return;
	m->eh_frame_header.address = header->p_vaddr;
	m->eh_frame_header.bytes.data = at;
	m->eh_frame_header.bytes.size = header->p_memsz;
	memcpy(&offset, at + 4, sizeof(offset));
	frame = header->p_vaddr + 4 + (uint64_t)(int64_t)offset;
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type != PT_LOAD || frame < s->p_vaddr ||
		    frame >= s->p_vaddr + s->p_filesz)
			continue;
		m->eh_frame.address = frame;
		m->eh_frame.bytes.data = swz_module_bytes(m, frame);
		m->eh_frame.bytes.size = s->p_vaddr + s->p_filesz - frame;
	}
}

enum swz_status swz_module_open(struct swz_module *m)
{
	find_eh_frame(m);
	if (m->path[0] == '/')
		map_file(m, m->path);
	/* (also where it was removed or replaced) */
	if (!m->file.file.size && (m->is_program || m->path[0] != '/'))
		map_file(m, "/proc/self/exe");
	note_sections(m);
	if (!m->file.section_count)
		find_plt(m);
	for (unsigned i = 0; i < m->text_count; i++)
		narrow_text(m, &m->text[i]);
	return SWZ_OK;
}

bool swz_module_symbol(const struct swz_module *m, const char *name,
		       struct swz_elf_symbol *symbol)
{
	static const uint32_t tables[] = {SHT_DYNSYM, SHT_SYMTAB};

	if (!m->file.file.size)
		return false;
	for (unsigned t = 0; t < 2; t++) {
		struct swz_elf_symbols it;

		if (swz_elf_symbols_open(&it, &m->file, tables[t]) != SWZ_OK)
			continue;
		while (swz_elf_symbols_next(&it, symbol))
			if (symbol->section != SHN_UNDEF && symbol->value &&
			    strcmp(symbol->name, name) == 0)
				return true;
	}
	return false;
}

void swz_module_close(struct swz_module *m)
{
	if (m->file.file.size)
		swz_sys_munmap((void *)(uintptr_t)m->file.file.data,
			       m->file.file.size);
	memset(&m->file, 0, sizeof(m->file));
}

const ElfW(Dyn) * swz_module_dynamic(const struct swz_module *m)
{
	for (unsigned i = 0; i < m->segment_count; i++)
		if (m->segments[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(const void *)
				swz_module_bytes(m, m->segments[i].p_vaddr);
	return NULL;
}

bool swz_module_is_untouched(const struct swz_module *m)
{
	for (unsigned i = 0; i < m->text_count; i++)
		if (!is_untouched(m->load_bias + m->text[i].start,
				  m->load_bias + m->text[i].end))
			return false;
	return true;
}
