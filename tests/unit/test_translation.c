/* A displaced load of the return address gives what the thunk has for it, in
 * whatever register; any other word stays as it is, up to the arena's bounds.
 */

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "asm/x86_64/offsets.h"
#include "execute.h"
#include "tests/unit/run_suite.h"
#include "thunks/relocate.h"

enum { ARENA_BYTES = 2 * SWZ_UNIT_CODE_BYTES, COPY_AT = 0x20000000 };

static const uint64_t return_address = UINT64_C(0x123456789abcdef0);

static struct room room, copy;
static uint8_t *arena;
static _Alignas(64) uint64_t stack[64];

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

/* T of the last thunk in the unit, which has that return address. */
static uint64_t make_thunk(void)
{
	uint8_t *code = arena + SWZ_UNIT_CODE_BYTES - SWZ_THUNK_BYTES;

	memcpy(code + SWZ_UNIT_CODE_BYTES + SWZ_THUNK_RETURN, &return_address,
	       sizeof(return_address));
	return (uintptr_t)code + SWZ_THUNK_AFTER_CALL;
}

static void set_up(void)
{
	ck_assert(room_open(&room, 0x18000000));
	ck_assert(room_open(&copy, 0x18000000 + COPY_AT));
	arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(arena != MAP_FAILED);
}

/* Where the copy finds the bounds: in its room's data. */
static void relocate(struct swz_decoder *decoder, unsigned reg)
{
	uint64_t bounds[] = {(uintptr_t)arena, (uintptr_t)arena + ARENA_BYTES};
	/* nop; mov (%rsp), %reg; the load is not the first one */
	uint8_t load[] = {0x90, reg >= 8 ? 0x4c : 0x48, 0x8b,
			  (uint8_t)((reg & 7) << 3 | 4), 0x24};
	struct swz_slot_loads loads = {
		.count = 1, .at = {1}, .arena = (uintptr_t)copy.data};
	struct swz_bytes code = {room.code, 64};
	struct swz_relocation relocation;

	room_furnish(&room, load, sizeof(load), sizeof(load), 1);
	memcpy(copy.data, bounds, sizeof(bounds));
	ck_assert_int_eq(swz_relocate(decoder, code, (uintptr_t)room.code,
				      SWZ_JUMP_BYTES, (uintptr_t)copy.code,
				      copy.code, 0x100, &loads, &relocation),
			 SWZ_OK);
	ck_assert_int_eq(relocation.refusal, SWZ_PATCHED);
	memset(room.code, 0xcc, relocation.displaced_bytes);
}

/* All other registers keep what they had. */
static void check_load(unsigned reg, uint64_t word, uint64_t expected)
{
	static struct machine_state before, after;
	static const uint16_t control_word = 0x37f;
	static const uint32_t mxcsr = 0x1f80;

	memset(&before, 0, sizeof(before));
	memcpy(before.vectors, &control_word, sizeof(control_word));
	memcpy(before.vectors + 24, &mxcsr, sizeof(mxcsr));
	for (unsigned i = 0; i < REGISTERS; i++)
		before.registers[i] = 0x1111111111111111u * (i + 1);
	before.registers[RSP] = (uintptr_t)&stack[32];
	before.flags = 0x202;
	stack[32] = word;
	after = before;
	ck_assert_uint_eq(room_run(&room, copy.code, &after), 0);
	for (unsigned i = 0; i < REGISTERS; i++)
		ck_assert_uint_eq(after.registers[i],
				  i == reg ? expected : before.registers[i]);
}

START_TEST(a_load_gives_the_thunks_return_address)
{
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	unsigned reg = (unsigned)_i;
	uint64_t words[4];

	if (reg == RSP)
		return; /* none that is translated */
	set_up();
	words[0] = (uintptr_t)arena - 1;
	words[1] = (uintptr_t)arena + ARENA_BYTES;
	words[2] = 0;
	words[3] = UINT64_MAX;
	relocate(decoder, reg);
	check_load(reg, make_thunk(), return_address);
	for (unsigned i = 0; i < 4; i++)
		check_load(reg, words[i], words[i]);
}
END_TEST

/* The first thunk of the arena begins where that does. */
START_TEST(the_arenas_first_thunk_is_one)
{
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	uint64_t first;

	set_up();
	first = (uintptr_t)arena;
	relocate(decoder, R12);
	memcpy(arena + SWZ_UNIT_CODE_BYTES - SWZ_THUNK_AFTER_CALL +
		       SWZ_THUNK_RETURN,
	       &return_address, sizeof(return_address));
	check_load(R12, first, return_address);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("translation");
	TCase *t = tcase_create("translation");

	tcase_add_loop_test(t, a_load_gives_the_thunks_return_address, 0,
			    REGISTERS);
	tcase_add_test(t, the_arenas_first_thunk_is_one);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
