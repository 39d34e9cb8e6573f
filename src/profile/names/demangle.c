/* Demangling by libiberty. Rust goes first: its legacy names are valid C++
 * names too, with a hash at their end that nobody wants to see.
 *
 * A mangled name refers back to its own parts, so one of some hundred bytes may
 * stand for gigabytes. What would be too long to be read stays mangled. The
 * demanglers take no for an answer in no other way than by a jump out of them:
 * that of C++ holds nothing but its stack. */

#include "profile/names/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>

#include "profile/support/memory.h"

struct text {
	char *bytes;
	size_t size;
	size_t capacity;
	jmp_buf too_long;
};

static void add(const char *piece, size_t size, void *argument)
{
	struct text *text = argument;

	if (!size) /* PIECE may be NULL */
		return;
	if (size >= SWZ_DEMANGLED_BYTES - text->size)
		longjmp(text->too_long, 1);
	swz_grow(&text->bytes, &text->capacity, text->size + size, 1);
	memcpy(text->bytes + text->size, piece, size);
	text->size += size;
	text->bytes[text->size] = '\0';
}

static bool demangle(struct text *text, const char *name, int options)
{
	if (setjmp(text->too_long))
		return false;
	if (rust_demangle_callback(name, options, add, text))
		return true;
	text->size = 0;
	return cplus_demangle_v3_callback(name, options, add, text);
}

char *swz_demangle(const char *name, enum swz_demangle style)
{
	int options = style == SWZ_DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : 0;
	struct text text = {0};

	if (style != SWZ_DEMANGLE_NO && name[0] == '_' &&
	    demangle(&text, name, options) && text.size)
		return text.bytes;
	free(text.bytes);
	return swz_duplicate(name);
}
