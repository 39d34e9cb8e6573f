#ifndef SWZ_RUNTIME_DISCOVERY_SYMBOL_MATCH_H
#define SWZ_RUNTIME_DISCOVERY_SYMBOL_MATCH_H

/* What -F, -N, -H and -A say of a symbol: it is compared as it is in the file,
 * and as it is shown. While something is planned; one thread at a time. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/support/pattern.h"

enum swz_name_option {
	SWZ_HIDE,
	SWZ_ONLY,
	SWZ_NOTRACE,
	SWZ_CAPTURE,  /* -A */
	SWZ_START_AT, /* --start-at */
	SWZ_STOP_AT,  /* --stop-at */
	SWZ_NAME_OPTIONS
};

/* What is found for a name, or for several of one thing (OR them): enum
 * swz_pattern_found, two bits for each option. */
typedef uint16_t swz_name_marks;

/* Whether any of these options is given. */
bool swz_symbol_match_is_wanted(void);

/* Around questions, if it is wanted. */
enum swz_status swz_symbol_match_begin(void) SWZ_MUST_CHECK;
void swz_symbol_match_end(void);

/* Of a symbol of a module that is written in LANGUAGES (base/shown_name.h). */
swz_name_marks swz_symbol_match(const char *symbol, uint64_t address,
				unsigned languages);

/* The same of a name that is no symbol. */
swz_name_marks swz_name_match(const char *name);

/* The thing that was asked for is there: notes which patterns matched it. */
void swz_symbol_match_note(void);

/* Whether the option names a thing with these marks. */
bool swz_symbol_match_decides(enum swz_name_option option,
			      swz_name_marks marks);

/* Which pattern of the option, from 0, is the first that matches the name that
 * was asked for last; -1: none does. */
int swz_symbol_match_first(enum swz_name_option option);

/* The patterns of an option, and those that matched something. */
const char *swz_name_patterns(enum swz_name_option option,
			      const struct swz_pattern_hits **hits);

#endif
