/* JSON is written value by value, with a comma before all but the first value
 * of an array or object. The events of a trace go through here, so the stream
 * is not locked for each of them. */

#include "profile/formats/common/encoders.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"

void swz_json_key(struct swz_json *json, const char *key)
{
	if (json->comma)
		putc_unlocked(',', json->stream);
	if (json->newline)
		putc_unlocked('\n', json->stream);
	json->comma = true;
	json->newline = false;
	if (!key)
		return;
	putc_unlocked('"', json->stream);
	fputs_unlocked(key, json->stream);
	fputs_unlocked("\":", json->stream);
}

void swz_json_string(struct swz_json *json, const char *key, const char *value)
{
	swz_json_key(json, key);
	swz_put_json(json->stream, value ? value : "");
}

void swz_json_null(struct swz_json *json, const char *key)
{
	swz_json_key(json, key);
	fputs_unlocked("null", json->stream);
}

void swz_json_text(struct swz_json *json, const char *key, const char *value)
{
	if (value)
		swz_json_string(json, key, value);
	else
		swz_json_null(json, key);
}

void swz_json_flag(struct swz_json *json, const char *key, bool value)
{
	swz_json_key(json, key);
	fputs_unlocked(value ? "true" : "false", json->stream);
}

void swz_json_integer(struct swz_json *json, const char *key, uint64_t value)
{
	swz_json_key(json, key);
	if (value <= INT64_MAX)
		swz_put_integer(json->stream, (int64_t)value);
	else
		fprintf(json->stream, "%" PRIu64, value);
}

void swz_json_number(struct swz_json *json, const char *key, int64_t value)
{
	swz_json_key(json, key);
	swz_put_integer(json->stream, value);
}

void swz_json_known(struct swz_json *json, const char *key, bool known,
		    int64_t value)
{
	if (known)
		swz_json_number(json, key, value);
	else
		swz_json_null(json, key);
}

void swz_json_digits(struct swz_json *json, const char *key, uint64_t value)
{
	swz_json_key(json, key);
	fprintf(json->stream, "\"%" PRIu64 "\"", value);
}

void swz_json_ns(struct swz_json *json, const char *key, int64_t value)
{
	swz_json_number(json, key, value < 0 ? 0 : value);
}

void swz_json_milli(struct swz_json *json, const char *key, double value)
{
	swz_json_ns(json, key,
		    isfinite(value) && value < 1e15 ? llround(value * 1000)
						    : 0);
}

void swz_json_round(struct swz_json *json, const char *key, double value)
{
	swz_json_key(json, key);
	fprintf(json->stream, "%.0f", value);
}

void swz_json_open(struct swz_json *json, const char *key, const char *bracket)
{
	swz_json_key(json, key);
	fputs_unlocked(bracket, json->stream);
	json->comma = false;
}

void swz_json_close(struct swz_json *json, const char *bracket)
{
	fputs_unlocked(bracket, json->stream);
	json->comma = true;
}

void swz_json_command(struct swz_json *json, const char *key,
		      const struct swz_profile *profile)
{
	size_t i;

	swz_json_open(json, key, "[");
	for (i = 0; i < profile->argument_count; i++)
		swz_json_string(json, NULL, profile->arguments[i]);
	swz_json_close(json, "]");
}

/* --- protocol buffers ----------------------------------------------------- */

/* Keys, varints and lengths. */

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
