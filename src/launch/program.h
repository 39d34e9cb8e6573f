#ifndef SWZ_LAUNCH_PROGRAM_H
#define SWZ_LAUNCH_PROGRAM_H

/* The program that swizzle-run is to start: where it is, and whether the
 * dynamic linker will load our library into it. */

#include <stdbool.h>
#include <stddef.h>

#include "options/command_line.h"

/* True if the path leads to a file of that kind, symbolic links followed. */

bool swz_path_is_directory(const char *path);
bool swz_path_is_regular(const char *path);

/* The path without what follows its last slash, to be freed. NULL: it has none
 * (or is NULL), or there is no memory. */
char *swz_path_directory(const char *path);

/* Exit statuses of swizzle-run. */
enum { SWZ_CANNOT_RUN = 126, SWZ_NOT_FOUND = 127 };

/* Says "swizzle: " and the message, and exits. */
__attribute__((noreturn, format(printf, 2, 3))) void swz_die(int status,
							     const char *format,
							     ...);

/* Printed into memory of its own, which nobody frees: swizzle-run is about to
 * become another program. */
__attribute__((format(printf, 1, 2))) char *swz_text(const char *format, ...);

/* The path of the program as execvp(3) finds it; dies where there is none.
 * `whose` is what messages call it. */
char *swz_program_find(const char *name, const char *whose);

/* Dies if the library cannot be loaded into what executing the file leads to,
 * through #! lines as the kernel follows them. A file that cannot be read is
 * taken to be right. SAMPLED: nothing is to be loaded, so a program may be
 * linked in any way. Returns the ELF file that is executed in the end, as far
 * as that can be told; else NULL. */
const char *swz_program_check(const char *file, const char *whose,
			      bool sampled);

/* Executes it as execvp(3) does, which takes a text for a script of /bin/sh;
 * dies where it cannot. */
__attribute__((noreturn)) void swz_program_execute(char *path, char **argv);

/* The environment that the program gets. */

/* Its value; empty where it is not set. */
const char *swz_environment_get(const char *variable);

/* Dies where there is no memory. */
void swz_environment_set(const char *variable, const char *value);

/* Reads options from a command line by a table of them: "-x VALUE", "-xVALUE",
 * "-xyz" of such without a value, "--name=VALUE", "--name VALUE", and names cut
 * short where that is not ambiguous. */

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
