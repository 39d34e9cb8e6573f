/* The bits of a gap begin at an aligned address and fill whole words of 64, so
 * that a word's aligned addresses are the same bits in each. */

#include "runtime/discovery/unlisted_gaps.h"

#include <string.h>

#include "runtime/discovery/function.h"
#include "runtime/support/scratch.h"
#include "thunks/encoding.h"

/* Between functions there is padding, and the C library's start code. Less than
 * this of all else together is not looked at. */
#define LEAST_BYTES 1024u
#define LONGEST_PADDING 64u
/* Of a stretch of code for each address in it that something leads to. */
#define MOST_BYTES_EACH 32768u

static uint64_t aligned_begin(const struct swz_unlisted_gap *g)
{
	return g->begin & ~(SWZ_UNLISTED_ALIGNMENT - 1ull);
}

static uint64_t bit_of(const struct swz_unlisted_gap *g, uint64_t address)
{
	return g->first_bit + (address - aligned_begin(g));
}

bool swz_unlisted_has(const struct swz_unlisted_gaps *gaps,
		      enum swz_unlisted_fact fact,
		      const struct swz_unlisted_gap *g, uint64_t address)
{
	uint64_t at = bit_of(g, address);

	return gaps->maps[fact][at / 8] & (1u << at % 8);
}

void swz_unlisted_note(const struct swz_unlisted_gaps *gaps,
		       enum swz_unlisted_fact fact,
		       const struct swz_unlisted_gap *g, uint64_t address)
{
	uint64_t at = bit_of(g, address);

	__atomic_fetch_or(&gaps->maps[fact][at / 8], (uint8_t)(1u << at % 8),
			  __ATOMIC_RELAXED);
}

uint64_t swz_skip_padding(const struct swz_module *m, uint64_t at, uint64_t end)
{
	while (at < end) {
		struct swz_bytes code = {swz_module_bytes(m, at), end - at};
		size_t length = swz_padding_length(code);

		if (!length && *code.data)
			break;
		at += length ? length : 1;
	}
	return at < end ? at : end;
}

static void note_gap(struct swz_unlisted_gaps *gaps, uint64_t begin,
		     uint64_t end)
{
	const struct swz_module *m = gaps->module;

	if (end - begin <= LONGEST_PADDING ||
	    swz_ranges_have(m->plt, m->plt_count, begin) ||
	    swz_ranges_have(m->loose, m->loose_count, begin))
		return;
	begin = swz_skip_padding(m, begin, end);
	if (begin < end)
		gaps->of[gaps->count++] = (struct swz_unlisted_gap){begin, end,
								    0};
}

/* What PLT sections, which are no gaps, leave of the bytes between functions.
 */
static void note_between(struct swz_unlisted_gaps *gaps, uint64_t begin,
			 uint64_t end)
{
	const struct swz_module *m = gaps->module;

	while (begin < end) {
		const struct swz_range *next = NULL;

		for (unsigned i = 0; i < m->plt_count; i++)
			if (m->plt[i].end > begin && m->plt[i].start < end &&
			    (!next || m->plt[i].start < next->start))
				next = &m->plt[i];
		if (!next) {
			note_gap(gaps, begin, end);
			return;
		}
		if (next->start > begin)
			note_gap(gaps, begin, next->start);
		begin = next->end;
	}
}

static void find_gaps(struct swz_unlisted_gaps *gaps)
{
	const struct swz_module *m = gaps->module;
	uint32_t n = 0;

	for (unsigned i = 0; i < m->text_count; i++) {
		uint64_t at = m->text[i].start;

		for (; n < m->function_count &&
		       m->functions[n].start < m->text[i].end;
		     n++) {
			const struct swz_function *f = &m->functions[n];

			if (f->start > at)
				note_between(gaps, at, f->start);
			if (f->start + f->size > at)
				at = f->start + f->size;
		}
		if (at < m->text[i].end)
			note_between(gaps, at, m->text[i].end);
	}
}

const struct swz_unlisted_gap *swz_unlisted_gap_at(
	const struct swz_unlisted_gaps *gaps, uint64_t address)
{
	uint32_t low = 0, high = gaps->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (gaps->of[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < gaps->of[low - 1].end ? &gaps->of[low - 1]
						      : NULL;
}

static uint64_t bytes_in_gaps(const struct swz_unlisted_gaps *gaps)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < gaps->count; i++)
		bytes += gaps->of[i].end - gaps->of[i].begin;
	return bytes;
}

static bool make_maps(struct swz_unlisted_gaps *gaps)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < gaps->count; i++) {
		struct swz_unlisted_gap *g = &gaps->of[i];

		g->first_bit = bits;
		bits += (g->end - aligned_begin(g) + 63) / 64 * 64;
	}
	for (unsigned i = 0; i < SWZ_UNLISTED_FACTS; i++) {
		gaps->maps[i] = swz_scratch_alloc_brief(bits / 8);
		if (!gaps->maps[i])
			return false;
		memset(gaps->maps[i], 0, bits / 8);
	}
	return true;
}

/* 64 bits of the maps, of which the first is an aligned address. */
static uint64_t candidates_in(const struct swz_unlisted_gaps *gaps,
			      uint64_t word)
{
	uint64_t called, stored, refuted;

	memcpy(&called, gaps->maps[SWZ_UNLISTED_CALLED] + 8 * word,
	       sizeof(called));
	memcpy(&stored, gaps->maps[SWZ_UNLISTED_STORED] + 8 * word,
	       sizeof(stored));
	memcpy(&refuted, gaps->maps[SWZ_UNLISTED_REFUTED] + 8 * word,
	       sizeof(refuted));
	return (called | (stored & UINT64_C(0x0001000100010001))) & ~refuted;
}

uint64_t swz_unlisted_next(const struct swz_unlisted_gaps *gaps,
			   const struct swz_unlisted_gap *g, uint64_t from)
{
	uint64_t bit = bit_of(g, from), word = bit / 64;
	uint64_t last = bit_of(g, g->end - 1) / 64, at;
	uint64_t bits = 0;

	if (from >= g->end)
		return g->end;
	bits = candidates_in(gaps, word) & UINT64_MAX << bit % 64;
	while (!bits && word < last)
		bits = candidates_in(gaps, ++word);
	if (!bits)
		return g->end;
	at = aligned_begin(g) - g->first_bit + 64 * word +
	     (unsigned)__builtin_ctzll(bits);
	return at < g->end ? at : g->end;
}

uint32_t swz_unlisted_count(const struct swz_unlisted_gaps *gaps,
			    const struct swz_unlisted_gap *g)
{
	uint64_t bit = bit_of(g, g->begin), word = bit / 64;
	uint64_t last = bit_of(g, g->end - 1) / 64;
	uint64_t bits = candidates_in(gaps, word) & UINT64_MAX << bit % 64;
	uint32_t count = 0;

	/* (nothing is noted of what lies behind the gap) */
	for (; word < last; bits = candidates_in(gaps, ++word))
		count += (uint32_t)__builtin_popcountll(bits);
	return count + (uint32_t)__builtin_popcountll(bits);
}

void swz_unlisted_gaps_drop_sparse(struct swz_unlisted_gaps *gaps)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < gaps->count; i++) {
		const struct swz_unlisted_gap *g = &gaps->of[i];
		uint64_t count = swz_unlisted_count(gaps, g);

		if (count && (g->end - g->begin) / count <= MOST_BYTES_EACH)
			gaps->of[kept++] = *g;
	}
	gaps->count = kept;
}

bool swz_unlisted_gaps_find(struct swz_unlisted_gaps *gaps,
			    const struct swz_module *m)
{
	*gaps = (struct swz_unlisted_gaps){.module = m};
	if (!m->function_count || !m->text_count)
		return false;
	gaps->texts = (struct swz_range){m->text[0].start,
					 m->text[m->text_count - 1].end};
	gaps->of = swz_scratch_alloc_brief(
		(m->function_count + m->text_count + m->plt_count + 1ull) *
		sizeof(*gaps->of));
	if (!gaps->of)
		return false;
	find_gaps(gaps);
	return bytes_in_gaps(gaps) >= LEAST_BYTES && make_maps(gaps);
}
