/* Pages of swizzle-top's screen: what is in their rows, and where the cursor
 * is. main calls f and g; f calls itself and h; g calls h. */

#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "top/page.h"

enum { MAIN = SWZ_CATALOG_COUNTING + 1, F, G, H, FUNCTIONS };

static struct swz_catalog_function functions[FUNCTIONS] = {
	[MAIN] = {.name = "main"},
	[F] = {.name = "space::f(int)"},
	[G] = {.name = "g"},
	[H] = {.name = "h"},
};
static struct swz_live live;
static struct swz_page page;

static uint32_t add(uint32_t parent, uint32_t function, int64_t self_ns,
		    uint64_t calls)
{
	struct swz_live_figures *to = &live.recent;
	uint32_t at = swz_contexts_child(&to->contexts, parent, function,
					 SWZ_PLACE_UNKNOWN, false);

	to->contexts.items[at].self_ns += self_ns;
	to->contexts.items[at].calls += calls;
	to->functions[function].self_ns += self_ns;
	to->functions[function].calls += calls;
	to->total_ns += self_ns;
	return at;
}

static void set_up(void)
{
	uint32_t at, f, g;

	live = (struct swz_live){.samples = true};
	live.recent.functions = calloc(FUNCTIONS,
				       sizeof(*live.recent.functions));
	live.recent.function_count = FUNCTIONS;
	live.recent.wall_ns = 1000;
	for (size_t i = 0; i < FUNCTIONS; i++)
		functions[i].module = SWZ_INDEX_NONE;
	live.catalog.functions = functions;
	live.catalog.function_count = FUNCTIONS;
	swz_contexts_begin(&live.recent.contexts, SWZ_CATALOG_OUTSIDE, false);
	at = add(SWZ_CONTEXT_ROOT, MAIN, 0, 1);
	f = add(at, F, 30, 3);
	add(f, H, 10, 5);
	add(f, F, 20, 7);
	g = add(at, G, 15, 1);
	add(g, H, 25, 9);
	swz_contexts_sum(&live.recent.contexts);
	swz_page_begin(&page);
}

static void tear_down(void)
{
	swz_page_free(&page);
	swz_contexts_free(&live.recent.contexts);
	free(live.recent.functions);
}

static void fill(void)
{
	swz_page_fill(&page, &live, NULL);
}

static const struct swz_row *row_of(const char *name)
{
	for (size_t i = 0; i < page.row_count; i++)
		if (strcmp(page.rows[i].name, name) == 0)
			return &page.rows[i];
	ck_abort_msg("no row %s", name);
	return NULL;
}

START_TEST(a_recursive_function_has_its_time_once)
{
	struct swz_neighbours n;

	swz_neighbours_find(&n, &live.recent.contexts, F);
	ck_assert_int_eq(n.callees.items[0].inclusive_ns, 60);
	ck_assert_int_eq(n.callers.items[0].inclusive_ns, 60);
	ck_assert_uint_eq(n.callers.count, 2); /* main, beside the root */
	ck_assert_uint_eq(n.callers.items[1].function, MAIN);
	ck_assert_int_eq(n.callers.items[1].inclusive_ns, 60);
	ck_assert_uint_eq(n.callers.items[1].calls, 3);
	swz_neighbours_free(&n);
}
END_TEST

START_TEST(callers_share_the_time_of_a_function)
{
	struct swz_neighbours n;

	swz_neighbours_find(&n, &live.recent.contexts, H);
	ck_assert_int_eq(n.callers.items[0].inclusive_ns, 35);
	for (size_t i = 1; i < n.callers.count; i++) {
		const struct swz_context *c = &n.callers.items[i];

		if (c->parent == SWZ_CONTEXT_ROOT)
			ck_assert_int_eq(c->inclusive_ns,
					 c->function == G ? 25 : 10);
		else
			ck_assert_uint_eq(c->function, MAIN);
	}
	swz_neighbours_free(&n);
}
END_TEST

START_TEST(functions_are_sorted_by_their_own_time)
{
	fill();
	ck_assert_uint_eq(page.row_count, 4);
	ck_assert_str_eq(page.rows[0].name, "space::f(int)");
	ck_assert_str_eq(page.rows[1].name, "h");
	page.reversed[SWZ_PAGE_FUNCTIONS] = true;
	fill();
	ck_assert_str_eq(page.rows[0].name, "main");
	page.sort[SWZ_PAGE_FUNCTIONS] = SWZ_COLUMN_NAME;
	fill();
	ck_assert_str_eq(page.rows[0].name, "space::f(int)");
}
END_TEST

START_TEST(the_cursor_follows_its_row_but_stays_at_the_top)
{
	fill();
	live.recent.functions[G].self_ns = 1000;
	fill();
	ck_assert_str_eq(page.rows[page.cursor].name, "g");
	swz_page_move(&page, 1);
	ck_assert_str_eq(page.rows[page.cursor].name, "space::f(int)");
	live.recent.functions[F].self_ns = 1;
	fill();
	ck_assert_str_eq(page.rows[page.cursor].name, "space::f(int)");
	ck_assert_uint_eq(page.cursor, 2);
	swz_page_move(&page, INT64_MAX);
	ck_assert_uint_eq(page.cursor, 3);
	swz_page_move(&page, INT64_MIN);
	ck_assert_uint_eq(page.cursor, 0);
}
END_TEST

START_TEST(a_filter_counts_what_it_hides)
{
	strcpy(page.filter, "SPACE");
	fill();
	ck_assert_uint_eq(page.row_count, 1);
	ck_assert_uint_eq(page.hidden, 3);
	strcpy(page.filter, "nothing");
	fill();
	ck_assert_uint_eq(page.row_count, 0);
	swz_page_move(&page, 1);
	ck_assert(!swz_page_enter(&page));
	swz_page_back(&page);
	fill();
	ck_assert_uint_eq(page.row_count, 4);
}
END_TEST

START_TEST(entering_and_going_back_leads_to_the_same_function)
{
	fill();
	swz_page_move(&page, 1); /* h */
	ck_assert(swz_page_enter(&page));
	fill();
	ck_assert_int_eq(page.kind, SWZ_PAGE_NEIGHBOURS);
	ck_assert_str_eq(page.rows[0].name, "h");
	ck_assert_int_eq(swz_page_total(&page, &live), 35);
	ck_assert_int_eq(row_of("g")->inclusive_ns, 25);
	page.cursor = (size_t)(row_of("g") - page.rows);
	ck_assert(swz_page_enter(&page));
	fill();
	ck_assert_str_eq(page.rows[0].name, "g");
	ck_assert_int_eq(row_of("[itself]")->inclusive_ns, 15);
	ck_assert_int_eq(row_of("h")->inclusive_ns, 25);
	swz_page_back(&page);
	fill();
	ck_assert_str_eq(page.rows[0].name, "h");
	swz_page_back(&page);
	fill();
	ck_assert_int_eq(page.kind, SWZ_PAGE_FUNCTIONS);
	ck_assert_str_eq(page.rows[page.cursor].name, "h");
}
END_TEST

START_TEST(a_row_that_was_closed_stays_closed)
{
	fill();
	swz_page_move(&page, 1);
	ck_assert(swz_page_enter(&page));
	fill();
	ck_assert_int_eq(row_of("g")->fold, SWZ_ROW_OPEN);
	ck_assert_int_eq(row_of("main")->depth, 1);
	page.cursor = (size_t)(row_of("g") - page.rows);
	swz_page_fold(&page, false);
	fill();
	ck_assert_int_eq(row_of("g")->fold, SWZ_ROW_CLOSED);
	strcpy(page.filter, "main"); /* is found below closed rows */
	fill();
	ck_assert_int_eq(row_of("g")->fold, SWZ_ROW_OPEN);
	ck_assert_str_eq(row_of("main")->name, "main");
}
END_TEST

/* On any screen there is the name, and nothing is wider than the screen. */
START_TEST(columns_fit_on_any_screen)
{
	struct swz_column columns[SWZ_MOST_COLUMNS];

	for (int kind = 0; kind < SWZ_PAGE_KINDS; kind++)
		for (unsigned int screen = 1; screen < 300; screen++) {
			size_t count;
			unsigned int width = 0, names = 0;

			page.kind = (enum swz_page_kind)kind;
			live.samples = screen % 2;
			count = swz_columns(&page, &live, screen, columns);
			ck_assert_uint_le(count, SWZ_MOST_COLUMNS);
			for (size_t i = 0; i < count; i++) {
				names += columns[i].id == SWZ_COLUMN_NAME;
				width += columns[i].width + (i > 0);
			}
			ck_assert_uint_eq(names, 1);
			if (screen >= 24)
				ck_assert_uint_eq(width, screen);
		}
}
END_TEST

int main(void)
{
	TCase *pages = tcase_create("pages");
	Suite *suite = suite_create("page");

	tcase_add_checked_fixture(pages, set_up, tear_down);
	tcase_add_test(pages, a_recursive_function_has_its_time_once);
	tcase_add_test(pages, callers_share_the_time_of_a_function);
	tcase_add_test(pages, functions_are_sorted_by_their_own_time);
	tcase_add_test(pages, the_cursor_follows_its_row_but_stays_at_the_top);
	tcase_add_test(pages, a_filter_counts_what_it_hides);
	tcase_add_test(pages,
		       entering_and_going_back_leads_to_the_same_function);
	tcase_add_test(pages, a_row_that_was_closed_stays_closed);
	tcase_add_test(pages, columns_fit_on_any_screen);
	suite_add_tcase(suite, pages);
	return run_suite(suite);
}
