/* libFuzzer target: the events of a thread, two pages of them and a packed
 * stream, through the iterator, what sums them up, and the formats that show
 * them. Build with
 *   clang -fsanitize=fuzzer,address,undefined
 * What the iterator promises is checked: nesting, order, an end for all. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/report.h"
#include "profile/file/events.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/formats.h"
#include "tests/unit/profile_builder.h"

#define NODES 8u
#define MOST ((size_t)500)

static FILE *sink;

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check(const struct swz_profile *profile, bool hidden,
		  const struct swz_range *range)
{
	const struct swz_profile_thread *thread = &profile->threads[0];
	struct swz_events *events = swz_events_open(profile, thread);
	static uint32_t stack[4 * MOST];
	uint64_t last = 0;
	struct swz_event event;
	size_t depth = 0;

	if (hidden)
		swz_events_show_hidden(events);
	if (range)
		swz_events_limit(events, range->from, range->to);
	while (swz_events_next(events, &event)) {
		require(event.ticks >= last && event.ticks <= 5000);
		require(!range || (event.ticks >= range->from &&
				   event.ticks <= range->to));
		last = event.ticks;
		if (event.begins) {
			require(event.depth == depth);
			require(depth < sizeof(stack) / sizeof(*stack));
			stack[depth++] = event.node;
		} else {
			require(depth && stack[--depth] == event.node);
			require(event.depth == depth);
		}
	}
	require(depth == 0);
	swz_events_close(events);
}

/* As --follow reads a trace that grows: nothing is later than was asked for,
 * and what has been read is not read again. */
static void check_growing(const struct swz_profile *profile)
{
	static const uint64_t until[] = {1500, 2500, 2500, UINT64_MAX,
					 UINT64_MAX};
	const size_t steps = sizeof(until) / sizeof(until[0]);
	struct swz_events_place place = {0};
	struct swz_event_word word;
	size_t i, count = 0;

	for (i = 0; i < steps; i++) {
		struct swz_new_events *events = swz_new_events_open(
			profile, &profile->threads[0], &place, until[i]);

		for (count = 0; swz_new_events_next(events, &word); count++)
			require(word.ticks <= until[i]);
		swz_new_events_close(events);
	}
	/* (an event that is there twice may be taken for the later one) */
	require(count <= 3 * MOST);
}

/* Without the picture, for which another program would be run. */
static void collect_rings(struct swz_trace *trace)
{
	static const enum swz_rings_clock clocks[] = {SWZ_RINGS_TIME,
						      SWZ_RINGS_CALLS};
	struct swz_rings_options options = {.rows = 3};
	struct swz_rings rings;

	trace->rings = &options;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		options.clock = clocks[i];
		options.paths = i ? SWZ_RINGS_ARGUMENTS : SWZ_RINGS_CALLEES;
		swz_rings_collect(&rings, sink, trace);
		swz_rings_free(&rings);
	}
	trace->rings = NULL;
}

static void write_all(struct swz_profile *profile, const struct swz_view *view,
		      const struct swz_range *range)
{
	static const struct swz_catalog_options options = {.quiet = true};
	static const struct swz_thread_choice all = {0};
	struct swz_calls_options calls = {.at_ticks = 2000, .rows = 3};
	const struct swz_format *format;
	struct swz_catalog catalog;
	struct swz_binding binding;
	struct swz_trace trace = {.catalog = &catalog,
				  .bindings = &binding,
				  .count = 1,
				  .calls = &calls,
				  .view = view,
				  .threads = &all,
				  .range = *range,
				  .origin = swz_profile_origin(profile)};
	size_t at;

	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_view_prepare(&binding, &profile->threads[0]);
	swz_catalog_resolve(&catalog);
	for (at = 0; (format = swz_format_at(at)); at++)
		if (format->events && format->events != swz_write_rings)
			format->events(sink, &trace);
	calls.at = true;
	swz_write_calls(sink, &trace);
	calls.at = false;
	swz_patterns_add(&calls.of, "*");
	swz_write_calls(sink, &trace);
	swz_patterns_free(&calls.of);
	calls.blame = true;
	swz_write_calls(sink, &trace);
	calls.blame = false;
	swz_patterns_add(&calls.of, "*");
	for (at = 0; at < 4; at++) {
		calls.why = true;
		calls.json = at % 2;
		calls.nth = at / 2 + 1;
		swz_write_calls(sink, &trace);
		free(trace.failure);
		trace.failure = NULL;
	}
	swz_patterns_free(&calls.of);
	collect_rings(&trace);
	swz_event_choice_free(&trace.choice);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
}

static struct swz_chunk *add_chunk(struct profile_builder *builder,
				   uint32_t type, const void *body, size_t size)
{
	size_t offset = builder_chunk(builder, type, NODES, 0, size);
	struct swz_chunk *chunk = (void *)(builder->data + offset);

	if (size)
		memcpy(chunk + 1, body, size);
	return chunk;
}

#define PARTS 8u
#define TYPES 8u
#define MEMBERS 8u
#define TEXT 16u

/* What is recorded of all functions, whatever the bytes say of it; and values
 * of the events. */
static void add_values(struct profile_builder *builder, const uint8_t *data,
		       size_t size, const uint64_t *events, size_t count)
{
	struct {
		struct swz_signature signatures[NODES];
		struct swz_value_part parts[PARTS];
		struct swz_value_type types[TYPES];
		struct swz_value_member members[MEMBERS];
		char text[TEXT];
	} said = {0};
	struct {
		struct swz_value_record record;
		uint8_t bytes[48];
	} values[MOST] = {0};
	struct swz_chunk *chunk;
	size_t i;

	memcpy(said.parts, data,
	       size < sizeof(said) - sizeof(said.signatures)
		       ? size
		       : sizeof(said) - sizeof(said.signatures));
	said.text[0] = said.text[TEXT - 1] = 0;
	for (i = 0; i < NODES; i++)
		said.signatures[i] = (struct swz_signature){
			(uint32_t)i, 0, PARTS / 2, PARTS / 2, 0};
	for (i = 0; i < PARTS; i++) {
		said.parts[i].kind %= SWZ_PART_KEEP + 1;
		said.parts[i].type %= TYPES;
		said.parts[i].bytes %= 40;
	}
	for (i = 0; i < TYPES; i++) {
		said.types[i].kind %= SWZ_TYPE_VARIANT + 2;
		said.types[i].of %= TYPES + 1;
		said.types[i].first %= MEMBERS;
		said.types[i].members %= (uint16_t)(MEMBERS + 1 -
						    said.types[i].first);
	}
	for (i = 0; i < MEMBERS; i++)
		said.members[i].type %= TYPES;
	chunk = add_chunk(builder, SWZ_CHUNK_SIGNATURES, &said, sizeof(said));
	chunk->reserved[SWZ_SIGNATURES_PARTS] = PARTS;
	chunk->reserved[SWZ_SIGNATURES_TYPES] = TYPES;
	chunk->reserved[SWZ_SIGNATURES_MEMBERS] = MEMBERS;
	chunk->reserved[SWZ_SIGNATURES_TEXT] = TEXT;
	for (i = 0; i < MOST && i < count; i++) {
		size_t from = i < size ? i : size;
		size_t bytes = size - from < 48 ? size - from : 48;

		values[i].record = (struct swz_value_record){
			.node = (uint32_t)(events[i] >> SWZ_EVENT_NODE_SHIFT),
			.bytes = sizeof(values[i]),
			.kind = events[i] & SWZ_EVENT_KIND_MASK ? 2 : 1,
			.whole = 1,
			.ticks = 1000 +
				 ((uint32_t)events[i] >> SWZ_EVENT_TICKS_SHIFT),
		};
		memcpy(values[i].bytes, data + from, bytes);
	}
	add_chunk(builder, SWZ_CHUNK_VALUES, values, sizeof(values));
	/* and what may be anything */
	add_chunk(builder, SWZ_CHUNK_VALUES, data, size);
	add_chunk(builder, SWZ_CHUNK_SIGNATURES, data, size);
}

/* --slow: rules, of which the bytes say what they like, and the calls that the
 * chunks are of. */
static void add_slow_calls(struct profile_builder *builder, const uint8_t *data,
			   size_t size, struct swz_chunk *events)
{
	struct swz_slow_record rule = {0};
	size_t i;

	for (i = 0; i < 3 && events; i++)
		events->reserved[i + SWZ_CALL_STATE] =
			i < size ? (uint64_t)data[i] << (8 * (data[i] % 7)) : 0;
	memcpy(&rule, data, size < sizeof(rule) ? size : sizeof(rule));
	memcpy(rule.pattern, "*", 2);
	add_chunk(builder, SWZ_CHUNK_SLOW, &rule, sizeof(rule));
	add_chunk(builder, SWZ_CHUNK_SLOW, data, size);
	builder_header(builder)->flags |= SWZ_FILE_SLOW;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct swz_range range = {1500, 2500};
	const struct swz_view whole = {0};
	struct swz_view part = {0};
	struct profile_builder builder;
	struct swz_profile *profile;
	struct swz_tree tree;
	const uint8_t *stream = data;
	size_t length = size;
	uint64_t events[2 * MOST];
	size_t count = 0, i;
	uint32_t root;

	if (!sink)
		sink = fopen("/dev/null", "w");
	builder_begin(&builder);
	builder_header(&builder)->flags |= SWZ_FILE_TRACED;
	builder_module(&builder, 0, "/bin/prog", 0x400000, 1, NODES);
	root = builder_thread(&builder, 0, 100, "main", 5000, NODES);
	for (i = 1; i < NODES - 1; i++)
		builder_call(&builder, root + (uint32_t)i,
			     root + (uint32_t)(i > 4 ? 1 : i - 1),
			     root + (uint32_t)i, (uint32_t)i, 0x401000 + 16 * i,
			     1, 10, 10);
	/* a function of which the file says nothing */
	builder_node(&builder, root + 6)->function = 1000;
	builder_node(&builder, root + 3)->open |= SWZ_NODE_HIDDEN;
	/* three bytes are an event: what happens, of which node (one too many),
	 * and how much later (or, rarely, sooner); 0xff: as it stands */
	while (size >= 3 && count < 2 * MOST) {
		uint64_t kind = data[0] & 7, node = root + (data[0] >> 4);
		uint64_t ticks = (uint64_t)data[1] * 8 + (data[2] & 31);

		events[count] = node << SWZ_EVENT_NODE_SHIFT |
				(count * 4 + ticks) << SWZ_EVENT_TICKS_SHIFT |
				kind;
		if (data[0] == 0xff && size >= 9) {
			memcpy(&events[count], data + 1, 8);
			data += 6;
			size -= 6;
		}
		count++;
		data += 3;
		size -= 3;
	}
	builder_events(&builder, 0, 1000, events, count < MOST ? count : MOST);
	if (count > MOST)
		builder_events(&builder, 0, 2000, events + MOST, count - MOST);
	/* (what was added may have moved) */
	if (length % 3 == 1)
		add_slow_calls(&builder, stream, length,
			       builder_events(&builder, 0, 1200, events,
					      count < MOST ? count : MOST));
	add_values(&builder, stream, length, events, count);
	/* and as a packed stream, whatever it says then */
	if (length > MOST)
		length = MOST;
	builder_packed(&builder, 0, 3000, stream, length);
	profile = builder_read(&builder);
	check(profile, true, NULL);
	check(profile, false, NULL);
	check(profile, true, &range);
	check_growing(profile);
	swz_tree_build_range(&tree, profile, &profile->threads[0], true,
			     &range);
	require(tree.total_ticks >= 0);
	swz_tree_free(&tree);
	write_all(profile, &whole, &range);
	swz_patterns_add(&part.hidden, "*2?");
	swz_patterns_add(&part.without, "*4?");
	write_all(profile, &part, &range);
	swz_view_free(&part);
	swz_profile_free(profile);
	builder_free(&builder);
	return 0;
}
