#include "profile/formats/by_rank.h"

#include <inttypes.h>

#include "profile/support/output.h"

#define PERCENT_WIDTH 8
#define RANK_WIDTH 7

static const struct swz_imbalance *of(const struct swz_group_row *row,
				      bool inclusive)
{
	return inclusive ? &row->spread->inclusive : &row->spread->self;
}

static uint32_t slowest(const struct swz_by_section *by,
			const struct swz_imbalance *imbalance)
{
	return by->groups->ranks[imbalance->most_at].rank;
}

static void put_percent(FILE *stream, int width, int64_t tenths)
{
	fprintf(stream, "%*" PRId64 ".%" PRId64, width, tenths / 10,
		tenths % 10);
}

void swz_put_imbalance_text(FILE *stream, const struct swz_by_section *by,
			    const struct swz_by_rows *rows, enum swz_sort sort)
{
	bool inclusive = sort == SWZ_SORT_INCLUSIVE;
	size_t i;

	fprintf(stream,
		"# %s time by rank, of %zu ranks; %%: the maximum above the "
		"mean; rank: which has the maximum\n",
		inclusive ? "inclusive" : "self", by->groups->rank_count);
	fprintf(stream, "%12s %15s %15s %15s %15s %9s %7s  function  module\n",
		swz_counted(by->section), inclusive ? "incl" : "self", "min",
		"mean", "max", "%", "rank");
	for (i = 0; i < rows->count; i++) {
		const struct swz_group_row *row =
			&rows->table.rows[rows->order[i]];
		const struct swz_imbalance *x = of(row, inclusive);

		fprintf(stream,
			"%12" PRIu64 " %15" PRId64 " %15" PRId64 " %15" PRId64
			" %15" PRId64 " ",
			row->calls,
			inclusive ? row->inclusive_ns : row->self_ns,
			x->least_ns, x->mean_ns, x->most_ns);
		put_percent(stream, 7, x->tenths);
		fprintf(stream, " %7" PRIu32 "  ", slowest(by, x));
		swz_put_text(stream, row->name);
		fputs("  ", stream);
		swz_put_text(stream, row->module_name);
		putc('\n', stream);
	}
}

static void put_csv(FILE *stream, const struct swz_by_section *by,
		    const struct swz_imbalance *x)
{
	fprintf(stream, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",", x->least_ns,
		x->mean_ns, x->most_ns);
	put_percent(stream, 0, x->tenths);
	fprintf(stream, ",%" PRIu32, slowest(by, x));
}

void swz_put_imbalance_csv(FILE *stream, const struct swz_by_section *by,
			   const struct swz_by_rows *rows)
{
	size_t i;

	fprintf(stream,
		"%s,self_ns,self_min_ns,self_mean_ns,self_max_ns,"
		"self_imbalance_percent,self_max_rank,incl_ns,incl_min_ns,"
		"incl_mean_ns,incl_max_ns,incl_imbalance_percent,"
		"incl_max_rank,function,module\n",
		swz_counted(by->section));
	for (i = 0; i < rows->count; i++) {
		const struct swz_group_row *row =
			&rows->table.rows[rows->order[i]];
		const struct swz_imbalance *self = of(row, false);
		const struct swz_imbalance *inclusive = of(row, true);

		fprintf(stream, "%" PRIu64 ",%" PRId64, row->calls,
			row->self_ns);
		put_csv(stream, by, self);
		fprintf(stream, ",%" PRId64, row->inclusive_ns);
		put_csv(stream, by, inclusive);
		putc(',', stream);
		swz_put_csv(stream, row->name);
		putc(',', stream);
		swz_put_csv(stream, row->module ? row->module : "");
		putc('\n', stream);
	}
}

static void put_json(FILE *stream, const struct swz_by_section *by,
		     const char *what, const struct swz_imbalance *x)
{
	fprintf(stream,
		",\"%s_min_ns\":%" PRId64 ",\"%s_mean_ns\":%" PRId64
		",\"%s_max_ns\":%" PRId64 ",\"%s_imbalance_percent\":",
		what, x->least_ns, what, x->mean_ns, what, x->most_ns, what);
	put_percent(stream, 0, x->tenths);
	fprintf(stream, ",\"%s_max_rank\":%" PRIu32, what, slowest(by, x));
}

void swz_put_imbalance_json(FILE *stream, const struct swz_by_section *by,
			    const struct swz_group_row *row)
{
	const struct swz_imbalance *self = of(row, false);
	const struct swz_imbalance *inclusive = of(row, true);

	fprintf(stream, ",\"%s\":%" PRIu64 ",\"incl_ns\":%" PRId64,
		swz_counted(by->section), row->calls, row->inclusive_ns);
	put_json(stream, by, "self", self);
	put_json(stream, by, "incl", inclusive);
}

void swz_put_imbalance_titles(struct swz_cells *cells, enum swz_sort sort)
{
	swz_put_share_title(cells,
			    sort == SWZ_SORT_INCLUSIVE ? "incl%" : "self%");
	swz_put_time_title(cells, "min");
	swz_put_time_title(cells, "mean");
	swz_put_time_title(cells, "max");
	swz_put_text_cell(cells, SWZ_COLOUR_BOLD, "uneven", PERCENT_WIDTH);
	swz_put_text_cell(cells, SWZ_COLOUR_BOLD, "rank", RANK_WIDTH);
	swz_put_count_title(cells, cells->counted);
}

void swz_put_imbalance_cells(struct swz_cells *cells,
			     const struct swz_by_section *by,
			     const struct swz_group_row *row,
			     enum swz_sort sort)
{
	bool inclusive = sort == SWZ_SORT_INCLUSIVE;
	const struct swz_imbalance *x = of(row, inclusive);
	int64_t lost = x->most_ns - x->mean_ns;
	char text[32];

	swz_put_share(cells, inclusive ? row->inclusive_ns : row->self_ns);
	swz_put_time(cells, SWZ_COLOUR_NONE, x->least_ns);
	swz_put_time(cells, SWZ_COLOUR_NONE, x->mean_ns);
	/* of the time of all ranks, as they wait for it */
	swz_put_time(cells,
		     swz_colour_of_share(lost * (int64_t)by->groups->rank_count,
					 cells->total),
		     x->most_ns);
	snprintf(text, sizeof(text), "%" PRId64 "%%", (x->tenths + 5) / 10);
	swz_put_text_cell(cells, SWZ_COLOUR_NONE, text, PERCENT_WIDTH);
	snprintf(text, sizeof(text), "%" PRIu32, slowest(by, x));
	swz_put_text_cell(cells, SWZ_COLOUR_NONE, text, RANK_WIDTH);
	swz_put_count(cells, row->calls);
}

void swz_put_imbalance_note(FILE *stream, const struct swz_by_section *by,
			    enum swz_sort sort)
{
	fprintf(stream,
		"Min, mean and max: %s time by rank, of %zu. Uneven: the "
		"maximum above the mean; rank: which has the maximum.\n",
		sort == SWZ_SORT_INCLUSIVE ? "inclusive" : "self",
		by->groups->rank_count);
}
