/* Decides for every function whether it is hooked, before the first byte
 * changes; then tells the profile, and --list, what was decided. See
 * docs/internals/plan.md. */

#include "runtime/plan/plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/number_bytes.h"
#include "base/printable.h"
#include "base/syscall.h"
#include "runtime/cache/plan_cache.h"
#include "runtime/compat/compat.h"
#include "runtime/discovery/code_flow.h"
#include "runtime/discovery/filter.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/hooks/hooks.h"
#include "runtime/imports/imports.h"
#include "runtime/module/code_owners.h"
#include "runtime/module/module.h"
#include "runtime/record/annotations.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "thunks/counting.h"

/* ----------------------------------------------------- where functions lie */

/* The ranges of the functions of a module that was compiled without unwind
 * tables, for those who ask whose code has called (module/code_owners.h). */

#define LONGEST_PADDING 15u

static bool is_next_to(const struct swz_function *f,
		       const struct swz_code_part *part)
{
	return f->start <= (uint64_t)part->end + LONGEST_PADDING;
}

static uint32_t fill(struct swz_code_part *parts, const struct swz_module *m)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];
		uint32_t end = (uint32_t)(f->start + f->size);
		struct swz_code_part *last = count ? &parts[count - 1] : NULL;

		if (!last || !is_next_to(f, last))
			parts[count++] = (struct swz_code_part){
				(uint32_t)f->start, end};
		else if (end > last->end)
			last->end = end;
	}
	return count;
}

/* Nothing is done for other modules. Its function ids end there. False: there
 * is no memory for it. */
static bool plan_note_code(const struct swz_module *m, uint32_t end)
{
	struct swz_code_part *parts;

	if (!m->tableless || !m->function_count)
		return true;
	parts = swz_sys_mmap(NULL, m->function_count * sizeof(*parts),
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return parts && swz_known_code_note(m, end, parts, fill(parts, m));
}

/* ------------------------------------------------- the plan in the profile */

static void describe(const struct swz_function *f,
		     struct swz_function_record *record)
{
	record->address = (uint32_t)f->start;
	record->size = f->size;
	record->status = f->status;
	record->flags = f->flags;
}

/* A module that comes later needs room before it is known which of its
 * functions can be patched. */
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

static bool is_counted(const struct swz_function *f)
{
	return !f->is_piece && f->status == SWZ_PATCHED && f->trampoline &&
	       !f->wrapper;
}

static void place_of(const struct swz_module *m, const struct swz_function *f,
		     struct swz_trampoline_place *place)
{
	const uint8_t *head = f->trampoline - SWZ_COUNT_HEAD;

	place->head = (uint32_t)(head - m->trampolines.start);
	place->site = (uint32_t)f->start + f->site;
	place->copies = (uint8_t)(swz_count_copies(f->trampoline) - head);
	place->moved = f->moved;
	place->goes_back = f->site + f->moved < f->size;
}

/* For samples of the same run, which may hit displaced instructions. Without
 * room for it they are of functions that nobody knows. */
static void record_trampolines(const struct swz_module *m, uint32_t index)
{
	struct swz_trampoline_place before = {0}, place;
	uint8_t bytes[SWZ_PACKED_TRAMPOLINE_BYTES], *to;
	uint64_t start = (uintptr_t)m->trampolines.start, sum = sizeof(start);
	struct swz_chunk *chunk;
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->function_count; i++) {
		if (!is_counted(&m->functions[i]))
			continue;
		place_of(m, &m->functions[i], &place);
		sum += swz_trampoline_pack(bytes, &before, &place);
		count++;
	}
	chunk = count ? swz_chunk_take(swz_file, SWZ_CHUNK_TRAMPOLINES, sum,
				       count, index)
		      : NULL;
	if (!chunk)
		return;
	to = (uint8_t *)(chunk + 1);
	memcpy(to, &start, sizeof(start));
	to += sizeof(start);
	before = (struct swz_trampoline_place){0};
	for (uint32_t i = 0; i < m->function_count; i++) {
		if (!is_counted(&m->functions[i]))
			continue;
		place_of(m, &m->functions[i], &place);
		to += swz_trampoline_pack(to, &before, &place);
	}
	swz_chunk_publish(chunk);
}

void swz_plan_fill(const struct swz_module *m, uint32_t index,
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
	if (swz_config.count && m->trampolines.start)
		record_trampolines(m, index);
}

enum swz_status swz_plan_record(const struct swz_modules *modules)
{
	struct swz_plan_place place;
	enum swz_status status;

	for (unsigned i = 0; i < modules->count; i++) {
		if (swz_plan_reserve(&modules->of[i], i, &place) != SWZ_OK)
			return SWZ_E_NOMEM;
		swz_plan_fill(&modules->of[i], i, &place);
		if (swz_capture_record(&modules->of[i], i) != SWZ_OK)
			return SWZ_E_NOMEM;
	}
	status = swz_imports_record();
	swz_imports_forget();
	return status;
}

/* ------------------------------------------------------------------ --list */

/* True if branches of the function are led elsewhere; asked in order of
 * address, from the inner site that was looked at last. */
static bool has_led_branches(const struct swz_module *m,
			     const struct swz_function *f, uint32_t *next)
{
	bool found = false;

	for (; *next < m->inner_site_count &&
	       m->inner_sites[*next].at < f->start + f->size;
	     ++*next)
		found |= m->inner_sites[*next].keeps_opcode &&
			 m->inner_sites[*next].at >= f->start;
	return found;
}

#define SIZE_COLUMN 16
#define STATUS_COLUMN 24
#define NAME_COLUMN 80

/* The heading of the lines that print_functions prints. */
static void print_heading(void)
{
	struct swz_line line;

	swz_line_start_listed(&line);
	swz_line_string(&line, "    address");
	swz_line_column(&line, SIZE_COLUMN);
	swz_line_string(&line, "size");
	swz_line_column(&line, STATUS_COLUMN);
	swz_line_string(&line, "result");
	swz_line_column(&line, NAME_COLUMN);
	swz_line_string(&line, "name");
	swz_line_list(&line);
}

static void print_functions(const struct swz_module *m)
{
	struct swz_line line;
	uint32_t inner = 0;

	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->is_piece)
			continue;
		swz_line_start_listed(&line);
		swz_line_string(&line, "    ");
		swz_line_hex(&line, f->start);
		swz_line_column(&line, SIZE_COLUMN);
		swz_line_number(&line, f->size);
		swz_line_column(&line, STATUS_COLUMN);
		swz_line_string(&line, swz_refusal_text(f->status));
		if (f->island)
			swz_line_string(&line, " by a short jump");
		if (has_led_branches(m, f, &inner))
			swz_line_string(&line, " with its loop led on");
		if (f->name) {
			swz_line_column(&line, NAME_COLUMN);
			swz_line_string(&line, f->name);
		}
		swz_line_list(&line);
	}
}

static void print_module(const struct swz_module *m, bool filtered)
{
	uint32_t left_out = m->counts[SWZ_REFUSE_FILTERED];
	uint32_t patched = m->counts[SWZ_PATCHED];
	struct swz_line line;

	swz_line_start_listed(&line);
	swz_line_string(&line, m->path);
	swz_line_string(&line, "  ");
	swz_line_number(&line, m->hookable_count);
	swz_line_string(&line, "  ");
	swz_line_number(&line, patched);
	swz_line_string(&line, "  ");
	swz_line_number(&line, m->hookable_count - patched - left_out);
	if (filtered) {
		swz_line_string(&line, "  ");
		swz_line_number(&line, left_out);
	}
	swz_line_list(&line);
	swz_refusals_print(m->counts, SWZ_REFUSE_FILTERED, "    ");
	swz_imports_print(m);
	if (swz_config.verbose)
		print_functions(m);
}

void swz_plan_print(const struct swz_modules *modules)
{
	struct swz_line line;
	bool filtered = false;

	for (unsigned i = 0; i < modules->count; i++)
		filtered |= modules->of[i].counts[SWZ_REFUSE_FILTERED] != 0;
	swz_line_start_listed(&line);
	swz_line_string(&line, "module  functions  patched  refused");
	if (filtered)
		swz_line_string(&line, "  filtered");
	swz_line_list(&line);
	if (swz_config.verbose)
		print_heading();
	for (unsigned i = 0; i < modules->count; i++)
		if (modules->of[i].in_scope)
			print_module(&modules->of[i], filtered);
}

/* ---------------------------------------------------------------- planning */

/* Scratch memory that one module needs while it is planned, by bytes of its
 * text: less, as a rule. */
#define BRIEF_PER_BYTE 2

extern const char swz_text_start[];

/* Before it is relocated: the linker has yet to write into the text. */
static bool has_text_relocations(const struct swz_module *m)
{
	const ElfW(Dyn) *d = swz_module_dynamic(m);

	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL ||
		    (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
			return true;
	return false;
}

static enum swz_status refuse_functions(struct swz_module *m)
{
	if ((m->late || swz_config.attached) && has_text_relocations(m))
		swz_functions_refuse(m, SWZ_REFUSE_TEXT_RELOCATIONS);
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->wrapper)
			continue;
		if (m->unwinder_unserved)
			swz_function_refuse(f, SWZ_REFUSE_OWN_UNWINDER);
		if (m->foreign_runtime || (f->start >= m->generated.start &&
					   f->start < m->generated.end))
			swz_function_refuse(f, SWZ_REFUSE_FOREIGN_RUNTIME);
		if (!m->in_scope)
			swz_function_refuse(f, SWZ_REFUSE_FILTERED);
	}
	return m->in_scope ? swz_filter_module(m) : SWZ_OK;
}

/* True if there is anything to do in the module: what filters leave out must
 * cost nothing. */
static bool is_wanted(const struct swz_module *m)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece &&
		    m->functions[i].status == SWZ_PATCHED)
			return true;
	return false;
}

static enum swz_status plan_wanted(struct swz_module *m,
				   const struct swz_decoders *decoders)
{
	enum swz_status status;

	swz_scan_return_slots(m, decoders);
	swz_progress_percent(30);
	status = swz_scan_branches(m, decoders);
	swz_progress_percent(50);
	if (status == SWZ_OK)
		swz_plan_write_trampolines(m, decoders);
	return status;
}

static enum swz_status plan_anew(struct swz_module *m,
				 struct swz_decoders *decoders)
{
	enum swz_status status;

	if (!decoders->of[0] && !swz_decoders_new(decoders))
		return SWZ_E_NOMEM;
	swz_scratch_reuse(); /* what the module before needed */
	status = swz_functions_collect(m, decoders->of[0]);
	if (status != SWZ_OK)
		return status;
	if (m->in_scope && m->hookable_count > swz_ids_left())
		return SWZ_E_NOMEM;
	if (!swz_config.count)
		swz_stack_walkers_mark(m, decoders->of[0]);
	swz_wrapped_mark(m);
	swz_foreign_inspect(m);
	status = refuse_functions(m);
	if (status == SWZ_OK && is_wanted(m))
		status = plan_wanted(m, decoders);
	if (status == SWZ_OK)
		swz_cache_store(m);
	return status;
}

/* True if nothing is to be planned. In a module out of scope only functions
 * that have wrappers are patched. Most modules have none, as earlier starts
 * may have noted: then the file is left alone. (Calls into libraries are timed
 * where their files say that functions are.) */
static bool is_left_alone(struct swz_module *m)
{
	const struct swz_other_module *other;

	if (m->in_scope || swz_config.imports)
		return false;
	other = swz_start_record_of(m);
	if (!other)
		return false;
	if (other->asks)
		swz_wrapped_expect();
	m->unopened = true;
	m->walks = other->walks;
	m->offers = other->offers;
	return true;
}

static void look_for_wrapped(struct swz_module *m)
{
	struct swz_other_module other = {
		.asks = swz_wrapped_asks(m),
		.offers = swz_wrapped_is_offered(m),
		.walks = swz_stack_walkers_are_in(m),
	};

	m->offers = other.offers;
	m->walks = other.walks;
	swz_start_record_note(m, other);
}

static bool has_wrapped(struct swz_module *m)
{
	if (!m->unopened)
		look_for_wrapped(m);
	return (m->walks && !swz_config.count) ||
	       (m->offers && swz_wrapped_is_expected());
}

static enum swz_status plan_module(struct swz_module *m,
				   struct swz_decoders *decoders)
{
	enum swz_status status = SWZ_OK;

	m->first_id = swz_ids_next();
	if (!m->in_scope && !has_wrapped(m))
		return SWZ_OK;
	if (m->unopened)
		status = swz_module_open(m);
	m->unopened = false;
	if (status != SWZ_OK)
		return status;
	if (!m->in_scope)
		swz_cache_find(m);
	if (!swz_cache_use(m, swz_hooks_choose(), swz_ids_left()))
		status = plan_anew(m, decoders);
	if (status != SWZ_OK)
		return status;
	if (m->own_unwinder)
		swz_note_unwinder(m->start, m->end);
	if (swz_config.attached || swz_live_sites_are_native())
		swz_plan_refuse_unsafe(m);
	swz_functions_count(m);
	if (m->in_scope) {
		swz_ids_take(m->hookable_count);
		swz_foreign_callers_note_ids(m, swz_ids_next());
		if (!plan_note_code(m, swz_ids_next()))
			return SWZ_E_NOMEM;
	} else {
		m->hookable_count = 0; /* none of the profile's */
	}
	return SWZ_OK;
}

static bool filters_are_wanted(void)
{
	return swz_ids_filtered || swz_config_has_triggers() ||
	       swz_config.percentiles_patterns;
}

static void collect_filter(const struct swz_module *m)
{
	uint32_t id = m->first_id;

	if (!m->in_scope || !filters_are_wanted())
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece)
			swz_ids_set_filter(id++, m->functions[i].filter);
}

static enum swz_status collect_filters(const struct swz_modules *modules)
{
	enum swz_status status = swz_ids_begin_filters();

	if (status != SWZ_OK)
		return status;
	for (unsigned i = 0; i < modules->count; i++)
		collect_filter(&modules->of[i]);
	return SWZ_OK;
}

/* Nothing is hooked in ourselves, and no wrapper led to. */
static bool is_us(const struct swz_module *m)
{
	uint64_t here = (uintptr_t)swz_text_start;

	return here >= m->start && here < m->end;
}

static bool has_file(const struct swz_module *m)
{
	return m->text_count && m->path[0] == '/' && !is_us(m);
}

/* To patch what is planned already takes so much less time than to plan it. */
#define LESS_TO_PATCH 8

static uint64_t text_to_hook(const struct swz_module *m)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; m->in_scope && i < m->text_count; i++)
		bytes += m->text[i].end - m->text[i].start;
	return bytes;
}

#define FIXED_BELOW (UINT64_C(4) << 30) /* as in thunks/near.c */

/* The first one is the program. */
static void look_for_fixed_address(const struct swz_modules *modules)
{
	const struct swz_module *program = modules->of;

	if (!modules->count || program->load_bias || !program->in_scope ||
	    program->end >= FIXED_BELOW)
		return;
	swz_config.at_fixed_address = true;
	swz_wrapped_expect();
}

enum swz_status swz_plan_make(struct swz_modules *modules)
{
	struct swz_decoders decoders = {{NULL}};
	enum swz_status status;
	uint64_t text = 0, most = 0, planned = 0;

	swz_ids_filtered = swz_config.filter || swz_config.notrace ||
			   swz_config.depth;
	status = modules->count ? SWZ_OK : swz_modules_list(modules);
	if (status != SWZ_OK)
		return status;
	look_for_fixed_address(modules);
	swz_cache_begin(modules->of, modules->count);
	if (!swz_config.attached)
		swz_start_record_begin(modules);
	for (unsigned i = 0; i < modules->count; i++) {
		struct swz_module *m = &modules->of[i];

		if (!has_file(m) || is_left_alone(m))
			continue;
		status = swz_module_open(m);
		if (status != SWZ_OK)
			return status;
		if (m->in_scope)
			swz_cache_find(m);
		if (m->saved) {
			planned += text_to_hook(m);
			continue;
		}
		swz_wrapped_look(m);
		text += text_to_hook(m);
		if (text_to_hook(m) > most)
			most = text_to_hook(m);
	}
	if (most)
		swz_scratch_expect_brief(BRIEF_PER_BYTE * most);
	swz_workers_begin(text + planned / LESS_TO_PATCH);
	swz_progress_begin(text);
	for (unsigned i = 0; i < modules->count; i++) {
		modules->of[i].first_id = swz_ids_next();
		if (!has_file(&modules->of[i]))
			continue;
		if (!modules->of[i].saved)
			swz_progress_module(modules->of[i].path,
					    text_to_hook(&modules->of[i]));
		status = plan_module(&modules->of[i], &decoders);
		if (status != SWZ_OK)
			return status;
	}
	status = swz_imports_plan(modules);
	if (status != SWZ_OK)
		return status;
	swz_progress_end();
	swz_cache_end();
	if (swz_config.location && !swz_location_any_known())
		swz_say("-L: no function's source file is known (no debug "
			"information)",
			NULL, NULL);
	swz_ids_end_start();
	return filters_are_wanted() ? collect_filters(modules) : SWZ_OK;
}

enum swz_status swz_plan_late(struct swz_module *m)
{
	struct swz_decoders decoders = {{NULL}};
	enum swz_status status;

	m->late = true;
	status = swz_module_open(m);
	if (status == SWZ_OK && m->in_scope)
		swz_cache_find(m);
	if (status == SWZ_OK)
		status = plan_module(m, &decoders);
	if (status == SWZ_OK)
		collect_filter(m);
	swz_cache_end();
	return status;
}
