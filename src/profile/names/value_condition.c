#include "profile/names/value_condition.h"

#include <string.h>

#include "profile/names/value_print.h"

static enum swz_verdict verdict(bool holds)
{
	return holds ? SWZ_HOLDS : SWZ_FAILS;
}

static enum swz_verdict decide_text(const struct swz_value_bytes *text,
				    const struct swz_condition *c)
{
	size_t length;

	if (c->operand == SWZ_OPERAND_NULL)
		return verdict((text->bad && text->cut) ==
			       (c->op == SWZ_EQUAL));
	if (c->operand != SWZ_OPERAND_TEXT)
		return SWZ_UNDECIDED;
	if (text->bad && text->cut) /* NULL is no text */
		return verdict(c->op == SWZ_NOT_EQUAL);
	length = strlen(c->text);
	/* what there is more of may decide */
	if (text->bad ||
	    (text->cut && (c->op == SWZ_MATCHES ||
			   (text->size <= length &&
			    memcmp(text->bytes, c->text, text->size) == 0))))
		return SWZ_UNDECIDED;
	return verdict(swz_condition_holds_text(c, (const char *)text->bytes,
						text->size));
}

static bool read_float(const struct swz_value *value, double *number)
{
	const struct swz_value_bytes *plain = &value->plain;
	float narrow;
	long double wide = 0;

	switch (plain->size) {
	case sizeof(narrow):
		memcpy(&narrow, plain->bytes, sizeof(narrow));
		*number = (double)narrow;
		return true;
	case sizeof(*number):
		memcpy(number, plain->bytes, sizeof(*number));
		return true;
	case 16:
		memcpy(&wide, plain->bytes, 10);
		*number = (double)wide;
		return true;
	default:
		return false;
	}
}

/* An enum's name becomes its number. */
static bool with_number(const struct swz_value *value,
			const struct swz_condition *c,
			struct swz_condition *number)
{
	uint32_t i;

	*number = *c;
	if (c->operand != SWZ_OPERAND_NAME)
		return c->operand != SWZ_OPERAND_TEXT;
	for (i = 0;
	     value->type->kind == SWZ_TYPE_ENUM && i < value->type->members;
	     i++) {
		const struct swz_value_member *member =
			&value->set->members[value->type->first + i];

		if (strcmp(swz_signature_text(value->set, member->name),
			   c->text) != 0)
			continue;
		number->operand = SWZ_OPERAND_INTEGER;
		number->integer = member->offset;
		number->number = (double)member->offset;
		return true;
	}
	return false;
}

enum swz_verdict swz_value_decide(const struct swz_value *value,
				  const struct swz_condition *c)
{
	struct swz_condition with;
	int64_t number;
	double real;

	if (value->text.bytes)
		return decide_text(&value->text, c);
	if (!value->plain.bytes || value->plain.bad ||
	    !with_number(value, c, &with))
		return SWZ_UNDECIDED;
	if (value->type->kind == SWZ_TYPE_FLOAT)
		return with.operand != SWZ_OPERAND_NULL &&
				       read_float(value, &real)
			       ? verdict(swz_condition_holds_float(&with, real))
			       : SWZ_UNDECIDED;
	if (!swz_value_number(value, &number))
		return SWZ_UNDECIDED;
	if (with.operand == SWZ_OPERAND_NULL)
		return verdict((number == 0) == (c->op == SWZ_EQUAL));
	return verdict(swz_condition_holds_integer(
		&with, number,
		value->type->kind == SWZ_TYPE_UNSIGNED ||
			value->type->kind == SWZ_TYPE_POINTER));
}

enum swz_verdict swz_values_decide(const struct swz_call_values *values,
				   const struct swz_condition *c)
{
	const char *name = c->name;
	const struct swz_value *result;
	bool pointed;
	size_t i;

	if (c->kind == SWZ_IF_RESULT) {
		result = swz_value_result(values);
		return result ? swz_value_decide(result, c) : SWZ_UNDECIDED;
	}
	pointed = *name == '*';
	for (i = 0; i < values->count; i++)
		if (values->values[i].pointed == pointed &&
		    strcmp(values->values[i].name, name + pointed) == 0)
			return swz_value_decide(&values->values[i], c);
	return SWZ_UNDECIDED;
}
