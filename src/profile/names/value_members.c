#include "profile/names/value_members.h"

#include <string.h>

const char *swz_value_member_name(const struct swz_value *value,
				  const struct swz_value_type *type,
				  int64_t number)
{
	uint32_t i;

	for (i = 0; i < type->members; i++) {
		const struct swz_value_member *member =
			&value->set->members[type->first + i];

		if (member->offset == number)
			return swz_signature_text(value->set, member->name);
	}
	return NULL;
}

const struct swz_value_member *swz_value_variant(
	const struct swz_value *value, const struct swz_value_type *type,
	const uint8_t *bytes, size_t size)
{
	const struct swz_value_member *m = &value->set->members[type->first],
				      *other = NULL;
	const struct swz_value_type *of;
	uint64_t number = 0, mask;
	uint32_t i;

	if (!type->members || m->type >= value->set->type_count)
		return NULL;
	of = &value->set->types[m->type];
	if (of->bytes > 8 || m->offset < 0 || (uint64_t)m->offset > size ||
	    size - (uint64_t)m->offset < of->bytes)
		return NULL;
	if (of->bytes)
		memcpy(&number, bytes + m->offset, of->bytes);
	mask = of->bytes ? UINT64_MAX >> (64 - 8 * of->bytes) : 0;
	for (i = 1; i < type->members; i++) {
		if (m[i].bit)
			other = &m[i];
		else if (((uint64_t)m[i].offset & mask) == number)
			return &m[i];
	}
	return other;
}
