#ifndef SWZ_RUNTIME_DISCOVERY_FILTER_H
#define SWZ_RUNTIME_DISCOVERY_FILTER_H

/* The user's choice of functions. -H, -Z and -L refuse functions when the
 * module is planned, so that these cost nothing; -F and -N mark functions, and
 * each entry decides. A function has all names that the symbol tables of the
 * module's file have for its first byte. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"

enum swz_status swz_filter_module(struct swz_module *module) SWZ_MUST_CHECK;

/* -F, -N and -H alone. REFUSES: -H refuses functions; otherwise it has done so
 * when the plan was made. */
enum swz_status swz_filter_by_name(struct swz_module *module,
				   bool refuses) SWZ_MUST_CHECK;

/* --flows, --prints: says of libc's functions which of them these record, and
 * refuses the others where the module is in scope for these alone. */
void swz_filter_flows(struct swz_module *module);

/* The languages that a module is written in: enum swz_languages. */
unsigned swz_filter_languages(const struct swz_elf *file);

/* Says which patterns match nothing: most likely they are misspelt. And says so
 * if the options leave nothing to record. After the plan is made. */
void swz_filter_tell(const struct swz_modules *modules);

/* Filtering by source file (-L): from .debug_line of the module's file, or of
 * the separate file of its debug information. */

/* True if the source file of any function so far was known. */
bool swz_location_any_known(void);

/* --- names that patterns match -------------------------------------------- */

/* Matches symbols against -F, -N, -H and -A, as they are in the file and as
 * they are shown. Only while something is planned; one thread at a time. */

enum swz_name_option {
	SWZ_HIDE,
	SWZ_ONLY,
	SWZ_NOTRACE,
	SWZ_CAPTURE,  /* -A */
	SWZ_START_AT, /* --start-at */
	SWZ_STOP_AT,  /* --stop-at */
	SWZ_PERCENTILES,
	SWZ_NAME_OPTIONS
};

/* The matches of a name, or of several names of one thing (OR them): enum
 * swz_pattern_found, two bits for each option. */
typedef uint16_t swz_name_marks;

/* True if any of these options is given. */
bool swz_symbol_match_is_wanted(void);

/* To be called before and after the questions, if it is wanted. */
enum swz_status swz_symbol_match_begin(void) SWZ_MUST_CHECK;
void swz_symbol_match_end(void);

/* Matches a symbol of a module that is written in LANGUAGES
 * (base/qualified_name.h). */
swz_name_marks swz_symbol_match(const char *symbol, uint64_t address,
				unsigned languages);

/* Matches a name that is no symbol. */
swz_name_marks swz_name_match(const char *name);

/* The thing that was asked for is there: notes which patterns matched it. */
void swz_symbol_match_note(void);

/* True if the option names a thing with these marks. */
bool swz_symbol_match_decides(enum swz_name_option option,
			      swz_name_marks marks);

/* The number of the option's first pattern, from 0, that matches the name that
 * was asked for last; -1: none does. */
int swz_symbol_match_first(enum swz_name_option option);

/* The patterns of an option, and those that matched something. */
const char *swz_name_patterns(enum swz_name_option option,
			      const struct swz_pattern_hits **hits);

#endif
