#include "relocation_check.h"

/* Walks the displaced instructions and their copies in step. `at` is the place
 * in the copy up to which everything is explained; at the end it must be the
 * end of the copy. */

#include <string.h>

struct check {
	struct swz_decoder *decoder;
	uint64_t from;
	uint64_t to;
	const uint8_t *out;
	const struct swz_relocation *relocation;
	size_t at;
};

static bool next_copy(struct check *check, struct swz_insn *insn)
{
	struct swz_bytes rest = {check->out + check->at,
				 check->relocation->written - check->at};

	if (swz_decode(check->decoder, rest, check->to + check->at, insn) !=
	    SWZ_OK)
		return false;
	check->at += insn->length;
	return true;
}

/* Where a branch to `target` has to go in the copy. */
static uint64_t expected_target(const struct check *check, uint64_t target)
{
	const struct swz_relocation *relocation = check->relocation;
	size_t i;

	for (i = 0; i < relocation->insn_count; i++)
		if (target == check->from + relocation->insns[i].from)
			return check->to + relocation->insns[i].to;
	if (target - check->from < relocation->displaced_bytes)
		return 0; /* must not happen */
	return target;
}

static const char *check_jump(struct check *check, uint64_t target)
{
	struct swz_insn jump;

	if (!next_copy(check, &jump) || jump.kind != SWZ_INSN_JUMP ||
	    jump.length != SWZ_JUMP_BYTES)
		return "no near jump";
	return jump.target == target ? NULL : "a jump goes elsewhere";
}

static bool next_is(struct check *check, const void *bytes, size_t count)
{
	if (check->relocation->written - check->at < count ||
	    memcmp(check->out + check->at, bytes, count) != 0)
		return false;
	check->at += count;
	return true;
}

/* A push of 32 bits, or of the 8 bytes at `address_at` if there are such. */
static const char *check_push(struct check *check, uint64_t value,
			      const uint8_t *pushed, uint64_t address_at)
{
	const uint8_t *bytes = check->out + check->at;
	struct swz_insn insn;
	int32_t low;

	if (!next_copy(check, &insn) || insn.length < 5)
		return "no push";
	if (bytes[0] == 0x68) {
		memcpy(&low, bytes + 1, 4);
		return value == (uint64_t)(int64_t)low ? NULL : "a short push";
	}
	if (!pushed || bytes[0] != 0xff || bytes[1] != 0x35 ||
	    insn.target != address_at)
		return "a push of something else";
	return !memcmp(pushed, &value, 8) ? NULL : "a wrong return address";
}

/* A call over an int3 and perhaps the address, lea 8(%rsp),%rsp, and a push. */
static const char *check_return_address(struct check *check, uint64_t value)
{
	const uint8_t *pushed = NULL;
	uint64_t address_at;
	struct swz_insn call;

	if (!next_copy(check, &call) || call.kind != SWZ_INSN_CALL)
		return "no call";
	if (!next_is(check, "\xcc", 1))
		return "a mispredicted return runs into something";
	address_at = check->to + check->at;
	if (call.target == address_at + 8 &&
	    check->relocation->written - check->at >= 8) {
		pushed = check->out + check->at;
		check->at += 8;
	} else if (call.target != address_at) {
		return "a call goes elsewhere";
	}
	if (!next_is(check, "\x48\x8d\x64\x24\x08", 5))
		return "the call's own return address stays";
	return check_push(check, value, pushed, address_at);
}

static const char *check_rip_relative(struct check *check,
				      const struct swz_insn *insn,
				      const uint8_t *original)
{
	const uint8_t *copy = check->out + check->at;
	size_t behind = insn->displacement_at + 4u;
	struct swz_insn moved;
	uint64_t constant;

	if (!next_copy(check, &moved))
		return "an undecodable copy";
	if (insn->memory_is_lea && moved.length == 10 &&
	    (copy[1] & 0xf8) == 0xb8) {
		memcpy(&constant, copy + 2, 8);
		return constant == insn->target ? NULL : "a wrong constant";
	}
	if (moved.length != insn->length || !moved.rip_relative ||
	    moved.target != insn->target ||
	    moved.displacement_at != insn->displacement_at)
		return "an operand has moved";
	if (memcmp(copy, original, insn->displacement_at) != 0 ||
	    memcmp(copy + behind, original + behind, insn->length - behind) !=
		    0)
		return "more than the displacement has changed";
	return NULL;
}

static const char *check_plain(struct check *check, const struct swz_insn *insn,
			       const uint8_t *original)
{
	if (insn->rip_relative)
		return check_rip_relative(check, insn, original);
	if (check->at + insn->length > check->relocation->written ||
	    memcmp(check->out + check->at, original, insn->length) != 0)
		return "a plain instruction has changed";
	check->at += insn->length;
	return NULL;
}

static const char *check_condition(struct check *check,
				   const struct swz_insn *insn,
				   const uint8_t *original, uint64_t target)
{
	bool is_near = insn->length >= 6 && original[insn->length - 6] == 0x0f;
	uint8_t opcode = original[insn->length - (is_near ? 5 : 2)];
	struct swz_insn moved;

	if (!next_copy(check, &moved) || moved.kind != SWZ_INSN_JUMP_CC ||
	    moved.length != 6)
		return "no near conditional jump";
	if (((check->out[check->at - 5] ^ opcode) & 0xf) != 0)
		return "another condition";
	return moved.target == target ? NULL : "a condition goes elsewhere";
}

static const char *check_loop(struct check *check, const struct swz_insn *insn,
			      const uint8_t *original, uint64_t target)
{
	uint64_t island = check->to + check->at + insn->length + 2;
	struct swz_insn moved;

	if (memcmp(check->out + check->at, original, insn->length - 1u) != 0 ||
	    !next_copy(check, &moved) || moved.target != island)
		return "a loop misses its island";
	if (!next_copy(check, &moved) || moved.kind != SWZ_INSN_JUMP ||
	    moved.target != island + SWZ_JUMP_BYTES)
		return "an island is entered";
	return check_jump(check, target);
}

static const char *check_call_indirect(struct check *check,
				       const struct swz_insn *insn)
{
	const char *fault = check_return_address(check,
						 insn->address + insn->length);
	struct swz_insn moved;

	if (fault)
		return fault;
	if (!next_copy(check, &moved) || moved.kind != SWZ_INSN_JUMP_INDIRECT)
		return "no jump to the callee";
	if (moved.rip_relative != insn->rip_relative ||
	    (insn->rip_relative && moved.target != insn->target))
		return "another callee";
	if (insn->memory_base == 4 &&
	    moved.memory_displacement != insn->memory_displacement + 8)
		return "the push is not allowed for";
	return NULL;
}

static const char *check_one(struct check *check, const struct swz_insn *insn,
			     const uint8_t *original)
{
	uint64_t target = expected_target(check, insn->target);
	const char *fault;

	switch (insn->kind) {
	case SWZ_INSN_JUMP:
		return check_jump(check, target);
	case SWZ_INSN_JUMP_CC:
		return check_condition(check, insn, original, target);
	case SWZ_INSN_LOOP:
		return check_loop(check, insn, original, target);
	case SWZ_INSN_CALL:
		fault = check_return_address(check,
					     insn->address + insn->length);
		return fault ? fault : check_jump(check, target);
	case SWZ_INSN_CALL_INDIRECT:
		return check_call_indirect(check, insn);
	case SWZ_INSN_TRAP:
	case SWZ_INSN_SYSCALL:
		return "a trap or a system call is moved";
	default:
		return check_plain(check, insn, original);
	}
}

static bool falls_through(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_PLAIN || insn->kind == SWZ_INSN_JUMP_CC ||
	       insn->kind == SWZ_INSN_LOOP;
}

const char *relocation_fault(struct swz_decoder *decoder, struct swz_bytes code,
			     uint64_t from, unsigned wanted, uint64_t to,
			     const uint8_t *out,
			     const struct swz_relocation *relocation)
{
	struct check check = {decoder, from, to, out, relocation, 0};
	struct swz_insn insn;
	size_t taken = 0;
	size_t i;

	if (relocation->displaced_bytes < wanted ||
	    relocation->displaced_bytes > code.size)
		return "a wrong number of displaced bytes";
	if (!relocation->insn_count ||
	    relocation->insn_count > SWZ_MOST_DISPLACED)
		return "a wrong number of instructions";
	for (i = 0; i < relocation->insn_count; i++) {
		struct swz_bytes rest = {code.data + taken, code.size - taken};
		const char *fault;

		if (swz_decode(decoder, rest, from + taken, &insn) != SWZ_OK)
			return "an undecodable original";
		if (relocation->insns[i].from != taken ||
		    relocation->insns[i].to != check.at)
			return "an instruction is said to be elsewhere";
		fault = check_one(&check, &insn, rest.data);
		if (fault)
			return fault;
		taken += insn.length;
	}
	if (falls_through(&insn)) {
		if (taken != relocation->displaced_bytes)
			return "an instruction is lost";
		if (check_jump(&check, from + taken))
			return "no jump back";
	}
	return check.at == relocation->written ? NULL : "bytes too many";
}
