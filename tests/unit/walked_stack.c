#include "tests/unit/walked_stack.h"

#include <check.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

struct walk walk;

/* This program's code, as it is mapped. */
static int map_own(struct dl_phdr_info *info, size_t size, void *context)
{
	struct stat st;
	size_t i;

	(void)size;
	ck_assert_int_eq(stat("/proc/self/exe", &st), 0);
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t before = segment->p_vaddr & 4095;
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			swz_unwinder_map(
				context,
				&(struct swz_unwinder_mapping){
					.start = start - before,
					.end = (start + segment->p_memsz +
						4095) &
					       ~UINT64_C(4095),
					.offset = segment->p_offset - before,
					.path = "/proc/self/exe",
					.inode = st.st_ino});
	}
	return 1; /* the program comes first */
}

void walk_set_up(void)
{
	walk.unwinder = swz_unwinder_create();
	ck_assert_int_eq(dl_iterate_phdr(map_own, walk.unwinder), 1);
	memset(walk.words, 0x5a, sizeof(walk.words));
	memset(&walk.registers, 0, sizeof(walk.registers));
	walk.registers.sp = STACK;
	walk.stack = (struct swz_stack){STACK,
					(const uint8_t *)walk.words,
					sizeof(walk.words),
					NULL,
					NULL,
					0};
}

void walk_tear_down(void)
{
	swz_unwinder_destroy(walk.unwinder);
}

size_t walk_from(const char *label)
{
	walk.registers.ip = AT(label);
	memset(walk.pcs, 0, sizeof(walk.pcs));
	return swz_unwinder_walk(walk.unwinder, &walk.registers, &walk.stack,
				 walk.pcs, MOST, &walk.end);
}

uint64_t walk_address(size_t word)
{
	return STACK + word * 8;
}

void walk_put_context(size_t word, const char *ip, uint64_t sp, uint64_t bp,
		      uint64_t bx)
{
	ucontext_t *context = (ucontext_t *)(void *)&walk.words[word];

	context->uc_mcontext.gregs[REG_RIP] = (greg_t)AT(ip);
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
	context->uc_mcontext.gregs[REG_RBP] = (greg_t)bp;
	context->uc_mcontext.gregs[REG_RBX] = (greg_t)bx;
}

bool walk_read_words(void *context, uint64_t address, void *into, size_t size)
{
	uint64_t at = address - STACK;

	(void)context;
	if (at > sizeof(walk.words) || size > sizeof(walk.words) - at)
		return false;
	memcpy(into, (const uint8_t *)walk.words + at, size);
	return true;
}

void walk_map_anonymous(void)
{
	swz_unwinder_map(walk.unwinder,
			 &(struct swz_unwinder_mapping){.start = 0x10000,
							.end = 0x11000,
							.path = "//anon"});
}

void walk_map_page(const char *path, uint64_t offset, uint64_t inode)
{
	uint64_t page = AT(t_by_rsp_at) & ~UINT64_C(4095);

	/* the labels are on it or on the next one */
	swz_unwinder_map(walk.unwinder,
			 &(struct swz_unwinder_mapping){.pid = getpid(),
							.start = page,
							.end = page + 8192,
							.offset = offset,
							.path = path,
							.inode = inode});
}
