#ifndef SWZ_TOP_SCREEN_H
#define SWZ_TOP_SCREEN_H

/* swizzle-top without -b. */

#include "top/session.h"
#include "top/terminal.h"

/* Shows round by round until the user leaves, or so many rounds are over. What
 * has ended stays on the screen. The terminal was opened. Where OPTIONS want
 * the list, the session was not begun, and is that of the process chosen last,
 * or zeroed. */
void swz_top_screen(struct swz_top_session *session,
		    const struct swz_top_options *options,
		    struct swz_terminal *terminal);

#endif
