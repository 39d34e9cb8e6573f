/* Nearly every frame is described by 16 bytes, whether they are made from an
 * unwind entry or, where there is none, from the instructions at the pc. */

#include "watch/unwind/unwind_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/cursor.h"
#include "image/eh_frame.h"
#include "util/memory.h"
#include "watch/unwind/unwinder.h"

/* --- rows of unwind entries ---------------------------------------------- */

enum { FIRST_BITS = 8, OP_DEREF = 0x06, OP_BREG_RBP = 0x76 };

/* The operand of an expression that is just DW_OP_breg6 OPERAND, and then
 * DW_OP_deref if it is to be. */
static bool is_of_rbp(const struct swz_fde *fde, uint64_t place, bool deref,
		      int64_t *operand)
{
	struct swz_cursor cursor = swz_cursor(fde->section.bytes);
	struct swz_bytes block;

	swz_cursor_skip(&cursor, place);
	block = swz_cursor_take(&cursor, swz_cursor_uleb(&cursor));
	cursor = swz_cursor(block);
	if (swz_cursor_u8(&cursor) != OP_BREG_RBP)
		return false;
	*operand = swz_cursor_sleb(&cursor);
	if (deref && swz_cursor_u8(&cursor) != OP_DEREF)
		return false;
	return !cursor.failed && cursor.at == cursor.size;
}

static bool set_rbp(const struct swz_fde *fde,
		    const struct swz_cfi_registers *registers,
		    struct swz_unwind_row *row)
{
	int64_t value = registers->value[SWZ_BP];

	switch (registers->rule[SWZ_BP]) {
	case SWZ_RULE_SAME:
	case SWZ_RULE_UNDEFINED:
		row->rbp = SWZ_ROW_RBP_SAME;
		return true;
	case SWZ_RULE_AT_CFA:
		row->rbp = SWZ_ROW_RBP_AT_CFA;
		row->rbp_offset = (int16_t)value;
		return row->rbp_offset == value;
	case SWZ_RULE_AT_ADDRESS:
		row->rbp = SWZ_ROW_RBP_AT_RBP;
		return is_of_rbp(fde, (uint64_t)value, false, &value) && !value;
	default:
		return false;
	}
}

static bool set_cfa(const struct swz_fde *fde, const struct swz_cfi_row *cfi,
		    const struct swz_cfi_registers *registers,
		    struct swz_unwind_row *row)
{
	int64_t offset = cfi->cfa_offset;

	if (cfi->cfa_base == SWZ_CFA_RSP) {
		row->kind = SWZ_ROW_RSP;
	} else if (cfi->cfa_base == SWZ_CFA_RBP) {
		row->kind = SWZ_ROW_RBP;
	} else {
		row->kind = SWZ_ROW_SAVED;
		if (cfi->cfa_column != SWZ_NO_COLUMN ||
		    !is_of_rbp(fde, registers->cfa_expression, true, &offset))
			return false;
	}
	row->cfa_offset = (int32_t)offset;
	return row->cfa_offset == offset;
}

struct swz_unwind_row swz_unwind_row_of(const struct swz_fde *fde, uint64_t pc)
{
	static const struct swz_unwind_row other = {.kind = SWZ_ROW_OTHER},
					   root = {.kind = SWZ_ROW_ROOT},
					   none = {.kind = SWZ_ROW_NONE};
	struct swz_cfi_registers registers;
	struct swz_cfi_row cfi;
	struct swz_unwind_row row = {0};

	if (!swz_cfi_registers_at(fde, pc, &cfi, &registers) ||
	    fde->return_column != SWZ_RETURN_COLUMN)
		return none;
	if (fde->signal_frame)
		return other;
	if (registers.rule[SWZ_RETURN_COLUMN] == SWZ_RULE_UNDEFINED)
		return root;
	if (!cfi.return_at_cfa_minus_8 ||
	    registers.rule[SWZ_SP] != SWZ_RULE_SAME ||
	    !set_cfa(fde, &cfi, &registers, &row) ||
	    !set_rbp(fde, &registers, &row))
		return other;
	return row;
}

/* ------------------------------------------------------------------- table */

static struct swz_unwind_row *place(struct swz_unwind_row_table *table,
				    uint64_t key)
{
	size_t i = swz_unwind_row_slot(table, key);

	while (table->rows[i].key)
		i = (i + 1) & (((size_t)1 << table->bits) - 1);
	return &table->rows[i];
}

static void grow(struct swz_unwind_row_table *table)
{
	struct swz_unwind_row_table old = *table;
	size_t i, old_size = old.bits ? (size_t)1 << old.bits : 0;

	table->bits = old.bits ? old.bits + 1 : FIRST_BITS;
	table->rows = swz_allocate((size_t)1 << table->bits,
				   sizeof(*table->rows));
	for (i = 0; i < old_size; i++)
		if (old.rows[i].key)
			*place(table, old.rows[i].key) = old.rows[i];
	free(old.rows);
}

const struct swz_unwind_row *swz_unwind_row_add(
	struct swz_unwind_row_table *table, uint64_t pc,
	struct swz_unwind_row row)
{
	struct swz_unwind_row *at;

	if (table->count == SWZ_ROWS_MOST)
		swz_unwind_row_table_free(table);
	if (!table->bits || table->count >= ((size_t)1 << table->bits) / 4 * 3)
		grow(table);
	row.key = pc + 1;
	at = place(table, row.key);
	*at = row;
	table->count++;
	return at;
}

void swz_unwind_row_table_free(struct swz_unwind_row_table *table)
{
	free(table->rows);
	*table = (struct swz_unwind_row_table){0};
}

/* --- rows of code -------------------------------------------------------- */

enum {
	RSP_AT_RETURN = 8, /* CFA - rsp, where rsp leads to the address */
	POP_RBP = 0x5d,
	/* a frame that is larger is none */
	MOST_FRAME_BYTES = 1 << 20
};

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint8_t push_rbp[] = {0x55};
static const uint8_t mov_rsp_rbp[] = {0x48, 0x89, 0xe5};
static const uint8_t mov_rsp_rbp_other[] = {0x48, 0x8b, 0xec};
static const uint8_t add_rsp_8[] = {0x48, 0x83, 0xc4};
static const uint8_t test_rax[] = {0x48, 0x85, 0xc0};
static const uint8_t add_rsp_32[] = {0x48, 0x81, 0xc4};
static const uint8_t mov_r11d[] = {0x41, 0xbb}; /* and four bytes */
static const uint8_t bnd[] = {0xf2};
static const uint8_t jmp_memory[] = {0xff, 0x25}; /* and four bytes */

struct code {
	const uint8_t *at;
	size_t size;
};

/* Takes these bytes if they come next. */
static bool take(struct code *code, const uint8_t *bytes, size_t size)
{
	if (code->size < size || memcmp(code->at, bytes, size) != 0)
		return false;
	code->at += size;
	code->size -= size;
	return true;
}

#define TAKE(code, bytes) take(code, bytes, sizeof(bytes))

static bool take_byte(struct code *code, uint8_t *byte)
{
	if (!code->size)
		return false;
	*byte = *code->at++;
	code->size--;
	return true;
}

/* A byte as a signed number. */
static int32_t signed_byte(uint8_t byte)
{
	return byte < 0x80 ? byte : byte - 0x100;
}

static struct swz_unwind_row row_by_rsp(int32_t cfa_offset)
{
	struct swz_unwind_row row = {.kind = SWZ_ROW_RSP,
				     .cfa_offset = cfa_offset};

	return row;
}

static struct swz_unwind_row row_with_rbp(int32_t cfa_offset, int32_t rbp)
{
	struct swz_unwind_row row = row_by_rsp(cfa_offset);

	row.rbp = SWZ_ROW_RBP_AT_CFA;
	row.rbp_offset = (int16_t)rbp;
	if (row.rbp_offset != rbp)
		row.kind = SWZ_ROW_NONE;
	return row;
}

/* An entry of the PLT, which lld and mold write no unwind entries for. */
static bool leads_on(struct code code)
{
	TAKE(&code, endbr64);
	if (TAKE(&code, mov_r11d) &&
	    (code.size < 4 || !take(&code, code.at, 4)))
		return false;
	TAKE(&code, bnd);
	return TAKE(&code, jmp_memory);
}

/* A function that begins, or has just pushed rbp. */
static bool begins(struct code code, struct swz_unwind_row *row)
{
	if (leads_on(code)) {
		*row = row_by_rsp(RSP_AT_RETURN);
		return true;
	}
	TAKE(&code, endbr64);
	if (TAKE(&code, push_rbp) &&
	    (TAKE(&code, mov_rsp_rbp) || TAKE(&code, mov_rsp_rbp_other))) {
		*row = row_by_rsp(RSP_AT_RETURN);
		return true;
	}
	if (TAKE(&code, mov_rsp_rbp) || TAKE(&code, mov_rsp_rbp_other)) {
		*row = row_with_rbp(RSP_AT_RETURN + 8, -16);
		return true;
	}
	return false;
}

/* Takes add $n,%rsp: n bytes. */
static bool take_addition(struct code *code, int32_t *bytes)
{
	uint8_t short_one;

	if (TAKE(code, add_rsp_8) && take_byte(code, &short_one)) {
		*bytes = signed_byte(short_one);
		return true;
	}
	if (!TAKE(code, add_rsp_32) || code->size < sizeof(*bytes))
		return false;
	memcpy(bytes, code->at, sizeof(*bytes));
	return take(code, code->at, sizeof(*bytes));
}

/* Takes pop %reg. */
static bool take_pop(struct code *code, bool *of_rbp)
{
	bool extended = code->size && code->at[0] == 0x41;
	uint8_t opcode = 0;

	if (code->size > extended)
		opcode = code->at[extended];
	/* not pop %rsp */
	if ((opcode & 0xf8) != 0x58 || (!extended && opcode == 0x5c))
		return false;
	*of_rbp = !extended && opcode == POP_RBP;
	return take(code, code->at, 1 + (size_t)extended);
}

static bool is_return(const struct code *code)
{
	return (code->size && (code->at[0] == 0xc3 || code->at[0] == 0xc2)) ||
	       (code->size > 1 && code->at[0] == 0xf3 && code->at[1] == 0xc3);
}

/* A function that gives its frame up and returns. */
static bool ends(struct code code, struct swz_unwind_row *row)
{
	int32_t bytes = 0, rbp_at = -1, more;
	bool of_rbp;

	while (!is_return(&code)) {
		if (take_addition(&code, &more)) {
			if (more < 0 || more > MOST_FRAME_BYTES)
				return false;
			bytes += more;
		} else if (take_pop(&code, &of_rbp)) {
			if (of_rbp)
				rbp_at = bytes;
			bytes += 8;
		} else {
			return false;
		}
	}
	*row = rbp_at < 0 ? row_by_rsp(bytes + RSP_AT_RETURN)
			  : row_with_rbp(bytes + RSP_AT_RETURN,
					 rbp_at - bytes - RSP_AT_RETURN);
	return row->kind != SWZ_ROW_NONE;
}

/* Takes a conditional jump: where it leads to from behind it, and whether this
 * rax, compared with 0, takes it. */
static bool take_jump(struct code *code, int64_t rax, int64_t *to, bool *taken)
{
	bool is_long = code->size && code->at[0] == 0x0f;
	size_t size = is_long ? 6 : 2;
	int32_t distance;
	uint8_t condition;

	if (code->size < size)
		return false;
	condition = code->at[is_long];
	if ((condition & 0xf0) != (is_long ? 0x80 : 0x70))
		return false;
	if (is_long)
		memcpy(&distance, code->at + 2, sizeof(distance));
	else
		distance = signed_byte(code->at[1]);
	switch (condition & 0xf) {
	case 0x4: /* je */
		*taken = rax == 0;
		break;
	case 0x5: /* jne */
		*taken = rax != 0;
		break;
	case 0x8: /* js */
	case 0xc: /* jl */
		*taken = rax < 0;
		break;
	case 0x9: /* jns */
	case 0xd: /* jge */
		*taken = rax >= 0;
		break;
	case 0xe: /* jle */
		*taken = rax <= 0;
		break;
	case 0xf: /* jg */
		*taken = rax > 0;
		break;
	default:
		return false;
	}
	*to = distance;
	return take(code, code->at, size);
}

int64_t swz_code_branch(const uint8_t *code, size_t size, uint64_t rax)
{
	struct code from = {code, size};
	bool taken = false;
	int64_t to = 0;

	if (!TAKE(&from, test_rax))
		return 0;
	while (!taken && take_jump(&from, (int64_t)rax, &to, &taken))
		;
	return from.at - code + (taken ? to : 0);
}

struct swz_unwind_row swz_code_row(const uint8_t *code, size_t size,
				   bool called)
{
	struct swz_unwind_row row = {.kind = SWZ_ROW_NONE};
	struct code from = {code, size};

	if ((!called && begins(from, &row)) || ends(from, &row))
		return row;
	row.kind = TAKE(&from, test_rax) ? SWZ_ROW_BRANCH : SWZ_ROW_NONE;
	return row;
}

/* The bytes of call *OPERAND (ff /2) from its opcode on; 0: it is another
 * instruction (Intel SDM, volume 2, tables 2-2 and 2-3). */
static size_t indirect_call_bytes(const uint8_t *code, size_t size)
{
	unsigned mode = code[1] >> 6, operand = code[1] & 7;
	bool has_sib = mode != 3 && operand == 4;
	unsigned base = has_sib && size > 2 ? code[2] & 7 : operand;
	size_t bytes = has_sib ? 3 : 2;

	if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
		return 0;
	if (mode == 1)
		return bytes + 1;
	return mode == 2 || (mode == 0 && base == 5) ? bytes + 4 : bytes;
}

bool swz_code_ends_with_call(const uint8_t *end, size_t size)
{
	if (size >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t n = 2; n <= size && n <= SWZ_CALL_BYTES; n++)
		if (indirect_call_bytes(end - n, n) == n)
			return true;
	return false;
}

bool swz_code_leaves_stack(const uint8_t *code, size_t size)
{
	if (size < 3 || (code[0] & 0xfa) != 0x48)
		return false;
	return (code[1] == 0x89 && (code[2] & 0xc7) == 0xc4) ||
	       (code[1] == 0x8b && (code[2] & 0xf8) == 0xe0);
}
