/* What a result says: a number, or that something went wrong. */

#include <stdlib.h>
#include <string.h>

#include "profile/names/demangle.h"
#include "profile/names/value_members.h"
#include "profile/names/value_numbers.h"
#include "profile/names/value_print.h"
#include "profile/support/memory.h"

const struct swz_value *swz_value_result(const struct swz_call_values *values)
{
	size_t i;

	for (i = 0; i < values->count; i++)
		if (!values->values[i].pointed)
			return &values->values[i];
	return NULL;
}

bool swz_value_number(const struct swz_value *value, int64_t *number)
{
	switch (value->type->kind) {
	case SWZ_TYPE_FLOAT:
	case SWZ_TYPE_STRUCT:
	case SWZ_TYPE_VARIANT:
	case SWZ_TYPE_ARRAY:
	case SWZ_TYPE_VECTOR:
	case SWZ_TYPE_OPAQUE:
	case SWZ_TYPE_FILE:
	case SWZ_TYPE_STRING:
		return false;
	default:
		break;
	}
	if (!value->plain.bytes || value->plain.bad ||
	    value->plain.size > sizeof(*number))
		return false;
	*number = swz_read_number(value->plain.bytes, value->plain.size,
				  value->type->kind != SWZ_TYPE_UNSIGNED &&
					  value->type->kind != SWZ_TYPE_BOOL);
	return true;
}

bool swz_value_real(const struct swz_value *value, double *number)
{
	const struct swz_value_bytes *plain = &value->plain;
	long double wide = 0;
	float narrow;

	if (value->type->kind != SWZ_TYPE_FLOAT || !plain->bytes || plain->bad)
		return false;
	switch (plain->size) {
	case sizeof(narrow):
		memcpy(&narrow, plain->bytes, sizeof(narrow));
		*number = (double)narrow;
		return true;
	case sizeof(*number):
		memcpy(number, plain->bytes, sizeof(*number));
		return true;
	default:
		memcpy(&wide, plain->bytes,
		       plain->size < 10 ? plain->size : 10);
		*number = (double)wide;
		return true;
	}
}

/* Names like EINVAL_ERROR, kFailed, STATUS_INVALID. */
static bool sounds_wrong(const char *name)
{
	static const char *const words[] = {"err", "fail", "invalid", "bad"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

/* Rust's Result */
static bool is_failed(const struct swz_value *result)
{
	const struct swz_value_member *m;

	if (!result->plain.bytes || result->plain.bad)
		return false;
	m = swz_value_variant(result, result->type, result->plain.bytes,
			      result->plain.size);
	return m &&
	       strcmp(swz_signature_text(result->set, m->name), "Err") == 0;
}

bool swz_value_is_exceptional(const struct swz_value *result)
{
	const struct swz_value_bytes *text = &result->text;
	const char *name;
	int64_t number;

	if (text->bytes)
		return text->bad && text->cut;
	if (result->type->kind == SWZ_TYPE_VARIANT)
		return is_failed(result);
	if (!swz_value_number(result, &number))
		return false;
	switch (result->type->kind) {
	case SWZ_TYPE_SIGNED:
		return number < 0;
	case SWZ_TYPE_UNSIGNED:
		number = swz_read_number(result->plain.bytes,
					 result->plain.size, true);
		return number == -1;
	case SWZ_TYPE_HEX:
	case SWZ_TYPE_OCTAL:
		return number == -1;
	case SWZ_TYPE_BOOL:
	case SWZ_TYPE_POINTER:
	case SWZ_TYPE_FUNCTION:
	case SWZ_TYPE_SMART:
		return number == 0;
	case SWZ_TYPE_ENUM:
		if (result->type->flags & SWZ_TYPE_IS_ERROR)
			return number != 0;
		name = swz_value_member_name(result, result->type, number);
		return number < 0 || (name && sounds_wrong(name));
	default:
		return false;
	}
}

void swz_exception_print(struct swz_text *text, const char *mangled)
{
	static const char prefix[] = "typeinfo for ";
	char *symbol = swz_print("_ZTI%s", mangled);
	char *shown = swz_demangle(symbol, 0, SWZ_DEMANGLE_SIMPLE);
	bool known = strncmp(shown, prefix, strlen(prefix)) == 0;

	swz_text_put_plain(text, known ? shown + strlen(prefix) : mangled);
	free(shown);
	free(symbol);
}
