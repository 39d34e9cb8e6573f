/* Keys, varints and lengths. */

#include "profile/formats/common/protobuf.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static uint8_t *reserve(struct swz_message *message, size_t size)
{
	uint8_t *at;

	if (message->capacity - message->size < size) {
		message->capacity += message->capacity / 2 + size + 64;
		message->bytes = swz_reallocate(message->bytes,
						message->capacity, 1);
	}
	at = message->bytes + message->size;
	message->size += size;
	return at;
}

void swz_message_item(struct swz_message *message, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*reserve(message, 1) = (uint8_t)(value | 0x80);
	*reserve(message, 1) = (uint8_t)value;
}

static void put_key(struct swz_message *message, uint32_t field,
		    enum wire_type type)
{
	swz_message_item(message, (uint64_t)field << 3 | type);
}

void swz_message_put(struct swz_message *message, uint32_t field,
		     uint64_t value)
{
	put_key(message, field, WIRE_VARINT);
	swz_message_item(message, value);
}

void swz_message_add(struct swz_message *message, uint32_t field,
		     uint64_t value)
{
	if (value)
		swz_message_put(message, field, value);
}

void swz_message_fixed64(struct swz_message *message, uint32_t field,
			 uint64_t value)
{
	uint8_t *at;
	int i;

	put_key(message, field, WIRE_FIXED64);
	at = reserve(message, sizeof(value));
	for (i = 0; i < 8; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

void swz_message_append(struct swz_message *message, const void *fields,
			size_t size)
{
	if (size)
		memcpy(reserve(message, size), fields, size);
}

void swz_message_bytes(struct swz_message *message, uint32_t field,
		       const void *bytes, size_t size)
{
	put_key(message, field, WIRE_BYTES);
	swz_message_item(message, size);
	if (size)
		memcpy(reserve(message, size), bytes, size);
}

void swz_message_text(struct swz_message *message, uint32_t field,
		      const char *text)
{
	size_t size = strlen(text), at = 0;
	uint8_t *copy;

	swz_message_bytes(message, field, text, size);
	copy = message->bytes + message->size - size;
	while (at < size) {
		size_t length = swz_utf8_length(text + at);

		if (!length)
			copy[at] = '?';
		at += length ? length : 1;
	}
}

void swz_message_nest(struct swz_message *message, uint32_t field,
		      struct swz_message *inner)
{
	swz_message_bytes(message, field, inner->bytes, inner->size);
	inner->size = 0;
}

void swz_message_free(struct swz_message *message)
{
	free(message->bytes);
	*message = (struct swz_message){0};
}
