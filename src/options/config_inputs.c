/* The files of a configuration: those that apply, and the C headers that they
 * name ([type@...] names = ...). */

#include "options/config_file.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	char *text;
	size_t size;
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
	size_t first = config->count, size;
	char *text;
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
