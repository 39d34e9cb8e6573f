#ifndef SWZ_UTIL_INTERPRETERS_H
#define SWZ_UTIL_INTERPRETERS_H

/* Interpreters and compilers at run time, known by what they export, whatever
 * they are called and whichever program they are a part of. */

#include <stdbool.h>
#include <stddef.h>

struct swz_interpreter {
	const char *symbol; /* that is defined in it alone */
	const char *language;
	bool sampled; /* the sampling mode can name the functions of scripts */
	/* The interpreter's own options that make it write down the names of
	 * the code that it makes. NULL: nothing has to be done, or nothing can.
	 */
	const char *options;
	/* Below this function all scripts run; NULL: not known. Many programs
	 * have such an interpreter for what they seldom do. */
	const char *runs;
	/* The versions whose scripts' functions can be read (306 is 3.6), and
	 * where the file has its own. 0: any, or none. */
	unsigned oldest, newest;
	unsigned without[2]; /* between these: not of these */
	const char *version; /* a symbol */
	/* Or: the words before it in the file, and how much lower its first
	 * number is there; or a line of a file in a folder above, RELEASE. */
	const char *before;
	unsigned lower;
	const char *release;
	/* The command that has a running process write the code's names down;
	 * its number takes the place of %d. NULL: there is no such command. */
	const char *command;
};

/* The versions, for messages. */
#define SWZ_KNOWN_SCRIPTS \
	"Python 3.6 to 3.15, Ruby 2.7, 3.1, 3.3 and 3.4, PHP 7.4 to 8.4, " \
	"Perl 5.36 to 5.42, Java 17 to 25, node 18 to 22, Lua 5.4 and " \
	"LuaJIT 2.1"

/* A file that may have one in it. */
struct swz_interpreter_file {
	bool (*defines)(void *context, const char *symbol);
	/* Gets what lies at a symbol, SIZE bytes at most, and returns how many.
	 */
	size_t (*reads)(void *context, const char *symbol, void *into,
			size_t size);
	void *context;
	const char *path; /* NULL: it is not to be had */
};

/* The one that is in a file. NULL: there is none. */
const struct swz_interpreter *swz_interpreter_in(
	const struct swz_interpreter_file *file);

/* Its version in that file, if that is one whose scripts cannot be read though
 * those of another one can: "3.13", to be freed. NULL: it is known, or the file
 * does not say. */
char *swz_interpreter_unknown_version(const struct swz_interpreter *interpreter,
				      const struct swz_interpreter_file *file);

#endif
