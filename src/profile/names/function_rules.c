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
