#include "watch/names/python_memory.h"

#include <string.h>

#include "util/memory.h"

#define MOST_TEXT 1024u
#define HEAD_BYTES 128u

/* Of a str's state. */
enum { KIND_SHIFT = 2, KIND_MASK = 7, IS_COMPACT = 1 << 5, IS_ASCII = 1 << 6 };

bool swz_python_bytes(const struct swz_python_memory *memory, uint64_t address,
		      void *into, size_t size)
{
	return address &&
	       memory->read(memory->context, address, into, size) == size;
}

bool swz_python_word(const struct swz_python_memory *memory, uint64_t address,
		     uint64_t *word)
{
	return swz_python_bytes(memory, address, word, sizeof(*word));
}

uint64_t swz_python_type_of(const struct swz_python_memory *memory,
			    uint64_t object)
{
	uint64_t type;

	return object && swz_python_word(memory,
					 object + memory->layout.object_type,
					 &type)
		       ? type
		       : 0;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x20 || c == 0x7f)
		c = '?';
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static uint32_t character(const uint8_t *text, size_t i, size_t width)
{
	uint32_t c = 0;

	memcpy(&c, text + i * width, width);
	return c;
}

char *swz_python_text(const struct swz_python_memory *memory, uint64_t object)
{
	const struct swz_python_layout *l = &memory->layout;
	uint8_t head[HEAD_BYTES], text[4 * MOST_TEXT];
	size_t width, length, used = 0;
	uint32_t state;
	char *copy;

	if (!swz_python_bytes(memory, object, head, l->str_bytes) ||
	    swz_script_word(head, l->object_type) !=
		    memory->types[SWZ_TYPE_STR])
		return NULL;
	state = swz_script_half(head, l->str_state);
	width = state >> KIND_SHIFT & KIND_MASK;
	length = swz_script_word(head, l->str_length);
	if (!(state & IS_COMPACT) || (width != 1 && width != 2 && width != 4))
		return NULL;
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	/* (between them: its length and a pointer, and before 3.12 one more
	 * length) */
	if (!swz_python_bytes(memory,
			      object + l->str_bytes +
				      (state & IS_ASCII ? 0 : l->str_more),
			      text, length * width))
		return NULL;
	copy = swz_allocate(4 * length + 1, 1);
	for (size_t i = 0; i < length; i++)
		used += put_utf8(copy + used, character(text, i, width));
	return copy;
}
