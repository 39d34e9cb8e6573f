#include "watch/unwind/code_step.h"

#include <string.h>

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

/* A function that begins, or has just pushed rbp. */
static bool begins(struct code code, struct swz_unwind_row *row)
{
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
