#include "profile/formats/merged_parts.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

void swz_bytes_add(struct swz_bytes *body, const void *from, size_t size)
{
	if (body->capacity - body->size < size) {
		body->capacity = body->size + size + body->capacity / 2;
		body->bytes = swz_reallocate(body->bytes, body->capacity, 1);
	}
	if (size)
		memcpy(body->bytes + body->size, from, size);
	body->size += size;
}

void swz_bytes_add_string(struct swz_bytes *body, const char *string)
{
	swz_bytes_add(body, string, strlen(string) + 1);
}

void swz_merged_put_bytes(struct swz_merged_file *w, struct swz_chunk chunk,
			  const void *bytes, size_t size)
{
	static const char zeros[SWZ_UNIT_BYTES];
	size_t padding = -size % SWZ_UNIT_BYTES;

	chunk.magic = SWZ_CHUNK_MAGIC;
	chunk.bytes = sizeof(chunk) + size + padding;
	if (w->stream) {
		fwrite(&chunk, sizeof(chunk), 1, w->stream);
		if (size)
			fwrite(bytes, size, 1, w->stream);
		fwrite(zeros, padding, 1, w->stream);
	}
	w->written += chunk.bytes;
}

void swz_merged_put(struct swz_merged_file *w, uint32_t type, size_t count,
		    uint32_t owner, uint64_t reserved, struct swz_bytes *body)
{
	swz_merged_put_bytes(w,
			     (struct swz_chunk){.type = type,
						.count = (uint32_t)count,
						.owner = owner,
						.reserved = {reserved}},
			     body->bytes, body->size);
	body->size = 0;
}

uint32_t swz_merged_text_at(struct swz_merged_text *text, const char *string)
{
	uint32_t *at;

	if (!string || !*string)
		return 0;
	at = swz_map_at(&text->places, (uintptr_t)string, 0);
	if (*at == SWZ_MAP_NONE) {
		*at = (uint32_t)text->bytes.size;
		swz_bytes_add_string(&text->bytes, string);
	}
	return *at + 1;
}

uint32_t swz_merged_text_from(uint32_t at, size_t start)
{
	return at ? at - 1 + (uint32_t)start : 0;
}

void swz_merged_text_free(struct swz_merged_text *text)
{
	free(text->bytes.bytes);
	swz_map_free(&text->places);
}
