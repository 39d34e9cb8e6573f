/* Between functions that are known lies padding, and code without an unwind
 * entry or a symbol: the C library's start code, hand-written assembly; data,
 * too. If all of it decodes from one end to the other as what compilers make,
 * and all that branches within it goes to an instruction of this decoding, then
 * those are the instructions. Whatever is data is much more likely to fail one
 * of these conditions. If not, it is taken for what it looks like, but for long
 * texts. */

#include "runtime/discovery/scan_gaps.h"

#include <string.h>

#include "runtime/discovery/scan_data.h"
#include "thunks/decoder.h"

enum { LEAST_STRING = 32 };

static bool is_odd(struct swz_bytes code, const struct swz_insn *insn,
		   const struct swz_encoding *e)
{
	return insn->kind == SWZ_INSN_LOOP || insn->kind == SWZ_INSN_SYSCALL ||
	       swz_opcode_is_odd(code, e);
}

static uint64_t begin_of(const struct swz_module *m, uint64_t pc)
{
	uint32_t low = 0, high = m->function_count;
	uint64_t begin = 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->functions[middle].start <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	if (low)
		begin = m->functions[low - 1].start +
			m->functions[low - 1].size;
	for (unsigned i = 0; i < m->plt_count; i++)
		if (m->plt[i].end <= pc && m->plt[i].end > begin)
			begin = m->plt[i].end;
	return begin;
}

static uint64_t end_of(const struct swz_module *m, const struct swz_range *text,
		       uint64_t pc)
{
	uint64_t end = text->end;

	for (uint32_t low = 0, high = m->function_count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (m->functions[middle].start > pc) {
			if (m->functions[middle].start < end)
				end = m->functions[middle].start;
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	for (unsigned i = 0; i < m->plt_count; i++)
		if (m->plt[i].start > pc && m->plt[i].start < end)
			end = m->plt[i].start;
	return end;
}

static bool starts_at(const struct swz_gap *gap, uint64_t pc)
{
	uint64_t at = pc - gap->begin;

	return gap->starts[at / 8] & (1u << (at % 8));
}

static void note_start(struct swz_gap *gap, uint64_t pc)
{
	uint64_t at = pc - gap->begin;

	gap->starts[at / 8] |= (uint8_t)(1u << (at % 8));
}

static bool ends_flow(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_RETURN || insn->kind == SWZ_INSN_JUMP ||
	       insn->kind == SWZ_INSN_JUMP_INDIRECT ||
	       insn->kind == SWZ_INSN_TRAP;
}

static bool decode(struct swz_gap *gap, const struct swz_module *m,
		   struct swz_decoder *decoder)
{
	uint64_t pc = gap->begin;
	/* where the branches go, as often as there is room to remember */
	uint64_t targets[SWZ_MOST_GAP_BRANCHES];
	unsigned count = 0;
	bool ended = true;

	memset(gap->starts, 0, sizeof(gap->starts));
	while (pc < gap->end) {
		struct swz_bytes code = {swz_module_bytes(m, pc),
					 gap->end - pc};
		struct swz_encoding encoding;
		struct swz_insn insn;

		if (ended && !*code.data) { /* padding between sections */
			pc++;
			continue;
		}
		if (swz_decode_encoding(decoder, code, pc, &insn, &encoding) !=
			    SWZ_OK ||
		    is_odd(code, &insn, &encoding))
			return false;
		note_start(gap, pc);
		if (insn.kind != SWZ_INSN_PLAIN) /* asked for by its opcode */
			note_start(gap, pc + encoding.opcode_at);
		if ((insn.kind == SWZ_INSN_JUMP ||
		     insn.kind == SWZ_INSN_JUMP_CC ||
		     insn.kind == SWZ_INSN_CALL) &&
		    insn.target - gap->begin < gap->end - gap->begin) {
			if (count == SWZ_MOST_GAP_BRANCHES)
				return false;
			targets[count++] = insn.target;
		}
		ended = ends_flow(&insn);
		pc += insn.length;
	}
	while (count--)
		if (!starts_at(gap, targets[count]))
			return false;
	return true;
}

static bool is_printable(const struct swz_module *m, uint64_t pc)
{
	uint8_t byte = *swz_module_bytes(m, pc);

	return byte >= ' ' && byte <= '~';
}

/* Whether the two bytes are in a text that is as long as no code looks like
 * one, with its NUL: what cryptography says of its authors before it begins. */
static bool is_in_string(const struct swz_gap *gap, const struct swz_module *m,
			 uint64_t pc)
{
	uint64_t begin = pc, end = pc;

	while (begin > gap->begin && is_printable(m, begin - 1))
		begin--;
	while (end < gap->end && is_printable(m, end))
		end++;
	return end < gap->end && end - pc >= 2 && end - begin >= LEAST_STRING &&
	       *swz_module_bytes(m, end) == 0;
}

static void look(struct swz_gap *gap, const struct swz_module *m,
		 struct swz_decoder *decoder, const struct swz_range *text,
		 uint64_t pc)
{
	if (pc < gap->begin || pc >= gap->end) {
		gap->begin = begin_of(m, pc);
		gap->end = end_of(m, text, pc);
		if (gap->begin < text->start)
			gap->begin = text->start;
		gap->is_code = gap->begin <= pc && gap->end > pc &&
			       gap->end - gap->begin <= SWZ_MOST_GAP_BYTES &&
			       decode(gap, m, decoder);
	}
}

uint64_t swz_gap_padding(struct swz_gap *gap, const struct swz_module *m,
			 struct swz_decoder *decoder,
			 const struct swz_range *text, uint64_t end)
{
	uint64_t padding = end;
	bool ended = false;

	if (end <= text->start)
		return end;
	look(gap, m, decoder, text, end - 1);
	if (!gap->is_code || gap->end != end)
		return end;
	for (uint64_t pc = gap->begin; pc < end;) {
		struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
		size_t length = swz_padding_length(code);
		struct swz_insn insn;

		if (length) {
			if (ended && padding == end)
				padding = pc;
			pc += length;
			continue;
		}
		padding = end;
		if (swz_decode(decoder, code, pc, &insn) != SWZ_OK)
			return end;
		ended = ends_flow(&insn) && insn.kind != SWZ_INSN_TRAP;
		pc += insn.length;
	}
	return padding;
}

bool swz_gap_denies(struct swz_gap *gap, const struct swz_module *m,
		    struct swz_decoder *decoder, const struct swz_range *text,
		    uint64_t pc)
{
	look(gap, m, decoder, text, pc);
	if (gap->is_code)
		return !starts_at(gap, pc);
	return gap->begin <= pc && is_in_string(gap, m, pc);
}
