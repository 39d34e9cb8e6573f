/* The instructions are gone through as they stand, and the depth of the stack
 * is counted: right for what compilers make. Where it cannot be followed, what
 * is behind is not looked at. */

#include "runtime/discovery/scan_depth.h"

#include <string.h>

#include "runtime/discovery/slot_loads.h"

static bool is_rsp(unsigned number, bool extended)
{
	return number == 4 && !extended;
}

static int64_t signed_at(const uint8_t *code, unsigned bytes)
{
	int32_t wide;

	if (bytes == 1)
		return (int8_t)code[0];
	if (bytes != 4)
		return 0;
	memcpy(&wide, code, 4);
	return wide;
}

/* lea to %rsp, and moves to it: from %rsp, or %rbp as the frame pointer. */
static void set_rsp(struct swz_depth *d, bool of_rsp, bool of_rbp, int64_t add)
{
	if (of_rsp)
		d->now -= add;
	else if (of_rbp && d->frame)
		d->now = 16 - add;
	else
		d->lost = true;
}

static void follow_arithmetic(struct swz_depth *d, const struct swz_encoding *e,
			      const uint8_t *code)
{
	int64_t operand = signed_at(code + e->operands_at, e->immediate_bytes);

	switch (e->modrm >> 3 & 7) {
	case 0:
		d->now -= operand;
		break;
	case 5:
		d->now += operand;
		break;
	case 7: /* cmp */
		break;
	default:
		d->lost = true;
	}
}

void swz_depth_follow(struct swz_depth *d, const struct swz_encoding *e,
		      const uint8_t *code, uint64_t next)
{
	unsigned reg = e->modrm >> 3 & 7, rm = swz_modrm_rm(e->modrm);
	bool memory = e->modrm_at && swz_modrm_mod(e->modrm) != 3;
	int64_t add = signed_at(code + e->displacement_at,
				e->displacement_at ? e->displacement_bytes : 0);

	if (e->map != SWZ_MAP_ONE_BYTE)
		return;
	switch (e->opcode) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
		d->now += 8;
		break;
	case 0x58 ... 0x5f:
	case 0x8f:
	case 0x9d:
		d->now -= 8;
		break;
	case 0xc9: /* leave */
		set_rsp(d, false, true, 8);
		break;
	case 0x81:
	case 0x83:
		if (!memory && is_rsp(rm, e->extends_base))
			follow_arithmetic(d, e, code);
		break;
	case 0x01:
	case 0x21:
	case 0x29:
		if (!memory && is_rsp(rm, e->extends_base))
			d->lost = true;
		break;
	case 0x89:
		if (!memory && is_rsp(rm, e->extends_base))
			set_rsp(d, false, reg == 5 && !e->extends_reg, 0);
		if (!memory && rm == 5 && !e->extends_base &&
		    is_rsp(reg, e->extends_reg) && d->now == 16 && !d->guessed)
			d->frame = next;
		break;
	case 0x8b:
		if (is_rsp(reg, e->extends_reg))
			set_rsp(d, false,
				!memory && rm == 5 && !e->extends_base, 0);
		break;
	case 0x8d:
		if (is_rsp(reg, e->extends_reg))
			set_rsp(d, rm == 4 && e->sib == 0x24, rm == 5, add);
		break;
	case 0xff:
		if (reg == 6) /* push */
			d->now += 8;
		break;
	default:
		break;
	}
}

bool swz_ends_flow(const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	return e->opcode == 0xc3 || e->opcode == 0xc2 || e->opcode == 0xeb ||
	       e->opcode == 0xe9 ||
	       (e->opcode == 0xff && (e->modrm >> 3 & 7) == 4);
}

/* Whether the instruction, which ends at `next`, jumps to another function. */
static bool jumps_to_another(const struct swz_module *m,
			     const struct swz_function *f,
			     const struct swz_encoding *e, const uint8_t *code,
			     uint64_t next)
{
	const struct swz_function *to;
	unsigned bytes = swz_encoding_branch_bytes(e);
	uint64_t target;

	if (!swz_ends_flow(e) || !bytes)
		return false;
	target = next +
		 (uint64_t)swz_distance_before(
			 code + e->operands_at + e->immediate_bytes, bytes);
	to = swz_function_at(m, target);
	return to && to != f && to->start == target;
}

bool swz_depth_is_slot(const struct swz_depth *d, const struct swz_encoding *e,
		       const uint8_t *code)
{
	unsigned bytes = e->displacement_at ? e->displacement_bytes : 0;

	return e->modrm_at && swz_modrm_mod(e->modrm) != 3 &&
	       swz_modrm_rm(e->modrm) == 4 && e->sib == 0x24 &&
	       !e->extends_base && !e->extends_index &&
	       signed_at(code + e->displacement_at, bytes) == d->now - 8 &&
	       !swz_gives_frame_up(code) && !swz_is_fence(code, e);
}

uint64_t swz_scan_depth(const struct swz_module *m, struct swz_function *f)
{
	struct swz_depth d = SWZ_DEPTH_AT_ENTRY;
	uint64_t end = f->start + f->size;

	for (uint64_t pc = f->start; pc < end && !d.lost;) {
		const uint8_t *code = swz_module_bytes(m, pc);
		struct swz_encoding e;

		if (swz_encoding_read((struct swz_bytes){code, end - pc}, &e) !=
		    SWZ_OK)
			break;
		if (swz_depth_is_slot(&d, &e, code)) {
			swz_function_refuse_reader(f);
			break;
		}
		pc += e.operands_at + e.immediate_bytes;
		swz_depth_follow(&d, &e, code, pc);
		if (d.now < 8 && !d.lost) {
			/* the return address is popped */
			if (!d.guessed)
				swz_function_refuse(
					f, SWZ_REFUSE_NO_STANDARD_FRAME);
			break;
		}
		/* A call with what was pushed as its return address. Free
		 * Pascal's signal handlers go on so, in the midst of whatever
		 * function, whose variable is on top of the stack then. */
		if (d.now > 8 && !d.guessed && !d.lost &&
		    jumps_to_another(m, f, &e, code, pc)) {
			swz_function_refuse(f, SWZ_REFUSE_NO_STANDARD_FRAME);
			break;
		}
		if (d.now > d.most)
			d.most = d.now;
		if (swz_ends_flow(&e)) {
			d.guessed = true;
			d.now = d.most;
		}
	}
	return d.frame;
}
