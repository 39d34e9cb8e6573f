#ifndef SWZ_PROFILE_NAMES_DEMANGLE_H
#define SWZ_PROFILE_NAMES_DEMANGLE_H

/* C++ and Rust names as people write them. */

enum swz_demangle {
	SWZ_DEMANGLE_NO,
	SWZ_DEMANGLE_SIMPLE, /* without parameters */
	SWZ_DEMANGLE_FULL
};

#define SWZ_DEMANGLED_BYTES 65536u

/* The demangled form of NAME, or a copy of NAME if it is not mangled or its
 * demangled form, with its NUL, would take more than SWZ_DEMANGLED_BYTES; to be
 * freed by the caller. Never fails. */
char *swz_demangle(const char *name, enum swz_demangle style);

#endif
