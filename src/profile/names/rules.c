#include "profile/names/rules.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

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
