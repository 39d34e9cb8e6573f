#ifndef SWZ_RUNTIME_SCAN_H
#define SWZ_RUNTIME_SCAN_H

/* Two searches through a module's text that refuse functions. Both look at
 * bytes first and decode only where the bytes ask for it. */

#include "runtime/function.h"
#include "thunks/relocate.h"

/* Refuses functions that use the memory of their own return address (CFA - 8,
 * by their CFI), or whose CFI moves it. Finds those that read a caller's
 * (reads_above). */
enum swz_status swz_scan_return_slots(
	struct swz_module *module, struct swz_decoder *decoder) SWZ_MUST_CHECK;

/* Refuses functions into whose patch site something branches, functions that
 * end in a jump to one that reads its return address, and those whose return
 * address is read by what they call. To run after swz_scan_return_slots. */
enum swz_status swz_scan_branches(struct swz_module *module,
				  struct swz_decoder *decoder) SWZ_MUST_CHECK;

/* Whether the name is that of a function of libc, or of an unwinder, that looks
 * at its return address, or returns twice. */
bool swz_is_reader_name(const char *name);

/* Bitmaps by text range, a bit for each byte. */
struct swz_text_bits {
	uint8_t *bits[SWZ_MAX_TEXT_RANGES];
};

/* All clear, in scratch memory. */
enum swz_status swz_text_bits_init(struct swz_text_bits *bits,
				   const struct swz_module *m) SWZ_MUST_CHECK;

static inline void swz_text_mark(const struct swz_module *m,
				 uint8_t *const *bitmaps, uint64_t address)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *text = &m->text[i];
		uint64_t at = address - text->start;

		if (address >= text->start && address < text->end)
			bitmaps[i][at / 8] |= (uint8_t)(1u << (at % 8));
	}
}

static inline bool swz_text_is_marked(const struct swz_module *m,
				      uint8_t *const *bitmaps, uint64_t address)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *text = &m->text[i];
		uint64_t at = address - text->start;

		if (at < text->end - text->start)
			return bitmaps[i] &&
			       bitmaps[i][at / 8] & (1u << (at % 8));
	}
	return false;
}

/* Which of the bytes `asked` something in the module leads to (a branch, a
 * table of labels), are marked in `reached`; of the first bytes of functions in
 * `starts` those to which their function jumps back with another stack than
 * that of a call. Refuses nothing. */
enum swz_status swz_scan_reached(struct swz_module *module,
				 struct swz_decoder *decoder,
				 const struct swz_text_bits *asked,
				 const struct swz_text_bits *starts,
				 struct swz_text_bits *reached) SWZ_MUST_CHECK;

#endif
