#include "util/memory.h"
#include "base/basics.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define uthash_fatal(message) swz_out_of_memory()
#include <uthash.h>

/* --- memory that is always there ----------------------------------------- */

/* Allocation that cannot fail, for the offline tools. */

#define LARGE_PAGE ((size_t)2 << 20)

void swz_out_of_memory(void)
{
	fputs("swizzle: out of memory\n", stderr);
	exit(1);
}

void *swz_allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		swz_out_of_memory();
	return memory;
}

void swz_use_large_pages(void *memory, size_t bytes)
{
	uintptr_t start = swz_page_up((uintptr_t)memory);
	uintptr_t end = swz_page_down((uintptr_t)memory + bytes);

	/* (where there are none it costs some time, no more) */
	if (start < end && end - start >= LARGE_PAGE)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void *swz_allocate_dense(size_t count, size_t size)
{
	void *memory = swz_allocate(count, size);

	swz_use_large_pages(memory, count * size);
	return memory;
}

void *swz_reallocate(void *old, size_t count, size_t size)
{
	void *memory = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!memory)
		swz_out_of_memory();
	return memory;
}

char *swz_duplicate(const char *string)
{
	char *copy = strdup(string);

	if (!copy)
		swz_out_of_memory();
	return copy;
}

char *swz_print(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		swz_out_of_memory();
	return text;
}

struct text {
	char **text;
	size_t *size;
	size_t capacity;
	char buffer[4096]; /* of the stream */
};

static ssize_t add_text(void *cookie, const char *bytes, size_t count)
{
	struct text *to = cookie;

	if (count >= to->capacity - *to->size) {
		to->capacity += to->capacity / 2 + count;
		*to->text = swz_reallocate(*to->text, to->capacity, 1);
	}
	memcpy(*to->text + *to->size, bytes, count);
	*to->size += count;
	(*to->text)[*to->size] = '\0';
	return (ssize_t)count;
}

static int end_text(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *swz_text_stream(char **text, size_t *size)
{
	struct text *to = swz_allocate(1, sizeof(*to));
	FILE *stream = fopencookie(
		to, "w",
		(cookie_io_functions_t){.write = add_text, .close = end_text});

	if (!stream)
		swz_out_of_memory();
	to->text = text;
	to->size = size;
	to->capacity = 128;
	*text = swz_allocate(to->capacity, 1);
	*size = 0;
	(void)setvbuf(stream, to->buffer, _IOFBF, sizeof(to->buffer));
	return stream;
}

void swz_text_stream_end(FILE *stream)
{
	if (fclose(stream) != 0)
		swz_out_of_memory();
}

void swz_grow(void *array, size_t *capacity, size_t count, size_t size)
{
	void *memory;
	size_t wanted;

	if (count < *capacity)
		return;
	wanted = count + count / 2 + 16;
	memcpy(&memory, array, sizeof(memory));
	memory = swz_reallocate(memory, wanted, size);
	memcpy(array, &memory, sizeof(memory));
	*capacity = wanted;
}

void swz_check_memory(void)
{
	if (errno == ENOMEM)
		swz_out_of_memory();
}

/* --- a hash table of numbers --------------------------------------------- */

/* Open addressing with linear probing, at most half full. */

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
	uint64_t hash = a * 0x9e3779b97f4a7c15u;

	hash = (hash ^ (hash >> 29) ^ b) * 0xbf58476d1ce4e5b9u;
	hash = (hash ^ (hash >> 32)) * 0x94d049bb133111ebu;
	return hash ^ (hash >> 31);
}

static struct swz_map_slot *find(const struct swz_map *map, uint64_t a,
				 uint64_t b)
{
	size_t i = (size_t)hash_pair(a, b) & (map->capacity - 1);

	while (map->slots[i].used &&
	       (map->slots[i].a != a || map->slots[i].b != b))
		i = (i + 1) & (map->capacity - 1);
	return &map->slots[i];
}

static void enlarge(struct swz_map *map)
{
	struct swz_map old = *map;
	size_t i;

	map->capacity = old.capacity ? old.capacity * 2 : 64;
	map->slots = swz_allocate(map->capacity, sizeof(*map->slots));
	for (i = 0; i < old.capacity; i++)
		if (old.slots[i].used)
			*find(map, old.slots[i].a,
			      old.slots[i].b) = old.slots[i];
	free(old.slots);
}

uint32_t swz_map_get(const struct swz_map *map, uint64_t a, uint64_t b)
{
	const struct swz_map_slot *slot;

	if (!map->capacity)
		return SWZ_MAP_NONE;
	slot = find(map, a, b);
	return slot->used ? slot->value : SWZ_MAP_NONE;
}

uint32_t *swz_map_at(struct swz_map *map, uint64_t a, uint64_t b)
{
	struct swz_map_slot *slot;

	if (map->count * 2 >= map->capacity)
		enlarge(map);
	slot = find(map, a, b);
	if (!slot->used) {
		*slot = (struct swz_map_slot){a, b, SWZ_MAP_NONE, 1};
		map->count++;
	}
	return &slot->value;
}

void swz_map_free(struct swz_map *map)
{
	free(map->slots);
	*map = (struct swz_map){0};
}

/* --- strings that exist once --------------------------------------------- */

/* Strings, each kept once. */

struct swz_intern_entry {
	UT_hash_handle hh;
	char text[];
};

/* uthash's macros convert between signed and unsigned freely */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"

static struct swz_intern_entry *lookup(struct swz_intern_entry *first,
				       const char *string, size_t length)
{
	struct swz_intern_entry *entry;

	HASH_FIND(hh, first, string, length, entry);
	return entry;
}

static void add(struct swz_intern *table, struct swz_intern_entry *entry,
		size_t length)
{
	HASH_ADD_KEYPTR(hh, table->first, entry->text, length, entry);
}

void swz_intern_free(struct swz_intern *table)
{
	struct swz_intern_entry *entry = table->first;

	HASH_CLEAR(hh, table->first);
	while (entry) {
		struct swz_intern_entry *next = entry->hh.next;

		free(entry);
		entry = next;
	}
}

#pragma GCC diagnostic pop

const char *swz_intern(struct swz_intern *table, const char *string)
{
	struct swz_intern_entry *entry;
	size_t length;

	if (!string)
		return NULL;
	length = strlen(string);
	entry = lookup(table->first, string, length);
	if (!entry) {
		entry = swz_allocate(1, sizeof(*entry) + length + 1);
		memcpy(entry->text, string, length + 1);
		add(table, entry, length);
	}
	return entry->text;
}

/* --- binary search ------------------------------------------------------- */

static uint32_t number_at(const void *records, size_t index, size_t bytes,
			  size_t offset)
{
	uint32_t number;

	memcpy(&number, (const char *)records + index * bytes + offset,
	       sizeof(number));
	return number;
}

uint32_t swz_search(const void *records, size_t count, size_t bytes,
		    size_t offset, uint32_t number)
{
	size_t low;

	SWZ_PARTITION(low, count,
		      number_at(records, low, bytes, offset) < number);
	return low < count && number_at(records, low, bytes, offset) == number
		       ? (uint32_t)low
		       : UINT32_MAX;
}
