/* The process context of OpenTelemetry: a mapping called OTEL_CTX begins with a
 * header that points at a protobuf message. Who publishes may change it at any
 * time: then the time in the header is 0 or another one, and the reader begins
 * anew. Nothing that the process says is trusted: lengths are bounded, and a
 * message that is no such one has no attributes. */

#include "watch/image.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_bytes.h"
#include "util/memory.h"
#include "watch/proc_task.h"

#define SIGNATURE "OTEL_CTX"
#define VERSION 2u
#define MOST_BYTES 16384u /* of a payload */
#define TRIES 5

struct header {
	char signature[8];
	uint32_t version;
	uint32_t payload_size;
	uint64_t published_at_ns; /* 0: it is being changed */
	uint64_t payload;
};

/* --- the message --------------------------------------------------------- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 }; /* wire types */

enum {
	CONTEXT_RESOURCE = 1,
	CONTEXT_ATTRIBUTES = 2,
	RESOURCE_ATTRIBUTES = 1,
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2,
	ANY_VALUE_STRING = 1,
	ANY_VALUE_INT = 3
};

struct part {
	const uint8_t *bytes;
	size_t size;
};

struct field {
	uint64_t number;
	unsigned int type;
	uint64_t value;   /* VARINT */
	struct part part; /* BYTES */
};

static bool take_varint(struct part *from, uint64_t *value)
{
	*value = 0;
	for (unsigned int shift = 0; shift < 64 && from->size; shift += 7) {
		uint8_t byte = *from->bytes++;

		from->size--;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static bool take_part(struct part *from, uint64_t size, struct part *part)
{
	if (size > from->size)
		return false;
	*part = (struct part){from->bytes, (size_t)size};
	from->bytes += size;
	from->size -= (size_t)size;
	return true;
}

/* False: nothing is left, or no field. */
static bool take_field(struct part *from, struct field *field)
{
	uint64_t key, size = 0;

	*field = (struct field){0};
	if (!take_varint(from, &key))
		return false;
	field->number = key >> 3;
	field->type = key & 7;
	if (field->type == VARINT)
		return take_varint(from, &field->value);
	if (field->type == FIXED64)
		size = 8;
	else if (field->type == FIXED32)
		size = 4;
	else if (field->type != BYTES || !take_varint(from, &size))
		return false;
	return take_part(from, size, &field->part);
}

/* False: there is no such field. */
static bool find_part(struct part message, uint64_t number, struct part *part)
{
	struct field field;

	while (take_field(&message, &field))
		if (field.number == number && field.type == BYTES) {
			*part = field.part;
			return true;
		}
	return false;
}

static char *text_of(struct part part)
{
	char *text = swz_allocate(part.size + 1, 1);

	if (part.size)
		memcpy(text, part.bytes, part.size);
	return text;
}

/* Numbers and texts; to be freed. NULL: it is something else. */
static char *value_text(struct part value)
{
	struct field field;

	while (take_field(&value, &field)) {
		if (field.number == ANY_VALUE_STRING && field.type == BYTES)
			return text_of(field.part);
		if (field.number == ANY_VALUE_INT && field.type == VARINT)
			return swz_print("%" PRId64, (int64_t)field.value);
	}
	return NULL;
}

static bool put_attribute(struct part attribute, struct swz_labels *labels)
{
	struct part key, value;
	char *name, *text;
	bool known;

	if (!find_part(attribute, KEY_VALUE_KEY, &key) ||
	    !find_part(attribute, KEY_VALUE_VALUE, &value))
		return false;
	name = text_of(key);
	text = value_text(value);
	known = text && *text && *name;
	if (known)
		swz_labels_set(labels, name, text);
	free(name);
	free(text);
	return known;
}

static bool put_attributes(struct part message, uint64_t number,
			   struct swz_labels *labels)
{
	struct field field;
	bool any = false;

	while (take_field(&message, &field))
		if (field.number == number && field.type == BYTES)
			any |= put_attribute(field.part, labels);
	return any;
}

bool swz_process_context_decode(const uint8_t *payload, size_t size,
				struct swz_labels *labels)
{
	struct part all = {payload, size}, first, value;
	bool any;

	if (!find_part(all, CONTEXT_RESOURCE, &first))
		return put_attributes(all, CONTEXT_ATTRIBUTES, labels);
	/* a Resource has no part of the number that an attribute's value has */
	if (find_part(first, KEY_VALUE_VALUE, &value))
		return put_attributes(all, RESOURCE_ATTRIBUTES, labels);
	any = put_attributes(all, CONTEXT_ATTRIBUTES, labels);
	return put_attributes(first, RESOURCE_ATTRIBUTES, labels) || any;
}

/* --- the mapping --------------------------------------------------------- */

static bool is_context(const char *line)
{
	static const char *const names[] = {"/memfd:" SIGNATURE,
					    "[anon_shmem:" SIGNATURE "]",
					    "[anon:" SIGNATURE "]"};
	const char *path = strpbrk(line, "/[");

	for (size_t i = 0; path && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(path, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool read_header(int32_t pid, uint64_t address, struct header *header)
{
	return swz_proc_memory(pid, address, header, sizeof(*header)) ==
		       sizeof(*header) &&
	       memcmp(header->signature, SIGNATURE,
		      sizeof(header->signature)) == 0 &&
	       header->version == VERSION && header->payload_size &&
	       header->payload_size <= MOST_BYTES;
}

/* Payload and header are of one moment if the time did not change meanwhile. */
static bool read_payload(int32_t pid, uint64_t address, uint8_t *payload,
			 size_t *size)
{
	struct header before, after;

	for (int i = 0; i < TRIES; i++) {
		if (!read_header(pid, address, &before))
			return false;
		*size = before.payload_size;
		if (before.published_at_ns &&
		    swz_proc_memory(pid, before.payload, payload, *size) ==
			    *size &&
		    read_header(pid, address, &after) &&
		    after.published_at_ns == before.published_at_ns)
			return true;
	}
	return false;
}

bool swz_process_context_read(int32_t pid, struct swz_labels *labels)
{
	char *path = swz_print("/proc/%d/maps", (int)pid), *line = NULL;
	FILE *file = fopen(path, "re");
	uint8_t *payload = swz_allocate(MOST_BYTES, 1);
	uint64_t address;
	size_t room = 0, size;
	bool found = false;

	free(path);
	labels->strings = 0;
	labels->bytes = 0;
	while (file && !found && getline(&line, &room, file) > 0) {
		const char *at = line;

		found = is_context(line) && swz_scan(&at, 16, &address) &&
			read_payload(pid, address, payload, &size) &&
			swz_process_context_decode(payload, size, labels);
	}
	if (file)
		fclose(file);
	free(line);
	free(payload);
	return found;
}
