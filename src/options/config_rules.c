/* The rules of a configuration, once they have been read, say: of which
 * functions they are, what settings they add up to, whether a condition holds.
 */

#include "options/config_file.h"

#include <errno.h>
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
	char *text = NULL;

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

/* --- the files of a configuration ----------------------------------------- */

/* The files of a configuration: those that apply, and the C headers that they
 * name ([type@...] names = ...). */

#define MOST_BYTES (1u << 20)

/* All of a file, to be freed; 0, or an errno. */
static int read_text(const char *path, char **text, size_t *size)
{
	FILE *stream = fopen(path, "r");
	int error;

	if (!stream)
		return errno;
	*text = malloc(MOST_BYTES + 1);
	if (!*text) {
		fclose(stream);
		return ENOMEM;
	}
	*size = fread(*text, 1, MOST_BYTES + 1, stream);
	error = ferror(stream) ? errno : *size > MOST_BYTES ? EFBIG : 0;
	fclose(stream);
	if (error)
		free(*text);
	return error;
}

static bool is_wanted_name(const struct swz_rule *rule, const char *name)
{
	for (size_t i = 0; i < rule->name_pattern_count; i++)
		if (fnmatch(rule->name_patterns[i], name, 0) == 0)
			return true;
	return !rule->name_pattern_count;
}

/* Adds the names of a C header. Returns 0 or an errno. */
static int add_header(struct swz_rule *rule, const char *path)
{
	struct swz_value_names all = {0};
	char *text = NULL;
	size_t size = 0;
	int error = read_text(path, &text, &size);

	if (error)
		return error;
	if (!swz_value_names_read(&all, text, size))
		error = ENOMEM;
	for (size_t i = 0; !error && i < all.count; i++)
		if (is_wanted_name(rule, all.items[i].name) &&
		    !swz_value_names_add(&rule->names, all.items[i].name,
					 strlen(all.items[i].name),
					 all.items[i].value))
			error = ENOMEM;
	swz_value_names_free(&all);
	free(text);
	return error;
}

/* The headers that a rule of the file PATH names lie beside that file, unless
 * they begin with a slash. False: PROBLEM says what is wrong. */
static bool add_headers(struct swz_rule *rule, const char *path, char *problem)
{
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) + 1 : 0;

	for (size_t i = 0; i < rule->name_file_count; i++) {
		const char *name = rule->name_files[i];
		size_t before = rule->names.count;
		char *whole;
		int error;

		if (asprintf(&whole, "%.*s%s", *name == '/' ? 0 : length, path,
			     name) < 0)
			whole = NULL;
		error = whole ? add_header(rule, whole) : ENOMEM;
		if (!error && rule->names.count == before)
			snprintf(problem, SWZ_CONFIG_PROBLEM_BYTES,
				 "%s:%u: names: nothing in %.300s is a name of "
				 "a number%s",
				 path, rule->names_line, whole,
				 rule->name_pattern_count ? " that matches"
							  : "");
		else if (error)
			snprintf(problem, SWZ_CONFIG_PROBLEM_BYTES,
				 "%s:%u: names: %.300s: %s", path,
				 rule->names_line, name, strerror(error));
		free(whole);
		if (error || rule->names.count == before)
			return false;
	}
	return true;
}

/* Returns 0, or an errno; -1: it has said what is wrong. */
static int read_file(struct swz_config_file *config, const char *path,
		     char *problem)
{
	size_t first = config->count, size = 0;
	char *text = NULL;
	int error = read_text(path, &text, &size);

	if (error)
		return error;
	if (!swz_config_file_add(config, path, text, size, problem))
		error = -1;
	free(text);
	for (size_t i = first; !error && i < config->count; i++)
		if (!add_headers(&config->rules[i], path, problem))
			error = -1;
	return error;
}

static void tell(char *problem, const char *path, int error)
{
	snprintf(problem, SWZ_CONFIG_PROBLEM_BYTES, "%s: %s", path,
		 strerror(error));
	errno = error;
}

static bool read_if_there(struct swz_config_file *config, const char *path,
			  char *problem)
{
	int error = read_file(config, path, problem);

	if (error > 0 && error != ENOENT && error != ENOTDIR &&
	    error != EISDIR && error != EACCES) {
		tell(problem, path, error);
		error = -1;
	}
	return error >= 0;
}

bool swz_config_file_read(struct swz_config_file *config, const char *path,
			  char problem[SWZ_CONFIG_PROBLEM_BYTES])
{
	const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char usual[4096] = "";
	int error;

	errno = 0;
	if (path) {
		error = read_file(config, path, problem);
		if (error > 0)
			tell(problem, path, error);
		return error == 0;
	}
	if (base && *base == '/')
		snprintf(usual, sizeof(usual), "%s/swizzle/config", base);
	else if (home && *home == '/')
		snprintf(usual, sizeof(usual), "%s/.config/swizzle/config",
			 home);
	return (!*usual || read_if_there(config, usual, problem)) &&
	       read_if_there(config, ".swizzle", problem);
}
