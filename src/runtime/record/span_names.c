/* A name is known by a hash of 64 bits. Who puts it into the table first is the
 * one that puts it into the profile; its id is known by then, so nobody waits
 * for that. */

#include "runtime/record/span_names.h"

#include <string.h>

#include "runtime/record/chunks.h"
#include "runtime/record/file.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/slow_stack.h"

/* Where no code is: addresses of functions that have none. */
#define SPAN_START 0xffffb00000000000ull
#define OTHER "[other spans]"
#define LAST (SWZ_MOST_SPANS - 1)

uint32_t swz_span_first_id;

/* By hash, open addressing; 0: not in use. */
static uint64_t hashes[SWZ_MOST_SPANS];

struct naming {
	const char *name;
	size_t bytes;
	uint32_t index;
	bool done;
};

/* FNV-1a, with the bits mixed as the table takes the low ones. */
static uint64_t hash_of(const char *name, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

static size_t length_of(const char *name)
{
	size_t bytes = 0;

	while (bytes < SWZ_SPAN_NAME_BYTES && name[bytes])
		bytes++;
	if (bytes == SWZ_SPAN_NAME_BYTES)
		while (bytes && ((uint8_t)name[bytes] & 0xc0) == 0x80)
			bytes--;
	return bytes;
}

static bool put_function(uint32_t index)
{
	struct swz_chunk *chunk = swz_chunk_take(
		swz_file, SWZ_CHUNK_FUNCTIONS,
		sizeof(struct swz_function_record), 1, SWZ_SPAN_MODULE);

	if (!chunk)
		return false;
	*(struct swz_function_record *)(chunk +
					1) = (struct swz_function_record){
		.address = (uint32_t)SPAN_START + index,
		.size = 1,
		.id = swz_span_first_id + index};
	swz_chunk_publish(chunk);
	return true;
}

static bool put_name(uint32_t index, const char *name, size_t bytes)
{
	const struct swz_symbol_record symbol = {
		.address = SPAN_START + index,
		.size = 1,
		.name = sizeof(symbol),
	};
	struct swz_chunk *chunk = swz_chunk_take(swz_file, SWZ_CHUNK_SYMBOLS,
						 sizeof(symbol) + bytes + 1, 1,
						 SWZ_SPAN_MODULE);
	char *body;

	if (!chunk)
		return false;
	body = (char *)(chunk + 1);
	memcpy(body, &symbol, sizeof(symbol));
	memcpy(body + sizeof(symbol), name, bytes);
	swz_chunk_publish(chunk);
	return true;
}

static bool put_module(void)
{
	struct swz_chunk *chunk = swz_chunk_take(
		swz_file, SWZ_CHUNK_MODULE,
		sizeof(struct swz_module_record) + sizeof(SWZ_SPAN_MODULE_NAME),
		1, SWZ_SPAN_MODULE);

	if (!chunk)
		return false;
	*(struct swz_module_record *)(chunk + 1) = (struct swz_module_record){
		.start = SPAN_START,
		.end = SPAN_START + SWZ_MOST_SPANS,
		.first_function = swz_span_first_id,
	};
	memcpy((char *)(chunk + 1) + sizeof(struct swz_module_record),
	       SWZ_SPAN_MODULE_NAME, sizeof(SWZ_SPAN_MODULE_NAME));
	swz_chunk_publish(chunk);
	return true;
}

/* The first of all names brings the module with it. */
static void put(void *argument)
{
	static _Atomic bool has_module;
	struct naming *naming = argument;

	if (!has_module)
		has_module = put_module();
	naming->done = put_function(naming->index) &&
		       put_name(naming->index, naming->name, naming->bytes);
}

enum swz_status swz_span_names_begin(void)
{
	swz_span_first_id = swz_ids_take(SWZ_MOST_SPANS);
	return swz_span_first_id ? SWZ_OK : SWZ_E_NOMEM;
}

static uint32_t name(struct swz_thread *thread, uint32_t index,
		     const char *text, size_t bytes)
{
	struct naming naming = {text, bytes, index, false};

	swz_slowly(thread, put, &naming);
	if (naming.done)
		return swz_span_first_id + index;
	/* the next one may have more luck */
	__atomic_store_n(&hashes[index], 0, __ATOMIC_RELAXED);
	return 0;
}

uint32_t swz_span_id(struct swz_thread *thread, const char *text)
{
	size_t bytes = length_of(text);
	uint64_t hash = hash_of(text, bytes), none;
	uint32_t at = (uint32_t)hash % LAST;

	for (uint32_t i = 0; i < LAST; i++, at = at + 1 < LAST ? at + 1 : 0) {
		uint64_t there = __atomic_load_n(&hashes[at], __ATOMIC_RELAXED);

		if (there == hash)
			return swz_span_first_id + at;
		none = 0;
		if (!there && __atomic_compare_exchange_n(
				      &hashes[at], &none, hash, false,
				      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return name(thread, at, text, bytes);
		if (!there && none == hash)
			return swz_span_first_id + at;
	}
	none = 0;
	if (__atomic_compare_exchange_n(&hashes[LAST], &none, 1, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return name(thread, LAST, OTHER, sizeof(OTHER) - 1);
	return swz_span_first_id + LAST;
}
