/* One pass over a file's chunks collects their records. Packed nodes are
 * unpacked on the way. */

#include "profile/file/scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_bytes.h"
#include "base/time_bucket.h"
#include "profile/file/code_files.h"
#include "profile/file/ranks.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"
#include "profile/file/values.h"
#include "swizzle/format.h"
#include "util/memory.h"

/* --- packed nodes -------------------------------------------------------- */

/* The first byte of a node: what is not there, as it is what most have. */
enum {
	SAME_SITE = 1,   /* as the function was called from last */
	OWN_CONTEXT = 2, /* it is one */
	SAME_PARENT = 4, /* as the node before */
	SAME_OUTER = 8,  /* as its ticks */
	ONE_CALL = 16,   /* which took the shortest and the longest time */
	NOT_OPEN = 32,   /* and no flags */
	UNUSED = 64      /* there is no more of it */
};
#define ALL_KINDS 127u

static bool is_one_call(const struct swz_node *n)
{
	return n->calls == 1 && n->min_ticks == (uint64_t)n->ticks &&
	       n->max_ticks == (uint64_t)n->ticks;
}

static uint8_t *put_signed(uint8_t *at, int64_t distance)
{
	return swz_number_put(at, swz_number_of_signed(distance));
}

/* Sums wrap around. */
static int64_t distance(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from);
}

static unsigned kind_of(const struct swz_packed_nodes *before, uint32_t unit,
			const struct swz_node *n)
{
	uint32_t place = n->function % SWZ_PACKED_NODES_SITES;
	unsigned kind = 0;

	if (before->functions[place] == n->function &&
	    before->sites[place] == n->call_site)
		kind |= SAME_SITE;
	if (n->context == unit)
		kind |= OWN_CONTEXT;
	if (n->parent == before->last_parent)
		kind |= SAME_PARENT;
	if (n->outer_ticks == n->ticks)
		kind |= SAME_OUTER;
	if (is_one_call(n))
		kind |= ONE_CALL;
	if (!n->open)
		kind |= NOT_OPEN;
	return kind;
}

static void note(struct swz_packed_nodes *before, const struct swz_node *n)
{
	uint32_t place = n->function % SWZ_PACKED_NODES_SITES;

	before->last_site = n->call_site;
	before->last_parent = n->parent;
	before->functions[place] = n->function;
	before->sites[place] = n->call_site;
}

unsigned swz_node_pack(uint8_t *to, struct swz_packed_nodes *before,
		       uint32_t unit, const struct swz_node *n)
{
	unsigned kind = kind_of(before, unit, n);
	uint8_t *at = to;

	if (n->function == SWZ_FUNCTION_NONE) {
		*to = UNUSED;
		return 1;
	}
	*at++ = (uint8_t)kind;
	at = swz_number_put(at, n->function);
	if (!(kind & SAME_SITE))
		at = put_signed(at, distance(before->last_site, n->call_site));
	if (!(kind & SAME_PARENT))
		at = put_signed(at, (int32_t)(unit - n->parent));
	if (!(kind & OWN_CONTEXT))
		at = put_signed(at, (int32_t)(unit - n->context));
	at = put_signed(at, n->ticks);
	if (!(kind & SAME_OUTER))
		at = put_signed(at, n->outer_ticks);
	if (!(kind & ONE_CALL)) {
		at = swz_number_put(at, n->calls);
		at = swz_number_put(at, n->min_ticks);
		at = put_signed(at, distance(n->min_ticks, n->max_ticks));
	}
	if (!(kind & NOT_OPEN))
		at = swz_number_put(at, n->open);
	note(before, n);
	return (unsigned)(at - to);
}

static bool get(const uint8_t **at, const uint8_t *limit, uint64_t *number)
{
	return swz_number_get(at, limit, UINT64_MAX, number);
}

static bool get_signed(const uint8_t **at, const uint8_t *limit,
		       int64_t *number)
{
	uint64_t bits;

	if (!get(at, limit, &bits))
		return false;
	*number = swz_number_to_signed(bits);
	return true;
}

/* *UNIT is given, or so far before the node's own. */
static bool get_unit(const uint8_t **at, const uint8_t *limit, bool given,
		     uint32_t own, uint32_t *unit)
{
	int64_t before;

	if (given)
		return true;
	if (!get_signed(at, limit, &before))
		return false;
	*unit = own - (uint32_t)before;
	return true;
}

static bool get_times(const uint8_t **at, const uint8_t *limit, unsigned kind,
		      struct swz_node *n)
{
	int64_t more = 0;

	if (!get_signed(at, limit, &n->ticks))
		return false;
	n->outer_ticks = n->ticks;
	if (!(kind & SAME_OUTER) && !get_signed(at, limit, &n->outer_ticks))
		return false;
	n->calls = 1;
	n->min_ticks = (uint64_t)n->ticks;
	if (!(kind & ONE_CALL) &&
	    (!get(at, limit, &n->calls) || !get(at, limit, &n->min_ticks) ||
	     !get_signed(at, limit, &more)))
		return false;
	n->max_ticks = n->min_ticks + (uint64_t)more;
	return true;
}

bool swz_node_unpack(const uint8_t **at, const uint8_t *limit,
		     struct swz_packed_nodes *before, uint32_t unit,
		     struct swz_node *node)
{
	struct swz_node n = {0};
	const uint8_t *from = *at;
	uint64_t number;
	int64_t site = 0;
	unsigned kind;

	if (from == limit || (kind = *from++) > ALL_KINDS)
		return false;
	if (kind & UNUSED) {
		*at = from;
		*node = n;
		return true;
	}
	if (!swz_number_get(&from, limit, UINT32_MAX, &number))
		return false;
	n.function = (uint32_t)number;
	n.call_site = before->sites[n.function % SWZ_PACKED_NODES_SITES];
	if (!(kind & SAME_SITE)) {
		if (!get_signed(&from, limit, &site))
			return false;
		n.call_site = before->last_site + (uint64_t)site;
	}
	n.parent = before->last_parent;
	n.context = unit;
	if (!get_unit(&from, limit, kind & SAME_PARENT, unit, &n.parent) ||
	    !get_unit(&from, limit, kind & OWN_CONTEXT, unit, &n.context) ||
	    !get_times(&from, limit, kind, &n))
		return false;
	if (!(kind & NOT_OPEN)) {
		if (!swz_number_get(&from, limit, UINT32_MAX, &number))
			return false;
		n.open = (uint32_t)number;
	}
	note(before, &n);
	*at = from;
	*node = n;
	return true;
}

/* --- packed nodes in memory ---------------------------------------------- */

/* Nodes are found by their place in the file, so there is room for them where
 * they are packed. */

/* Makes a chunk PACKED_NODES in memory, and CHUNK, its header, one of NODES.
 * Its body is at OFFSET, SIZE bytes of it are there. What is not whole is
 * damage. */
static void unpack_nodes(struct swz_profile *profile, struct swz_chunk *chunk,
			 size_t offset, size_t size)
{
	struct swz_packed_nodes *before = swz_allocate(1, sizeof(*before));
	uint64_t bytes = chunk->reserved[SWZ_PACKED_NODES_BYTES];
	struct swz_node *nodes = (void *)(profile->data + offset);
	uint32_t unit = (uint32_t)(offset / SWZ_UNIT_BYTES);
	uint8_t *stream;
	const uint8_t *at, *limit;
	size_t i;

	if (bytes > size) {
		profile->damage.bad_chunks++;
		bytes = size;
	}
	stream = swz_allocate(bytes + 1, 1);
	memcpy(stream, nodes, bytes);
	memset(nodes, 0, bytes);
	at = stream;
	limit = stream + bytes;
	for (i = 0; at < limit && i < size / sizeof(*nodes); i++)
		if (!swz_node_unpack(&at, limit, before, unit + (uint32_t)i,
				     &nodes[i]))
			break;
	if (at < limit)
		profile->damage.bad_chunks++;
	free(stream);
	free(before);
	chunk->type = SWZ_CHUNK_NODES;
	memset(chunk->reserved, 0, sizeof(chunk->reserved));
	memcpy(profile->data + offset - sizeof(*chunk), chunk, sizeof(*chunk));
}

/* --- chunks -------------------------------------------------------------- */

/* A chunk whose header is not complete (its writer was killed, or the bytes are
 * damaged) has no trustworthy length: the pass goes on at the next 64-byte unit
 * that looks like a chunk. */

static void read_command(struct swz_profile *profile,
			 const struct swz_chunk *chunk, const uint8_t *body,
			 size_t size)
{
	const char *text = (const char *)body;
	size_t position = 0;
	size_t strings = 0;

	if (profile->arguments) {
		profile->damage.bad_chunks++;
		return;
	}
	/* every string takes a byte at least, so size bounds the count */
	profile->arguments = swz_allocate(
		chunk->count < size ? chunk->count : size, sizeof(char *));
	while (strings < chunk->count && position < size) {
		const char *string = text + position;
		size_t length = strnlen(string, size - position);

		if (length == size - position)
			break;
		if (strings == 0)
			profile->executable = string;
		else if (strings == 1)
			profile->cwd = string;
		else
			profile->arguments[profile->argument_count++] = string;
		strings++;
		position += length + 1;
	}
	if (strings < chunk->count)
		profile->damage.bad_chunks++;
}

/* In place of the arguments, of which it is all that is left. */
static void read_title(struct swz_profile *profile, const uint8_t *body,
		       size_t size)
{
	const char *text = (const char *)body;

	if (!profile->arguments || strnlen(text, size) == size) {
		profile->damage.bad_chunks++;
		return;
	}
	if (!*text)
		return;
	if (!profile->argument_count) {
		free(profile->arguments);
		profile->arguments = swz_allocate(1, sizeof(char *));
	}
	profile->arguments[0] = text;
	profile->argument_count = 1;
}

/* A second chunk of them, or a second label of one name, is damage. */
static void read_labels(struct swz_profile *profile,
			const struct swz_chunk *chunk, const uint8_t *body,
			size_t size)
{
	size_t position = 0, room = chunk->count < size ? chunk->count : size;
	const char *name = NULL;

	if (profile->labels || chunk->count % 2) {
		profile->damage.bad_chunks++;
		return;
	}
	profile->labels = swz_allocate(room + 1, sizeof(char *));
	for (size_t i = 0; i < room && position < size; i++) {
		const char *string = (const char *)body + position;
		size_t length = strnlen(string, size - position);

		if (length == size - position)
			break;
		position += length + 1;
		if (i % 2 == 0) {
			name = string;
			continue;
		}
		if (swz_profile_label(profile, name))
			continue;
		profile->labels[2 * profile->label_count] = name;
		profile->labels[2 * profile->label_count + 1] = string;
		profile->label_count++;
	}
	if (2 * profile->label_count < chunk->count)
		profile->damage.bad_chunks++;
}

static void read_merged(struct swz_profile *profile,
			const struct swz_chunk *chunk, const uint8_t *body,
			size_t size)
{
	size_t room = size / sizeof(*profile->sources);

	if (chunk->count > room || profile->sources) {
		profile->damage.bad_chunks++;
		return;
	}
	profile->source_count = chunk->count;
	profile->sources = swz_allocate(chunk->count,
					sizeof(*profile->sources));
	memcpy(profile->sources, body,
	       chunk->count * sizeof(*profile->sources));
}

static void read_module(struct swz_scan *scan, const struct swz_chunk *chunk,
			const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_profile_module *module;
	size_t record = sizeof(module->record);

	if (size <= record || strnlen((const char *)body + record,
				      size - record) == size - record) {
		profile->damage.bad_chunks++;
		return;
	}
	swz_grow(&profile->modules, &scan->module_capacity,
		 profile->module_count, sizeof(*module));
	module = &profile->modules[profile->module_count++];
	module->index = chunk->owner;
	module->path = (const char *)body + record;
	memcpy(&module->record, body, record);
	if (module->record.build_id_bytes > sizeof(module->record.build_id))
		module->record.build_id_bytes = 0;
}

static void add_function(struct swz_scan *scan, uint32_t module,
			 const struct swz_function_record *record)
{
	struct swz_profile *profile = scan->profile;
	struct swz_profile_function *function;

	if (record->id == SWZ_FUNCTION_NONE || record->id == SWZ_FUNCTION_ROOT)
		return;
	swz_grow(&profile->functions, &scan->function_capacity,
		 profile->function_count, sizeof(*function));
	function = &profile->functions[profile->function_count++];
	function->id = record->id;
	function->module = module; /* an index later on */
	function->address = record->address;
	function->size = record->size;
	function->status = record->status;
	function->flags = record->flags;
	function->name = NULL;
}

static void read_functions(struct swz_scan *scan, const struct swz_chunk *chunk,
			   const uint8_t *body, size_t size)
{
	size_t room = size / sizeof(struct swz_function_record);
	size_t i;

	if (chunk->count > room)
		scan->profile->damage.bad_chunks++;
	for (i = 0; i < room && i < chunk->count; i++) {
		struct swz_function_record record;

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		add_function(scan, chunk->owner, &record);
	}
}

/* Where one is not whole, those behind it are not known. */
static void read_packed_functions(struct swz_scan *scan,
				  const struct swz_chunk *chunk,
				  const uint8_t *body, size_t size)
{
	const uint8_t *limit = body + size;
	struct swz_function_record record = {0};
	uint32_t end = 0, i;

	if (size < sizeof(record.id)) {
		scan->profile->damage.bad_chunks++;
		return;
	}
	memcpy(&record.id, body, sizeof(record.id));
	body += sizeof(record.id);
	for (i = 0; i < chunk->count; i++, record.id++) {
		if (!swz_function_unpack(&body, limit, &end, &record)) {
			scan->profile->damage.bad_chunks++;
			return;
		}
		add_function(scan, chunk->owner, &record);
	}
}

/* Strings that are cut off are left out. */
static void read_names(struct swz_scan *scan, const struct swz_chunk *chunk,
		       const uint8_t *body, size_t size)
{
	uint32_t id, i;

	if (size < sizeof(id)) {
		scan->profile->damage.bad_chunks++;
		return;
	}
	memcpy(&id, body, sizeof(id));
	body += sizeof(id);
	size -= sizeof(id);
	for (i = 0; i < chunk->count; i++) {
		size_t length = strnlen((const char *)body, size);

		if (length == size) {
			scan->profile->damage.bad_chunks++;
			return;
		}
		swz_grow(&scan->names, &scan->name_capacity, scan->name_count,
			 sizeof(*scan->names));
		scan->names[scan->name_count++] = (struct swz_scan_name){
			id + i, (const char *)body};
		body += length + 1;
		size -= length + 1;
	}
}

static void read_thread(struct swz_scan *scan, const struct swz_chunk *chunk,
			const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_profile_thread *thread;

	if (size < sizeof(thread->record)) {
		profile->damage.bad_chunks++;
		return;
	}
	swz_grow(&profile->threads, &scan->thread_capacity,
		 profile->thread_count, sizeof(*thread));
	thread = &profile->threads[profile->thread_count++];
	memset(thread, 0, sizeof(*thread));
	thread->index = chunk->owner;
	memcpy(&thread->record, body, sizeof(thread->record));
	memcpy(thread->name, thread->record.name, sizeof(thread->record.name));
}

static void read_nodes(struct swz_scan *scan, const struct swz_chunk *chunk,
		       size_t offset, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_node_span *span;
	size_t room = size / sizeof(struct swz_node);
	uint64_t unit = offset / SWZ_UNIT_BYTES;

	if (chunk->count > room)
		profile->damage.bad_chunks++;
	if (unit + room > UINT32_MAX) {
		profile->damage.bad_chunks++;
		return;
	}
	swz_grow(&profile->spans, &scan->span_capacity, profile->span_count,
		 sizeof(*span));
	span = &profile->spans[profile->span_count++];
	span->owner = chunk->owner;
	span->unit = (uint32_t)unit;
	span->count = chunk->count < room ? chunk->count : (uint32_t)room;
}

static void read_unwound(struct swz_scan *scan, const struct swz_chunk *chunk,
			 const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	size_t room = size / sizeof(struct swz_unwound_record);
	size_t i;

	if (chunk->count > room)
		profile->damage.bad_chunks++;
	for (i = 0; i < room && i < chunk->count; i++) {
		struct swz_unwound_record record;

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		if (!record.node)
			continue;
		swz_grow(&profile->unwound, &scan->unwound_capacity,
			 profile->unwound_count, sizeof(*profile->unwound));
		profile->unwound[profile->unwound_count++] =
			(struct swz_profile_unwound){.owner = chunk->owner,
						     .node = record.node,
						     .count = record.count};
	}
}

/* (The writer counts a record when it is whole.) */
static void read_switches(struct swz_scan *scan, const struct swz_chunk *chunk,
			  const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	size_t room = size / sizeof(struct swz_switch_record);
	size_t i;

	if (chunk->count > room)
		profile->damage.bad_chunks++;
	for (i = 0; i < room && i < chunk->count; i++) {
		struct swz_switch_record record;

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		swz_grow(&profile->switches, &scan->switch_capacity,
			 profile->switch_count, sizeof(*profile->switches));
		profile->switches[profile->switch_count++] =
			(struct swz_profile_switch){
				.owner = chunk->owner,
				.preempted = record.off_ticks &
					     SWZ_SWITCH_PREEMPTED,
				.off_ticks = record.off_ticks &
					     ~SWZ_SWITCH_PREEMPTED,
				.on_ticks = record.on_ticks};
	}
}

static void read_looks(struct swz_scan *scan, const struct swz_chunk *chunk,
		       const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	size_t room = size / sizeof(struct swz_look);
	size_t i;

	if (chunk->count > room)
		profile->damage.bad_chunks++;
	for (i = 0; i < room && i < chunk->count; i++) {
		struct swz_look look;

		memcpy(&look, body + i * sizeof(look), sizeof(look));
		if (!look.node || look.kind > SWZ_LOOK_BLOCKED)
			continue;
		swz_grow(&profile->looks, &scan->look_capacity,
			 profile->look_count, sizeof(*profile->looks));
		profile->looks[profile->look_count++] =
			(struct swz_profile_look){.node = look.node,
						  .kind = look.kind,
						  .ns = look.ns};
	}
}

static void add_times(struct swz_scan *scan, uint32_t owner, uint32_t function,
		      uint32_t bucket, uint64_t calls)
{
	struct swz_profile *profile = scan->profile;

	swz_grow(&profile->times, &scan->times_capacity, profile->times_count,
		 sizeof(*profile->times));
	profile->times[profile->times_count++] = (struct swz_profile_times){
		.owner = owner,
		.function = function,
		.bucket = bucket,
		.calls = calls};
}

/* Calls that the process has not counted yet. */
static void read_times(struct swz_scan *scan, const struct swz_chunk *chunk,
		       const uint8_t *body, size_t size)
{
	size_t i;

	for (i = 0; i < chunk->count && i < size / sizeof(uint64_t); i++) {
		uint64_t noted;
		uint32_t bucket;

		memcpy(&noted, body + i * sizeof(noted), sizeof(noted));
		bucket = (uint32_t)noted ^ SWZ_TIME_PENDING;
		if (!noted)
			continue;
		if (bucket < SWZ_TIME_BUCKETS)
			add_times(scan, chunk->owner, (uint32_t)(noted >> 32),
				  bucket, 1);
		else
			scan->profile->damage.bad_chunks++;
	}
}

static void read_histogram(struct swz_scan *scan, const struct swz_chunk *chunk,
			   const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	uint64_t function = chunk->reserved[SWZ_HISTOGRAM_FUNCTION];
	uint64_t block = chunk->reserved[SWZ_HISTOGRAM_BLOCK];
	size_t room = size / sizeof(uint64_t);
	size_t i;

	if (function > UINT32_MAX || block >= SWZ_TIME_BLOCKS ||
	    chunk->count != SWZ_BLOCK_BUCKETS) {
		profile->damage.bad_chunks++;
		return;
	}
	if (room < SWZ_BLOCK_BUCKETS)
		profile->damage.bad_chunks++;
	for (i = 0; i < room && i < SWZ_BLOCK_BUCKETS; i++) {
		uint64_t calls;

		memcpy(&calls, body + i * sizeof(calls), sizeof(calls));
		if (!calls)
			continue;
		add_times(scan, chunk->owner, (uint32_t)function,
			  (uint32_t)(block << SWZ_BUCKET_BITS) + (uint32_t)i,
			  calls);
	}
}

/* Packed chunks are read when they are wanted. */
static void read_samples(struct swz_scan *scan, const struct swz_chunk *chunk,
			 size_t start, size_t size)
{
	struct swz_profile *profile = scan->profile;
	uint64_t bytes = chunk->reserved[SWZ_SAMPLES_BYTES];

	if (bytes > size || !chunk->reserved[SWZ_SAMPLES_UNIT]) {
		profile->damage.bad_chunks++;
		if (!chunk->reserved[SWZ_SAMPLES_UNIT])
			return;
		bytes = size;
	}
	swz_grow(&profile->sample_chunks, &scan->sample_chunk_capacity,
		 profile->sample_chunk_count, sizeof(*profile->sample_chunks));
	profile->sample_chunks[profile->sample_chunk_count++] =
		(struct swz_sample_chunk){
			.owner = chunk->owner,
			.waiting = chunk->reserved[SWZ_SAMPLES_WAITING],
			.start_ticks = chunk->reserved[SWZ_SAMPLES_START],
			.unit_ticks = chunk->reserved[SWZ_SAMPLES_UNIT],
			.expected = chunk->reserved[SWZ_SAMPLES_EXPECTED],
			.count = chunk->count,
			.offset = start,
			.bytes = bytes,
		};
}

static void add_events(struct swz_scan *scan,
		       const struct swz_event_chunk *events)
{
	struct swz_profile *profile = scan->profile;

	swz_grow(&profile->event_chunks, &scan->event_chunk_capacity,
		 profile->event_chunk_count, sizeof(*events));
	profile->event_chunks[profile->event_chunk_count++] = *events;
}

/* Bytes that are cut off are missing. */
static void read_events(struct swz_scan *scan, const struct swz_chunk *chunk,
			size_t offset, size_t size)
{
	struct swz_event_chunk events = {
		.owner = chunk->owner,
		.offset = offset,
		.bytes = size & ~(size_t)(SWZ_EVENT_PAGE - 1),
		.first_event = sizeof(*chunk) / sizeof(uint64_t),
		.number = chunk->reserved[SWZ_EVENTS_FIRST],
		.kept = chunk->reserved[SWZ_EVENTS_KEPT],
		.call = chunk->reserved[SWZ_CALL_STATE],
		.call_ticks = chunk->reserved[SWZ_CALL_TICKS],
	};

	if (offset % SWZ_EVENT_PAGE || !events.bytes) {
		scan->profile->damage.bad_chunks++;
		return;
	}
	add_events(scan, &events);
}

static void read_slow(struct swz_scan *scan, const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_slow_record *record;

	if (size < sizeof(*record)) {
		profile->damage.bad_chunks++;
		return;
	}
	swz_grow(&profile->slow_rules, &scan->slow_rule_capacity,
		 profile->slow_rule_count, sizeof(*record));
	record = &profile->slow_rules[profile->slow_rule_count++];
	memcpy(record, body, sizeof(*record));
	record->pattern[sizeof(record->pattern) - 1] = '\0';
}

/* The valid part is found at the end (the reader does it). */
static void read_packed(struct swz_scan *scan, const struct swz_chunk *chunk,
			size_t offset, size_t size)
{
	add_events(scan, &(struct swz_event_chunk){.owner = chunk->owner,
						   .packed = true,
						   .offset = offset,
						   .bytes = size});
}

static void read_values(struct swz_scan *scan, const struct swz_chunk *chunk,
			size_t offset, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_value_chunk *values;

	swz_grow(&profile->value_chunks, &scan->value_chunk_capacity,
		 profile->value_chunk_count, sizeof(*values));
	values = &profile->value_chunks[profile->value_chunk_count++];
	values->owner = chunk->owner;
	values->number = chunk->reserved[0];
	values->offset = offset;
	values->bytes = size;
}

static bool plausible_chunk(const struct swz_chunk *chunk)
{
	return chunk->magic == SWZ_CHUNK_MAGIC &&
	       chunk->bytes >= sizeof(*chunk) &&
	       chunk->bytes % SWZ_UNIT_BYTES == 0;
}

static void read_chunk(struct swz_scan *scan, const struct swz_chunk *chunk,
		       size_t offset, size_t size)
{
	size_t start = offset + sizeof(*chunk);
	const uint8_t *body = scan->profile->data + start;
	size_t room = size - sizeof(*chunk);
	struct swz_chunk packed;

	switch (chunk->type) {
	case SWZ_CHUNK_COMMAND:
		read_command(scan->profile, chunk, body, room);
		break;
	case SWZ_CHUNK_TITLE:
		read_title(scan->profile, body, room);
		break;
	case SWZ_CHUNK_MERGED:
		read_merged(scan->profile, chunk, body, room);
		break;
	case SWZ_CHUNK_RANKS:
		swz_scan_ranks(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_RANK_COSTS:
		swz_scan_rank_costs(scan, chunk, start, room);
		break;
	case SWZ_CHUNK_LABELS:
		read_labels(scan->profile, chunk, body, room);
		break;
	case SWZ_CHUNK_MODULE:
		read_module(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_FUNCTIONS:
		read_functions(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_PACKED_FUNCTIONS:
		read_packed_functions(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_THREAD:
		read_thread(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_NODES:
		read_nodes(scan, chunk, start, room);
		break;
	case SWZ_CHUNK_PACKED_NODES:
		packed = *chunk;
		unpack_nodes(scan->profile, &packed, start, room);
		read_nodes(scan, &packed, start, room);
		break;
	case SWZ_CHUNK_COUNTS:
		swz_scan_counts(scan, chunk, start, room);
		break;
	case SWZ_CHUNK_SAMPLES:
		read_samples(scan, chunk, start, room);
		break;
	case SWZ_CHUNK_UNWOUND:
		read_unwound(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_SWITCHES:
		read_switches(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_LOOKS:
		read_looks(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_HISTOGRAM:
		read_histogram(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_TIMES:
		read_times(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_MARKS:
		swz_scan_marks(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_EVENTS:
		read_events(scan, chunk, offset, size);
		break;
	case SWZ_CHUNK_SLOW:
		read_slow(scan, body, room);
		break;
	case SWZ_CHUNK_PACKED:
		read_packed(scan, chunk, offset, size);
		break;
	case SWZ_CHUNK_VALUES:
		read_values(scan, chunk, start, room);
		break;
	case SWZ_CHUNK_SIGNATURES:
		swz_scan_signatures(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_SUMMARY:
		swz_scan_summary(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_NAMES:
		read_names(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_SYMBOLS:
		swz_scan_symbols(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_LINES:
		swz_scan_lines(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_CODE:
		swz_scan_code(scan, body, room);
		break;
	}
}

/* The next bytes that are wanted end at END. */
static bool want(struct swz_scan *scan, uint64_t end)
{
	if (!scan->from)
		return true;
	if (!swz_load(scan->from, end))
		return false;
	scan->profile->size = scan->from->size;
	return true;
}

/* Is there room for a chunk? What there is may turn out to be less. */
static bool is_left(const struct swz_profile *profile, size_t offset)
{
	return offset < profile->size &&
	       profile->size - offset >= sizeof(struct swz_chunk);
}

/* Returns the size of the chunk; 0: it cannot be loaded. */
static size_t take_chunk(struct swz_scan *scan, const struct swz_chunk *chunk,
			 size_t offset)
{
	struct swz_profile *profile = scan->profile;
	bool packed = chunk->type == SWZ_CHUNK_PACKED ||
		      chunk->type == SWZ_CHUNK_RANK_COSTS ||
		      chunk->type == SWZ_CHUNK_VALUES; /* read when wanted */
	size_t size = profile->size - offset;

	if (chunk->bytes < size)
		size = (size_t)chunk->bytes;
	if (!packed && !want(scan, offset + size))
		return 0;
	if (size > profile->size - offset)
		size = profile->size - offset;
	if (chunk->bytes > size && !profile->damage.missing_bytes)
		profile->damage.bad_chunks++;
	read_chunk(scan, chunk, offset, size);
	if (packed && scan->from) {
		swz_load_skip(scan->from, offset, offset + size);
		scan->from->partial = true;
	}
	return size;
}

/* Past a unit that is no chunk, and the hole that may follow: what a program
 * that was killed has not written yet, where USED_BYTES is damaged. */
static size_t past_unit(struct swz_scan *scan, size_t offset)
{
	size_t next = offset + SWZ_UNIT_BYTES;

	if (scan->from)
		next = (size_t)swz_load_past_hole(scan->from, next);
	scan->profile->damage.skipped_bytes += next - offset;
	return next;
}

bool swz_scan_chunks(struct swz_scan *scan)
{
	struct swz_profile *profile = scan->profile;
	size_t offset = SWZ_HEADER_BYTES;
	struct swz_chunk chunk;
	bool in_gap = false;
	size_t size;

	while (is_left(profile, offset)) {
		if (!want(scan, offset + sizeof(chunk)))
			return false;
		if (!is_left(profile, offset))
			break;
		memcpy(&chunk, profile->data + offset, sizeof(chunk));
		if (!plausible_chunk(&chunk)) {
			/* a chunk that was being made has no magic yet */
			if (!in_gap && chunk.magic != 0)
				profile->damage.bad_chunks++;
			in_gap = true;
			offset = past_unit(scan, offset);
			continue;
		}
		in_gap = false;
		size = take_chunk(scan, &chunk, offset);
		if (!size)
			return false;
		offset += size;
	}
	return true;
}
