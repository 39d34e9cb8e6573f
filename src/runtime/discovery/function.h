#ifndef SWZ_RUNTIME_DISCOVERY_FUNCTION_H
#define SWZ_RUNTIME_DISCOVERY_FUNCTION_H

/* A module's functions, while it is being planned. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "image/eh_frame.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* --- function ------------------------------------------------------------- */

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
	bool displaces_call;      /* by the long jump, and not by a short one */
	uint16_t load_site_count; /* of its own return address, too, that stay
				   * where they are (plan/plan_trampolines.c) */
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
			   * pointer (scan_bytes.h) */
	uint8_t branch_count; /* of its own branches into the site that could
			       * be led elsewhere (plan/plan_trampolines.c) */
	uint32_t branches[SWZ_MOST_BRANCHES]; /* from its start: the last bytes
					       * before their distances */
	uint32_t captured; /* 1 + the number of what is recorded of its
			    * arguments (record/values.h); 0: nothing
			    */
	const struct swz_wrapper *wrapper; /* what it is patched to go through
					    * (compat/compat.h), or
					    * NULL; calls are not recorded */
};

/* True if the symbol is of code that may be a function of the module's. */
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

/* True if the reason forbids only hooks that replace the return address; -m
 * count leaves it alone. */
static inline bool swz_refusal_is_of_return(enum swz_refusal reason)
{
	return reason == SWZ_REFUSE_READS_RETURN_SLOT ||
	       reason == SWZ_REFUSE_TAIL_CALLS_READER ||
	       reason == SWZ_REFUSE_RETURNS_TWICE ||
	       reason == SWZ_REFUSE_CALLEE_READS ||
	       reason == SWZ_REFUSE_OWN_UNWINDER;
}

static inline void swz_function_refuse(struct swz_function *function,
				       enum swz_refusal reason)
{
	if (function->status == SWZ_PATCHED &&
	    !(swz_config.count && swz_refusal_is_of_return(reason)))
		function->status = (uint16_t)reason;
}

/* True if the address is inside the jump that replaces a load, behind its first
 * byte: nothing may lead there. */
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

/* Functions of other modules that look at their return address, and how a
 * module gets to them. */

#define SWZ_MAX_READERS 64

struct swz_readers {
	uint64_t slots[SWZ_MAX_READERS]; /* GOT entries */
	unsigned slot_count;
	uint64_t stubs[2 * SWZ_MAX_READERS]; /* their PLT entries */
	unsigned stub_count;
};

/* True if the name is that of a function of libc, or of an unwinder, that looks
 * at its return address, or returns twice. */
bool swz_is_reader_name(const char *name);

/* True if it is one of those that get a wrapper (compat/compat.h), by
 * whatever way they are reached. */
bool swz_is_wrapped_reader_name(const char *name);

/* True if the module, which is open, has the address of one of another module,
 * so that it may jump there by a pointer. */
bool swz_readers_are_pointed_to(const struct swz_module *module);

/* Fills in the GOT entries. */
void swz_readers_find(struct swz_readers *readers,
		      const struct swz_module *module);

/* Fills in the PLT entries that jump through these, and marks them in
 * SWZ_TEXT_MARKS. */
void swz_readers_mark_stubs(struct swz_readers *readers,
			    const struct swz_module *module);

bool swz_is_reader_slot(const struct swz_readers *readers, uint64_t address);
bool swz_is_reader_stub(const struct swz_readers *readers, uint64_t address);

/* Data that has the symbol of a function. */

/* Opcodes that no compiler makes, and that bytes which are no code have often:
 * zeros (add %al, (%rax)), letters (ins, outs), port access, far transfers,
 * int n, 64-bit offsets; and prefixes that are as rare. */
bool swz_opcode_is_odd(struct swz_bytes code,
		       const struct swz_encoding *encoding);

/* True if the bytes there (ELF virtual addresses) begin with a few instructions
 * that lead nowhere else in it, and go on with data. */
bool swz_is_data(const struct swz_module *module, uint64_t start, uint64_t end);

/* True if all that is there is the type of the function behind it, as clang's
 * -fsanitize=kcfi has callers through pointers compare it: the immediate of an
 * instruction, with no-operations around it. */
bool swz_is_type(const struct swz_module *module, uint64_t start, uint64_t end);

/* Code between a module's functions. */

#define SWZ_MOST_GAP_BYTES 4096u

/* The latest gap that was asked for; zeros at first. */
struct swz_gap {
	uint64_t begin, end;
	bool is_code; /* beyond doubt: `starts` tells its instructions */
	uint8_t starts[SWZ_MOST_GAP_BYTES / 8];
};

/* True if surely no instruction starts at `pc`, which is in no function of the
 * module and in this text. */
bool swz_gap_denies(struct swz_gap *gap, const struct swz_module *module,
		    struct swz_decoder *decoder, const struct swz_range *text,
		    uint64_t pc);

/* Returns where the no-operations before `end` begin, a function's first byte
 * in this text. `end` if there are none, if the gap holds nothing else, if it
 * is not code beyond doubt, or if what is before them may run on into them. */
uint64_t swz_gap_padding(struct swz_gap *gap, const struct swz_module *module,
			 struct swz_decoder *decoder,
			 const struct swz_range *text, uint64_t end);

/* --- collect -------------------------------------------------------------- */

/* Fills module->functions from .eh_frame and the symbol tables, by address, and
 * with what these lead to.
 * See docs/internals/discovery.md. */
enum swz_status swz_functions_collect(
	struct swz_module *module, struct swz_decoder *decoder) SWZ_MUST_CHECK;

#endif
