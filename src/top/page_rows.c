#include "top/page_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "top/columns.h"

void swz_page_add(struct swz_page *page, const struct swz_row *row)
{
	swz_grow(&page->rows, &page->row_capacity, page->row_count,
		 sizeof(*page->rows));
	page->rows[page->row_count++] = *row;
}

bool swz_page_shows(const struct swz_page *page, const char *name,
		    const char *module)
{
	return !page->filter[0] || strcasestr(name, page->filter) ||
	       (module && strcasestr(module, page->filter));
}

static void add_filtered(struct swz_page *page, const struct swz_row *row)
{
	if (swz_page_shows(page, row->name, row->module))
		swz_page_add(page, row);
	else
		page->hidden++;
}

uint64_t swz_page_key_of_function(uint32_t function)
{
	return (uint64_t)function + 1;
}

uint64_t swz_page_key_of_thread(int32_t pid, int32_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

/* ------------------------------------------------------------- sorting */

struct order {
	enum swz_column_id by;
	bool reversed;
	enum swz_page_kind kind;
};

static int compare(const void *left, const void *right, void *argument)
{
	const struct order *order = argument;
	const struct swz_row *a = left, *b = right;
	int result = swz_rows_compare(a, b, order->by, order->kind);

	if (result)
		return order->reversed ? -result : result;
	return a->key < b->key ? -1 : a->key > b->key;
}

static void sort_rows(struct swz_page *page)
{
	struct order order = {page->sort[page->kind],
			      page->reversed[page->kind], page->kind};

	if (page->row_count > 1)
		qsort_r(page->rows, page->row_count, sizeof(*page->rows),
			compare, &order);
}

/* --------------------------------------------------------------- pages */

/* What is outside of all functions calls them: nobody asks for that sum. */
static bool is_nothing(const struct swz_live_figures *figures,
		       uint32_t function)
{
	const struct swz_live_function *f = &figures->functions[function];

	return !f->calls && !f->self_ns &&
	       (!f->inclusive_ns || function == SWZ_CATALOG_OUTSIDE);
}

static struct swz_row row_of(const struct swz_live *live,
			     const struct swz_live_figures *figures,
			     uint32_t function)
{
	const struct swz_live_function *f = &figures->functions[function];

	return (struct swz_row){
		.key = swz_page_key_of_function(function),
		.index = function,
		.self_ns = f->self_ns,
		.inclusive_ns = f->inclusive_ns,
		.calls = f->calls,
		.name = swz_live_name(live, function),
		.module = swz_live_module(live, function),
	};
}

void swz_page_add_functions(struct swz_page *page, const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);

	for (uint32_t i = 0; i < figures->function_count; i++) {
		struct swz_row row;

		if (is_nothing(figures, i))
			continue;
		row = row_of(live, figures, i);
		if (!page->module || strcmp(page->module, row.module) == 0)
			add_filtered(page, &row);
	}
	sort_rows(page);
}

void swz_page_add_threads(struct swz_page *page, const struct swz_live *live)
{
	for (uint32_t i = 0; i < live->thread_count; i++) {
		const struct swz_live_thread *t = &live->threads[i];
		struct swz_row row = {
			.key = swz_page_key_of_thread(t->pid, t->tid),
			.index = i,
			.pid = t->pid,
			.tid = t->tid,
			.name = t->name,
			.self_ns = (int64_t)(page->whole ? t->total_used_ns
							 : t->used_ns),
			.calls = page->whole ? t->total_calls : t->calls,
		};

		if (page->whole || t->seen == live->round)
			add_filtered(page, &row);
	}
	sort_rows(page);
}

void swz_page_add_processes(struct swz_page *page,
			    const struct swz_process_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct swz_top_process *p = &list->items[i];

		char pid[16];

		snprintf(pid, sizeof(pid), "%" PRId32, p->pid);
		if (!swz_page_shows(page, p->command, pid)) {
			page->hidden++;
			continue;
		}
		swz_page_add(page, &(struct swz_row){
					   .key = (uint64_t)(uint32_t)p->pid,
					   .index = i,
					   .pid = p->pid,
					   .name = p->command,
					   .module = p->watch,
					   .self_ns = (int64_t)p->recent_ns,
					   .inclusive_ns = (int64_t)p->used_ns,
				   });
	}
	sort_rows(page);
}

/* Modules are known by their names, which differ. */
static struct swz_row *module_row(struct swz_page *page, struct swz_map *found,
				  const char *name)
{
	uint32_t *index = swz_map_at(found, (uintptr_t)name, 0);

	if (*index == SWZ_MAP_NONE) {
		*index = (uint32_t)page->row_count;
		swz_page_add(page, &(struct swz_row){.key = (uintptr_t)name,
						     .name = name});
	}
	return &page->rows[*index];
}

void swz_page_add_modules(struct swz_page *page, const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);
	struct swz_map found = {0};
	size_t kept = 0;

	for (uint32_t i = 0; i < figures->function_count; i++) {
		struct swz_row *row, of;

		if (is_nothing(figures, i))
			continue;
		of = row_of(live, figures, i);
		row = module_row(page, &found, of.module);
		row->self_ns += of.self_ns;
		row->calls += of.calls;
		row->functions++;
	}
	for (size_t i = 0; i < page->row_count; i++)
		if (swz_page_shows(page, page->rows[i].name, NULL))
			page->rows[kept++] = page->rows[i];
	page->hidden = page->row_count - kept;
	page->row_count = kept;
	swz_map_free(&found);
	sort_rows(page);
}
