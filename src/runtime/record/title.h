#ifndef SWZ_RUNTIME_RECORD_TITLE_H
#define SWZ_RUNTIME_RECORD_TITLE_H

#include <stdbool.h>

/* What the process calls itself. Some write over the memory in which their
 * arguments lie (setproctitle): what ps shows is then something else.
 * Chromium's renderers, which the zygote forks, are told from each other and
 * from it by that alone. */

/* Notes the arguments that there are, which the profile has. */
void swz_title_begin(int argc, char **argv, char **envp);

/* Whether they are others by now than when they were noted. Async-signal-safe.
 */
bool swz_title_is_new(void);

/* Records what has become of them: in the chunk of the last time, or in a new
 * one. Async-signal-safe, with signals blocked. */
void swz_title_note(void);

#endif
