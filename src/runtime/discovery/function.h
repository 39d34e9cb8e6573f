#ifndef SWZ_RUNTIME_DISCOVERY_FUNCTION_H
#define SWZ_RUNTIME_DISCOVERY_FUNCTION_H

/* A module's functions, while it is being planned. */

#include "image/eh_frame.h"
#include "runtime/module/module.h"
#include "swizzle/format.h"
#include "thunks/relocate.h"

/* Bytes from the site that are displaced at most: a loop of the function's own
 * that goes back into the site is displaced as a whole if it ends there. From a
 * function's start those that a branch may not enter at most (the site is
 * behind a signature then). */
#define SWZ_MOST_DISPLACED_BYTES 48u
#define SWZ_MOST_PATCHED (8 + SWZ_MOST_DISPLACED_BYTES)
#define SWZ_MOST_LOAD_SITES UINT16_MAX
#define SWZ_MOST_BRANCHES 2

struct swz_function {
	uint64_t start; /* ELF virtual address */
	uint32_t size;
	uint32_t room;    /* bytes from start to the next function, or the end
			   * of the text: what padding may be counted in */
	uint16_t status;  /* enum swz_refusal; SWZ_PATCHED: nothing against */
	uint8_t flags;    /* enum swz_function_flags */
	bool is_piece;    /* not entered by call: cold parts and the like; it
			   * is here to know whose code lies there */
	uint8_t site;     /* offset of the patch site: 4 after endbr64, 8
			   * after a sanitizer's signature */
	uint8_t filter;   /* enum swz_filter_flags */
	uint8_t displace; /* bytes from the site that must be displaced, more
			   * than the jump takes: up to the end of a loop that
			   * goes back into the site; 0: no more */
	uint8_t reads_above; /* bit N - 1: it reads the return address of the
			      * function that is N calls above it */
	bool is_cold_part;   /* found to be a piece by what it does */
	bool is_entered;     /* something leads into the site */
	int16_t island;      /* where the 5-byte jump lies, from the site, which
			      * holds a 2-byte jump to it; 0: at the site */
	uint8_t load_count;  /* of its own return address, all of which are
			      * displaced */
	uint8_t loads[SWZ_MOST_LOADS]; /* their offsets from the site */
	const char *name;              /* from a symbol table, or NULL */
	const struct swz_fde *fde; /* NULL if found by symbol only; it is there
				    * as long as the module is being planned */
	const uint8_t *trampoline; /* set when it is written */
	uint8_t moved; /* bytes from the site that run in the trampoline */
	uint16_t load_site_count; /* of its own return address, too, that stay
				   * where they are (plan/load_sites.h) */
	bool reads_own; /* it uses the memory of its own return address, whether
			 * or not that keeps it from being patched */
	bool reads_entry_word; /* a piece that begins as a function does, but
				* for a word more that it finds on the stack: it
				* uses the one on top, where who jumps to it has
				* its return address (libgcc's __morestack) */
	uint32_t *load_sites;  /* from its start, ascending; brief memory */
	bool leads_to_reader; /* by jumps, to what uses the memory of the return
			       * address that is there then */
	bool finds_below; /* what its caller has handed on lies below the stack
			   * pointer (released_frames.h) */
	uint8_t branch_count; /* of its own branches into the site that could
			       * be led elsewhere (plan/led_branches.h) */
	uint32_t branches[SWZ_MOST_BRANCHES]; /* from its start: the last bytes
					       * before their distances */
	uint32_t captured; /* 1 + the number of what is recorded of its
			    * arguments (record/signatures.h); 0: nothing */
	const struct swz_wrapper
		*wrapper; /* what it is patched to go through
			   * (compat/stack_walkers.h, wrapped_functions.h), or
			   * NULL; calls are not recorded */
};

/* Whether the symbol is of code that may be a function of the module's. */
static inline bool swz_is_function_symbol(const struct swz_elf_symbol *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) &&
	       s->section != SHN_UNDEF && s->value;
}

/* How many of the module's functions, which are sorted, begin below each page:
 * where swz_function_at begins to look. Without memory for it, it looks
 * everywhere. */
void swz_functions_index(struct swz_module *module);

/* The function or piece whose bytes hold the address, or NULL. */
struct swz_function *swz_function_at(const struct swz_module *module,
				     uint64_t address);

/* By name: returns twice, or begins on a stack of its own. */
bool swz_function_returns_twice(const char *name);

static inline void swz_function_refuse(struct swz_function *function,
				       enum swz_refusal reason)
{
	if (function->status == SWZ_PATCHED)
		function->status = (uint16_t)reason;
}

/* Whether the address is in the jump that takes the place of a load, and not
 * its beginning: nothing may lead there. */
static inline bool swz_function_load_site_has(
	const struct swz_function *function, uint64_t address)
{
	for (unsigned i = 0; i < function->load_site_count; i++) {
		uint64_t start = function->start + function->load_sites[i];

		if (address > start && address < start + SWZ_JUMP_BYTES)
			return true;
	}
	return false;
}

/* It uses the memory of its own return address in a way that a hook cannot live
 * with. */
static inline void swz_function_refuse_reader(struct swz_function *function)
{
	function->reads_own = true;
	swz_function_refuse(function, SWZ_REFUSE_READS_RETURN_SLOT);
}

/* All of them. */
void swz_functions_refuse(struct swz_module *module, enum swz_refusal reason);

/* Fills module->counts: zeros for a module out of scope. */
void swz_functions_count(struct swz_module *module);

#endif
