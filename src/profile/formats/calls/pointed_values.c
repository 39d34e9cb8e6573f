/* A pointer's target is read at the call's begin and at its end. Both texts are
 * compared: a target that the call has not changed is shown once. */

#include "profile/formats/calls/calls.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/names/value_print.h"

/* --- the fields of objects ----------------------------------------------- */

/* An object is known by its address and its type. Where two have one place in
 * the table, the older is forgotten: its next call shows no change. */

#define OBJECTS 4096u /* a power of two */

struct known {
	uint64_t address; /* 0: none */
	char *class;
	struct swz_object_fields fields;
};

struct swz_objects {
	struct known known[OBJECTS];
	/* by function: of the latest call that succeeded */
	struct swz_map functions;
	struct swz_object_fields *succeeded;
	size_t count, capacity;
};

struct swz_objects *swz_objects_new(void)
{
	return swz_allocate(1, sizeof(struct swz_objects));
}

void swz_objects_forget(struct swz_objects *objects)
{
	size_t i;

	for (i = 0; i < OBJECTS; i++)
		objects->known[i].address = 0;
	for (i = 0; i < objects->count; i++)
		objects->succeeded[i].text.size = 0;
}

void swz_objects_free(struct swz_objects *objects)
{
	size_t i;

	if (!objects)
		return;
	for (i = 0; i < OBJECTS; i++) {
		swz_text_free(&objects->known[i].fields.text);
		free(objects->known[i].class);
	}
	for (i = 0; i < objects->count; i++)
		swz_text_free(&objects->succeeded[i].text);
	free(objects->succeeded);
	swz_map_free(&objects->functions);
	free(objects);
}

/* Each method has a type of its own for the object. */
static const char *class_of(const struct swz_value *object)
{
	return swz_signature_text(object->set, object->type->name);
}

/* Its place; whether it is the one that is there already. */
static struct known *place_of(struct swz_objects *objects, uint64_t address,
			      const struct swz_value *object, bool *known)
{
	uint64_t hash = (address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
	struct known *place = &objects->known[hash >> 52 & (OBJECTS - 1)];

	*known = place->address == address &&
		 strcmp(place->class, class_of(object)) == 0;
	return place;
}

static void keep(struct swz_object_fields *fields,
		 const struct swz_object_fields *from)
{
	fields->text.size = 0;
	swz_text_add(&fields->text, from->text.text, from->text.size);
}

static void remember(struct swz_objects *objects, uint64_t address,
		     const struct swz_value *object,
		     const struct swz_object_fields *fields)
{
	struct known *place;
	bool known;

	if (!objects || !address)
		return;
	place = place_of(objects, address, object, &known);
	if (!known) {
		free(place->class);
		place->class = swz_duplicate(class_of(object));
		place->address = address;
	}
	keep(&place->fields, fields);
}

/* ------------------------------------------------------------------ fields */

/* The next field; false: there is none. */
static bool next_field(const struct swz_object_fields *fields, size_t *at,
		       const char **name, const char **text)
{
	if (!fields || *at >= fields->text.size)
		return false;
	*name = fields->text.text + *at;
	*text = *name + strlen(*name) + 1;
	*at = (size_t)(*text - fields->text.text) + strlen(*text) + 1;
	return true;
}

/* The text of the field with that name; NULL: it is not there. Mostly it is the
 * one at *AT, which goes on. */
static const char *same_field(const struct swz_object_fields *fields,
			      size_t *at, const char *name)
{
	const char *of, *text;

	if (next_field(fields, at, &of, &text) && strcmp(of, name) == 0)
		return text;
	for (*at = 0; next_field(fields, at, &of, &text);)
		if (strcmp(of, name) == 0)
			return text;
	return NULL;
}

static void read_fields(struct swz_object_fields *fields,
			struct swz_binding *binding,
			const struct swz_call_values *values,
			const struct swz_value *object)
{
	struct swz_text value = {0};
	const char *name;
	uint32_t i;

	fields->text.size = 0;
	for (i = 0; i < object->type->members; i++) {
		swz_text_clear(&value);
		name = swz_object_field(&value, binding, values, object, i);
		swz_text_add(&fields->text, name, strlen(name) + 1);
		swz_text_add(&fields->text, value.text, value.size + 1);
	}
	swz_text_free(&value);
}

/* All of them; those that are not as in BEFORE with what they were. */
static void put_fields(struct swz_text *text,
		       const struct swz_object_fields *fields,
		       const struct swz_object_fields *before, bool cut)
{
	const char *name, *now, *old;
	size_t at = 0, at_old = 0;
	bool any = false;

	swz_text_put(text, SWZ_OBJECT "{");
	while (next_field(fields, &at, &name, &now)) {
		old = same_field(before, &at_old, name);
		swz_text_put(text, any ? ", " SWZ_FIELD : "");
		any = true;
		if (old && strcmp(old, now) != 0)
			swz_text_put(text,
				     SWZ_CHANGED "%s: %s -> %s" SWZ_UNCHANGED,
				     name, old, now);
		else
			swz_text_put(text, "%s = %s", name, now);
	}
	if (cut)
		swz_text_put(text, "%s...", any ? ", " SWZ_FIELD : "");
	swz_text_put(text, "}" SWZ_OBJECT_END);
}

void swz_text_unmark(struct swz_text *text)
{
	size_t from, to = 0;

	for (from = 0; from < text->size; from++)
		if (!strchr(SWZ_MARKS, text->text[from]))
			text->text[to++] = text->text[from];
	text->size = to;
	text->text[to] = '\0';
}

/* ----------------------------------------------------------------- moments */

static bool is_readable(const struct swz_value *object)
{
	return object->plain.bytes && !object->plain.bad;
}

static bool is_cut(const struct swz_value *object)
{
	return object->type->flags & SWZ_TYPE_IS_CUT;
}

/* The address of OBJECT, which is one of VALUES; 0: nothing. */
static uint64_t object_address(const struct swz_call_values *values,
			       const struct swz_value *object)
{
	int64_t number;
	size_t i;

	for (i = 0; i < values->count; i++)
		if (!values->values[i].pointed &&
		    strcmp(values->values[i].name, object->name) == 0 &&
		    swz_value_number(&values->values[i], &number))
			return (uint64_t)number;
	return 0;
}

/* The object of an entry: "{a = 1, b: 2 -> 3}". FIELDS, if not NULL, gets what
 * it is; OBJECTS, if not NULL, says what it was. */
static void object_put_entry(struct swz_text *text, struct swz_objects *objects,
			     struct swz_object_fields *fields,
			     struct swz_binding *binding,
			     const struct swz_call_values *values,
			     const struct swz_value *object)
{
	uint64_t address = object_address(values, object);
	struct swz_object_fields own = {0};
	struct swz_object_fields *now = fields ? fields : &own;
	struct known *place = NULL;
	bool known = false;

	now->text.size = 0;
	if (!is_readable(object)) {
		swz_text_put(text, "?");
		return;
	}
	read_fields(now, binding, values, object);
	if (objects && address)
		place = place_of(objects, address, object, &known);
	put_fields(text, now, known ? &place->fields : NULL, is_cut(object));
	remember(objects, address, object, now);
	swz_text_free(&own.text);
}

/* The object of a return: "*this: a: 1 -> 2", with all fields where FIELDS, of
 * the entry, has none. ADDRESS: the object's, 0: it is not known. */
static void object_put_return(struct swz_text *text,
			      struct swz_objects *objects,
			      const struct swz_object_fields *fields,
			      uint64_t address, struct swz_binding *binding,
			      const struct swz_call_values *values,
			      const struct swz_value *object)
{
	struct swz_object_fields now = {0};
	const char *name, *new, *old;
	size_t at = 0, at_old = 0;
	bool any = false;

	if (!is_readable(object)) {
		swz_text_put(text, "*%s = ?", object->name);
		return;
	}
	read_fields(&now, binding, values, object);
	remember(objects, address, object, &now);
	if (!fields->text.size) {
		swz_text_put(text, "*%s = ", object->name);
		put_fields(text, &now, NULL, is_cut(object));
		swz_text_free(&now.text);
		return;
	}
	while (next_field(&now, &at, &name, &new)) {
		old = same_field(fields, &at_old, name);
		if (!old || strcmp(old, new) == 0)
			continue;
		if (!any)
			swz_text_put(text, "*%s: ", object->name);
		swz_text_put(text,
			     "%s" SWZ_CHANGED "%s: %s -> %s" SWZ_UNCHANGED,
			     any ? ", " : "", name, old, new);
		any = true;
	}
	if (!any)
		swz_text_put(text, "*%s: unchanged", object->name);
	swz_text_free(&now.text);
}

void swz_object_put_unlike(struct swz_text *text, struct swz_objects *objects,
			   const struct swz_object_fields *fields,
			   uint32_t function, bool failed)
{
	uint32_t *number = swz_map_at(&objects->functions, function, 0);
	const struct swz_object_fields *last;
	const char *name, *now, *old;
	size_t at = 0, at_old = 0;
	bool any = false;

	if (*number == SWZ_MAP_NONE) {
		*number = (uint32_t)objects->count;
		swz_grow(&objects->succeeded, &objects->capacity,
			 objects->count, sizeof(*objects->succeeded));
		objects->succeeded[objects->count++] =
			(struct swz_object_fields){0};
	}
	last = &objects->succeeded[*number];
	if (!failed) {
		keep(&objects->succeeded[*number], fields);
		return;
	}
	if (!last->text.size)
		return;
	while (next_field(fields, &at, &name, &now)) {
		old = same_field(last, &at_old, name);
		if (!old || strcmp(old, now) == 0)
			continue;
		swz_text_put(text, "%s%s = %s, not %s", any ? "; " : "", name,
			     now, old);
		any = true;
	}
	if (!any)
		swz_text_put(text, "nothing in the object");
}

/* --- values that are pointed at ------------------------------------------ */

/* A value that is the same as before is shown once more, without an arrow.
 * Structs are shown again only if they have changed, without what they were; of
 * the object of a method only what has changed is shown. What is passed by its
 * address but shown as if it were a value (Fortran, a reference) is shown again
 * only if it has changed. */

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
		before->address = object_address(values, object);
	object_put_entry(text, before ? before->objects : NULL,
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

static void pointed_keep(struct swz_pointed_values *before,
			 struct swz_binding *binding,
			 const struct swz_call_values *entry);

void swz_pointed_arguments(struct swz_text *text,
			   struct swz_pointed_values *before,
			   struct swz_binding *binding,
			   const struct swz_call_values *entry)
{
	if (before) {
		pointed_keep(before, binding, entry);
		before->address = address_of_this(entry);
	}
	swz_arguments_print(text, binding, entry, put_object, before);
}

static bool is_compared(const struct swz_value *value)
{
	return (value->pointed || value->memory || value->text.bytes) &&
	       !value->field && !swz_value_is_object(value);
}

/* Two of them in a line would not be read: the new one is shown alone. */
static bool is_long(const struct swz_value *value)
{
	return !value->text.bytes && (value->type->kind == SWZ_TYPE_STRUCT ||
				      value->type->kind == SWZ_TYPE_ARRAY);
}

/* In place of what was kept before. */
static void pointed_keep(struct swz_pointed_values *before,
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
		swz_value_print_of(&before->text, binding, entry, value);
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
			object_put_return(text, before->objects,
					  &before->object, before->address,
					  binding, back, value);
			any = true;
			continue;
		}
		if (is_compared(value))
			old = find(before, value->name);
		/* of a null pointer, or of a smart one that has none now */
		if ((!old.text || is_long(value)) && value->plain.bad &&
		    !value->plain.size)
			continue;
		swz_text_clear(&now);
		swz_value_print_of(&now, binding, back, value);
		same = old.text && strcmp(old.text, now.text) == 0;
		if (same && (!old.pointed || is_long(value)))
			continue;
		swz_text_put(text, "%s%s%s", any ? ", " : "",
			     old.pointed ? "*" : "", value->name);
		if (old.text && !same && !is_long(value))
			swz_text_put(text, ": %s -> %s", old.text, now.text);
		else
			swz_text_put(text, " = %s", now.text);
		any = true;
	}
	swz_text_free(&now);
}
