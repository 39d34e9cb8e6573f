#include "profile/formats/html_ranks.h"

#include <stdlib.h>

#include "profile/costs/rank_function.h"
#include "profile/formats/page_block.h"
#include "profile/support/memory.h"

#define LEVEL 6 /* of compression */
#define NO_ROW UINT32_MAX

struct table {
	const struct swz_section *section;
	uint32_t *functions; /* of the rows; sorted */
	size_t count;
	uint32_t *row_of; /* by the catalog's functions */
	int64_t *times;   /* by row, then rank */
};

static int by_time(const void *left, const void *right, void *context)
{
	const struct swz_report_function *functions = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (functions[a].self_ns != functions[b].self_ns)
		return functions[a].self_ns > functions[b].self_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_number(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* Returns how many have no row. */
static size_t choose_rows(struct table *table, size_t ranks, size_t room)
{
	const struct swz_report *report = table->section->report;
	size_t capacity = report->function_capacity, all = 0, i;

	table->functions = swz_allocate(capacity + 1,
					sizeof(*table->functions));
	table->row_of = swz_allocate(capacity + 1, sizeof(*table->row_of));
	for (i = 0; i < capacity; i++) {
		table->row_of[i] = NO_ROW;
		if (report->functions[i].present)
			table->functions[all++] = (uint32_t)i;
	}
	table->count = all;
	if (table->count > room / ranks) {
		table->count = room / ranks;
		qsort_r(table->functions, all, sizeof(*table->functions),
			by_time, report->functions);
	}
	qsort(table->functions, table->count, sizeof(*table->functions),
	      by_number);
	for (i = 0; i < table->count; i++)
		table->row_of[table->functions[i]] = (uint32_t)i;
	return all - table->count;
}

static void add_rank(struct table *table, uint32_t thread, size_t index,
		     size_t ranks)
{
	struct swz_profile *profile = table->section->binding->profile;
	const struct swz_summed_rank *rank = &profile->ranks->items[index];
	struct swz_rank_cost *costs = swz_profile_rank_costs(profile, index);
	uint32_t i;

	for (i = 0; costs && i < rank->cost_count; i++) {
		uint32_t function;

		if (costs[i].thread != thread)
			continue;
		function = swz_rank_function(table->section->binding,
					     &costs[i]);
		if (function < table->section->report->function_capacity &&
		    table->row_of[function] != NO_ROW)
			table->times[table->row_of[function] * ranks + index] =
				costs[i].self_ns;
	}
	free(costs);
}

/* The functions, each as its distance from the one before; then of each the
 * times of all ranks. */
static void put_table(FILE *stream, size_t index, const struct table *table,
		      size_t ranks)
{
	struct swz_page_block *block;
	char name[32];
	uint32_t last = 0;
	size_t i;

	snprintf(name, sizeof(name), "ranks %zu", index);
	block = swz_page_block_begin(stream, name, LEVEL);
	swz_page_block_number(block, table->count);
	for (i = 0; i < table->count; i++) {
		swz_page_block_number(block, table->functions[i] - last);
		last = table->functions[i];
	}
	for (i = 0; i < table->count * ranks; i++)
		swz_page_block_time(block, table->times[i]);
	swz_page_block_end(block);
}

size_t swz_html_put_ranks(FILE *stream, size_t index,
			  const struct swz_section *section, size_t *room)
{
	const struct swz_profile *profile = section->profile;
	struct table table = {.section = section};
	size_t thread, left_out, i;

	if (!section->thread || !profile->ranks || !profile->ranks->count ||
	    (section->view && !swz_view_is_whole(section->view)))
		return 0;
	thread = (size_t)(section->thread - profile->threads);
	if (!swz_profile_thread_has_rank(profile, thread))
		return 0;
	left_out = choose_rows(&table, profile->ranks->count, *room);
	*room -= table.count * profile->ranks->count;
	table.times = swz_allocate(table.count * profile->ranks->count + 1,
				   sizeof(*table.times));
	for (i = 0; i < profile->ranks->count; i++)
		add_rank(&table, (uint32_t)thread, i, profile->ranks->count);
	put_table(stream, index, &table, profile->ranks->count);
	free(table.functions);
	free(table.row_of);
	free(table.times);
	return left_out;
}
