#include "profile/file/signatures.h"

#include <stdlib.h>
#include <string.h>

#include "profile/file/reader.h"
#include "profile/file/scan.h"
#include "profile/support/memory.h"

const char *swz_signature_text(const struct swz_signature_set *set,
			       uint32_t name)
{
	return name < set->text_bytes ? set->text + name : "";
}

static int compare_ids(const void *left, const void *right)
{
	const struct swz_profile_signature *a = left, *b = right;

	return a->function < b->function ? -1 : a->function > b->function;
}

const struct swz_profile_signature *swz_signature_find(
	const struct swz_profile *profile, uint32_t function)
{
	struct swz_profile_signature key = {.function = function};

	if (!profile->signature_count)
		return NULL;
	return bsearch(&key, profile->signatures, profile->signature_count,
		       sizeof(key), compare_ids);
}

/* Copies COUNT elements of SIZE bytes to *TO, and moves on. False: there are
 * not as many. */
static bool take(const uint8_t **body, size_t *left, void *to, uint64_t count,
		 size_t size)
{
	void *copy;

	if (count > UINT32_MAX || count > *left / size)
		return false;
	copy = swz_allocate((size_t)count + 1, size);
	if (count)
		memcpy(copy, *body, (size_t)count * size);
	memcpy(to, &copy, sizeof(copy));
	*body += count * size;
	*left -= (size_t)count * size;
	return true;
}

static bool types_are_valid(const struct swz_signature_set *set)
{
	uint32_t i;

	for (i = 0; i < set->type_count; i++) {
		const struct swz_value_type *t = &set->types[i];

		if (t->of > set->type_count || t->first > set->member_count ||
		    t->members > set->member_count - t->first)
			return false;
	}
	for (i = 0; i < set->member_count; i++)
		if (set->members[i].type >= set->type_count &&
		    set->members[i].type)
			return false;
	for (i = 0; i < set->part_count; i++)
		if (set->parts[i].type >= set->type_count ||
		    set->parts[i].kind >= SWZ_PART_KINDS)
			return false;
	return true;
}

static void free_set(struct swz_signature_set *set)
{
	free(set->parts);
	free(set->types);
	free(set->members);
	free(set->text);
	free(set);
}

void swz_scan_signatures(struct swz_scan *scan, const struct swz_chunk *chunk,
			 const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_signature_set *set = swz_allocate(1, sizeof(*set));
	struct swz_signature *all = NULL;
	uint64_t bytes = chunk->reserved[SWZ_SIGNATURES_TEXT];
	uint32_t i;
	bool valid;

	set->part_count = (uint32_t)chunk->reserved[SWZ_SIGNATURES_PARTS];
	set->type_count = (uint32_t)chunk->reserved[SWZ_SIGNATURES_TYPES];
	set->member_count = (uint32_t)chunk->reserved[SWZ_SIGNATURES_MEMBERS];
	set->text_bytes = (uint32_t)bytes;
	valid = take(&body, &size, &all, chunk->count, sizeof(*all)) &&
		take(&body, &size, &set->parts, set->part_count,
		     sizeof(*set->parts)) &&
		take(&body, &size, &set->types, set->type_count,
		     sizeof(*set->types)) &&
		take(&body, &size, &set->members, set->member_count,
		     sizeof(*set->members)) &&
		take(&body, &size, &set->text, bytes, 1) && bytes &&
		!set->text[0] && !set->text[bytes - 1] && types_are_valid(set);
	for (i = 0; valid && i < chunk->count; i++) {
		const struct swz_signature *s = &all[i];
		struct swz_profile_signature *to;
		uint32_t count = (uint32_t)s->entry_parts + s->return_parts;

		if (s->first > set->part_count ||
		    count > set->part_count - s->first)
			continue;
		swz_grow(&profile->signatures, &scan->signature_capacity,
			 profile->signature_count, sizeof(*to));
		to = &profile->signatures[profile->signature_count++];
		*to = (struct swz_profile_signature){
			.function = s->function,
			.entry_parts = s->entry_parts,
			.return_parts = s->return_parts,
			.parts = set->parts + s->first,
			.set = set,
		};
	}
	free(all);
	if (!valid) {
		profile->damage.bad_chunks++;
		free_set(set);
		return;
	}
	swz_grow(&profile->signature_sets, &scan->signature_set_capacity,
		 profile->signature_set_count,
		 sizeof(struct swz_signature_set *));
	profile->signature_sets[profile->signature_set_count++] = set;
}

void swz_signatures_index(struct swz_profile *profile)
{
	if (profile->signature_count > 1)
		qsort(profile->signatures, profile->signature_count,
		      sizeof(*profile->signatures), compare_ids);
}

void swz_signatures_free(struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->signature_set_count; i++)
		free_set(profile->signature_sets[i]);
	free(profile->signature_sets);
	free(profile->signatures);
}
