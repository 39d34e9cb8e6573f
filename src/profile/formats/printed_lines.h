#ifndef SWZ_PROFILE_FORMATS_PRINTED_LINES_H
#define SWZ_PROFILE_FORMATS_PRINTED_LINES_H

/* Which calls print lines, and what: functions that the configuration names
 * (`prints`), and those of libc (swizzle-run --prints). */

#include <stdbool.h>

#include "options/settings.h"
#include "profile/names/value_print.h"

struct swz_printing {
	bool prints;
	bool to_file;         /* the first number is the descriptor: of these
			       * only standard output and error count */
	const char *argument; /* which has the text; NULL: the first that has
			       * one */
};

/* Of the function NAME; SETTINGS may be NULL. */
struct swz_printing swz_printing_of(const struct swz_settings *settings,
				    const char *name);

/* What such a call prints, by its arguments: in place of TEXT, without the
 * newline at its end, with "..." if that is not all. False: nothing is known,
 * or it goes elsewhere. */
bool swz_printed_read(struct swz_text *text,
		      const struct swz_printing *printing,
		      const struct swz_call_values *values);

#endif
