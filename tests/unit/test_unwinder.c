/* Stacks made word by word, of functions of this program whose unwind entries
 * are of every kind. What an entry says is written here beside it. */

#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"
#include "watch/unwind/unwind_file.h"
#include "watch/unwind/unwinder.h"

/* Each function's label is at a pc with this frame: */
__asm__(".text\n"
	/* two words below the return address, rbp in the upper one */
	"t_by_rsp: .cfi_startproc\n"
	"	push %rbp\n	.cfi_def_cfa_offset 16\n	.cfi_offset "
	"%rbp, -16\n"
	"	push %rbx\n	.cfi_def_cfa_offset 24\n	.cfi_offset "
	"%rbx, -24\n"
	"	.globl t_by_rsp_at\nt_by_rsp_at: nop\n	ret\n.cfi_endproc\n"
	/* the same, at its end */
	"t_popped: .cfi_startproc\n"
	"	.cfi_offset %rbp, -16\n	.cfi_offset %rbx, -24\n"
	"	.globl t_popped_at\nt_popped_at: ret\n.cfi_endproc\n"
	/* a frame with rbp */
	"t_by_rbp: .cfi_startproc\n"
	"	push %rbp\n	.cfi_def_cfa_offset 16\n	.cfi_offset "
	"%rbp, -16\n"
	"	mov %rsp, %rbp\n	.cfi_def_cfa_register %rbp\n"
	"	.globl t_by_rbp_at\nt_by_rbp_at: nop\n	ret\n.cfi_endproc\n"
	/* GCC's main with an aligned stack: CFA = *(rbp - 8), rbp saved at rbp
	 */
	"t_aligned: .cfi_startproc\n"
	"	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06\n"
	"	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00\n"
	"	.globl t_aligned_at\nt_aligned_at: nop\n	"
	"ret\n.cfi_endproc\n"
	/* CFA = rbx + 16 */
	"t_by_rbx: .cfi_startproc\n"
	"	.cfi_def_cfa %rbx, 16\n"
	"	.globl t_by_rbx_at\nt_by_rbx_at: nop\n	ret\n.cfi_endproc\n"
	/* a PLT entry's: CFA = rsp + 8 + ((rip & 15) >= 11) * 8 */
	"	.p2align 4\n"
	"t_plt: .cfi_startproc\n"
	"	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, "
	"0x3b, "
	"0x2a, 0x33, 0x24, 0x22\n"
	"	.globl t_plt_at\nt_plt_at: .skip 11, 0x90\n"
	"	.globl t_plt_pushed\nt_plt_pushed: .skip 5, "
	"0x90\n.cfi_endproc\n"
	/* the return address in rdi, no stack used */
	"t_in_rdi: .cfi_startproc\n"
	"	.cfi_def_cfa_offset 0\n	.cfi_register %rip, %rdi\n"
	"	.globl t_in_rdi_at\nt_in_rdi_at: nop\n	ret\n.cfi_endproc\n"
	/* likewise, but rbp is saved at rbp + 8 */
	"t_aligned_8: .cfi_startproc\n"
	"	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06\n"
	"	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x08\n"
	"	.globl t_aligned_8_at\nt_aligned_8_at: nop\n	"
	"ret\n.cfi_endproc\n"
	/* the return address in a register that is none: xmm0 */
	"t_in_xmm: .cfi_startproc\n"
	"	.cfi_escape 0x09, 0x10, 0x11\n"
	"	.globl t_in_xmm_at\nt_in_xmm_at: nop\n	ret\n.cfi_endproc\n"
	/* CFA by rax, where rbp and r12 were saved above it, far away */
	"t_far: .cfi_startproc\n	.cfi_def_cfa %rax, 8\n"
	"	.cfi_offset %r12, 0x10000\n"
	"	.globl t_far_at\nt_far_at: nop\n"
	"	.cfi_offset %rbp, 0x10000\n"
	"	.globl t_far_rbp_at\nt_far_rbp_at: nop\n	"
	"ret\n.cfi_endproc\n"
	/* a signal's trampoline as glibc describes it, as far as needed */
	"t_signal: .cfi_startproc\n	.cfi_signal_frame\n"
	"	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06\n"
	"	.cfi_escape 0x10, 0x10, 0x03, 0x77, 0xa8, 0x01\n"
	"	.cfi_escape 0x10, 0x06, 0x03, 0x77, 0xf8, 0x00\n"
	"	.cfi_escape 0x10, 0x03, 0x03, 0x77, 0x80, 0x01\n"
	"	.cfi_escape 0x10, 0x00, 0x03, 0x77, 0x90, 0x01\n"
	"	nop\n	.globl t_signal_at\nt_signal_at: nop\n	nop\n"
	".cfi_endproc\n"
	/* one without an entry */
	"	.p2align 4\n	.skip 16, 0x90\n"
	"	.globl t_bare_signal_at\n"
	"t_bare_signal_at: mov $15, %rax\n"
	"	.globl t_bare_signal_call\nt_bare_signal_call: syscall\n"
	"	.skip 16, 0x90\n"
	"	.globl t_short_signal_at\n"
	"t_short_signal_at: mov $15, %eax\n"
	"	.globl t_short_signal_call\nt_short_signal_call: syscall\n"
	"	.skip 16, 0x90\n"
	/* the outermost */
	"t_root: .cfi_startproc\n	.cfi_undefined %rip\n"
	"	nop\n	.globl t_root_at\nt_root_at: nop\n.cfi_endproc\n"
	/* no entry */
	"	.p2align 4\n	.skip 16, 0x90\n"
	"	.globl t_bare_begin\n"
	"t_bare_begin: push %rbp\n"
	"	.globl t_bare_pushed\n"
	"t_bare_pushed: mov %rsp, %rbp\n"
	"	.globl t_bare_at\n"
	"t_bare_at: nop\n	call *%rax\n"
	"	.globl t_bare_called\n"
	"t_bare_called: nop\n"
	"	.globl t_bare_end\n"
	"t_bare_end: add $0x18, %rsp\n	pop %r12\n	pop %rbp\n	ret\n"
	"	.globl t_bare_end_called\n"
	"t_bare_end_called: add $8, %rsp\n	ret\n"
	"	.skip 16, 0x90\n"
	/* clone(): what the new thread does first has an entry again */
	"	.globl t_clone_at\n"
	"t_clone_at: test %rax, %rax\n	jl t_root\n	je t_root\n	ret\n"
	"	.skip 16, 0x90\n");

extern const char t_popped_at[], t_aligned_8_at[], t_in_xmm_at[], t_far_at[],
	t_far_rbp_at[], t_bare_signal_call[], t_short_signal_at[],
	t_short_signal_call[];
extern const char t_by_rsp_at[], t_by_rbp_at[], t_aligned_at[], t_by_rbx_at[],
	t_plt_at[], t_plt_pushed[], t_in_rdi_at[], t_signal_at[],
	t_bare_signal_at[], t_root_at[], t_bare_begin[], t_bare_pushed[],
	t_bare_at[], t_bare_called[], t_bare_end[], t_bare_end_called[],
	t_clone_at[];

#define AT(label) ((uint64_t)(uintptr_t)(label))

enum { WORDS = 256, MOST = 16 };
#define STACK UINT64_C(0x7ffc00001000)

static struct swz_unwinder *unwinder;
static uint64_t words[WORDS];
static struct swz_stack stack;
static struct swz_registers registers;
static uint64_t pcs[MOST];
static enum swz_walk_end end;

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

static void set_up(void)
{
	unwinder = swz_unwinder_create();
	ck_assert_int_eq(dl_iterate_phdr(map_own, unwinder), 1);
	memset(words, 0x5a, sizeof(words));
	memset(&registers, 0, sizeof(registers));
	registers.sp = STACK;
	stack = (struct swz_stack){STACK, (const uint8_t *)words, sizeof(words),
				   NULL, NULL};
}

static void tear_down(void)
{
	swz_unwinder_destroy(unwinder);
}

static size_t walk(const char *from)
{
	registers.ip = AT(from);
	memset(pcs, 0, sizeof(pcs));
	return swz_unwinder_walk(unwinder, &registers, &stack, pcs, MOST, &end);
}

static uint64_t address_of(size_t word)
{
	return STACK + word * 8;
}

START_TEST(a_frame_by_rsp_and_the_root)
{
	words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_uint_eq(pcs[0], AT(t_by_rsp_at));
	ck_assert_uint_eq(pcs[1], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(rbp_comes_from_where_it_was_saved)
{
	words[1] = address_of(10); /* rbp of the caller, which needs it */
	words[2] = AT(t_by_rbp_at) + 1;
	words[11] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 3);
	ck_assert_uint_eq(pcs[1], AT(t_by_rbp_at) + 1);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

/* In an epilogue the entry still says where registers were saved, though they
 * were popped: what was below the stack is in no copy. */
START_TEST(what_was_popped_is_in_the_register)
{
	registers.bp = address_of(10);
	registers.bx = address_of(30);
	words[0] = AT(t_by_rbp_at) + 1;
	words[10] = 0;
	words[11] = AT(t_by_rbx_at) + 1;
	words[31] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_popped_at), 4);
	ck_assert_uint_eq(pcs[1], AT(t_by_rbp_at) + 1);
	ck_assert_uint_eq(pcs[2], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(pcs[3], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_aligned_stack)
{
	registers.bp = address_of(20);
	words[19] = address_of(40); /* CFA */
	words[20] = address_of(50); /* rbp of the caller */
	words[39] = AT(t_by_rbp_at) + 1;
	words[51] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_aligned_at), 3);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_aligned_stack_of_another_form)
{
	registers.bp = address_of(20);
	words[19] = address_of(40);
	words[20] = 1;
	words[21] = address_of(50); /* rbp of the caller */
	words[39] = AT(t_by_rbp_at) + 1;
	words[51] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_aligned_8_at), 3);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_register_that_cannot_be_known_ends_the_walk_if_it_is_needed)
{
	ck_assert_uint_eq(walk(t_in_xmm_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	registers.ax = address_of(4);
	words[4] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_far_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	ck_assert_uint_eq(walk(t_far_rbp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_CUT);
}
END_TEST

/* Which frames need no more than a row. */
START_TEST(rows_are_of_the_cheapest_kind)
{
	static const struct {
		const char *at;
		enum swz_unwind_row_kind kind;
		enum swz_unwind_row_rbp rbp;
		int cfa, rbp_offset;
	} rows[] = {
		{t_by_rsp_at, SWZ_ROW_RSP, SWZ_ROW_RBP_AT_CFA, 24, -16},
		{t_by_rbp_at, SWZ_ROW_RBP, SWZ_ROW_RBP_AT_CFA, 16, -16},
		{t_aligned_at, SWZ_ROW_SAVED, SWZ_ROW_RBP_AT_RBP, -8, 0},
		{t_aligned_8_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_by_rbx_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_plt_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_in_rdi_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_signal_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_root_at, SWZ_ROW_ROOT, 0, 0, 0},
		{t_bare_signal_at, SWZ_ROW_SIGNAL, 0, 0, 0},
		{t_bare_begin, SWZ_ROW_RSP, SWZ_ROW_RBP_SAME, 8, 0},
		{t_bare_pushed, SWZ_ROW_RSP, SWZ_ROW_RBP_AT_CFA, 16, -16},
		{t_bare_at, SWZ_ROW_NONE, 0, 0, 0},
		{t_clone_at, SWZ_ROW_BRANCH, 0, 0, 0},
	};
	extern const char __executable_start[];
	struct swz_unwind_file *file = swz_unwind_file_of(0, "/proc/self/exe",
							  0);
	size_t i;

	ck_assert_ptr_nonnull(file);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct swz_unwind_row *row = swz_unwind_file_row(
			file, AT(rows[i].at) - AT(__executable_start), false);

		ck_assert_msg(row->kind == rows[i].kind, "row %zu: kind %u", i,
			      row->kind);
		if (row->kind > SWZ_ROW_SAVED)
			continue;
		ck_assert_int_eq(row->cfa_offset, rows[i].cfa);
		ck_assert_int_eq(row->rbp, rows[i].rbp);
		ck_assert_int_eq(row->rbp_offset, rows[i].rbp_offset);
	}
	swz_unwind_file_release(file);
}
END_TEST

/* rbx is what t_by_rsp saved, though rows know nothing of it */
START_TEST(a_frame_by_a_register_that_callees_saved)
{
	registers.bx = address_of(100);
	words[0] = address_of(30);
	words[1] = 0;
	words[2] = AT(t_by_rbx_at) + 1;
	words[31] = AT(t_by_rbx_at) + 1; /* the same rbx: CFA is no higher */
	ck_assert_uint_eq(walk(t_by_rsp_at), 3);
	ck_assert_uint_eq(pcs[1], AT(t_by_rbx_at) + 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	words[31] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 3);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_plt_entry_before_and_behind_its_push)
{
	words[0] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_plt_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	words[0] = 7;
	words[1] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_plt_pushed), 2);
	ck_assert_uint_eq(pcs[1], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_return_address_in_a_register)
{
	registers.di = AT(t_by_rsp_at) + 1;
	words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_in_rdi_at), 3);
	ck_assert_uint_eq(pcs[1], AT(t_by_rsp_at) + 1);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

/* What the kernel puts on the stack, from the frame's return address on. */
static void put_context(size_t word, const char *ip, uint64_t sp, uint64_t bp,
			uint64_t bx)
{
	ucontext_t *context = (ucontext_t *)(void *)&words[word];

	context->uc_mcontext.gregs[REG_RIP] = (greg_t)AT(ip);
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
	context->uc_mcontext.gregs[REG_RBP] = (greg_t)bp;
	context->uc_mcontext.gregs[REG_RBX] = (greg_t)bx;
}

/* A handler that was called in t_by_rbx, at its first instruction: the row of
 * the one before would be another function's. */
static void walk_through_a_signal(const char *trampoline)
{
	words[2] = AT(trampoline);
	put_context(3, t_by_rbx_at, address_of(150), 0, address_of(160));
	words[161] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 4);
	ck_assert_uint_eq(pcs[1], AT(trampoline));
	ck_assert_uint_eq(pcs[2], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(pcs[3], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}

START_TEST(a_signal_frame)
{
	walk_through_a_signal(t_signal_at);
}
END_TEST

START_TEST(a_signal_frame_without_an_entry)
{
	walk_through_a_signal(t_bare_signal_at);
	walk_through_a_signal(t_short_signal_at);
}
END_TEST

/* The handler has returned. */
START_TEST(a_signal_frame_that_is_the_innermost)
{
	static const char *const places[] = {
		t_bare_signal_at, t_bare_signal_call, t_short_signal_at,
		t_short_signal_call, t_signal_at};
	size_t i;

	for (i = 0; i < 5; i++) {
		put_context(0, t_by_rbx_at, address_of(150), 0,
			    address_of(160));
		words[161] = AT(t_root_at);
		ck_assert_uint_eq(walk(places[i]), 3);
		ck_assert_uint_eq(pcs[1], AT(t_by_rbx_at) + 1);
		ck_assert_uint_eq(pcs[2], AT(t_root_at));
		ck_assert_int_eq(end, SWZ_WALK_ROOT);
	}
}
END_TEST

static bool read_words(void *context, uint64_t address, void *into, size_t size)
{
	uint64_t at = address - STACK;

	(void)context;
	if (at > sizeof(words) || size > sizeof(words) - at)
		return false;
	memcpy(into, (const uint8_t *)words + at, size);
	return true;
}

/* The interrupted stack lies below the handler's: sigaltstack. */
START_TEST(a_handler_on_a_stack_of_its_own)
{
	registers.sp = STACK + 0x1000;
	stack.start = registers.sp;
	stack.read = read_words; /* the other one */
	words[2] = AT(t_signal_at);
	put_context(3, t_by_rsp_at, address_of(200), 0, 0);
	words[202] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 4);
	ck_assert_uint_eq(pcs[2], AT(t_by_rsp_at) + 1);
	ck_assert_uint_eq(pcs[3], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

/* ----------------------------------------------------------- without entry */

START_TEST(code_without_an_entry_is_walked_by_rbp)
{
	registers.bp = address_of(8);
	words[8] = address_of(16);
	words[9] = AT(t_bare_called);
	words[16] = 0;
	words[17] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_bare_at), 3);
	ck_assert_uint_eq(pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_rbp_of_zero_is_the_outermost_frames)
{
	registers.bp = address_of(8);
	words[8] = 0;
	words[9] = AT(t_bare_called);
	ck_assert_uint_eq(walk(t_bare_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_rbp_that_leads_nowhere_is_refused)
{
	static const uint64_t wrong[] = {STACK - 8, STACK + 4, 1,
					 UINT64_MAX - 7};
	size_t i;

	for (i = 0; i < 4; i++) {
		registers.bp = wrong[i];
		ck_assert_uint_eq(walk(t_bare_at), 1);
		ck_assert_int_ne(end, SWZ_WALK_ROOT);
	}
	registers.bp = address_of(8); /* and no return address above it */
	words[9] = address_of(3);
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

START_TEST(code_that_begins_or_ends_a_frame_tells_where_it_is)
{
	registers.bp = address_of(8); /* the caller's */
	words[8] = 0;
	words[9] = AT(t_root_at);
	words[0] = AT(t_bare_called);
	ck_assert_uint_eq(walk(t_bare_begin), 3);
	ck_assert_uint_eq(pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	registers.bp = 1;
	words[0] = address_of(8);
	words[1] = AT(t_bare_called);
	ck_assert_uint_eq(walk(t_bare_pushed), 3);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	/* 24 bytes, r12, rbp */
	words[4] = address_of(8);
	words[5] = AT(t_bare_called);
	ck_assert_uint_eq(walk(t_bare_end), 3);
	ck_assert_uint_eq(pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	/* and where it has called another function just before */
	words[2] = AT(t_bare_end_called);
	words[4] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 3);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
}
END_TEST

START_TEST(a_program_at_its_first_instruction)
{
	words[0] = 2; /* argc */
	words[1] = address_of(100);
	words[2] = address_of(101);
	words[3] = 0;
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	registers.bp = address_of(8);
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	registers.bp = 0;
	words[3] = 1; /* not the end of the arguments */
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	words[3] = 0;
	words[1] = 5; /* no argument */
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	words[1] = address_of(100);
	words[0] = 0;
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	words[0] = UINT64_MAX;
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

/* Of a stripped libc without entries: the words between are of its frames. */
START_TEST(what_calls_main_near_the_begin_of_the_program)
{
	const size_t at = 40;

	words[2] = AT(t_bare_called);
	words[at] = 1; /* argc */
	words[at + 1] = address_of(100);
	words[at + 2] = 0;
	words[at + 3] = address_of(101); /* the environment */
	words[at + 4] = 0;
	words[at + 5] = 33;
	words[at + 6] = 0x7fff0000;
	words[at + 7] = 6; /* AT_PAGESZ */
	words[at + 8] = 4096;
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_uint_eq(pcs[1], AT(t_bare_called));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	words[at + 8] = 5;
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	words[at + 8] = 4096;
	words[at + 3] = 5; /* no environment */
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	/* a frame that is followed by rbp is no outermost one */
	words[at + 3] = address_of(101);
	words[1] = address_of(8);
	words[8] = 1;
	words[9] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 3);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	/* the innermost one may have called nobody */
	registers.bp = 1;
	ck_assert_uint_eq(walk(t_bare_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

/* All registers are needed behind frames that have no entry. */
START_TEST(registers_are_followed_through_frames_without_an_entry)
{
	registers.bx = address_of(40);
	/* 24 bytes, r12, rbp of t_bare_called's frame */
	words[4] = address_of(8);
	words[5] = AT(t_bare_called);
	words[8] = 0;
	words[9] = AT(t_by_rbx_at) + 1;
	words[41] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_bare_end), 4);
	ck_assert_uint_eq(pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(pcs[2], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(pcs[3], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	/* and behind what clone() returns to */
	registers.ax = 1;
	registers.bp = address_of(8);
	words[0] = AT(t_bare_called);
	ck_assert_uint_eq(walk(t_clone_at), 4);
	ck_assert_uint_eq(pcs[3], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_new_thread_and_its_creator_stand_at_one_place)
{
	words[0] = AT(t_bare_called);
	words[8] = 0;
	words[9] = AT(t_root_at);
	registers.bp = address_of(8);
	registers.ax = 4711;
	ck_assert_uint_eq(walk(t_clone_at), 3);
	ck_assert_uint_eq(pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	registers.ax = 0;
	ck_assert_uint_eq(walk(t_clone_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	/* a signal has come just then; it has kept another rax */
	words[2] = AT(t_signal_at);
	put_context(3, t_clone_at, address_of(200), 1, 0);
	words[200] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 4);
	ck_assert_uint_eq(pcs[3], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

static const uint8_t run_time_code[] = {0x90, 0xc3, 0x90, 0x90};

static bool read_code(void *context, uint64_t address, void *into, size_t size)
{
	uint64_t at = address - 0x10000;

	(void)context;
	memset(into, 0x90, size);
	if (at >= sizeof(run_time_code))
		return false;
	memcpy(into, run_time_code + at, sizeof(run_time_code) - at);
	return true;
}

static void map_anonymous(void)
{
	swz_unwinder_map(unwinder,
			 &(struct swz_unwinder_mapping){.start = 0x10000,
							.end = 0x11000,
							.path = "//anon"});
}

START_TEST(code_made_at_run_time)
{
	registers.ip = 0x10000;
	registers.bp = address_of(8);
	words[8] = 0;
	words[9] = AT(t_root_at);
	ck_assert_uint_eq(walk((const char *)0x10001), 2);
	ck_assert_uint_eq(pcs[1], AT(t_root_at));
	/* it is about to return */
	map_anonymous();
	stack.read = read_code;
	words[0] = 0x10003;
	ck_assert_uint_eq(walk((const char *)0x10001), 3);
	ck_assert_uint_eq(pcs[1], 0x10003);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	/* but what it would return to is no code: so by rbp */
	words[0] = 0x20000;
	ck_assert_uint_eq(walk((const char *)0x10001), 2);
	ck_assert_uint_eq(pcs[1], AT(t_root_at));
}
END_TEST

/* -------------------------------------------------------------- walk's ends */

START_TEST(a_stack_that_is_cut)
{
	stack.size = 16;
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_CUT);
	stack.size = 0;
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_CUT);
}
END_TEST

START_TEST(what_is_cut_is_read_if_that_can_be_done)
{
	stack.size = 3;
	stack.read = read_words;
	words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(more_frames_than_room)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		words[i] = AT(t_by_rsp_at) + 1;
	ck_assert_uint_eq(walk(t_by_rsp_at), MOST);
	ck_assert_int_eq(end, SWZ_WALK_FULL);
	ck_assert_uint_eq(pcs[MOST - 1], AT(t_by_rsp_at) + 1);
	registers.ip = AT(t_by_rsp_at);
	ck_assert_uint_eq(
		swz_unwinder_walk(unwinder, &registers, &stack, pcs, 1, &end),
		1);
	ck_assert_int_eq(end, SWZ_WALK_FULL);
}
END_TEST

START_TEST(a_return_address_that_is_no_code)
{
	words[2] = STACK;
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	words[2] = 0;
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

/* ---------------------------------------------------------------- mappings */

static uint64_t resolved;

static uint64_t resolve(void *context, uint64_t return_address)
{
	ck_assert_ptr_eq(context, &resolved);
	return return_address == 0x10010 ? AT(t_root_at) : resolved;
}

START_TEST(a_return_address_that_stands_for_another)
{
	map_anonymous();
	words[2] = 0x10010;
	registers.bp = 1;
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_uint_eq(pcs[1], 0x10010);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	swz_unwinder_resolve(unwinder, resolve, &resolved);
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_uint_eq(pcs[1], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	/* others are themselves; and a wrong answer leads nowhere */
	words[2] = 0x10020;
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_uint_eq(pcs[1], 0x10020);
	resolved = 0x30000;
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

static uint64_t resolve_to_rbx(void *context, uint64_t return_address)
{
	(void)context;
	return return_address == 0x10010 ? AT(t_by_rbx_at) + 1 : 0;
}

START_TEST(one_that_stands_for_another_where_all_registers_are_needed)
{
	map_anonymous();
	swz_unwinder_resolve(unwinder, resolve_to_rbx, NULL);
	words[0] = address_of(30); /* rbx */
	words[1] = 0;
	words[2] = 0x10010;
	words[31] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 3);
	ck_assert_uint_eq(pcs[1], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(pcs[2], AT(t_root_at));
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_child_has_its_parents_mappings_and_its_own)
{
	struct swz_unwinder *child, *parent = unwinder;

	words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	child = swz_unwinder_fork(parent);
	swz_unwinder_clear(parent);
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
	unwinder = child;
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	unwinder = parent;
	swz_unwinder_destroy(child);
}
END_TEST

START_TEST(what_is_unmapped_is_no_code)
{
	words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	swz_unwinder_unmap(unwinder, AT(t_root_at) & ~UINT64_C(4095),
			   (AT(t_root_at) & ~UINT64_C(4095)) + 8192);
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

static void map_page(const char *path, uint64_t offset, uint64_t inode)
{
	uint64_t page = AT(t_by_rsp_at) & ~UINT64_C(4095);

	/* the labels are on it or on the next one */
	swz_unwinder_map(unwinder,
			 &(struct swz_unwinder_mapping){.pid = getpid(),
							.start = page,
							.end = page + 8192,
							.offset = offset,
							.path = path,
							.inode = inode});
}

START_TEST(a_file_that_is_another_has_no_rows)
{
	words[2] = AT(t_root_at);
	map_page("/proc/self/exe", 0, 1234567890123);
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

/* A file that is no more than a header, a directory, nothing. */
START_TEST(files_that_cannot_be_read)
{
	static const char *const paths[] = {"/proc/self/cut", "/", "/dev/zero",
					    "/dev/null", "/etc/passwd"};
	char name[] = "/tmp/swizzle-unwinder-XXXXXX";
	int fd = mkstemp(name);
	size_t i;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "\177ELF\2\1\1", 7), 7);
	ck_assert_int_eq(ftruncate(fd, 70), 0);
	for (i = 0; i < 6; i++) {
		map_page(i < 5 ? paths[i] : name, 0, 0);
		ck_assert_uint_eq(walk(t_by_rsp_at), 1);
		ck_assert_int_eq(end, SWZ_WALK_LOST);
	}
	close(fd);
	unlink(name);
}
END_TEST

/* ------------------------------------------------ copies of this very program
 */

static const char copy_pattern[] = "/tmp/swizzle-unwinder-XXXXXX";
static char copy_name[sizeof(copy_pattern)];
static uint8_t *copy;
static size_t copy_size;

static void open_copy(void)
{
	int from = open("/proc/self/exe", O_RDONLY), to;
	struct stat st;

	set_up();
	memcpy(copy_name, copy_pattern, sizeof(copy_pattern));
	to = mkstemp(copy_name);
	ck_assert_int_ge(from, 0);
	ck_assert_int_ge(to, 0);
	ck_assert_int_eq(fstat(from, &st), 0);
	copy_size = (size_t)st.st_size;
	ck_assert_int_eq(sendfile(to, from, NULL, copy_size), st.st_size);
	copy = mmap(NULL, copy_size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	ck_assert_ptr_ne(copy, MAP_FAILED);
	close(from);
	close(to);
}

static void close_copy(void)
{
	munmap(copy, copy_size);
	unlink(copy_name);
	tear_down();
}

static Elf64_Phdr *segment_of(uint32_t type)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)copy;
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(copy + header->e_phoff);

	while (segment->p_type != type)
		segment++;
	return segment;
}

/* The offset in the file of the page that has the labels. */
static uint64_t offset_of_code(void)
{
	extern const char __executable_start[];
	uint64_t at = AT(t_by_rsp_at) - AT(__executable_start);
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)copy;
	Elf64_Phdr *segment = (Elf64_Phdr *)(void *)(copy + header->e_phoff);

	while (segment->p_type != PT_LOAD || at < segment->p_vaddr ||
	       at - segment->p_vaddr >= segment->p_filesz)
		segment++;
	return (at - segment->p_vaddr + segment->p_offset) & ~UINT64_C(4095);
}

static void expect_rows(void)
{
	map_page(copy_name, offset_of_code(), 0);
	words[1] = address_of(10);
	words[2] = AT(t_by_rbp_at) + 1;
	words[11] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 3);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
}

START_TEST(a_file_as_it_is)
{
	expect_rows();
}
END_TEST

START_TEST(a_file_without_a_table_of_entries)
{
	segment_of(PT_GNU_EH_FRAME)->p_type = PT_NULL;
	expect_rows();
}
END_TEST

START_TEST(a_file_whose_table_is_of_another_form)
{
	copy[segment_of(PT_GNU_EH_FRAME)->p_offset] = 2;
	expect_rows();
}
END_TEST

START_TEST(a_file_without_sections)
{
	((Elf64_Ehdr *)(void *)copy)->e_shoff = 0;
	expect_rows();
}
END_TEST

START_TEST(a_file_without_both_has_no_rows)
{
	((Elf64_Ehdr *)(void *)copy)->e_shoff = 0;
	segment_of(PT_GNU_EH_FRAME)->p_type = PT_NULL;
	map_page(copy_name, offset_of_code(), 0);
	words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

/* Who maps a file must not be killed when somebody cuts it. */
START_TEST(a_file_that_is_cut_later_keeps_its_rows)
{
	expect_rows();
	ck_assert_int_eq(truncate(copy_name, 0), 0);
	words[2] = AT(t_root_at); /* a pc that is new */
	ck_assert_uint_eq(walk(t_by_rsp_at), 2);
	words[0] = AT(t_root_at);
	ck_assert_uint_eq(walk(t_plt_at), 2);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	/* code without an entry is read when it is first seen */
	registers.bp = address_of(8);
	words[8] = 0;
	words[9] = AT(t_root_at);
	words[0] = AT(t_bare_called);
	ck_assert_uint_eq(walk(t_bare_begin), 2);
	ck_assert_uint_eq(pcs[1], AT(t_root_at));
}
END_TEST

START_TEST(a_file_that_is_written_anew_is_read_anew)
{
	static const struct timespec then[] = {{1, 0}, {1, 0}};

	expect_rows();
	segment_of(PT_GNU_EH_FRAME)->p_type = PT_NULL;
	((Elf64_Ehdr *)(void *)copy)->e_shoff = 0;
	ck_assert_int_eq(utimensat(AT_FDCWD, copy_name, then, 0), 0);
	map_page(copy_name, offset_of_code(), 0);
	ck_assert_uint_eq(walk(t_by_rsp_at), 1);
	ck_assert_int_eq(end, SWZ_WALK_LOST);
}
END_TEST

/* ------------------------------------------------------------------ the vdso
 */

START_TEST(a_stack_that_ends_in_the_vdso)
{
	struct swz_unwind_file *vdso = swz_unwind_vdso();
	struct swz_fde_iterator it;
	struct swz_fde fde;

	ck_assert_ptr_nonnull(vdso);
	swz_fde_begin(&it, &vdso->section);
	do
		ck_assert(swz_fde_next(&it, &fde));
	while (!swz_fde_is_function(&fde));
	swz_unwinder_map(unwinder,
			 &(struct swz_unwinder_mapping){.start = 0x7000000,
							.end = 0x7002000,
							.path = "[vdso]"});
	words[0] = AT(t_root_at);
	ck_assert_uint_eq(walk((const char *)0x7000000 + fde.start), 2);
	ck_assert_int_eq(end, SWZ_WALK_ROOT);
	swz_unwind_file_release(vdso);
}
END_TEST

START_TEST(the_vdso_has_entries)
{
	struct swz_unwind_file *vdso = swz_unwind_vdso();
	struct swz_fde_iterator it;
	struct swz_fde fde, found;
	size_t count = 0;

	ck_assert_ptr_nonnull(vdso);
	ck_assert_ptr_eq(vdso, swz_unwind_vdso());
	swz_fde_begin(&it, &vdso->section);
	while (swz_fde_next(&it, &fde)) {
		ck_assert(swz_unwind_file_fde(vdso, fde.start, &found));
		ck_assert_uint_eq(found.start, fde.start);
		count++;
	}
	ck_assert_uint_ge(count, 4); /* of clock_gettime() and its kind */
	swz_unwind_file_release(vdso);
	swz_unwind_file_release(vdso);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwinder");
	TCase *tcase = tcase_create("frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_frame_by_rsp_and_the_root);
	tcase_add_test(tcase, rbp_comes_from_where_it_was_saved);
	tcase_add_test(tcase, what_was_popped_is_in_the_register);
	tcase_add_test(tcase, an_aligned_stack);
	tcase_add_test(tcase, an_aligned_stack_of_another_form);
	tcase_add_test(tcase, a_frame_by_a_register_that_callees_saved);
	tcase_add_test(tcase, a_plt_entry_before_and_behind_its_push);
	tcase_add_test(tcase, a_return_address_in_a_register);
	tcase_add_test(
		tcase,
		a_register_that_cannot_be_known_ends_the_walk_if_it_is_needed);
	tcase_add_test(tcase, a_signal_frame);
	tcase_add_test(tcase, a_signal_frame_without_an_entry);
	tcase_add_test(tcase, a_signal_frame_that_is_the_innermost);
	tcase_add_test(tcase, a_handler_on_a_stack_of_its_own);
	tcase_add_test(tcase, rows_are_of_the_cheapest_kind);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("without entry");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, code_without_an_entry_is_walked_by_rbp);
	tcase_add_test(tcase, a_program_at_its_first_instruction);
	tcase_add_test(tcase, what_calls_main_near_the_begin_of_the_program);
	tcase_add_test(tcase, an_rbp_of_zero_is_the_outermost_frames);
	tcase_add_test(tcase,
		       registers_are_followed_through_frames_without_an_entry);
	tcase_add_test(tcase, an_rbp_that_leads_nowhere_is_refused);
	tcase_add_test(tcase,
		       code_that_begins_or_ends_a_frame_tells_where_it_is);
	tcase_add_test(tcase, a_new_thread_and_its_creator_stand_at_one_place);
	tcase_add_test(tcase, code_made_at_run_time);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("ends");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_stack_that_is_cut);
	tcase_add_test(tcase, what_is_cut_is_read_if_that_can_be_done);
	tcase_add_test(tcase, more_frames_than_room);
	tcase_add_test(tcase, a_return_address_that_is_no_code);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("mappings");
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_return_address_that_stands_for_another);
	tcase_add_test(
		tcase,
		one_that_stands_for_another_where_all_registers_are_needed);
	tcase_add_test(tcase, a_child_has_its_parents_mappings_and_its_own);
	tcase_add_test(tcase, what_is_unmapped_is_no_code);
	tcase_add_test(tcase, a_file_that_is_another_has_no_rows);
	tcase_add_test(tcase, files_that_cannot_be_read);
	tcase_add_test(tcase, the_vdso_has_entries);
	tcase_add_test(tcase, a_stack_that_ends_in_the_vdso);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("files");
	tcase_add_checked_fixture(tcase, open_copy, close_copy);
	tcase_add_test(tcase, a_file_as_it_is);
	tcase_add_test(tcase, a_file_without_a_table_of_entries);
	tcase_add_test(tcase, a_file_whose_table_is_of_another_form);
	tcase_add_test(tcase, a_file_without_sections);
	tcase_add_test(tcase, a_file_without_both_has_no_rows);
	tcase_add_test(tcase, a_file_that_is_cut_later_keeps_its_rows);
	tcase_add_test(tcase, a_file_that_is_written_anew_is_read_anew);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
