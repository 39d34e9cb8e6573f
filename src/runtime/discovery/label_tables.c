#include "runtime/discovery/label_tables.h"

#include <string.h>

#include "runtime/discovery/cold_parts.h"
#include "runtime/discovery/distance_table.h"
#include "runtime/discovery/entry_stack.h"
#include "runtime/discovery/switch_table.h"
#include "runtime/discovery/text_maps.h"

/* The tables of functions that are neighbours are neighbours: most are found
 * within the first, nearly all within the second. */
#define NEAR_BYTES (2u << 10)
#define FAR_BYTES (64u << 10)

/* Whether the function may be the cold part of one that has a table: labels in
 * its first bytes are at the height of a call, so it does not begin by taking
 * room from the stack. */
static bool may_have_labels(const struct swz_module *m,
			    const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);

	if (!swz_may_be_cold_part(f) || (code[0] & 0xf8) == 0x50)
		return false;
	if (f->size < 3)
		return true;
	if (code[0] == 0x41)
		return (code[1] & 0xf8) != 0x50;
	return code[0] != 0x48 || (code[1] != 0x83 && code[1] != 0x81) ||
	       code[2] != 0xec;
}

/* lea disp32(%rip), of a 64-bit register. */
static bool takes_address(const uint8_t *code)
{
	return (code[0] & 0xfb) == 0x48 && code[1] == 0x8d &&
	       (code[2] & 0xc7) == 0x05;
}

static struct swz_range text_around(const struct swz_module *m, uint64_t pc,
				    uint64_t bytes)
{
	struct swz_range near = {pc, pc};

	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *t = &m->text[i];

		if (pc < t->start || pc >= t->end)
			continue;
		near.start = pc - t->start > bytes ? pc - bytes : t->start;
		near.end = t->end - pc > bytes ? pc + bytes : t->end;
	}
	return near;
}

/* Whether this code has a switch by a table that begins behind the address, and
 * not behind the last. */
static bool has_switch(const struct swz_module *m, struct swz_decoder *decoder,
		       struct swz_range code, uint64_t behind, uint64_t last)
{
	for (uint64_t at = code.start; at + 7 <= code.end; at++) {
		uint64_t table;

		if (!takes_address(swz_module_bytes(m, at)))
			continue;
		table = swz_module_relative(m, at + 3);
		if (table > behind && table <= last &&
		    swz_switch_is_at(m, decoder, at, code.end, table))
			return true;
	}
	return false;
}

/* Whether another table has begun between this one's beginning and the entry.
 */
static bool has_begun_another(const struct swz_module *m,
			      struct swz_decoder *decoder, uint64_t pc,
			      uint64_t table, uint64_t entry)
{
	return entry > table &&
	       (has_switch(m, decoder, text_around(m, pc, NEAR_BYTES), table,
			   entry) ||
		has_switch(m, decoder, text_around(m, pc, FAR_BYTES), table,
			   entry));
}

bool swz_label_table_read(const struct swz_module *m,
			  struct swz_decoder *decoder, uint64_t pc,
			  uint64_t table,
			  void (*found)(void *context, uint64_t to),
			  void *context)
{
	struct swz_bytes words = swz_distance_table_at(m, table);
	uint64_t at, first = 0;
	const struct swz_function *whole = NULL, *cold = NULL;

	for (at = table; at - table + 4 <= words.size; at += 4) {
		const struct swz_function *f;
		int32_t offset;
		uint64_t to;

		memcpy(&offset, words.data + (at - table), sizeof(offset));
		to = table + (uint64_t)(int64_t)offset;
		if (!swz_module_is_text(m, to, 1))
			break;
		if (at == table) {
			first = to;
			whole = swz_function_at(m, pc);
			if (whole && whole->is_piece)
				whole = NULL; /* that of the first entry */
		}
		f = whole && swz_function_has(whole, to)
			    ? whole
			    : swz_function_at(m, to);
		if (f && !whole && !f->is_piece)
			whole = f;
		if (f && f != whole && !cold && may_have_labels(m, f))
			cold = f;
		if (!f || (f != whole && f != cold && !f->is_piece))
			break;
		if (!swz_text_is_marked(m, SWZ_TEXT_MARKS, to))
			continue;
		/* one that is entered by something else is refused as it is */
		if (decoder && !f->is_entered &&
		    ((swz_stack_differs(m, pc, to) &&
		      swz_stack_differs(m, first, to)) ||
		     has_begun_another(m, decoder, pc, table, at)))
			continue;
		found(context, to);
	}
	return at > table;
}

void swz_label_distances_read(const struct swz_module *m, uint64_t pc,
			      uint64_t label,
			      void (*found)(void *context, uint64_t to),
			      void *context)
{
	const struct swz_function *f = swz_function_at(m, pc);

	if (!f || label == f->start || !swz_function_has(f, label) ||
	    f->size > SWZ_MOST_WITH_LABELS)
		return;
	for (uint64_t at = f->start; at + 7 <= f->start + f->size; at++) {
		const uint8_t *code = swz_module_bytes(m, at);
		uint64_t table;

		if (!takes_address(code))
			continue;
		table = swz_module_relative(m, at + 3);
		if (table % 4 == 0 && !swz_module_is_text(m, table, 1))
			swz_distance_table_read(m, f, label, table, found,
						context);
	}
}
