/* Two searches, both of eight bytes at once, in which branches of the processor
 * that it could predict wrong are rare.
 *
 * Short branches: what leads to a given byte lies within 130 bytes around it,
 * and where a branch's offset would be, the value that leads there is known. So
 * for each few marked bytes these bytes are compared with it.
 *
 * Long ones can be anywhere. First the places are collected at which two bytes
 * look like one; then each one's target is computed, and compared with a digest
 * of the marks that the first level cache has room for. The targets are noted,
 * by blocks of the text: with other marks only blocks are searched again in
 * which something leads to one. */

#include "runtime/discovery/scan_bytes.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/basics.h"
#include "runtime/discovery/function.h"
#include "runtime/module/module.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"

/* --- search of bytes ----------------------------------------------------- */

/* The places in 16 bytes that are marked, in a block of the text as a whole:
 * since functions are aligned, these are few. */
#define DIGEST_SHIFT 13

struct swz_byte_digest {
	uint16_t marked[2]; /* [0] starts too; [1] for calls */
};

/* Eight bytes at any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) word;

#define GROUP 256u
#define BLOCK 4096u
#define EACH(byte) ((byte)*UINT64_C(0x0101010101010101))

/* One in so many bytes may be noted as a jump, and as a call; as something
 * else. */
#define BYTES_PER_TARGET 16u
#define BYTES_PER_OTHER 64u

enum { JUMPS, CALLS };

/* By the first byte: how far it is to where the branch counts from, and the
 * shifts that take the displacement out of the first eight bytes. */
static struct form {
	uint8_t length; /* 0: no long branch */
	uint8_t left;
	bool is_call;
} forms[256];

/* By a set of eight offsets, a bit each: what they are, and how many. */
static struct offsets {
	uint64_t list; /* a byte each, ascending */
	uint64_t count;
} offsets[256];

/* For short branches to [to, to + 8): what is added to each of the eight bytes
 * from to - 128 + 8 * i, so that an offset that leads there becomes less than
 * 8. The bytes' upper bits apart, lest they carry. */
#define WINDOW 264u
static struct shift {
	uint64_t low;
	uint64_t high;
} shifts[WINDOW / 8];

static void init_tables(void)
{
	if (forms[0xe8].length)
		return;
	forms[0xe8] = (struct form){5, 24, true};
	forms[0xe9] = (struct form){5, 24, false};
	forms[0x0f] = (struct form){6, 16, false};
	for (unsigned set = 0; set < 256; set++) {
		struct offsets *o = &offsets[set];

		for (uint64_t i = 0; i < 8; i++)
			if (set >> i & 1)
				o->list |= i << 8 * o->count++;
	}
	for (unsigned at = 0; at < WINDOW; at++) {
		/* the byte is the last of its branch */
		uint64_t add = (uint8_t)(at - 128 + 1);

		shifts[at / 8].low |= (add & 0x7f) << at % 8 * 8;
		shifts[at / 8].high |= (add & 0x80) << at % 8 * 8;
	}
}

/* Eight more than there are bits for: a last few are read together. */
static uint64_t map_bytes(const struct swz_byte_scan *s)
{
	return s->size / 8 + 1 + 8;
}

void swz_byte_scan_clear(struct swz_byte_scan *s)
{
	memset(s->marks, 0, map_bytes(s));
	memset(s->starts, 0, map_bytes(s));
}

static enum swz_status init_part(struct swz_byte_part *p, bool noted)
{
	uint64_t size = p->end - p->begin, blocks = size / BLOCK + 2;

	p->noted = noted;
	p->searched = false;
	p->other_count = 0;
	if (!noted)
		return SWZ_OK;
	for (unsigned kind = 0; kind < 2; kind++) {
		p->before[kind] = swz_scratch_alloc_brief(blocks *
							  sizeof(uint32_t));
		p->targets[kind] = swz_scratch_alloc_brief(
			(size / BYTES_PER_TARGET + UINT64_C(2) * GROUP) *
			sizeof(uint32_t));
		if (!p->before[kind] || !p->targets[kind])
			return SWZ_E_NOMEM;
	}
	p->others = swz_scratch_alloc_brief((size / BYTES_PER_OTHER + 1) *
					    sizeof(uint32_t));
	return p->others ? SWZ_OK : SWZ_E_NOMEM;
}

enum swz_status swz_byte_scan_init(struct swz_byte_scan *s)
{
	enum swz_status status = SWZ_OK;

	init_tables();
	s->marks = swz_scratch_alloc_brief(map_bytes(s));
	s->starts = swz_scratch_alloc_brief(map_bytes(s));
	s->digest = swz_scratch_alloc_brief(((s->size >> DIGEST_SHIFT) + 2) *
					    sizeof(*s->digest));
	if (!s->marks || !s->starts || !s->digest)
		return SWZ_E_NOMEM;
	swz_byte_scan_clear(s);
	for (unsigned i = 0; i < s->part_count && status == SWZ_OK; i++) {
		s->parts[i].begin = i ? s->parts[i - 1].end : 0;
		status = init_part(&s->parts[i], s->size < UINT32_MAX);
	}
	return status;
}

/* The highest bit of each byte that is zero, and of some that are 1; other bits
 * are of no meaning. */
static uint64_t zeros(uint64_t x)
{
	return (x - EACH(1)) & ~x;
}

/* One part's. */
struct search {
	const struct swz_byte_scan *text;
	struct swz_byte_part *part;
	void *context;
};

static bool is_in_part(const struct search *s, uint64_t at)
{
	return at - s->part->begin < s->part->end - s->part->begin;
}

/* --------------------------------------------------------- short branches */

static void look_at_short(const struct search *s, uint64_t at, uint64_t to)
{
	const uint8_t *code = s->text->code + at;

	if (swz_is_short_branch(code[0]) &&
	    at + 2 + (uint64_t)(int64_t)(int8_t)code[1] - to < 8 &&
	    is_in_part(s, at))
		s->text->look(s->context, at);
}

/* Near the text's ends. */
static void look_at_each_short(const struct search *s, uint64_t to)
{
	uint64_t at = to > 129 ? to - 129 : 0;

	for (; at < to + 134 && at + 2 <= s->text->size; at++)
		look_at_short(s, at, to);
}

/* Finds short branches that may lead to [to, to + 8). */
static void find_short(const struct search *s, uint64_t to)
{
	const uint8_t *code;

	if (to < 129 || to + (WINDOW - 128) > s->text->size) {
		look_at_each_short(s, to);
		return;
	}
	code = s->text->code + to - 128;
	for (unsigned i = 0; i < WINDOW / 8; i++, code += 8) {
		uint64_t op = *(const word *)(code - 1);
		uint64_t offset = *(const word *)code;
		uint64_t from_to = ((offset & EACH(0x7f)) + shifts[i].low) ^
				   ((offset & EACH(0x80)) ^ shifts[i].high);
		/* 7x and ex: bits 6 and 5 are set, and one of 7 and 4 is */
		uint64_t found = (op << 1 & op << 2) & (op ^ op << 3) &
				 zeros(from_to & EACH(0xf8)) & EACH(0x80);

		for (; found; found &= found - 1)
			look_at_short(s,
				      to - 129 + UINT64_C(8) * i +
					      (unsigned)__builtin_ctzll(found) /
						      8,
				      to);
	}
}

/* From a text's ends a short branch may lead to the next text. */
static void look_at_ends(const struct search *s)
{
	const struct swz_byte_scan *text = s->text;

	for (uint64_t at = 0; at + 2 <= text->size; at++) {
		if (at == 128 && text->size > 257)
			at = text->size - 129;
		if (swz_is_short_branch(text->code[at]) && is_in_part(s, at))
			text->look(s->context, at);
	}
}

static void find_all_short(const struct search *s)
{
	const struct swz_byte_scan *text = s->text;
	uint64_t end = s->part->end + WINDOW;
	uint64_t at = s->part->begin > WINDOW ? s->part->begin - WINDOW : 0;

	if (text->leads_on)
		look_at_ends(s);
	while (at < end && at < text->size) {
		uint64_t bits = (*(const word *)(text->marks + at / 8) |
				 *(const word *)(text->starts + at / 8)) >>
				at % 8;

		if (!bits) {
			at = (at / 8 + 8) * 8;
			continue;
		}
		at += (unsigned)__builtin_ctzll(bits);
		find_short(s, at);
		at += 8;
	}
}

/* ---------------------------------------------------------- long branches */

void swz_byte_scan_prepare(struct swz_byte_scan *s)
{
	uint64_t bytes = s->size / 8 + 1, last = s->size >> DIGEST_SHIFT;

	memset(s->digest, 0, (last + 2) * sizeof(*s->digest));
	for (uint64_t i = 0; i < bytes; i += 8) {
		uint64_t marks = *(const word *)(s->marks + i);
		uint64_t all = marks | *(const word *)(s->starts + i);
		struct swz_byte_digest *d = &s->digest[8 * i >> DIGEST_SHIFT];

		if (!all)
			continue;
		marks |= marks >> 32;
		all |= all >> 32;
		d->marked[1] |= (uint16_t)(marks | marks >> 16);
		d->marked[0] |= (uint16_t)(all | all >> 16);
	}
}

static bool may_matter(const struct swz_byte_scan *s, uint64_t to, bool is_call)
{
	uint64_t digest = to >> DIGEST_SHIFT;

	if (digest > s->size >> DIGEST_SHIFT)
		digest = (s->size >> DIGEST_SHIFT) + 1; /* nothing marked */
	if (!(s->digest[digest].marked[is_call] >> to % 16 & 1))
		return false;
	return to < s->size &&
	       (s->marks[to / 8] | s->starts[to / 8]) >> to % 8 & 1;
}

/* The offsets below GROUP that may be long branches, loads of addresses, or
 * jumps through memory. */
static unsigned collect(const uint8_t *code, uint8_t *found)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GROUP; i += 8) {
		uint64_t first = *(const word *)(code + i);
		uint64_t second = *(const word *)(code + i + 1);
		uint64_t third = *(const word *)(code + i + 2);
		uint64_t at = zeros((first ^ EACH(0xe8)) & EACH(0xfe)) |
			      zeros((first ^ EACH(0x0f)) |
				    ((second ^ EACH(0x80)) & EACH(0xf0))) |
			      zeros((second ^ EACH(0x8d)) |
				    ((third ^ EACH(0x05)) & EACH(0xc7))) |
			      zeros(second ^ EACH(0x25));
		/* bit 7 of byte k to bit k */
		const struct offsets *o =
			&offsets[((at & EACH(0x80)) >> 7) *
					 UINT64_C(0x0102040810204080) >>
				 56];

		*(word *)(found + n) = o->list + EACH((uint64_t)i);
		n += (unsigned)o->count;
	}
	return n;
}

static void note_other(const struct search *s, uint64_t at)
{
	struct swz_byte_part *p = s->part;

	if (!p->noted)
		return;
	if (p->other_count == (p->end - p->begin) / BYTES_PER_OTHER)
		p->noted = false;
	else
		p->others[p->other_count++] = (uint32_t)at;
}

/* Notes what begins at this offset, other than a direct branch. */
static void look_at_other(const struct search *s, uint64_t at)
{
	const struct swz_byte_scan *text = s->text;
	const uint8_t *code = text->code + at;

	if ((code[0] & 0xfb) == 0x48 && code[1] == 0x8d &&
	    at + 7 <= text->size && (code[2] & 0xc7) == 0x05) {
		if (text->look_at_load(s->context, at))
			note_other(s, at);
	} else if (text->stores && code[0] == 0xff && code[1] == 0x25) {
		text->look(s->context, at);
	}
}

static void look_outside(const struct search *s, uint64_t at, uint64_t to)
{
	if (!s->text->leads_on(s->context, to))
		return;
	note_other(s, at);
	s->text->look(s->context, at);
}

struct noting {
	uint32_t *at[2];
};

static void look_at_group(const struct search *s, uint64_t start,
			  struct noting *noting)
{
	const struct swz_byte_scan *text = s->text;
	const uint8_t *code = text->code + start;
	uint8_t found[GROUP + 8];
	unsigned count = collect(code, found);
	uint32_t *jumps = noting->at[JUMPS], *calls = noting->at[CALLS];

	for (unsigned n = 0; n < count; n++) {
		unsigned i = found[n];
		uint64_t bytes = *(const word *)(code + i), to;
		struct form form = forms[(uint8_t)bytes];
		bool inside;

		if (!form.length) {
			look_at_other(s, start + i);
			continue;
		}
		to = start + i + form.length +
		     (uint64_t)((int64_t)(bytes << form.left) >> 32);
		inside = to < text->size;
		*jumps = *calls = (uint32_t)to;
		jumps += inside & !form.is_call;
		calls += inside & form.is_call;
		if (may_matter(text, to, form.is_call))
			text->look(s->context, start + i);
		else if (text->leads_on && !inside)
			look_outside(s, start + i, to);
	}
	noting->at[JUMPS] = jumps;
	noting->at[CALLS] = calls;
}

/* At the part's end, and where it is looked at once more. */
static void look_at_one(const struct search *s, uint64_t at,
			struct noting *noting)
{
	const struct swz_byte_scan *text = s->text;
	uint64_t left = text->size - at, to;
	uint8_t padded[8] = {0};
	struct form form;

	memcpy(padded, text->code + at, left < 8 ? left : 8);
	form = forms[padded[0]];
	if (form.length) {
		if (left < form.length ||
		    (padded[0] == 0x0f && (padded[1] & 0xf0) != 0x80))
			return;
		to = at + form.length +
		     (uint64_t)((int64_t)(*(const word *)padded << form.left) >>
				32);
		if (noting && to < text->size)
			*noting->at[form.is_call]++ = (uint32_t)to;
		if (may_matter(text, to, form.is_call))
			text->look(s->context, at);
		else if (noting && text->leads_on && to >= text->size)
			look_outside(s, at, to);
	} else if (noting && left >= 6) {
		look_at_other(s, at);
	}
}

static void find_all_long(const struct search *s)
{
	struct swz_byte_part *p = s->part;
	uint32_t spare[2][2 * GROUP];
	struct noting noting = {{p->targets[JUMPS], p->targets[CALLS]}};
	uint64_t at = p->begin, size = p->end - p->begin;

	for (uint64_t block = 0; at < p->end; block++) {
		uint64_t end = p->begin + (block + 1) * BLOCK;

		if (end > p->end)
			end = p->end;
		for (unsigned kind = 0; kind < 2 && p->noted; kind++)
			p->before[kind][block] = (uint32_t)(noting.at[kind] -
							    p->targets[kind]);
		while (at < end) {
			for (unsigned kind = 0; kind < 2; kind++)
				if (!p->noted ||
				    noting.at[kind] - p->targets[kind] >
					    (int64_t)(size /
						      BYTES_PER_TARGET)) {
					p->noted = false;
					noting.at[kind] = spare[kind];
				}
			if (at + GROUP <= end &&
			    at + GROUP + 8 <= s->text->size) {
				look_at_group(s, at, &noting);
				at += GROUP;
				continue;
			}
			for (unsigned i = 0; i < GROUP && at < end; i++, at++)
				look_at_one(s, at, &noting);
		}
	}
	for (unsigned kind = 0; kind < 2 && p->noted; kind++)
		p->before[kind][(size + BLOCK - 1) / BLOCK] =
			(uint32_t)(noting.at[kind] - p->targets[kind]);
}

/* True if any long branch of the block matters. */
static bool has_long(const struct search *s, uint64_t block)
{
	const struct swz_byte_part *p = s->part;

	for (unsigned kind = 0; kind < 2; kind++)
		for (uint32_t i = p->before[kind][block];
		     i < p->before[kind][block + 1]; i++)
			if (may_matter(s->text, p->targets[kind][i], kind))
				return true;
	return false;
}

static void find_noted(const struct search *s)
{
	const struct swz_byte_part *p = s->part;
	const struct swz_byte_scan *text = s->text;
	uint64_t at = p->begin;

	for (uint64_t block = 0; at < p->end; block++) {
		uint64_t end = at + BLOCK;

		if (end > p->end)
			end = p->end;
		if (has_long(s, block))
			for (; at < end; at++)
				look_at_one(s, at, NULL);
		at = end;
	}
	for (uint32_t i = 0; i < p->other_count; i++) {
		if (forms[text->code[p->others[i]]].length)
			text->look(s->context, p->others[i]);
		else
			text->look_at_load(s->context, p->others[i]);
	}
}

void swz_byte_scan_part(const struct swz_byte_scan *text,
			struct swz_byte_part *part, void *context)
{
	const struct search s = {text, part, context};

	find_all_short(&s);
	if (part->searched && part->noted) {
		find_noted(&s);
		return;
	}
	part->other_count = 0;
	find_all_long(&s);
	part->searched = true;
}

/* --- bitmaps of a text --------------------------------------------------- */

/* A part begins where a function does: what is found out about a function by
 * its own code is found out by one thread. */
#define PART_BYTES (256u << 10)

/* The first function's start from this address on, or the end of the text. */
static uint64_t part_end(const struct swz_module *m,
			 const struct swz_range *text, uint64_t from)
{
	uint32_t low;

	SWZ_PARTITION(low, m->function_count, m->functions[low].start < from);
	return low < m->function_count && m->functions[low].start < text->end
		       ? m->functions[low].start
		       : text->end;
}

static bool divide(const struct swz_module *m, const struct swz_range *text,
		   struct swz_byte_scan *scan)
{
	uint32_t portion = swz_workers_portion(PART_BYTES);
	unsigned most = (unsigned)(scan->size / portion) + 1;
	uint64_t end = text->start;

	scan->part_count = 0;
	scan->parts = swz_scratch_alloc(most * sizeof(*scan->parts));
	while (scan->parts && end < text->end) {
		end = part_end(m, text, end + portion);
		scan->parts[scan->part_count++].end = end - text->start;
	}
	return scan->parts;
}

enum swz_status swz_text_maps_clear(struct swz_module *m)
{
	if (m->byte_scans) {
		for (unsigned i = 0; i < m->text_count; i++)
			swz_byte_scan_clear(&m->byte_scans[i]);
		return SWZ_OK;
	}
	m->byte_scans = swz_scratch_alloc(m->text_count *
					  sizeof(*m->byte_scans));
	for (unsigned i = 0; m->byte_scans && i < m->text_count; i++) {
		struct swz_byte_scan *scan = &m->byte_scans[i];

		scan->code = swz_module_bytes(m, m->text[i].start);
		scan->size = m->text[i].end - m->text[i].start;
		if (!divide(m, &m->text[i], scan) ||
		    swz_byte_scan_init(scan) != SWZ_OK)
			m->byte_scans = NULL;
	}
	return m->byte_scans ? SWZ_OK : SWZ_E_NOMEM;
}

/* The byte of the map that has the address, or NULL. */
static uint8_t *map_byte(const struct swz_module *m, enum swz_text_map map,
			 uint64_t address, uint8_t *bit)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *text = &m->text[i];
		uint64_t at = address - text->start;

		if (at >= text->end - text->start)
			continue;
		*bit = (uint8_t)(1u << (at % 8));
		return (map == SWZ_TEXT_MARKS ? m->byte_scans[i].marks
					      : m->byte_scans[i].starts) +
		       at / 8;
	}
	return NULL;
}

void swz_text_mark(const struct swz_module *m, enum swz_text_map map,
		   uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	if (at)
		*at |= bit;
}

void swz_text_unmark(const struct swz_module *m, enum swz_text_map map,
		     uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	if (at)
		__atomic_fetch_and(at, (uint8_t)~bit, __ATOMIC_RELAXED);
}

bool swz_text_is_marked(const struct swz_module *m, enum swz_text_map map,
			uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	return at && *at & bit;
}
