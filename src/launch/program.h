#ifndef SWZ_LAUNCH_PROGRAM_H
#define SWZ_LAUNCH_PROGRAM_H

/* The program that swizzle-run is to start: where it is, and whether the
 * dynamic linker will load our library into it. */

#include <stdbool.h>
#include <stddef.h>

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
 * taken to be right. SAMPLED: one that can only be sampled is right, too, which
 * is linked in any way. Returns the ELF file that is executed in the end, as
 * far as that can be told; else NULL. */
const char *swz_program_check(const char *file, const char *whose,
			      bool sampled);

/* Why the file that was checked last can only be sampled: "statically linked".
 * NULL: it can be hooked. */
const char *swz_program_not_hooked(void);

/* Executes it as execvp(3) does, which takes a text for a script of /bin/sh;
 * dies where it cannot. */
__attribute__((noreturn)) void swz_program_execute(char *path, char **argv);

/* The environment that the program gets. */

/* Its value; empty where it is not set. */
const char *swz_environment_get(const char *variable);

/* Dies where there is no memory. */
void swz_environment_set(const char *variable, const char *value);

#endif
