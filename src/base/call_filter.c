#include "base/call_filter.h"

#include <stddef.h>

struct machine {
	uint32_t a, x;
	uint32_t memory[BPF_MEMWORDS];
};

/* The kernel takes loads of whole words only. */
static bool load(const struct seccomp_data *call, uint32_t offset,
		 uint32_t *value)
{
	const uint32_t from = offsetof(struct seccomp_data,
				       instruction_pointer);

	if (offset % 4 || offset > sizeof(*call) - 4 ||
	    (offset >= from && offset < from + 8))
		return false;
	*value = ((const uint32_t *)(const void *)call)[offset / 4];
	return true;
}

static bool calculate(struct machine *m, uint16_t operation, uint32_t operand)
{
	switch (operation) {
	case BPF_ADD:
		m->a += operand;
		return true;
	case BPF_SUB:
		m->a -= operand;
		return true;
	case BPF_MUL:
		m->a *= operand;
		return true;
	case BPF_DIV:
		if (operand)
			m->a /= operand;
		return operand != 0;
	case BPF_AND:
		m->a &= operand;
		return true;
	case BPF_OR:
		m->a |= operand;
		return true;
	case BPF_XOR:
		m->a ^= operand;
		return true;
	case BPF_LSH:
		if (operand < 32)
			m->a <<= operand;
		return operand < 32;
	case BPF_RSH:
		if (operand < 32)
			m->a >>= operand;
		return operand < 32;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	default:
		return false;
	}
}

static bool compare(uint32_t a, uint16_t operation, uint32_t operand,
		    bool *holds)
{
	switch (operation) {
	case BPF_JEQ:
		*holds = a == operand;
		return true;
	case BPF_JGT:
		*holds = a > operand;
		return true;
	case BPF_JGE:
		*holds = a >= operand;
		return true;
	case BPF_JSET:
		*holds = (a & operand) != 0;
		return true;
	default:
		return false;
	}
}

/* All but jumps and returns. False: there is no such instruction. */
static bool step(struct machine *m, const struct sock_filter *at,
		 const struct seccomp_data *call)
{
	bool to_x = BPF_CLASS(at->code) == BPF_LDX;
	uint32_t *to = to_x ? &m->x : &m->a;

	switch (at->code) {
	case BPF_LD | BPF_W | BPF_ABS:
		return load(call, at->k, to);
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_W | BPF_LEN:
		*to = sizeof(*call);
		return true;
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_IMM:
		*to = at->k;
		return true;
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
		if (at->k < BPF_MEMWORDS)
			*to = m->memory[at->k];
		return at->k < BPF_MEMWORDS;
	case BPF_ST:
	case BPF_STX:
		if (at->k < BPF_MEMWORDS)
			m->memory[at->k] = at->code == BPF_ST ? m->a : m->x;
		return at->k < BPF_MEMWORDS;
	case BPF_MISC | BPF_TAX:
		m->x = m->a;
		return true;
	case BPF_MISC | BPF_TXA:
		m->a = m->x;
		return true;
	default:
		return BPF_CLASS(at->code) == BPF_ALU &&
		       calculate(m, BPF_OP(at->code),
				 BPF_SRC(at->code) == BPF_X ? m->x : at->k);
	}
}

bool swz_call_filter_allows(const struct sock_filter *code, uint32_t length,
			    const struct seccomp_data *call)
{
	struct machine m = {0, 0, {0}};
	bool holds;

	/* jumps lead forward only */
	for (uint32_t at = 0; at < length; at++) {
		const struct sock_filter *i = &code[at];
		uint32_t operand = BPF_SRC(i->code) == BPF_X ? m.x : i->k;

		if (i->code == (BPF_RET | BPF_K))
			return i->k == SECCOMP_RET_ALLOW;
		if (i->code == (BPF_RET | BPF_A))
			return m.a == SECCOMP_RET_ALLOW;
		if (i->code == (BPF_JMP | BPF_JA)) {
			if (i->k >= length - at)
				return false;
			at += i->k;
		} else if (BPF_CLASS(i->code) == BPF_JMP) {
			if (!compare(m.a, BPF_OP(i->code), operand, &holds))
				return false;
			at += holds ? i->jt : i->jf;
		} else if (!step(&m, i, call)) {
			return false;
		}
	}
	return false;
}
