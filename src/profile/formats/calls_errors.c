/* A caller often cleans up before it hands an error on: calls of other
 * functions that return in between change nothing. Few errors are kept, as a
 * call may live for long and see very many. */

#include "profile/formats/calls_errors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

#define KEPT 8

/* What two ends have in common that are of the same error: the number, whatever
 * the types of the two results; or the text. */
static char *value_of(const struct swz_call_end *end)
{
	return end->has_number ? swz_print("%" PRId64, end->number)
			       : swz_duplicate(end->text.text);
}

/* (The type of an exception is known where values are recorded.) */
static bool is_same(const char *value, const char *other)
{
	if (strcmp(value, other) == 0)
		return true;
	return value[0] == '!' && other[0] == '!' &&
	       (strcmp(value, SWZ_ANY_EXCEPTION) == 0 ||
		strcmp(other, SWZ_ANY_EXCEPTION) == 0);
}

bool swz_errors_concern(const struct swz_call_end *end, const char *name)
{
	static const char *const throwing[] = {
		"__cxa_throw", "__cxa_rethrow", "_Unwind_RaiseException",
		"_Unwind_Resume", "_Unwind_Resume_or_Rethrow"};
	size_t i;

	if (!end->exceptional || end->text.text[0] != '!')
		return end->exceptional;
	for (i = 0; i < sizeof(throwing) / sizeof(throwing[0]); i++)
		if (strcmp(name, throwing[i]) == 0)
			return false;
	return true;
}

bool swz_errors_is_changed(const char *name)
{
	const char *const suffixes[] = {".isra.", ".constprop.", ".part."};

	if (!strchr(name, '.'))
		return false;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strstr(name, suffixes[i]))
			return true;
	return false;
}

bool swz_errors_hidden(const struct swz_call_end *end, const char *name)
{
	return !end->text.size && swz_errors_is_changed(name);
}

char *swz_errors_first(bool thrown, const char *hidden)
{
	if (thrown)
		return swz_duplicate("first left here");
	if (!hidden)
		return swz_duplicate("first returned here");
	return swz_print("first returned here, or by %s, whose result is not "
			 "recorded",
			 hidden);
}

static void *take(struct swz_returned_errors *errors, size_t i)
{
	void *trail = errors->list[i].trail;

	free(errors->list[i].value);
	errors->count--;
	memmove(&errors->list[i], &errors->list[i + 1],
		(errors->count - i) * sizeof(*errors->list));
	return trail;
}

void *swz_errors_handed_on(struct swz_returned_errors *errors,
			   const struct swz_call_end *end)
{
	void *trail = NULL;
	char *value;
	size_t i;

	if (!errors->count)
		return NULL;
	value = value_of(end);
	for (i = errors->count; i && !trail; i--)
		if (is_same(errors->list[i - 1].value, value))
			trail = take(errors, i - 1);
	free(value);
	return trail;
}

void *swz_errors_outdated(struct swz_returned_errors *errors, uint32_t from)
{
	size_t i;

	for (i = 0; i < errors->count; i++)
		if (errors->list[i].from == from)
			return take(errors, i);
	return NULL;
}

void *swz_errors_crowded_out(struct swz_returned_errors *errors,
			     const struct swz_call_end *end)
{
	void *trail = swz_errors_handed_on(errors, end);

	if (!trail && errors->count == KEPT)
		trail = take(errors, 0);
	return trail;
}

void swz_errors_add(struct swz_returned_errors *errors,
		    const struct swz_call_end *end, uint32_t from, void *trail)
{
	if (!errors->list)
		errors->list = swz_allocate(KEPT, sizeof(*errors->list));
	errors->list[errors->count++] = (struct swz_returned_error){
		.value = value_of(end), .from = from, .trail = trail};
}

void *swz_errors_remaining(struct swz_returned_errors *errors)
{
	if (errors->count)
		return take(errors, 0);
	free(errors->list);
	errors->list = NULL;
	return NULL;
}
