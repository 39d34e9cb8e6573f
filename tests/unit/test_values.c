/* Values of calls, beside their events. */

#include <check.h>
#include <string.h>

#include "profile/file/events.h"
#include "profile/file/values.h"
#include "swizzle/values.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

static struct profile_builder builder;
static uint32_t root; /* nodes: root + 1: of function 1, + 2: of function 2 */
static struct swz_profile *profile;
static struct swz_value_reader *reader;

/* Function 1 has an argument and a result, of 4 bytes each. */
static void put_signature(void)
{
	const struct swz_signature signature = {
		.function = 1, .entry_parts = 1, .return_parts = 1};
	const struct swz_value_part part = {.kind = SWZ_PART_PLAIN, .bytes = 4};
	const struct swz_value_type type = {.kind = SWZ_TYPE_SIGNED,
					    .bytes = 4};
	size_t at = builder_chunk(&builder, SWZ_CHUNK_SIGNATURES, 1, 0, 256);
	struct swz_chunk *chunk = (void *)(builder.data + at);
	uint8_t *body = builder.data + at + sizeof(*chunk);

	chunk->reserved[SWZ_SIGNATURES_PARTS] = 2;
	chunk->reserved[SWZ_SIGNATURES_TYPES] = 1;
	chunk->reserved[SWZ_SIGNATURES_TEXT] = 1;
	memcpy(body, &signature, sizeof(signature));
	body += sizeof(signature);
	for (unsigned i = 0; i < 2; i++, body += sizeof(part))
		memcpy(body, &part, sizeof(part));
	memcpy(body, &type, sizeof(type));
}

static void setup(void)
{
	builder_begin(&builder);
	builder_module(&builder, 0, "/bin/prog", 0x400000, 1, 2);
	root = builder_thread(&builder, 0, 100, "main", 3000, 3);
	builder_call(&builder, root + 1, root, root + 1, 1, 0, 1, 900, 900);
	builder_call(&builder, root + 2, root, root + 2, 2, 0, 1, 900, 900);
	builder_header(&builder)->flags |= SWZ_FILE_TRACED;
	put_signature();
}

static void put_value(enum swz_value_moment moment, uint64_t ticks, int value)
{
	size_t at = builder_chunk(&builder, SWZ_CHUNK_VALUES, 0, 0, 64);
	struct swz_value_record record = {.node = root + 1,
					  .bytes = sizeof(record) + 8,
					  .kind = (uint8_t)moment,
					  .whole = 1,
					  .ticks = ticks};
	uint8_t *body = builder.data + at + sizeof(struct swz_chunk);

	memcpy(body, &record, sizeof(record));
	memcpy(body + sizeof(record), &value, sizeof(value));
}

static void read_all(void)
{
	profile = builder_read(&builder);
	reader = swz_values_open(profile, &profile->threads[0]);
}

static void teardown(void)
{
	swz_values_close(reader);
	swz_profile_free(profile);
	builder_free(&builder);
}

static struct swz_event event_of(unsigned node, enum swz_event_kind kind,
				 uint64_t ticks)
{
	return (struct swz_event){.begins = kind == SWZ_EVENT_ENTER,
				  .how = (uint8_t)kind,
				  .node = root + node,
				  .ticks = ticks};
}

static bool lacks(unsigned node, enum swz_event_kind kind, uint64_t ticks)
{
	struct swz_event event = event_of(node, kind, ticks);

	return swz_values_lack(profile, reader, &event);
}

START_TEST(values_that_are_not_there_yet_are_lacking)
{
	struct swz_event event = event_of(1, SWZ_EVENT_ENTER, 1100);
	struct swz_call_values values;
	int value = 0;

	put_value(SWZ_VALUES_ENTRY, 1100, 42);
	read_all();
	ck_assert(!lacks(1, SWZ_EVENT_ENTER, 1100));
	ck_assert(lacks(1, SWZ_EVENT_RETURN, 1200));
	/* whoever asks takes nothing */
	ck_assert(swz_values_of(reader, &event, &values));
	memcpy(&value, values.values[0].plain.bytes, sizeof(value));
	ck_assert_int_eq(value, 42);
	ck_assert(lacks(1, SWZ_EVENT_ENTER, 1300));
}
END_TEST

START_TEST(a_thread_without_any_lacks_all_of_its_values)
{
	read_all();
	ck_assert_ptr_null(reader);
	ck_assert(lacks(1, SWZ_EVENT_ENTER, 1100));
	ck_assert(lacks(1, SWZ_EVENT_RETURN, 1200));
}
END_TEST

START_TEST(events_that_have_no_values_lack_none)
{
	put_value(SWZ_VALUES_ENTRY, 1100, 42);
	read_all();
	ck_assert(!lacks(2, SWZ_EVENT_ENTER, 1100)); /* no signature */
	ck_assert(!lacks(1, SWZ_EVENT_RESUME, 1200));
	ck_assert(!lacks(1, SWZ_EVENT_SUSPEND, 1200));
	ck_assert(!lacks(1, SWZ_EVENT_SKIP, 1200));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("values");
	TCase *tests = tcase_create("values");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, values_that_are_not_there_yet_are_lacking);
	tcase_add_test(tests, a_thread_without_any_lacks_all_of_its_values);
	tcase_add_test(tests, events_that_have_no_values_lack_none);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
