/* A type with names becomes an enum of these, so that all formats and
 * conditions know them; a base alone becomes another kind of number. What it
 * was recorded as still says what is an error, where the configuration does
 * not. */

#include "profile/names/value_print.h"

#include <fnmatch.h>
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
