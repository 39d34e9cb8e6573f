/* `show` becomes patterns of the options that do the same: -H, -N, -M and -L.
 */

#include "launch/configuration.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/environment.h"
#include "launch/options.h"
#include "launch/program.h"
#include "options/config_file.h"

static struct swz_config_file config;

static void append(const char *variable, const char *excludes,
		   const char *pattern)
{
	const char *before = swz_environment_get(variable);

	swz_environment_set(variable,
			    swz_text("%s%s%s%s", before, *before ? "\n" : "",
				     excludes, pattern));
}

/* A list that takes away alone takes from everything. */
static bool has_positive(const char *variable)
{
	const char *list = swz_environment_get(variable);

	while (*list) {
		if (*list != '!')
			return true;
		list += strcspn(list, "\n");
		list += *list == '\n';
	}
	return false;
}

static void hide(const struct swz_rule *rule)
{
	char *functions = swz_rule_functions(rule);

	if (functions)
		append(rule->show == SWZ_NO ? "SWIZZLE_HIDE"
					    : "SWIZZLE_NOTRACE",
		       "", functions);
	else if (rule->kind == SWZ_RULE_MODULE)
		append("SWIZZLE_MODULE", "!", rule->pattern);
	else if (rule->kind == SWZ_RULE_FILE)
		append("SWIZZLE_LOCATION", "!", rule->pattern);
	free(functions);
}

/* Of what others hide. */
static void show(const struct swz_rule *rule)
{
	static const char *const lists[] = {"SWIZZLE_HIDE", "SWIZZLE_NOTRACE"};
	char *functions = swz_rule_functions(rule);

	for (unsigned i = 0; functions && i < 2; i++)
		if (has_positive(lists[i]))
			append(lists[i], "!", functions);
	free(functions);
}

void swz_configuration_apply(void)
{
	const char *given = swz_environment_get("SWIZZLE_CONFIG");
	char problem[SWZ_CONFIG_PROBLEM_BYTES], *path = NULL;

	if (*given) {
		path = realpath(given, NULL);
		swz_environment_set("SWIZZLE_CONFIG", path ? path : given);
	}
	if (!swz_config_file_read(&config, *given ? given : NULL, problem))
		swz_die(SWZ_WRONG_USAGE, "%s", problem);
	for (size_t i = 0; i < config.count; i++)
		if (config.rules[i].show == SWZ_NO ||
		    config.rules[i].show == SWZ_NO_CALLS)
			hide(&config.rules[i]);
	for (size_t i = 0; i < config.count; i++)
		if (config.rules[i].show == SWZ_YES)
			show(&config.rules[i]);
}

bool swz_configuration_needs_values(void)
{
	for (size_t i = 0; i < config.count; i++)
		if (swz_rule_needs_values(&config.rules[i]) ||
		    config.rules[i].condition_count)
			return true;
	return false;
}

const char *swz_configuration_path(void)
{
	if (!config.count)
		return "-";
	return swz_environment_get("SWIZZLE_CONFIG");
}
