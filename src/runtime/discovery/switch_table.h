#ifndef SWZ_RUNTIME_DISCOVERY_SWITCH_TABLE_H
#define SWZ_RUNTIME_DISCOVERY_SWITCH_TABLE_H

/* Where a jump by an offset from a table leads, of code whose end is not known,
 * so that the table's is not either: compilers compare the index before. */

#include "runtime/module/module.h"
#include "thunks/decoder.h"
#include "thunks/encoding.h"

/* What the instructions up to a jump say of its table. All zeros at first. */
struct swz_switch {
	uint64_t held[16]; /* an address, by register; 0: none */
	uint64_t table;    /* that the latest offset was loaded from; 0: unknown
			    */
	uint64_t base;     /* that was added to it; 0: unknown */
	uint32_t bound;    /* what was last compared with or masked by */
	uint8_t since;     /* instructions since then, and one; 0: never */
};

/* The instruction with that code, which ends before `next`. */
void swz_switch_follow(struct swz_switch *s, const struct swz_module *module,
		       const struct swz_encoding *encoding, const uint8_t *code,
		       uint64_t next);

/* Whether the jump behind these instructions has its index bounded. */
bool swz_switch_is_bounded(const struct swz_switch *s);

/* Whether the instructions from `pc` on, which is before `end`, take the
 * address of the table and then, with nothing but conditional branches between,
 * jump to what one of its entries is the distance to. */
bool swz_switch_is_at(const struct swz_module *module,
		      struct swz_decoder *decoder, uint64_t pc, uint64_t end,
		      uint64_t table);

/* Says of each place in the text to which the table leads; false if the table
 * is not known. */
bool swz_switch_read(const struct swz_switch *s,
		     const struct swz_module *module,
		     void (*found)(void *context, uint64_t to), void *context);

#endif
