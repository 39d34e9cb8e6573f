#ifndef SWZ_TOOLS_DUMP_TERMINAL_H
#define SWZ_TOOLS_DUMP_TERMINAL_H

/* The terminal that standard output may be. */

#include <stdbool.h>

#include "profile/support/style.h"

enum swz_colour_when {
	SWZ_COLOUR_AUTO, /* on a terminal that has colours, without NO_COLOR */
	SWZ_COLOUR_ALWAYS,
	SWZ_COLOUR_NEVER
};

bool swz_terminal_is_output(void);

/* The style of tables on standard output. TERMINAL: it is one, so lines are cut
 * to its width (COLUMNS, or what the terminal says, or 80). Sets the locale's
 * LC_CTYPE, which says whether the terminal has UTF-8. */
struct swz_style swz_terminal_style(enum swz_colour_when colour, bool terminal);

#endif
