/* In each row of a function's unwind table the return address lies at a known
 * distance from %rsp or %rbp. An access to it is a ModRM byte (and SIB) with
 * just that displacement; where the bytes match, the row's instructions are
 * decoded to see whether they are one. */

#include "runtime/scan.h"

#include <string.h>

struct row_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	struct swz_function *function;
};

/* Decodes from the row's start; true if an instruction that covers `at` has the
 * operand [base + displacement], or if decoding loses its way. */
static bool accesses(const struct row_scan *s, const struct swz_cfi_row *row,
		     uint64_t at, unsigned base, int64_t displacement)
{
	uint64_t pc = row->start;

	while (pc <= at) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 row->end - pc};
		struct swz_insn insn;

		if (swz_decode(s->decoder, code, pc, &insn) != SWZ_OK)
			return true;
		if (at < pc + insn.length)
			return insn.memory_base == base &&
			       insn.memory_displacement == displacement;
		pc += insn.length;
	}
	return false;
}

static bool row_accesses_slot(const struct row_scan *s,
			      const struct swz_cfi_row *row)
{
	const uint8_t *code = swz_module_bytes(s->module, row->start);
	uint64_t size = row->end - row->start;
	int64_t d = row->cfa_offset - 8;
	bool rsp = row->cfa_base == SWZ_CFA_RSP;
	uint8_t want_byte = (uint8_t)d;
	int32_t wide = (int32_t)d;

	for (uint64_t i = 1; i + 1 < size; i++) {
		uint8_t mod = code[i] >> 6, rm = code[i] & 7;
		uint64_t at = i + 1;

		if (mod == 3 || rm != (rsp ? 4 : 5))
			continue;
		if (rsp && code[at++] != 0x24)
			continue;
		if (mod == 0   ? (!rsp || d != 0)
		    : mod == 1 ? (at >= size || d != (int8_t)d ||
				  code[at] != want_byte)
			       : (at + 4 > size ||
				  memcmp(code + at, &wide, 4) != 0))
			continue;
		if (accesses(s, row, row->start + i, rsp ? 4 : 5, d))
			return true;
	}
	return false;
}

static bool visit(void *context, const struct swz_cfi_row *row)
{
	struct row_scan *s = context;
	uint64_t end = s->function->start + s->function->size;

	if (row->start < s->function->start || row->end > end)
		return true;
	if (!row->return_at_cfa_minus_8 ||
	    (row->cfa_base == SWZ_CFA_RSP && row->cfa_offset < 8)) {
		swz_function_refuse(s->function, SWZ_REFUSE_NO_STANDARD_FRAME);
		return false;
	}
	if (row->cfa_base != SWZ_CFA_OTHER && row_accesses_slot(s, row)) {
		swz_function_refuse(s->function, SWZ_REFUSE_READS_RETURN_SLOT);
		return false;
	}
	return true;
}

enum swz_status swz_scan_return_slots(struct swz_module *module,
				      struct swz_decoder *decoder)
{
	struct row_scan s = {.module = module, .decoder = decoder};

	for (uint32_t i = 0; i < module->function_count; i++) {
		s.function = &module->functions[i];
		if (s.function->wrapper) /* its caller will be one of ours */
			continue;
		if (s.function->fde && s.function->status == SWZ_PATCHED &&
		    swz_cfi_rows(s.function->fde, visit, &s) != SWZ_OK)
			swz_function_refuse(s.function,
					    SWZ_REFUSE_NO_STANDARD_FRAME);
	}
	return SWZ_OK;
}
