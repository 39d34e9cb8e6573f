/* A file is loaded (lookup.c), its records are collected (scan.c), then put in
 * order here. */

#include "profile/file/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/basics.h"
#include "profile/file/code_files.h"
#include "profile/file/inputs.h"
#include "profile/file/ranks.h"
#include "profile/file/records.h"
#include "profile/file/scan.h"
#include "profile/file/values.h"
#include "swizzle/format.h"
#include "util/memory.h"

/* --- putting records in order -------------------------------------------- */

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

/* Mostly they are in order already. */
static void sort(void *array, size_t count, size_t size,
		 int (*order)(const void *, const void *))
{
	const char *at = array;
	size_t i = 1;

	while (i < count && order(at + (i - 1) * size, at + i * size) <= 0)
		i++;
	if (i < count)
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
			module = swz_profile_module_by_index(profile, owner);
			known = true;
		}
		function->module = module;
		if (module != SWZ_INDEX_NONE)
			function->address = whole_address(
				&profile->modules[module].record,
				function->address);
	}
}

static void assign_names(struct swz_scan *scan)
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
	} else if (profile->header.end_ticks > last) {
		last = profile->header.end_ticks;
	}
	if (last < record->start_ticks)
		last = record->start_ticks;
	if (last - record->start_ticks > SWZ_MAX_TICKS)
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

/* True if its calls are those of a context further up. Long calls are where
 * their edge's others are. */
static bool is_folded_recursion(const struct swz_profile *profile,
				const struct swz_node *node, uint32_t unit)
{
	struct swz_node edge;

	if (!(profile->header.flags & SWZ_FILE_SAMPLED) ||
	    !(node->call_site & SWZ_CALL_SITE_LONG))
		return node->context != unit;
	return swz_profile_loaded(profile,
				  (uint64_t)node->context * SWZ_UNIT_BYTES,
				  &edge, sizeof(edge)) == sizeof(edge) &&
	       edge.context != node->context;
}

static void count_folded(struct swz_profile *profile,
			 const struct swz_node_span *span)
{
	uint32_t i;

	for (i = 0; i < span->count; i++) {
		const struct swz_node *node = swz_profile_node(profile,
							       span->unit + i);

		if (node->function == SWZ_FUNCTION_NONE)
			continue;
		/* counts never have a context: nothing was lost */
		if (profile->header.flags & SWZ_FILE_COUNTS)
			continue;
		if (node->open & SWZ_NODE_FOLDED)
			profile->folded_calls = swz_add_count(
				profile->folded_calls, node->calls);
		else if (is_folded_recursion(profile, node, span->unit + i))
			profile->folded_recursion = swz_add_count(
				profile->folded_recursion, node->calls);
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

/* A state that is read now from a file that is being written may say that more
 * is packed than when the pages were read, but not less. */
static void read_state(struct swz_profile *profile,
		       struct swz_event_chunk *events)
{
	const uint64_t body = events->offset + sizeof(struct swz_chunk);
	uint64_t room = events->bytes - sizeof(struct swz_chunk), state = 0;
	uint64_t first = 0;

	swz_profile_bytes(profile,
			  events->offset + offsetof(struct swz_chunk,
						    reserved[SWZ_PACKED_STATE]),
			  &state, sizeof(state));
	if (room > (uint32_t)state)
		room = (uint32_t)state;
	else if (room < (uint32_t)state)
		profile->damage.bad_chunks += !profile->damage.missing_bytes;
	swz_profile_bytes(profile,
			  events->offset + offsetof(struct swz_chunk,
						    reserved[SWZ_PACKED_FIRST]),
			  &first, sizeof(first));
	events->is_first = first == 1;
	events->number = state >> 32;
	events->bytes = 0;
	if (room < sizeof(events->ticks))
		return;
	swz_profile_bytes(profile, body, &events->ticks, sizeof(events->ticks));
	events->offset = body + sizeof(events->ticks);
	events->bytes = room - sizeof(events->ticks);
}

/* Leaves of a chunk of pages those that are not packed as well. */
static void trim(struct swz_profile *profile, struct swz_event_chunk *events,
		 uint64_t packed)
{
	uint64_t pages = events->kept ? events->kept - 1 : packed;

	pages = pages > events->number ? pages - events->number : 0;
	if (pages > events->bytes / SWZ_EVENT_PAGE)
		pages = events->bytes / SWZ_EVENT_PAGE;
	events->number += pages;
	events->is_first = !events->number;
	events->offset += pages * SWZ_EVENT_PAGE;
	events->bytes -= pages * SWZ_EVENT_PAGE;
	if (pages)
		events->first_event = 0;
	events->ticks = 0;
	if (events->bytes)
		swz_profile_loaded(profile,
				   events->offset + SWZ_EVENT_PAGE -
					   sizeof(events->ticks),
				   &events->ticks, sizeof(events->ticks));
}

/* By owner; then of each owner what is valid, by time. */
static void order_events(struct swz_profile *profile)
{
	struct swz_event_chunk *chunks = profile->event_chunks;
	size_t count = profile->event_chunk_count, kept = 0;
	size_t first, next, i;

	for (i = 0; i < count; i++)
		if (chunks[i].packed)
			read_state(profile, &chunks[i]);
	sort(chunks, count, sizeof(*chunks), compare_event_chunks);
	for (first = 0; first < count; first = next) {
		uint64_t packed = 0;

		for (next = first;
		     next < count && chunks[next].owner == chunks[first].owner;
		     next++)
			if (chunks[next].packed && chunks[next].number > packed)
				packed = chunks[next].number;
		for (i = first; i < next; i++) {
			if (!chunks[i].packed)
				trim(profile, &chunks[i], packed);
			if (chunks[i].bytes)
				chunks[kept++] = chunks[i];
		}
	}
	profile->event_chunk_count = kept;
	sort(chunks, kept, sizeof(*chunks), compare_event_chunks);
}

static int compare_by_call(const void *left, const void *right)
{
	const struct swz_event_chunk *a = left, *b = right;
	uint64_t one = a->call >> SWZ_CALL_NUMBER_SHIFT;
	uint64_t other = b->call >> SWZ_CALL_NUMBER_SHIFT;

	if (one != other)
		return one < other ? -1 : 1;
	return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

static int compare_kept_calls(const void *left, const void *right)
{
	const struct swz_kept_call *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The calls of --slow, each by the first of its chunks. */
static void collect_kept_calls(struct swz_profile *profile)
{
	const size_t count = profile->event_chunk_count;
	struct swz_event_chunk *chunks;
	uint64_t last = 0;
	size_t i;

	if (!(profile->header.flags & SWZ_FILE_SLOW) || !count)
		return;
	chunks = swz_allocate(count, sizeof(*chunks));
	memcpy(chunks, profile->event_chunks, count * sizeof(*chunks));
	sort(chunks, count, sizeof(*chunks), compare_by_call);
	profile->kept_calls = swz_allocate(count, sizeof(*profile->kept_calls));
	for (i = 0; i < count; i++) {
		uint64_t state = chunks[i].call &
				 (SWZ_CALL_CUT | SWZ_CALL_STATE_MASK);
		uint64_t number = chunks[i].call >> SWZ_CALL_NUMBER_SHIFT;

		/* a page without a time was not begun */
		if (number == last || !chunks[i].ticks)
			continue;
		last = number;
		profile->kept_calls[profile->kept_call_count++] =
			(struct swz_kept_call){
				.number = number,
				.owner = chunks[i].owner,
				.rule = chunks[i].call >> SWZ_CALL_RULE_SHIFT &
					0xff,
				.state = (enum swz_call_state)(
					state & SWZ_CALL_STATE_MASK),
				.cut = state & SWZ_CALL_CUT,
				.from = chunks[i].ticks,
				.ticks = state & SWZ_CALL_STATE_MASK
						 ? chunks[i].call_ticks
						 : 0,
			};
	}
	free(chunks);
	sort(profile->kept_calls, profile->kept_call_count,
	     sizeof(*profile->kept_calls), compare_kept_calls);
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

static int compare_value_chunks(const void *left, const void *right)
{
	const struct swz_value_chunk *a = left, *b = right;
	int order = compare(a->owner, b->owner);

	if (!order)
		order = compare(a->number, b->number);
	return order ? order : compare(a->offset, b->offset);
}

static void index_values(struct swz_profile *profile)
{
	size_t at = 0;
	size_t i;

	sort(profile->value_chunks, profile->value_chunk_count,
	     sizeof(*profile->value_chunks), compare_value_chunks);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];

		while (at < profile->value_chunk_count &&
		       profile->value_chunks[at].owner < thread->index)
			at++;
		if (at < profile->value_chunk_count)
			thread->value_chunks = &profile->value_chunks[at];
		while (at < profile->value_chunk_count &&
		       profile->value_chunks[at].owner == thread->index) {
			thread->value_chunk_count++;
			at++;
		}
	}
}

static int compare_times(const void *left, const void *right)
{
	const struct swz_profile_times *a = left, *b = right;
	int order = compare(a->owner, b->owner);

	if (!order)
		order = compare(a->function, b->function);
	return order ? order : compare(a->bucket, b->bucket);
}

static void index_times(struct swz_profile *profile)
{
	size_t at = 0;
	size_t i;

	sort(profile->times, profile->times_count, sizeof(*profile->times),
	     compare_times);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];

		while (at < profile->times_count &&
		       profile->times[at].owner < thread->index)
			at++;
		if (at < profile->times_count)
			thread->times = &profile->times[at];
		while (at < profile->times_count &&
		       profile->times[at].owner == thread->index) {
			thread->times_count++;
			at++;
		}
	}
}

/* The thread that plans in a process that is attached to has a record, like
 * each that begins a profile. It runs none of the program's functions. */
static bool is_own_thread(const struct swz_profile_thread *thread)
{
	return strcmp(thread->name, SWZ_OWN_THREAD_NAME) == 0 &&
	       thread->last_ticks <= thread->record.start_ticks;
}

static void drop_own_threads(struct swz_profile *profile)
{
	size_t kept = 0;

	for (size_t i = 0; i < profile->thread_count; i++)
		if (!is_own_thread(&profile->threads[i]))
			profile->threads[kept++] = profile->threads[i];
	if (kept) /* (nothing was called: it has what there is) */
		profile->thread_count = kept;
}

/* Sorts the records, drops those that are there twice, gives each thread its
 * nodes and events, and each function its module and name. */
static void profile_index(struct swz_scan *scan)
{
	struct swz_profile *profile = scan->profile;

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
	sort(profile->unwound, profile->unwound_count,
	     sizeof(*profile->unwound), compare_unwound);
	order_events(profile);
	index_functions(profile);
	assign_names(scan);
	swz_counts_index(scan);
	sort(profile->spans, profile->span_count, sizeof(*profile->spans),
	     compare_spans);
	swz_embedded_index(profile);
	index_threads(profile);
	index_unwound(profile);
	index_times(profile);
	swz_switches_index(profile);
	swz_marks_index(profile);
	index_events(profile);
	collect_kept_calls(profile);
	index_values(profile);
	swz_signatures_index(profile);
	swz_summaries_index(profile);
	drop_own_threads(profile);
	swz_ranks_index(scan);
}

/* --- opening a file ------------------------------------------------------ */

/* The file is loaded, scan.c collects its records, and profile_index() puts
 * them in order. lookup.c answers what is asked of them. */

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
	/* it is just being cut, or was when the process was killed */
	header->used_bytes &= ~SWZ_USED_CLOSED;
	if (header->byte_order != SWZ_FILE_BYTE_ORDER)
		return fail(error, SWZ_E_UNSUPPORTED,
			    "unknown byte order %#" PRIx32, header->byte_order);
	if (header->version != SWZ_FILE_VERSION)
		return fail(error, SWZ_E_UNSUPPORTED,
			    header->version < SWZ_FILE_VERSION
				    ? "recorded by an older swizzle (file "
				      "format %" PRIu32 ", this one reads "
				      "%u): record it again"
				    : "recorded by a newer swizzle (file "
				      "format %" PRIu32 ", this one reads "
				      "%u): use the swizzle-dump of that one",
			    header->version, SWZ_FILE_VERSION);
	if (header->header_bytes != SWZ_HEADER_BYTES)
		return fail(error, SWZ_E_FORMAT,
			    "damaged header (its size is given as %" PRIu32 ")",
			    header->header_bytes);
	return SWZ_OK;
}

/* Takes DATA over, and FD, from which events are read; -1: they are in DATA,
 * which malloc has made. AVAILABLE is the size of the file. */
static struct swz_profile *begin(const char *name, uint8_t *data, size_t size,
				 uint64_t available, int fd,
				 const struct swz_file_header *header)
{
	struct swz_profile *profile = swz_allocate(1, sizeof(*profile));

	profile->fd = fd;
	profile->mapped = fd >= 0;
	profile->mapped_bytes = profile->mapped ? size : 0;
	profile->name = swz_duplicate(name);
	profile->data = data;
	profile->size = size;
	profile->header = *header;
	profile->executable = "";
	profile->cwd = "";
	if (header->used_bytes > available)
		profile->damage.missing_bytes = header->used_bytes - available;
	else if (header->used_bytes < SWZ_HEADER_BYTES)
		profile->damage.bad_chunks++;
	return profile;
}

/* FROM: as swz_scan has it. OWNER: of the file; NULL: there is none. */
static enum swz_status parse(struct swz_profile *profile,
			     struct swz_loading *from, const uid_t *owner,
			     struct swz_error *error)
{
	struct swz_scan scan = {.profile = profile, .from = from};
	bool loaded = swz_scan_chunks(&scan);

	if (!loaded)
		(void)fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	swz_profile_calibrate(profile);
	swz_run_time_code_index(&scan, owner);
	profile_index(&scan);
	return loaded ? SWZ_OK : SWZ_E_SYSTEM;
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
	*out = begin(name, data, used, size, -1, &header);
	return parse(*out, NULL, NULL, error);
}

static enum swz_status read_open_file(int fd, const char *path,
				      struct swz_profile **out,
				      struct swz_error *error)
{
	uint8_t head[sizeof(struct swz_file_header)];
	struct swz_file_header header = {0};
	enum swz_status status;
	struct stat info;
	struct swz_loading from = {.fd = fd};
	struct swz_profile *profile;
	uint64_t size;
	ssize_t got;
	bool written;

	if (fstat(fd, &info) != 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	if (S_ISDIR(info.st_mode))
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(EISDIR));
	if (!S_ISREG(info.st_mode))
		return fail(error, SWZ_E_FORMAT, "not a regular file");
	got = swz_read_fully(fd, head, sizeof(head), 0);
	if (got < 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	status = check_header(head, (size_t)got, &header, error);
	if (status != SWZ_OK)
		return status;
	written = swz_has_writer(fd, &header);
	size = (uint64_t)info.st_size;
	if (header.used_bytes < size)
		size = header.used_bytes;
	from.size = size;
	from.data = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (from.data == MAP_FAILED)
		return fail(error, SWZ_E_NOMEM,
			    "no memory for its %" PRIu64 " bytes", size);
	/* a trace has holes where its events are */
	if (!(header.flags & SWZ_FILE_TRACED))
		swz_use_large_pages(from.data, size);
	profile = begin(path, from.data, size, (uint64_t)info.st_size, fd,
			&header);
	profile->written = written && !profile->header.snapshot_ticks;
	status = parse(profile, &from, &info.st_uid, error);
	if (status != SWZ_OK) {
		profile->fd = -1; /* the caller's to close */
		swz_profile_free(profile);
		return status;
	}
	/* a directory may hold more profiles than files may be open */
	if (!from.partial && swz_load(&from, from.size)) {
		close(fd);
		profile->fd = -1;
	}
	*out = profile;
	return status;
}

enum swz_status swz_profile_read(const char *path, struct swz_profile **out,
				 struct swz_error *error)
{
	enum swz_status status;
	bool archived;
	int fd;

	*out = NULL;
	/* O_NONBLOCK: do not wait for a writer where the path is a FIFO */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	archived = swz_archive_begins(fd);
	if (archived) {
		int archive = fd;

		status = swz_archive_expand(archive, &fd, error);
		close(archive);
		if (status != SWZ_OK)
			return status;
	}
	status = read_open_file(fd, path, out, error);
	if (status != SWZ_OK)
		close(fd);
	else if (*out)
		(*out)->archived = archived;
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
	free(profile->slow_rules);
	free(profile->kept_calls);
	free(profile->arguments);
	free(profile->labels);
	free(profile->sources);
	swz_ranks_free(profile);
	free(profile->modules);
	free(profile->functions);
	free(profile->by_address);
	free(profile->threads);
	free(profile->spans);
	free(profile->made_nodes);
	free(profile->first_calls);
	free(profile->unwound);
	free(profile->switches);
	free(profile->looks);
	free(profile->times);
	free(profile->sample_chunks);
	free(profile->marks);
	free(profile->value_chunks);
	swz_signatures_free(profile);
	swz_summaries_free(profile);
	free(profile->symbols);
	free(profile->lines);
	free(profile->added);
	swz_run_time_code_free(profile);
	free(profile);
}

bool swz_profile_damaged(const struct swz_profile *profile)
{
	const struct swz_damage *damage = &profile->damage;

	return damage->missing_bytes || damage->bad_chunks ||
	       damage->stray_nodes;
}
