#ifndef SWZ_PROFILE_NAMES_VALUE_MEMBERS_H
#define SWZ_PROFILE_NAMES_VALUE_MEMBERS_H

/* What enums name: a number, a variant with data. NULL: it is not known. */

#include "profile/file/values.h"

const char *swz_value_member_name(const struct swz_value *value,
				  const struct swz_value_type *type,
				  int64_t number);

/* The variant that there is in these bytes of TYPE. */
const struct swz_value_member *swz_value_variant(
	const struct swz_value *value, const struct swz_value_type *type,
	const uint8_t *bytes, size_t size);

#endif
