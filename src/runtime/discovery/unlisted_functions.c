/* A pointer is no proof that a function is there: assembly has its constants
 * between its functions, and interpreters have pointers to code that is jumped
 * to. So an address must be
 *
 * - called, or put into memory as a pointer, and nowhere be read from or
 * counted from; unless it is called, it must be aligned;
 * - behind what does not run on to it: padding behind code that ends;
 * - the beginning of code that decodes, is written like code, and returns on
 * its ways with the stack that it was called with (code_flow.c);
 * - jumped to, if at all, only with that stack, and without anything below it;
 * - jump on, with that stack, only to what refers neither to the return address
 * nor to what lies below it: a label of a computed goto, in a function without
 * a frame, looks like a function, but goes on in its own.
 *
 * And among many of its kind: a large stretch of code to which hardly anything
 * leads has another way of being entered (V8's builtins). Where hardly any
 * function is known otherwise, it must also keep the registers of its caller:
 * that is no assembly, which is among functions that have unwind entries, but
 * what was compiled without (Chromium, Qt WebEngine), V8 perhaps with it.
 *
 * What such a function calls is looked at next, until there is no more. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/basics.h"
#include "runtime/discovery/code_flow.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/references.h"
#include "runtime/module/module.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* --- code between functions ---------------------------------------------- */

/* The bits of a gap begin at an aligned address and fill whole words of 64, so
 * that a word's aligned addresses are the same bits in each. */

/* Functions begin there, but for those that something calls. */
#define UNLISTED_ALIGNMENT 16u

/* Between functions there is padding, and the C library's start code. Less than
 * this of all else together is not looked at. */
#define LEAST_BYTES 1024u
#define LONGEST_PADDING 64u
/* Bytes of code for each address in it that something leads to. */
#define MOST_BYTES_EACH 32768u

static uint64_t aligned_begin(const struct swz_unlisted_gap *g)
{
	return g->begin & ~(UNLISTED_ALIGNMENT - 1ull);
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

/* Notes the bytes between functions but for PLT sections, which are no gaps. */
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
	uint32_t low;

	SWZ_PARTITION(low, gaps->count, gaps->of[low].begin <= address);
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

/* Where hardly anything leads to, nothing is looked for. */
static void unlisted_gaps_drop_sparse(struct swz_unlisted_gaps *gaps)
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

/* --- functions in it ----------------------------------------------------- */

#define MOST_ROUNDS 256u
#define PORTION 512u
#define LEAST_WAYS 1024u
/* More candidates than these, and more than so many for each function that is
 * known otherwise: the module was compiled without unwind tables. */
#define MANY_FUNCTIONS 4096u
#define MOST_FOR_EACH_KNOWN 8u

/* Where a function may begin. */
struct candidate {
	uint64_t at;
	uint64_t limit;  /* the next one, or the gap's end, when it was
			  * followed; 0: it was not */
	uint64_t behind; /* of this, which was found to end before it; 0:
			  * not yet */
	uint64_t tail;   /* what it jumps or runs on to as called; 0: none */
	uint32_t size;   /* of what was followed */
	bool returns;    /* or goes on as what does */
	bool leads_to_limit; /* by a jump there or further, or running on */
};

/* A jump with the stack as at a call. */
struct way {
	uint64_t from, to; /* a candidate, or what one leads to; and there */
};

struct unlisted {
	const struct swz_module *module;
	struct swz_decoder *decoder;
	struct swz_follower *follower;
	struct swz_unlisted_gaps gaps;
	struct candidate *candidates; /* sorted */
	uint32_t count;
	struct candidate *spare; /* for the next list, or NULL */
	uint64_t room, spare_room;
	struct candidate *followed; /* the one that is being */
	struct way *ways;
	uint64_t way_count, way_room, ways_followed;
	uint32_t noted; /* what has been since the list was made */
	bool more;      /* is to be done: the maps have changed */
	bool all_found; /* that what is known leads to: what is left between is
			 * to be looked at */
	bool tableless;
	struct swz_references references;
};

/* -------------------------------------------------------------- references */

static bool is_asked(void *context, uint64_t to)
{
	const struct unlisted *b = context;

	return to >= b->gaps.texts.start && to < b->gaps.texts.end &&
	       swz_unlisted_gap_at(&b->gaps, to);
}

static void note_reference(void *context, uint64_t to, enum swz_reference how)
{
	static const enum swz_unlisted_fact facts[] = {
		[SWZ_REFERENCE_CALL] = SWZ_UNLISTED_CALLED,
		[SWZ_REFERENCE_STORE] = SWZ_UNLISTED_STORED,
		[SWZ_REFERENCE_DATA] = SWZ_UNLISTED_REFUTED};
	const struct unlisted *b = context;

	swz_unlisted_note(&b->gaps, facts[how],
			  swz_unlisted_gap_at(&b->gaps, to), to);
}

static void set_anew(struct unlisted *b, enum swz_unlisted_fact fact,
		     uint64_t address)
{
	const struct swz_unlisted_gap *g = swz_unlisted_gap_at(&b->gaps,
							       address);

	if (swz_unlisted_has(&b->gaps, fact, g, address))
		return;
	swz_unlisted_note(&b->gaps, fact, g, address);
	b->noted++;
	b->more = true;
}

/* Assembly puts addresses of its labels into memory; but what it reads is data.
 */
static void note_data(void *context, uint64_t to, enum swz_reference how)
{
	if (how == SWZ_REFERENCE_DATA)
		set_anew(context, SWZ_UNLISTED_REFUTED, to);
}

static void look_for_data(struct unlisted *b, uint64_t begin, uint64_t end)
{
	struct swz_references r = b->references;

	r.found = note_data;
	if (swz_references_may_count(&r, begin, end))
		swz_references_between(&r, begin, end);
}

static void find_in_code(void *context, uint32_t begin, uint32_t end,
			 unsigned member)
{
	const struct unlisted *b = context;

	(void)member;
	swz_references_in_code(&b->references, begin, end);
}

static void find_references(struct unlisted *b)
{
	b->references = (struct swz_references){.module = b->module,
						.is_asked = is_asked,
						.found = note_reference,
						.context = b};
	swz_references_in_data(&b->references);
	swz_workers_run(find_in_code, b, b->module->function_count,
			swz_workers_portion(PORTION));
}

/* -------------------------------------------------------------- candidates */

/* Room for a new list, while there is the old one. */
static bool make_room(struct unlisted *b, uint64_t count)
{
	struct candidate *old = b->candidates;
	uint64_t old_room = b->room;

	b->candidates = b->spare;
	b->room = b->spare_room;
	b->spare = old;
	b->spare_room = old_room;
	if (count <= b->room)
		return true;
	b->room = count + count / 2;
	b->candidates = swz_scratch_alloc_brief(b->room *
						sizeof(*b->candidates));
	return b->candidates != NULL;
}

/* Makes the list of them anew, from the maps; what is known of one stays. */
static bool list_candidates(struct unlisted *b)
{
	const struct candidate *old = b->candidates;
	const struct candidate *old_end = old ? old + b->count : NULL;
	uint32_t count = b->count + b->noted;

	for (uint32_t i = 0; i < b->gaps.count && !old; i++)
		count += swz_unlisted_count(&b->gaps, &b->gaps.of[i]);
	b->count = b->noted = 0;
	if (!make_room(b, count + 1ull))
		return false;
	for (uint32_t i = 0; i < b->gaps.count; i++) {
		const struct swz_unlisted_gap *g = &b->gaps.of[i];

		for (uint64_t at = swz_unlisted_next(&b->gaps, g, g->begin);
		     at < g->end; at = swz_unlisted_next(&b->gaps, g, at + 1)) {
			while (old && old < old_end && old->at < at)
				old++;
			b->candidates[b->count++] =
				old && old < old_end && old->at == at
					? *old
					: (struct candidate){.at = at};
		}
	}
	return true;
}

/* True if the address is another module's, or known otherwise. */
static bool is_known(const struct unlisted *b, uint64_t to)
{
	const struct swz_module *m = b->module;
	const struct swz_function *f = swz_function_at(m, to);

	return (f && f->start == to && !f->is_piece) ||
	       swz_ranges_have(m->plt, m->plt_count, to);
}

static void add_way(struct unlisted *b, uint64_t from, uint64_t to)
{
	if (b->way_count == b->way_room) {
		uint64_t room = b->way_room ? 2 * b->way_room : LEAST_WAYS;
		struct way *ways = swz_scratch_alloc_brief(room *
							   sizeof(*ways));

		if (!ways) { /* in doubt */
			set_anew(b, SWZ_UNLISTED_REFUTED, from);
			return;
		}
		if (b->way_count)
			memcpy(ways, b->ways, b->way_count * sizeof(*ways));
		b->ways = ways;
		b->way_room = room;
	}
	b->ways[b->way_count++] = (struct way){from, to};
}

/* Something leads to a candidate, or what may be one. */
static void note_way(void *context, uint64_t to, enum swz_flow_way way,
		     bool at_entry)
{
	struct unlisted *b = context;

	if (way == SWZ_WAY_SWITCH) {
		if (b->followed && is_asked(b, to))
			add_way(b, b->followed->at, to);
		return;
	}
	if (!is_asked(b, to)) {
		if (b->followed && way == SWZ_WAY_JUMP && at_entry &&
		    is_known(b, to))
			b->followed->returns = true;
		return;
	}
	if (b->followed && way == SWZ_WAY_JUMP) {
		if (to >= b->followed->limit)
			b->followed->leads_to_limit = true;
		if (at_entry && to != b->followed->at) {
			b->followed->tail = to;
			add_way(b, b->followed->at, to);
		}
	}
	if (!at_entry)
		set_anew(b, SWZ_UNLISTED_REFUTED, to);
	else if (way == SWZ_WAY_CALL)
		set_anew(b, SWZ_UNLISTED_CALLED, to);
}

/* True if the instruction may end the flow: a call in compiled code need not
 * return. */
static bool may_end_flow(const struct unlisted *b, const struct swz_insn *insn)
{
	switch (insn->kind) {
	case SWZ_INSN_RETURN:
	case SWZ_INSN_JUMP:
	case SWZ_INSN_JUMP_INDIRECT:
	case SWZ_INSN_TRAP:
		return true;
	case SWZ_INSN_CALL:
	case SWZ_INSN_CALL_INDIRECT:
		return b->tableless;
	default:
		return false;
	}
}

/* True if there is nothing there, or code that does not run on to `to`. Nothing
 * is known to lead there, so the stack of its jumps is unknown. Data ends where
 * the next function may be aligned. */
static bool ends_before(struct unlisted *b, uint64_t from, uint64_t to)
{
	bool ended = true;

	while (from < to) {
		struct swz_bytes code = {swz_module_bytes(b->module, from),
					 to - from};
		struct swz_encoding e;
		struct swz_insn insn;

		if (swz_padding_length(code)) {
			from += swz_padding_length(code);
			continue;
		}
		if (!*code.data && swz_skip_padding(b->module, from, to) == to)
			break;
		if (swz_decode_encoding(b->decoder, code, from, &insn, &e) !=
			    SWZ_OK ||
		    swz_flow_is_odd(code, &e)) {
			ended = false;
			from = (from | (UNLISTED_ALIGNMENT - 1)) + 1;
			continue;
		}
		if (insn.target && insn.kind != SWZ_INSN_CALL &&
		    insn.kind != SWZ_INSN_PLAIN)
			note_way(b, insn.target, SWZ_WAY_JUMP, false);
		ended = may_end_flow(b, &insn);
		from += insn.length;
	}
	return ended;
}

static void refute(struct unlisted *b, const struct candidate *c)
{
	set_anew(b, SWZ_UNLISTED_REFUTED, c->at);
}

/* Anew if it ends elsewhere than last time. */
static void follow(struct unlisted *b, struct candidate *c, uint64_t limit,
		   bool limit_is_known)
{
	struct swz_flow flow = {.module = b->module,
				.decoder = b->decoder,
				.start = c->at,
				.limit = limit,
				.limit_is_known = limit_is_known,
				.is_compiled = b->tableless,
				.leads_to = note_way,
				.context = b};
	uint64_t end;

	if (c->limit == limit ||
	    (c->limit && !c->leads_to_limit && c->at + c->size <= limit))
		return;
	c->limit = limit;
	c->leads_to_limit = false;
	c->tail = 0;
	c->returns = false;
	b->followed = c;
	end = swz_flow_end(b->follower, &flow);
	b->followed = NULL;
	c->returns |= flow.returns;
	c->size = end ? (uint32_t)(end - c->at) : 0;
	look_for_data(b, c->at, end);
	if (!end || swz_inherits_red_zone((struct swz_bytes){
			    swz_module_bytes(b->module, c->at), c->size}))
		refute(b, c);
}

/* Follows the members of the list, then the code between them when the list is
 * complete: less is known of code that nothing leads to. */
static void follow_all(struct unlisted *b)
{
	struct candidate *c = b->candidates, *all_end = c + b->count;

	for (uint32_t i = 0; i < b->gaps.count; i++) {
		const struct swz_unlisted_gap *g = &b->gaps.of[i];
		uint64_t behind = g->begin; /* what has been followed */

		for (; c < all_end && c->at < g->end; c++) {
			bool last = c + 1 == all_end || c[1].at >= g->end;

			follow(b, c, last ? g->end : c[1].at, last);
			if (swz_unlisted_has(&b->gaps, SWZ_UNLISTED_REFUTED, g,
					     c->at))
				continue;
			if (b->all_found && c->behind != behind) {
				look_for_data(b, behind, c->at);
				if (!ends_before(b, behind, c->at))
					refute(b, c);
				c->behind = behind;
			}
			behind = c->at + c->size;
		}
	}
}

/* -------------------------------------------------------------- jumps on */

struct part {
	struct unlisted *unlisted;
	uint64_t at;
};

static void note_way_of_part(void *context, uint64_t to, enum swz_flow_way way,
			     bool at_entry)
{
	const struct part *p = context;

	if (way != SWZ_WAY_CALL && at_entry && to != p->at &&
	    is_asked(p->unlisted, to))
		add_way(p->unlisted, p->at, to);
}

/* True if code that jumps there must keep its return address, or the bytes
 * below it. */
static bool is_tainted(struct unlisted *b, const struct swz_unlisted_gap *g,
		       uint64_t at)
{
	struct part part = {b, at};
	struct swz_flow flow = {.module = b->module,
				.decoder = b->decoder,
				.start = at,
				.limit = swz_unlisted_next(&b->gaps, g, at + 1),
				.is_compiled = b->tableless,
				.is_part = true,
				.leads_to = note_way_of_part,
				.context = &part};
	uint64_t end = swz_flow_end(b->follower, &flow);

	return flow.refers_to_slot || flow.goes_anywhere ||
	       swz_inherits_red_zone((struct swz_bytes){
		       swz_module_bytes(b->module, at), end - at});
}

static void follow_ways(struct unlisted *b)
{
	for (; b->ways_followed < b->way_count; b->ways_followed++) {
		uint64_t to = b->ways[b->ways_followed].to;
		const struct swz_unlisted_gap *g = swz_unlisted_gap_at(&b->gaps,
								       to);

		if (swz_unlisted_has(&b->gaps, SWZ_UNLISTED_FOLLOWED, g, to))
			continue;
		swz_unlisted_note(&b->gaps, SWZ_UNLISTED_FOLLOWED, g, to);
		if (is_tainted(b, g, to))
			swz_unlisted_note(&b->gaps, SWZ_UNLISTED_TAINTED, g,
					  to);
	}
}

static bool taint(const struct unlisted *b, const struct way *way)
{
	const struct swz_unlisted_gap *from = swz_unlisted_gap_at(&b->gaps,
								  way->from);

	if (!swz_unlisted_has(&b->gaps, SWZ_UNLISTED_TAINTED,
			      swz_unlisted_gap_at(&b->gaps, way->to),
			      way->to) ||
	    swz_unlisted_has(&b->gaps, SWZ_UNLISTED_TAINTED, from, way->from))
		return false;
	swz_unlisted_note(&b->gaps, SWZ_UNLISTED_TAINTED, from, way->from);
	return true;
}

static void refute_tainted_ones(struct unlisted *b)
{
	bool changed;

	follow_ways(b);
	do { /* both ways, as they mostly are in a row */
		changed = false;
		for (uint64_t i = 0; i < b->way_count; i++)
			changed |= taint(b, &b->ways[i]);
		for (uint64_t i = b->way_count; i-- > 0;)
			changed |= taint(b, &b->ways[i]);
	} while (changed);
	for (uint64_t i = 0; i < b->way_count; i++) {
		uint64_t from = b->ways[i].from;

		if (swz_unlisted_has(&b->gaps, SWZ_UNLISTED_TAINTED,
				     swz_unlisted_gap_at(&b->gaps, from), from))
			set_anew(b, SWZ_UNLISTED_REFUTED, from);
	}
}

/* ------------------------------------------------------------------------- */

static bool prepare(struct unlisted *b)
{
	if (!swz_unlisted_gaps_find(&b->gaps, b->module))
		return false;
	b->follower = swz_follower_new();
	return b->follower != NULL;
}

static const struct candidate *candidate_at(const struct unlisted *b,
					    uint64_t address)
{
	uint32_t low;

	SWZ_PARTITION(low, b->count, b->candidates[low].at < address);
	return low < b->count && b->candidates[low].at == address
		       ? &b->candidates[low]
		       : NULL;
}

/* True if it was found out now that it goes on as one that returns. */
static bool returns_by_tail(const struct unlisted *b, struct candidate *c)
{
	const struct candidate *to = c->returns || !c->tail
					     ? NULL
					     : candidate_at(b, c->tail);

	if (!to || !to->returns)
		return false;
	c->returns = true;
	return true;
}

/* When all else is settled: what neither returns nor goes on as another that
 * does is none. */
static void refute_endless_ones(struct unlisted *b)
{
	bool changed;

	do { /* as above */
		changed = false;
		for (uint32_t i = 0; i < b->count; i++)
			changed |= returns_by_tail(b, &b->candidates[i]);
		for (uint32_t i = b->count; i-- > 0;)
			changed |= returns_by_tail(b, &b->candidates[i]);
	} while (changed);
	for (uint32_t i = 0; i < b->count; i++)
		if (!b->candidates[i].returns)
			refute(b, &b->candidates[i]);
}

static bool is_tableless(const struct unlisted *b)
{
	return b->count > MANY_FUNCTIONS &&
	       b->count / MOST_FOR_EACH_KNOWN > b->module->function_count;
}

struct swz_function *swz_unlisted_functions_find(struct swz_module *m,
						 struct swz_decoder *decoder,
						 uint32_t *count)
{
	struct unlisted b = {.module = m, .decoder = decoder};
	struct swz_function *functions;
	unsigned rounds = 0;

	*count = 0;
	if (!prepare(&b))
		return NULL;
	find_references(&b);
	unlisted_gaps_drop_sparse(&b.gaps);
	do {
		b.more = false;
		if (!list_candidates(&b))
			return NULL;
		if (!rounds)
			b.tableless = is_tableless(&b);
		follow_all(&b);
		if (!b.all_found) {
			b.all_found = !b.more;
			b.more = true;
			continue;
		}
		if (!b.more)
			refute_tainted_ones(&b);
		if (!b.more)
			refute_endless_ones(&b);
	} while (b.more && ++rounds < MOST_ROUNDS);
	if (b.more || !b.count)
		return NULL;
	functions = swz_scratch_alloc_brief(b.count * sizeof(*functions));
	if (!functions)
		return NULL;
	m->tableless = b.tableless;
	for (; *count < b.count; ++*count)
		functions[*count] = (struct swz_function){
			.start = b.candidates[*count].at,
			.size = b.candidates[*count].size,
			.flags = SWZ_FUNCTION_BARE};
	return functions;
}
