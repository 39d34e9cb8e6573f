/* By what a saved plan is found and believed: whatever it depends on changes
 * its key, and what is new of the same file replaces what is old. */

#include <check.h>
#include <string.h>
#include <time.h>

#include "runtime/cache/plan_cache.h"
#include "runtime/support/config.h"
#include "tests/unit/run_suite.h"

static const uint8_t ours[] = {0xab, 0xcd, 0xef}, id[] = {0x01, 0x9f, 0xf0};
static struct swz_module module;
static bool has_shadow_stack, is_untouched;
static uint64_t text_hash;

/* ------------------------------------------------- what it is surrounded by */

struct swz_config swz_config;

bool swz_has_shadow_stack(void)
{
	return has_shadow_stack;
}

bool swz_module_is_untouched(const struct swz_module *m)
{
	ck_assert_ptr_eq(m, &module);
	return is_untouched;
}

uint64_t swz_module_text_hash(const struct swz_module *m, uint64_t seed)
{
	ck_assert_ptr_eq(m, &module);
	ck_assert_uint_eq(seed, 0);
	return text_hash;
}

/* ------------------------------------------------------------------ the tests
 */

static void set_up(void)
{
	memset(&module, 0, sizeof(module));
	memset(&swz_config, 0, sizeof(swz_config));
	has_shadow_stack = false;
	is_untouched = true;
	text_hash = 77;
	module.build_id = (struct swz_bytes){id, sizeof(id)};
	module.identity = (struct swz_file_identity){1, 2, 3, 4, 5};
	module.in_scope = true;
	module.text[0] = (struct swz_range){0x1000, 0x2000};
	module.text[1] = (struct swz_range){0x3000, 0x3100};
	module.text_count = 2;
	ck_assert(swz_cache_key_begin((struct swz_bytes){ours, sizeof(ours)}));
}

static void name_of(char *name)
{
	struct swz_saved_key key;

	swz_cache_key_make(&key, &module);
	swz_cache_key_name("plan-", &key, sizeof(id), name);
}

START_TEST(a_key_has_all_that_a_plan_depends_on)
{
	struct swz_saved_key key;

	module.late = true;
	has_shadow_stack = true;
	swz_cache_key_make(&key, &module);
	ck_assert_mem_eq(key.build_id, id, sizeof(id));
	ck_assert_uint_eq(key.build_id[sizeof(id)], 0);
	ck_assert_mem_eq(key.ours, ours, sizeof(ours));
	ck_assert_uint_eq(key.device, 1);
	ck_assert_uint_eq(key.inode, 2);
	ck_assert_uint_eq(key.file_bytes, 3);
	ck_assert_uint_eq(key.mtime_ns, 4);
	ck_assert_uint_eq(key.ctime_ns, 5);
	ck_assert_uint_eq(key.flags, SWZ_SAVED_IN_SCOPE | SWZ_SAVED_LATE |
					     SWZ_SAVED_SHADOW_STACK);
	ck_assert_uint_eq(key.text_count, 2);
	ck_assert_uint_eq(key.texts[0].start, 0x1000);
	ck_assert_uint_eq(key.texts[1].end, 0x3100);
	ck_assert_uint_eq(key.texts[2].end, 0);
	module.late = has_shadow_stack = module.in_scope = false;
	swz_cache_key_make(&key, &module);
	ck_assert_uint_eq(key.flags, 0);
	ck_assert_uint_eq(key.options, 0);
	swz_config.count = true;
	swz_cache_key_make(&key, &module);
	ck_assert_uint_eq(key.flags, SWZ_SAVED_NO_WALKERS);
	swz_config.count = false;
}
END_TEST

static const char *const hide[] = {NULL, "", "a", "a*"};

/* Options that change a plan: no two keys are the same. */
START_TEST(options_change_the_key)
{
	struct swz_saved_key keys[32];
	unsigned count = 0;

	for (unsigned i = 0; i < 32; i++) {
		swz_config.hide = hide[i % 4];
		swz_config.min_size = i & 4 ? 100 : 0;
		swz_config.test_tactic = i & 8 ? SWZ_TEST_PADDING
					       : SWZ_TEST_NONE;
		swz_config.sampled = i & 16;
		swz_cache_key_make(&keys[count++], &module);
		for (unsigned k = 0; k + 1 < count; k++)
			ck_assert_uint_ne(keys[k].options, keys[i].options);
	}
	/* out of scope they change nothing */
	module.in_scope = false;
	swz_cache_key_make(&keys[0], &module);
	ck_assert_uint_eq(keys[0].options, 0);
}
END_TEST

START_TEST(a_build_id_of_ours_is_needed)
{
	static const uint8_t longest[33] = {1};

	ck_assert(!swz_cache_key_begin((struct swz_bytes){NULL, 0}));
	ck_assert(swz_cache_key_begin((struct swz_bytes){longest, 32}));
	ck_assert(!swz_cache_key_begin((struct swz_bytes){longest, 33}));
}
END_TEST

START_TEST(the_files_name_has_the_build_id_and_a_hash)
{
	char name[128];

	name_of(name);
	ck_assert_uint_eq(strlen(name), strlen("plan-019ff0-") + 16);
	ck_assert_mem_eq(name, "plan-019ff0-", 12);
	ck_assert_uint_eq(strspn(name + 12, "0123456789abcdef"), 16);
}
END_TEST

/* A changed file has the old one's place; another file has one of its own. */
START_TEST(the_name_stays_when_the_file_is_changed)
{
	char before[128], after[128];

	name_of(before);
	module.identity.bytes++;
	module.identity.mtime_ns++;
	module.identity.ctime_ns++;
	module.text[0].end++;
	name_of(after);
	ck_assert_str_eq(before, after);
	module.identity.inode++;
	name_of(after);
	ck_assert_str_ne(before, after);
	module.identity.inode--;
	module.late = true;
	name_of(after);
	ck_assert_str_ne(before, after);
	module.late = false;
	swz_config.sampled = true;
	name_of(after);
	ck_assert_str_ne(before, after);
}
END_TEST

/* Untouched text of an unchanged file need not be read. */
START_TEST(the_text_is_hashed_unless_both_are_the_files)
{
	struct swz_saved_header header = {.facts = SWZ_SAVED_OF_FILE,
					  .text_hash = 76};

	ck_assert(swz_cache_text_is_that_of(&module, &header));
	is_untouched = false;
	ck_assert(!swz_cache_text_is_that_of(&module, &header));
	header.text_hash = 77;
	ck_assert(swz_cache_text_is_that_of(&module, &header));
	is_untouched = true;
	header.facts = 0;
	ck_assert(swz_cache_text_is_that_of(&module, &header));
	header.text_hash = 76;
	ck_assert(!swz_cache_text_is_that_of(&module, &header));
}
END_TEST

/* The times of a file that was changed within two seconds may not show the next
 * change. */
START_TEST(a_file_that_has_just_changed_is_not_relied_on)
{
	const uint64_t second = 1000000000;
	struct timespec now;
	uint64_t ns;

	ck_assert(swz_cache_text_is_of_file(&module));
	is_untouched = false;
	ck_assert(!swz_cache_text_is_of_file(&module));
	is_untouched = true;
	clock_gettime(CLOCK_REALTIME, &now);
	ns = (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
	module.identity.mtime_ns = ns - 2 * second;
	module.identity.ctime_ns = ns - 100 * second;
	ck_assert(swz_cache_text_is_of_file(&module));
	module.identity.mtime_ns = ns + 3600 * second;
	ck_assert(!swz_cache_text_is_of_file(&module));
	module.identity.mtime_ns = ns - 100 * second;
	module.identity.ctime_ns = ns - 2 * second;
	ck_assert(swz_cache_text_is_of_file(&module));
	module.identity.ctime_ns = ns + 3600 * second;
	ck_assert(!swz_cache_text_is_of_file(&module));
	module.identity.ctime_ns = ns + 60 * second - 2 * second;
	ck_assert(!swz_cache_text_is_of_file(&module));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cache_key");
	TCase *t = tcase_create("cache_key");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_key_has_all_that_a_plan_depends_on);
	tcase_add_test(t, options_change_the_key);
	tcase_add_test(t, a_build_id_of_ours_is_needed);
	tcase_add_test(t, the_files_name_has_the_build_id_and_a_hash);
	tcase_add_test(t, the_name_stays_when_the_file_is_changed);
	tcase_add_test(t, the_text_is_hashed_unless_both_are_the_files);
	tcase_add_test(t, a_file_that_has_just_changed_is_not_relied_on);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
