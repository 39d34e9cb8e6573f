#ifndef SWZ_PROFILE_FORMATS_CALLS_ERRORS_H
#define SWZ_PROFILE_FORMATS_CALLS_ERRORS_H

/* Errors that have returned to a call that is open, by the value that they
 * have: so a call that ends with the same value has handed it on. Whoever
 * follows them keeps something with each, its trail. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/formats/calls.h"

struct swz_returned_error {
	char *value;   /* owned */
	uint32_t from; /* the function that returned it */
	void *trail;   /* the caller's */
};

/* The latest last; begins with zeros. */
struct swz_returned_errors {
	struct swz_returned_error *list; /* NULL: there were none */
	size_t count;
};

/* Whether NAME has returned an error by this end. What throws an exception for
 * its caller (__cxa_throw) has not. */
bool swz_errors_concern(const struct swz_call_end *end, const char *name);

/* Whether a compiler has changed how NAME is called (foo.isra.0). */
bool swz_errors_is_changed(const char *name);

/* Whether NAME ends without a result as a compiler has changed how it is called
 * (foo.isra.0): --args leaves such functions out, so it may have been the first
 * to return an error. */
bool swz_errors_hidden(const struct swz_call_end *end, const char *name);

/* "first returned here"; HIDDEN: the last function that the call called
 * and that hid its result; NULL: none did. To be freed. */
char *swz_errors_first(bool thrown, const char *hidden);

/* The functions below that return a trail have taken it out; NULL: there is
 * none. */

/* Of the error that this exceptional end hands on. */
void *swz_errors_handed_on(struct swz_returned_errors *errors,
			   const struct swz_call_end *end);

/* Of one that FROM returned. To be called until there are none, before what a
 * later call of FROM returned is added: the function has been tried again. */
void *swz_errors_outdated(struct swz_returned_errors *errors, uint32_t from);

/* Of one that has no room beside this one: of the same value, or the oldest. To
 * be called until there are none, before swz_errors_add(). */
void *swz_errors_crowded_out(struct swz_returned_errors *errors,
			     const struct swz_call_end *end);
void swz_errors_add(struct swz_returned_errors *errors,
		    const struct swz_call_end *end, uint32_t from, void *trail);

/* Of the oldest. To be called until there are none, which frees all. */
void *swz_errors_remaining(struct swz_returned_errors *errors);

#endif
