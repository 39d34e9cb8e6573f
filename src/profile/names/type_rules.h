#ifndef SWZ_PROFILE_NAMES_TYPE_RULES_H
#define SWZ_PROFILE_NAMES_TYPE_RULES_H

/* [type@PATTERN] of the configuration: what the numbers of a type stand for. */

#include "options/config_file.h"
#include "profile/file/reader.h"

/* Flags of types beside those of swizzle/values.h, which no file has. */
#define SWZ_TYPE_SHOWS_HEX 32u /* an enum: values without a name */
#define SWZ_TYPE_SHOWS_OCTAL 64u
#define SWZ_TYPE_SHOWS_UNSIGNED 128u

/* Changes the types of a profile's values as CONFIG, which must outlive it,
 * says. */
void swz_type_rules_apply(struct swz_profile *profile,
			  const struct swz_config_file *config);

#endif
