#include "profile/names/grown_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

static void make_room(struct swz_text *text, size_t size)
{
	size_t need = text->size + size + 1;

	if (need <= text->capacity)
		return;
	if (need < 2 * text->capacity)
		need = 2 * text->capacity;
	text->text = swz_reallocate(text->text, need, 1);
	text->capacity = need;
}

void swz_text_clear(struct swz_text *text)
{
	make_room(text, 0);
	text->size = 0;
	text->text[0] = '\0';
}

void swz_text_add(struct swz_text *text, const char *bytes, size_t size)
{
	make_room(text, size);
	memcpy(text->text + text->size, bytes, size);
	text->size += size;
	text->text[text->size] = '\0';
}

void swz_text_put(struct swz_text *text, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	make_room(text, (size_t)size);
	va_start(arguments, format);
	vsnprintf(text->text + text->size, (size_t)size + 1, format, arguments);
	va_end(arguments);
	text->size += (size_t)size;
}

void swz_text_free(struct swz_text *text)
{
	free(text->text);
	*text = (struct swz_text){0};
}

void swz_text_put_plain(struct swz_text *text, const char *s)
{
	swz_text_add(text, s, strlen(s));
}
