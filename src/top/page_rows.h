#ifndef SWZ_TOP_PAGE_ROWS_H
#define SWZ_TOP_PAGE_ROWS_H

/* Makes the rows of the pages: parts of swz_page_fill(). */

#include "top/page.h"

void swz_page_add(struct swz_page *page, const struct swz_row *row);

/* Whether the filter, if there is one, is in one of the texts. */
bool swz_page_shows(const struct swz_page *page, const char *name,
		    const char *module);

uint64_t swz_page_key_of_function(uint32_t function);

void swz_page_add_functions(struct swz_page *page, const struct swz_live *live);
void swz_page_add_threads(struct swz_page *page, const struct swz_live *live);
void swz_page_add_modules(struct swz_page *page, const struct swz_live *live);
void swz_page_add_processes(struct swz_page *page,
			    const struct swz_process_list *list);
/* The function, who calls it and what it calls. */
void swz_page_add_neighbours(struct swz_page *page,
			     const struct swz_live *live);

#endif
