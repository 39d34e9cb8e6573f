#include "top/page.h"

#include <stdlib.h>
#include <string.h>

#include "top/page_rows.h"

void swz_page_begin(struct swz_page *page)
{
	*page = (struct swz_page){
		.kind = SWZ_PAGE_FUNCTIONS,
		.sort = {[SWZ_PAGE_FUNCTIONS] = SWZ_COLUMN_SELF,
			 [SWZ_PAGE_THREADS] = SWZ_COLUMN_CPU,
			 [SWZ_PAGE_MODULES] = SWZ_COLUMN_SELF,
			 [SWZ_PAGE_PROCESSES] = SWZ_COLUMN_CPU},
	};
}

void swz_page_free(struct swz_page *page)
{
	free(page->rows);
	swz_map_free(&page->folds);
	*page = (struct swz_page){0};
}

/* ------------------------------------------------------------- the cursor */

static void place_cursor(struct swz_page *page)
{
	for (size_t i = 0; page->follows && i < page->row_count; i++)
		if (page->rows[i].key == page->key) {
			page->cursor = i;
			return;
		}
	if (!page->follows)
		page->cursor = 0;
	else if (page->cursor >= page->row_count)
		page->cursor = page->row_count ? page->row_count - 1 : 0;
}

/* At the top it stays there, whatever comes to the top. */
void swz_page_move(struct swz_page *page, int64_t by)
{
	int64_t most = page->row_count ? (int64_t)page->row_count - 1 : 0;
	int64_t to = (int64_t)page->cursor;

	to = by < -to ? 0 : by > most - to ? most : to + by;
	page->cursor = (size_t)to;
	page->follows = to > 0;
	if (page->follows)
		page->key = page->rows[to].key;
}

void swz_page_fill(struct swz_page *page, const struct swz_live *live,
		   const char *const *lines)
{
	page->row_count = page->hidden = 0;
	switch (page->kind) {
	case SWZ_PAGE_FUNCTIONS:
		swz_page_add_functions(page, live);
		break;
	case SWZ_PAGE_THREADS:
		swz_page_add_threads(page, live);
		break;
	case SWZ_PAGE_MODULES:
		swz_page_add_modules(page, live);
		break;
	case SWZ_PAGE_NEIGHBOURS:
		swz_page_add_neighbours(page, live);
		break;
	case SWZ_PAGE_PROCESSES:
		break; /* see below */
	case SWZ_PAGE_OUTPUT:
	case SWZ_PAGE_HELP:
	case SWZ_PAGE_KINDS:
		for (uint32_t i = 0; lines && lines[i]; i++)
			swz_page_add(page, &(struct swz_row){.key = i + 1,
							     .index = i,
							     .name = lines[i]});
	}
	place_cursor(page);
}

void swz_page_fill_processes(struct swz_page *page,
			     const struct swz_process_list *list,
			     struct swz_live *live)
{
	live->recent.wall_ns = list->wall_ns;
	page->row_count = page->hidden = 0;
	swz_page_add_processes(page, list);
	place_cursor(page);
}

/* ------------------------------------------------------- to and fro */

static void go(struct swz_page *page, enum swz_page_kind kind)
{
	page->kind = kind;
	page->cursor = 0;
	page->follows = false;
	page->filter[0] = '\0';
}

void swz_page_show(struct swz_page *page, enum swz_page_kind kind)
{
	go(page, kind);
	page->module = NULL;
	page->function_count = 0;
}

bool swz_page_enter(struct swz_page *page)
{
	const struct swz_row *row = &page->rows[page->cursor];
	uint32_t function;

	if (page->cursor >= page->row_count || row->heading)
		return false;
	function = row->index;
	if (page->kind == SWZ_PAGE_MODULES) {
		const char *module = row->name;

		go(page, SWZ_PAGE_FUNCTIONS);
		page->module = module;
		return true;
	}
	if (page->kind != SWZ_PAGE_FUNCTIONS &&
	    page->kind != SWZ_PAGE_NEIGHBOURS)
		return false;
	if (page->function_count &&
	    page->functions[page->function_count - 1] == function)
		return page->kind == SWZ_PAGE_NEIGHBOURS;
	if (page->function_count == SWZ_PAGE_DEPTH) {
		memmove(page->functions, page->functions + 1,
			sizeof(page->functions) - sizeof(*page->functions));
		page->function_count--;
	}
	page->functions[page->function_count++] = function;
	go(page, SWZ_PAGE_NEIGHBOURS);
	return true;
}

void swz_page_back(struct swz_page *page)
{
	if (page->filter[0]) {
		page->filter[0] = '\0';
	} else if (page->kind == SWZ_PAGE_NEIGHBOURS) {
		uint32_t left = page->functions[--page->function_count];

		if (page->function_count) {
			go(page, SWZ_PAGE_NEIGHBOURS);
		} else {
			go(page, SWZ_PAGE_FUNCTIONS);
			page->follows = true;
			page->key = swz_page_key_of_function(left);
		}
	} else if (page->module) {
		swz_page_show(page, SWZ_PAGE_MODULES);
	} else {
		swz_page_show(page, SWZ_PAGE_FUNCTIONS);
	}
}

void swz_page_fold(struct swz_page *page, bool open)
{
	if (page->cursor < page->row_count &&
	    page->rows[page->cursor].fold != SWZ_ROW_LEAF)
		*swz_map_at(&page->folds, page->rows[page->cursor].key,
			    0) = open;
}
