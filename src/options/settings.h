#ifndef SWZ_OPTIONS_SETTINGS_H
#define SWZ_OPTIONS_SETTINGS_H

/* What a configuration says of one function: its rules that match, added up in
 * their order. Of each key the last one counts; conditions all count. */

#include "options/config_file.h"

#define SWZ_MOST_CONDITIONS 32u

/* Begins with zeros. Refers to the rules. */
struct swz_settings {
	enum swz_choice show, list_args, dump_this, is_errno, prints;
	const char *printed; /* which argument has the text; NULL: the first
			      * that is one */
	const struct swz_rule *fields; /* of dump_this; NULL: all */
	const char *prefix, *band, *colour;
	uint32_t depth;
	bool never_exceptional;
	const struct swz_condition *conditions[SWZ_MOST_CONDITIONS];
	unsigned condition_count;
	/* of the last rule that has any */
	const struct swz_condition *exceptional;
	size_t exceptional_count;
};

void swz_settings_add(struct swz_settings *settings,
		      const struct swz_rule *rule);

/* Whether a rule of files or modules matches a path: all of it, or its last
 * part. */
bool swz_rule_matches_path(const struct swz_rule *rule, const char *path);

#endif
