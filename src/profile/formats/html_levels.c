/* A pixel of the finest level is the 262,144th part of the thread's time, of
 * each other level 8 times the one before. An activation of 1.5 pixels or more
 * stays one. Of the others all that begin in the same pixel are one run, which
 * has the context of the first. Runs and activations of a level are what the
 * next coarser one is made of, so an event costs little more than it does for
 * one level. */

#include "profile/formats/html_levels.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/page_block.h"
#include "profile/support/memory.h"

#define LEVEL 6 /* of compression */
#define LEVELS 3
#define FINEST_SHIFT 18
#define SHIFT 3
/* Deeper ones are drawn from events only. */
#define ROWS_MOST 1024

struct box {
	struct swz_html_activation a; /* of a run `calls` is how many it is of
				       */
	bool run;
};

struct row {
	bool pending; /* `box` may grow */
	struct box box;
	uint64_t pixel; /* it begins in */
	uint64_t last;  /* end of the box before */
	uint8_t *bytes;
	size_t size;
	size_t capacity;
	uint64_t count;
};

struct level {
	uint64_t pixel; /* ticks */
	struct row *rows;
	size_t row_count;
	size_t row_capacity;
};

struct swz_html_levels {
	uint64_t start;
	struct level levels[LEVELS]; /* the finest first */
};

struct swz_html_levels *swz_html_levels_begin(uint64_t start, uint64_t end)
{
	struct swz_html_levels *levels = swz_allocate(1, sizeof(*levels));
	uint64_t length = end > start ? end - start : 1;
	size_t i;

	levels->start = start;
	for (i = 0; i < LEVELS; i++) {
		uint64_t pixel = length >> (FINEST_SHIFT - SHIFT * i);

		levels->levels[i].pixel = pixel ? pixel : 1;
	}
	return levels;
}

static void put_byte(struct row *row, uint8_t byte)
{
	swz_grow(&row->bytes, &row->capacity, row->size, 1);
	row->bytes[row->size++] = byte;
}

static void put_number(struct row *row, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(row, (uint8_t)(value | 0x80));
	put_byte(row, (uint8_t)value);
}

/* Ends of a run may lie behind the beginning of what follows: never where they
 * come from nested calls, so that what does is cut. */
static void put_box(struct row *row, const struct box *box)
{
	uint64_t start = box->a.start > row->last ? box->a.start : row->last;
	uint64_t end = box->a.end > start ? box->a.end : start;

	put_number(row, start - row->last);
	put_number(row, end - start);
	put_number(row, box->a.context);
	put_number(row,
		   box->a.calls << 4 | (box->run ? 8u : 0u) | box->a.flags);
	row->last = end;
	row->count++;
}

static struct row *row_at(struct level *level, size_t index, uint64_t origin)
{
	while (level->row_count <= index) {
		swz_grow(&level->rows, &level->row_capacity, level->row_count,
			 sizeof(*level->rows));
		level->rows[level->row_count++] = (struct row){.last = origin};
	}
	return &level->rows[index];
}

static void add(struct swz_html_levels *levels, size_t number, size_t index,
		const struct box *box);

static void put_pending(struct swz_html_levels *levels, size_t number,
			size_t index)
{
	struct row *row = &levels->levels[number].rows[index];
	struct box box = row->box;

	if (!row->pending)
		return;
	row->pending = false;
	put_box(row, &box);
	add(levels, number + 1, index, &box);
}

static uint64_t activations_of(const struct box *box)
{
	return box->run ? box->a.calls : 1;
}

static void add(struct swz_html_levels *levels, size_t number, size_t index,
		const struct box *box)
{
	struct level *level = &levels->levels[number];
	struct row *row;
	uint64_t pixel;

	if (number == LEVELS)
		return;
	row = row_at(level, index, levels->start);
	if ((box->a.end - box->a.start) * 2 >= 3 * level->pixel) {
		put_pending(levels, number, index);
		put_box(row, box);
		add(levels, number + 1, index, box);
		return;
	}
	pixel = (box->a.start - levels->start) / level->pixel;
	if (row->pending && row->pixel == pixel) {
		row->box.a.calls = activations_of(&row->box) +
				   activations_of(box);
		row->box.a.end = box->a.end;
		row->box.a.flags = 0;
		row->box.run = true;
		return;
	}
	put_pending(levels, number, index);
	row->box = *box;
	row->pending = true;
	row->pixel = pixel;
}

void swz_html_levels_add(struct swz_html_levels *levels, uint64_t row,
			 const struct swz_html_activation *activation)
{
	struct box box = {.a = *activation};

	if (row >= ROWS_MOST)
		return;
	if (box.a.start < levels->start)
		box.a.start = levels->start;
	if (box.a.end < box.a.start)
		box.a.end = box.a.start;
	add(levels, 0, (size_t)row, &box);
}

static void put_level(struct swz_page_block *block, const struct level *level)
{
	size_t i;

	swz_page_block_number(block, level->pixel);
	swz_page_block_number(block, level->row_count);
	for (i = 0; i < level->row_count; i++)
		swz_page_block_number(block, level->rows[i].count);
	for (i = 0; i < level->row_count; i++)
		swz_page_block_bytes(block, level->rows[i].bytes,
				     level->rows[i].size);
}

void swz_html_levels_end(struct swz_html_levels *levels, FILE *stream,
			 const char *name, uint64_t origin)
{
	struct swz_page_block *block;
	size_t i, k;

	/* (what is pending in one level goes into the next one) */
	for (i = 0; i < LEVELS; i++)
		for (k = 0; k < levels->levels[i].row_count; k++)
			put_pending(levels, i, k);
	if (stream) {
		block = swz_page_block_begin(stream, name, LEVEL);
		swz_page_block_number(block, levels->start - origin);
		swz_page_block_number(block, LEVELS);
		for (i = 0; i < LEVELS; i++)
			put_level(block, &levels->levels[i]);
		swz_page_block_end(block);
	}
	for (i = 0; i < LEVELS; i++) {
		for (k = 0; k < levels->levels[i].row_count; k++)
			free(levels->levels[i].rows[k].bytes);
		free(levels->levels[i].rows);
	}
	free(levels);
}
