/* Strings, each kept once. */

#include "profile/support/intern.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

#define uthash_fatal(message) swz_out_of_memory()
#include <uthash.h>

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
