/* What is the same as before is shown once more, without an arrow. So are
 * objects: two of them on a line would not be read. */

#include "profile/formats/pointed_values.h"

#include <stdbool.h>
#include <string.h>

static bool is_compared(const struct swz_value *value)
{
	return value->pointed && value->type->kind != SWZ_TYPE_STRUCT &&
	       value->type->kind != SWZ_TYPE_ARRAY;
}

void swz_pointed_keep(struct swz_pointed_values *before,
		      struct swz_binding *binding,
		      const struct swz_call_values *entry)
{
	size_t i;

	before->text.size = 0;
	for (i = 0; i < entry->count; i++) {
		const struct swz_value *value = &entry->values[i];

		if (!is_compared(value))
			continue;
		swz_text_add(&before->text, value->name,
			     strlen(value->name) + 1);
		swz_value_print(&before->text, binding, value);
		swz_text_add(&before->text, "", 1);
	}
}

/* NULL: it is not known. */
static const char *find(const struct swz_pointed_values *before,
			const char *name)
{
	const char *at = before->text.text;
	size_t left = before->text.size;

	while (left) {
		const char *text = at + strlen(at) + 1;
		size_t size = (size_t)(text - at) + strlen(text) + 1;

		if (strcmp(at, name) == 0)
			return text;
		at += size;
		left = size < left ? left - size : 0;
	}
	return NULL;
}

void swz_pointed_print(struct swz_text *text, struct swz_binding *binding,
		       const struct swz_call_values *back,
		       const struct swz_pointed_values *before)
{
	struct swz_text now = {0};
	bool any = false;
	size_t i;

	for (i = 0; i < back->count; i++) {
		const struct swz_value *value = &back->values[i];
		const char *old;

		if (!value->pointed)
			continue;
		old = is_compared(value) ? find(before, value->name) : NULL;
		swz_text_clear(&now);
		swz_value_print(&now, binding, value);
		if (old && strcmp(old, now.text) != 0)
			swz_text_put(text, "%s*%s: %s -> %s", any ? ", " : "",
				     value->name, old, now.text);
		else
			swz_text_put(text, "%s*%s = %s", any ? ", " : "",
				     value->name, now.text);
		any = true;
	}
	swz_text_free(&now);
}
