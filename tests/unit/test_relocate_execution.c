/* Relocated code is run against the original, on the same registers, flags,
 * stack and data, and must leave the same. While the copy runs, the displaced
 * bytes are gone. Originals lie below 2 GiB, between 2 and 4 GiB, where a
 * pushed 32-bit immediate has the wrong sign, and high. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "execute.h"
#include "relocate_cases.h"
#include "tests/unit/run_suite.h"
#include "thunks/relocate.h"

enum { STACK_BYTES = 1024, PATCH_BYTES = 5, COPY_BYTES = 4096, ROUNDS = 40 };

#ifdef __SANITIZE_ADDRESS__
#define ORIGINAL_MIDDLE 0x28000000 /* its shadow memory lies above 2 GiB */
#else
#define ORIGINAL_MIDDLE 0x98000000
#endif
static const uint64_t originals[] = {0x18000000, ORIGINAL_MIDDLE,
				     0x6e1234560000};
static const int64_t distances[] = {0x30000000, -0x8000000};

/* All that the code can see or change. */
struct world {
	struct machine_state state;
	uint8_t stack[STACK_BYTES];
	uint8_t data[256];
	unsigned ended_at;
};

static _Alignas(64) uint8_t stack[STACK_BYTES];

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void fill_randomly(void *bytes, size_t size)
{
	uint8_t *out = bytes;

	while (size--)
		*out++ = (uint8_t)next_random();
}

/* XSAVE's legacy area and header; FCW and MXCSR as at program start. */
static void choose_vectors(struct machine_state *state)
{
	static const uint16_t control_word = 0x37f;
	static const uint32_t mxcsr = 0x1f80;
	static const uint64_t present = 7; /* x87, SSE, AVX */

	memset(state->vectors, 0, sizeof(state->vectors));
	memcpy(state->vectors, &control_word, sizeof(control_word));
	memcpy(state->vectors + 24, &mxcsr, sizeof(mxcsr));
	memcpy(state->vectors + 512, &present, sizeof(present));
	fill_randomly(state->vectors + 160, 256); /* xmm0 to xmm15 */
	fill_randomly(state->vectors + 576, 256); /* upper halves of ymm */
}

/* rdi: the data; rbx: an end; rbp, r12: the callee; rsi: an index. */
static void choose_state(struct machine_state *state, const struct room *room,
			 unsigned flags, unsigned round)
{
	choose_vectors(state);
	fill_randomly(state->registers, sizeof(state->registers));
	state->registers[RDI] = (uintptr_t)room->data;
	state->registers[RBX] = (uintptr_t)room->code + ROOM_FAR;
	state->registers[RBP] = (uintptr_t)room->code + ROOM_CALLEE;
	state->registers[R12] = (uintptr_t)room->code + ROOM_CALLEE;
	state->registers[RSI] = 9;
	state->registers[RCX] = round % 4;
	if (flags & EXECUTE_COUNTS)
		state->registers[RCX] = 1 + round % 4;
	state->registers[RSP] = (uintptr_t)stack + STACK_BYTES / 2;
	state->flags = (next_random() & 0x8d5) | 0x202;
}

/* What ret finds: an end; what call *disp(%rsp) finds: the callee. */
static void choose_stack(const struct room *room)
{
	uint64_t end = (uintptr_t)room->code + ROOM_FAR;
	uint64_t callee = (uintptr_t)room->code + ROOM_CALLEE;

	fill_randomly(stack, sizeof(stack));
	memcpy(stack + STACK_BYTES / 2, &end, sizeof(end));
	memcpy(stack + STACK_BYTES / 2 + 120, &callee, sizeof(callee));
	memcpy(stack + STACK_BYTES / 2 + 128, &callee, sizeof(callee));
}

static void run(struct world *world, struct room *room, const void *entry,
		const struct world *before)
{
	world->state = before->state;
	memcpy(stack, before->stack, sizeof(stack));
	memcpy(room->data, before->data, sizeof(before->data));
	world->ended_at = room_run(room, entry, &world->state);
	world->state.flags &= EXECUTE_FLAGS;
	memset(world->state.vectors + 8, 0, 16); /* address of the last fld */
	memcpy(world->stack, stack, sizeof(stack));
	memcpy(world->data, room->data, sizeof(world->data));
}

/* The whole stack is compared, with what was popped: a copy pushes the same
 * values to the same places as the original. */
static void check_same(const char *name, const struct world *one,
		       const struct world *other)
{
	ck_assert_msg(one->ended_at == other->ended_at,
		      "%s: ends at %u, not %u", name, other->ended_at,
		      one->ended_at);
	ck_assert_msg(!memcmp(one->state.registers, other->state.registers,
			      sizeof(one->state.registers)),
		      "%s: registers", name);
	ck_assert_msg(one->state.flags == other->state.flags, "%s: flags",
		      name);
	ck_assert_msg(!memcmp(one->state.vectors, other->state.vectors,
			      sizeof(one->state.vectors)),
		      "%s: vector registers", name);
	ck_assert_msg(!memcmp(one->stack, other->stack, sizeof(one->stack)),
		      "%s: stack", name);
	ck_assert_msg(!memcmp(one->data, other->data, sizeof(one->data)),
		      "%s: data", name);
}

static bool processor_can(const struct relocate_case *c)
{
	if ((c->flags & EXECUTE_AVX2) && !__builtin_cpu_supports("avx2"))
		return false;
	return !(c->flags & EXECUTE_AVX512) ||
	       (__builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512vl"));
}

static void check_case(struct swz_decoder *decoder, struct room *room,
		       uint8_t *copy, const struct relocate_case *c)
{
	static struct world before, native, moved;
	struct swz_relocation relocation;
	unsigned round;

	for (round = 0; round < ROUNDS; round++) {
		struct swz_bytes code = {room->code, 64};

		room_furnish(room, c->code, c->size, PATCH_BYTES, round);
		choose_state(&before.state, room, c->flags, round);
		choose_stack(room);
		memcpy(before.stack, stack, sizeof(stack));
		memcpy(before.data, room->data, sizeof(before.data));
		run(&native, room, room->code, &before);
		ck_assert_int_eq(
			swz_relocate(decoder, code, (uintptr_t)room->code,
				     PATCH_BYTES, (uintptr_t)copy, copy,
				     SWZ_RELOCATED_MAX, NULL, &relocation),
			SWZ_OK);
		ck_assert_msg(relocation.refusal == SWZ_PATCHED,
			      "%s is refused: %d", c->name,
			      (int)relocation.refusal);
		memset(room->code, 0xcc, relocation.displaced_bytes);
		run(&moved, room, copy, &before);
		check_same(c->name, &native, &moved);
	}
}

START_TEST(copy_does_what_the_original_does)
{
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	uint64_t base = originals[_i / 2];
	void *copy_at = (void *)(uintptr_t)(base + (uint64_t)distances[_i % 2]);
	struct room room;
	uint8_t *copy;
	size_t i;

	ck_assert_ptr_nonnull(decoder);
	ck_assert(room_open(&room, base));
	copy = mmap(copy_at, COPY_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	ck_assert_ptr_eq(copy, copy_at);
	for (i = 0; i < sizeof(relocate_cases) / sizeof(*relocate_cases); i++)
		if (processor_can(&relocate_cases[i]))
			check_case(decoder, &room, copy, &relocate_cases[i]);
	munmap(copy, COPY_BYTES);
	room_close(&room);
}
END_TEST

/* What the callee finds at its rsp is the original's return address, whose
 * upper half is not 0 in the last original; and rsp comes back as it was. */
START_TEST(callee_sees_the_original_return_address)
{
	static const uint8_t call[] = {0xe8, (ROOM_CALLEE - 5) & 0xff,
				       (ROOM_CALLEE - 5) >> 8, 0, 0};
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	static struct world before, moved;
	uint64_t base = originals[_i];
	struct swz_relocation relocation;
	uint64_t return_address, below_rsp;
	struct room room, copy;
	struct swz_bytes code;

	ck_assert(room_open(&room, base));
	ck_assert(room_open(&copy, base + (uint64_t)distances[0]));
	room_furnish(&room, call, sizeof(call), PATCH_BYTES, 1);
	choose_state(&before.state, &room, 0, 1);
	choose_stack(&room);
	memcpy(before.stack, stack, sizeof(stack));
	memcpy(before.data, room.data, sizeof(before.data));
	code = (struct swz_bytes){room.code, 64};
	ck_assert_int_eq(swz_relocate(decoder, code, (uintptr_t)room.code,
				      PATCH_BYTES, (uintptr_t)copy.code,
				      copy.code, SWZ_RELOCATED_MAX, NULL,
				      &relocation),
			 SWZ_OK);
	memset(room.code, 0xcc, PATCH_BYTES);
	run(&moved, &room, copy.code, &before);
	return_address = (uintptr_t)room.code + sizeof(call);
	memcpy(&below_rsp, moved.stack + STACK_BYTES / 2 - 8, 8);
	ck_assert_uint_eq(moved.state.registers[RAX], return_address);
	ck_assert_uint_eq(below_rsp, return_address);
	ck_assert_uint_eq(moved.ended_at, 0);
	ck_assert_uint_eq(moved.state.registers[RSP],
			  before.state.registers[RSP]);
	ck_assert_uint_eq(moved.state.flags,
			  before.state.flags & EXECUTE_FLAGS);
	room_close(&copy);
	room_close(&room);
}
END_TEST

/* jcc short and near in all conditions, on all values of the flags. */
START_TEST(every_condition_is_kept)
{
	static const uint64_t bits[] = {0x1, 0x4, 0x40, 0x80, 0x800};
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	static struct world before, native, moved;
	bool is_short = _i < 16;
	uint8_t condition = (uint8_t)(_i % 16);
	uint8_t short_form[] = {(uint8_t)(0x70 | condition), ROOM_SHORT - 2,
				0x89, 0xf8, 0x90};
	uint8_t near_form[] = {0x0f,
			       (uint8_t)(0x80 | condition),
			       (ROOM_FAR - 6) & 0xff,
			       (ROOM_FAR - 6) >> 8,
			       0,
			       0};
	struct swz_relocation relocation;
	struct room room, copy;
	unsigned taken = 0;
	unsigned value, i;

	ck_assert(room_open(&room, originals[1]));
	ck_assert(room_open(&copy, originals[1] + (uint64_t)distances[0]));
	for (value = 0; value < 32; value++) {
		struct swz_bytes code = {room.code, 64};

		room_furnish(&room, is_short ? short_form : near_form,
			     is_short ? 5 : 6, PATCH_BYTES, value);
		choose_state(&before.state, &room, 0, value);
		before.state.flags = 0x202;
		for (i = 0; i < 5; i++)
			if (value & (1u << i))
				before.state.flags |= bits[i];
		memcpy(before.data, room.data, sizeof(before.data));
		run(&native, &room, room.code, &before);
		ck_assert_int_eq(swz_relocate(decoder, code,
					      (uintptr_t)room.code, PATCH_BYTES,
					      (uintptr_t)copy.code, copy.code,
					      SWZ_RELOCATED_MAX, NULL,
					      &relocation),
				 SWZ_OK);
		ck_assert_int_eq(relocation.refusal, SWZ_PATCHED);
		memset(room.code, 0xcc, relocation.displaced_bytes);
		run(&moved, &room, copy.code, &before);
		check_same("jcc", &native, &moved);
		taken += native.ended_at != 0;
	}
	ck_assert(taken > 0 && taken < 32);
	room_close(&copy);
	room_close(&room);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("relocate_execution");
	TCase *forms = tcase_create("forms");
	TCase *conditions = tcase_create("conditions");

	tcase_add_loop_test(forms, copy_does_what_the_original_does, 0, 6);
	tcase_add_loop_test(forms, callee_sees_the_original_return_address, 0,
			    3);
	tcase_add_loop_test(conditions, every_condition_is_kept, 0, 32);
	suite_add_tcase(suite, forms);
	suite_add_tcase(suite, conditions);
	return run_suite(suite);
}
