#ifndef SWZ_PROFILE_SUPPORT_INTERN_H
#define SWZ_PROFILE_SUPPORT_INTERN_H

/* Strings, each kept once: equal strings have the same pointer, so they are
 * compared by pointer. Zero-initialise; a string lives until
 * swz_intern_free(). */

#include <stddef.h>

struct swz_intern {
	struct swz_intern_entry *first; /* a uthash table */
};

/* The kept copy of STRING; NULL for NULL. */
const char *swz_intern(struct swz_intern *table, const char *string);
void swz_intern_free(struct swz_intern *table);

#endif
