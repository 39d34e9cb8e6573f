#ifndef SWZ_BASE_QUALIFIED_NAME_H
#define SWZ_BASE_QUALIFIED_NAME_H

/* Names of functions as people write them. swizzle-dump shows them and
 * libswizzle.so compares patterns with them: both have them from here, so that
 * a name which is shown is a name that a pattern takes. */

#include <stdbool.h>

/* --- names as they are shown --------------------------------------------- */

#define SWZ_SHOWN_NAME_BYTES 65536u

/* The language of a module's code, where symbols do not say so themselves. */
enum swz_languages { SWZ_FORTRAN = 1, SWZ_ADA = 2 };

/* The language, among others, of a module that has or asks for such a symbol:
 * enum swz_languages, or 0. */
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

/* --- qualified names ----------------------------------------------------- */

/* Writes the name of a function, mangled as the Itanium C++ ABI has it, without
 * parameters and template arguments, as users write it in a filter:
 * _ZN3foo3barIiEEvT_ -> foo::bar. A static function, a thunk, a clone and a
 * function within another one are named as demanglers name them, an unnamed
 * namespace is "(anonymous namespace)", a lambda "{lambda#1}". The hash that
 * Rust appends is left out.
 *
 * False if the symbol is not mangled so, is not of a function, has no room in
 * OUT (of ROOM bytes), or its name depends on what is not understood here:
 * conversion operators, and most expressions in template arguments. */
bool swz_qualified_name(const char *symbol, char *out, unsigned room);

#endif
