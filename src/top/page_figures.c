#include "top/page.h"

const struct swz_live_figures *swz_page_figures(const struct swz_page *page,
						const struct swz_live *live)
{
	return page->whole ? &live->total : &live->recent;
}

int64_t swz_page_total(const struct swz_page *page, const struct swz_live *live)
{
	const struct swz_live_figures *figures = swz_page_figures(page, live);

	if (page->kind == SWZ_PAGE_PROCESSES)
		return (int64_t)live->recent.wall_ns;
	if (page->kind == SWZ_PAGE_THREADS)
		return (int64_t)figures->wall_ns;
	if (page->kind == SWZ_PAGE_NEIGHBOURS)
		return page->row_count ? page->rows[0].inclusive_ns : 0;
	return figures->total_ns;
}
