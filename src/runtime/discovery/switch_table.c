#include "runtime/discovery/switch_table.h"

#include <string.h>

#include "runtime/discovery/distance_table.h"
#include "runtime/discovery/operand.h"

/* From the comparison to the jump. */
#define MOST_SINCE 16u
#define MOST_BOUND 1023u
/* From where the table's address is taken to the jump. */
#define MOST_INSTRUCTIONS 16u

enum { AND = 4, CMP = 7 };

static bool has_bound(const struct swz_encoding *e)
{
	unsigned operation = swz_modrm_reg(e->modrm);

	switch (e->opcode) {
	case 0x24: /* and, cmp of %rax */
	case 0x25:
	case 0x3c:
	case 0x3d:
		return true;
	case 0x80:
	case 0x81:
	case 0x83:
		return operation == AND || operation == CMP;
	default:
		return false;
	}
}

static uint32_t immediate(const struct swz_encoding *e, const uint8_t *code)
{
	uint32_t value = 0;

	memcpy(&value, code + e->operands_at,
	       e->immediate_bytes < 4 ? e->immediate_bytes : 4);
	return value;
}

static void follow_add(struct swz_switch *s, unsigned to, unsigned from)
{
	s->base = s->held[from] ? s->held[from] : s->held[to];
	s->held[to] = 0;
}

static void follow_load(struct swz_switch *s, const struct swz_encoding *e)
{
	unsigned base = swz_operand_base(e);

	s->table = base < SWZ_NO_REGISTER ? s->held[base] : 0;
	s->base = 0;
}

void swz_switch_follow(struct swz_switch *s, const struct swz_module *m,
		       const struct swz_encoding *e, const uint8_t *code,
		       uint64_t next)
{
	bool memory = swz_operand_is_memory(e);

	if (s->since && s->since <= MOST_SINCE)
		s->since++;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return;
	if (has_bound(e)) {
		s->bound = immediate(e, code);
		s->since = 1;
	}
	switch (e->opcode) {
	case 0x01:
		if (!memory)
			follow_add(s, swz_encoding_rm(e), swz_encoding_reg(e));
		break;
	case 0x03:
		if (!memory)
			follow_add(s, swz_encoding_reg(e), swz_encoding_rm(e));
		break;
	case 0x63: /* movslq */
		if (memory)
			follow_load(s, e);
		s->held[swz_encoding_reg(e)] = 0;
		break;
	case 0x89:
		if (!memory)
			s->held[swz_encoding_rm(e)] =
				s->held[swz_encoding_reg(e)];
		break;
	case 0x8b:
		s->held[swz_encoding_reg(e)] =
			memory ? 0 : s->held[swz_encoding_rm(e)];
		break;
	case 0x8d:
		s->held[swz_encoding_reg(e)] = swz_encoding_rip_relative(e)
						       ? swz_module_relative(
								 m, next - 4)
						       : 0;
		break;
	case 0x58 ... 0x5f:
	case 0xb8 ... 0xbf:
		s->held[(e->opcode & 7u) | (e->extends_base ? 8u : 0)] = 0;
		break;
	default:
		break;
	}
}

bool swz_switch_is_bounded(const struct swz_switch *s)
{
	return s->since && s->since <= MOST_SINCE && s->bound <= MOST_BOUND;
}

bool swz_switch_is_at(const struct swz_module *m, struct swz_decoder *decoder,
		      uint64_t pc, uint64_t end, uint64_t table)
{
	struct swz_switch s = {.since = 0};

	for (unsigned n = 0; n < MOST_INSTRUCTIONS && pc < end; n++) {
		struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
		struct swz_encoding e;
		struct swz_insn insn;

		if (swz_decode_encoding(decoder, code, pc, &insn, &e) != SWZ_OK)
			return false;
		if (insn.kind == SWZ_INSN_JUMP_INDIRECT)
			return !swz_operand_is_memory(&e) && s.table == table &&
			       s.base == table;
		if (insn.kind != SWZ_INSN_PLAIN &&
		    insn.kind != SWZ_INSN_JUMP_CC)
			return false;
		swz_switch_follow(&s, m, &e, code.data, pc + insn.length);
		pc += insn.length;
	}
	return false;
}

bool swz_switch_read(const struct swz_switch *s, const struct swz_module *m,
		     void (*found)(void *context, uint64_t to), void *context)
{
	struct swz_bytes words;

	if (!s->table || !s->base)
		return false;
	words = swz_distance_table_at(m, s->table);
	for (size_t i = 0; i <= s->bound && 4 * i + 4 <= words.size; i++) {
		int32_t distance;
		uint64_t to;

		memcpy(&distance, words.data + 4 * i, sizeof(distance));
		to = s->base + (uint64_t)(int64_t)distance;
		if (swz_module_is_text(m, to, 1))
			found(context, to);
	}
	return true;
}
