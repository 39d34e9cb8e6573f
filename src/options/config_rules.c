/* What the rules of a configuration say, once they have been read: of which
 * functions they are, what settings they add up to, whether a condition holds.
 */

#include "options/config_file.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- settings of one function -------------------------------------------- */

void swz_settings_add(struct swz_settings *s, const struct swz_rule *rule)
{
	if (rule->show)
		s->show = rule->show;
	if (rule->list_args) {
		s->list_args = rule->list_args;
		s->listed = rule->argument_count ? rule : NULL;
	}
	if (rule->watch_count)
		s->watched = rule;
	if (rule->is_errno)
		s->is_errno = rule->is_errno;
	if (rule->dump_this) {
		s->dump_this = rule->dump_this;
		s->fields = rule->field_count ? rule : NULL;
	}
	if (rule->prints) {
		s->prints = rule->prints;
		s->printed = rule->printed;
	}
	if (rule->prefix)
		s->prefix = rule->prefix;
	if (rule->band)
		s->band = rule->band;
	if (rule->colour)
		s->colour = rule->colour;
	if (rule->depth)
		s->depth = rule->depth;
	if (rule->never_exceptional || rule->exceptional_count) {
		s->never_exceptional = rule->never_exceptional;
		s->exceptional = rule->exceptional;
		s->exceptional_count = rule->exceptional_count;
	}
	for (size_t i = 0; i < rule->condition_count &&
			   s->condition_count < SWZ_MOST_CONDITIONS;
	     i++)
		s->conditions[s->condition_count++] = &rule->conditions[i];
}

bool swz_rule_matches_path(const struct swz_rule *rule, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && (fnmatch(rule->pattern, path, 0) == 0 ||
			(slash && fnmatch(rule->pattern, slash + 1, 0) == 0));
}

/* --- conditions ---------------------------------------------------------- */

static bool decide(enum swz_operator op, int order)
{
	switch (op) {
	case SWZ_EQUAL:
		return order == 0;
	case SWZ_NOT_EQUAL:
		return order != 0;
	case SWZ_LESS:
		return order < 0;
	case SWZ_LESS_OR_EQUAL:
		return order <= 0;
	case SWZ_GREATER:
		return order > 0;
	case SWZ_GREATER_OR_EQUAL:
		return order >= 0;
	default:
		return false;
	}
}

bool swz_condition_holds_integer(const struct swz_condition *c, int64_t value,
				 bool is_unsigned)
{
	int order;

	if (c->operand == SWZ_OPERAND_FLOAT)
		return swz_condition_holds_float(
			c,
			is_unsigned ? (double)(uint64_t)value : (double)value);
	if (is_unsigned)
		order = (uint64_t)value < (uint64_t)c->integer
				? -1
				: (uint64_t)value > (uint64_t)c->integer;
	else
		order = value < c->integer ? -1 : value > c->integer;
	return decide(c->op, order);
}

bool swz_condition_holds_float(const struct swz_condition *c, double value)
{
	if (value != value || c->number != c->number)
		return c->op == SWZ_NOT_EQUAL;
	return decide(c->op, value < c->number ? -1 : value > c->number);
}

bool swz_condition_holds_text(const struct swz_condition *c, const char *text,
			      size_t length)
{
	size_t own = strlen(c->text);
	char *whole;
	bool matches;
	int order;

	if (c->op == SWZ_MATCHES) {
		whole = strndup(text, length);
		matches = whole && fnmatch(c->text, whole, 0) == 0;
		free(whole);
		return matches;
	}
	order = memcmp(text, c->text, length < own ? length : own);
	if (!order)
		order = length < own ? -1 : length > own;
	return decide(c->op, order);
}

/* --- rules --------------------------------------------------------------- */

static void free_conditions(struct swz_condition *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(c[i].name);
		free(c[i].text);
	}
	free(c);
}

void swz_config_file_free(struct swz_config_file *config)
{
	for (size_t i = 0; i < config->count; i++) {
		struct swz_rule *rule = &config->rules[i];

		free_conditions(rule->conditions, rule->condition_count);
		free_conditions(rule->exceptional, rule->exceptional_count);
		for (size_t f = 0; f < rule->field_count; f++)
			free(rule->fields[f]);
		free(rule->fields);
		for (size_t f = 0; f < rule->argument_count; f++)
			free(rule->arguments[f]);
		free(rule->arguments);
		for (size_t f = 0; f < rule->watch_count; f++)
			free(rule->watches[f]);
		free(rule->watches);
		for (size_t f = 0; f < rule->name_file_count; f++)
			free(rule->name_files[f]);
		free(rule->name_files);
		for (size_t f = 0; f < rule->name_pattern_count; f++)
			free(rule->name_patterns[f]);
		free(rule->name_patterns);
		swz_value_names_free(&rule->names);
		free(rule->pattern);
		free(rule->printed);
		free(rule->prefix);
		free(rule->band);
		free(rule->colour);
		free(rule->text);
		free(rule->length);
		free(rule->size);
		free(rule->pointer);
	}
	free(config->rules);
	*config = (struct swz_config_file){0};
}

char *swz_rule_functions(const struct swz_rule *rule)
{
	char *text;

	if (rule->kind == SWZ_RULE_FUNCTION)
		return strdup(rule->pattern);
	if (rule->kind == SWZ_RULE_CLASS &&
	    asprintf(&text, "%s::*", rule->pattern) > 0)
		return text;
	return NULL;
}

bool swz_rule_needs_values(const struct swz_rule *rule)
{
	if (rule->kind == SWZ_RULE_TYPE)
		return false;
	if (rule->list_args == SWZ_YES || rule->dump_this == SWZ_YES ||
	    rule->is_errno == SWZ_YES || rule->prints == SWZ_YES ||
	    rule->exceptional_count || rule->watch_count)
		return true;
	for (size_t i = 0; i < rule->condition_count; i++)
		if (rule->conditions[i].kind != SWZ_IF_BACKTRACE)
			return true;
	return false;
}
