/* Demangling by libiberty. Rust goes first: its legacy names are valid C++
 * names too, with a hash at their end that nobody wants to see. */

#include "profile/demangle.h"

#include <stddef.h>
#include <libiberty/demangle.h>

#include "profile/memory.h"

char *swz_demangle(const char *name, enum swz_demangle style)
{
	int options = style == SWZ_DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : 0;
	char *result = NULL;

	if (style != SWZ_DEMANGLE_NO && name[0] == '_') {
		result = rust_demangle(name, options);
		if (!result)
			result = cplus_demangle_v3(name, options);
	}
	return result ? result : swz_duplicate(name);
}
