#ifndef SWZ_LAUNCH_KNOWN_OPTIONS_H
#define SWZ_LAUNCH_KNOWN_OPTIONS_H

/* Reads options from a command line by a table of them: "-x VALUE", "-xVALUE",
 * "-xyz" of such without a value, "--name=VALUE", "--name VALUE", and names cut
 * short where that is not ambiguous. */

#include <stdbool.h>
#include <stddef.h>

#include "options/words.h"

struct swz_known_option {
	const char *name; /* without the dashes */
	char letter;      /* 0: none */
	bool flag;        /* it takes no value */
};

struct swz_known_options {
	const char *tool; /* for what is said of wrong usage */
	const struct swz_known_option *known;
	size_t count;
	swz_word_at *name_at; /* the name of known[index]; NULL: no more */
	/* AS: how the option was written, without its value; VALUE is "" for
	 * those that take none. */
	void (*set)(void *context, size_t option, const char *as,
		    const char *value);
	void *context;
};

/* Reads the option or options that ARGUMENT holds, which begins with a dash and
 * is longer than that; **NEXT is the word behind it, and moves on if that is a
 * value. Does not return if it is wrong. */
void swz_known_options_read(const struct swz_known_options *options,
			    const char *argument, char ***next);

#endif
