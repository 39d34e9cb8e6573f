#include "runtime/discovery/gap_doubts.h"

#include "runtime/discovery/scan_data.h"
#include "runtime/discovery/scan_gaps.h"
#include "runtime/discovery/text_maps.h"
#include "thunks/decoder.h"

/* Constants are near the code that reads them, and not many. */
#define MOST_GAP_BYTES (16u << 10)
#define NEAR_BYTES (64u << 10)

static unsigned least(unsigned count, unsigned room)
{
	return count < room ? count : room;
}

static unsigned count_of(const struct swz_doubts *d)
{
	return least(d->count, SWZ_MOST_DOUBTS);
}

bool swz_doubt_note(struct swz_doubts *d, uint64_t pc,
		    struct swz_function *entered)
{
	unsigned i = atomic_fetch_add(&d->count, 1);

	if (i >= SWZ_MOST_DOUBTS)
		return false;
	d->of[i] = (struct swz_doubt){.pc = pc, .entered = entered};
	return true;
}

bool swz_doubted_load_note(struct swz_doubts *d, uint64_t pc, uint64_t to)
{
	unsigned i = atomic_fetch_add(&d->load_count, 1);

	if (i >= SWZ_MOST_DOUBTED_LOADS)
		return false;
	d->loads[i] = (struct swz_doubted_load){pc, to};
	return true;
}

static bool has(const struct swz_range *r, uint64_t address)
{
	return address >= r->start && address < r->end;
}

bool swz_doubts_share_gap(const struct swz_doubts *d, uint64_t a, uint64_t b)
{
	for (unsigned i = 0; i < count_of(d); i++)
		if (has(&d->of[i].gap, a))
			return has(&d->of[i].gap, b);
	return false;
}

bool swz_doubts_mark(struct swz_doubts *d, struct swz_module *m)
{
	bool any = false;

	for (unsigned i = 0; i < count_of(d); i++) {
		struct swz_doubt *one = &d->of[i];

		if (one->entered->is_entered)
			continue;
		one->gap = swz_gap_around(m, one->pc);
		one->is_code = one->gap.end - one->gap.start > MOST_GAP_BYTES;
		for (uint64_t a = one->gap.start;
		     !one->is_code && a < one->gap.end; a++)
			swz_text_mark(m, SWZ_TEXT_MARKS, a);
		any |= !one->is_code;
	}
	return any;
}

/* ---------------------------------------------------------------- settling */

/* What a function does with addresses in a gap. */
struct uses {
	struct swz_doubt *doubt;
	uint64_t only; /* this one is asked for alone; 0: all of the gap */
	bool reads, others;
};

static bool is_asked(void *context, uint64_t to)
{
	const struct uses *u = context;

	return u->only ? to == u->only : has(&u->doubt->gap, to);
}

static void note_use(void *context, uint64_t to, enum swz_reference how)
{
	struct uses *u = context;

	if (how != SWZ_REFERENCE_DATA) {
		u->others = true;
		return;
	}
	u->reads = true;
	if (!u->doubt->read || to < u->doubt->read)
		u->doubt->read = to;
}

static void look_at_function(const struct swz_module *m,
			     const struct swz_function *f, struct uses *u)
{
	struct swz_references r = {.module = m,
				   .is_asked = is_asked,
				   .found = note_use,
				   .context = u};

	swz_references_between(&r, f->start, f->start + f->size);
}

static bool may_go_elsewhere(const struct swz_module *m,
			     const struct swz_insn *insn)
{
	switch (insn->kind) {
	case SWZ_INSN_JUMP:
	case SWZ_INSN_JUMP_CC:
	case SWZ_INSN_CALL:
		return swz_module_is_text(m, insn->target, 1);
	case SWZ_INSN_RETURN: /* and takes nothing with it */
		return insn->length < 3;
	case SWZ_INSN_JUMP_INDIRECT:
	case SWZ_INSN_CALL_INDIRECT:
		return true;
	default:
		return false;
	}
}

/* Whether what is there is code by its looks, up to where it goes elsewhere. */
static bool looks_like_code(const struct swz_module *m,
			    struct swz_decoder *decoder, struct swz_range range)
{
	while (range.start < range.end) {
		struct swz_bytes code = {swz_module_bytes(m, range.start),
					 range.end - range.start};
		struct swz_encoding e;
		struct swz_insn insn;

		if (swz_decode_encoding(decoder, code, range.start, &insn,
					&e) != SWZ_OK ||
		    swz_opcode_is_odd(code, &e))
			return false;
		if (insn.kind != SWZ_INSN_PLAIN)
			return may_go_elsewhere(m, &insn);
		range.start += insn.length;
	}
	return true;
}

/* An address is taken of something in the gap: to read it, and for nothing
 * else; what does not look like code is read, wherever that may be. */
static void settle_load(const struct swz_module *m, struct swz_decoder *decoder,
			struct swz_doubt *d,
			const struct swz_doubted_load *load)
{
	const struct swz_function *f = swz_function_at(m, load->pc);
	struct uses u = {.doubt = d, .only = load->to};

	if (has(&d->gap, load->pc))
		return; /* data that looks like that, or it would be reached */
	if (!looks_like_code(m, decoder,
			     (struct swz_range){load->to, d->gap.end}))
		note_use(&u, load->to, SWZ_REFERENCE_DATA);
	else if (f)
		look_at_function(m, f, &u);
	if (!u.reads || u.others)
		d->is_code = true;
}

static void look_around(const struct swz_module *m, struct swz_doubt *d)
{
	struct uses u = {.doubt = d};

	for (uint32_t i = 0; i < m->function_count && !d->is_code; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->start + NEAR_BYTES < d->gap.start ||
		    f->start > d->gap.end + NEAR_BYTES)
			continue;
		look_at_function(m, f, &u);
		d->is_code |= u.others;
	}
}

static void settle(const struct swz_doubts *all, const struct swz_module *m,
		   struct swz_decoder *decoder, struct swz_doubt *d)
{
	for (uint64_t a = d->gap.start; a < d->gap.end && !d->is_code; a++)
		d->is_code = !swz_text_is_marked(m, SWZ_TEXT_MARKS, a);
	for (unsigned i = 0; i < least(all->load_count, SWZ_MOST_DOUBTED_LOADS);
	     i++)
		if (!d->is_code && has(&d->gap, all->loads[i].to))
			settle_load(m, decoder, d, &all->loads[i]);
	look_around(m, d);
}

void swz_doubts_settle(struct swz_doubts *d, struct swz_module *m,
		       struct swz_decoder *decoder)
{
	for (unsigned i = 0; i < count_of(d); i++) {
		struct swz_doubt *one = &d->of[i];

		if (one->entered->is_entered)
			continue;
		settle(d, m, decoder, one);
		if (one->is_code || !one->read || one->read > one->pc)
			one->entered->is_entered = true;
	}
}
