#ifndef SWZ_BASE_SHOWN_NAME_H
#define SWZ_BASE_SHOWN_NAME_H

/* Names of functions as people write them. swizzle-dump shows them and
 * libswizzle.so compares patterns with them: both have them from here, so that
 * a name which is shown is a name that a pattern takes. */

#include <stdbool.h>

#define SWZ_SHOWN_NAME_BYTES 65536u

/* What a module's code is written in, where symbols do not say so themselves.
 */
enum swz_languages { SWZ_FORTRAN = 1, SWZ_ADA = 2 };

/* What a module that has or asks for such a symbol is written in, among other
 * languages: enum swz_languages, or 0. */
unsigned swz_languages_of(const char *symbol);

/* Writes the name that SYMBOL, of a module in LANGUAGES, stands for: mangled by
 * C++, Rust, D, gfortran or gnat. FULL: with parameters, and whatever else
 * tells functions of one name apart. False if it is mangled by none of them, or
 * the name does not fit into OUT (ROOM bytes, SWZ_SHOWN_NAME_BYTES at most).
 * Uses libiberty and up to a MiB of stack; one thread at a time. */
bool swz_shown_name(const char *symbol, unsigned languages, bool full,
		    char *out, unsigned room);

/* For the memory that libiberty asks for: there is none left. Does not return;
 * swz_shown_name then returns false. */
_Noreturn void swz_shown_name_give_up(void);

#endif
