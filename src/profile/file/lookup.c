/* Nodes, functions and modules of a profile, by number and by address.
 * Addresses are those of the process: modules may have come and gone. */

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/support/search.h"
#include "profile/file/reader.h"

const struct swz_node *swz_profile_node(const struct swz_profile *profile,
					uint32_t unit)
{
	return (const struct swz_node *)(const void *)(profile->data +
						       (size_t)unit *
							       SWZ_UNIT_BYTES);
}

uint32_t swz_profile_module_by_index(const struct swz_profile *profile,
				     uint32_t index)
{
	return SWZ_SEARCH(profile->modules, profile->module_count, index,
			  index);
}

uint32_t swz_profile_thread_by_index(const struct swz_profile *profile,
				     uint32_t index)
{
	return SWZ_SEARCH(profile->threads, profile->thread_count, index,
			  index);
}

bool swz_thread_has_node(const struct swz_profile_thread *thread, uint32_t unit)
{
	size_t low = 0, high = thread->span_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->spans[middle].unit <= unit)
			low = middle + 1;
		else
			high = middle;
	}
	return low && unit - thread->spans[low - 1].unit <
			      thread->spans[low - 1].count;
}

uint32_t swz_profile_function_by_id(const struct swz_profile *profile,
				    uint32_t id)
{
	const struct swz_profile_function *functions = profile->functions;
	size_t count = profile->function_count;

	/* ids are dense as a rule: try the place where it would be then */
	if (count && id >= functions[0].id && id - functions[0].id < count &&
	    functions[id - functions[0].id].id == id)
		return id - functions[0].id;
	return SWZ_SEARCH(functions, count, id, id);
}

static uint64_t run_time_address(const struct swz_profile *profile,
				 uint32_t index)
{
	const struct swz_profile_function *function =
		&profile->functions[index];

	if (function->module == SWZ_INDEX_NONE)
		return 0;
	return profile->modules[function->module].record.load_bias +
	       function->address;
}

static int compare_addresses(const void *left, const void *right, void *context)
{
	const uint32_t *a = left, *b = right;
	uint64_t first = run_time_address(context, *a);
	uint64_t second = run_time_address(context, *b);

	if (first != second)
		return first < second ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void sort_addresses(struct swz_profile *profile)
{
	size_t i;

	profile->by_address = swz_allocate(profile->function_count,
					   sizeof(*profile->by_address));
	for (i = 0; i < profile->function_count; i++)
		profile->by_address[i] = (uint32_t)i;
	if (profile->function_count > 1)
		qsort_r(profile->by_address, profile->function_count,
			sizeof(*profile->by_address), compare_addresses,
			profile);
}

bool swz_profile_module_holds(const struct swz_profile *profile, uint32_t index,
			      uint64_t address)
{
	const struct swz_module_record *record =
		&profile->modules[index].record;

	return address >= record->start && address < record->end;
}

bool swz_profile_same_module(const struct swz_profile_module *a,
			     const struct swz_profile_module *b)
{
	return strcmp(a->path, b->path) == 0 &&
	       a->record.build_id_bytes == b->record.build_id_bytes &&
	       memcmp(a->record.build_id, b->record.build_id,
		      a->record.build_id_bytes) == 0;
}

bool swz_profile_repeats_module(const struct swz_profile *profile, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (swz_profile_same_module(&profile->modules[i],
					    &profile->modules[index]))
			return true;
	return false;
}

uint32_t swz_profile_module_at(const struct swz_profile *profile,
			       uint64_t address)
{
	uint32_t found = SWZ_INDEX_NONE;
	uint32_t i;

	for (i = 0; i < profile->module_count; i++) {
		const struct swz_profile_module *module = &profile->modules[i];

		if (!swz_profile_module_holds(profile, i, address))
			continue;
		if (found != SWZ_INDEX_NONE &&
		    (module->record.load_bias !=
			     profile->modules[found].record.load_bias ||
		     !swz_profile_same_module(module,
					      &profile->modules[found])))
			return SWZ_INDEX_NONE;
		found = i;
	}
	return found;
}

uint32_t swz_profile_function_at(struct swz_profile *profile, uint64_t address)
{
	size_t low = 0;
	size_t high = profile->function_count;
	uint32_t found;
	uint64_t start;

	if (swz_profile_module_at(profile, address) == SWZ_INDEX_NONE)
		return SWZ_INDEX_NONE;
	if (!profile->by_address)
		sort_addresses(profile);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (run_time_address(profile, profile->by_address[middle]) <=
		    address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return SWZ_INDEX_NONE;
	found = profile->by_address[low - 1];
	start = run_time_address(profile, found);
	if (profile->functions[found].module == SWZ_INDEX_NONE)
		return SWZ_INDEX_NONE;
	if (profile->functions[found].size &&
	    address - start >= profile->functions[found].size)
		return SWZ_INDEX_NONE;
	return found;
}

const char *swz_profile_label(const struct swz_profile *profile,
			      const char *name)
{
	size_t i;

	for (i = 0; i < profile->label_count; i++)
		if (strcmp(profile->labels[2 * i], name) == 0)
			return profile->labels[2 * i + 1];
	return NULL;
}

uint32_t swz_profile_rank(const struct swz_profile *profile)
{
	const char *text = swz_profile_label(profile, "rank");
	uint32_t rank = 0;

	if (!text || !*text || strlen(text) > 9)
		return SWZ_INDEX_NONE;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return SWZ_INDEX_NONE;
		rank = rank * 10 + (uint32_t)(*text - '0');
	}
	return rank;
}
