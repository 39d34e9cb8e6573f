#include "runtime/record/value_checks.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/record/nodes.h"

static bool decide(unsigned op, int order)
{
	switch (op) {
	case 0:
		return order == 0;
	case 1:
		return order != 0;
	case 2:
		return order < 0;
	case 3:
		return order <= 0;
	case 4:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* Bits of a floating-point number, so that whole numbers are in its order. */
static int64_t in_order(uint64_t bits, unsigned bytes)
{
	int64_t number = bytes == 4 ? (int64_t)(bits << 32) : (int64_t)bits;

	return number < 0 ? (int64_t)(UINT64_C(1) << 63) - number : number;
}

static bool is_nan(uint64_t bits, unsigned bytes)
{
	return bytes == 4 ? (bits & 0x7fffffff) > 0x7f800000
			  : (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

static int compare(int64_t a, int64_t b)
{
	return a < b ? -1 : a > b;
}

/* AT, up to the end of what was recorded, has the part's bytes. */
static bool number_holds(const struct swz_value_check *check,
			 const struct swz_value_part *part, const uint8_t *at,
			 size_t left)
{
	unsigned bytes = part->bytes, unused = 64 - 8 * bytes;
	uint64_t word = 0;

	if (part->kind == SWZ_PART_MEMORY) {
		if (!left || !*at)
			return true;
		at++;
		left--;
	}
	if (!bytes || bytes > 8 || left < bytes)
		return true;
	memcpy(&word, at, bytes);
	if (check->kind == SWZ_CHECK_FLOAT)
		return is_nan(word, bytes)
			       ? check->op == 1
			       : decide(check->op,
					compare(in_order(word, bytes),
						in_order((uint64_t)check->value,
							 bytes)));
	if (check->kind == SWZ_CHECK_SIGNED)
		return decide(check->op,
			      compare((int64_t)(word << unused) >> unused,
				      check->value));
	return decide(check->op, word < (uint64_t)check->value
					 ? -1
					 : word > (uint64_t)check->value);
}

static bool text_holds(const struct swz_value_check *check,
		       const struct swz_captured *c, const uint8_t *at,
		       size_t left)
{
	size_t length, common;
	uint16_t head;
	bool bad, cut;
	int order;

	if (left < 2)
		return true;
	memcpy(&head, at, 2);
	length = head & SWZ_TEXT_LENGTH;
	bad = head & SWZ_TEXT_BAD;
	cut = head & SWZ_TEXT_CUT;
	if (check->kind == SWZ_CHECK_NULL)
		return (bad && cut) == (check->op == 0);
	if (bad && cut) /* NULL is no text */
		return check->op == 1;
	if (bad || left - 2 < length)
		return true;
	common = length < check->length ? length : check->length;
	order = memcmp(at + 2, c->text + check->text, common);
	if (!order && cut && length <= check->length)
		return true;
	if (!order)
		order = length < check->length ? -1 : length > check->length;
	return decide(check->op, order);
}

/* Of the callers as far as they are known. */
static bool backtrace_holds(const struct swz_value_check *check,
			    const struct swz_thread *thread)
{
	const struct swz_node *node = swz_unit_at(
		(uint32_t)(thread->key >> 32));

	for (unsigned i = 0;
	     i < check->part && node->function != SWZ_FUNCTION_ROOT &&
	     node->parent;
	     i++) {
		if (swz_signature_marks_of(node->function) &
		    (uint64_t)check->value)
			return true;
		node = swz_unit_at(node->parent);
	}
	return false;
}

bool swz_value_check_holds(const struct swz_value_check *check,
			   const struct swz_captured *c,
			   const struct swz_thread *thread,
			   const struct swz_recording *r)
{
	const uint8_t *at;
	size_t left;

	if (check->kind == SWZ_CHECK_BACKTRACE)
		return backtrace_holds(check, thread);
	if (check->part >= c->entry_parts || check->part >= SWZ_MOST_PLACED)
		return true;
	at = r->bytes + r->places[check->part];
	left = r->used - r->places[check->part];
	return check->kind == SWZ_CHECK_TEXT || check->kind == SWZ_CHECK_NULL
		       ? text_holds(check, c, at, left)
		       : number_holds(check, &c->parts[check->part], at, left);
}
