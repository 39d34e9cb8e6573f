/* The reader of profile files.
 *
 * The used part of the file is copied into memory first, all but events, so
 * that a process that still writes to it, or cuts it off, cannot pull checked
 * bytes from under us. Then one pass over the chunks collects records; indices
 * are built afterwards, when all are known. A chunk whose header is not
 * complete (its writer was killed, or the bytes are damaged) has no trustworthy
 * length: the pass goes on at the next 64-byte unit that looks like a chunk. */

#include "profile/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/archive.h"
#include "profile/arith.h"
#include "profile/memory.h"

/* No clock runs slower than 10 MHz or faster than 100 GHz. */
#define MAX_NS_PER_TICK 100u
#define MAX_TICKS_PER_NS 100u

/* Beyond this a time in ticks is nonsense (292 years at 1 GHz), and sums of a
 * few such times still fit. */
#define MAX_TICKS (INT64_MAX / 4)

struct scan {
	struct swz_profile *profile;
	size_t module_capacity;
	size_t function_capacity;
	size_t thread_capacity;
	size_t span_capacity;
	size_t unwound_capacity;
	size_t event_chunk_capacity;
	struct name {
		uint32_t id;
		const char *text;
	} * names;
	size_t name_count;
	size_t name_capacity;
};

static enum swz_status fail(struct swz_error *error, enum swz_status status,
			    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static enum swz_status fail(struct swz_error *error, enum swz_status status,
			    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	/* cppcheck-suppress ctuuninitvar ; it is being filled in */
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return status;
}

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

static void read_module(struct scan *scan, const struct swz_chunk *chunk,
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

static void read_functions(struct scan *scan, const struct swz_chunk *chunk,
			   const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	size_t room = size / sizeof(struct swz_function_record);
	size_t i;

	if (chunk->count > room)
		profile->damage.bad_chunks++;
	for (i = 0; i < room && i < chunk->count; i++) {
		struct swz_function_record record;
		struct swz_profile_function *function;

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		if (record.id == SWZ_FUNCTION_NONE ||
		    record.id == SWZ_FUNCTION_ROOT)
			continue;
		swz_grow(&profile->functions, &scan->function_capacity,
			 profile->function_count, sizeof(*function));
		function = &profile->functions[profile->function_count++];
		function->id = record.id;
		function->module = chunk->owner; /* an index later on */
		function->address = record.address;
		function->size = record.size;
		function->status = record.status;
		function->flags = record.flags;
		function->name = NULL;
	}
}

/* Strings that are cut off are left out. */
static void read_names(struct scan *scan, const struct swz_chunk *chunk,
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
		scan->names[scan->name_count++] = (struct name){
			id + i, (const char *)body};
		body += length + 1;
		size -= length + 1;
	}
}

static void read_thread(struct scan *scan, const struct swz_chunk *chunk,
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

static void read_nodes(struct scan *scan, const struct swz_chunk *chunk,
		       size_t offset, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_node_span *span;
	size_t room = size / sizeof(struct swz_node);
	uint64_t unit = offset / SWZ_UNIT_BYTES;

	if (chunk->count > room)
		profile->damage.bad_chunks++;
	if (unit + room > UINT32_MAX)
		return;
	swz_grow(&profile->spans, &scan->span_capacity, profile->span_count,
		 sizeof(*span));
	span = &profile->spans[profile->span_count++];
	span->owner = chunk->owner;
	span->unit = (uint32_t)unit;
	span->count = chunk->count < room ? chunk->count : (uint32_t)room;
}

static void read_unwound(struct scan *scan, const struct swz_chunk *chunk,
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

/* What is cut off of it is missing. */
static void read_events(struct scan *scan, const struct swz_chunk *chunk,
			size_t offset, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_event_chunk *events;
	uint64_t ticks = 0;

	size &= ~(size_t)(SWZ_EVENT_PAGE - 1);
	if (offset % SWZ_EVENT_PAGE || !size) {
		profile->damage.bad_chunks++;
		return;
	}
	swz_profile_bytes(profile, offset + SWZ_EVENT_PAGE - sizeof(ticks),
			  &ticks, sizeof(ticks));
	swz_grow(&profile->event_chunks, &scan->event_chunk_capacity,
		 profile->event_chunk_count, sizeof(*events));
	events = &profile->event_chunks[profile->event_chunk_count++];
	*events = (struct swz_event_chunk){.owner = chunk->owner,
					   .offset = offset,
					   .bytes = size,
					   .ticks = ticks};
}

static bool plausible_chunk(const struct swz_chunk *chunk)
{
	return chunk->magic == SWZ_CHUNK_MAGIC &&
	       chunk->bytes >= sizeof(*chunk) &&
	       chunk->bytes % SWZ_UNIT_BYTES == 0;
}

static void read_chunk(struct scan *scan, const struct swz_chunk *chunk,
		       size_t offset, size_t size)
{
	size_t start = offset + sizeof(*chunk);
	const uint8_t *body = scan->profile->data + start;
	size_t room = size - sizeof(*chunk);

	switch (chunk->type) {
	case SWZ_CHUNK_COMMAND:
		read_command(scan->profile, chunk, body, room);
		break;
	case SWZ_CHUNK_MODULE:
		read_module(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_FUNCTIONS:
		read_functions(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_THREAD:
		read_thread(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_NODES:
		read_nodes(scan, chunk, start, room);
		break;
	case SWZ_CHUNK_UNWOUND:
		read_unwound(scan, chunk, body, room);
		break;
	case SWZ_CHUNK_EVENTS:
		read_events(scan, chunk, offset, size);
		break;
	case SWZ_CHUNK_NAMES:
		read_names(scan, chunk, body, room);
		break;
	}
}

static void read_chunks(struct scan *scan)
{
	struct swz_profile *profile = scan->profile;
	size_t offset = SWZ_HEADER_BYTES;
	struct swz_chunk chunk;
	bool in_gap = false;
	size_t size;

	while (offset < profile->size &&
	       profile->size - offset >= sizeof(chunk)) {
		memcpy(&chunk, profile->data + offset, sizeof(chunk));
		if (!plausible_chunk(&chunk)) {
			/* a chunk that was being made has no magic yet */
			if (!in_gap && chunk.magic != 0)
				profile->damage.bad_chunks++;
			in_gap = true;
			profile->damage.skipped_bytes += SWZ_UNIT_BYTES;
			offset += SWZ_UNIT_BYTES;
			continue;
		}
		in_gap = false;
		size = profile->size - offset;
		if (chunk.bytes <= size)
			size = (size_t)chunk.bytes;
		else if (!profile->damage.missing_bytes)
			profile->damage.bad_chunks++;
		read_chunk(scan, &chunk, offset, size);
		offset += size;
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_modules(const void *left, const void *right)
{
	const struct swz_profile_module *a = left, *b = right;

	return compare(a->index, b->index);
}

static int compare_functions(const void *left, const void *right)
{
	const struct swz_profile_function *a = left, *b = right;
	int order = compare(a->id, b->id);

	return order ? order : compare(a->module, b->module);
}

static int compare_threads(const void *left, const void *right)
{
	const struct swz_profile_thread *a = left, *b = right;

	return compare(a->index, b->index);
}

static int compare_spans(const void *left, const void *right)
{
	const struct swz_node_span *a = left, *b = right;
	int order = compare(a->owner, b->owner);

	return order ? order : compare(a->unit, b->unit);
}

static int compare_unwound(const void *left, const void *right)
{
	const struct swz_profile_unwound *a = left, *b = right;
	int order = compare(a->owner, b->owner);

	return order ? order : compare(a->node, b->node);
}

static int compare_event_chunks(const void *left, const void *right)
{
	const struct swz_event_chunk *a = left, *b = right;
	int order = compare(a->owner, b->owner);

	if (!order)
		order = compare(a->ticks, b->ticks);
	return order ? order : compare(a->offset, b->offset);
}

static void sort(void *array, size_t count, size_t size,
		 int (*order)(const void *, const void *))
{
	if (count > 1)
		qsort(array, count, size, order);
}

/* Keeps the first of each run of equal elements in a sorted array. Returns how
 * many remain. */
static size_t drop_duplicates(void *array, size_t count, size_t size,
			      bool (*same)(const void *, const void *))
{
	char *bytes = array;
	size_t kept = count ? 1 : 0;
	size_t i;

	for (i = 1; i < count; i++) {
		if (same(bytes + (kept - 1) * size, bytes + i * size))
			continue;
		if (kept != i)
			memcpy(bytes + kept * size, bytes + i * size, size);
		kept++;
	}
	return kept;
}

static bool same_module(const void *left, const void *right)
{
	return compare_modules(left, right) == 0;
}

static bool same_function(const void *left, const void *right)
{
	const struct swz_profile_function *a = left, *b = right;

	return a->id == b->id;
}

static bool same_thread(const void *left, const void *right)
{
	return compare_threads(left, right) == 0;
}

static void count_duplicates(struct swz_profile *profile, size_t *count,
			     size_t kept)
{
	if (kept != *count)
		profile->damage.bad_chunks += (uint32_t)(*count - kept);
	*count = kept;
}

static uint32_t find_module(const struct swz_profile *profile, uint32_t index)
{
	struct swz_profile_module key = {.index = index};
	struct swz_profile_module *found;

	if (!profile->module_count)
		return SWZ_INDEX_NONE;
	found = bsearch(&key, profile->modules, profile->module_count,
			sizeof(key), compare_modules);
	return found ? (uint32_t)(found - profile->modules) : SWZ_INDEX_NONE;
}

/* A record has the low half of an address; a module spans less than 4 GiB. */
static uint64_t whole_address(const struct swz_module_record *module,
			      uint64_t low)
{
	uint64_t base = module->start - module->load_bias;
	uint64_t address = (base & ~(uint64_t)UINT32_MAX) | low;

	return address < base ? address + ((uint64_t)1 << 32) : address;
}

static void index_functions(struct swz_profile *profile)
{
	uint32_t owner = 0, module = SWZ_INDEX_NONE;
	bool known = false;
	size_t i;

	sort(profile->functions, profile->function_count,
	     sizeof(*profile->functions), compare_functions);
	count_duplicates(
		profile, &profile->function_count,
		drop_duplicates(profile->functions, profile->function_count,
				sizeof(*profile->functions), same_function));
	for (i = 0; i < profile->function_count; i++) {
		struct swz_profile_function *function = &profile->functions[i];

		if (!known || owner != function->module) {
			owner = function->module;
			module = find_module(profile, owner);
			known = true;
		}
		function->module = module;
		if (module != SWZ_INDEX_NONE)
			function->address = whole_address(
				&profile->modules[module].record,
				function->address);
	}
}

static void assign_names(struct scan *scan)
{
	struct swz_profile *profile = scan->profile;
	size_t i;

	for (i = 0; i < scan->name_count; i++) {
		uint32_t index = swz_profile_function_by_id(profile,
							    scan->names[i].id);

		if (index != SWZ_INDEX_NONE && scan->names[i].text[0])
			profile->functions[index].name = scan->names[i].text;
	}
	free(scan->names);
}

static void close_thread(const struct swz_profile *profile,
			 struct swz_profile_thread *thread)
{
	const struct swz_thread_record *record = &thread->record;
	uint64_t last = record->last_ticks;

	if (record->end_ticks) {
		if (record->end_ticks > last)
			last = record->end_ticks;
	} else if (profile->header.flags & SWZ_FILE_ENDED) {
		if (profile->header.end_ticks > last)
			last = profile->header.end_ticks;
	}
	if (last < record->start_ticks)
		last = record->start_ticks;
	if (last - record->start_ticks > MAX_TICKS)
		last = record->start_ticks;
	thread->last_ticks = last;
}

static void count_stray(struct swz_profile *profile,
			const struct swz_node_span *span)
{
	uint32_t i;

	for (i = 0; i < span->count; i++)
		if (swz_profile_node(profile, span->unit + i)->function !=
		    SWZ_FUNCTION_NONE)
			profile->damage.stray_nodes++;
}

static void count_folded(struct swz_profile *profile,
			 const struct swz_node_span *span)
{
	uint32_t i;

	for (i = 0; i < span->count; i++) {
		const struct swz_node *node = swz_profile_node(profile,
							       span->unit + i);

		if (node->function != SWZ_FUNCTION_NONE &&
		    node->open & SWZ_NODE_FOLDED)
			profile->folded_calls = swz_add_count(
				profile->folded_calls, node->calls);
	}
}

/* Both arrays are sorted by thread index: one merging pass. */
static void index_threads(struct swz_profile *profile)
{
	size_t span = 0;
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];

		close_thread(profile, thread);
		while (span < profile->span_count &&
		       profile->spans[span].owner < thread->index)
			count_stray(profile, &profile->spans[span++]);
		if (span < profile->span_count)
			thread->spans = &profile->spans[span];
		while (span < profile->span_count &&
		       profile->spans[span].owner == thread->index) {
			count_folded(profile, &profile->spans[span++]);
			thread->span_count++;
		}
	}
	while (span < profile->span_count)
		count_stray(profile, &profile->spans[span++]);
}

/* The same; what belongs to no thread is nothing worth saying. */
static void index_unwound(struct swz_profile *profile)
{
	size_t at = 0;
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];

		while (at < profile->unwound_count &&
		       profile->unwound[at].owner < thread->index)
			at++;
		if (at < profile->unwound_count)
			thread->unwound = &profile->unwound[at];
		while (at < profile->unwound_count &&
		       profile->unwound[at].owner == thread->index) {
			thread->unwound_count++;
			at++;
		}
	}
}

static void index_events(struct swz_profile *profile)
{
	size_t at = 0;
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];

		while (at < profile->event_chunk_count &&
		       profile->event_chunks[at].owner < thread->index)
			at++;
		if (at < profile->event_chunk_count)
			thread->event_chunks = &profile->event_chunks[at];
		while (at < profile->event_chunk_count &&
		       profile->event_chunks[at].owner == thread->index) {
			thread->event_chunk_count++;
			at++;
		}
	}
}

static bool usable_sample(const struct swz_clock_sample *sample)
{
	return sample->ticks != 0 && sample->monotonic_ns != 0;
}

static void calibrate(struct swz_profile *profile)
{
	const struct swz_clock_sample *clock = profile->header.clock;
	size_t i, j;

	profile->clock_ns = 1;
	profile->clock_ticks = 1;
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 3; j++) {
			uint64_t ticks, ns;

			if (!usable_sample(&clock[i]) ||
			    !usable_sample(&clock[j]) ||
			    clock[j].ticks <= clock[i].ticks ||
			    clock[j].monotonic_ns <= clock[i].monotonic_ns)
				continue;
			ticks = clock[j].ticks - clock[i].ticks;
			ns = clock[j].monotonic_ns - clock[i].monotonic_ns;
			if (ns / MAX_NS_PER_TICK > ticks ||
			    ticks / MAX_TICKS_PER_NS > ns)
				continue;
			if (profile->clock_known &&
			    ticks < profile->clock_ticks)
				continue;
			profile->clock_ticks = ticks;
			profile->clock_ns = ns;
			profile->clock_known = true;
		}
	}
}

static enum swz_status check_header(const uint8_t *bytes, size_t size,
				    struct swz_file_header *header,
				    struct swz_error *error)
{
	size_t magic = sizeof(header->magic);

	if (size == 0)
		return fail(error, SWZ_E_NOTFOUND, "the file is empty");
	if (size < magic || memcmp(bytes, SWZ_FILE_MAGIC, magic) != 0)
		return fail(error, SWZ_E_FORMAT, "not a swizzle profile");
	if (size < sizeof(*header))
		return fail(error, SWZ_E_FORMAT,
			    "cut off within its header (%zu bytes)", size);
	memcpy(header, bytes, sizeof(*header));
	if (header->byte_order != SWZ_FILE_BYTE_ORDER)
		return fail(error, SWZ_E_UNSUPPORTED,
			    "unknown byte order %#" PRIx32, header->byte_order);
	if (header->version != SWZ_FILE_VERSION)
		return fail(error, SWZ_E_UNSUPPORTED,
			    "file format version %" PRIu32
			    ", this program knows %u",
			    header->version, SWZ_FILE_VERSION);
	if (header->header_bytes != SWZ_HEADER_BYTES)
		return fail(error, SWZ_E_FORMAT,
			    "damaged header (its size is given as %" PRIu32 ")",
			    header->header_bytes);
	return SWZ_OK;
}

static void parse_body(struct swz_profile *profile)
{
	struct scan scan = {.profile = profile};

	profile->executable = "";
	profile->cwd = "";
	read_chunks(&scan);
	sort(profile->modules, profile->module_count, sizeof(*profile->modules),
	     compare_modules);
	count_duplicates(
		profile, &profile->module_count,
		drop_duplicates(profile->modules, profile->module_count,
				sizeof(*profile->modules), same_module));
	sort(profile->threads, profile->thread_count, sizeof(*profile->threads),
	     compare_threads);
	count_duplicates(
		profile, &profile->thread_count,
		drop_duplicates(profile->threads, profile->thread_count,
				sizeof(*profile->threads), same_thread));
	sort(profile->spans, profile->span_count, sizeof(*profile->spans),
	     compare_spans);
	sort(profile->unwound, profile->unwound_count,
	     sizeof(*profile->unwound), compare_unwound);
	sort(profile->event_chunks, profile->event_chunk_count,
	     sizeof(*profile->event_chunks), compare_event_chunks);
	index_functions(profile);
	assign_names(&scan);
	index_threads(profile);
	index_unwound(profile);
	index_events(profile);
	calibrate(profile);
}

/* Takes DATA over, and FD, from which events are read; -1: they are in DATA,
 * which malloc has made. AVAILABLE is the size of the file. */
static struct swz_profile *parse(const char *name, uint8_t *data, size_t size,
				 uint64_t available, int fd,
				 const struct swz_file_header *header)
{
	struct swz_profile *profile = swz_allocate(1, sizeof(*profile));

	profile->fd = fd;
	profile->mapped = fd >= 0;
	profile->name = swz_duplicate(name);
	profile->data = data;
	profile->size = size;
	profile->header = *header;
	if (header->used_bytes > available)
		profile->damage.missing_bytes = header->used_bytes - available;
	else if (header->used_bytes < SWZ_HEADER_BYTES)
		profile->damage.bad_chunks++;
	parse_body(profile);
	return profile;
}

enum swz_status swz_profile_parse(const char *name, const void *bytes,
				  size_t size, struct swz_profile **out,
				  struct swz_error *error)
{
	struct swz_file_header header = {0};
	enum swz_status status;
	size_t used = size;
	uint8_t *data;

	*out = NULL;
	status = check_header(bytes, size, &header, error);
	if (status != SWZ_OK)
		return status;
	if (header.used_bytes < used)
		used = (size_t)header.used_bytes;
	data = swz_allocate(used, 1);
	memcpy(data, bytes, used);
	*out = parse(name, data, used, size, -1, &header);
	return SWZ_OK;
}

/* Reads up to SIZE bytes; fewer only at the end of the file. */
static ssize_t read_fully(int fd, uint8_t *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, data + done, size - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

size_t swz_profile_bytes(const struct swz_profile *profile, uint64_t offset,
			 void *to, size_t size)
{
	ssize_t got;

	if (offset >= profile->size)
		return 0;
	if (size > profile->size - offset)
		size = (size_t)(profile->size - offset);
	if (profile->fd < 0) {
		memcpy(to, profile->data + offset, size);
		return size;
	}
	got = read_fully(profile->fd, to, size, offset);
	return got < 0 ? 0 : (size_t)got;
}

/* A file that is being loaded: what lies below `have` is in memory, or not
 * wanted. */
struct loading {
	int fd;
	uint8_t *data;
	uint64_t size; /* less, when the file turns out to be shorter */
	uint64_t have;
};

#define LOAD_AT_LEAST ((uint64_t)64 << 10)

static bool load(struct loading *from, uint64_t end)
{
	uint64_t size;
	ssize_t got;

	if (end <= from->have)
		return true;
	size = end - from->have;
	if (size < LOAD_AT_LEAST)
		size = LOAD_AT_LEAST;
	if (size > from->size - from->have)
		size = from->size - from->have;
	got = read_fully(from->fd, from->data + from->have, size, from->have);
	if (got < 0)
		return false;
	from->have += (uint64_t)got;
	if ((uint64_t)got < size)
		from->size = from->have;
	return true;
}

/* All but the events. */
static bool load_chunks(struct loading *from)
{
	uint64_t offset = SWZ_HEADER_BYTES;
	struct swz_chunk chunk;

	while (offset < from->size && from->size - offset >= sizeof(chunk)) {
		uint64_t left = from->size - offset;

		if (from->have < offset)
			from->have = offset;
		if (!load(from, offset + sizeof(chunk)))
			return false;
		memcpy(&chunk, from->data + offset, sizeof(chunk));
		if (!plausible_chunk(&chunk)) {
			offset += SWZ_UNIT_BYTES;
			continue;
		}
		if (chunk.bytes < left)
			left = chunk.bytes;
		if (chunk.type != SWZ_CHUNK_EVENTS &&
		    !load(from, offset + left))
			return false;
		offset += left;
	}
	return load(from, offset < from->size ? from->size : 0);
}

static enum swz_status read_open_file(int fd, const char *path,
				      struct swz_profile **out,
				      struct swz_error *error)
{
	uint8_t head[sizeof(struct swz_file_header)];
	struct swz_file_header header = {0};
	enum swz_status status;
	struct stat info;
	struct loading from = {.fd = fd};
	uint64_t size;
	ssize_t got;

	if (fstat(fd, &info) != 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	if (S_ISDIR(info.st_mode))
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(EISDIR));
	if (!S_ISREG(info.st_mode))
		return fail(error, SWZ_E_FORMAT, "not a regular file");
	got = read_fully(fd, head, sizeof(head), 0);
	if (got < 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	status = check_header(head, (size_t)got, &header, error);
	if (status != SWZ_OK)
		return status;
	size = (uint64_t)info.st_size;
	if (header.used_bytes < size)
		size = header.used_bytes;
	from.size = size;
	from.data = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (from.data == MAP_FAILED)
		return fail(error, SWZ_E_NOMEM,
			    "no memory for its %" PRIu64 " bytes", size);
	if (!load(&from, SWZ_HEADER_BYTES) || !load_chunks(&from)) {
		munmap(from.data, size);
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	}
	*out = parse(path, from.data, from.size, (uint64_t)info.st_size, fd,
		     &header);
	(*out)->mapped_bytes = size;
	return SWZ_OK;
}

enum swz_status swz_profile_read(const char *path, struct swz_profile **out,
				 struct swz_error *error)
{
	enum swz_status status;
	int fd;

	*out = NULL;
	/* O_NONBLOCK: do not wait for a writer where the path is a FIFO */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	if (swz_archive_begins(fd)) {
		int archive = fd;

		status = swz_archive_expand(archive, &fd, error);
		close(archive);
		if (status != SWZ_OK)
			return status;
	}
	status = read_open_file(fd, path, out, error);
	if (status != SWZ_OK)
		close(fd);
	return status;
}

void swz_profile_free(struct swz_profile *profile)
{
	if (!profile)
		return;
	free(profile->name);
	if (profile->mapped)
		munmap(profile->data,
		       profile->mapped_bytes ? profile->mapped_bytes : 1);
	else
		free(profile->data);
	if (profile->fd >= 0)
		close(profile->fd);
	free(profile->event_chunks);
	free(profile->arguments);
	free(profile->modules);
	free(profile->functions);
	free(profile->by_address);
	free(profile->threads);
	free(profile->spans);
	free(profile->unwound);
	free(profile);
}

bool swz_profile_damaged(const struct swz_profile *profile)
{
	const struct swz_damage *damage = &profile->damage;

	return damage->missing_bytes || damage->bad_chunks ||
	       damage->stray_nodes;
}

const struct swz_node *swz_profile_node(const struct swz_profile *profile,
					uint32_t unit)
{
	return (const struct swz_node *)(const void *)(profile->data +
						       (size_t)unit *
							       SWZ_UNIT_BYTES);
}

uint32_t swz_profile_function_by_id(const struct swz_profile *profile,
				    uint32_t id)
{
	const struct swz_profile_function *functions = profile->functions;
	size_t low = 0;
	size_t high = profile->function_count;

	/* ids are dense as a rule: try the place where it would be then */
	if (high && id >= functions[0].id && id - functions[0].id < high &&
	    functions[id - functions[0].id].id == id)
		return id - functions[0].id;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < profile->function_count && functions[low].id == id)
		return (uint32_t)low;
	return SWZ_INDEX_NONE;
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
	int order = compare(run_time_address(context, *a),
			    run_time_address(context, *b));

	return order ? order : compare(*a, *b);
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

uint64_t swz_profile_duration_ticks(const struct swz_profile *profile)
{
	uint64_t last = profile->header.start_ticks;
	size_t i;

	if (profile->header.flags & SWZ_FILE_ENDED &&
	    profile->header.end_ticks > last)
		last = profile->header.end_ticks;
	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].last_ticks > last)
			last = profile->threads[i].last_ticks;
	last -= profile->header.start_ticks;
	return last > MAX_TICKS ? 0 : last;
}

int64_t swz_profile_ns(const struct swz_profile *profile, int64_t ticks)
{
	return swz_scale(ticks, profile->clock_ns, profile->clock_ticks);
}

const char *swz_refusal_text(unsigned int reason)
{
	static const char *const texts[] = {
#define X(symbol, text) [symbol] = (text),
		SWZ_REFUSALS(X)
#undef X
	};

	if (reason < sizeof(texts) / sizeof(texts[0]) && texts[reason])
		return texts[reason];
	return "a reason unknown to this version";
}
