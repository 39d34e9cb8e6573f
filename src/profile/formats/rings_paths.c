/* Paths as texts for people, and as keys that tell them apart. */

#include "profile/formats/rings_paths.h"

#include <ctype.h>
#include <string.h>

#define MOST_TEXT 160u /* bytes of a path */
#define MOST_VALUE 32u /* bytes of an argument's text */
#define MANY UINT64_C(0x6d616e79)

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/* "calls a, b" in the order of the first such call. */
void swz_rings_print_callees(struct swz_text *text,
			     const struct swz_catalog *catalog,
			     const uint32_t *callees, uint32_t count)
{
	uint32_t i;

	swz_text_clear(text);
	swz_text_put(text, count ? "calls " : "calls nothing");
	if (count == SWZ_RINGS_MOST_CALLEES) {
		swz_text_put(text, "%u functions or more",
			     SWZ_RINGS_MOST_CALLEES);
		return;
	}
	for (i = 0; i < count; i++) {
		if (text->size > MOST_TEXT) {
			swz_text_put(text, ", ... (%u functions)", count);
			return;
		}
		swz_text_put(text, "%s%s", i ? ", " : "",
			     catalog->functions[callees[i]].name);
	}
}

/* The order of calls does not matter. */
uint64_t swz_rings_callees_key(const uint32_t *callees, uint32_t count)
{
	uint64_t key = 0;
	uint32_t i;

	if (count == SWZ_RINGS_MOST_CALLEES)
		return MANY;
	for (i = 0; i < count; i++)
		key += mix((uint64_t)callees[i] + 1);
	return key;
}

/* Of numbers and addresses the sign; texts, names of enums and the like as they
 * are. */
static void print_class(struct swz_text *text, const char *value)
{
	if (*value == '-' && isdigit((unsigned char)value[1]))
		swz_text_put(text, " < 0");
	else if (isdigit((unsigned char)*value))
		swz_text_put(text,
			     value[strspn(value, "0x.")] ? " > 0" : " = 0");
	else if (strlen(value) > MOST_VALUE)
		swz_text_put(text, " = %.*s...", (int)MOST_VALUE, value);
	else
		swz_text_put(text, " = %s", value);
}

void swz_rings_print_arguments(struct swz_text *text,
			       struct swz_binding *binding,
			       struct swz_value_reader *reader,
			       const struct swz_event *event)
{
	struct swz_text value = {0};
	struct swz_call_values values;
	size_t i;

	swz_text_clear(text);
	if (!swz_values_of(reader, event, &values) || !values.count) {
		swz_text_put(text, "arguments not recorded");
		return;
	}
	for (i = 0; i < values.count && text->size <= MOST_TEXT; i++) {
		swz_text_put(text, "%s%s%s", i ? ", " : "",
			     values.values[i].pointed ? "*" : "",
			     values.values[i].name);
		swz_text_clear(&value);
		swz_value_print(&value, binding, &values.values[i]);
		print_class(text, value.text ? value.text : "");
	}
	if (i < values.count)
		swz_text_put(text, ", ...");
	swz_text_free(&value);
}

uint64_t swz_rings_text_key(const char *text)
{
	uint64_t key = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		key = (key ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return key;
}
