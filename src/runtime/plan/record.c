#include "runtime/plan/record.h"

#include <string.h>

#include "base/packed_functions.h"
#include "runtime/discovery/function.h"
#include "runtime/imports/imports.h"
#include "runtime/plan/capture.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/thread.h"

static void describe(const struct swz_function *f,
		     struct swz_function_record *record)
{
	record->address = (uint32_t)f->start;
	record->size = f->size;
	record->status = f->status;
	record->flags = f->flags;
}

/* Of a module that comes later there must be room before it is known which of
 * its functions can be patched. */
static uint64_t functions_bytes(const struct swz_module *m)
{
	uint8_t bytes[SWZ_PACKED_FUNCTION_BYTES];
	struct swz_function_record record = {0};
	uint64_t sum = sizeof(m->first_id);
	uint32_t end = 0;

	for (uint32_t i = 0; i < m->function_count; i++) {
		if (m->functions[i].is_piece)
			continue;
		describe(&m->functions[i], &record);
		if (m->late)
			record.status = SWZ_REFUSAL_SLOTS - 1;
		sum += swz_function_pack(bytes, &end, &record);
	}
	return sum;
}

static void fill_functions(const struct swz_module *m, struct swz_chunk *chunk)
{
	uint8_t bytes[SWZ_PACKED_FUNCTION_BYTES];
	struct swz_function_record record = {0};
	uint8_t *to = (uint8_t *)(chunk + 1);
	uint32_t end = 0;

	memcpy(to, &m->first_id, sizeof(m->first_id));
	to += sizeof(m->first_id);
	for (uint32_t i = 0; i < m->function_count; i++) {
		unsigned count;

		if (m->functions[i].is_piece)
			continue;
		describe(&m->functions[i], &record);
		count = swz_function_pack(bytes, &end, &record);
		memcpy(to, bytes, count);
		to += count;
	}
	swz_chunk_publish(chunk);
}

enum swz_status swz_plan_reserve(const struct swz_module *m, uint32_t index,
				 struct swz_plan_place *place)
{
	place->functions = NULL;
	place->module = swz_chunk_take(swz_file, SWZ_CHUNK_MODULE,
				       sizeof(struct swz_module_record) +
					       strlen(m->path) + 1,
				       1, index);
	if (place->module && m->hookable_count)
		place->functions = swz_chunk_take(
			swz_file, SWZ_CHUNK_PACKED_FUNCTIONS,
			functions_bytes(m), m->hookable_count, index);
	return place->module && (place->functions || !m->hookable_count)
		       ? SWZ_OK
		       : SWZ_E_NOMEM;
}

void swz_plan_fill(const struct swz_module *m,
		   const struct swz_plan_place *place)
{
	struct swz_module_record *record =
		(struct swz_module_record *)(place->module + 1);

	record->load_bias = m->load_bias;
	record->start = m->start;
	record->end = m->end;
	record->first_function = m->first_id;
	record->function_count = m->hookable_count;
	record->in_scope = m->in_scope;
	record->build_id_bytes = (uint32_t)m->build_id.size;
	if (m->build_id.size)
		memcpy(record->build_id, m->build_id.data, m->build_id.size);
	for (unsigned i = 0; i < SWZ_REFUSAL_COUNT; i++)
		record->counts[i] = m->counts[i];
	record->loads = 1;
	record->load_ticks = m->late ? swz_ticks() : 0;
	memcpy(record + 1, m->path, strlen(m->path) + 1);
	if (place->functions)
		fill_functions(m, place->functions);
	swz_chunk_publish(place->module);
}

enum swz_status swz_plan_record(const struct swz_modules *modules)
{
	struct swz_plan_place place;
	enum swz_status status;

	for (unsigned i = 0; i < modules->count; i++) {
		if (swz_plan_reserve(&modules->of[i], i, &place) != SWZ_OK)
			return SWZ_E_NOMEM;
		swz_plan_fill(&modules->of[i], &place);
		if (swz_capture_record(&modules->of[i], i) != SWZ_OK)
			return SWZ_E_NOMEM;
	}
	status = swz_imports_record();
	swz_imports_forget();
	return status;
}
