/* A tree is shown as far as its rows are open: at first those near the
 * function that have some of its time. What the user opened or closed is kept
 * by the path, so that it stays so in the next round. */

#include "top/page_rows.h"

#include <stdlib.h>

#include "profile/support/memory.h"
#include "top/neighbours.h"

/* Open at first. */
#define OPEN_DEPTH 2u
#define OPEN_PERCENT 2

struct rows {
	struct swz_page *page;
	const struct swz_live *live;
	const struct swz_contexts *contexts;
	struct swz_children children;
	uint64_t *keys;
	bool *shown; /* by the filter */
};

static uint64_t mix(uint64_t above, uint64_t of)
{
	uint64_t key = (above ^ of) * 0x9e3779b97f4a7c15u;

	return key ^ key >> 29;
}

static int by_time(const void *left, const void *right, void *argument)
{
	const struct swz_context *items = argument;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (items[a].inclusive_ns != items[b].inclusive_ns)
		return items[a].inclusive_ns > items[b].inclusive_ns ? -1 : 1;
	if (items[a].calls != items[b].calls)
		return items[a].calls > items[b].calls ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* What the filter finds is shown with the path that leads there. A context of
 * earlier rounds, in which nothing was spent since, is not. */
static void prepare(struct rows *r, uint64_t salt)
{
	const struct swz_context *items = r->contexts->items;

	r->keys = swz_allocate(r->contexts->count, sizeof(*r->keys));
	r->shown = swz_allocate(r->contexts->count, sizeof(*r->shown));
	r->keys[0] = mix(salt, items[0].function);
	for (size_t i = 1; i < r->contexts->count; i++)
		r->keys[i] = mix(r->keys[items[i].parent],
				 (uint64_t)items[i].function << 1 |
					 items[i].folded);
	for (size_t i = r->contexts->count; i-- > 1;) {
		uint32_t function = items[i].function;

		if (!items[i].inclusive_ns && !items[i].calls)
			continue;
		r->shown[i] |= swz_page_shows(
			r->page, swz_live_name(r->live, function),
			swz_live_module(r->live, function));
		r->shown[items[i].parent] |= r->shown[i];
		r->page->hidden += !r->shown[i];
	}
	swz_children_find(&r->children, r->contexts, by_time,
			  r->contexts->items);
}

static bool is_open(const struct rows *r, uint32_t at)
{
	const struct swz_context *c = &r->contexts->items[at];
	uint32_t told = swz_map_get(&r->page->folds, r->keys[at], 0);

	if (r->page->filter[0])
		return true;
	if (told != SWZ_MAP_NONE)
		return told;
	return c->depth <= OPEN_DEPTH &&
	       (double)c->inclusive_ns * 100 >=
		       (double)r->contexts->items[0].inclusive_ns *
			       OPEN_PERCENT;
}

static void add_row(const struct rows *r, uint32_t at, bool open)
{
	const struct swz_context *c = &r->contexts->items[at];
	bool leaf = r->children.start[at] == r->children.start[at + 1];

	swz_page_add(r->page,
		     &(struct swz_row){
			     .key = r->keys[at],
			     .index = c->function,
			     .depth = c->depth - 1,
			     .fold = leaf   ? SWZ_ROW_LEAF
				     : open ? SWZ_ROW_OPEN
					    : SWZ_ROW_CLOSED,
			     .self_ns = c->self_ns,
			     .inclusive_ns = c->inclusive_ns,
			     .calls = c->calls,
			     .name = swz_live_name(r->live, c->function),
			     .module = swz_live_module(r->live, c->function)});
}

static void add_heading(struct swz_page *page, const char *text, uint64_t key)
{
	swz_page_add(page, &(struct swz_row){
				   .key = key, .heading = true, .name = text});
}

/* Depth first; a path can be too long for recursion. */
static void add_tree(struct swz_page *page, const struct swz_live *live,
		     const struct swz_contexts *contexts, uint64_t salt)
{
	struct rows r = {.page = page, .live = live, .contexts = contexts};
	uint32_t *stack = swz_allocate(contexts->count, sizeof(*stack));
	size_t depth = 0;

	prepare(&r, salt);
	stack[depth++] = SWZ_CONTEXT_ROOT;
	while (depth) {
		uint32_t at = stack[--depth];
		bool open = at == SWZ_CONTEXT_ROOT || is_open(&r, at);

		if (at != SWZ_CONTEXT_ROOT)
			add_row(&r, at, open);
		for (uint32_t i = r.children.start[at + 1];
		     open && i-- > r.children.start[at];)
			if (r.shown[r.children.items[i]])
				stack[depth++] = r.children.items[i];
	}
	swz_children_free(&r.children);
	free(r.keys);
	free(r.shown);
	free(stack);
}

void swz_page_add_neighbours(struct swz_page *page, const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);
	uint32_t function = page->functions[page->function_count - 1];
	struct swz_neighbours n;

	swz_neighbours_find(&n, &figures->contexts, function);
	swz_page_add(page,
		     &(struct swz_row){
			     .key = swz_page_key_of_function(function),
			     .index = function,
			     .self_ns = n.callees.items[0].self_ns,
			     .inclusive_ns = n.callees.items[0].inclusive_ns,
			     .calls = n.callees.items[0].calls,
			     .name = swz_live_name(live, function),
			     .module = swz_live_module(live, function)});
	add_heading(page, "called by", UINT64_MAX);
	add_tree(page, live, &n.callers, 1);
	add_heading(page, "calls", UINT64_MAX - 1);
	if (n.callees.items[0].self_ns)
		swz_page_add(page,
			     &(struct swz_row){
				     .key = UINT64_MAX - 2,
				     .index = function,
				     .inclusive_ns = n.callees.items[0].self_ns,
				     .name = "[itself]",
				     .module = ""});
	add_tree(page, live, &n.callees, 2);
	swz_neighbours_free(&n);
}
