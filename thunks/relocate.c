#include "thunks/relocate.h"

/* First whole instructions are taken from the site and judged, then they are
 * written: twice, because a branch to a later displaced instruction needs the
 * address of a copy that the first pass finds out. The length of what is
 * written for an instruction does not depend on where its branch goes, so the
 * second pass puts everything where the first one did.
 *
 * A displaced call must be the last instruction: its return address is that of
 * the original, where the bytes behind it have to be in place still. The callee
 * returns there by itself and the copy needs no jump back. */

#include <string.h>

#include "asm/x86_64/offsets.h"
#include "thunks/code_writer.h"
#include "thunks/decoder.h"

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

/* Whether control never goes on behind the copy of this instruction. */
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

/* Whether the copy can do what the original does. Prefix 66 makes a branch
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
static bool inner_branches_hit_instructions(struct site *site)
{
	size_t i;

	for (i = 0; i < site->count; i++) {
		const struct swz_insn *insn = &site->insns[i].insn;

		if (is_direct_branch(insn) && is_inside(site, insn->target) &&
		    !displaced_at(site, insn->target))
			return false;
	}
	return true;
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
static void write_rip_relative(struct swz_code_writer *writer,
			       const struct displaced *displaced)
{
	const uint8_t *bytes = displaced->code.data;
	unsigned behind = displaced->insn.displacement_at + 4u;
	unsigned trailing = displaced->insn.length - behind;

	swz_write_bytes(writer, bytes, displaced->insn.displacement_at);
	swz_write_rel32(writer, displaced->insn.target, trailing);
	swz_write_bytes(writer, bytes + behind, trailing);
}

/* lea reg, [rip + disp32] as movabs reg: needs no reach. */
static void write_address_load(struct swz_code_writer *writer,
			       const struct displaced *displaced)
{
	const struct swz_encoding *encoding = &displaced->encoding;
	unsigned reg = swz_modrm_reg(encoding->modrm);
	uint8_t rex = displaced->code.data[encoding->prefix_bytes - 1u];

	/* REX.R names the register in lea, REX.B in movabs */
	swz_write_u8(writer, rex & 4 ? 0x49 : 0x48);
	swz_write_u8(writer, (uint8_t)(0xb8u | reg));
	swz_write_u64(writer, displaced->insn.target);
}

static bool reaches(const struct swz_code_writer *writer,
		    const struct displaced *displaced)
{
	uint64_t end = swz_writer_address(writer) + displaced->insn.length;
	int64_t distance = (int64_t)(displaced->insn.target - end);

	return distance >= INT32_MIN && distance <= INT32_MAX;
}

static void write_plain(struct swz_code_writer *writer,
			const struct displaced *displaced)
{
	if (!displaced->insn.rip_relative)
		swz_write_bytes(writer, displaced->code.data,
				displaced->code.size);
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
static void write_loop(struct swz_code_writer *writer,
		       const struct displaced *displaced, uint64_t target)
{
	static const uint8_t island[] = {0x02, 0xeb, 0x05};

	swz_write_bytes(writer, displaced->code.data, displaced->code.size - 1);
	swz_write_bytes(writer, island, sizeof(island));
	swz_write_jmp(writer, target);
}

/* Writes ModRM, SIB and displacement of [rsp + displacement] for group 5. */
static void write_rsp_operand(struct swz_code_writer *writer, uint8_t modrm_reg,
			      int64_t displacement)
{
	bool small = is_small(displacement);

	swz_write_u8(writer,
		     (uint8_t)((small ? 0x40u : 0x80u) | modrm_reg | REG_RSP));
	swz_write_u8(writer, 0x24);
	if (small)
		swz_write_u8(writer, (uint8_t)displacement);
	else
		swz_write_u32(writer, (uint32_t)displacement);
}

/* call r/m: the return address is pushed, jmp r/m remains. */
static void write_call_indirect(struct swz_code_writer *writer,
				const struct displaced *displaced)
{
	const struct swz_encoding *encoding = &displaced->encoding;
	uint8_t bytes[SWZ_MAX_INSN];
	struct displaced jump = *displaced;

	swz_write_return_address(writer, displaced->insn.address +
						 displaced->insn.length);
	memcpy(bytes, displaced->code.data, displaced->code.size);
	bytes[encoding->modrm_at] = (uint8_t)((encoding->modrm & ~0x38u) |
					      GROUP_5_JMP << 3);
	if (uses_rsp(encoding)) {
		swz_write_bytes(writer, bytes, encoding->modrm_at);
		write_rsp_operand(writer, GROUP_5_JMP << 3,
				  displaced->insn.memory_displacement + 8);
		return;
	}
	jump.code.data = bytes;
	write_plain(writer, &jump);
}

/* Which load of the return address it is; -1: none. */
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
static void write_translation(struct swz_code_writer *writer,
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

	swz_write_bytes(writer, compare, sizeof(compare));
	swz_write_rel32(writer, arena, 0);
	swz_write_bytes(writer, below, sizeof(below));
	swz_write_bytes(writer, compare, sizeof(compare));
	swz_write_rel32(writer, arena + 8, 0);
	swz_write_bytes(writer, above, sizeof(above));
	swz_write_u8(writer, load);
	swz_write_u8(writer, 0x8b);
	swz_write_u8(writer, (uint8_t)(0x80u | reg << 3 | reg));
	if (has_sib)
		swz_write_u8(writer, 0x24);
	swz_write_u32(writer, SWZ_UNIT_CODE_BYTES - SWZ_THUNK_AFTER_CALL +
				      SWZ_THUNK_RETURN);
}

/* From here on rsp is so many bytes lower. */
static void note_flag_step(const struct swz_code_writer *writer,
			   struct swz_relocation *r, uint8_t below)
{
	r->flag_steps[r->flag_step_count].at = (uint16_t)writer->written;
	r->flag_steps[r->flag_step_count++].below = below;
}

/* The same where the flags are read behind it. They are saved below what the
 * function may use below rsp (SysV ABI 3.2.2). */
static void write_translation_keeping_flags(struct swz_code_writer *writer,
					    struct swz_relocation *relocation,
					    const struct displaced *displaced,
					    uint64_t arena)
{
	static const uint8_t skip_red_zone[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t go_back[] = {0x48, 0x8d, 0xa4, 0x24,
					  0x80, 0,    0,    0};

	swz_write_bytes(writer, skip_red_zone, sizeof(skip_red_zone));
	note_flag_step(writer, relocation, 128);
	swz_write_u8(writer, 0x9c); /* pushf */
	note_flag_step(writer, relocation, 136);
	write_translation(writer, displaced, arena);
	swz_write_u8(writer, 0x9d); /* popf */
	note_flag_step(writer, relocation, 128);
	swz_write_bytes(writer, go_back, sizeof(go_back));
	note_flag_step(writer, relocation, 0);
}

static void write_call(struct swz_code_writer *writer,
		       const struct swz_insn *insn, uint64_t target)
{
	swz_write_return_address(writer, insn->address + insn->length);
	swz_write_jmp(writer, target);
}

static void write_copy(struct swz_code_writer *writer, struct site *site,
		       const struct displaced *displaced)
{
	const struct swz_insn *insn = &displaced->insn;
	uint64_t target = moved_target(site, insn);
	int load;

	switch (insn->kind) {
	case SWZ_INSN_JUMP:
		swz_write_jmp(writer, target);
		break;
	case SWZ_INSN_JUMP_CC:
		swz_write_jcc(writer, displaced->encoding.opcode & 0xfu,
			      target);
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

static void write_site(struct swz_code_writer *writer, struct site *site)
{
	size_t i;

	site->relocation->flag_step_count = 0;
	for (i = 0; i < site->count; i++) {
		site->insns[i].copy = swz_writer_address(writer);
		write_copy(writer, site, &site->insns[i]);
	}
	site->jump_back = 0;
	if (!ends_flow(&site->insns[site->count - 1].insn)) {
		site->jump_back = (uint16_t)writer->written;
		swz_write_jmp(writer, site->address + displaced_bytes(site));
	}
}

static void report(const struct site *site,
		   const struct swz_code_writer *writer,
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
	struct swz_code_writer writer;
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
	if (!inner_branches_hit_instructions(&site)) {
		relocation->refusal = SWZ_REFUSE_UNRELOCATABLE;
		return SWZ_OK;
	}
	for (i = 0; i < site.count; i++)
		site.insns[i].copy = to; /* reached for sure, for pass 0 */
	for (pass = 0; pass < 2; pass++) {
		writer = (struct swz_code_writer){
			.out = out, .room = room, .address = to};
		write_site(&writer, &site);
		if (writer.status != SWZ_OK)
			return writer.status;
	}
	report(&site, &writer, relocation);
	return SWZ_OK;
}
