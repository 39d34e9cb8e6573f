/* The configuration chooses functions by patterns of their names, files and
 * modules. Each function is matched once, when it is first asked for; the
 * settings that result are kept by its index in the catalog. */

#include "profile/names/function_rules.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified_name.h"
#include "util/memory.h"
#include "options/config_file.h"
#include "profile/file/values.h"
#include "profile/names/catalog.h"
#include "profile/names/symbols.h"
#include "profile/names/value_print.h"

/* --- patterns of names --------------------------------------------------- */

void swz_patterns_add(struct swz_patterns *patterns, const char *pattern)
{
	swz_grow(&patterns->items, &patterns->capacity, patterns->count,
		 sizeof(*patterns->items));
	patterns->items[patterns->count++] = pattern;
	patterns->with_parameters |= strchr(pattern, '(') != NULL;
	patterns->excluding += *pattern == '!';
}

void swz_patterns_free(struct swz_patterns *patterns)
{
	free(patterns->items);
	*patterns = (struct swz_patterns){0};
}

/* The rules that a function's names match so far. */
struct found {
	const struct swz_patterns *patterns;
	bool *hits; /* NULL: it is enough to know */
	bool wanted, excluded;
};

/* True if more names could change what is known. */
static bool is_open(const struct found *found)
{
	return found->hits || (!found->excluded &&
			       (!found->wanted || found->patterns->excluding));
}

static void match_name(struct found *found, const char *name)
{
	const struct swz_patterns *patterns = found->patterns;
	size_t i;

	for (i = 0; i < patterns->count && is_open(found); i++) {
		const char *pattern = patterns->items[i];
		const bool excludes = *pattern == '!';

		if (fnmatch(pattern + excludes, name, 0) != 0)
			continue;
		if (excludes)
			found->excluded = true;
		else
			found->wanted = true;
		if (found->hits)
			found->hits[i] = true;
	}
}

static void match_in_style(struct found *found, const char *symbol,
			   unsigned languages, enum swz_demangle style)
{
	char *name = swz_demangle(symbol, languages, style);

	match_name(found, name);
	free(name);
}

static void match_symbol(struct found *found, const char *symbol,
			 unsigned languages)
{
	char *plain = swz_symbol_without_version(symbol);
	char qualified[512];

	match_name(found, plain);
	match_in_style(found, plain, languages, SWZ_DEMANGLE_SIMPLE);
	if (found->patterns->with_parameters || languages & SWZ_ADA)
		match_in_style(found, plain, languages, SWZ_DEMANGLE_FULL);
	if (swz_qualified_name(plain, qualified, sizeof(qualified)))
		match_name(found, qualified);
	free(plain);
}

/* As libswizzle.so decides: patterns that all exclude take away from
 * everything.
 */
static bool decide(const struct found *found)
{
	const struct swz_patterns *patterns = found->patterns;

	return !found->excluded &&
	       (found->wanted ||
		(patterns->count && patterns->excluding == patterns->count));
}

bool swz_patterns_match(const struct swz_patterns *patterns,
			const struct swz_catalog *catalog, uint32_t function,
			bool *hits)
{
	const struct swz_catalog_function *f = &catalog->functions[function];
	struct found found = {.patterns = patterns, .hits = hits};
	const char *const *names = NULL;
	const struct swz_symbols *symbols;
	unsigned languages = 0;
	size_t count = 0, i;

	match_name(&found, f->name);
	if (f->module == SWZ_INDEX_NONE)
		return decide(&found);
	symbols = catalog->modules[f->module].symbols;
	if (symbols) {
		languages = swz_symbols_languages(symbols);
		names = swz_symbols_names(symbols, f->address, &count);
	}
	if (f->asked && is_open(&found))
		match_symbol(&found, f->asked, languages);
	for (i = 0; i < count && is_open(&found); i++)
		match_symbol(&found, names[i], languages);
	return decide(&found);
}

/* --- rules of the configuration ------------------------------------------ */

void swz_rules_begin(struct swz_rules *rules,
		     const struct swz_config_file *config)
{
	size_t i, j;

	*rules = (struct swz_rules){.config = config};
	rules->patterns = swz_allocate(config->count + 1,
				       sizeof(*rules->patterns));
	rules->texts = swz_allocate(config->count + 1, sizeof(*rules->texts));
	for (i = 0; i < config->count; i++) {
		const struct swz_rule *rule = &config->rules[i];

		rules->texts[i] = swz_rule_functions(rule);
		rules->any_hidden |= rule->show == SWZ_NO ||
				     rule->show == SWZ_NO_CALLS;
		if (rules->texts[i])
			swz_patterns_add(&rules->patterns[i], rules->texts[i]);
		for (j = 0; j < rule->condition_count; j++)
			rules->any_result |= rule->conditions[j].kind ==
					     SWZ_IF_RESULT;
	}
}

void swz_rules_free(struct swz_rules *rules)
{
	size_t i;

	for (i = 0; rules->config && i < rules->config->count; i++) {
		swz_patterns_free(&rules->patterns[i]);
		free(rules->texts[i]);
	}
	for (i = 0; i < rules->count; i++)
		free(rules->of[i]);
	free(rules->patterns);
	free(rules->texts);
	free(rules->of);
	free(rules->known);
	*rules = (struct swz_rules){0};
}

static bool fits(const struct swz_rules *rules, size_t i,
		 const struct swz_catalog *catalog, uint32_t function)
{
	const struct swz_rule *rule = &rules->config->rules[i];
	const struct swz_catalog_function *f = &catalog->functions[function];

	if (rules->patterns[i].count)
		return swz_patterns_match(&rules->patterns[i], catalog,
					  function, NULL);
	if (rule->kind == SWZ_RULE_FILE)
		return swz_rule_matches_path(rule, f->file);
	return rule->kind == SWZ_RULE_MODULE && f->module != SWZ_INDEX_NONE &&
	       swz_rule_matches_path(rule, catalog->modules[f->module].path);
}

static struct swz_settings *find(const struct swz_rules *rules,
				 const struct swz_catalog *catalog,
				 uint32_t function)
{
	struct swz_settings *settings = NULL;
	size_t i;

	for (i = 0; i < rules->config->count; i++) {
		if (!fits(rules, i, catalog, function))
			continue;
		if (!settings)
			settings = swz_allocate(1, sizeof(*settings));
		swz_settings_add(settings, &rules->config->rules[i]);
	}
	return settings;
}

const struct swz_settings *swz_rules_of(struct swz_rules *rules,
					const struct swz_catalog *catalog,
					uint32_t function)
{
	size_t count = catalog->function_count;

	if (!rules || !rules->config->count || !SWZ_CATALOG_IS_REAL(function))
		return NULL;
	if (function >= rules->count) {
		rules->of = swz_reallocate(rules->of, count,
					   sizeof(struct swz_settings *));
		rules->known = swz_reallocate(rules->known, count, 1);
		memset(rules->of + rules->count, 0,
		       (count - rules->count) * sizeof(struct swz_settings *));
		memset(rules->known + rules->count, 0, count - rules->count);
		rules->count = count;
	}
	if (!rules->known[function]) {
		rules->of[function] = find(rules, catalog, function);
		rules->known[function] = 1;
	}
	return rules->of[function];
}

bool swz_rules_need_files(const struct swz_config_file *config)
{
	size_t i;

	for (i = 0; i < config->count; i++)
		if (config->rules[i].kind == SWZ_RULE_FILE)
			return true;
	return false;
}

/* --- conditions on values ------------------------------------------------ */

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

/* --- what the configuration says of types -------------------------------- */

/* The meaning of types and results, by the configuration and by their kind.
 *
 * A type with names becomes an enum of these, so that all formats and
 * conditions know them; a base alone becomes another kind of number. What it
 * was recorded as still says what is an error, where the configuration does
 * not. */

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

/* The configuration's rule for the result's type; NULL: none. */
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
