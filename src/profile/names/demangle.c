/* What libiberty takes memory from is bounded here: what a symbol stands for
 * may be larger than any memory. Where it comes to that the name stays mangled,
 * and the few blocks that libiberty holds then are lost. */

#include "profile/names/demangle.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/shown_name.h"
#include "profile/support/memory.h"

#define MOST_BYTES ((size_t)4 * SWZ_SHOWN_NAME_BYTES)

void *xmalloc(size_t bytes);
void *xrealloc(void *block, size_t bytes);

/* In place of libiberty's own, which end the program. */
void *xmalloc(size_t bytes)
{
	return xrealloc(NULL, bytes);
}

void *xrealloc(void *block, size_t bytes)
{
	if (bytes > MOST_BYTES)
		swz_shown_name_give_up();
	return swz_reallocate(block, bytes ? bytes : 1, 1);
}

char *swz_demangle(const char *name, unsigned languages,
		   enum swz_demangle style)
{
	static char shown[SWZ_SHOWN_NAME_BYTES];

	if (style != SWZ_DEMANGLE_NO &&
	    swz_shown_name(name, languages, style == SWZ_DEMANGLE_FULL, shown,
			   sizeof(shown)))
		return swz_duplicate(shown);
	return swz_duplicate(name);
}
