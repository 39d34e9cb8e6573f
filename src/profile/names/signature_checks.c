#include "profile/names/signature_builder.h"

#include <string.h>

#include "profile/names/value_types.h"
#include "profile/support/memory.h"

static void add_check(struct swz_signature_builder *b,
		      struct swz_value_check check)
{
	check.signature = (uint32_t)b->count - 1;
	swz_grow(&b->checks, &b->check_capacity, b->check_count,
		 sizeof(*b->checks));
	b->checks[b->check_count++] = check;
}

static bool is_called(const struct swz_signature_builder *b,
		      const struct swz_value_part *part, const char *name)
{
	return (*name == '*') == (part->pointed != 0) &&
	       strcmp(b->text ? b->text + part->name : "",
		      name + (*name == '*')) == 0;
}

/* The part that is all of an argument's value; -1: there is none. */
static int only_part(const struct swz_signature_builder *b, const char *name)
{
	const struct swz_signature *s = &b->signatures[b->count - 1];
	int found = -1;
	unsigned i;

	for (i = 0; i < s->entry_parts; i++) {
		const struct swz_value_part *part = &b->parts[s->first + i];

		if (part->kind == SWZ_PART_KEEP || !part->name ||
		    !is_called(b, part, name))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static bool find_enumerator(const struct swz_signature_builder *b,
			    const struct swz_value_type *type, const char *name,
			    int64_t *value)
{
	uint32_t i;

	for (i = 0; type->kind == SWZ_TYPE_ENUM && i < type->members; i++) {
		const struct swz_value_member *m = &b->members[type->first + i];

		if (strcmp(b->text + m->name, name) != 0)
			continue;
		*value = m->offset;
		return true;
	}
	return false;
}

static bool as_float(struct swz_value_check *check, size_t bytes, double number)
{
	float narrow = (float)number;

	check->kind = SWZ_CHECK_FLOAT;
	if (bytes == sizeof(number))
		memcpy(&check->value, &number, sizeof(number));
	else if (bytes == sizeof(narrow) && (double)narrow == number)
		memcpy(&check->value, &narrow, sizeof(narrow));
	else
		return false;
	return true;
}

/* Of a number; false: another time. */
static bool as_number(const struct swz_signature_builder *b,
		      const struct swz_value_type *type,
		      const struct swz_condition *c,
		      struct swz_value_check *check)
{
	check->value = c->integer;
	switch (type->kind) {
	case SWZ_TYPE_FLOAT:
		return (c->operand == SWZ_OPERAND_INTEGER ||
			c->operand == SWZ_OPERAND_FLOAT) &&
		       as_float(check, type->bytes, c->number);
	case SWZ_TYPE_ENUM:
		check->kind = SWZ_CHECK_SIGNED;
		return c->operand == SWZ_OPERAND_INTEGER ||
		       (c->operand == SWZ_OPERAND_NAME &&
			find_enumerator(b, type, c->text, &check->value));
	case SWZ_TYPE_SIGNED:
	case SWZ_TYPE_CHAR:
		check->kind = SWZ_CHECK_SIGNED;
		return c->operand == SWZ_OPERAND_INTEGER;
	case SWZ_TYPE_UNSIGNED:
	case SWZ_TYPE_BOOL:
		check->kind = SWZ_CHECK_UNSIGNED;
		return c->operand == SWZ_OPERAND_INTEGER && c->integer >= 0;
	case SWZ_TYPE_POINTER:
	case SWZ_TYPE_FUNCTION:
		check->kind = SWZ_CHECK_UNSIGNED;
		if (c->operand == SWZ_OPERAND_NULL)
			check->value = 0;
		return c->operand == SWZ_OPERAND_NULL ||
		       c->operand == SWZ_OPERAND_INTEGER;
	default:
		return false;
	}
}

void swz_signature_add_check(struct swz_signature_builder *b,
			     const struct swz_condition *c)
{
	struct swz_value_check check = {.op = (uint8_t)c->op};
	const struct swz_value_part *part;
	int at = c->kind == SWZ_IF_ARGUMENT && c->op != SWZ_MATCHES
			 ? only_part(b, c->name)
			 : -1;

	if (at < 0)
		return;
	part = &b->parts[b->signatures[b->count - 1].first + (unsigned)at];
	check.part = (uint16_t)at;
	if (part->kind != SWZ_PART_PLAIN && part->kind != SWZ_PART_MEMORY) {
		check.kind = c->operand == SWZ_OPERAND_NULL ? SWZ_CHECK_NULL
							    : SWZ_CHECK_TEXT;
		if (c->operand != SWZ_OPERAND_NULL &&
		    c->operand != SWZ_OPERAND_TEXT)
			return;
		if (check.kind == SWZ_CHECK_TEXT) {
			check.length = (uint32_t)strlen(c->text);
			check.text = swz_signature_add_text(b, c->text);
		}
	} else if (part->bytes > sizeof(check.value) ||
		   b->types[part->type].bytes != part->bytes ||
		   !as_number(b, &b->types[part->type], c, &check)) {
		return;
	}
	add_check(b, check);
}

void swz_signature_add_backtrace(struct swz_signature_builder *b,
				 unsigned levels, unsigned mark)
{
	add_check(b, (struct swz_value_check){.kind = SWZ_CHECK_BACKTRACE,
					      .part = (uint16_t)levels,
					      .value = INT64_C(1) << mark});
}
