/* First whole instructions are taken from the site and judged, then they are
 * written: twice, because a branch to a later displaced instruction needs the
 * address of a copy that the first pass finds out. The length of what is
 * written for an instruction does not depend on where its branch goes, so the
 * second pass puts everything where the first one did.
 *
 * A displaced call must be the last instruction: its return address is that of
 * the original, where the bytes behind it have to be in place still. The callee
 * returns there by itself and the copy needs no jump back. */

#include "thunks/relocate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/basics.h"
#include "asm/x86_64/offsets.h"
#include "image/elf_view.h"
#include "thunks/encoding.h"
#include "thunks/trampoline.h"

/* --- writing code -------------------------------------------------------- */

/* Writes x86-64 code to a buffer that is to run at another address. The first
 * error stays in `status` and stops all writing: SWZ_E_NOMEM when the room is
 * used up, SWZ_E_RANGE when a rel32 does not reach. Pure. */

struct code_writer {
	uint8_t *out;
	size_t room;
	size_t written;
	uint64_t address; /* where out[0] will run */
	enum swz_status status;
	/* Offsets of the instructions behind those with which the latest
	 * write_return_address moved rsp: down, up, down. */
	uint16_t stack_steps[3];
	/* Offsets of the rel32s that lead out of what there is room for. */
	uint16_t outward[SWZ_MOST_OUTWARD];
	uint8_t outward_count;
};

static void write_bytes(struct code_writer *writer, const void *bytes,
			size_t count)
{
	if (writer->status != SWZ_OK)
		return;
	if (count > writer->room - writer->written) {
		writer->status = SWZ_E_NOMEM;
		return;
	}
	memcpy(writer->out + writer->written, bytes, count);
	writer->written += count;
}

static void write_u8(struct code_writer *writer, uint8_t value)
{
	write_bytes(writer, &value, sizeof(value));
}

static void write_u32(struct code_writer *writer, uint32_t value)
{
	write_bytes(writer, &value, sizeof(value));
}

static void write_u64(struct code_writer *writer, uint64_t value)
{
	write_bytes(writer, &value, sizeof(value));
}

/* Where the next byte will run. */
static uint64_t writer_address(const struct code_writer *writer)
{
	return writer->address + writer->written;
}

static bool fits_32_bits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

/* The rel32 of an instruction that ends `trailing` bytes behind it. */
static void write_rel32(struct code_writer *writer, uint64_t target,
			unsigned trailing)
{
	uint64_t end = writer_address(writer) + 4 + trailing;
	int64_t distance = (int64_t)(target - end);

	if (writer->status == SWZ_OK && !fits_32_bits(distance))
		writer->status = SWZ_E_RANGE;
	if (target - writer->address >= writer->room) {
		if (writer->outward_count == SWZ_MOST_OUTWARD)
			writer->status = SWZ_E_NOMEM;
		else
			writer->outward[writer->outward_count++] =
				(uint16_t)writer->written;
	}
	write_u32(writer, (uint32_t)distance);
}

static void write_jmp(struct code_writer *writer, uint64_t target)
{
	write_u8(writer, 0xe9);
	write_rel32(writer, target, 0);
}

/* condition: the low four bits of the opcodes 70..7f and 0f 80..8f. */
static void write_jcc(struct code_writer *writer, unsigned condition,
		      uint64_t target)
{
	write_u8(writer, 0x0f);
	write_u8(writer, (uint8_t)(0x80u | condition));
	write_rel32(writer, target, 0);
}

static void note_stack_step(struct code_writer *writer, unsigned step)
{
	writer->stack_steps[step] = (uint16_t)writer->written;
}

/* Pushes a return address that is not the writer's own, and keeps the
 * processor's return stack in step as a call would. Changes no register but
 * rsp, and no flags. */
/*	call	1f
 *	int3
 *	.quad	value
 * 1:	lea	8(%rsp), %rsp
 *	push	value(%rip)
 *
 * A plain push leaves the processor's return stack one short, so that every
 * return of the frames above is mispredicted. The call mends that: only the
 * return to `value` itself is, and runs into the int3 for that moment. It must
 * not be a call to the next instruction, which processors take for a way to
 * read rip and do not note. The push stores all 8 bytes at once: a load cannot
 * be forwarded from two halves written over what the call left.
 *
 * Between the call and the push the slot holds an address of the trampoline,
 * at first at rsp, then below it, where nothing reads it. */
static void write_return_address(struct code_writer *writer, uint64_t value)
{
	static const uint8_t call_over_int3[] = {0xe8, 1, 0, 0, 0, 0xcc};
	static const uint8_t call_over_value[] = {0xe8, 9, 0, 0, 0, 0xcc};
	static const uint8_t drop[] = {0x48, 0x8d, 0x64, 0x24, 0x08};
	static const uint8_t push_value[] = {0xff, 0x35, 0xed,
					     0xff, 0xff, 0xff};

	bool short_push = fits_32_bits((int64_t)value);

	if (short_push) {
		write_bytes(writer, call_over_int3, sizeof(call_over_int3));
	} else {
		write_bytes(writer, call_over_value, sizeof(call_over_value));
		write_u64(writer, value);
	}
	note_stack_step(writer, 0);
	write_bytes(writer, drop, sizeof(drop));
	note_stack_step(writer, 1);
	if (short_push) {
		write_u8(writer, 0x68); /* sign-extends */
		write_u32(writer, (uint32_t)value);
	} else {
		write_bytes(writer, push_value, sizeof(push_value));
	}
	note_stack_step(writer, 2);
}

/* --- relocation ---------------------------------------------------------- */

enum {
	REG_RSP = 4,
	GROUP_5_FAR_CALL = 3,
	GROUP_5_JMP = 4,
	GROUP_5_FAR_JMP = 5
};

struct displaced {
	struct swz_insn insn;
	struct swz_encoding encoding;
	struct swz_bytes code;
	uint64_t copy; /* where it runs, once that is known */
};

struct site {
	struct swz_bytes code;
	uint64_t address;
	unsigned wanted;
	unsigned covered; /* bytes of the instructions taken */
	const struct swz_slot_loads *loads;
	size_t count;
	struct displaced insns[SWZ_MOST_DISPLACED];
	uint16_t jump_back;                /* out offset; 0: none */
	struct swz_relocation *relocation; /* for flag_steps */
};

/* True if control never goes on behind the copy of this instruction. */
static bool ends_flow(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_JUMP ||
	       insn->kind == SWZ_INSN_JUMP_INDIRECT ||
	       insn->kind == SWZ_INSN_RETURN || insn->kind == SWZ_INSN_CALL ||
	       insn->kind == SWZ_INSN_CALL_INDIRECT;
}

static bool is_direct_branch(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_JUMP || insn->kind == SWZ_INSN_JUMP_CC ||
	       insn->kind == SWZ_INSN_LOOP || insn->kind == SWZ_INSN_CALL;
}

static bool is_call(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_CALL ||
	       insn->kind == SWZ_INSN_CALL_INDIRECT;
}

/* rsp as the operand itself or as a part of its address. */
static bool uses_rsp(const struct swz_encoding *encoding)
{
	if (swz_modrm_mod(encoding->modrm) == 3)
		return swz_modrm_rm(encoding->modrm) == REG_RSP &&
		       !encoding->extends_base;
	return swz_encoding_has_sib(encoding) &&
	       (encoding->sib & 7) == REG_RSP && !encoding->extends_base;
}

static bool is_small(int64_t displacement)
{
	return displacement >= INT8_MIN && displacement <= INT8_MAX;
}

/* call r/m becomes push and jmp r/m: what the push changes must not matter. */
static bool can_push_before_operand(const struct displaced *displaced)
{
	const struct swz_encoding *encoding = &displaced->encoding;
	int64_t displacement = displaced->insn.memory_displacement;
	unsigned most = SWZ_MAX_INSN - (is_small(displacement + 8) ? 3u : 6u);

	if (!uses_rsp(encoding))
		return true;
	if (swz_modrm_mod(encoding->modrm) == 3 ||
	    displaced->insn.memory_base != REG_RSP)
		return false; /* call rsp; an index as well */
	/* a target that lies in the slot which is pushed to; no room for +8,
	 * or none for a longer displacement behind many prefixes */
	return (displacement <= -16 || displacement >= 0) &&
	       displacement <= INT32_MAX - 8 && encoding->modrm_at <= most;
}

static bool is_near_return(const struct displaced *displaced)
{
	return displaced->encoding.opcode == 0xc2 ||
	       displaced->encoding.opcode == 0xc3;
}

/* True if the copy can do what the original does. Prefix 66 makes a branch
 * 16-bit on AMD processors and nothing on Intel's. */
static bool can_move(const struct displaced *displaced)
{
	const struct swz_insn *insn = &displaced->insn;
	const struct swz_encoding *encoding = &displaced->encoding;
	unsigned reg = swz_modrm_reg(encoding->modrm);

	if (insn->kind != SWZ_INSN_PLAIN &&
	    (encoding->operand_size_16 || encoding->locked))
		return false; /* locked: an illegal instruction */
	if (insn->rip_relative && encoding->address_size_32)
		return false;
	switch (insn->kind) {
	case SWZ_INSN_PLAIN:
	case SWZ_INSN_JUMP:
	case SWZ_INSN_LOOP:
	case SWZ_INSN_CALL:
		return true;
	case SWZ_INSN_JUMP_CC:
		return encoding->modrm_at == 0; /* not xbegin */
	case SWZ_INSN_CALL_INDIRECT:
		return reg != GROUP_5_FAR_CALL &&
		       can_push_before_operand(displaced);
	case SWZ_INSN_JUMP_INDIRECT:
		return reg != GROUP_5_FAR_JMP;
	case SWZ_INSN_RETURN:
		return encoding->map == SWZ_MAP_ONE_BYTE &&
		       is_near_return(displaced);
	case SWZ_INSN_TRAP:
	case SWZ_INSN_SYSCALL:
		return false;
	}
	return false;
}

/* A direct branch of the site goes to the first byte not taken yet, or behind
 * it, but within the patch. */
static bool rest_is_reached(const struct site *site)
{
	size_t i;

	for (i = 0; i < site->count; i++) {
		const struct swz_insn *insn = &site->insns[i].insn;
		uint64_t offset = insn->target - site->address;

		if (is_direct_branch(insn) && offset >= site->covered &&
		    offset < site->wanted)
			return true;
	}
	return false;
}

static enum swz_refusal take_one(struct swz_decoder *decoder, struct site *site)
{
	struct displaced *displaced = &site->insns[site->count];
	uint64_t address = site->address + site->covered;

	displaced->code.data = site->code.data + site->covered;
	displaced->code.size = site->code.size - site->covered;
	if (swz_decode_encoding(decoder, displaced->code, address,
				&displaced->insn,
				&displaced->encoding) != SWZ_OK)
		return SWZ_REFUSE_UNDECODABLE;
	displaced->code.size = displaced->insn.length;
	displaced->copy = 0;
	site->count++;
	site->covered += displaced->insn.length;
	if (!can_move(displaced))
		return SWZ_REFUSE_UNRELOCATABLE;
	if (is_call(&displaced->insn) && site->covered < site->wanted)
		return SWZ_REFUSE_UNRELOCATABLE;
	return SWZ_PATCHED;
}

/* Behind the end of control flow. What is no padding is there for something: a
 * jump comes to it that was not seen, or it is data. */
static bool rest_is_padding(const struct site *site)
{
	size_t at = site->covered, length;

	for (; at < site->wanted; at += length) {
		struct swz_bytes rest = {site->code.data + at,
					 site->code.size - at};

		length = swz_padding_length(rest);
		if (!length)
			return false;
	}
	return true;
}

/* Takes instructions until the patch is covered, or until nothing reaches what
 * is left of it. */
static enum swz_refusal take_instructions(struct swz_decoder *decoder,
					  struct site *site)
{
	enum swz_refusal refusal;

	if (site->code.size < site->wanted)
		return SWZ_REFUSE_TOO_SHORT;
	while (site->covered < site->wanted) {
		if (site->count == SWZ_MOST_DISPLACED)
			return SWZ_REFUSE_UNRELOCATABLE;
		refusal = take_one(decoder, site);
		if (refusal != SWZ_PATCHED)
			return refusal;
		if (ends_flow(&site->insns[site->count - 1].insn) &&
		    !rest_is_reached(site))
			return rest_is_padding(site) ? SWZ_PATCHED
						     : SWZ_REFUSE_UNRELOCATABLE;
	}
	return SWZ_PATCHED;
}

static unsigned displaced_bytes(const struct site *site)
{
	return site->covered > site->wanted ? site->covered : site->wanted;
}

static struct displaced *displaced_at(struct site *site, uint64_t address)
{
	size_t i;

	for (i = 0; i < site->count; i++)
		if (site->insns[i].insn.address == address)
			return &site->insns[i];
	return NULL;
}

static bool is_inside(const struct site *site, uint64_t address)
{
	return address - site->address < displaced_bytes(site);
}

/* A branch into the middle of a displaced instruction cannot be kept. */
static bool branches_into_instruction(struct site *site)
{
	size_t i;

	for (i = 0; i < site->count; i++) {
		const struct swz_insn *insn = &site->insns[i].insn;

		if (is_direct_branch(insn) && is_inside(site, insn->target) &&
		    !displaced_at(site, insn->target))
			return true;
	}
	return false;
}

/* A call of the site itself is one to be recorded, and so goes by the patch. A
 * jump there is a loop. */
static bool is_recursion(const struct site *site, const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_CALL && insn->target == site->address;
}

/* Where the copy of a branch goes. */
static uint64_t moved_target(struct site *site, const struct swz_insn *insn)
{
	uint64_t target = insn->target;
	struct displaced *displaced;

	if (!is_inside(site, target) || is_recursion(site, insn))
		return target;
	displaced = displaced_at(site, target);
	return displaced ? displaced->copy : target;
}

/* Copies an instruction whose [rip + disp32] is to keep its address. */
static void write_rip_relative(struct code_writer *writer,
			       const struct displaced *displaced)
{
	const uint8_t *bytes = displaced->code.data;
	unsigned behind = displaced->insn.displacement_at + 4u;
	unsigned trailing = displaced->insn.length - behind;

	write_bytes(writer, bytes, displaced->insn.displacement_at);
	write_rel32(writer, displaced->insn.target, trailing);
	write_bytes(writer, bytes + behind, trailing);
}

/* lea reg, [rip + disp32] as movabs reg: needs no reach. */
static void write_address_load(struct code_writer *writer,
			       const struct displaced *displaced)
{
	const struct swz_encoding *encoding = &displaced->encoding;
	unsigned reg = swz_modrm_reg(encoding->modrm);
	uint8_t rex = displaced->code.data[encoding->prefix_bytes - 1u];

	/* REX.R names the register in lea, REX.B in movabs */
	write_u8(writer, rex & 4 ? 0x49 : 0x48);
	write_u8(writer, (uint8_t)(0xb8u | reg));
	write_u64(writer, displaced->insn.target);
}

static bool reaches(const struct code_writer *writer,
		    const struct displaced *displaced)
{
	uint64_t end = writer_address(writer) + displaced->insn.length;
	int64_t distance = (int64_t)(displaced->insn.target - end);

	return distance >= INT32_MIN && distance <= INT32_MAX;
}

static void write_plain(struct code_writer *writer,
			const struct displaced *displaced)
{
	if (!displaced->insn.rip_relative)
		write_bytes(writer, displaced->code.data, displaced->code.size);
	else if (displaced->insn.memory_is_lea && displaced->encoding.rex_w &&
		 !reaches(writer, displaced))
		write_address_load(writer, displaced);
	else
		write_rip_relative(writer, displaced);
}

/* loop and jrcxz have no near form:
 *	loop	1f
 *	jmp	2f
 * 1:	jmp	target
 * 2:
 * The prefixes stay: 67 selects ecx. */
static void write_loop(struct code_writer *writer,
		       const struct displaced *displaced, uint64_t target)
{
	static const uint8_t island[] = {0x02, 0xeb, 0x05};

	write_bytes(writer, displaced->code.data, displaced->code.size - 1);
	write_bytes(writer, island, sizeof(island));
	write_jmp(writer, target);
}

/* Writes ModRM, SIB and displacement of [rsp + displacement] for group 5. */
static void write_rsp_operand(struct code_writer *writer, uint8_t modrm_reg,
			      int64_t displacement)
{
	bool small = is_small(displacement);

	write_u8(writer,
		 (uint8_t)((small ? 0x40u : 0x80u) | modrm_reg | REG_RSP));
	write_u8(writer, 0x24);
	if (small)
		write_u8(writer, (uint8_t)displacement);
	else
		write_u32(writer, (uint32_t)displacement);
}

/* call r/m: the return address is pushed, jmp r/m remains. */
static void write_call_indirect(struct code_writer *writer,
				const struct displaced *displaced)
{
	const struct swz_encoding *encoding = &displaced->encoding;
	uint8_t bytes[SWZ_MAX_INSN];
	struct displaced jump = *displaced;

	write_return_address(writer,
			     displaced->insn.address + displaced->insn.length);
	memcpy(bytes, displaced->code.data, displaced->code.size);
	bytes[encoding->modrm_at] = (uint8_t)((encoding->modrm & ~0x38u) |
					      GROUP_5_JMP << 3);
	if (uses_rsp(encoding)) {
		write_bytes(writer, bytes, encoding->modrm_at);
		write_rsp_operand(writer, GROUP_5_JMP << 3,
				  displaced->insn.memory_displacement + 8);
		return;
	}
	jump.code.data = bytes;
	write_plain(writer, &jump);
}

/* The number of the load of the return address; -1: none. */
static int load_number(const struct site *site,
		       const struct displaced *displaced)
{
	uint64_t offset = displaced->insn.address - site->address;

	for (int i = 0; site->loads && i < site->loads->count; i++)
		if (site->loads->at[i] == offset)
			return i;
	return -1;
}

/* Behind mov slot, %reg:
 *	cmp	bounds[0](%rip), %reg
 *	jb	1f
 *	cmp	bounds[1](%rip), %reg
 *	jae	1f
 *	mov	what the thunk has - T(%reg), %reg
 * 1: */
static void write_translation(struct code_writer *writer,
			      const struct displaced *displaced, uint64_t arena)
{
	const struct swz_encoding *e = &displaced->encoding;
	unsigned reg = swz_modrm_reg(e->modrm);
	uint8_t load = e->extends_reg ? 0x4d : 0x48; /* REX.WRB or REX.W */
	uint8_t compare[] = {e->extends_reg ? 0x4c : 0x48, 0x3b,
			     (uint8_t)(reg << 3 | 5)};
	bool has_sib = reg == REG_RSP; /* %r12 as a base */
	uint8_t length = has_sib ? 8 : 7;
	uint8_t below[] = {0x72, (uint8_t)(sizeof(compare) + 4 + 2 + length)};
	uint8_t above[] = {0x73, length};

	write_bytes(writer, compare, sizeof(compare));
	write_rel32(writer, arena, 0);
	write_bytes(writer, below, sizeof(below));
	write_bytes(writer, compare, sizeof(compare));
	write_rel32(writer, arena + 8, 0);
	write_bytes(writer, above, sizeof(above));
	write_u8(writer, load);
	write_u8(writer, 0x8b);
	write_u8(writer, (uint8_t)(0x80u | reg << 3 | reg));
	if (has_sib)
		write_u8(writer, 0x24);
	write_u32(writer, SWZ_UNIT_CODE_BYTES - SWZ_THUNK_AFTER_CALL +
				  SWZ_THUNK_RETURN);
}

/* From here on rsp is so many bytes lower. */
static void note_flag_step(const struct code_writer *writer,
			   struct swz_relocation *r, uint8_t below)
{
	r->flag_steps[r->flag_step_count].at = (uint16_t)writer->written;
	r->flag_steps[r->flag_step_count++].below = below;
}

/* The same where the flags are read behind it. They are saved below what the
 * function may use below rsp (SysV ABI 3.2.2). */
static void write_translation_keeping_flags(struct code_writer *writer,
					    struct swz_relocation *relocation,
					    const struct displaced *displaced,
					    uint64_t arena)
{
	static const uint8_t skip_red_zone[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t go_back[] = {0x48, 0x8d, 0xa4, 0x24,
					  0x80, 0,    0,    0};

	write_bytes(writer, skip_red_zone, sizeof(skip_red_zone));
	note_flag_step(writer, relocation, 128);
	write_u8(writer, 0x9c); /* pushf */
	note_flag_step(writer, relocation, 136);
	write_translation(writer, displaced, arena);
	write_u8(writer, 0x9d); /* popf */
	note_flag_step(writer, relocation, 128);
	write_bytes(writer, go_back, sizeof(go_back));
	note_flag_step(writer, relocation, 0);
}

static void write_call(struct code_writer *writer, const struct swz_insn *insn,
		       uint64_t target)
{
	write_return_address(writer, insn->address + insn->length);
	write_jmp(writer, target);
}

static void write_copy(struct code_writer *writer, struct site *site,
		       const struct displaced *displaced)
{
	const struct swz_insn *insn = &displaced->insn;
	uint64_t target = moved_target(site, insn);
	int load;

	switch (insn->kind) {
	case SWZ_INSN_JUMP:
		write_jmp(writer, target);
		break;
	case SWZ_INSN_JUMP_CC:
		write_jcc(writer, displaced->encoding.opcode & 0xfu, target);
		break;
	case SWZ_INSN_LOOP:
		write_loop(writer, displaced, target);
		break;
	case SWZ_INSN_CALL:
		write_call(writer, insn, target);
		break;
	case SWZ_INSN_CALL_INDIRECT:
		write_call_indirect(writer, displaced);
		break;
	default:
		write_plain(writer, displaced);
		load = load_number(site, displaced);
		if (load < 0)
			break;
		if (site->loads->keep_flags >> load & 1)
			write_translation_keeping_flags(
				writer, site->relocation, displaced,
				site->loads->arena);
		else
			write_translation(writer, displaced,
					  site->loads->arena);
		break;
	}
}

static void write_site(struct code_writer *writer, struct site *site)
{
	size_t i;

	site->relocation->flag_step_count = 0;
	for (i = 0; i < site->count; i++) {
		site->insns[i].copy = writer_address(writer);
		write_copy(writer, site, &site->insns[i]);
	}
	site->jump_back = 0;
	if (!ends_flow(&site->insns[site->count - 1].insn)) {
		site->jump_back = (uint16_t)writer->written;
		write_jmp(writer, site->address + displaced_bytes(site));
	}
}

static void report(const struct site *site, const struct code_writer *writer,
		   struct swz_relocation *relocation)
{
	size_t i;

	relocation->displaced_bytes = (uint8_t)displaced_bytes(site);
	relocation->written = (uint16_t)writer->written;
	relocation->insn_count = (uint8_t)site->count;
	relocation->jump_back = site->jump_back;
	memcpy(relocation->call_steps, writer->stack_steps,
	       sizeof(relocation->call_steps));
	relocation->outward_count = writer->outward_count;
	memcpy(relocation->outward, writer->outward,
	       sizeof(relocation->outward));
	for (i = 0; i < site->count; i++) {
		const struct displaced *displaced = &site->insns[i];

		relocation->insns[i].from = (uint8_t)(displaced->insn.address -
						      site->address);
		relocation->insns[i].to = (uint16_t)(displaced->copy -
						     writer->address);
	}
}

enum swz_status swz_relocate(struct swz_decoder *decoder, struct swz_bytes code,
			     uint64_t from, unsigned wanted, uint64_t to,
			     uint8_t *out, size_t room,
			     const struct swz_slot_loads *loads,
			     struct swz_relocation *relocation)
{
	struct code_writer writer;
	struct site site;
	size_t i;
	int pass;

	memset(relocation, 0, sizeof(*relocation));
	if (!wanted || wanted > UINT8_MAX)
		return SWZ_E_UNSUPPORTED;
	memset(&site, 0, sizeof(site));
	site.code = code;
	site.address = from;
	site.wanted = wanted;
	site.loads = loads;
	site.relocation = relocation;
	relocation->refusal = take_instructions(decoder, &site);
	if (relocation->refusal != SWZ_PATCHED)
		return SWZ_OK;
	if (branches_into_instruction(&site)) {
		relocation->refusal = SWZ_REFUSE_UNRELOCATABLE;
		return SWZ_OK;
	}
	for (i = 0; i < site.count; i++)
		site.insns[i].copy = to; /* reached for sure, for pass 0 */
	for (pass = 0; pass < 2; pass++) {
		writer = (struct code_writer){
			.out = out, .room = room, .address = to};
		write_site(&writer, &site);
		if (writer.status != SWZ_OK)
			return writer.status;
	}
	report(&site, &writer, relocation);
	return SWZ_OK;
}

/* --- fixups of relocated code -------------------------------------------- */

/* A copy ends with the first instruction behind which control does not go on
 * and to which, or behind which, nothing in the copy branches: as swz_relocate
 * writes it.
 *
 * What refers to the region itself is what the copies bring with them (branches
 * to one another, pushed return addresses), and to the words that it begins
 * with (the arena's bounds); all else is the module's. */

struct walk {
	struct swz_fixups *fixups;
	struct swz_bytes region;
	struct swz_bytes site;
	uint32_t begin;
	uint32_t at;       /* of the instruction */
	uint32_t furthest; /* that a branch within the copy goes to */
	bool ended;
	enum swz_status status;
};

static int32_t read32(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void add(struct walk *w, uint32_t *list, uint32_t *count, uint32_t room,
		uint32_t at)
{
	if (*count == room) {
		w->status = SWZ_E_NOMEM;
		return;
	}
	list[(*count)++] = at;
}

static void add_absolute(struct walk *w, uint32_t at)
{
	add(w, w->fixups->absolute, &w->fixups->absolute_count,
	    w->fixups->absolute_room, at);
}

/* A branch (or a reference) to this offset of the region. */
static bool stays_inside(struct walk *w, int64_t target)
{
	if (target < 0 || (uint64_t)target >= w->region.size)
		return false;
	if ((uint64_t)target < sizeof(struct swz_hooks))
		return true;
	if (target < w->begin || target > w->begin + SWZ_RELOCATED_MAX)
		w->status = SWZ_E_FORMAT;
	else if ((uint32_t)target > w->furthest)
		w->furthest = (uint32_t)target;
	return true;
}

static void take_relative(struct walk *w, uint32_t at, uint32_t end)
{
	int64_t target = (int64_t)end + read32(w->region.data + at);

	if (!stays_inside(w, target))
		add(w, w->fixups->relative, &w->fixups->relative_count,
		    w->fixups->relative_room, at);
}

static void take_short(struct walk *w, uint32_t end)
{
	int64_t target = (int64_t)end + (int8_t)w->region.data[end - 1];

	if (!stays_inside(w, target))
		w->status = SWZ_E_FORMAT;
}

/* The beginning of what write_return_address writes; its push of a 32-bit
 * address comes behind the lea. Returns the bytes to pass over. */
static uint32_t take_call(struct walk *w, uint32_t end)
{
	int32_t over = read32(w->region.data + end - 4);

	if (w->region.size - end < 14 || w->region.data[end] != 0xcc ||
	    (over != 1 && over != 9)) {
		w->status = SWZ_E_FORMAT;
		return 0;
	}
	if (over == 1)
		w->fixups->fixed = true;
	else
		add_absolute(w, end + 1);
	return (uint32_t)over;
}

/* A movabs is the program's own, or an address that lea had to be replaced
 * by. */
static void take_movabs(struct walk *w, uint32_t end)
{
	const uint8_t *insn = w->region.data + end - 10;

	for (size_t i = 0; i + 10 <= w->site.size; i++)
		if (memcmp(w->site.data + i, insn, 10) == 0)
			return;
	add_absolute(w, end - 8);
}

/* Returns how many bytes behind the instruction are none. */
static uint32_t take_one_byte(struct walk *w, const struct swz_encoding *e,
			      uint32_t end)
{
	uint8_t opcode = e->opcode;

	if (opcode == 0xe8)
		return take_call(w, end);
	if (opcode == 0xe9)
		take_relative(w, end - 4, end);
	else if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 ||
		 opcode == 0xeb)
		take_short(w, end);
	else if ((opcode & 0xf8) == 0xb8 && e->rex_w)
		take_movabs(w, end);
	w->ended = opcode == 0xe9 || opcode == 0xeb || opcode == 0xc2 ||
		   opcode == 0xc3 ||
		   (opcode == 0xff && swz_modrm_reg(e->modrm) == 4);
	return 0;
}

static void take_instruction(struct walk *w)
{
	struct swz_bytes rest = {w->region.data + w->at,
				 w->region.size - w->at};
	struct swz_encoding e;
	uint32_t end, skip = 0;

	if (swz_encoding_read(rest, &e) != SWZ_OK ||
	    (unsigned)e.operands_at + e.immediate_bytes > rest.size) {
		w->status = SWZ_E_FORMAT;
		return;
	}
	end = w->at + e.operands_at + e.immediate_bytes;
	w->ended = false;
	if (swz_encoding_rip_relative(&e))
		take_relative(w, w->at + e.displacement_at, end);
	if (e.map == SWZ_MAP_ONE_BYTE)
		skip = take_one_byte(w, &e, end);
	else if (e.map == SWZ_MAP_0F && (e.opcode & 0xf0) == 0x80)
		take_relative(w, end - 4, end);
	w->at = end + skip;
}

enum swz_status swz_fixups_find(struct swz_fixups *fixups,
				struct swz_bytes region, uint32_t begin,
				struct swz_bytes site)
{
	struct walk w = {.fixups = fixups,
			 .region = region,
			 .site = site,
			 .begin = begin,
			 .at = begin};

	while (w.status == SWZ_OK && (!w.ended || w.at <= w.furthest)) {
		if (w.at >= region.size || w.at > begin + SWZ_RELOCATED_MAX)
			return SWZ_E_FORMAT;
		take_instruction(&w);
	}
	return w.status;
}

enum swz_status swz_fixups_apply_relative(uint8_t *region, const uint32_t *at,
					  uint32_t count, int64_t by)
{
	for (uint32_t i = 0; by && i < count; i++) {
		int64_t value = read32(region + at[i]) + by;
		int32_t low = (int32_t)value;

		if (value != low)
			return SWZ_E_RANGE;
		memcpy(region + at[i], &low, sizeof(low));
	}
	return SWZ_OK;
}

void swz_fixups_apply_absolute(uint8_t *region, const uint32_t *at,
			       uint32_t count, uint64_t by)
{
	for (uint32_t i = 0; by && i < count; i++) {
		uint64_t value;

		memcpy(&value, region + at[i], sizeof(value));
		value += by;
		memcpy(region + at[i], &value, sizeof(value));
	}
}
