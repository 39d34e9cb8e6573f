/* Every byte of the text is taken as the possible start of a direct branch
 * (scan_bytes.c). The targets that matter are marked in a bitmap, one bit a
 * byte; where a supposed branch meets a mark, the function around it is decoded
 * up to that place to see whether an instruction really starts there. Code that
 * belongs to no known function counts as what it looks like, unless it can be
 * decoded as a whole (scan_gaps.c). What follows from a branch that is real is
 * in branch_hits.c.
 *
 * Indirect branches go by tables: pointers (scan_pointers.c), and offsets from
 * the table's own address, as compilers write switches (label_tables.c). The
 * latter are read wherever an instruction takes an address, as long as they
 * lead into the text.
 */

#include "runtime/discovery/scan.h"

#include "runtime/discovery/branch_scan.h"
#include "runtime/discovery/label_tables.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/discovery/scan_pointers.h"
#include "runtime/discovery/text_maps.h"

static void mark_function(struct swz_branch_scan *s,
			  const struct swz_function *f)
{
	uint64_t end = f->start + (f->is_piece ? f->size : 1);

	for (uint64_t a = f->start; a < end; a++)
		swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
}

static void mark_load_site(struct swz_branch_scan *s, uint64_t start)
{
	for (uint64_t a = start + 1; a < start + SWZ_JUMP_BYTES; a++)
		swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
}

static void mark_targets(struct swz_branch_scan *s)
{
	for (uint32_t i = 0; i < s->module->function_count; i++) {
		struct swz_function *f = &s->module->functions[i];

		if (s->looks_for == SWZ_CALLERS) {
			if (f->reads_above || swz_is_read_piece(f))
				mark_function(s, f);
			continue;
		}
		if (f->leads_to_reader)
			mark_function(s, f);
		if (s->looks_for == SWZ_JUMPERS)
			continue;
		if (!s->may_extend && !f->displace)
			continue; /* the second pass: seen already */
		if (swz_reads_return(f))
			mark_function(s, f);
		if (f->reads_entry_word)
			swz_text_mark(s->module, SWZ_TEXT_MARKS, f->start);
		if (f->status != SWZ_PATCHED)
			continue;
		for (unsigned n = 0; n < f->load_site_count; n++)
			mark_load_site(s, f->start + f->load_sites[n]);
		if (f->is_piece)
			continue;
		for (uint64_t a = swz_site_start(f); a < swz_site_end(f); a++)
			swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
		if (!f->site)
			swz_text_mark(s->module, SWZ_TEXT_STARTS, f->start);
	}
}

/* Something leads to `to` that is no direct branch. */
static void refuse_label(void *context, uint64_t to)
{
	const struct swz_branch_scan *s = context;
	struct swz_function *f;

	if (!swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
		return;
	if (s->unmarks) {
		swz_text_unmark(s->module, SWZ_TEXT_MARKS, to);
		return;
	}
	f = swz_function_at(s->module, to);
	if (f && ((!f->is_piece && swz_site_has(f, to)) ||
		  swz_function_load_site_has(f, to)))
		f->is_entered = true;
}

/* The address may be that of a label that a jump goes to by a register; but its
 * own, with which large code finds its GOT, is not. */
static bool look_at_load(void *context, uint64_t at)
{
	const struct swz_part_scan *s = context;
	uint64_t pc = s->text->start + at;
	uint64_t to = swz_module_relative(s->module, pc + 3);
	bool is_label = swz_module_is_text(s->module, to, 1) && to != pc;

	if (s->scan->looks_for != SWZ_OBSTACLES)
		return false;
	if (is_label) {
		refuse_label(s->scan, to);
		swz_label_distances_read(s->module, pc, to, refuse_label,
					 s->scan);
	}
	return (to % 4 == 0 &&
		swz_label_table_read(s->module,
				     s->scan->unmarks ? NULL : s->decoder, pc,
				     to, refuse_label, s->scan)) ||
	       is_label;
}

static bool leads_on(void *context, uint64_t to)
{
	const struct swz_part_scan *s = context;

	return swz_module_is_text(s->module, s->text->start + to, 1);
}

/* What the bytes at this offset of the text look like. */
static void look_at(void *context, uint64_t at)
{
	struct swz_part_scan *s = context;
	uint64_t pc = s->text->start + at, left = s->text->end - pc, to;
	const uint8_t *code = swz_module_bytes(s->module, pc);

	if (swz_is_short_branch(code[0])) {
		to = pc + 2 + (uint64_t)(int64_t)(int8_t)code[1];
	} else if ((code[0] & 0xfe) == 0xe8 && left >= 5) {
		to = swz_module_relative(s->module, pc + 1);
	} else if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80 && left >= 6) {
		to = swz_module_relative(s->module, pc + 2);
	} else if (code[0] == 0xff && code[1] == 0x25 && left >= 6) {
		if (swz_is_reader_slot(&s->scan->readers,
				       swz_module_relative(s->module, pc + 2)))
			swz_branch_hit(s, pc, 0);
		return;
	} else {
		return;
	}
	if (swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
		swz_branch_hit(s, pc, to);
	else if (code[0] != 0xe8 && to <= pc &&
		 swz_text_is_marked(s->module, SWZ_TEXT_STARTS, to))
		swz_branch_hit_start(s, pc, to);
}

static void scan_part(struct swz_branch_scan *s, uint32_t text, uint32_t part,
		      unsigned member)
{
	struct swz_byte_scan *scan = &s->module->byte_scans[text];
	struct swz_part_scan of = {.scan = s,
				   .module = s->module,
				   .decoder = s->decoders->of[member],
				   .text = &s->module->text[text]};

	swz_byte_scan_part(scan, &scan->parts[part], &of);
}

/* Number 0 is the pointers, which take longest; the parts of all texts are
 * counted on from there. */
static void scan_parts(void *context, uint32_t begin, uint32_t end,
		       unsigned member)
{
	struct swz_branch_scan *s = context;
	uint32_t first = 1;

	if (begin == 0 && s->looks_for == SWZ_OBSTACLES)
		swz_scan_pointers(s->module, refuse_label, s);
	for (unsigned i = 0; i < s->module->text_count; i++) {
		uint32_t count = s->module->byte_scans[i].part_count;

		for (uint32_t part = begin; part < end; part++)
			if (part >= first && part - first < count)
				scan_part(s, i, part - first, member);
		first += count;
	}
}

/* Scans all texts, and the pointers. What was noted is kept with the module. */
static void scan_all(struct swz_branch_scan *s)
{
	struct swz_module *m = s->module;
	unsigned parts = 1;

	for (unsigned i = 0; i < m->text_count; i++) {
		struct swz_byte_scan *scan = &m->byte_scans[i];

		scan->stores = s->readers.slot_count;
		scan->look = look_at;
		scan->leads_on = m->text_count > 1 ? leads_on : NULL;
		scan->look_at_load = look_at_load;
		swz_byte_scan_prepare(scan);
		parts += scan->part_count;
	}
	swz_workers_run(scan_parts, s, parts, 1);
}

static enum swz_status scan_texts(struct swz_branch_scan *s)
{
	if (swz_text_maps_clear(s->module) != SWZ_OK)
		return SWZ_E_NOMEM;
	mark_targets(s);
	swz_readers_mark_stubs(&s->readers, s->module);
	scan_all(s);
	return SWZ_OK;
}

static enum swz_status scan_jumpers(struct swz_branch_scan *s)
{
	enum swz_status status = SWZ_OK;

	s->looks_for = SWZ_JUMPERS;
	s->readers.slot_count = 0;
	while (s->found && status == SWZ_OK) {
		s->found = false;
		status = scan_texts(s);
	}
	return status;
}

/* Callers of functions that read return addresses above their own, and theirs
 * where it is read two calls above, and so on. */
static enum swz_status scan_callers(struct swz_branch_scan *s)
{
	enum swz_status status = SWZ_OK;

	s->looks_for = SWZ_CALLERS;
	for (uint32_t i = 0; i < s->module->function_count && !s->found; i++)
		s->found = s->module->functions[i].reads_above;
	while (s->found && status == SWZ_OK) {
		s->found = false;
		status = scan_texts(s);
	}
	return status;
}

static void refuse_entered(struct swz_branch_scan *s, struct swz_function *f)
{
	swz_function_refuse(f, f->load_count || f->load_site_count
				       ? SWZ_REFUSE_READS_RETURN_SLOT
				       : SWZ_REFUSE_BRANCH_INTO_SITE);
	if (f->is_piece && f->load_site_count) {
		f->leads_to_reader = true;
		s->found = true;
	}
}

enum swz_status swz_scan_branches(struct swz_module *module,
				  const struct swz_decoders *decoders)
{
	struct swz_branch_scan s = {
		.module = module, .decoders = decoders, .may_extend = true};
	enum swz_status status;

	swz_readers_find(&s.readers, module);
	status = scan_texts(&s);
	if (status == SWZ_OK && s.extended) {
		/* once more: nothing else may branch to what is displaced now
		 */
		s.may_extend = false;
		s.readers.slot_count = 0;
		s.found = false;
		status = scan_texts(&s);
	}
	if (status == SWZ_OK)
		status = scan_jumpers(&s);
	if (status == SWZ_OK)
		status = scan_callers(&s);
	/* last: other reasons are stronger, see islands.c */
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].is_entered ||
		    module->functions[i].branch_count)
			refuse_entered(&s, &module->functions[i]);
	if (status == SWZ_OK)
		status = scan_jumpers(&s);
	return status;
}

enum swz_status swz_scan_jumpers(struct swz_module *module,
				 const struct swz_decoders *decoders)
{
	struct swz_branch_scan s = {
		.module = module, .decoders = decoders, .found = true};

	return scan_jumpers(&s);
}

void swz_scan_reached(struct swz_module *module,
		      const struct swz_decoders *decoders)
{
	struct swz_branch_scan s = {
		.module = module, .decoders = decoders, .unmarks = true};

	scan_all(&s);
}
