/* An imported function is described with the module that it lies in; its name,
 * as that one's dynamic symbols have it, stands in a chunk of names. */

#include "runtime/imports/imports.h"

#include <string.h>

#include "runtime/imports/plan.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/function_ids.h"

static enum swz_status record_names(uint32_t party)
{
	struct swz_chunk *chunk;
	uint64_t bytes = sizeof(uint32_t);
	uint32_t count = 0, first = 0;
	char *to;

	for (const struct swz_target *t = swz_targets; t; t = t->next) {
		if (t->party != party)
			continue;
		bytes += strlen(t->name) + 1;
		if (!count++)
			first = t->id;
	}
	if (!count)
		return SWZ_OK;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_NAMES, bytes, count, party);
	if (!chunk)
		return SWZ_E_NOMEM;
	to = (char *)(chunk + 1);
	memcpy(to, &first, sizeof(first));
	to += sizeof(first);
	for (const struct swz_target *t = swz_targets; t; t = t->next) {
		size_t length = t->party == party ? strlen(t->name) + 1 : 0;

		memcpy(to, t->name, length);
		to += length;
	}
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

static enum swz_status record_party(uint32_t party)
{
	struct swz_function_record *record;
	struct swz_chunk *chunk;
	uint32_t count = 0;

	for (const struct swz_target *t = swz_targets; t; t = t->next)
		count += t->party == party;
	if (!count)
		return SWZ_OK;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_FUNCTIONS,
			       (uint64_t)count * sizeof(*record), count, party);
	if (!chunk)
		return SWZ_E_NOMEM;
	record = (struct swz_function_record *)(chunk + 1);
	for (const struct swz_target *t = swz_targets; t; t = t->next) {
		if (t->party != party)
			continue;
		record->address =
			(uint32_t)(t->address -
				   swz_parties[party].dynamic.load_bias);
		record->size = t->size;
		record->status = t->status;
		record->flags = SWZ_FUNCTION_IMPORT;
		record->id = t->id;
		record++;
	}
	swz_chunk_publish(chunk);
	return record_names(party);
}

enum swz_status swz_imports_record(void)
{
	enum swz_status status = SWZ_OK;

	for (uint32_t i = 0; i < swz_party_count && status == SWZ_OK; i++)
		status = record_party(i);
	for (const struct swz_target *t = swz_targets; t; t = t->next)
		swz_ids_set_filter(t->id, t->filter);
	return status;
}
