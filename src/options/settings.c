#include "options/settings.h"

#include <fnmatch.h>
#include <string.h>

void swz_settings_add(struct swz_settings *s, const struct swz_rule *rule)
{
	if (rule->show)
		s->show = rule->show;
	if (rule->list_args)
		s->list_args = rule->list_args;
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
