#ifndef SWZ_UTIL_MEMORY_H
#define SWZ_UTIL_MEMORY_H

/* Allocation for the offline tools. These never return NULL: without memory
 * a tool can do nothing but say so, so they print "swizzle: out of memory" and
 * exit(1). Whatever asks for memory here has first bounded the amount by the
 * size of its input. Free with free(). */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- memory that is always there ----------------------------------------- */

_Noreturn void swz_out_of_memory(void);

__attribute__((returns_nonnull)) void *swz_allocate(size_t count,
						    size_t size); /* zeroed */
__attribute__((returns_nonnull)) void *swz_reallocate(void *old, size_t count,
						      size_t size);
/* The same for a large array of which every byte will be used: in large pages,
 * where the system has them. */
void *swz_allocate_dense(size_t count, size_t size);
/* Asks for them for memory that is there. */
void swz_use_large_pages(void *memory, size_t bytes);

char *swz_duplicate(const char *string);
char *swz_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A stream into a text in memory, which is *text, and *size bytes, when the
 * stream has been ended; to be freed. open_memstream(3) tells nobody that it
 * had no memory for a part. */
FILE *swz_text_stream(char **text, size_t *size);
void swz_text_stream_end(FILE *stream);

/* Makes room in *array (of *capacity elements of SIZE bytes) for one element
 * more than COUNT; grows by half. */
void swz_grow(void *array, size_t *capacity, size_t count, size_t size);

/* Ends as swz_allocate() does if errno, which was 0 before, is ENOMEM: what a
 * library cannot allocate it may take for what is not there. */
void swz_check_memory(void);

/* --- a hash table of numbers --------------------------------------------- */

/* A hash map from a pair of integers to an index, with open addressing: a third
 * of uthash's time, half of its memory (docs/internals/tried.md).
 * Zero-initialise it; it grows as needed and never forgets a key. */

#define SWZ_MAP_NONE UINT32_MAX

struct swz_map_slot {
	uint64_t a;
	uint64_t b;
	uint32_t value;
	uint32_t used;
};

struct swz_map {
	struct swz_map_slot *slots;
	size_t capacity; /* 0 or a power of two */
	size_t count;
};

/* The value of (a, b), or SWZ_MAP_NONE. */
uint32_t swz_map_get(const struct swz_map *map, uint64_t a, uint64_t b);
/* Where the value of (a, b) is kept; SWZ_MAP_NONE if the key is new. Valid
 * until the next call. */
uint32_t *swz_map_at(struct swz_map *map, uint64_t a, uint64_t b);
/* Removes all keys and gives the memory back. */
void swz_map_free(struct swz_map *map);

/* --- strings that exist once --------------------------------------------- */

/* Strings, each kept once: equal strings have the same pointer, so they are
 * compared by pointer. Zero-initialise; a string lives until
 * swz_intern_free(). */

struct swz_intern {
	struct swz_intern_entry *first; /* a uthash table */
};

/* The kept copy of STRING; NULL for NULL. */
const char *swz_intern(struct swz_intern *table, const char *string);
void swz_intern_free(struct swz_intern *table);

/* --- binary search ------------------------------------------------------- */

/* Records that are sorted by a number of 32 bits. */

/* Index of the first record with that NUMBER among COUNT, BYTES each, which
 * have theirs at OFFSET; UINT32_MAX: there is none. */
uint32_t swz_search(const void *records, size_t count, size_t bytes,
		    size_t offset, uint32_t number);

/* The same of an array of structures with that field. */
#define SWZ_SEARCH(array, count, field, number) \
	swz_search((array), (count), sizeof(*(array)), \
		   offsetof(__typeof__(*(array)), field), (number))

/* --- sums that do not overflow -------------------------------------------- */

/* Arithmetic that saturates. Costs come from a file that may be torn or
 * forged: a sum that does not fit becomes the largest value, never a small or
 * negative one, and no operation here is undefined. */

static inline int64_t swz_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static inline int64_t swz_sub(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return b < 0 ? INT64_MAX : INT64_MIN;
	return difference;
}

static inline uint64_t swz_add_count(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline int64_t swz_signed(uint64_t count)
{
	return count < INT64_MAX ? (int64_t)count : INT64_MAX;
}

/* value * numerator / denominator, rounded down; 0 for a negative value or a
 * denominator of 0. */
static inline int64_t swz_scale(int64_t value, uint64_t numerator,
				uint64_t denominator)
{
	unsigned __int128 product;

	if (value <= 0 || denominator == 0)
		return 0;
	product = (unsigned __int128)(uint64_t)value * numerator / denominator;
	return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

/* count * cost / 1024: what COUNT calls cost in ticks, rounded to nearest. */
static inline int64_t swz_call_cost(uint64_t count, uint64_t cost)
{
	unsigned __int128 product = (unsigned __int128)count * cost;

	product = product / 1024 + (product % 1024 >= 512);
	return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

/* The least that is PERCENT of TOTAL, or more; 0 of a negative total. */
static inline int64_t swz_least_share(double percent, int64_t total)
{
	double share = percent * (double)total / 100;

	if (!(share > 0))
		return 0;
	return share < 0x1p63 ? (int64_t)ceil(share) : INT64_MAX;
}

#endif
