#ifndef SWZ_RUNTIME_DISCOVERY_REFERENCES_H
#define SWZ_RUNTIME_DISCOVERY_REFERENCES_H

/* References of a module's functions to addresses in its text that lie in none
 * of them. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/discovery/function.h"
#include "runtime/module/module.h"

enum swz_reference {
	SWZ_REFERENCE_CALL,  /* calls it */
	SWZ_REFERENCE_STORE, /* puts its address into memory, as that of a
			      * function that others are to call */
	SWZ_REFERENCE_DATA   /* reads memory by its address, or counts from it
			      */
};

struct swz_references {
	const struct swz_module *module;
	/* True if something may lie there that is asked for. */
	bool (*is_asked)(void *context, uint64_t to);
	void (*found)(void *context, uint64_t to, enum swz_reference how);
	void *context;
	/* By which code finds what may lie elsewhere, and what its words lead
	 * to (in scratch memory for the brief), 0: to nothing in the module. */
	struct swz_range got;
	uint64_t *got_words;
};

/* Pointers in the module's memory that the dynamic linker relocates, but for
 * .init_array and .fini_array: found() with SWZ_REFERENCE_STORE; those in the
 * GOT, which say nothing of what they lead to, are noted for the code's sake.
 * None of a file without a section table. */
void swz_references_in_data(struct swz_references *references);

/* Finds the references that the functions from number `begin` to before `end`
 * make, by direct calls and by addresses relative to %rip, or in the GOT. May
 * be called by several threads at once. */
void swz_references_in_code(const struct swz_references *references,
			    uint32_t begin, uint32_t end);

/* True if code there may hold an address that is asked for, and so read or
 * count from it: false for most, which need not be decoded. */
bool swz_references_may_count(const struct swz_references *references,
			      uint64_t start, uint64_t end);

/* The references of the code from `start` to before `end`. */
void swz_references_between(const struct swz_references *references,
			    uint64_t start, uint64_t end);

/* Calls found() for each word of the module's memory that the dynamic linker
 * makes a pointer into the module: where it is and what it leads to, ELF
 * virtual addresses. A word that is not relocated yet, or may be so already,
 * may be reported with two addresses, of which one is none. */
void swz_pointers_relocated(const struct swz_module *module,
			    void (*found)(void *context, uint64_t where,
					  uint64_t to),
			    void *context);

/* Calls found() with what each pointer in the module's memory leads to, if that
 * lies in its text; other addresses may be among them. Pointers are what the
 * dynamic linker relocates; in a program at a fixed address they may be any
 * words, and immediates of instructions, which are noted in module->labels the
 * first time. */
void swz_scan_pointers(struct swz_module *module,
		       void (*found)(void *context, uint64_t to),
		       void *context);

/* --- functions that nothing lists ----------------------------------------- */

/* Functions with neither an unwind entry nor a symbol: the assembly of codecs
 * and of number libraries, once it is stripped. */

/* Finds those that the module's functions, sorted and indexed, call or hand on
 * pointers to, or its data has pointers to, and that do nothing but what
 * functions do: an array in scratch memory for the brief, sorted; *count is
 * their number. NULL if there are none, or there is no memory. Sets
 * module->tableless. */
struct swz_function *swz_unlisted_functions_find(struct swz_module *module,
						 struct swz_decoder *decoder,
						 uint32_t *count);

/* The code between a module's known functions, and what is known of each of its
 * bytes. Made in scratch memory, by the one thread that plans; facts may be
 * noted by worker threads. */

enum swz_unlisted_fact {
	SWZ_UNLISTED_CALLED,
	SWZ_UNLISTED_STORED,  /* somewhere, as a pointer */
	SWZ_UNLISTED_REFUTED, /* no function begins there */
	SWZ_UNLISTED_FOLLOWED,
	SWZ_UNLISTED_TAINTED, /* needs its return address, or what is below */
	SWZ_UNLISTED_FACTS
};

/* Bytes between functions, without the padding that they begin with. */
struct swz_unlisted_gap {
	uint64_t begin, end;
	uint64_t first_bit; /* in the maps, of the aligned beginning */
};

struct swz_unlisted_gaps {
	const struct swz_module *module;
	struct swz_unlisted_gap *of; /* sorted */
	uint32_t count;
	struct swz_range texts; /* from the first to the last */
	uint8_t *maps[SWZ_UNLISTED_FACTS];
};

/* False: there is hardly anything between functions, or no memory. */
bool swz_unlisted_gaps_find(struct swz_unlisted_gaps *gaps,
			    const struct swz_module *module);

/* The gap that the address lies in, or NULL. */
const struct swz_unlisted_gap *swz_unlisted_gap_at(
	const struct swz_unlisted_gaps *gaps, uint64_t address);

/* Ask and note a fact of an address in the gap. */
bool swz_unlisted_has(const struct swz_unlisted_gaps *gaps,
		      enum swz_unlisted_fact fact,
		      const struct swz_unlisted_gap *gap, uint64_t address);
void swz_unlisted_note(const struct swz_unlisted_gaps *gaps,
		       enum swz_unlisted_fact fact,
		       const struct swz_unlisted_gap *gap, uint64_t address);

/* Where a function may begin by what is known: the first such address from
 * there on, or the gap's end; and how many there are in the gap. */
uint64_t swz_unlisted_next(const struct swz_unlisted_gaps *gaps,
			   const struct swz_unlisted_gap *gap, uint64_t from);
uint32_t swz_unlisted_count(const struct swz_unlisted_gaps *gaps,
			    const struct swz_unlisted_gap *gap);

/* The first address from `at` on, but before `end`, with neither padding nor a
 * zero. */
uint64_t swz_skip_padding(const struct swz_module *module, uint64_t at,
			  uint64_t end);

#endif
