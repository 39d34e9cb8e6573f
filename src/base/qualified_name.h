#ifndef SWZ_BASE_QUALIFIED_NAME_H
#define SWZ_BASE_QUALIFIED_NAME_H

#include <stdbool.h>

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
