/* Which files are read; and what is made of their rules. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/config_file.h"

#define MOST_BYTES (1u << 20)

/* Returns 0, or an errno; -1: it has said what is wrong. */
static int read_file(struct swz_config_file *config, const char *path,
		     char *problem)
{
	FILE *stream = fopen(path, "r");
	char *text;
	size_t size;
	int error;

	if (!stream)
		return errno;
	text = malloc(MOST_BYTES + 1);
	if (!text) {
		fclose(stream);
		return ENOMEM;
	}
	size = fread(text, 1, MOST_BYTES + 1, stream);
	error = ferror(stream) ? errno : size > MOST_BYTES ? EFBIG : 0;
	fclose(stream);
	if (!error && !swz_config_file_add(config, path, text, size, problem))
		error = -1;
	free(text);
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
	if (rule->list_args == SWZ_YES || rule->dump_this == SWZ_YES ||
	    rule->is_errno == SWZ_YES || rule->prints == SWZ_YES ||
	    rule->exceptional_count)
		return true;
	for (size_t i = 0; i < rule->condition_count; i++)
		if (rule->conditions[i].kind != SWZ_IF_BACKTRACE)
			return true;
	return false;
}
