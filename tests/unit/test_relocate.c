/* What swz_relocate writes, byte by byte, and what it refuses. The same forms
 * are run in test_relocate_execution.c. */

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "thunks/relocate.h"

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

enum { FROM = 0x401000, TO = 0x500000, WANTED = 5 };

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

static struct swz_decoder *decoder;

static void open_decoder(void)
{
	decoder = swz_decoder_new(zeroed);
	ck_assert_ptr_nonnull(decoder);
}

struct rewrite {
	const char *name;
	const uint8_t *code;
	size_t size;
	const uint8_t *copy;
	size_t copy_size;
};

/* call 1f; int3; 1: lea 8(%rsp),%rsp */
#define CALL_AND_DROP "\xe8\x01\x00\x00\x00\xcc\x48\x8d\x64\x24\x08"

/* clang-format off */
static const struct rewrite rewrites[] = {
	{"lea keeps its address",
	 BYTES("\x48\x8d\x05\xf9\x0f\x00\x00"),
	 BYTES("\x48\x8d\x05\xf9\x1f\xf0\xff\xe9\xfb\x0f\xf0\xff")},
	{"cmp m,imm32: the displacement is not at the end",
	 BYTES("\x81\x3d\xf6\x0f\x00\x00\x44\x33\x22\x11"),
	 BYTES("\x81\x3d\xf6\x1f\xf0\xff\x44\x33\x22\x11\xe9\xfb"
	       "\x0f\xf0\xff")},
	{"cmp m,imm8",
	 BYTES("\x80\x3d\xf9\x0f\x00\x00\x41"),
	 BYTES("\x80\x3d\xf9\x1f\xf0\xff\x41\xe9\xfb\x0f\xf0\xff")},
	{"vpternlogd zmm,zmm,m,imm8",
	 BYTES("\x62\xe3\x65\x48\x25\x2d\xf5\x0f\x00\x00\x96"),
	 BYTES("\x62\xe3\x65\x48\x25\x2d\xf5\x1f\xf0\xff\x96\xe9"
	       "\xfb\x0f\xf0\xff")},
	{"js rel8 that leaves the site",
	 BYTES("\x85\xff\x78\x3c\x90"),
	 BYTES("\x85\xff\x0f\x88\x38\x10\xf0\xff\x90\xe9\xf7\x0f"
	       "\xf0\xff")},
	{"js rel32",
	 BYTES("\x0f\x88\x3a\x00\x00\x00"),
	 BYTES("\x0f\x88\x3a\x10\xf0\xff\xe9\xfb\x0f\xf0\xff")},
	{"jmp rel8, nothing follows",
	 BYTES("\xeb\x3e\xcc\xcc\xcc"),
	 BYTES("\xe9\x3b\x10\xf0\xff")},
	{"jmp rel8 backward",
	 BYTES("\xeb\xbe\xcc\xcc\xcc"),
	 BYTES("\xe9\xbb\x0f\xf0\xff")},
	{"jrcxz through an island",
	 BYTES("\xe3\x3e\x89\xc8\x90"),
	 BYTES("\xe3\x02\xeb\x05\xe9\x37\x10\xf0\xff\x89\xc8\x90"
	       "\xe9\xf4\x0f\xf0\xff")},
	{"jecxz keeps its prefix",
	 BYTES("\x67\xe3\x3d\x89\xc8"),
	 BYTES("\x67\xe3\x02\xeb\x05\xe9\x36\x10\xf0\xff\x89\xc8"
	       "\xe9\xf4\x0f\xf0\xff")},
	{"loopne",
	 BYTES("\xe0\x3e\x89\xc8\x90"),
	 BYTES("\xe0\x02\xeb\x05\xe9\x37\x10\xf0\xff\x89\xc8\x90"
	       "\xe9\xf4\x0f\xf0\xff")},
	{"jc to a displaced instruction",
	 BYTES("\x72\x02\x90\x90\x89\xc8"),
	 BYTES("\x0f\x82\x02\x00\x00\x00\x90\x90\x89\xc8\xe9\xf7"
	       "\x0f\xf0\xff")},
	{"jnz to the first displaced instruction",
	 BYTES("\xff\xc9\x75\xfc\x90"),
	 BYTES("\xff\xc9\x0f\x85\xf8\xff\xff\xff\x90\xe9\xf7\x0f"
	       "\xf0\xff")},
	{"call pushes the original return address",
	 BYTES("\xe8\xfb\x0f\x00\x00"),
	 BYTES(CALL_AND_DROP "\x68\x05\x10\x40\x00\xe9\xeb\x1f\xf0\xff")},
	{"call to the first displaced instruction goes by the patch",
	 BYTES("\xff\xcf\x78\x05\xe8\xf7\xff\xff\xff"),
	 BYTES("\xff\xcf\x0f\x88\x01\x10\xf0\xff" CALL_AND_DROP
	       "\x68\x09\x10\x40\x00\xe9\xe3\x0f\xf0\xff")},
	{"call m pushes, then jumps",
	 BYTES("\xff\x15\xfa\x0f\x00\x00"),
	 BYTES(CALL_AND_DROP "\x68\x06\x10\x40\x00\xff\x25\xea\x1f\xf0\xff")},
	{"call 8(%rsp) allows for the push",
	 BYTES("\x90\xff\x54\x24\x08"),
	 BYTES("\x90" CALL_AND_DROP "\x68\x05\x10\x40\x00\xff\x64\x24\x10")},
	{"call 120(%rsp) grows a displacement",
	 BYTES("\x90\xff\x54\x24\x78"),
	 BYTES("\x90" CALL_AND_DROP "\x68\x05\x10\x40\x00\xff\xa4\x24"
	       "\x80\x00\x00\x00")},
	{"call (%rsp) grows one, too",
	 BYTES("\x48\x89\xea\xff\x14\x24"),
	 BYTES("\x48\x89\xea" CALL_AND_DROP "\x68\x06\x10\x40\x00\xff"
	       "\x64\x24\x08")},
	{"prologue",
	 BYTES("\x55\x48\x89\xe5\x53"),
	 BYTES("\x55\x48\x89\xe5\x53\xe9\xfb\x0f\xf0\xff")},
	{"ret, then padding",
	 BYTES("\x31\xc0\xc3\x90\x90"),
	 BYTES("\x31\xc0\xc3")},
	{"endbr64 is copied",
	 BYTES("\xf3\x0f\x1e\xfa\x55"),
	 BYTES("\xf3\x0f\x1e\xfa\x55\xe9\xfb\x0f\xf0\xff")},
	{"data16 rex.W call, as for thread-local storage",
	 BYTES("\x66\x66\x48\xe8\xf8\x0f\x00\x00"),
	 BYTES(CALL_AND_DROP "\x68\x08\x10\x40\x00\xe9\xeb\x1f\xf0\xff")},
};
/* clang-format on */

START_TEST(writes_what_the_table_says)
{
	const struct rewrite *r = &rewrites[_i];
	struct swz_bytes code = {r->code, r->size};
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];

	ck_assert_int_eq(swz_relocate(decoder, code, FROM, WANTED, TO, out,
				      sizeof(out), NULL, &relocation),
			 SWZ_OK);
	ck_assert_msg(relocation.refusal == SWZ_PATCHED, "%s is refused",
		      r->name);
	ck_assert_msg(relocation.written == r->copy_size &&
			      !memcmp(out, r->copy, r->copy_size),
		      "%s is written otherwise", r->name);
}
END_TEST

struct refused {
	const char *name;
	const uint8_t *code;
	size_t size;
	enum swz_refusal refusal;
};

/* clang-format off */
static const struct refused refused[] = {
	{"nothing", BYTES(""), SWZ_REFUSE_TOO_SHORT},
	{"ret alone", BYTES("\xc3"), SWZ_REFUSE_TOO_SHORT},
	{"four bytes", BYTES("\x31\xc0\xc3\x90"), SWZ_REFUSE_TOO_SHORT},
	{"no instruction", BYTES("\x06\x90\x90\x90\x90"),
	 SWZ_REFUSE_UNDECODABLE},
	{"cut off", BYTES("\x90\x90\x90\x48\x8d"), SWZ_REFUSE_UNDECODABLE},
	{"syscall", BYTES("\x0f\x05\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"sysenter", BYTES("\x0f\x34\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"int 0x80", BYTES("\xcd\x80\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"int3", BYTES("\xcc\x90\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"ud2", BYTES("\x0f\x0b\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"hlt", BYTES("\xf4\x90\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"xbegin", BYTES("\xc7\xf8\x00\x00\x00\x00"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"jmp, then what is no padding", BYTES("\xeb\x3e\x83\xc0\x04"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"ret, then what is no padding", BYTES("\x31\xc0\xc3\x90\x50"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"iretq", BYTES("\x48\xcf\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"far ret", BYTES("\xcb\x90\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"sysret", BYTES("\x0f\x07\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"far jmp", BYTES("\x48\xff\x2d\x00\x00\x00\x00"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"far call", BYTES("\x48\xff\x1d\x00\x00\x00\x00"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"lea of eip-relative",
	 BYTES("\x67\x48\x8d\x05\x00\x00\x00\x00"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"16-bit jmp rel8", BYTES("\x66\xeb\x10\x90\x90"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"16-bit jcc rel8", BYTES("\x66\x74\x10\x90\x90"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"16-bit ret", BYTES("\x66\xc3\x90\x90\x90"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"16-bit call r", BYTES("\x90\x90\x66\xff\xd0"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"16-bit call rel", BYTES("\x66\xe8\x00\x00\x00\x00\x90"),
	 SWZ_REFUSE_UNDECODABLE},
	{"lock repne je", BYTES("\xf0\xf2\x74\x10\x90"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"call rsp", BYTES("\x90\x90\x90\xff\xd4"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"call -8(%rsp), which the push overwrites",
	 BYTES("\x90\xff\x54\x24\xf8"), SWZ_REFUSE_UNRELOCATABLE},
	{"call -15(%rsp), likewise", BYTES("\x90\xff\x54\x24\xf1"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"call 126(%rsp), which would have 16 bytes",
	 BYTES("\x65\x65\x65\x65\x65\x65\x65\x65\x65\xff\x54\x24\x7e"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"call (%rsp), likewise",
	 BYTES("\x65\x65\x65\x65\x65\x65\x65\x65\x65\x65\x65\x65\xff\x14\x24"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"call 8(%rsp,%rcx)", BYTES("\x90\xff\x54\x0c\x08"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"call 0x7ffffff8(%rsp)", BYTES("\xff\x94\x24\xf8\xff\xff\x7f"),
	 SWZ_REFUSE_UNRELOCATABLE},
	{"call r whose return address is in the patch",
	 BYTES("\xff\xd0\x90\x90\x90"), SWZ_REFUSE_UNRELOCATABLE},
	{"branch into the middle of a displaced instruction",
	 BYTES("\x75\x01\xb8\x00\x00\x00\x00"), SWZ_REFUSE_UNRELOCATABLE},
	{"branch into itself", BYTES("\xeb\xff\xc0\x90\x90"),
	 SWZ_REFUSE_UNRELOCATABLE},
};
/* clang-format on */

START_TEST(refuses_what_cannot_move)
{
	const struct refused *r = &refused[_i];
	struct swz_bytes code = {r->code, r->size};
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];

	ck_assert_int_eq(swz_relocate(decoder, code, FROM, WANTED, TO, out,
				      sizeof(out), NULL, &relocation),
			 SWZ_OK);
	ck_assert_msg(relocation.refusal == r->refusal,
		      "%s: refusal %d instead of %d", r->name,
		      (int)relocation.refusal, (int)r->refusal);
}
END_TEST

/* push imm16, of which capstone 4 says 32 bits. */
START_TEST(a_doubtful_length_is_refused_or_right)
{
	static const uint8_t code[] = {0x66, 0xf2, 0x41, 0x68, 0x01,
				       0x02, 0x90, 0x90, 0x90};
	struct swz_bytes bytes = {code, sizeof(code)};
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];

	ck_assert_int_eq(swz_relocate(decoder, bytes, FROM, WANTED, TO, out,
				      sizeof(out), NULL, &relocation),
			 SWZ_OK);
	if (relocation.refusal == SWZ_REFUSE_UNDECODABLE)
		return;
	ck_assert_int_eq(relocation.refusal, SWZ_PATCHED);
	ck_assert_mem_eq(out, code, 6);
}
END_TEST

static enum swz_status relocate_to(const uint8_t *bytes, size_t size,
				   uint64_t from, uint64_t to, uint8_t *out,
				   size_t room,
				   struct swz_relocation *relocation)
{
	struct swz_bytes code = {bytes, size};

	return swz_relocate(decoder, code, from, WANTED, to, out, room, NULL,
			    relocation);
}

/* Return addresses that push imm32 would make others of. */
START_TEST(pushes_a_long_return_address_from_memory)
{
	static const uint64_t homes[] = {0x90001000, 0x7f1234561000};
	static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
	static const uint8_t around_address[] = {0xe8, 0x09, 0, 0, 0, 0xcc};
	static const uint8_t drop_and_push[] = {0x48, 0x8d, 0x64, 0x24,
						0x08, 0xff, 0x35, 0xed,
						0xff, 0xff, 0xff};
	uint64_t return_address = homes[_i] + sizeof(call);
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];

	ck_assert_int_eq(relocate_to(call, sizeof(call), homes[_i],
				     homes[_i] + 0x100000, out, sizeof(out),
				     &relocation),
			 SWZ_OK);
	ck_assert_mem_eq(out, around_address, 6);
	ck_assert_mem_eq(out + 6, &return_address, 8);
	ck_assert_mem_eq(out + 14, drop_and_push, 11);
	ck_assert_uint_eq(relocation.written, 25 + SWZ_JUMP_BYTES);
}
END_TEST

START_TEST(loads_an_address_out_of_reach_as_a_constant)
{
	static const uint8_t lea[] = {0x4c, 0x8d, 0x1d, 0x00, 0xff, 0xff, 0x7f};
	static const uint8_t movabs[] = {0x49, 0xbb, 0x07, 0x0f, 0x00,
					 0x90, 0,    0,    0,    0};
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];

	ck_assert_int_eq(relocate_to(lea, sizeof(lea), 0x10001000, 0x8000000,
				     out, sizeof(out), &relocation),
			 SWZ_OK);
	ck_assert_mem_eq(out, movabs, sizeof(movabs));
}
END_TEST

START_TEST(a_load_that_keeps_the_flags_says_where_rsp_is)
{
	/* mov 8(%rsp), %rcx; setb %al */
	static const uint8_t code[] = {0x48, 0x8b, 0x4c, 0x24,
				       0x08, 0x0f, 0x92, 0xc0};
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c};
	static const uint8_t up[] = {0x9d, 0x48, 0x8d, 0xa4, 0x24,
				     0x80, 0,    0,    0};
	struct swz_slot_loads loads = {
		.count = 1, .keep_flags = 1, .arena = FROM + 0x2000};
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];
	unsigned behind;

	ck_assert_int_eq(swz_relocate(decoder,
				      (struct swz_bytes){code, sizeof(code)},
				      FROM, 8, FROM + 0x1000, out, sizeof(out),
				      &loads, &relocation),
			 SWZ_OK);
	ck_assert_int_eq(relocation.refusal, SWZ_PATCHED);
	ck_assert_mem_eq(out, code, 5);
	ck_assert_mem_eq(out + 5, down, sizeof(down));
	behind = relocation.insns[1].to;
	ck_assert_mem_eq(out + behind - sizeof(up), up, sizeof(up));
	ck_assert_mem_eq(out + behind, code + 5, 3);
	ck_assert_uint_eq(relocation.flag_step_count, 4);
	ck_assert_uint_eq(relocation.flag_steps[0].at, 10);
	ck_assert_uint_eq(relocation.flag_steps[0].below, 128);
	ck_assert_uint_eq(relocation.flag_steps[1].at, 11);
	ck_assert_uint_eq(relocation.flag_steps[1].below, 136);
	ck_assert_uint_eq(relocation.flag_steps[2].at, behind - 8);
	ck_assert_uint_eq(relocation.flag_steps[2].below, 128);
	ck_assert_uint_eq(relocation.flag_steps[3].at, behind);
	ck_assert_uint_eq(relocation.flag_steps[3].below, 0);

	loads.keep_flags = 0;
	ck_assert_int_eq(swz_relocate(decoder,
				      (struct swz_bytes){code, sizeof(code)},
				      FROM, 8, FROM + 0x1000, out, sizeof(out),
				      &loads, &relocation),
			 SWZ_OK);
	ck_assert_uint_eq(relocation.flag_step_count, 0);
	ck_assert_uint_eq(relocation.insns[1].to, behind - 15);
}
END_TEST

START_TEST(reports_a_target_out_of_reach)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x05, 0x00,
				       0xff, 0xff, 0x7f};
	static const uint8_t frame[] = {0x55, 0x48, 0x89, 0xe5, 0x53};
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];

	ck_assert_int_eq(relocate_to(load, sizeof(load), 0x10001000, 0x8000000,
				     out, sizeof(out), &relocation),
			 SWZ_E_RANGE);
	ck_assert_int_eq(relocate_to(frame, sizeof(frame), FROM,
				     FROM + UINT64_C(0x80000000), out,
				     sizeof(out), &relocation),
			 SWZ_E_RANGE);
	/* the last byte that the jump back still reaches from */
	ck_assert_int_eq(relocate_to(frame, sizeof(frame), FROM,
				     FROM + UINT64_C(0x7ffffffb), out,
				     sizeof(out), &relocation),
			 SWZ_OK);
	ck_assert_int_eq(relocate_to(frame, sizeof(frame), FROM,
				     FROM + UINT64_C(0x7ffffffc), out,
				     sizeof(out), &relocation),
			 SWZ_E_RANGE);
}
END_TEST

START_TEST(writes_no_byte_beyond_the_room)
{
	static const uint8_t frame[] = {0x55, 0x48, 0x89, 0xe5, 0x53};
	struct swz_relocation relocation;
	uint8_t out[16];
	size_t room;

	for (room = 0; room < 10; room++) {
		memset(out, 0xee, sizeof(out));
		ck_assert_int_eq(relocate_to(frame, sizeof(frame), FROM, TO,
					     out, room, &relocation),
				 SWZ_E_NOMEM);
		ck_assert_uint_eq(out[room], 0xee);
	}
	ck_assert_int_eq(relocate_to(frame, sizeof(frame), FROM, TO, out, 10,
				     &relocation),
			 SWZ_OK);
}
END_TEST

START_TEST(says_where_each_instruction_went)
{
	static const uint8_t code[] = {0x53, 0x78, 0x10, 0x31, 0xc0};
	struct swz_relocation relocation;
	uint8_t out[SWZ_RELOCATED_MAX];

	ck_assert_int_eq(relocate_to(code, sizeof(code), FROM, TO, out,
				     sizeof(out), &relocation),
			 SWZ_OK);
	ck_assert_uint_eq(relocation.displaced_bytes, 5);
	ck_assert_uint_eq(relocation.insn_count, 3);
	ck_assert_uint_eq(relocation.insns[1].from, 1);
	ck_assert_uint_eq(relocation.insns[1].to, 1);
	ck_assert_uint_eq(relocation.insns[2].from, 3);
	ck_assert_uint_eq(relocation.insns[2].to, 7);
}
END_TEST

struct decoded {
	const char *name;
	const uint8_t *code;
	size_t size; /* of the instruction; more bytes may follow */
	enum swz_insn_kind kind;
	uint8_t memory_base;
	int64_t memory_displacement;
};

/* clang-format off */
static const struct decoded decoded[] = {
	{"endbr64", BYTES("\xf3\x0f\x1e\xfa"), SWZ_INSN_PLAIN, 0, 0},
	{"rdsspq", BYTES("\xf3\x48\x0f\x1e\xc8"), SWZ_INSN_PLAIN, 0, 0},
	{"rstorssp", BYTES("\xf3\x0f\x01\x6c\x24\x08"), SWZ_INSN_PLAIN, 4, 8},
	{"saveprevssp", BYTES("\xf3\x0f\x01\xea"), SWZ_INSN_PLAIN, 0, 0},
	{"wrssq", BYTES("\x48\x0f\x38\xf6\x03"), SWZ_INSN_PLAIN, 0, 0},
	{"rdpkru", BYTES("\x0f\x01\xee"), SWZ_INSN_PLAIN, 0, 0},
	{"wrpkru", BYTES("\x0f\x01\xef"), SWZ_INSN_PLAIN, 0, 0},
	{"serialize", BYTES("\x0f\x01\xe8"), SWZ_INSN_PLAIN, 0, 0},
	{"clzero", BYTES("\x0f\x01\xfc"), SWZ_INSN_PLAIN, 0, 0},
	{"cldemote", BYTES("\x0f\x1c\x44\x24\x08"), SWZ_INSN_PLAIN, 4, 8},
	{"bndcl", BYTES("\xf3\x0f\x1a\xc8"), SWZ_INSN_PLAIN, 0, 0},
	{"prefetchwt1", BYTES("\x0f\x0d\x10"), SWZ_INSN_PLAIN, 0, 0},
	{"ptwrite", BYTES("\xf3\x48\x0f\xae\xe0"), SWZ_INSN_PLAIN, 0, 0},
	{"movdir64b", BYTES("\x66\x0f\x38\xf8\x44\x24\x40"),
	 SWZ_INSN_PLAIN, 4, 64},
	{"enqcmd", BYTES("\xf2\x0f\x38\xf8\x07"), SWZ_INSN_PLAIN, 0, 0},
	{"movdiri", BYTES("\x48\x0f\x38\xf9\x07"), SWZ_INSN_PLAIN, 0, 0},
	{"gf2p8mulb", BYTES("\x66\x0f\x38\xcf\xca"), SWZ_INSN_PLAIN, 0, 0},
	{"gf2p8affineqb", BYTES("\x66\x0f\x3a\xce\xca\x01"),
	 SWZ_INSN_PLAIN, 0, 0},
	{"aesenc128kl", BYTES("\xf3\x0f\x38\xdc\x08"), SWZ_INSN_PLAIN, 0,
	 0},
	{"tileloadd", BYTES("\xc4\xe2\x7b\x4b\x0c\x03"), SWZ_INSN_PLAIN, 0,
	 0},
	{"ud1 with an operand", BYTES("\x67\x0f\xb9\x40\x02"),
	 SWZ_INSN_TRAP, 0, 0},
	{"kmovd", BYTES("\xc5\xfb\x93\xc0"), SWZ_INSN_PLAIN, 0, 0},
	{"vpermq of an upper register",
	 BYTES("\x62\xa3\xfd\x28\x00\xed\xcf"), SWZ_INSN_PLAIN, 0, 0},
	{"vaddps that rounds has no immediate",
	 BYTES("\x62\xf1\x7c\x58\x58\xc1"), SWZ_INSN_PLAIN, 0, 0},
	{"vaddph", BYTES("\x62\xf5\x7c\x48\x58\xc1"), SWZ_INSN_PLAIN, 0, 0},
	{"vcmpps that suppresses exceptions has one",
	 BYTES("\x62\xf1\x7c\x18\xc2\xc1\x04"), SWZ_INSN_PLAIN, 0, 0},
	{"movabs to rax", BYTES("\x48\xa1\x11\x22\x33\x44\x55\x66\x77\x08"),
	 SWZ_INSN_PLAIN, 0, 0},
	{"enter", BYTES("\xc8\x10\x00\x02"), SWZ_INSN_PLAIN, 0, 0},
	{"test m,imm32", BYTES("\xf7\x44\x24\x08\x01\x02\x03\x04"),
	 SWZ_INSN_PLAIN, 4, 8},
	{"not m", BYTES("\xf7\x54\x24\x08"), SWZ_INSN_PLAIN, 4, 8},
	{"long nop", BYTES("\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00"),
	 SWZ_INSN_PLAIN, 0, 0},
	{"mov 8(%rsp)", BYTES("\x48\x8b\x44\x24\x08"), SWZ_INSN_PLAIN, 4, 8},
	{"mov (%rsp)", BYTES("\x48\x8b\x04\x24"), SWZ_INSN_PLAIN, 4, 0},
	{"mov 8(%r12)", BYTES("\x49\x8b\x44\x24\x08"), SWZ_INSN_PLAIN, 0, 0},
	{"mov 8(%rbp)", BYTES("\x48\x8b\x45\x08"), SWZ_INSN_PLAIN, 5, 8},
	{"mov 8(%r13)", BYTES("\x49\x8b\x45\x08"), SWZ_INSN_PLAIN, 0, 0},
	{"mov -256(%rbp)", BYTES("\x48\x8b\x85\x00\xff\xff\xff"),
	 SWZ_INSN_PLAIN, 5, -256},
	{"mov 8(%rsp,%rcx)", BYTES("\x48\x8b\x44\x0c\x08"), SWZ_INSN_PLAIN,
	 0, 0},
	{"vmovups 8(%rsp)", BYTES("\xc5\xf8\x10\x44\x24\x08"),
	 SWZ_INSN_PLAIN, 4, 8},
	{"vmovups 8(%r12)", BYTES("\xc4\xc1\x78\x10\x44\x24\x08"),
	 SWZ_INSN_PLAIN, 0, 0},
	{"vmovdqu64 64(%rsp), scaled", BYTES("\x62\xf1\xfe\x48\x6f\x44\x24\x01"),
	 SWZ_INSN_PLAIN, 0, 0},
	{"pop 8(%rsp)", BYTES("\x8f\x44\x24\x08"), SWZ_INSN_PLAIN, 4, 8},
	{"jmp rel8", BYTES("\xeb\x10"), SWZ_INSN_JUMP, 0, 0},
	{"jcc rel32", BYTES("\x0f\x8f\x10\x00\x00\x00"), SWZ_INSN_JUMP_CC, 0,
	 0},
	{"xbegin", BYTES("\xc7\xf8\x10\x00\x00\x00"), SWZ_INSN_JUMP_CC, 0,
	 0},
	{"jecxz", BYTES("\x67\xe3\x10"), SWZ_INSN_LOOP, 0, 0},
	{"call rel32", BYTES("\xe8\x10\x00\x00\x00"), SWZ_INSN_CALL, 0, 0},
	{"call r", BYTES("\xff\xd0"), SWZ_INSN_CALL_INDIRECT, 0, 0},
	{"notrack jmp r", BYTES("\x3e\xff\xe0"), SWZ_INSN_JUMP_INDIRECT, 0, 0},
	{"push m", BYTES("\xff\x74\x24\x08"), SWZ_INSN_PLAIN, 4, 8},
	{"ret imm16", BYTES("\xc2\x08\x00"), SWZ_INSN_RETURN, 0, 0},
	{"rep ret", BYTES("\xf3\xc3"), SWZ_INSN_RETURN, 0, 0},
	{"int3", BYTES("\xcc"), SWZ_INSN_TRAP, 0, 0},
	{"ud2", BYTES("\x0f\x0b"), SWZ_INSN_TRAP, 0, 0},
	{"int n", BYTES("\xcd\x29"), SWZ_INSN_TRAP, 0, 0},
	{"int 0x80", BYTES("\xcd\x80"), SWZ_INSN_SYSCALL, 0, 0},
	{"syscall", BYTES("\x0f\x05"), SWZ_INSN_SYSCALL, 0, 0},
};
/* clang-format on */

START_TEST(decodes_length_kind_and_stack_operand)
{
	const struct decoded *d = &decoded[_i];
	uint8_t bytes[32];
	struct swz_bytes code = {bytes, sizeof(bytes)};
	struct swz_insn insn;

	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes, d->code, d->size);
	ck_assert_msg(swz_decode(decoder, code, FROM, &insn) == SWZ_OK,
		      "%s is not decoded", d->name);
	ck_assert_msg(insn.length == d->size, "%s: length %d", d->name,
		      insn.length);
	ck_assert_msg(insn.kind == d->kind, "%s: kind %d", d->name,
		      (int)insn.kind);
	ck_assert_msg(insn.memory_base == d->memory_base &&
			      insn.memory_displacement ==
				      d->memory_displacement,
		      "%s: operand", d->name);
	code.size = d->size - 1;
	ck_assert_msg(d->size == 2 ||
			      swz_decode(decoder, code, FROM, &insn) !=
				      SWZ_OK ||
			      insn.length < d->size,
		      "%s is decoded though cut off", d->name);
}
END_TEST

static int allocations_left;

static void *fails_after_some(size_t bytes)
{
	return allocations_left-- > 0 ? calloc(1, bytes) : NULL;
}

START_TEST(a_decoder_without_memory_is_null)
{
	int n;

	for (n = 0; n < 16; n++) {
		allocations_left = n;
		if (swz_decoder_new(fails_after_some))
			break;
	}
	ck_assert_int_gt(n, 0);
	ck_assert_int_lt(n, 16);
}
END_TEST

/* In place of capstone's own, which need a fault in it. */
static void *meets_an_assertion(size_t bytes)
{
	if (bytes)
		swz_decoder_escape();
	return NULL;
}

START_TEST(an_assertion_of_capstone_is_no_decoder)
{
	ck_assert_ptr_null(swz_decoder_new(meets_an_assertion));
}
END_TEST

static sem_t reached, may_go_on;

static void *meets_one_later(size_t bytes)
{
	sem_post(&reached);
	sem_wait(&may_go_on);
	return meets_an_assertion(bytes);
}

static void *makes_a_decoder(void *made)
{
	*(struct swz_decoder **)made = swz_decoder_new(meets_one_later);
	return NULL;
}

START_TEST(an_assertion_ends_the_call_of_its_own_thread)
{
	struct swz_decoder *others[2];
	pthread_t threads[2];

	sem_init(&reached, 0, 0);
	sem_init(&may_go_on, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		others[i] = decoder;
		ck_assert_int_eq(pthread_create(&threads[i], NULL,
						makes_a_decoder, &others[i]),
				 0);
		sem_wait(&reached);
	}
	ck_assert_ptr_null(swz_decoder_new(meets_an_assertion));
	sem_post(&may_go_on);
	sem_post(&may_go_on);
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		ck_assert_ptr_null(others[i]);
	}
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(*(array)))

int main(void)
{
	Suite *suite = suite_create("relocate");
	TCase *tcase = tcase_create("relocate");

	tcase_add_checked_fixture(tcase, open_decoder, NULL);
	tcase_add_loop_test(tcase, writes_what_the_table_says, 0,
			    COUNT(rewrites));
	tcase_add_loop_test(tcase, refuses_what_cannot_move, 0, COUNT(refused));
	tcase_add_loop_test(tcase, decodes_length_kind_and_stack_operand, 0,
			    COUNT(decoded));
	tcase_add_loop_test(tcase, pushes_a_long_return_address_from_memory, 0,
			    2);
	tcase_add_test(tcase, loads_an_address_out_of_reach_as_a_constant);
	tcase_add_test(tcase, a_load_that_keeps_the_flags_says_where_rsp_is);
	tcase_add_test(tcase, a_doubtful_length_is_refused_or_right);
	tcase_add_test(tcase, reports_a_target_out_of_reach);
	tcase_add_test(tcase, writes_no_byte_beyond_the_room);
	tcase_add_test(tcase, says_where_each_instruction_went);
	tcase_add_test(tcase, a_decoder_without_memory_is_null);
	tcase_add_test(tcase, an_assertion_of_capstone_is_no_decoder);
	tcase_add_test(tcase, an_assertion_ends_the_call_of_its_own_thread);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
