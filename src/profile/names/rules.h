#ifndef SWZ_PROFILE_NAMES_RULES_H
#define SWZ_PROFILE_NAMES_RULES_H

/* What the configuration says of the functions of a catalog. */

#include "options/settings.h"
#include "profile/names/catalog.h"
#include "profile/names/patterns.h"

struct swz_rules {
	const struct swz_config_file *config;
	struct swz_patterns *patterns; /* of each rule; of functions */
	char **texts;                  /* that these are of */
	struct swz_settings **of;      /* by function; NULL: none */
	uint8_t *known;
	size_t count;    /* functions */
	bool any_result; /* a condition is of a result */
	bool any_hidden; /* something is not to be shown */
};

/* The configuration must outlive it. */
void swz_rules_begin(struct swz_rules *rules,
		     const struct swz_config_file *config);
void swz_rules_free(struct swz_rules *rules);

/* Of a function that has its name; NULL: nothing. RULES may be NULL. */
const struct swz_settings *swz_rules_of(struct swz_rules *rules,
					const struct swz_catalog *catalog,
					uint32_t function);

/* Whether names of source files have to be known. */
bool swz_rules_need_files(const struct swz_config_file *config);

#endif
