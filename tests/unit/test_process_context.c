/* The process context of OpenTelemetry, as it is encoded and as a process
 * publishes it. */

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"
#include "watch/image.h"

/* KeyValue {"service.name", "shop"} */
#define SERVICE "\x0a\x0cservice.name\x12\x06\x0a\x04shop"
/* KeyValue {"shard", 7} */
#define SHARD "\x0a\x05shard\x12\x02\x18\x07"

/* ProcessContext {resource {attributes {SERVICE}}, attributes {SHARD}} */
static const uint8_t context[] = "\x0a\x18"
				 "\x0a\x16" SERVICE "\x12\x0b" SHARD;
/* Resource {attributes {SERVICE}, attributes {SHARD}} */
static const uint8_t resource[] = "\x0a\x16" SERVICE "\x0a\x0b" SHARD;

static const char *label(const struct swz_labels *labels, const char *name)
{
	const char *at = labels->text;

	for (uint32_t i = 0; i < labels->strings; i += 2) {
		const char *value = at + strlen(at) + 1;

		if (strcmp(at, name) == 0)
			return value;
		at = value + strlen(value) + 1;
	}
	return "";
}

START_TEST(reads_a_context_and_a_bare_resource)
{
	struct swz_labels labels = {0}, bare = {0};

	ck_assert(swz_process_context_decode(context, sizeof(context) - 1,
					     &labels));
	ck_assert_str_eq(label(&labels, "service.name"), "shop");
	ck_assert_str_eq(label(&labels, "shard"), "7");
	ck_assert(swz_process_context_decode(resource, sizeof(resource) - 1,
					     &bare));
	ck_assert_str_eq(label(&bare, "service.name"), "shop");
	ck_assert_str_eq(label(&bare, "shard"), "7");
}
END_TEST

START_TEST(a_message_that_is_cut_or_wrong_has_fewer_attributes)
{
	uint8_t bytes[sizeof(context)];

	for (size_t size = 0; size < sizeof(context) - 1; size++) {
		struct swz_labels labels = {0};

		memcpy(bytes, context, size);
		(void)swz_process_context_decode(bytes, size, &labels);
		ck_assert_uint_le(labels.strings, 2);
	}
	for (size_t at = 0; at < sizeof(context) - 1; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct swz_labels labels = {0};

			memcpy(bytes, context, sizeof(context));
			bytes[at] ^= (uint8_t)(1u << bit);
			(void)swz_process_context_decode(
				bytes, sizeof(context) - 1, &labels);
			ck_assert_uint_le(labels.strings, 4);
		}
}
END_TEST

START_TEST(a_later_value_takes_the_place_of_the_one_before)
{
	struct swz_labels labels = {0};

	swz_labels_set(&labels, "service.name", "another");
	swz_labels_set(&labels, "host", "here");
	ck_assert(swz_process_context_decode(context, sizeof(context) - 1,
					     &labels));
	ck_assert_uint_eq(labels.strings, 6);
	ck_assert_str_eq(label(&labels, "service.name"), "shop");
	ck_assert_str_eq(label(&labels, "host"), "here");
}
END_TEST

struct published {
	char signature[8];
	uint32_t version, size;
	uint64_t time;
	const void *payload;
};

static struct published *publish(void)
{
	int fd = memfd_create("OTEL_CTX", MFD_CLOEXEC);
	struct published *header;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(header, MAP_FAILED);
	close(fd);
	*header = (struct published){.version = 2,
				     .size = sizeof(context) - 1,
				     .time = 1,
				     .payload = context};
	memcpy(header->signature, "OTEL_CTX", 8);
	return header;
}

START_TEST(finds_what_a_process_publishes)
{
	struct swz_labels labels = {0};
	struct published *header;

	ck_assert(!swz_process_context_read(getpid(), &labels));
	header = publish();
	ck_assert(swz_process_context_read(getpid(), &labels));
	ck_assert_uint_eq(labels.strings, 4);
	ck_assert_str_eq(label(&labels, "service.name"), "shop");
	header->time = 0; /* it is being changed */
	ck_assert(!swz_process_context_read(getpid(), &labels));
	ck_assert_uint_eq(labels.strings, 0);
	header->time = 2;
	header->version = 3;
	ck_assert(!swz_process_context_read(getpid(), &labels));
	header->version = 2;
	header->size = UINT32_MAX;
	ck_assert(!swz_process_context_read(getpid(), &labels));
	header->size = sizeof(context) - 1;
	header->payload = NULL;
	ck_assert(!swz_process_context_read(getpid(), &labels));
	munmap(header, 4096);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process_context");
	TCase *tcase = tcase_create("process_context");

	tcase_add_test(tcase, reads_a_context_and_a_bare_resource);
	tcase_add_test(tcase,
		       a_message_that_is_cut_or_wrong_has_fewer_attributes);
	tcase_add_test(tcase, a_later_value_takes_the_place_of_the_one_before);
	tcase_add_test(tcase, finds_what_a_process_publishes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
