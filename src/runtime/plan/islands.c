/* Places for the 5-byte jump of a function that has room for 2 bytes only, and
 * the list of the places behind a function's beginning that change, too. */

#include "runtime/plan/plan.h"

#include <stdbool.h>

#include "runtime/discovery/function.h"
#include "runtime/discovery/code_flow.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/encoding.h"

/* ------------------------------------------------------------- inner sites */

void swz_inner_sites_begin(struct swz_module *m)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < m->function_count; i++)
		wanted += (uint32_t)m->functions[i].load_site_count +
			  m->functions[i].branch_count;
	m->inner_site_count = 0;
	m->inner_site_room = 0;
	if (!wanted)
		return;
	m->inner_sites = swz_scratch_alloc(wanted * sizeof(*m->inner_sites));
	if (m->inner_sites)
		m->inner_site_room = wanted;
}

bool swz_inner_sites_add(struct swz_module *m, struct swz_inner_site site)
{
	uint32_t i = m->inner_site_count;

	if (i == m->inner_site_room)
		return false;
	for (; i && m->inner_sites[i - 1].at > site.at; i--)
		m->inner_sites[i] = m->inner_sites[i - 1];
	m->inner_sites[i] = site;
	m->inner_site_count++;
	return true;
}

/* ----------------------------------------------------------------- islands */

/* Three kinds of islands. Padding between functions, which belongs to nobody;
 * the function before it must not run on into it. Padding before a function,
 * behind code that none is known of, as the C library's start code. And bytes
 * of a neighbour that is patched itself: more of its first instructions are
 * displaced than its own jump needs, and what lies behind that jump is free
 * then (E9Patch calls this neighbour eviction). An unwinder that is asked for
 * the island's address is told the truth by the region of the trampolines
 * (stack_walkers.c).
 *
 * That nothing leads to an island, or to the second byte of a short jump, is
 * found out by one more scan, for which the bytes in question are marked. */

#define REACH_BACK 128u
#define REACH_ON 127u
/* So many bytes of a host are displaced at most. */
#define MOST_HOSTED 15u
/* Each byte that is asked for makes the scan longer: of each kind of island so
 * many per function are taken into account. */
#define MOST_ASKED 6u

/* Up to the next function or to an aligned address. Other code or data, of
 * which nothing is known, may begin like padding but does not end so. */
uint32_t swz_padding_of(const struct swz_module *m,
			const struct swz_function *f)
{
	uint32_t end = f->size, padding = 0;
	size_t length;

	while (end < f->room) {
		struct swz_bytes rest = {swz_module_bytes(m, f->start + end),
					 f->room - end};

		length = swz_padding_length(rest);
		if (!length)
			break;
		end += (uint32_t)length;
		if (end == f->room || (f->start + end) % 8 == 0)
			padding = end - f->size;
	}
	return padding;
}

static bool is_patched(const struct swz_function *f)
{
	return !f->is_piece && f->status == SWZ_PATCHED && f->trampoline;
}

/* ud2, which no jump can replace. */
static bool is_trap(const struct swz_module *m, const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start + f->site);

	return code[0] == 0x0f && code[1] == 0x0b;
}

bool swz_island_is_wanted(const struct swz_module *m,
			  const struct swz_function *f)
{
	if (f->is_piece || f->wrapper || f->room < f->site + 2u)
		return false;
	if (f->status == SWZ_PATCHED)
		return (swz_config.test_tactic || f->displaces_call) &&
		       !f->displace;
	return f->status == SWZ_REFUSE_TOO_SHORT ||
	       f->status == SWZ_REFUSE_BRANCH_INTO_SITE ||
	       f->status == SWZ_REFUSE_UNDECODABLE ||
	       (f->status == SWZ_REFUSE_UNRELOCATABLE && !is_trap(m, f));
}

/* ------------------------------------------------------------- neighbours */

static uint64_t lowest(const struct swz_function *f)
{
	uint64_t behind = f->start + f->site + SWZ_SHORT_JUMP_BYTES;

	return behind > REACH_BACK ? behind - REACH_BACK : 0;
}

static uint64_t highest(const struct swz_function *f)
{
	return f->start + f->site + SWZ_SHORT_JUMP_BYTES + REACH_ON;
}

/* The first function of which bytes, or the padding behind it, may be in
 * reach. */
static struct swz_function *first_neighbour(const struct swz_module *m,
					    struct swz_function *f)
{
	uint64_t low = lowest(f);

	while (f > m->functions && f[-1].start + f[-1].room > low)
		f--;
	return f;
}

static bool is_neighbour(const struct swz_module *m,
			 const struct swz_function *g,
			 const struct swz_function *f)
{
	return g < m->functions + m->function_count && g->start <= highest(f);
}

static unsigned hosted_bytes(const struct swz_function *g)
{
	return g->displace > SWZ_JUMP_BYTES ? g->displace : SWZ_JUMP_BYTES;
}

/* In SWZ_TEXT_MARKS are the bytes that are asked for, those alone afterwards to
 * which nothing leads. In SWZ_TEXT_STARTS, first bytes of functions likewise,
 * and, once that is known, of other bytes those that a patch has taken. */
static void mark_range(const struct swz_module *m, enum swz_text_map map,
		       uint64_t start, uint64_t end)
{
	for (uint64_t a = start; a < end; a++)
		swz_text_mark(m, map, a);
}

/* The bit of the first byte that is patched in a function. */
static enum swz_text_map map_of_site(const struct swz_function *f)
{
	return f->site ? SWZ_TEXT_MARKS : SWZ_TEXT_STARTS;
}

/* Address of the distance of a branch that may be led elsewhere. */
static uint64_t distance_of(const struct swz_function *f, unsigned branch)
{
	return f->start + f->branches[branch] + 1;
}

/* Start of the padding before the function, behind code of none. */
static uint64_t padding_before(const struct swz_islands *islands,
			       struct swz_gap *gap,
			       const struct swz_function *g)
{
	const struct swz_module *m = islands->module;

	if (g > m->functions &&
	    g[-1].start + g[-1].size + SWZ_JUMP_BYTES > g->start)
		return g->start;
	for (unsigned i = 0; i < m->text_count; i++)
		if (g->start >= m->text[i].start && g->start < m->text[i].end)
			return swz_gap_padding(gap, m, islands->decoders->of[0],
					       &m->text[i], g->start);
	return g->start;
}

/* Marks what may become a patch for the function's sake. */
static void ask(const struct swz_islands *islands, struct swz_function *f)
{
	const struct swz_module *m = islands->module;
	uint64_t site = f->start + f->site;
	unsigned runs = 0, hosts = 0;
	struct swz_gap gap = {0};

	swz_text_mark(m, map_of_site(f), site);
	swz_text_mark(m, SWZ_TEXT_MARKS, site + 1);
	for (unsigned i = 0; i < f->branch_count; i++)
		mark_range(m, SWZ_TEXT_MARKS, distance_of(f, i),
			   distance_of(f, i) + 4);
	for (struct swz_function *g = first_neighbour(m, f);
	     is_neighbour(m, g, f); g++) {
		uint64_t end = g->start + g->size;
		uint64_t host = g->start + g->site + hosted_bytes(g);
		uint64_t last = g->start + g->site + MOST_HOSTED;
		uint32_t padding = swz_padding_of(m, g);
		uint64_t before = padding_before(islands, &gap, g);

		if (before < g->start && runs++ < MOST_ASKED)
			mark_range(m, SWZ_TEXT_MARKS, before, g->start);
		if (padding >= (uint32_t)SWZ_JUMP_BYTES && runs++ < MOST_ASKED)
			mark_range(m, SWZ_TEXT_MARKS, end, end + padding);
		if (is_patched(g) && host + SWZ_JUMP_BYTES <= end &&
		    hosts++ < MOST_ASKED)
			mark_range(m, SWZ_TEXT_MARKS, host,
				   last < end ? last : end);
	}
}

enum swz_status swz_islands_begin(struct swz_islands *islands,
				  struct swz_module *m,
				  const struct swz_decoders *decoders)
{
	*islands = (struct swz_islands){.module = m, .decoders = decoders};
	if (swz_text_maps_clear(m) != SWZ_OK)
		return SWZ_E_NOMEM;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (swz_island_is_wanted(m, &m->functions[i]))
			ask(islands, &m->functions[i]);
	swz_scan_reached(m, decoders);
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (is_patched(f) &&
		    f->size - f->site < (uint32_t)SWZ_JUMP_BYTES)
			mark_range(m, SWZ_TEXT_STARTS, f->start + f->size,
				   f->start + f->site + SWZ_JUMP_BYTES);
	}
	return SWZ_OK;
}

/* ---------------------------------------------------------------- finding */

static bool is_free(const struct swz_islands *islands, uint64_t start,
		    uint64_t end)
{
	const struct swz_module *m = islands->module;

	for (uint64_t a = start; a < end; a++)
		if (!swz_text_is_marked(m, SWZ_TEXT_MARKS, a) ||
		    swz_text_is_marked(m, SWZ_TEXT_STARTS, a))
			return false;
	return true;
}

bool swz_island_may_serve(const struct swz_islands *islands,
			  const struct swz_function *f)
{
	uint64_t site = f->start + f->site;

	return swz_live_site_in_one_page(site, SWZ_SHORT_JUMP_BYTES) &&
	       swz_text_is_marked(islands->module, map_of_site(f), site) &&
	       is_free(islands, site + 1, site + SWZ_SHORT_JUMP_BYTES);
}

bool swz_branches_may_be_led(const struct swz_islands *islands,
			     const struct swz_function *f)
{
	if (f->status != SWZ_REFUSE_BRANCH_INTO_SITE || f->is_entered)
		return false;
	for (unsigned i = 0; i < f->branch_count; i++)
		if (!is_free(islands, distance_of(f, i), distance_of(f, i) + 4))
			return false;
	return true;
}

/* By the short jump, and in what is made writable together with it. */
static bool in_reach(const struct swz_module *m, const struct swz_function *f,
		     uint64_t at)
{
	for (unsigned i = 0; i < m->text_count; i++)
		if (at >= m->text[i].start && at < m->text[i].end)
			return f->start >= m->text[i].start &&
			       f->start < m->text[i].end && at >= lowest(f) &&
			       at <= highest(f);
	return false;
}

/* True if control never goes on behind the function's last instruction. Not so
 * after a call, as one cannot see whether it returns. */
static bool ends_itself(const struct swz_islands *islands,
			const struct swz_function *g)
{
	uint64_t pc = g->start, end = g->start + g->size;
	struct swz_insn insn = {.kind = SWZ_INSN_PLAIN};

	for (; pc < end; pc += insn.length) {
		struct swz_bytes code = {swz_module_bytes(islands->module, pc),
					 end - pc};

		if (swz_decode(islands->decoders->of[0], code, pc, &insn) !=
		    SWZ_OK)
			return false;
	}
	return insn.kind == SWZ_INSN_JUMP || insn.kind == SWZ_INSN_RETURN ||
	       insn.kind == SWZ_INSN_JUMP_INDIRECT;
}

/* The first 5 bytes of the padding that are free and in reach of `f`. */
static bool find_free(const struct swz_islands *islands,
		      const struct swz_function *f, uint64_t begin,
		      uint64_t end, uint64_t *at)
{
	/* what is reached runs on to the end */
	for (uint64_t a = begin; a < end; a++)
		if (!swz_text_is_marked(islands->module, SWZ_TEXT_MARKS, a))
			end = a;
	for (uint64_t a = begin; a + SWZ_JUMP_BYTES <= end; a++) {
		if (!in_reach(islands->module, f, a) ||
		    !swz_live_site_in_one_page(a, SWZ_JUMP_BYTES) ||
		    !is_free(islands, a, a + SWZ_JUMP_BYTES))
			continue;
		*at = a;
		return true;
	}
	return false;
}

/* Behind `g`. */
static bool find_in_padding(const struct swz_islands *islands,
			    const struct swz_function *f,
			    const struct swz_function *g, uint64_t *at)
{
	uint64_t begin = g->start + g->size;

	return find_free(islands, f, begin,
			 begin + swz_padding_of(islands->module, g), at) &&
	       ends_itself(islands, g);
}

/* Before `g`. */
static bool find_before(const struct swz_islands *islands, struct swz_gap *gap,
			const struct swz_function *f,
			const struct swz_function *g, uint64_t *at)
{
	return find_free(islands, f, padding_before(islands, gap, g), g->start,
			 at);
}

/* True if all of these bytes from the site on are instructions that follow one
 * another: what lies behind a jump or a return may be data. */
static bool is_straight(const struct swz_islands *islands,
			const struct swz_function *g, unsigned bytes)
{
	uint64_t site = g->start + g->site, pc = site;

	while (pc < site + bytes) {
		struct swz_bytes code = {swz_module_bytes(islands->module, pc),
					 g->start + g->size - pc};
		struct swz_insn insn;

		if (swz_decode(islands->decoders->of[0], code, pc, &insn) !=
		    SWZ_OK)
			return false;
		pc += insn.length;
		if (insn.kind != SWZ_INSN_PLAIN &&
		    insn.kind != SWZ_INSN_JUMP_CC && pc < site + bytes)
			return false;
	}
	return true;
}

static bool can_host(const struct swz_islands *islands,
		     const struct swz_function *f, const struct swz_function *g)
{
	unsigned offset = g->site + hosted_bytes(g);
	uint64_t at = g->start + offset;

	return g != f && !g->wrapper && !g->island && !g->load_site_count &&
	       !g->branch_count && is_patched(g) &&
	       offset + SWZ_JUMP_BYTES <= g->size &&
	       hosted_bytes(g) + SWZ_JUMP_BYTES <= MOST_HOSTED &&
	       in_reach(islands->module, f, at) &&
	       swz_live_site_in_one_page(at, SWZ_JUMP_BYTES) &&
	       is_free(islands, at, at + SWZ_JUMP_BYTES) &&
	       is_straight(islands, g, hosted_bytes(g) + SWZ_JUMP_BYTES);
}

/* A function that has a long jump gets a short one only where that costs nobody
 * else anything; in tests, by the tactic that is tested. */
static bool may_use(const struct swz_function *f, enum swz_test_tactic tactic)
{
	enum swz_test_tactic of_hooked = swz_config.test_tactic;

	if (!of_hooked && f->displaces_call)
		of_hooked = SWZ_TEST_PADDING;
	if (swz_config.test_tactic == SWZ_TEST_BRANCHES && f->branch_count &&
	    !f->is_entered)
		return false;
	return f->status != SWZ_PATCHED || of_hooked == tactic;
}

bool swz_island_find(const struct swz_islands *islands, struct swz_function *f,
		     unsigned skip, struct swz_island *island)
{
	const struct swz_module *m = islands->module;
	struct swz_function *first = first_neighbour(m, f), *g;
	struct swz_gap gap = {0};

	*island = (struct swz_island){0};
	for (g = first; may_use(f, SWZ_TEST_PADDING) && is_neighbour(m, g, f);
	     g++)
		if ((find_in_padding(islands, f, g, &island->at) ||
		     find_before(islands, &gap, f, g, &island->at)) &&
		    !skip--)
			return true;
	for (g = first; may_use(f, SWZ_TEST_NEIGHBOUR) && is_neighbour(m, g, f);
	     g++) {
		if (!can_host(islands, f, g) || skip--)
			continue;
		island->host = g;
		island->at = g->start + g->site + hosted_bytes(g);
		island->host_bytes = (uint8_t)(hosted_bytes(g) +
					       SWZ_JUMP_BYTES);
		return true;
	}
	return false;
}

void swz_island_take(struct swz_islands *islands, const struct swz_function *f,
		     const struct swz_island *island)
{
	uint64_t behind = f->start + f->site + SWZ_SHORT_JUMP_BYTES;

	mark_range(islands->module, SWZ_TEXT_STARTS, island->at,
		   island->at + SWZ_JUMP_BYTES);
	mark_range(islands->module, SWZ_TEXT_STARTS,
		   behind - SWZ_SHORT_JUMP_BYTES, behind);
}
