/* Every form of instruction that decodes, run where it stands and as a
 * displaced one, on the same registers, flags, stack and memory; also the
 * prologues of real functions. What faults must fault in the same way. While
 * the copy runs, the displaced bytes are gone.
 *
 *	test_relocate_forms            a sample, some seconds
 *	test_relocate_forms all        all forms, some minutes
 *	test_relocate_forms FILE...    the first instructions of each function
 *
 * Opcodes run through all maps, with prefixes and ModRM bytes that stand for
 * all kinds of operands; immediates are random. Each form is tried as the first
 * displaced instruction, with others behind it, and as the last. */

#include <check.h>
#include <cpuid.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execute.h"
#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "tests/unit/run_suite.h"
#include "thunks/relocate.h"

enum {
	PATCH_BYTES = 5,
	COPY_BYTES = 4096,
	WORK_BYTES = 0x4000,
	ROOM_WORDS = 256, /* of the room's data that are compared */
	LONGEST = 40      /* bytes of one sequence */
};

#define ROOM_AT UINT64_C(0x6e1230000000)
#define COPY_AT UINT64_C(0x6e1260000000)
/* Registers point here; the low bits keep TF, NT and AC clear if a register
 * becomes the flags. */
#define WORK_AT UINT64_C(0x6e2200000000)

struct sequence {
	uint8_t bytes[LONGEST];
	size_t size;
};

struct counts {
	unsigned long sequences, refused, faulted, endless, same;
};

/* All that the code can see or change. */
struct world {
	struct machine_state state;
	uint8_t work[WORK_BYTES];
	uint8_t data[ROOM_WORDS];
	struct execute_fault fault;
	unsigned ended_at;
};

static struct room room;
static uint8_t *copy, *work;
static struct swz_decoder *decoder;
static struct counts counts;
static bool all;
static unsigned stride = 1, turn; /* of a sample */
static unsigned long differences;

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

/* Also outside of libcheck. */
static void require(bool condition)
{
	if (!condition) {
		perror("test_relocate_forms");
		exit(2);
	}
}

static void *map_at(uint64_t address, size_t bytes, int protection)
{
	void *wanted = (void *)(uintptr_t)address;
	void *got = mmap(wanted, bytes, protection,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			 0);

	require(got == wanted);
	return got;
}

static void set_up(void)
{
	decoder = swz_decoder_new(zeroed);
	require(decoder && room_open(&room, ROOM_AT));
	copy = map_at(COPY_AT, COPY_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
	work = map_at(WORK_AT - WORK_BYTES / 2, WORK_BYTES,
		      PROT_READ | PROT_WRITE);
}

/* ------------------------------------------------------------ one sequence */

/* Round 0: every register points into memory; round 1: small numbers. */
static void choose_state(struct machine_state *state, unsigned round,
			 bool counting)
{
	static const uint16_t control_word = 0x37f;
	static const uint32_t mxcsr = 0x1f80;
	uint64_t present = 0xe7;
	unsigned i;

	if (!__builtin_cpu_supports("avx512f"))
		present = __builtin_cpu_supports("avx") ? 7 : 3;
	memset(state, 0, sizeof(*state));
	memcpy(state->vectors, &control_word, sizeof(control_word));
	memcpy(state->vectors + 24, &mxcsr, sizeof(mxcsr));
	memcpy(state->vectors + 512, &present, sizeof(present));
	for (i = 160; i < 416; i++) /* xmm */
		state->vectors[i] = (uint8_t)next_random();
	for (i = 576; i < EXECUTE_VECTOR_BYTES; i++)
		if (i < 832 || i >= 1088)
			state->vectors[i] = (uint8_t)next_random();
	for (i = 0; i < REGISTERS; i++)
		state->registers[i] = round ? next_random() % 64
					    : WORK_AT + UINT64_C(16) * i;
	if (counting || round)
		state->registers[RCX] = 1 + next_random() % 3;
	state->registers[RSP] = WORK_AT - WORK_BYTES / 4;
	state->flags = (next_random() & 0x8d5) | 0x202;
}

/* Words that are harmless as flags; on the stack: an end. */
static void choose_memory(struct world *world)
{
	uint64_t end = (uintptr_t)room.code + ROOM_FAR;
	size_t i;

	for (i = 0; i < WORK_BYTES; i += 8) {
		uint64_t word = next_random() & ~UINT64_C(0x0024410000244100);

		memcpy(world->work + i, &word, 8);
	}
	memcpy(world->work + WORK_BYTES / 4, &end, sizeof(end));
}

static void run(struct world *world, const void *entry,
		const struct world *before)
{
	world->state = before->state;
	memcpy(work, before->work, WORK_BYTES);
	memcpy(room.data, before->data, ROOM_WORDS);
	world->ended_at = room_run_guarded(&room, entry, &world->state,
					   &world->fault);
	world->state.flags &= EXECUTE_FLAGS;
	memset(world->state.vectors + 8, 0, 16); /* address of the last fld */
	memset(world->state.vectors + 6, 0, 2);  /* and its opcode */
	memcpy(world->work, work, WORK_BYTES);
	memcpy(world->data, room.data, ROOM_WORDS);
}

/* A processor that is taken away for long may let the alarm go off too soon. */
static void run_to_an_end(struct world *world, const void *entry,
			  const struct world *before)
{
	int tries = 3;

	do
		run(world, entry, before);
	while (world->fault.signal == SIGVTALRM && --tries);
}

static const char *check_fault(const struct world *native,
			       const struct world *moved,
			       const struct swz_relocation *relocation)
{
	uint64_t at = native->fault.at - (uintptr_t)room.code;
	uint64_t moved_at = moved->fault.at - (uintptr_t)copy;
	unsigned i;

	if (native->fault.signal != moved->fault.signal)
		return "another signal";
	if (at >= relocation->displaced_bytes)
		return native->fault.at == moved->fault.at
			       ? NULL
			       : "a fault elsewhere, outside";
	for (i = 0; i < relocation->insn_count; i++) {
		uint16_t end = i + 1u < relocation->insn_count
				       ? relocation->insns[i + 1].to
				       : relocation->written;

		if (at == relocation->insns[i].from)
			return moved_at >= relocation->insns[i].to &&
					       moved_at < end
				       ? NULL
				       : "a fault elsewhere";
	}
	return "a fault within an instruction";
}

static const char *compare(const struct world *native,
			   const struct world *moved,
			   const struct swz_relocation *relocation)
{
	const char *fault;

	if (native->ended_at != moved->ended_at)
		return "ends elsewhere";
	if (native->ended_at == ROOM_FAULT) {
		fault = check_fault(native, moved, relocation);
		if (fault)
			return fault;
	}
	if (memcmp(native->state.registers, moved->state.registers,
		   sizeof(native->state.registers)) != 0)
		return "registers";
	if (native->state.flags != moved->state.flags)
		return "flags";
	if (memcmp(native->state.vectors, moved->state.vectors,
		   EXECUTE_VECTOR_BYTES) != 0)
		return "vector registers";
	if (memcmp(native->work, moved->work, WORK_BYTES) != 0)
		return "memory";
	if (memcmp(native->data, moved->data, ROOM_WORDS) != 0)
		return "data";
	return NULL;
}

static void report(const struct sequence *s, unsigned round, const char *what,
		   const struct world *native, const struct world *moved)
{
	size_t i;

	if (differences++ >= 30)
		return;
	printf("difference (%s) in round %u:", what, round);
	for (i = 0; i < s->size; i++)
		printf(" %02x", s->bytes[i]);
	printf("\n  native: end %u, signal %d at %#lx; moved: end %u, signal "
	       "%d at %#lx\n",
	       native->ended_at, native->fault.signal,
	       (unsigned long)native->fault.at, moved->ended_at,
	       moved->fault.signal, (unsigned long)moved->fault.at);
	fflush(stdout);
}

static bool is_direct(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_JUMP || insn->kind == SWZ_INSN_JUMP_CC ||
	       insn->kind == SWZ_INSN_LOOP || insn->kind == SWZ_INSN_CALL;
}

static bool is_call(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_CALL ||
	       insn->kind == SWZ_INSN_CALL_INDIRECT;
}

/* Whether what the instruction does depends on more than what is compared, or
 * changes what the test itself stands on. */
static bool is_out_of_bounds(const struct swz_insn *insn,
			     const struct swz_encoding *e)
{
	unsigned reg = swz_modrm_reg(e->modrm), mod = swz_modrm_mod(e->modrm);

	if (insn->kind == SWZ_INSN_TRAP || insn->kind == SWZ_INSN_SYSCALL)
		return true;
	if (e->map == SWZ_MAP_ONE_BYTE)
		return e->opcode == 0x8e || /* mov to a segment register */
		       (e->opcode == 0xd9 && mod != 3 && reg == 6) ||
		       (e->opcode == 0xdd && mod != 3 && reg == 6) ||
		       (e->opcode == 0x9b); /* stores of x87 addresses */
	if (e->map != SWZ_MAP_0F)
		return false;
	switch (e->opcode) {
	case 0x00: /* lldt, ltr, … */
		return true;
	case 0x01: /* vmmcall, monitorx, mwaitx, rdtscp, rdpru, wrpkru, … */
		return mod == 3;
	case 0x30: /* wrmsr, rdtsc, rdmsr, rdpmc */
	case 0x31:
	case 0x32:
	case 0x33:
	case 0xa1: /* pop fs, pop gs, lss, lfs, lgs */
	case 0xa9:
	case 0xb2:
	case 0xb4:
	case 0xb5:
	case 0xa2: /* cpuid: the hypervisor's, and slow */
		return true;
	case 0xa3: /* bt, bts, btr, btc of a bit far off: in others' memory */
	case 0xab:
	case 0xb3:
	case 0xbb:
		return mod != 3 && (!insn->rip_relative || reg == 4);
	case 0xae: /* wrfsbase, wrgsbase; fxsave, xsave, xrstor, umwait */
		return mod == 3 ? reg <= 3 || reg == 6 : reg != 2 && reg != 3;
	case 0xc7: /* xrstors, xsavec, xsaves; rdrand, rdseed, rdpid */
		return mod == 3 ? reg >= 6 : reg != 1;
	default:
		return false;
	}
}

struct shape {
	bool usable;
	bool counting;   /* rcx is a counter */
	bool faults_off; /* a call's fault shows what was pushed */
};

/* Leads branches to the room's ends and operands relative to %rip to its data,
 * and says whether the sequence may be run. */
static struct shape prepare(struct sequence *s)
{
	struct shape shape = {true, false, false};
	struct swz_encoding encoding;
	struct swz_insn insn;
	size_t at = 0;
	int32_t value;

	while (at < s->size) {
		struct swz_bytes rest = {s->bytes + at, s->size - at};
		size_t end;

		shape.usable = false;
		if (swz_decode_encoding(decoder, rest, at, &insn, &encoding) !=
		    SWZ_OK)
			return shape;
		end = at + insn.length;
		if (is_out_of_bounds(&insn, &encoding))
			return shape;
		/* a branch whose length the processors do not agree on */
		if (insn.kind != SWZ_INSN_PLAIN && encoding.operand_size_16)
			return shape;
		shape.counting |= insn.kind == SWZ_INSN_LOOP;
		shape.faults_off |= is_call(&insn);
		if (is_direct(&insn)) {
			bool is_short = end - at - encoding.operands_at == 1;

			value = insn.kind == SWZ_INSN_CALL ? ROOM_CALLEE
				: is_short                 ? ROOM_SHORT
							   : ROOM_FAR;
			value -= (int32_t)end;
			if (is_short)
				s->bytes[end - 1] = (uint8_t)value;
			else
				memcpy(s->bytes + end - 4, &value, 4);
		} else if (insn.rip_relative) {
			value = ROOM_DATA + 64 - (int32_t)end;
			memcpy(s->bytes + at + insn.displacement_at, &value, 4);
		}
		at = end;
		shape.usable = true;
	}
	return shape;
}

static void try_sequence(struct sequence *s)
{
	static struct world before, native, moved;
	struct swz_relocation relocation;
	struct shape shape = prepare(s);
	struct swz_bytes code = {room.code, s->size};
	unsigned round;

	if (!shape.usable)
		return;
	counts.sequences++;
	execute_watch = s->bytes;
	for (round = 0; round < 2; round++) {
		const char *what;

		room_furnish(&room, s->bytes, s->size, s->size, round);
		choose_state(&before.state, round, shape.counting);
		choose_memory(&before);
		memcpy(before.data, room.data, ROOM_WORDS);
		if (swz_relocate(decoder, code, (uintptr_t)room.code,
				 PATCH_BYTES, (uintptr_t)copy, copy,
				 SWZ_RELOCATED_MAX, NULL,
				 &relocation) != SWZ_OK ||
		    relocation.refusal != SWZ_PATCHED) {
			counts.refused++;
			return;
		}
		run(&native, room.code, &before);
		if (native.fault.signal == SIGVTALRM ||
		    native.fault.signal == SIGTRAP) {
			counts.endless++;
			return;
		}
		if (native.fault.signal && shape.faults_off)
			return;
		memset(room.code, 0xcc, relocation.displaced_bytes);
		run_to_an_end(&moved, copy, &before);
		what = compare(&native, &moved, &relocation);
		if (what)
			report(s, round, what, &native, &moved);
		else if (native.fault.signal)
			counts.faulted++;
		else
			counts.same++;
	}
}

/* ------------------------------------------------------------------- forms */

struct form {
	uint8_t bytes[SWZ_MAX_INSN];
	uint8_t size;
};

static void append(struct form *form, const void *bytes, size_t count)
{
	if (form->size + count <= sizeof(form->bytes)) {
		memcpy(form->bytes + form->size, bytes, count);
		form->size = (uint8_t)(form->size + count);
	}
}

/* Instructions that notice what came before them. */
static void add_follower(struct sequence *s)
{
	static const char *const followers[] = {
		"\x48\x11\xc8", "\x50", "\x48\x8d\x44\x08\x08", "\x11\xd6",
		"\x0f\x92\xc3", "\x57", "\x41\x10\xc9",         "\x48\x89\xe7"};
	const char *f = followers[next_random() % 8];

	memcpy(s->bytes + s->size, f, strlen(f));
	s->size += strlen(f);
}

/* Fills what is left of the form with a random immediate. */
static void try_form(const struct form *form)
{
	static const char *const leads[] = {"", "\x50", "\x89\xf8",
					    "\x48\x01\xc8", "\x48\x83\xc1\x01"};
	struct sequence s = {{0}, 0};
	struct form whole = *form;
	struct swz_bytes bytes = {whole.bytes, SWZ_MAX_INSN};
	struct swz_insn insn;
	uint64_t filler = next_random();
	unsigned lead;

	if (stride > 1 && turn++ % stride)
		return;
	append(&whole, &filler, 8);
	memset(whole.bytes + whole.size, 0x11, SWZ_MAX_INSN - whole.size);
	if (swz_decode(decoder, bytes, 0, &insn) != SWZ_OK)
		return;
	memcpy(s.bytes, whole.bytes, insn.length);
	s.size = insn.length;
	do
		add_follower(&s);
	while (s.size < PATCH_BYTES + 3);
	try_sequence(&s);
	/* as the last, so that its end is seen */
	lead = insn.length >= PATCH_BYTES
		       ? (unsigned)(next_random() % 5)
		       : (unsigned)(PATCH_BYTES - insn.length);
	s.size = strlen(leads[lead]);
	memcpy(s.bytes, leads[lead], s.size);
	memcpy(s.bytes + s.size, whole.bytes, insn.length);
	s.size += insn.length;
	try_sequence(&s);
}

/* ModRM, SIB and displacement of each kind. */
static const struct {
	const char *name;
	uint8_t size;
	uint8_t bytes[6];
} operands[] = {
	{"rip", 5, {0x05, 0, 0, 0, 0}},
	{"rip, reg 2", 5, {0x15, 0, 0, 0, 0}},
	{"rip, reg 7", 5, {0x3d, 0, 0, 0, 0}},
	{"register", 1, {0xc1}},
	{"register, reg 4", 1, {0xe6}},
	{"[rax]", 1, {0x08}},
	{"[rsi+8]", 2, {0x5e, 8}},
	{"[rbp+0]", 2, {0x65, 0}},
	{"[rdx+128]", 5, {0xaa, 0x80, 0, 0, 0}},
	{"[rsp]", 2, {0x0c, 0x24}},
	{"[rsp+16]", 3, {0x74, 0x24, 16}},
	{"[rsp-24]", 3, {0x54, 0x24, 0xe8}},
	{"[rbx+64]", 3, {0x44, 0x23, 64}},
	{"absolute", 6, {0x04, 0x25, 0, 0, 1, 0}},
	{"[rcx*2+disp32]", 6, {0x1c, 0x4d, 0x10, 0, 0, 0}},
	{"[rdi+rcx]", 2, {0x34, 0x0f}},
};

enum { OPERANDS = sizeof(operands) / sizeof(*operands) };

static void try_operands(const struct form *form)
{
	unsigned i;

	for (i = 0; i < OPERANDS; i++) {
		struct form f = *form;

		append(&f, operands[i].bytes, operands[i].size);
		try_form(&f);
	}
}

/* All ModRM bytes with rip, with registers, and with a base, for groups. */
static void try_all_modrm(const struct form *form)
{
	static const uint8_t zeros[4];
	unsigned modrm;

	for (modrm = 0; modrm < 256; modrm++) {
		uint8_t byte = (uint8_t)modrm, sib = 0x24;
		struct form f = *form;
		unsigned mod = modrm >> 6, rm = modrm & 7;

		append(&f, &byte, 1);
		if (mod != 3 && rm == 4)
			append(&f, &sib, 1);
		if (mod == 1)
			append(&f, "\x10", 1);
		else if (mod == 2 || (mod == 0 && rm == 5))
			append(&f, zeros, 4);
		try_form(&f);
	}
}

static void try_legacy_map(const void *escape, size_t escape_bytes,
			   bool every_modrm)
{
	/* of the segments not fs, where the test's own thread state lies */
	static const char *const prefixes[] = {
		"",     "\x66", "\xf2", "\xf3",     "\x67",
		"\xf0", "\x65", "\x2e", "\x66\xf2", "\x66\x67"};
	static const char *const rexes[] = {"",     "\x48", "\x44",
					    "\x4d", "\x42", "\x41"};
	unsigned p, r, opcode;

	for (p = 0; p < 10; p++)
		for (r = 0; r < 6; r++)
			for (opcode = 0; opcode < 256; opcode++) {
				uint8_t byte = (uint8_t)opcode;
				struct form f = {{0}, 0};

				/* prefixes are in the list by themselves */
				if (!escape_bytes &&
				    ((byte & 0xf0) == 0x40 || byte == 0x0f ||
				     byte == 0x64 || byte == 0x62 ||
				     byte == 0xc4 || byte == 0xc5))
					continue;
				append(&f, prefixes[p], strlen(prefixes[p]));
				append(&f, rexes[r], strlen(rexes[r]));
				append(&f, escape, escape_bytes);
				append(&f, &byte, 1);
				if (every_modrm && p < 4 && r < 2)
					try_all_modrm(&f);
				else
					try_operands(&f);
			}
}

START_TEST(legacy_maps)
{
	static const struct {
		const char *bytes;
		size_t size;
	} escapes[] = {{"", 0}, {"\x0f", 1}, {"\x0f\x38", 2}, {"\x0f\x3a", 2}};

	set_up();
	if (!all) /* primes: they meet every kind of operand */
		stride = _i < 2 ? 151 : 11;
	try_legacy_map(escapes[_i].bytes, escapes[_i].size, _i < 2);
	ck_assert_uint_eq(differences, 0);
}
END_TEST

/* VEX with two and three bytes; map 4 and above are not there. Maps 5 and 6 of
 * EVEX are half-precision's. */
static void try_vex(unsigned map, unsigned opcode)
{
	unsigned i;

	/* pp, L, and the source register vvvv = 2 or none */
	for (i = 0; i < 32; i++) {
		unsigned pp = i & 3, l = i >> 2 & 1, w = i >> 3 & 1;
		unsigned vvvv = i & 16 ? 0xd : 0xf;
		uint8_t last = (uint8_t)(w << 7 | vvvv << 3 | l << 2 | pp);
		uint8_t three[] = {0xc4, (uint8_t)(0xe0 | map), last,
				   (uint8_t)opcode};
		uint8_t two[] = {0xc5, (uint8_t)(last | 0x80), (uint8_t)opcode};
		struct form f = {{0}, 0};

		append(&f, three, 4);
		try_operands(&f);
		three[1] = (uint8_t)(0x40 | map); /* R and B */
		f.size = 0;
		append(&f, three, 4);
		try_operands(&f);
		if (map != 1 || w)
			continue;
		f.size = 0;
		append(&f, two, 3);
		try_operands(&f);
	}
}

static void try_evex(unsigned map, unsigned opcode)
{
	unsigned i;

	for (i = 0; i < 192; i++) {
		unsigned pp = i & 3, w = i >> 2 & 1, length = i / 64;
		unsigned b = i >> 3 & 1, mask = i >> 4 & 1;
		unsigned vvvv = i & 32 ? 0xd : 0xf;
		uint8_t bytes[] = {0x62, (uint8_t)(0xf0 | map),
				   (uint8_t)(w << 7 | vvvv << 3 | 4 | pp),
				   (uint8_t)(length << 5 | b << 4 | 8 | mask),
				   (uint8_t)opcode};
		struct form f = {{0}, 0};

		append(&f, bytes, 5);
		try_operands(&f);
	}
}

START_TEST(vector_maps)
{
	unsigned opcode;

	set_up();
	if (!all) /* without AVX-512 all EVEX forms fault: more of the others */
		stride = __builtin_cpu_supports("avx512f") ? 199 : 61;
	for (opcode = 0; opcode < 256; opcode++) {
		try_vex(1 + (unsigned)_i, opcode);
		try_evex(1 + (unsigned)_i, opcode);
	}
	ck_assert_uint_eq(differences, 0);
}
END_TEST

START_TEST(half_precision_maps)
{
	unsigned opcode;

	set_up();
	if (!all)
		stride = 31;
	for (opcode = 0; opcode < 256; opcode++)
		try_evex(5 + (unsigned)_i, opcode);
	ck_assert_uint_eq(differences, 0);
}
END_TEST

static bool has_half_precision(void)
{
	unsigned a, b, c, d = 0;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 23 & 1;
}

static void print_counts(void)
{
	printf("%lu sequences: %lu not movable, %lu runs the same, %lu fault "
	       "the same, %lu endless, %lu differ\n",
	       counts.sequences, counts.refused, counts.same, counts.faulted,
	       counts.endless, differences);
	fflush(stdout);
}

/* The sample must not be one of faults. */
static void require_enough(void)
{
	print_counts();
	ck_assert_uint_gt(counts.same, 100);
}

/* --------------------------------------------------------------- prologues */

enum { SEEN = 1 << 20 };

static uint64_t *seen; /* hashes of what was run already */

static bool is_new(const struct sequence *s)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t i, at;

	for (i = 0; i < s->size; i++)
		hash = (hash ^ s->bytes[i]) * UINT64_C(0x100000001b3);
	hash |= 1;
	for (at = hash % SEEN; seen[at]; at = (at + 1) % SEEN)
		if (seen[at] == hash)
			return false;
	seen[at] = hash;
	return true;
}

/* Whole instructions that cover the patch, and where they end. */
static void run_prologue(struct swz_bytes code)
{
	struct sequence s = {{0}, 0};
	struct swz_insn insn;
	static unsigned long taken;
	size_t at;

	if (code.size >= 4 && !memcmp(code.data, "\xf3\x0f\x1e\xfa", 4)) {
		code.data += 4;
		code.size -= 4;
	}
	while (s.size < PATCH_BYTES) {
		struct swz_bytes rest = {code.data + s.size,
					 code.size - s.size};

		if (swz_decode(decoder, rest, s.size, &insn) != SWZ_OK)
			return;
		memcpy(s.bytes + s.size, rest.data, insn.length);
		s.size += insn.length;
		if (insn.kind == SWZ_INSN_JUMP || insn.kind == SWZ_INSN_RETURN)
			while (s.size < PATCH_BYTES)
				s.bytes[s.size++] = 0x90;
	}
	for (at = 0; at < s.size; at++) /* fs is the test's own: gs */
		if (s.bytes[at] == 0x64)
			s.bytes[at] = 0x65;
	prepare(&s); /* equal but for addresses: run once */
	if (taken < SEEN / 2 && is_new(&s)) {
		taken++;
		try_sequence(&s);
	}
}

static int run_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct swz_eh_frame section;
	struct swz_fde_iterator it;
	const Elf64_Shdr *header;
	struct swz_bytes file;
	struct swz_elf elf;
	struct swz_fde fde;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode) ||
	    !stat.st_size) {
		close(fd);
		return 0;
	}
	file.size = (size_t)stat.st_size;
	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file.data == MAP_FAILED)
		return 0;
	if (swz_elf_open(&elf, file) == SWZ_OK &&
	    (header = swz_elf_section(&elf, ".eh_frame")) != NULL) {
		section.bytes = swz_elf_section_bytes(&elf, header);
		section.address = header->sh_addr;
		swz_fde_begin(&it, &section);
		while (swz_fde_next(&it, &fde))
			if (swz_fde_is_function(&fde))
				run_prologue(swz_elf_bytes_at(&elf, fde.start,
							      fde.size));
	}
	munmap((void *)(uintptr_t)file.data, file.size);
	return 1;
}

static int run_files(char **paths)
{
	unsigned long files = 0;

	set_up();
	seen = calloc(SEEN, sizeof(*seen));
	if (!seen)
		return 1;
	for (; *paths; paths++)
		files += (unsigned long)run_file(*paths);
	printf("%lu files, ", files);
	print_counts();
	return differences || !counts.same;
}

int main(int argc, char **argv)
{
	Suite *suite = suite_create("relocate_forms");
	TCase *forms = tcase_create("forms");

	all = argc > 1 && strcmp(argv[1], "all") == 0;
	if (argc > 1 && !all)
		return run_files(argv + 1);
	tcase_set_timeout(forms, all ? 3600 : 120);
	tcase_add_checked_fixture(forms, NULL, require_enough);
	tcase_add_loop_test(forms, legacy_maps, 0, 4);
	tcase_add_loop_test(forms, vector_maps, 0, 3);
	if (has_half_precision())
		tcase_add_loop_test(forms, half_precision_maps, 0, 2);
	suite_add_tcase(suite, forms);
	return run_suite(suite);
}
