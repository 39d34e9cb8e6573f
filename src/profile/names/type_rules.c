/* The meaning of types and results, by the configuration and by their kind.
 *
 * A type with names becomes an enum of these, so that all formats and
 * conditions know them; a base alone becomes another kind of number. What it
 * was recorded as still says what is an error, where the configuration does
 * not. */

#include "profile/names/value_print.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/values.h"
#include "util/memory.h"

/* The last one counts. */
static const struct swz_rule *rule_of(const struct swz_config_file *config,
				      const char *name)
{
	size_t i = *name ? config->count : 0;

	while (i--)
		if (config->rules[i].kind == SWZ_RULE_TYPE &&
		    fnmatch(config->rules[i].pattern, name, 0) == 0)
			return &config->rules[i];
	return NULL;
}

static bool is_number(uint8_t kind)
{
	return kind == SWZ_TYPE_SIGNED || kind == SWZ_TYPE_UNSIGNED ||
	       kind == SWZ_TYPE_HEX || kind == SWZ_TYPE_OCTAL ||
	       kind == SWZ_TYPE_ENUM || kind == SWZ_TYPE_POINTER;
}

/* As an enum's value of so many bytes is read. */
static int64_t extended(int64_t value, uint32_t bytes)
{
	unsigned unused = 64 - 8 * bytes;

	return (int64_t)((uint64_t)value << unused) >> unused;
}

static uint32_t add_text(struct swz_signature_set *set, const char *text)
{
	size_t length = strlen(text) + 1;
	uint32_t at = set->text_bytes;

	if (length > UINT32_MAX - at)
		return 0;
	set->text = swz_reallocate(set->text, at + length, 1);
	memcpy(set->text + at, text, length);
	set->text_bytes += (uint32_t)length;
	return at;
}

/* Gives the type the names of the rule, and behind them its own. */
static void add_names(struct swz_signature_set *set,
		      struct swz_value_type *type,
		      const struct swz_value_names *names)
{
	uint32_t own = type->kind == SWZ_TYPE_ENUM ? type->members : 0;
	uint32_t first = set->member_count;
	size_t count = names->count, i;

	if (count + own > UINT16_MAX)
		count = UINT16_MAX - own;
	set->members = swz_reallocate(set->members, first + count + own + 1,
				      sizeof(*set->members));
	for (i = 0; i < count; i++)
		set->members[first + i] = (struct swz_value_member){
			.name = add_text(set, names->items[i].name),
			.offset = extended(names->items[i].value, type->bytes)};
	if (own)
		memcpy(&set->members[first + count], &set->members[type->first],
		       own * sizeof(*set->members));
	set->member_count = first + (uint32_t)count + own;
	type->first = first;
	type->members = (uint16_t)(count + own);
}

static void apply(struct swz_signature_set *set, uint32_t index,
		  const struct swz_rule *rule)
{
	struct swz_value_type *type = &set->types[index];

	if (!set->rules)
		set->rules = swz_allocate(set->type_count, sizeof(*set->rules));
	set->rules[index] = (struct swz_type_rule){rule, type->kind};
	if (rule->names.count) {
		add_names(set, type, &rule->names);
		if (type->kind != SWZ_TYPE_SIGNED &&
		    type->kind != SWZ_TYPE_ENUM)
			type->flags |= SWZ_TYPE_SHOWS_UNSIGNED;
		type->kind = SWZ_TYPE_ENUM;
	}
	if (type->kind == SWZ_TYPE_ENUM) {
		type->flags |= rule->base == 16  ? SWZ_TYPE_SHOWS_HEX
			       : rule->base == 8 ? SWZ_TYPE_SHOWS_OCTAL
						 : 0;
		return;
	}
	if (rule->base == 10 && type->kind != SWZ_TYPE_SIGNED)
		type->kind = SWZ_TYPE_UNSIGNED;
	else if (rule->base == 16)
		type->kind = SWZ_TYPE_HEX;
	else if (rule->base == 8)
		type->kind = SWZ_TYPE_OCTAL;
}

void swz_type_rules_apply(struct swz_profile *profile,
			  const struct swz_config_file *config)
{
	size_t i;
	uint32_t j;

	for (i = 0; config->count && i < profile->signature_set_count; i++) {
		struct swz_signature_set *set = profile->signature_sets[i];

		for (j = 0; j < set->type_count; j++) {
			const struct swz_value_type *type = &set->types[j];
			const struct swz_rule *rule = rule_of(
				config, swz_signature_text(set, type->name));

			if (rule && is_number(type->kind) && type->bytes &&
			    type->bytes <= 8)
				apply(set, j, rule);
		}
	}
}

/* --- results that tell of errors ----------------------------------------- */

/* The meaning of a result: a number, or that something went wrong. */

const struct swz_value *swz_value_result(const struct swz_call_values *values)
{
	size_t i;

	for (i = 0; i < values->count; i++)
		if (!values->values[i].pointed)
			return &values->values[i];
	return NULL;
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

/* What the configuration says of the result's type; NULL: nothing. */
static const struct swz_type_rule *type_rule(const struct swz_value *result)
{
	const struct swz_signature_set *set = result->set;
	const struct swz_type_rule *rule =
		set->rules ? &set->rules[result->type - set->types] : NULL;

	return rule && rule->rule ? rule : NULL;
}

/* Compares without a sign, where the type has none or the other value is none
 * of those with one. */
static bool holds(const struct swz_value *result, const struct swz_condition *c,
		  uint8_t kind, int64_t number)
{
	uint32_t bytes = result->type->bytes;
	struct swz_condition with = *c;
	const struct swz_value_member *m =
		&result->set->members[result->type->first];
	bool is_signed = kind == SWZ_TYPE_SIGNED || kind == SWZ_TYPE_ENUM;
	uint64_t mask = UINT64_MAX >> (64 - 8 * bytes);
	uint32_t i;

	if (c->operand == SWZ_OPERAND_NAME) {
		for (i = 0; i < result->type->members; i++)
			if (strcmp(swz_signature_text(result->set, m[i].name),
				   c->text) == 0)
				break;
		if (i == result->type->members)
			return false;
		with.operand = SWZ_OPERAND_INTEGER;
		with.integer = m[i].offset;
	} else if (c->operand != SWZ_OPERAND_INTEGER) {
		return false;
	}
	if (is_signed && (c->operand == SWZ_OPERAND_NAME || with.integer < 0 ||
			  (uint64_t)with.integer <= mask >> 1))
		return swz_condition_holds_integer(&with, number, false);
	with.integer &= (int64_t)mask;
	return swz_condition_holds_integer(
		&with, (int64_t)((uint64_t)number & mask), true);
}

/* By [type@...]; false: that says nothing of it. */
static bool decide_by_type(const struct swz_value *result, int64_t number,
			   bool *exceptional)
{
	const struct swz_type_rule *of = type_rule(result);
	const char *name;
	size_t i;

	if (!of)
		return false;
	*exceptional = false;
	for (i = 0; i < of->rule->exceptional_count && !*exceptional; i++)
		*exceptional = holds(result, &of->rule->exceptional[i],
				     of->kind, number);
	if (of->rule->never_exceptional || of->rule->exceptional_count)
		return true;
	if (of->kind == SWZ_TYPE_ENUM)
		return false;
	name = result->type->kind == SWZ_TYPE_ENUM
		       ? swz_value_member_name(result, result->type, number)
		       : NULL;
	*exceptional = (name && sounds_wrong(name)) ||
		       (of->kind == SWZ_TYPE_SIGNED    ? number < 0
			: of->kind == SWZ_TYPE_POINTER ? number == 0
						       : number == -1);
	return true;
}

bool swz_value_is_exceptional(const struct swz_value *result)
{
	const struct swz_value_bytes *text = &result->text;
	const char *name;
	int64_t number;
	bool decided;

	if (text->bytes)
		return text->bad && text->cut;
	if (result->type->kind == SWZ_TYPE_VARIANT)
		return is_failed(result);
	if (!swz_value_number(result, &number))
		return false;
	if (decide_by_type(result, number, &decided))
		return decided;
	switch (result->type->kind) {
	case SWZ_TYPE_SIGNED:
		return number < 0;
	case SWZ_TYPE_UNSIGNED:
		number = swz_value_read(result->plain.bytes, result->plain.size,
					true);
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
