/* What is the same as before is shown once more, without an arrow. So are
 * objects: two of them on a line would not be read; of the object of a method
 * only what has changed is shown. What is passed by its address but shown as if
 * it were a value (Fortran) is shown again only if it has changed. */

#include "profile/formats/pointed_values.h"

#include <stdbool.h>
#include <string.h>

void swz_pointed_clear(struct swz_pointed_values *values)
{
	values->text.size = values->object.text.size = 0;
	values->address = 0;
}

void swz_pointed_free(struct swz_pointed_values *values)
{
	swz_text_free(&values->text);
	swz_text_free(&values->object.text);
}

static void put_object(void *context, struct swz_text *text,
		       struct swz_binding *binding,
		       const struct swz_call_values *values,
		       const struct swz_value *object)
{
	struct swz_pointed_values *before = context;

	if (before)
		before->address = swz_object_address(values, object);
	swz_object_put_entry(text, before ? before->objects : NULL,
			     before ? &before->object : NULL, binding, values,
			     object);
}

/* (A constructor's object is not there yet; where it will be is known.) */
static uint64_t address_of_this(const struct swz_call_values *entry)
{
	int64_t address;

	return entry->count && strcmp(entry->values[0].name, "this") == 0 &&
			       swz_value_number(&entry->values[0], &address)
		       ? (uint64_t)address
		       : 0;
}

void swz_pointed_arguments(struct swz_text *text,
			   struct swz_pointed_values *before,
			   struct swz_binding *binding,
			   const struct swz_call_values *entry)
{
	if (before) {
		swz_pointed_keep(before, binding, entry);
		before->address = address_of_this(entry);
	}
	swz_arguments_print(text, binding, entry, put_object, before);
}

static bool is_compared(const struct swz_value *value)
{
	return (value->pointed || value->memory) && !value->field &&
	       value->type->kind != SWZ_TYPE_STRUCT &&
	       value->type->kind != SWZ_TYPE_ARRAY;
}

void swz_pointed_keep(struct swz_pointed_values *before,
		      struct swz_binding *binding,
		      const struct swz_call_values *entry)
{
	size_t i;

	swz_pointed_clear(before);
	for (i = 0; i < entry->count; i++) {
		const struct swz_value *value = &entry->values[i];

		if (!is_compared(value))
			continue;
		swz_text_add(&before->text, value->pointed ? "*" : "", 1);
		swz_text_add(&before->text, value->name,
			     strlen(value->name) + 1);
		swz_value_print(&before->text, binding, value);
		swz_text_add(&before->text, "", 1);
	}
}

struct old {
	const char *text; /* NULL: it is not known */
	bool pointed;
};

/* Each is a "*" or nothing, a name, and a text. What a smart pointer leads to
 * counts more than the pointer. */
static struct old find(const struct swz_pointed_values *before,
		       const char *name)
{
	const char *at = before->text.text;
	size_t left = before->text.size;
	struct old old = {NULL, true};

	while (left) {
		const char *own = at + 1, *text = own + strlen(own) + 1;
		size_t size = (size_t)(text - at) + strlen(text) + 1;

		if (strcmp(own, name) == 0 && (!old.text || *at == '*'))
			old = (struct old){text, *at == '*'};
		at += size;
		left = size < left ? left - size : 0;
	}
	return old;
}

void swz_pointed_print(struct swz_text *text, struct swz_binding *binding,
		       const struct swz_call_values *back,
		       struct swz_pointed_values *before)
{
	struct swz_text now = {0};
	bool any = false;
	size_t i;

	for (i = 0; i < back->count; i++) {
		const struct swz_value *value = &back->values[i];
		struct old old = {NULL, true};
		bool same;

		if (!value->pointed || value->field)
			continue;
		if (swz_value_is_object(value)) {
			swz_text_put(text, any ? ", " : "");
			swz_object_put_return(text, before->objects,
					      &before->object, before->address,
					      binding, back, value);
			any = true;
			continue;
		}
		if (is_compared(value))
			old = find(before, value->name);
		/* of a null pointer, or of a smart one that has none now */
		if (!old.text && value->plain.bad && !value->plain.size)
			continue;
		swz_text_clear(&now);
		swz_value_print(&now, binding, value);
		same = old.text && strcmp(old.text, now.text) == 0;
		if (same && !old.pointed)
			continue;
		swz_text_put(text, "%s%s%s", any ? ", " : "",
			     old.pointed ? "*" : "", value->name);
		if (old.text && !same)
			swz_text_put(text, ": %s -> %s", old.text, now.text);
		else
			swz_text_put(text, " = %s", now.text);
		any = true;
	}
	swz_text_free(&now);
}
