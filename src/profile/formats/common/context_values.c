/* Arguments, results and exceptions: of the calls of a trace those at one
 * moment, of a profile's contexts the last ones and the range of each number.
 */

#include "profile/formats/common/context_values.h"

#include <stdbool.h>
#include <string.h>

#include "profile/file/values.h"
#include "profile/names/value_print.h"

size_t swz_shown_count(const struct swz_call_values *values)
{
	return (values->exception ? 1 : 0) + values->count;
}

void swz_shown_read(struct swz_shown_value *shown, struct swz_binding *binding,
		    const struct swz_call_values *values, size_t index)
{
	swz_text_clear(&shown->name);
	swz_text_clear(&shown->text);
	shown->value = NULL;
	if (values->exception && index-- == 0) {
		swz_text_put(&shown->name, "exception");
		swz_exception_print(&shown->text, values->exception);
		return;
	}
	shown->value = &values->values[index];
	if (shown->value->pointed)
		swz_text_put_plain(&shown->name, "*");
	swz_text_put_plain(&shown->name, shown->value->name);
	swz_value_print(&shown->text, binding, shown->value);
}

void swz_shown_free(struct swz_shown_value *shown)
{
	swz_text_free(&shown->name);
	swz_text_free(&shown->text);
}

/* --- values of contexts -------------------------------------------------- */

void swz_context_value_free(struct swz_context_value *value)
{
	swz_text_free(&value->name);
	swz_text_free(&value->last);
	swz_text_free(&value->low);
	swz_text_free(&value->high);
}

static enum swz_value_moment moment_of(
	const struct swz_profile_summary *summary, unsigned range)
{
	return swz_summary_ranges(summary->head)[range].part <
			       summary->signature->entry_parts
		       ? SWZ_VALUES_ENTRY
		       : SWZ_VALUES_RETURN;
}

/* The range of the moment's value with this name; false: it has none. */
static bool find_range(const struct swz_profile_summary *summary,
		       struct swz_context_value *value)
{
	unsigned i;

	for (i = 0; i < summary->head->ranges; i++)
		if (moment_of(summary, i) == value->moment &&
		    swz_summary_range(summary, i, &value->low_value,
				      &value->high_value) &&
		    strcmp(value->low_value.name, value->name.text) == 0)
			return true;
	return false;
}

static void print_range(struct swz_context_value *value,
			struct swz_binding *binding)
{
	swz_text_clear(&value->low);
	swz_text_clear(&value->high);
	if (!value->has_range)
		return;
	swz_value_print(&value->low, binding, &value->low_value);
	swz_value_print(&value->high, binding, &value->high_value);
}

void swz_context_values_each(
	const struct swz_profile_summary *summary, struct swz_binding *binding,
	struct swz_context_value *value,
	void (*put)(void *to, const struct swz_context_value *value), void *to)
{
	static const enum swz_value_moment moments[] = {SWZ_VALUES_ENTRY,
							SWZ_VALUES_RETURN};
	struct swz_shown_value shown = {0};
	struct swz_call_values last;
	size_t m, i;

	for (m = 0; m < 2; m++) {
		value->moment = moments[m];
		value->has_last = swz_summary_values(summary, moments[m],
						     &last);
		for (i = 0; value->has_last && i < last.count; i++) {
			swz_shown_read(&shown, binding, &last, i);
			swz_text_clear(&value->name);
			swz_text_put(&value->name, "%s", shown.name.text);
			swz_text_clear(&value->last);
			swz_text_put(&value->last, "%s", shown.text.text);
			value->has_range = find_range(summary, value);
			print_range(value, binding);
			put(to, value);
		}
		/* where the last ones were being written */
		for (i = 0; !value->has_last && i < summary->head->ranges;
		     i++) {
			if (moment_of(summary, (unsigned)i) != moments[m] ||
			    !swz_summary_range(summary, (unsigned)i,
					       &value->low_value,
					       &value->high_value))
				continue;
			swz_text_clear(&value->name);
			swz_text_put(&value->name, "%s", value->low_value.name);
			value->has_range = true;
			print_range(value, binding);
			put(to, value);
		}
	}
	swz_shown_free(&shown);
}
