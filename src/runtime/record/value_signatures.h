#ifndef SWZ_RUNTIME_RECORD_VALUE_SIGNATURES_H
#define SWZ_RUNTIME_RECORD_VALUE_SIGNATURES_H

/* The arguments and results that are recorded, of which functions. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "swizzle/values.h"
#include "base/signature_exchange.h"
#include "base/status.h"

/* The functions of libc whose calls tell what woke what (--flows), and what is
 * recorded of each. They are hooked where they begin, in libc itself: so calls
 * from any library are seen, also those of libc's own (fwrite calls write). */

/* The number of the function with that name, or -1. */
int swz_flow_function_find(const char *name);

/* Signatures: what is recorded of a function's arguments and result. Read from
 * the options at start, then looked up by function id at each of its calls.
 * Nothing here changes while the hooks use it, but that ids of later libraries
 * are added. */

struct swz_captured {
	const struct swz_value_part *parts;
	uint16_t entry_parts, return_parts; /* those of the return behind */
	bool entry_vectors, return_vectors; /* some are in vector registers */
	bool return_x87;
	const struct swz_signature_module *module; /* NULL: of -A */
	uint32_t number; /* from 0, in the order of the options */
	uint32_t check_count;
	const struct swz_value_check *checks; /* whether a call is recorded */
	const char *text;                     /* that these refer to */
};

/* The patterns of -A, one a line, or NULL: number N of them belongs to
 * swz_captured number N. */
extern const char *swz_signature_patterns;

/* --args: what is recorded of a module's functions. */
struct swz_signature_module;

/* Asks the server for a module's; waits for the answer. NULL: nothing is to be
 * recorded of it by --args. What is returned stays. */
const struct swz_signature_module *swz_signatures_ask(
	const struct swz_exchange_module *module);

/* The signature of the function at an ELF address of the module, which may be
 * NULL: a number, or -1. */
int64_t swz_signature_at(const struct swz_signature_module *module,
			 uint64_t address);

/* Marks (struct swz_value_mark) of the function at an ELF address. */
uint32_t swz_signature_marks_at(const struct swz_signature_module *module,
				uint64_t address);

/* From now on the function has these marks. */
void swz_signatures_mark(uint32_t function, uint32_t bits);

/* The marks that the function has. Async-signal-safe. */
uint32_t swz_signature_marks_of(uint32_t function);

/* Why --args has found nothing in any module until now; NULL: it has, or is
 * not wanted. */
const char *swz_signatures_lack(void);

/* The number of what --flows or --prints records of libc's function NAME
 * (value_signatures.h, value_signatures.h); -1: nothing. */
int64_t swz_signature_of_libc(const char *name);

/* True if anything is to be recorded of any function. */
bool swz_signatures_are_wanted(void);

/* Reads the options. Before modules are planned. Returns NULL, or what is wrong
 * (a sentence for the user). */
const char *swz_signatures_read(void);

/* Makes the table of ids: once those of the start are known. */
enum swz_status swz_signatures_begin(void) SWZ_MUST_CHECK;

/* From now on the function's calls are looked up as those of this number of
 * -A, or of its module.
 * Returns false where there is no room for its id. */
bool swz_signatures_set(uint32_t function, uint32_t number,
			const struct swz_signature_module *module);

/* True if any function has values recorded. */
extern bool swz_capturing;

/* NULL: nothing is recorded of the function. Async-signal-safe. */
const struct swz_captured *swz_signature_of(uint32_t function);

/* The kind (enum swz_type_kind) of a part's type. Async-signal-safe. */
unsigned swz_signature_kind(const struct swz_captured *c, unsigned part);

/* True if it is one of -A. */
bool swz_signature_is_item(uint32_t number);

/* Writes the signatures of a module's functions: COUNT pairs of an id and a
 * number, of which the first ITEMS are of -A. SWZ_E_NOMEM: the profile is full.
 */
enum swz_status swz_signatures_record(const uint32_t (*pairs)[2],
				      uint32_t items, uint32_t count,
				      const struct swz_signature_module *of,
				      uint32_t module) SWZ_MUST_CHECK;

#endif
