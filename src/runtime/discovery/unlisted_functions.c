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

#include "runtime/discovery/unlisted_functions.h"

#include <string.h>

#include "runtime/discovery/unlisted_gaps.h"
#include "runtime/discovery/code_flow.h"
#include "runtime/discovery/references.h"
#include "runtime/support/scratch.h"
#include "runtime/support/worker_threads.h"
#include "thunks/red_zone.h"

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

/* Of another module, or known otherwise. */
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

/* What compilers have called need not return. */
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

/* Whether what lies there, to which nothing is known to lead, is code that does
 * not run on to `to`, or nothing. It is not known with what stack it jumps.
 * Data among it ends where the next may be aligned. */
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
			from = (from | (SWZ_UNLISTED_ALIGNMENT - 1)) + 1;
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

/* What the list's members do; and what is between them, when there will be no
 * others in it: of code that nothing is known to lead to less is known. */
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

/* Whether what jumps there must keep its return address, or what is below it.
 */
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
	uint32_t low = 0, high = b->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (b->candidates[middle].at < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->count && b->candidates[low].at == address
		       ? &b->candidates[low]
		       : NULL;
}

/* Whether it was found out now that it goes on as one that returns. */
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
	swz_unlisted_gaps_drop_sparse(&b.gaps);
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
