#include "profile/formats/html_index.h"

#include <stdlib.h>

#include "profile/formats/page_block.h"
#include "profile/support/memory.h"

#define LEVEL 6 /* of compression */

struct block {
	uint64_t ticks;
	uint64_t activations;
	uint64_t kept;
	uint64_t opened; /* besides, open when it begins */
};

struct swz_html_index {
	struct block *blocks;
	size_t count;
	size_t capacity;
	struct swz_html_activation *open; /* in the order of their beginning */
	size_t open_count;
	size_t open_capacity;
};

struct swz_html_index *swz_html_index_begin(void)
{
	return swz_allocate(1, sizeof(struct swz_html_index));
}

void swz_html_index_block(struct swz_html_index *index, uint64_t ticks,
			  uint64_t activations, uint64_t kept)
{
	swz_grow(&index->blocks, &index->capacity, index->count,
		 sizeof(*index->blocks));
	index->blocks[index->count++] = (struct block){
		.ticks = ticks,
		.activations = activations,
		.kept = kept,
	};
}

uint32_t swz_html_index_open(struct swz_html_index *index)
{
	swz_grow(&index->open, &index->open_capacity, index->open_count,
		 sizeof(*index->open));
	index->blocks[index->count - 1].opened++;
	return (uint32_t)index->open_count++;
}

void swz_html_index_close(struct swz_html_index *index, uint32_t number,
			  const struct swz_html_activation *activation)
{
	index->open[number] = *activation;
}

static void put(const struct swz_html_index *index,
		struct swz_page_block *block, uint64_t origin,
		uint64_t activations)
{
	uint64_t last = origin;
	size_t i;

	swz_page_block_number(block, index->open_count);
	for (i = 0; i < index->open_count; i++) {
		const struct swz_html_activation *a = &index->open[i];

		swz_page_block_number(block, a->start - last);
		swz_page_block_number(block, a->end - a->start);
		swz_page_block_number(block, a->context);
		swz_page_block_number(block, a->flags);
		swz_page_block_number(block, a->calls);
		last = a->start;
	}
	swz_page_block_number(block, index->count);
	last = origin;
	for (i = 0; i < index->count; i++) {
		const struct block *b = &index->blocks[i];
		uint64_t next = i + 1 < index->count ? b[1].activations
						     : activations;

		swz_page_block_number(block, b->ticks - last);
		swz_page_block_number(block, next - b->activations);
		swz_page_block_number(block, b->kept);
		swz_page_block_number(block, b->opened);
		last = b->ticks;
	}
}

void swz_html_index_end(struct swz_html_index *index, FILE *stream,
			const char *name, uint64_t origin, uint64_t activations)
{
	struct swz_page_block *block;

	if (stream) {
		block = swz_page_block_begin(stream, name, LEVEL);
		put(index, block, origin, activations);
		swz_page_block_end(block);
	}
	free(index->blocks);
	free(index->open);
	free(index);
}
