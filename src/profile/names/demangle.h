#ifndef SWZ_PROFILE_NAMES_DEMANGLE_H
#define SWZ_PROFILE_NAMES_DEMANGLE_H

/* Names as people write them (base/shown_name.h), in memory of their own. */

enum swz_demangle {
	SWZ_DEMANGLE_NO,
	SWZ_DEMANGLE_SIMPLE, /* without parameters */
	SWZ_DEMANGLE_FULL
};

/* The demangled form of NAME, a symbol of a module in LANGUAGES (enum
 * swz_languages), or a copy of NAME if it is not mangled or its demangled form,
 * with its NUL, would take more than SWZ_SHOWN_NAME_BYTES; to be freed by the
 * caller. Never fails. */
char *swz_demangle(const char *name, unsigned languages,
		   enum swz_demangle style);

#endif
