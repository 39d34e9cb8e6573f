#include "profile/formats/merged_parts.h"

#include <stdlib.h>

static size_t put_rank_threads(const struct swz_merged_file *w,
			       struct swz_bytes *body)
{
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < w->merge->thread_count; i++) {
		if (!w->merge->threads[i].has_rank)
			continue;
		swz_bytes_add(body, &i, sizeof(i));
		count++;
	}
	return count;
}

/* Records, functions, threads, the hosts. */
static void put_rank_list(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	size_t records = merge->rank_count * sizeof(struct swz_rank_record);
	struct swz_chunk chunk = {.type = SWZ_CHUNK_RANKS,
				  .count = (uint32_t)merge->rank_count};
	struct swz_bytes body = {0}, rest = {0};
	struct swz_merged_text text = {0};
	size_t i;

	swz_bytes_add(&rest, w->ids, merge->function_count * sizeof(*w->ids));
	chunk.reserved[SWZ_RANKS_FUNCTIONS] = merge->function_count;
	chunk.reserved[SWZ_RANKS_THREADS] = put_rank_threads(w, &rest);
	for (i = 0; i < merge->rank_count; i++) {
		const struct swz_merge_rank *rank = &merge->ranks[i];
		struct swz_rank_record record = {
			.rank = rank->rank,
			.pid = rank->pid,
			.processes = rank->processes,
			.host = swz_merged_text_at(&text, rank->host)};

		record.host = swz_merged_text_from(record.host,
						   records + rest.size);
		swz_bytes_add(&body, &record, sizeof(record));
	}
	swz_bytes_add_string(&text.bytes, ""); /* there is a text that ends */
	swz_bytes_add(&body, rest.bytes, rest.size);
	swz_bytes_add(&body, text.bytes.bytes, text.bytes.size);
	swz_merged_put_bytes(w, chunk, body.bytes, body.size);
	free(body.bytes);
	free(rest.bytes);
	swz_merged_text_free(&text);
}

void swz_merged_put_ranks(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	size_t i;

	if (!merge->rank_count)
		return;
	put_rank_list(w);
	for (i = 0; i < merge->rank_count; i++)
		swz_merged_put_bytes(
			w,
			(struct swz_chunk){.type = SWZ_CHUNK_RANK_COSTS,
					   .count = merge->ranks[i].cost_count,
					   .owner = merge->ranks[i].rank},
			merge->ranks[i].packed, merge->ranks[i].bytes);
}
