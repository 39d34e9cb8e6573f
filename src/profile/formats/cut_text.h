#ifndef SWZ_PROFILE_FORMATS_CUT_TEXT_H
#define SWZ_PROFILE_FORMATS_CUT_TEXT_H

/* Texts that are cut to some columns of a terminal. */

#include <stdbool.h>

/* The beginning of TEXT, its end, or both, in at most WIDTH columns, with a
 * mark where it is cut; "" if there is no room for that. To be freed. */
char *swz_cut_end(const char *text, unsigned int width, bool utf8);
char *swz_cut_middle(const char *text, unsigned int width, bool utf8);
char *swz_cut_beginning(const char *text, unsigned int width, bool utf8);

/* Of a command line that is wider than WIDTH: without the folder of the
 * program, then its beginning. A name in brackets, as kernel threads have it,
 * is no path. To be freed. */
char *swz_cut_command(const char *command, unsigned int width, bool utf8);

#endif
