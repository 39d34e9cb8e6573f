#ifndef SWZ_TOP_SCREEN_H
#define SWZ_TOP_SCREEN_H

/* swizzle-top without -b. */

#include "top/session.h"
#include "top/terminal.h"

/* Shows round by round until the user leaves, or so many rounds are over. What
 * has ended stays on the screen. The terminal was opened. */
void swz_top_screen(struct swz_top_session *session,
		    struct swz_terminal *terminal);

#endif
