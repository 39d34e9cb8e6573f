#ifndef SWZ_PROFILE_SUPPORT_INTERPRETERS_H
#define SWZ_PROFILE_SUPPORT_INTERPRETERS_H

/* Interpreters and compilers at run time, known by what they export, whatever
 * they are called and whichever program they are a part of. */

#include <stdbool.h>

struct swz_interpreter {
	const char *symbol; /* that is defined in it alone */
	const char *language;
	bool sampled; /* the sampling mode can name the functions of scripts */
	/* What makes it write down the names of the code that it makes: its own
	 * options. NULL: nothing has to be done, or nothing can. */
	const char *options;
	/* Below this function all scripts run; NULL: not known. Many programs
	 * have such an interpreter for what they seldom do. */
	const char *runs;
};

/* The one that is in a file: DEFINES says whether the file defines a symbol.
 * NULL: there is none. */
const struct swz_interpreter *swz_interpreter_in(
	bool (*defines)(void *context, const char *symbol), void *context);

#endif
