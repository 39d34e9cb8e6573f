#include "watch/names/ruby_memory.h"

#include <stdlib.h>

#include "util/memory.h"

/* struct RString */
enum {
	STRING_INSIDE = 16, /* of short ones */
	STRING_LENGTH = 16,
	STRING_TEXT = 24,
	STRING_BYTES = 40
};
#define STRING_IS_LONG (1u << 13)
#define STRING_SHIFT 14u

#define MOST_TEXT 1024u

bool swz_ruby_bytes(const struct swz_ruby_memory *memory, uint64_t address,
		    void *into, size_t size)
{
	return address &&
	       memory->read(memory->context, address, into, size) == size;
}

bool swz_ruby_word(const struct swz_ruby_memory *memory, uint64_t address,
		   uint64_t *word)
{
	return swz_ruby_bytes(memory, address, word, sizeof(*word));
}

/* How many bytes the character has; 0: it is none of UTF-8. */
static size_t character(const uint8_t *text, size_t left)
{
	size_t size = text[0] < 0x80   ? 1
		      : text[0] < 0xc2 ? 0
		      : text[0] < 0xe0 ? 2
		      : text[0] < 0xf0 ? 3
		      : text[0] < 0xf5 ? 4
				       : 0;

	if (size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

static void make_plain(uint8_t *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t size = character(text + i, length - i);

		if (size == 0 || text[i] < ' ' || text[i] == 0x7f) {
			text[i] = '?';
			size = 1;
		}
		i += size;
	}
}

char *swz_ruby_text(const struct swz_ruby_memory *memory, uint64_t object)
{
	uint8_t head[STRING_BYTES], *text;
	uint64_t flags, length, from;

	if (!swz_ruby_bytes(memory, object, head, sizeof(head)))
		return NULL;
	flags = swz_script_word(head, 0);
	if ((flags & SWZ_RUBY_TYPE) != SWZ_RUBY_STRING)
		return NULL;
	if (flags & STRING_IS_LONG) {
		length = swz_script_word(head, STRING_LENGTH);
		from = swz_script_word(head, STRING_TEXT);
	} else if (memory->has_long_strings) {
		length = swz_script_word(head, STRING_LENGTH);
		from = object + STRING_TEXT;
	} else {
		length = flags >> STRING_SHIFT & 0x1f;
		from = object + STRING_INSIDE;
	}
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	text = swz_allocate((size_t)length + 1, 1);
	if (!swz_ruby_bytes(memory, from, text, (size_t)length)) {
		free(text);
		return NULL;
	}
	make_plain(text, (size_t)length);
	return (char *)text;
}
