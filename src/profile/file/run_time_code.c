/* Code made at run time has no module. Its functions get one, named by the
 * profile's own chunk or by the files that a JIT compiler has left. */

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "profile/file/code_files.h"
#include "profile/file/scan.h"
#include "util/memory.h"

/* --- the chunk of names -------------------------------------------------- */

/* A node slot, to be changed. */
static struct swz_node *swz_code_slot(const struct swz_profile *profile,
				      uint32_t unit)
{
	return (struct swz_node *)(uintptr_t)swz_profile_node(profile, unit);
}

/* The ranges of the profile, which may be none. */
static struct swz_code_ranges *code_ranges_of(struct swz_profile *profile)
{
	if (!profile->code)
		profile->code = swz_allocate(1, sizeof(*profile->code));
	return profile->code;
}

void swz_scan_code(struct swz_scan *scan, const uint8_t *body, size_t size)
{
	size_t length = strnlen((const char *)body, size);

	if (swz_perf_map_read(code_ranges_of(scan->profile), (const char *)body,
			      length, 0) != length)
		scan->profile->damage.bad_chunks++;
}

void swz_run_time_code_free(struct swz_profile *profile)
{
	if (profile->code)
		swz_code_ranges_free(profile->code);
	free(profile->code);
}

/* ---- what is written ---- */

void swz_run_time_code_undo(const struct swz_profile *profile, uint64_t offset,
			    uint8_t *bytes, size_t size)
{
	uint64_t first = offset / SWZ_UNIT_BYTES;
	uint64_t end = first + size / SWZ_UNIT_BYTES;

	for (size_t i = 0; profile->code_functions && i < profile->span_count;
	     i++) {
		const struct swz_node_span *span = &profile->spans[i];
		uint64_t from = span->unit > first ? span->unit : first;
		uint64_t to = (uint64_t)span->unit + span->count;

		for (; from < to && from < end; from++) {
			struct swz_node *slot =
				(struct swz_node
					 *)(void *)(bytes +
						    (from - first) *
							    SWZ_UNIT_BYTES);
			uint32_t n = slot->function - SWZ_CODE_FIRST_ID;

			if (slot->function < SWZ_CODE_FIRST_ID ||
			    n >= profile->code_functions)
				continue;
			slot->function = SWZ_FUNCTION_CODE;
			slot->open &= ~(uint32_t)SWZ_NODE_HIDDEN;
		}
	}
}

struct lines {
	uint8_t *bytes; /* room for the chunk's header first */
	size_t size, capacity;
	uint32_t count;
};

static void add_line(struct lines *lines, uint64_t address, const char *name)
{
	char *line = swz_print("%" PRIx64 " 1 %s\n", address, name);
	size_t size = strlen(line);

	if (lines->capacity - lines->size < size) {
		lines->capacity += lines->capacity / 2 + size + 4096;
		lines->bytes = swz_reallocate(lines->bytes, lines->capacity, 1);
	}
	memcpy(lines->bytes + lines->size, line, size);
	lines->size += size;
	lines->count++;
	free(line);
}

static void add_node(struct lines *lines, struct swz_map *known,
		     const struct swz_profile *profile,
		     const struct swz_node *slot)
{
	uint32_t n = slot->function - SWZ_CODE_FIRST_ID, *place;
	const char *name;

	if (slot->function < SWZ_CODE_FIRST_ID || n >= profile->code_functions)
		return;
	name = profile->symbols[profile->symbol_count -
				profile->code_functions + n]
		       .name;
	place = swz_map_at(known, slot->call_site, 0);
	if (*place != SWZ_MAP_NONE || strcmp(name, SWZ_CODE_UNNAMED) == 0)
		return;
	*place = 0;
	add_line(lines, slot->call_site - 1, name);
}

static void finish_chunk(struct lines *lines)
{
	size_t bytes = (lines->size + SWZ_UNIT_BYTES) / SWZ_UNIT_BYTES *
		       SWZ_UNIT_BYTES; /* with a zero at least */
	struct swz_chunk chunk = {.magic = SWZ_CHUNK_MAGIC,
				  .type = SWZ_CHUNK_CODE,
				  .bytes = bytes,
				  .count = lines->count};

	lines->bytes = swz_reallocate(lines->bytes, bytes, 1);
	memset(lines->bytes + lines->size, 0, bytes - lines->size);
	memcpy(lines->bytes, &chunk, sizeof(chunk));
}

uint8_t *swz_run_time_code_chunk(const struct swz_profile *profile,
				 size_t *names)
{
	struct lines lines = {.size = sizeof(struct swz_chunk)};
	struct swz_map known = {0};

	*names = profile->code_functions;
	if (!profile->code_from_files || !profile->named_code_nodes)
		return NULL;
	lines.capacity = lines.size;
	lines.bytes = swz_allocate(lines.size, 1);
	for (size_t i = 0; i < profile->span_count; i++)
		for (uint32_t j = 0; j < profile->spans[i].count; j++)
			add_node(&lines, &known, profile,
				 swz_code_slot(profile,
					       profile->spans[i].unit + j));
	swz_map_free(&known);
	finish_chunk(&lines);
	return lines.bytes;
}

/* --- functions of their own ---------------------------------------------- */

/* The nodes get their functions, and a flag, in memory: all else takes them for
 * nodes of functions that were never called. */

#define NS_PER_SECOND 1000000000

struct naming {
	struct swz_scan *scan;
	struct swz_map by_name;  /* (hash, n-th of that hash): function */
	struct swz_map by_place; /* (place, 0): it is taken */
	uint32_t first;          /* of the profile's functions */
	uint32_t unnamed;        /* id; SWZ_FUNCTION_NONE: there is none */
};

/* ---- the profile's nodes ---- */

static void for_each(struct naming *naming,
		     void (*function)(struct naming *, struct swz_node *))
{
	struct swz_profile *profile = naming->scan->profile;

	for (size_t i = 0; i < profile->span_count; i++)
		for (uint32_t j = 0; j < profile->spans[i].count; j++)
			function(naming,
				 swz_code_slot(profile,
					       profile->spans[i].unit + j));
}

/* ---- names ---- */

/* A host's numbers of processes are its own. */
static bool is_of_this_host(const struct swz_profile *profile)
{
	const char *host = swz_profile_label(profile, "host");
	char here[HOST_NAME_MAX + 1] = "";

	return host && gethostname(here, sizeof(here) - 1) == 0 &&
	       strcmp(host, here) == 0;
}

static void read_files(struct swz_profile *profile, uid_t owner)
{
	const struct swz_file_header *header = &profile->header;
	struct swz_code_process process = {
		.pid = header->pid,
		.cwd = profile->cwd,
		.start = (int64_t)(header->start_realtime_ns / NS_PER_SECOND),
		.owner = owner,
	};
	uint64_t ticks = header->end_ticks - header->start_ticks;

	if (!header->start_realtime_ns || !is_of_this_host(profile))
		return;
	if (header->end_ticks)
		process.end = process.start +
			      swz_profile_ns(profile, (int64_t)ticks) /
				      NS_PER_SECOND +
			      1;
	swz_code_files_read(code_ranges_of(profile), &process);
	if (profile->code->count) {
		profile->code_from_files = true;
	} else {
		swz_run_time_code_free(profile);
		profile->code = NULL;
	}
}

/* CLOCK_MONOTONIC when the node was made. */
static uint64_t met_at(const struct swz_profile *profile,
		       const struct swz_node *slot)
{
	const struct swz_clock_sample *start = &profile->header.clock[0];

	return start->monotonic_ns +
	       (uint64_t)swz_profile_ns(
		       profile, (int64_t)(slot->max_ticks - start->ticks));
}

/* ---- functions ---- */

static uint32_t add_function(struct naming *naming, const char *name)
{
	struct swz_scan *scan = naming->scan;
	struct swz_profile *profile = scan->profile;
	uint32_t place = swz_code_place(name, 0);
	uint32_t id = SWZ_CODE_FIRST_ID +
		      (uint32_t)(profile->function_count - naming->first);

	while (*swz_map_at(&naming->by_place, place, 0) != SWZ_MAP_NONE)
		place++;
	*swz_map_at(&naming->by_place, place, 0) = 1;
	swz_grow(&profile->functions, &scan->function_capacity,
		 profile->function_count, sizeof(*profile->functions));
	profile->functions[profile->function_count++] =
		(struct swz_profile_function){
			.id = id,
			.module = SWZ_CODE_MODULE,
			.address = place,
			.size = 1,
			.flags = SWZ_FUNCTION_AT_RUN_TIME,
		};
	swz_grow(&profile->symbols, &scan->symbol_capacity,
		 profile->symbol_count, sizeof(*profile->symbols));
	profile->symbols[profile->symbol_count++] = (struct swz_profile_symbol){
		.module = SWZ_CODE_MODULE,
		.address = place,
		.size = 1,
		.name = name,
	};
	return id;
}

static const char *name_of(const struct naming *naming, uint32_t id)
{
	const struct swz_profile *profile = naming->scan->profile;
	size_t back = profile->function_count - naming->first -
		      (id - SWZ_CODE_FIRST_ID);

	return profile->symbols[profile->symbol_count - back].name;
}

static uint32_t function_named(struct naming *naming, const char *name)
{
	uint64_t hash = swz_code_hash(name);

	for (uint64_t i = 0;; i++) {
		uint32_t *id = swz_map_at(&naming->by_name, hash, i);

		if (*id == SWZ_MAP_NONE)
			return *id = add_function(naming, name);
		if (strcmp(name_of(naming, *id), name) == 0)
			return *id;
	}
}

static void name_node(struct naming *naming, struct swz_node *slot)
{
	struct swz_profile *profile = naming->scan->profile;
	const char *name = NULL;

	if (slot->function != SWZ_FUNCTION_CODE)
		return;
	/* a call may be the last that there is of a function */
	if (profile->code && slot->call_site != SWZ_CALL_SITE_TAIL)
		name = swz_code_ranges_find(profile->code, slot->call_site - 1,
					    met_at(profile, slot));
	slot->min_ticks = 0;
	if (!name && naming->unnamed == SWZ_FUNCTION_NONE)
		naming->unnamed = function_named(naming, SWZ_CODE_UNNAMED);
	slot->function = name ? function_named(naming, name) : naming->unnamed;
	profile->named_code_nodes += name != NULL;
}

static struct swz_node *parent_of(const struct naming *naming,
				  const struct swz_node *slot)
{
	const struct swz_profile *profile = naming->scan->profile;
	uint64_t at = (uint64_t)slot->parent * SWZ_UNIT_BYTES;

	return at < profile->size && profile->size - at >= sizeof(*slot)
		       ? swz_code_slot(profile, slot->parent)
		       : NULL;
}

static bool is_code(const struct naming *naming, const struct swz_node *slot)
{
	uint32_t n = slot->function - SWZ_CODE_FIRST_ID;

	return slot->function >= SWZ_CODE_FIRST_ID &&
	       n < naming->scan->profile->function_count - naming->first;
}

/* Functions below code without a name, noted in its node meanwhile. */
enum { BELOW_IS_NAMED = 1, BELOW_IS_OTHER = 2 };

static void note_below(struct naming *naming, struct swz_node *slot)
{
	struct swz_node *parent;

	if (slot->function == SWZ_FUNCTION_NONE ||
	    slot->function == naming->unnamed)
		return;
	parent = parent_of(naming, slot);
	if (parent && parent->function == naming->unnamed)
		parent->min_ticks |= is_code(naming, slot) ? BELOW_IS_NAMED
							   : BELOW_IS_OTHER;
}

/* Code without a name beside other such code: V8's builtins, of which it has
 * made a copy, and what was no return address. The others say enough; or if
 * none has a name, the first of them. */
static void hide_unnamed(struct naming *naming, struct swz_node *slot)
{
	const struct swz_node *parent;

	if (slot->function != naming->unnamed)
		return;
	parent = parent_of(naming, slot);
	if (slot->call_site == SWZ_CALL_SITE_TAIL ||
	    slot->min_ticks == BELOW_IS_NAMED ||
	    (parent && is_code(naming, parent)))
		slot->open |= SWZ_NODE_HIDDEN;
	else
		naming->scan->profile->unnamed_code_nodes++;
	slot->min_ticks = 0;
}

static void add_module(struct naming *naming)
{
	struct swz_scan *scan = naming->scan;
	struct swz_profile *profile = scan->profile;
	uint32_t count = (uint32_t)(profile->function_count - naming->first);

	swz_grow(&profile->modules, &scan->module_capacity,
		 profile->module_count, sizeof(*profile->modules));
	profile->modules[profile->module_count++] = (struct swz_profile_module){
		.index = SWZ_CODE_MODULE,
		.path = SWZ_CODE_MODULE_NAME,
		.record = {.load_bias = SWZ_NO_FILE_START,
			   .start = SWZ_NO_FILE_START,
			   .end = SWZ_NO_FILE_START + (1ull << 32),
			   .first_function = SWZ_CODE_FIRST_ID,
			   .function_count = count,
			   .in_scope = 1,
			   .loads = 1}};
}

void swz_run_time_code_index(struct swz_scan *scan, const uid_t *owner)
{
	struct swz_profile *profile = scan->profile;
	struct naming naming = {.scan = scan,
				.first = (uint32_t)profile->function_count,
				.unnamed = SWZ_FUNCTION_NONE};

	if (profile->header.flags & (SWZ_FILE_SAMPLES | SWZ_FILE_MERGED))
		return;
	if (!profile->header.latest_code)
		return;
	if (!profile->code && owner)
		read_files(profile, *owner);
	for_each(&naming, name_node);
	if (naming.unnamed != SWZ_FUNCTION_NONE) {
		for_each(&naming, note_below);
		for_each(&naming, hide_unnamed);
	}
	profile->code_functions = (uint32_t)profile->function_count -
				  naming.first;
	if (profile->code_functions)
		add_module(&naming);
	swz_map_free(&naming.by_name);
	swz_map_free(&naming.by_place);
}
