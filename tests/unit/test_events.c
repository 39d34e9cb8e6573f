#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/call_tree.h"
#include "profile/file/events.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

static struct profile_builder builder;
static uint32_t root; /* nodes: root + 1: main, + 2: called by it, + 3: by that
		       */

static void begin(uint64_t last_ticks)
{
	builder_begin(&builder);
	builder_module(&builder, 0, "/bin/prog", 0x400000, 1, 4);
	root = builder_thread(&builder, 0, 100, "main", last_ticks, 6);
	builder_call(&builder, root + 1, root, root + 1, 1, 0x400050, 1, 1500,
		     1500);
	builder_call(&builder, root + 2, root + 1, root + 2, 2, 0x401010, 2,
		     900, 900);
	builder_call(&builder, root + 3, root + 2, root + 3, 3, 0x401110, 3,
		     600, 600);
	builder_header(&builder)->flags |= SWZ_FILE_TRACED;
}

static void setup(void)
{
	begin(3000);
}

static void teardown(void)
{
	builder_free(&builder);
}

/* An event of a page of the time 1000. */
static uint64_t at(uint64_t ticks, enum swz_event_kind kind, unsigned node)
{
	return (uint64_t)(root + node) << SWZ_EVENT_NODE_SHIFT |
	       (ticks - 1000) << SWZ_EVENT_TICKS_SHIFT | kind;
}

/* What an iteration says, as text: B or E, node, time, and a letter for how it
 * ends (' returns, u unwinds, s skipped, p suspended), c where it is made up.
 * The node of time without events is N; x: an end since the trace has stopped.
 */
static char *said(uint64_t from, uint64_t to)
{
	static char text[4096];
	struct swz_profile *profile = builder_read(&builder);
	struct swz_events *events = swz_events_open(profile,
						    &profile->threads[0]);
	struct swz_event event;
	size_t used = 0;
	char node[16];

	text[0] = '\0';
	if (to)
		swz_events_limit(events, from, to);
	while (swz_events_next(events, &event)) {
		snprintf(node, sizeof(node), "%u",
			 (unsigned)(event.node - root));
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%c%s@%d%s%s%s",
			used ? " " : "", event.begins ? 'B' : 'E',
			event.untraced ? "N" : node, (int)event.ticks,
			event.how == SWZ_EVENT_UNWIND    ? "u"
			: event.how == SWZ_EVENT_SKIP    ? "s"
			: event.how == SWZ_EVENT_SUSPEND ? "p"
			: event.how == SWZ_EVENT_RESUME  ? "r"
			: event.how == SWZ_EVENT_JUMP    ? "j"
							 : "",
			event.cut ? "c" : "", event.stopped ? "x" : "");
		ck_assert(used < sizeof(text));
	}
	ck_assert(!swz_events_next(events, &event));
	swz_events_close(events);
	swz_profile_free(profile);
	return text;
}

static void add(const uint64_t *events, size_t count)
{
	builder_events(&builder, 0, 1000, events, count);
}

#define ADD(...) \
	do { \
		const uint64_t list_[] = {__VA_ARGS__}; \
		add(list_, sizeof(list_) / sizeof(*list_)); \
	} while (0)

START_TEST(nested_calls)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2),
	    at(1300, SWZ_EVENT_RETURN, 2), at(1300, SWZ_EVENT_ENTER, 2),
	    at(1400, SWZ_EVENT_UNWIND, 2), at(1500, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@1300 B2@1300 "
				     "E2@1400u E1@1500");
}
END_TEST

START_TEST(places_that_were_never_filled_are_skipped)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), 0, 0, at(1500, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100 E1@1500");
}
END_TEST

START_TEST(what_is_open_ends_at_the_last_moment)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2));
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@3000pc E1@3000pc");
}
END_TEST

START_TEST(an_end_ends_what_was_torn_off_above_it)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2),
	    at(1300, SWZ_EVENT_ENTER, 3), at(1400, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 B3@1300 E3@1400c "
				     "E2@1400c E1@1400");
}
END_TEST

START_TEST(an_end_without_a_begin_is_ignored)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_RETURN, 3),
	    at(1300, SWZ_EVENT_RETURN, 1), at(1400, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100 E1@1300");
}
END_TEST

START_TEST(a_call_without_a_time)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_JUMP, 2),
	    at(1300, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200j E2@1200 E1@1300");
}
END_TEST

START_TEST(times_do_not_go_back)
{
	ADD(at(1200, SWZ_EVENT_ENTER, 1), at(1100, SWZ_EVENT_ENTER, 2),
	    at(1150, SWZ_EVENT_RETURN, 2), at(1300, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1200 B2@1200 E2@1200 E1@1300");
}
END_TEST

START_TEST(nodes_of_others_are_left_out)
{
	uint32_t other = builder_thread(&builder, 1, 101, "worker", 2500, 3);

	builder_call(&builder, other + 1, other, other + 1, 3, 0x400050, 1, 0,
		     0);
	ADD(at(1100, SWZ_EVENT_ENTER, 1),
	    at(1200, SWZ_EVENT_ENTER, other + 1 - root),
	    at(1200, SWZ_EVENT_ENTER, 5), /* an unused slot */
	    at(1200, SWZ_EVENT_ENTER, 0), /* the root */
	    at(1200, 7, 1), at(1300, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100 E1@1300");
}
END_TEST

START_TEST(chunks_in_the_order_of_their_times)
{
	const uint64_t later = at(1000, SWZ_EVENT_RETURN, 1);
	const uint64_t sooner = at(1100, SWZ_EVENT_ENTER, 1);

	builder_events(&builder, 0, 2000, &later, 1);
	builder_events(&builder, 0, 1000, &sooner, 1);
	ck_assert_str_eq(said(0, 0), "B1@1100 E1@2000");
}
END_TEST

START_TEST(a_ring_has_lost_the_first_begins)
{
	ADD(at(1100, SWZ_EVENT_RETURN, 3), at(1200, SWZ_EVENT_RETURN, 2),
	    at(1300, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100c B2@1100c B3@1100c E3@1100 "
				     "E2@1200 E1@1300");
	ck_assert_str_eq(said(1010, 1050), "");
}
END_TEST

START_TEST(a_range_of_time)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2),
	    at(1300, SWZ_EVENT_RETURN, 2), at(1400, SWZ_EVENT_ENTER, 2),
	    at(1500, SWZ_EVENT_RETURN, 2), at(1600, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(1250, 1450), "B1@1250c B2@1250c E2@1300 B2@1400 "
					   "E2@1450pc E1@1450pc");
	ck_assert_str_eq(said(1300, 1400), "B1@1300c B2@1300c E2@1300 "
					   "E1@1400pc");
	ck_assert_str_eq(said(1700, 1800), "");
	ck_assert_str_eq(said(0, 1100), "");
	ck_assert_str_eq(said(0, 1101), "B1@1100 E1@1101pc");
}
END_TEST

/* It stopped for want of room: what was open is known up to the last event. */
START_TEST(what_had_no_room_is_not_traced)
{
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2));
	builder_thread_record(&builder, 0)->untraced = 5;
	builder_thread_record(&builder, 0)->untraced_from = 1210;
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@1200pcx E1@1200pcx "
				     "BN@1200rc EN@3000pc");
	ck_assert_str_eq(said(1150, 2000),
			 "B1@1150c B2@1200 E2@1200pcx E1@1200pcx "
			 "BN@1200rc EN@2000pc");
	ck_assert_str_eq(said(1100, 1200), "B1@1100 E1@1200pcx");
	ck_assert_str_eq(said(2000, 2500), "BN@2000rc EN@2500pc");
	/* events that would have had room were none */
	builder_thread_record(&builder, 0)->untraced = 0;
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@3000pc E1@3000pc");
}
END_TEST

START_TEST(a_thread_without_room_at_all)
{
	builder_thread_record(&builder, 0)->untraced = 5;
	builder_thread_record(&builder, 0)->untraced_from = 1000;
	ck_assert_str_eq(said(0, 0), "BN@1000rc EN@3000pc");
}
END_TEST

/* Of a ring the first page says whether it is the first there ever was. */
START_TEST(what_was_overwritten_is_not_traced)
{
	const uint64_t list[] = {at(1300, SWZ_EVENT_RETURN, 2),
				 at(1400, SWZ_EVENT_RETURN, 1)};
	size_t size;

	builder_header(&builder)->flags |= SWZ_FILE_RING;
	/* all of them */
	ck_assert_str_eq(said(0, 0), "BN@1000rc EN@3000pc");
	size = builder.size;
	builder_events(&builder, 0, 1000, list, 2)->reserved[SWZ_EVENTS_FIRST] =
		3;
	ck_assert_str_eq(said(0, 0),
			 "BN@1000rc EN@1300pc B1@1300c B2@1300c E2@1300 "
			 "E1@1400");
	ck_assert_str_eq(said(1100, 1350),
			 "BN@1100rc EN@1300pc B1@1300c B2@1300c E2@1300 "
			 "E1@1350pc");
	ck_assert_str_eq(said(1100, 1200), "BN@1100rc EN@1200pc");
	builder.size = size;
	builder_events(&builder, 0, 1000, list, 2);
	ck_assert_str_eq(said(0, 0), "B1@1300c B2@1300c E2@1300 E1@1400");
}
END_TEST

START_TEST(hidden_activations)
{
	builder_node(&builder, root + 2)->open |= SWZ_NODE_HIDDEN;
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2),
	    at(1300, SWZ_EVENT_ENTER, 3), at(1400, SWZ_EVENT_RETURN, 3),
	    at(1500, SWZ_EVENT_RETURN, 2), at(1600, SWZ_EVENT_RETURN, 1));
	ck_assert_str_eq(said(0, 0), "B1@1100 B3@1300 E3@1400 E1@1600");
}
END_TEST

START_TEST(a_page_without_a_time_is_empty)
{
	const uint64_t event = at(1100, SWZ_EVENT_ENTER, 1);

	builder_events(&builder, 0, 0, &event, 1);
	ck_assert_str_eq(said(0, 0), "");
}
END_TEST

/* ---- packed ---- */

static uint8_t stream[256];
static size_t length;

static void put(uint64_t value, size_t size)
{
	ck_assert(length + size <= sizeof(stream));
	memcpy(stream + length, &value, size);
	length += size;
}

static void spell(uint16_t since, enum swz_event_kind kind, unsigned node)
{
	put(SWZ_PACKED_SPELLED, 1);
	put(since, 2);
	put(root + node, 4);
	put(0xa0 | kind, 1); /* five bits without a meaning */
}

/* What is expected. */
static void repeat(uint16_t since)
{
	if (since > SWZ_PACKED_MOST)
		put(SWZ_PACKED_EXPECTED, 1);
	put(since, since > SWZ_PACKED_MOST ? 2 : 1);
}

/* From what was entered last. */
static void come_back(uint16_t since)
{
	put(SWZ_PACKED_RETURN, 1);
	put(since, 2);
}

static void far_away(int64_t since)
{
	put(SWZ_PACKED_FAR, 1);
	put((uint64_t)since, 8);
}

static struct swz_chunk *add_packed(uint64_t ticks)
{
	struct swz_chunk *chunk = builder_packed(&builder, 0, ticks, stream,
						 length);

	length = 0;
	return chunk;
}

START_TEST(packed_events)
{
	spell(100, SWZ_EVENT_ENTER, 1);
	spell(100, SWZ_EVENT_ENTER, 2);
	spell(0, SWZ_EVENT_UNWIND, 2);
	spell(10, SWZ_EVENT_ENTER, 2);
	spell(10, SWZ_EVENT_UNWIND, 2);
	spell(10, SWZ_EVENT_ENTER, 2);
	spell(10, SWZ_EVENT_UNWIND, 2); /* the fourth that is as before */
	repeat(20);                     /* enters 2 */
	repeat(251); /* unwinds 2, at the place of two before */
	repeat(252);
	come_back(40);
	spell(0, SWZ_EVENT_RETURN, 1);
	add_packed(1000);
	ck_assert_str_eq(said(0, 0),
			 "B1@1100 B2@1200 E2@1200u B2@1210 E2@1220u B2@1230 "
			 "E2@1240u B2@1260 E2@1511u B2@1763 E2@1803 E1@1803");
}
END_TEST

START_TEST(packed_events_that_are_far_apart)
{
	spell(100, SWZ_EVENT_ENTER, 1);
	far_away(1400);
	spell(100, SWZ_EVENT_ENTER, 2);
	come_back(0);
	spell(0, SWZ_EVENT_ENTER, 2);
	far_away(7);
	come_back(0);
	spell(100, SWZ_EVENT_ENTER, 3);
	far_away(-60); /* back, which no time goes */
	spell(10, SWZ_EVENT_RETURN, 3);
	spell(60, SWZ_EVENT_RETURN, 1);
	add_packed(1000);
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@2600 E2@2600 B2@2600 E2@2607 "
				     "B3@2707 E3@2707 E1@2717");
}
END_TEST

START_TEST(what_no_packed_event_begins_with)
{
	repeat(10); /* nothing is expected here */
	spell(100, SWZ_EVENT_ENTER, 1);
	add_packed(1000);
	spell(100, SWZ_EVENT_ENTER, 1);
	far_away(10);
	far_away(10);
	spell(100, SWZ_EVENT_ENTER, 2);
	add_packed(1500);
	come_back(0); /* of nothing */
	spell(0, SWZ_EVENT_ENTER, 2);
	add_packed(2000);
	ck_assert_str_eq(said(0, 0), "B1@1600 B2@2000 E2@3000pc E1@3000pc");
}
END_TEST

START_TEST(each_packed_chunk_begins_anew)
{
	for (int i = 0; i < 3; i++) {
		spell(100, SWZ_EVENT_ENTER, 1);
		come_back(100);
	}
	repeat(0); /* enters 1 */
	add_packed(1000);
	spell(0, SWZ_EVENT_RETURN, 1);
	repeat(0); /* the only one that there is: once more, of nothing */
	spell(10, SWZ_EVENT_ENTER, 2);
	come_back(10);
	add_packed(2000);
	ck_assert_str_eq(said(0, 0), "B1@1100 E1@1200 B1@1300 E1@1400 B1@1500 "
				     "E1@1600 B1@1600 E1@2000 B2@2010 E2@2020");
}
END_TEST

/* A writer of packed events that is written after the format's description, and
 * has time. */
enum { MODELLED = 40000 };
static uint64_t modelled[MODELLED];
static uint32_t expected_place;
static uint32_t behind[SWZ_PACKED_HASHES];

static uint64_t word_before(unsigned n, unsigned distance)
{
	return distance <= n ? modelled[n - distance] : 0;
}

/* The latest of those before `n` that went to a place of the ring. */
static const uint64_t *word_of_place(unsigned n, uint32_t place)
{
	while (n-- > 0)
		if (n % SWZ_PACKED_HISTORY == place)
			return &modelled[n];
	return NULL;
}

static uint8_t *put_modelled(uint8_t *to, unsigned n, uint64_t since)
{
	const uint64_t *expected = word_of_place(n, expected_place);
	bool as_expected = expected && *expected == modelled[n];
	uint64_t word = modelled[n], h = 0, low = since;
	uint8_t first = SWZ_PACKED_SPELLED;

	if (since > 0xffff) {
		*to++ = SWZ_PACKED_FAR;
		memcpy(to, &since, 8);
		to += 8;
		low = 0;
	}
	if (as_expected)
		first = low <= SWZ_PACKED_MOST ? (uint8_t)low
					       : SWZ_PACKED_EXPECTED;
	else if (n && (word_before(n, 1) & 7) == SWZ_EVENT_ENTER &&
		 word == word_before(n, 1) + SWZ_EVENT_RETURN)
		first = SWZ_PACKED_RETURN;
	*to++ = first;
	if (first > SWZ_PACKED_MOST) {
		memcpy(to, &low, 2);
		to += 2;
	}
	if (first == SWZ_PACKED_SPELLED) {
		uint32_t node = (uint32_t)(word >> 32);

		memcpy(to, &node, 4);
		to[4] = (uint8_t)(word & 7);
		to += 5;
	}
	expected_place = (expected_place + 1) % SWZ_PACKED_HISTORY;
	if (!as_expected || (n + 1) % SWZ_PACKED_INTERVAL == 0) {
		for (unsigned i = SWZ_PACKED_HASHED; i > 0; i--)
			h = (h + word_before(n + 1, i)) * SWZ_PACKED_FACTOR;
		h >>= SWZ_PACKED_SHIFT;
		if (!as_expected)
			expected_place = behind[h];
		behind[h] = (n + 1) % SWZ_PACKED_HISTORY;
	}
	return to;
}

/* Calls of 1, in them of 2, in them of 3: how many of each repeats itself for a
 * while. */
static uint64_t next_word(unsigned n)
{
	static unsigned depth;
	unsigned pattern = n / 5000 * 2654435761u >> (n % 1024 % 17 % 13);
	bool enter = depth == 0 || (depth < 3 && pattern & 1);

	if (enter)
		return (uint64_t)(root + ++depth) << 32;
	return (uint64_t)(root + depth--) << 32 | SWZ_EVENT_RETURN;
}

START_TEST(a_stream_as_described)
{
	static uint8_t bytes[MODELLED * 17];
	static uint64_t ticks[MODELLED];
	uint64_t now = 1000;
	uint8_t *to = bytes;
	struct swz_profile *profile;
	struct swz_events *events;
	struct swz_event event;

	teardown();
	begin(UINT64_C(1) << 40);
	for (unsigned n = 0; n < MODELLED; n++) {
		uint64_t since = n % 257 + (n % 100 == 0) * 1000u +
				 (n % 1000 == 0) * 100000u;

		now += since;
		ticks[n] = now;
		modelled[n] = next_word(n);
		to = put_modelled(to, n, since);
	}
	ck_assert_uint_lt((size_t)(to - bytes), UINT64_C(2) * MODELLED);
	builder_packed(&builder, 0, 1000, bytes, (size_t)(to - bytes));
	profile = builder_read(&builder);
	events = swz_events_open(profile, &profile->threads[0]);
	for (unsigned n = 0; n < MODELLED; n++) {
		ck_assert(swz_events_next(events, &event));
		ck_assert_uint_eq(event.node, modelled[n] >> 32);
		ck_assert_int_eq(event.begins, !(modelled[n] & 7));
		ck_assert_uint_eq(event.ticks, ticks[n]);
	}
	swz_events_close(events);
	swz_profile_free(profile);
}
END_TEST

START_TEST(a_ring_of_packed_events_says_where_it_begins)
{
	builder_header(&builder)->flags |= SWZ_FILE_RING;
	spell(100, SWZ_EVENT_ENTER, 1);
	spell(100, SWZ_EVENT_RETURN, 1);
	add_packed(1000)->reserved[SWZ_PACKED_FIRST] = 1 + 0;
	ck_assert_str_eq(said(0, 0), "B1@1100 E1@1200");
	begin(3000);
	builder_header(&builder)->flags |= SWZ_FILE_RING;
	spell(100, SWZ_EVENT_ENTER, 1);
	spell(100, SWZ_EVENT_RETURN, 1);
	add_packed(1000)->reserved[SWZ_PACKED_FIRST] = 1 + 7;
	ck_assert_str_eq(said(0, 0), "BN@1000rc EN@1100pc B1@1100 E1@1200");
}
END_TEST

/* The writer may be killed between any two steps. */
START_TEST(pages_that_are_packed_are_not_read_again)
{
	const uint64_t first[] = {at(1100, SWZ_EVENT_ENTER, 1),
				  at(1200, SWZ_EVENT_ENTER, 2)};
	const uint64_t second = at(1000, SWZ_EVENT_RETURN, 2);
	const uint64_t third = at(1010, SWZ_EVENT_RETURN, 1);

	builder_events(&builder, 0, 2000, &second, 1)
		->reserved[SWZ_EVENTS_FIRST] = 1;
	builder_events(&builder, 0, 1000, first, 2);
	builder_events(&builder, 0, 2000, &third, 1)
		->reserved[SWZ_EVENTS_FIRST] = 2;
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@2000 E1@2010");
	spell(100, SWZ_EVENT_ENTER, 1);
	spell(100, SWZ_EVENT_ENTER, 2);
	add_packed(1000)->reserved[SWZ_PACKED_STATE] |= (uint64_t)1 << 32;
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@2000 E1@2010");
	spell(0, SWZ_EVENT_RETURN, 2);
	spell(10, SWZ_EVENT_RETURN, 1);
	add_packed(2000)->reserved[SWZ_PACKED_STATE] |= (uint64_t)3 << 32;
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@2000 E1@2010");
}
END_TEST

START_TEST(pages_that_could_not_be_packed_are_kept)
{
	const uint64_t first[] = {at(1100, SWZ_EVENT_ENTER, 1),
				  at(1200, SWZ_EVENT_ENTER, 2)};
	const uint64_t third = at(1005, SWZ_EVENT_RETURN, 1);
	struct swz_chunk *chunk = builder_events(&builder, 0, 1000, first, 2);

	chunk->reserved[SWZ_EVENTS_FIRST] = 5;
	chunk->reserved[SWZ_EVENTS_KEPT] = 5 + 1;
	builder_events(&builder, 0, 2005, &third, 1)
		->reserved[SWZ_EVENTS_FIRST] = 7;
	spell(0, SWZ_EVENT_RETURN, 2);
	add_packed(2000)->reserved[SWZ_PACKED_STATE] |= (uint64_t)7 << 32;
	ck_assert_str_eq(said(0, 0), "B1@1100 B2@1200 E2@2000 E1@2010");
}
END_TEST

/* ---- while it grows ---- */

/* Events from PLACE up to UNTIL as the profile is now: "e1@1100 r1@1200", and
 * "..." if more have to wait. */
static char *grown(struct swz_events_place *place, uint64_t until)
{
	static const char kinds[] = "eruspRj?";
	static char text[1024];
	struct swz_profile *profile = builder_read(&builder);
	struct swz_new_events *events = swz_new_events_open(
		profile, &profile->threads[0], place, until);
	struct swz_event_word word;
	size_t used = 0;

	text[0] = '\0';
	while (swz_new_events_next(events, &word)) {
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%c%u@%d", used ? " " : "",
					 kinds[word.kind], word.unit - root,
					 (int)word.ticks);
		ck_assert(used < sizeof(text));
	}
	ck_assert(!swz_new_events_next(events, &word));
	if (swz_new_events_wait(events))
		snprintf(text + used, sizeof(text) - used, "%s...",
			 used ? " " : "");
	swz_new_events_close(events);
	swz_profile_free(profile);
	return text;
}

START_TEST(what_has_grown_is_read_once)
{
	struct swz_events_place place = {0};
	const uint64_t third = at(1010, SWZ_EVENT_RETURN, 1);

	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2),
	    at(1300, SWZ_EVENT_RETURN, 2));
	/* what is later than the reading may not be all that there is */
	ck_assert_str_eq(grown(&place, 1250), "e1@1100 e2@1200");
	ck_assert_str_eq(grown(&place, 1250), "");
	ck_assert_str_eq(grown(&place, 1350), "r2@1300");
	builder_events(&builder, 0, 2000, &third, 1)
		->reserved[SWZ_EVENTS_FIRST] = 1;
	ck_assert_str_eq(grown(&place, 3000), "r1@2010");
	ck_assert_str_eq(grown(&place, UINT64_MAX), "");
}
END_TEST

START_TEST(what_was_read_from_a_page_is_not_read_again_when_it_is_packed)
{
	struct swz_events_place place = {0};

	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2));
	ck_assert_str_eq(grown(&place, 1150), "e1@1100");
	spell(100, SWZ_EVENT_ENTER, 1);
	spell(100, SWZ_EVENT_ENTER, 2);
	spell(50, SWZ_EVENT_RETURN, 2);
	add_packed(1000)->reserved[SWZ_PACKED_STATE] |= (uint64_t)1 << 32;
	ck_assert_str_eq(grown(&place, 3000), "e2@1200 r2@1250");
}
END_TEST

START_TEST(pages_behind_a_gap_are_read_later)
{
	const uint64_t second = at(1000, SWZ_EVENT_RETURN, 2);
	const uint64_t third = at(1010, SWZ_EVENT_RETURN, 1);
	struct swz_events_place place = {0};

	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2));
	builder_events(&builder, 0, 2005, &third, 1)
		->reserved[SWZ_EVENTS_FIRST] = 2;
	ck_assert_str_eq(grown(&place, 3000), "e1@1100 e2@1200 ...");
	ck_assert_str_eq(grown(&place, 3000), "...");
	builder_events(&builder, 0, 2000, &second, 1)
		->reserved[SWZ_EVENTS_FIRST] = 1;
	ck_assert_str_eq(grown(&place, 3000), "r2@2000 r1@2015");
	ck_assert(!place.lost);
}
END_TEST

/* A handler came between a hook's taking a place and its writing there. */
START_TEST(a_place_that_is_written_late_is_waited_for)
{
	struct swz_events_place place = {0};
	struct swz_chunk *chunk;
	uint64_t *page;

	ADD(at(1100, SWZ_EVENT_ENTER, 1), 0, at(1300, SWZ_EVENT_ENTER, 2),
	    at(1400, SWZ_EVENT_RETURN, 2));
	ck_assert_str_eq(grown(&place, 1500), "e1@1100 ...");
	ck_assert_str_eq(grown(&place, 1600), "...");
	/* after 0.2 s it is not waited for any more */
	ck_assert_str_eq(grown(&place, 1500 + 4000000000), "e2@1300 r2@1400");
	teardown();
	setup();
	memset(&place, 0, sizeof(place));
	const uint64_t list[] = {at(1100, SWZ_EVENT_ENTER, 1), 0,
				 at(1300, SWZ_EVENT_RETURN, 2)};
	chunk = builder_events(&builder, 0, 1000, list, 3);
	ck_assert_str_eq(grown(&place, 1500), "e1@1100 ...");
	page = (uint64_t *)(chunk + 1);
	page[1] = at(1200, SWZ_EVENT_ENTER, 2);
	ck_assert_str_eq(grown(&place, 1600), "e2@1200 r2@1300");
}
END_TEST

/* (a call that turns out to be shorter is taken back) */
START_TEST(calls_wait_until_they_are_long_enough)
{
	struct swz_events_place place = {0};

	builder_header(&builder)->min_ticks = 500;
	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2));
	ck_assert_str_eq(grown(&place, 1550), "");
	ck_assert_str_eq(grown(&place, 1650), "e1@1100");
	ck_assert_str_eq(grown(&place, 1750), "e2@1200");
}
END_TEST

START_TEST(what_was_overwritten_before_it_was_read_is_lost)
{
	struct swz_events_place place = {0};

	builder_header(&builder)->flags |= SWZ_FILE_RING;
	ADD(at(1100, SWZ_EVENT_ENTER, 1));
	ck_assert_str_eq(grown(&place, 1150), "e1@1100");
	begin(3000);
	builder_header(&builder)->flags |= SWZ_FILE_RING;
	ADD(at(1090, SWZ_EVENT_RETURN, 2), at(1400, SWZ_EVENT_ENTER, 2));
	ck_assert_str_eq(grown(&place, 3000), "");
	ck_assert(place.lost);
	ck_assert_str_eq(grown(&place, 3000), "e2@1400");
	ck_assert(!place.lost);
}
END_TEST

START_TEST(packed_events_that_are_cut_off)
{
	struct swz_profile *profile;
	struct swz_events *events;
	struct swz_event event;
	struct swz_chunk *chunk;

	spell(100, SWZ_EVENT_ENTER, 1);
	spell(100, SWZ_EVENT_ENTER, 2);
	length -= 3;
	add_packed(1000);
	ck_assert_str_eq(said(0, 0), "B1@1100 E1@3000pc");
	profile = builder_read(&builder);
	events = swz_events_open(profile, &profile->threads[0]);
	while (swz_events_next(events, &event))
		;
	ck_assert_uint_eq(swz_events_damage(events)->lost_pages, 1);
	swz_events_close(events);
	ck_assert_uint_eq(profile->damage.bad_chunks, 0);
	swz_profile_free(profile);

	/* more than there is room for */
	repeat(0);
	chunk = add_packed(2000);
	chunk->reserved[SWZ_PACKED_STATE] = 57 + chunk->bytes;
	profile = builder_read(&builder);
	ck_assert_uint_eq(profile->damage.bad_chunks, 1);
	swz_profile_free(profile);
}
END_TEST

/* More than the reader takes at a time, so events lie across its ends. */
START_TEST(a_long_stream)
{
	enum { CALLS = 30000 };
	uint8_t *bytes = malloc(8 + (size_t)CALLS * 16), *to = bytes;
	struct swz_profile *profile;
	struct swz_events *events;
	struct swz_event event;
	unsigned begins = 0, ends = 0;

	ck_assert_ptr_nonnull(bytes);
	spell(100, SWZ_EVENT_ENTER, 1);
	memcpy(to, stream, 8);
	to += 8;
	length = 0;
	spell(0, SWZ_EVENT_ENTER, 2);
	spell(0, SWZ_EVENT_RETURN, 2);
	for (unsigned i = 0; i < CALLS; i++, to += 16)
		memcpy(to, stream, 16);
	length = 0;
	builder_packed(&builder, 0, 1000, bytes, (size_t)(to - bytes));
	free(bytes);
	profile = builder_read(&builder);
	events = swz_events_open(profile, &profile->threads[0]);
	while (swz_events_next(events, &event)) {
		begins += event.begins && event.node == root + 2;
		ends += !event.begins && event.node == root + 2;
		ck_assert(event.node == root + 2 || event.node == root + 1);
	}
	ck_assert_uint_eq(begins, CALLS);
	ck_assert_uint_eq(ends, CALLS);
	ck_assert_uint_eq(swz_events_damage(events)->lost_pages, 0);
	ck_assert_uint_eq(swz_events_position(events),
			  swz_events_size(&profile->threads[0]));
	swz_events_close(events);
	swz_profile_free(profile);
}
END_TEST

START_TEST(costs_of_a_range)
{
	const struct swz_range range = {1250, 1450};
	struct swz_profile *profile;
	struct swz_tree tree;

	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2),
	    at(1300, SWZ_EVENT_UNWIND, 2), at(1400, SWZ_EVENT_ENTER, 2),
	    at(1500, SWZ_EVENT_RETURN, 2), at(1600, SWZ_EVENT_RETURN, 1));
	profile = builder_read(&builder);
	swz_tree_build_range(&tree, profile, &profile->threads[0], false,
			     &range);
	ck_assert_int_eq(tree.total_ticks, 200);
	ck_assert_uint_eq(tree.nodes[1].calls, 0);
	ck_assert_int_eq(tree.nodes[1].ticks, 200);
	ck_assert_int_eq(tree.nodes[1].self, 100);
	ck_assert_uint_eq(tree.nodes[2].calls, 1);
	ck_assert_uint_eq(tree.nodes[2].unwound, 1);
	ck_assert_int_eq(tree.nodes[2].ticks, 50 + 50);
	ck_assert_uint_eq(tree.nodes[3].calls, 0);
	swz_tree_free(&tree);
	swz_profile_free(profile);
}
END_TEST

/* Of 6 calls 2 have events: the others' hooks took 4 x 14 ticks of the time
 * that has none. */
START_TEST(costs_of_what_is_not_traced)
{
	struct swz_range range = {0, UINT64_MAX};
	struct swz_profile *profile;
	struct swz_tree tree;
	const struct swz_tree_node *untraced;

	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2));
	builder_thread_record(&builder, 0)->untraced = 5;
	builder_thread_record(&builder, 0)->untraced_from = 1210;
	builder_header(&builder)->cost_inside = UINT64_C(10) * 1024;
	builder_header(&builder)->cost_outside = UINT64_C(4) * 1024;
	profile = builder_read(&builder);
	swz_tree_build_range(&tree, profile, &profile->threads[0], true,
			     &range);
	untraced = &tree.nodes[tree.count - 1];
	ck_assert_uint_eq(untraced->id, SWZ_FUNCTION_UNTRACED);
	ck_assert_uint_eq(untraced->parent, SWZ_TREE_ROOT);
	ck_assert_uint_eq(untraced->calls, 0);
	ck_assert_int_eq(untraced->raw_self, 1800);
	ck_assert_int_eq(untraced->self, 1800 - 4 * 14);
	ck_assert_int_eq(tree.nodes[1].ticks, 100);
	ck_assert_int_eq(tree.nodes[1].self, 100 - 10 - 4);
	ck_assert_int_eq(tree.nodes[SWZ_TREE_ROOT].raw_self, 100);
	ck_assert_int_eq(tree.total_ticks, 2000);
	swz_tree_free(&tree);
	/* 1000 of the 1800 ticks */
	range = (struct swz_range){2000, 3000};
	swz_tree_build_range(&tree, profile, &profile->threads[0], true,
			     &range);
	untraced = &tree.nodes[tree.count - 1];
	ck_assert_int_eq(untraced->raw_self, 1000);
	ck_assert_int_eq(untraced->self, 1000 - 2 * 14);
	ck_assert_int_eq(tree.total_ticks, 1000);
	swz_tree_free(&tree);
	swz_profile_free(profile);
}
END_TEST

/* How long what is cut by the range took in all is not known. */
START_TEST(only_whole_calls_are_the_shortest_or_the_longest)
{
	const struct swz_range range = {1250, 1700};
	struct swz_profile *profile;
	struct swz_tree tree;

	ADD(at(1100, SWZ_EVENT_ENTER, 1), at(1200, SWZ_EVENT_ENTER, 2),
	    at(1260, SWZ_EVENT_RETURN, 2), at(1400, SWZ_EVENT_ENTER, 2),
	    at(1500, SWZ_EVENT_RETURN, 2), at(1600, SWZ_EVENT_ENTER, 2));
	profile = builder_read(&builder);
	swz_tree_build_range(&tree, profile, &profile->threads[0], false,
			     &range);
	ck_assert_int_eq(tree.nodes[2].ticks, 10 + 100 + 100);
	ck_assert_int_eq(tree.nodes[2].min_ticks, 100);
	ck_assert_int_eq(tree.nodes[2].max_ticks, 100);
	ck_assert(tree.nodes[2].uncounted);
	swz_tree_free(&tree);
	swz_profile_free(profile);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("events");
	TCase *tests = tcase_create("events");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, nested_calls);
	tcase_add_test(tests, places_that_were_never_filled_are_skipped);
	tcase_add_test(tests, what_is_open_ends_at_the_last_moment);
	tcase_add_test(tests, an_end_ends_what_was_torn_off_above_it);
	tcase_add_test(tests, an_end_without_a_begin_is_ignored);
	tcase_add_test(tests, a_call_without_a_time);
	tcase_add_test(tests, times_do_not_go_back);
	tcase_add_test(tests, nodes_of_others_are_left_out);
	tcase_add_test(tests, chunks_in_the_order_of_their_times);
	tcase_add_test(tests, a_ring_has_lost_the_first_begins);
	tcase_add_test(tests, a_range_of_time);
	tcase_add_test(tests, what_had_no_room_is_not_traced);
	tcase_add_test(tests, a_thread_without_room_at_all);
	tcase_add_test(tests, what_was_overwritten_is_not_traced);
	tcase_add_test(tests, a_ring_of_packed_events_says_where_it_begins);
	tcase_add_test(tests, hidden_activations);
	tcase_add_test(tests, a_page_without_a_time_is_empty);
	tcase_add_test(tests, packed_events);
	tcase_add_test(tests, packed_events_that_are_far_apart);
	tcase_add_test(tests, what_no_packed_event_begins_with);
	tcase_add_test(tests, each_packed_chunk_begins_anew);
	tcase_add_test(tests, a_stream_as_described);
	tcase_add_test(tests, pages_that_are_packed_are_not_read_again);
	tcase_add_test(tests, pages_that_could_not_be_packed_are_kept);
	tcase_add_test(tests, what_has_grown_is_read_once);
	tcase_add_test(
		tests,
		what_was_read_from_a_page_is_not_read_again_when_it_is_packed);
	tcase_add_test(tests, pages_behind_a_gap_are_read_later);
	tcase_add_test(tests, a_place_that_is_written_late_is_waited_for);
	tcase_add_test(tests, calls_wait_until_they_are_long_enough);
	tcase_add_test(tests, what_was_overwritten_before_it_was_read_is_lost);
	tcase_add_test(tests, packed_events_that_are_cut_off);
	tcase_add_test(tests, a_long_stream);
	tcase_add_test(tests, costs_of_a_range);
	tcase_add_test(tests, costs_of_what_is_not_traced);
	tcase_add_test(tests, only_whole_calls_are_the_shortest_or_the_longest);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
