/* Code made at run time that has called: its names, and its times. One tick is
 * one ns; the thread lives from tick 1000 to tick 2000.
 *
 *     root - 1: function 1, 100 ns
 *              2: code at F
 *                3: code at UNNAMED
 *                  4: function 2, 30 ns
 *                    5: code at F
 *                      6: function 3, 10 ns
 *            7: code at no address
 *              8: function 4, 5 ns
 */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/call_tree.h"
#include "profile/file/code_files.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

#define SITE 0x401010 /* in function 1 */
#define F 0x70000100  /* behind the last byte of what is called f */
#define UNNAMED 0x70000210

static struct profile_builder builder;
static struct swz_profile *profile;
static struct swz_tree tree;
static uint32_t root;

static void call(uint32_t node, uint32_t parent, uint32_t function,
		 int64_t ticks)
{
	builder_call(&builder, root + node, root + parent, root + node,
		     function, SITE, 1, ticks, ticks);
}

static void code(uint32_t node, uint32_t parent, uint64_t site)
{
	static const struct swz_node none;
	struct swz_node *slot = builder_node(&builder, root + node);

	*slot = none;
	slot->function = SWZ_FUNCTION_CODE;
	slot->parent = root + parent;
	slot->context = root + node;
	slot->call_site = site;
	slot->outer_ticks = builder_header(&builder)->latest_code;
	slot->max_ticks = 1500;
	builder_header(&builder)->latest_code = root + node;
}

static void setup(void)
{
	builder_begin(&builder);
	builder_header(&builder)->clock[1].monotonic_ns = 4500;
	builder_module(&builder, 0, "prog", 0x400000, 1, 4);
	root = builder_thread(&builder, 0, 100, "main", 2000, 9);
	call(1, 0, 1, 100);
	code(2, 1, F);
	code(3, 2, UNNAMED);
	call(4, 3, 2, 30);
	code(5, 4, F);
	call(6, 5, 3, 10);
	code(7, 0, SWZ_CALL_SITE_TAIL);
	call(8, 7, 4, 5);
}

static void teardown(void)
{
	swz_tree_free(&tree);
	swz_profile_free(profile);
	profile = NULL;
	builder_free(&builder);
}

static void add_names(const char *text)
{
	size_t at = builder_chunk(&builder, SWZ_CHUNK_CODE, 1, 0,
				  strlen(text) + 1);

	memcpy(builder.data + at + sizeof(struct swz_chunk), text,
	       strlen(text));
}

static void build(void)
{
	profile = builder_read(&builder);
	swz_tree_build(&tree, profile, &profile->threads[0], false);
	ck_assert_uint_eq(tree.dropped_nodes, 0);
	ck_assert_uint_eq(tree.repaired_nodes, 0);
}

static bool is_hidden(uint32_t node)
{
	return tree.nodes[node].flags & SWZ_NODE_HIDDEN;
}

/* NULL: it is none of the code's. */
static const char *name_of(uint32_t node)
{
	const struct swz_profile_function *function =
		&profile->functions[tree.nodes[node].function];

	for (size_t i = 0; i < profile->symbol_count; i++)
		if (profile->symbols[i].module == function->module &&
		    profile->symbols[i].address == function->address)
			return profile->symbols[i].name;
	return NULL;
}

START_TEST(lasts_as_long_as_what_it_called)
{
	add_names("70000000 100 f\n");
	build();
	ck_assert_int_eq(tree.nodes[2].ticks, 30);
	ck_assert_int_eq(tree.nodes[2].outer_ticks, 30);
	ck_assert_int_eq(tree.nodes[5].ticks, 10);
	ck_assert_int_eq(tree.nodes[5].outer_ticks, 0); /* f is above */
	for (uint32_t i = 2; i < 8; i++)
		if (i != 4 && i != 6) {
			ck_assert_int_eq(tree.nodes[i].self, 0);
			ck_assert_uint_eq(tree.nodes[i].calls, 0);
			ck_assert_int_eq(tree.nodes[i].max_ticks, 0);
		}
	ck_assert_int_eq(tree.nodes[1].self, 70);
	ck_assert_int_eq(tree.nodes[4].self, 20);
	ck_assert_int_eq(tree.nodes[SWZ_TREE_ROOT].self, 895);
}
END_TEST

START_TEST(has_the_name_of_the_last_line)
{
	add_names("70000000 100 old\n70000000 100 JS:*f\n");
	build();
	ck_assert_str_eq(name_of(2), "f");
	ck_assert_str_eq(name_of(5), "f");
	ck_assert_uint_eq(tree.nodes[2].id, tree.nodes[5].id);
	ck_assert(!is_hidden(2));
	ck_assert(!is_hidden(5));
	ck_assert(is_hidden(3)); /* beside one that has a name */
	ck_assert(is_hidden(7));
	ck_assert_uint_eq(profile->named_code_nodes, 2);
	ck_assert_uint_eq(profile->unnamed_code_nodes, 0);
}
END_TEST

START_TEST(without_a_name_is_one)
{
	build();
	ck_assert_str_eq(name_of(2), SWZ_CODE_UNNAMED);
	ck_assert(!is_hidden(2));
	ck_assert(is_hidden(3));
	ck_assert(!is_hidden(5));
	ck_assert(is_hidden(7));
	ck_assert_uint_eq(profile->named_code_nodes, 0);
	ck_assert_uint_eq(profile->unnamed_code_nodes, 2);
}
END_TEST

START_TEST(lines_that_make_no_sense_are_passed_over)
{
	add_names("\nx\n70000000\n70000000 0 none\nffffffffffffffff 2 x\n"
		  "70000000 100 f");
	build();
	ck_assert_str_eq(name_of(2), SWZ_CODE_UNNAMED);
	ck_assert_uint_eq(profile->damage.bad_chunks, 1); /* its last line */
}
END_TEST

START_TEST(a_copy_is_as_the_file_was)
{
	size_t names;
	uint8_t *bytes;

	add_names("70000000 100 f\n");
	build();
	bytes = malloc(profile->size);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, profile->data, profile->size);
	ck_assert_int_ne(memcmp(bytes, builder.data, profile->size), 0);
	swz_run_time_code_undo(profile, 0, bytes, profile->size);
	ck_assert_int_eq(memcmp(bytes, builder.data, profile->size), 0);
	free(bytes);
	/* what has names needs none */
	ck_assert_ptr_null(swz_run_time_code_chunk(profile, &names));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile/run_time_code");
	TCase *tests = tcase_create("code");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, lasts_as_long_as_what_it_called);
	tcase_add_test(tests, has_the_name_of_the_last_line);
	tcase_add_test(tests, without_a_name_is_one);
	tcase_add_test(tests, lines_that_make_no_sense_are_passed_over);
	tcase_add_test(tests, a_copy_is_as_the_file_was);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
