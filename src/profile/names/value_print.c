#include "profile/names/value_print.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/names/value_members.h"
#include "profile/names/value_numbers.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

#define MOST_DEPTH 2u        /* of structs in structs that are shown */
#define MOST_ELEMENTS 8u     /* of an array */
#define MOST_ARRAYS 8u       /* of arrays in arrays */
#define MOST_WRAPPERS 8u     /* around a value */
#define LIBSTDCXX_STRING 32u /* bytes; its length at 8 */

static void put_string(struct swz_text *text, const struct swz_value_bytes *s)
{
	if (s->bad && s->cut) {
		swz_text_put_plain(text, "NULL");
		return;
	}
	if (s->bad && !s->size) {
		swz_text_put_plain(text, "?");
		return;
	}
	swz_text_put_plain(text, "\"");
	swz_put_escaped(text, s->bytes, s->size, '"');
	swz_text_put_plain(text, s->bad ? "\"?" : s->cut ? "\"..." : "\"");
}

/* ------------------------------------------------------------------ types */

/* What lies there: a function's name, or a place in a module. */
static void put_address(struct swz_text *text, struct swz_binding *binding,
			uint64_t address)
{
	struct swz_profile *profile = binding->profile;
	uint32_t index, module;

	if (!address) {
		swz_text_put_plain(text, "NULL");
		return;
	}
	index = swz_profile_function_at(profile, address);
	if (index != SWZ_INDEX_NONE) {
		uint32_t function = swz_binding_function(
			binding, index, profile->functions[index].id);
		module = profile->functions[index].module;
		if (function >= binding->catalog->resolved)
			swz_catalog_resolve(binding->catalog);
		swz_text_put_plain(text,
				   binding->catalog->functions[function].name);
		if (module != SWZ_INDEX_NONE) {
			const struct swz_module_record *record =
				&profile->modules[module].record;
			uint64_t start = record->load_bias +
					 profile->functions[index].address;

			if (address > start)
				swz_text_put(text, "+0x%" PRIx64,
					     address - start);
		}
		return;
	}
	swz_text_put(text, "0x%" PRIx64, address);
	module = swz_profile_module_at(profile, address);
	if (module != SWZ_INDEX_NONE)
		swz_text_put(text, " (%s+0x%" PRIx64 ")",
			     swz_base_name(profile->modules[module].path),
			     address -
				     profile->modules[module].record.load_bias);
}

static void put_enum(struct swz_text *text, const struct swz_value *value,
		     const struct swz_value_type *type, int64_t number)
{
	const char *name = swz_value_member_name(value, type, number);
	int64_t left = number;
	bool any = false;
	uint32_t i;

	if (name) {
		swz_text_put_plain(text, name);
		return;
	}
	/* several flags of one bit each */
	for (i = 0; i < type->members && number > 0; i++) {
		int64_t bit = value->set->members[type->first + i].offset;

		if (bit > 0 && !(bit & (bit - 1)))
			left &= ~bit;
	}
	if (number <= 0 || left) {
		swz_text_put(text, "%" PRId64, number);
		return;
	}
	for (i = 0; i < type->members; i++) {
		const struct swz_value_member *member =
			&value->set->members[type->first + i];

		if (member->offset <= 0 ||
		    member->offset & (member->offset - 1) ||
		    !(number & member->offset))
			continue;
		swz_text_put(text, "%s%s", any ? "|" : "",
			     swz_signature_text(value->set, member->name));
		any = true;
	}
}

/* As /proc/PID/fd has it, where that is no path. */
static void put_file(struct swz_text *text, const uint8_t *bytes, size_t size)
{
	struct swz_file_value file = {.fd = -1};

	if (size == sizeof(file))
		memcpy(&file, bytes, sizeof(file));
	swz_text_put(text, "%" PRId32, file.fd);
	if (S_ISFIFO(file.mode) || S_ISSOCK(file.mode))
		swz_text_put(text, " (%s:[%" PRIu64 "])",
			     S_ISFIFO(file.mode) ? "pipe" : "socket",
			     file.inode);
}

static void put_typed(struct swz_text *text, struct swz_binding *binding,
		      const struct swz_value *value,
		      const struct swz_value_type *type, const uint8_t *bytes,
		      size_t size, unsigned depth);

static const struct swz_value_type *type_of(const struct swz_value *value,
					    const struct swz_value_type *type)
{
	return type->of ? &value->set->types[type->of - 1] : NULL;
}

static void put_bit_field(struct swz_text *text, const struct swz_value *value,
			  const struct swz_value_type *type,
			  const struct swz_value_member *m,
			  const uint8_t *bytes, size_t size)
{
	bool is_signed = type->kind == SWZ_TYPE_SIGNED;
	uint64_t number = (uint64_t)swz_read_number(bytes, size, false) >>
			  m->bit;
	unsigned unused = 64u - (m->bits & 63u);

	if (m->bits < 64)
		number = is_signed ? (uint64_t)((int64_t)(number << unused) >>
						unused)
				   : number << unused >> unused;
	if (type->kind == SWZ_TYPE_ENUM)
		put_enum(text, value, type, (int64_t)number);
	else if (type->kind == SWZ_TYPE_BOOL)
		swz_text_put_plain(text, number ? "true" : "false");
	else
		swz_text_put(text, "%" PRId64, (int64_t)number);
}

/* Of Rust: its fields are __0, __1, ... */
static bool is_tuple(const struct swz_value *value,
		     const struct swz_value_type *type)
{
	return type->members &&
	       strcmp(swz_signature_text(value->set,
					 value->set->members[type->first].name),
		      "__0") == 0;
}

/* A tuple of one field is what that is: Rust's NonZero, Wrapping. */
static const struct swz_value_type *unwrap(const struct swz_value *value,
					   const struct swz_value_type *type,
					   const uint8_t **bytes, size_t *size)
{
	unsigned i;

	for (i = 0; i < MOST_WRAPPERS && type->kind == SWZ_TYPE_STRUCT &&
		    type->members == 1 && is_tuple(value, type);
	     i++) {
		const struct swz_value_member *m =
			&value->set->members[type->first];

		if (m->type >= value->set->type_count || m->offset < 0 ||
		    (uint64_t)m->offset > *size)
			break;
		type = &value->set->types[m->type];
		*bytes += m->offset;
		*size -= (size_t)m->offset;
		if (*size > type->bytes)
			*size = type->bytes;
	}
	return type;
}

static void put_brace(struct swz_text *text, const struct swz_value_type *type)
{
	if (type->flags & SWZ_TYPE_IS_CUT)
		swz_text_put_plain(text, type->members ? ", ..." : "...");
	swz_text_put_plain(text, "}");
}

static bool has_field(const struct swz_value *value,
		      const struct swz_value_member *m, size_t size)
{
	return m->type < value->set->type_count && m->offset >= 0 &&
	       (uint64_t)m->offset <= size;
}

/* Of a struct in SIZE bytes. */
static void put_field(struct swz_text *text, struct swz_binding *binding,
		      const struct swz_value *value,
		      const struct swz_value_member *m, const uint8_t *bytes,
		      size_t size, unsigned depth)
{
	const struct swz_value_type *of = &value->set->types[m->type];
	size_t left = size - (size_t)m->offset;

	if (!left && of->bytes)
		swz_text_put_plain(text, "...");
	else if (m->bits)
		put_bit_field(text, value, of, m, bytes + m->offset, left);
	else
		put_typed(text, binding, value, of, bytes + m->offset,
			  left < of->bytes ? left : of->bytes, depth + 1);
}

static void put_struct(struct swz_text *text, struct swz_binding *binding,
		       const struct swz_value *value,
		       const struct swz_value_type *type, const uint8_t *bytes,
		       size_t size, unsigned depth)
{
	bool tuple = is_tuple(value, type);
	uint32_t i;

	if (depth >= MOST_DEPTH) {
		swz_text_put_plain(text, tuple ? "(...)" : "{...}");
		return;
	}
	swz_text_put_plain(text, tuple ? "(" : "{");
	for (i = 0; i < type->members; i++) {
		const struct swz_value_member *m =
			&value->set->members[type->first + i];
		const char *name = swz_signature_text(value->set, m->name);

		if (!has_field(value, m, size))
			continue;
		swz_text_put_plain(text, i ? ", " : "");
		if (*name && !tuple)
			swz_text_put(text, "%s = ", name);
		put_field(text, binding, value, m, bytes, size, depth);
	}
	if (tuple)
		swz_text_put_plain(text, ")");
	else
		put_brace(text, type);
}

static void put_variant(struct swz_text *text, struct swz_binding *binding,
			const struct swz_value *value,
			const struct swz_value_type *type, const uint8_t *bytes,
			size_t size, unsigned depth)
{
	const struct swz_value_member *m = swz_value_variant(value, type, bytes,
							     size);
	const struct swz_value_type *of;

	if (!m) {
		swz_text_put_plain(text, "...");
		return;
	}
	swz_text_put_plain(text, swz_signature_text(value->set, m->name));
	if (m->type >= value->set->type_count)
		return;
	of = &value->set->types[m->type];
	if (of->kind != SWZ_TYPE_STRUCT || !of->members)
		return;
	if (!is_tuple(value, of))
		swz_text_put_plain(text, " ");
	put_struct(text, binding, value, of, bytes, size, depth);
}

static void put_array(struct swz_text *text, struct swz_binding *binding,
		      const struct swz_value *value,
		      const struct swz_value_type *type, const uint8_t *bytes,
		      size_t size, unsigned depth)
{
	const struct swz_value_type *of = type_of(value, type);
	size_t i, count;

	if (!of || !of->bytes)
		return;
	if (depth > MOST_ARRAYS) { /* of itself, in a damaged file */
		swz_text_put_plain(text, "[...]");
		return;
	}
	if (of->kind == SWZ_TYPE_CHAR && size) {
		size_t length = strnlen((const char *)bytes, size);

		swz_text_put_plain(text, "\"");
		swz_put_escaped(text, bytes, length, '"');
		swz_text_put_plain(text, length == size && size < type->bytes
						 ? "\"..."
						 : "\"");
		return;
	}
	count = size / of->bytes;
	swz_text_put_plain(text, "[");
	for (i = 0; i < count && i < MOST_ELEMENTS; i++) {
		swz_text_put_plain(text, i ? ", " : "");
		put_typed(text, binding, value, of, bytes + i * of->bytes,
			  of->bytes, depth + 1);
	}
	swz_text_put_plain(text, i < type->bytes / of->bytes ? ", ...]" : "]");
}

static void put_vector(struct swz_text *text, const struct swz_value *value,
		       const struct swz_value_type *type, const uint8_t *bytes,
		       size_t size)
{
	const struct swz_value_type *of = type_of(value, type);
	uint64_t words[2] = {0, 0};

	memcpy(words, bytes, size < sizeof(words) ? size : sizeof(words));
	if (of && of->bytes && words[1] >= words[0])
		swz_text_put(text, "{size = %" PRIu64 "}",
			     (words[1] - words[0]) / of->bytes);
	else
		swz_text_put_plain(text, "{...}");
}

static void put_opaque(struct swz_text *text, const uint8_t *bytes, size_t size)
{
	size_t i;

	swz_text_put_plain(text, "0x");
	for (i = size; i; i--)
		swz_text_put(text, "%02x", bytes[i - 1]);
}

static void put_typed(struct swz_text *text, struct swz_binding *binding,
		      const struct swz_value *value,
		      const struct swz_value_type *type, const uint8_t *bytes,
		      size_t size, unsigned depth)
{
	int64_t number;

	type = unwrap(value, type, &bytes, &size);
	number = swz_read_number(bytes, size, type->kind != SWZ_TYPE_UNSIGNED);
	if (size < type->bytes && type->kind != SWZ_TYPE_ARRAY &&
	    type->kind != SWZ_TYPE_STRUCT && type->kind != SWZ_TYPE_OPAQUE &&
	    type->kind != SWZ_TYPE_STRING && type->kind != SWZ_TYPE_VARIANT) {
		swz_text_put_plain(text, "...");
		return;
	}
	switch (type->kind) {
	case SWZ_TYPE_SIGNED:
		if (size == 16)
			swz_put_wide(text, bytes, true);
		else
			swz_text_put(text, "%" PRId64, number);
		break;
	case SWZ_TYPE_UNSIGNED:
		if (size == 16)
			swz_put_wide(text, bytes, false);
		else
			swz_text_put(text, "%" PRIu64, (uint64_t)number);
		break;
	case SWZ_TYPE_HEX:
		swz_text_put(text, "0x%" PRIx64,
			     (uint64_t)swz_read_number(bytes, size, false));
		break;
	case SWZ_TYPE_OCTAL:
		swz_text_put(text, "0%" PRIo64,
			     (uint64_t)swz_read_number(bytes, size, false));
		break;
	case SWZ_TYPE_BOOL:
		swz_text_put_plain(text, size && bytes[0] ? "true" : "false");
		break;
	case SWZ_TYPE_CHAR:
		swz_text_put_plain(text, "'");
		if (size == 1)
			swz_put_escaped(text, bytes, 1, '\'');
		else
			swz_text_put(text, number < 0x80 ? "%c" : "\\u%04x",
				     (unsigned int)number);
		swz_text_put_plain(text, "'");
		break;
	case SWZ_TYPE_FLOAT:
		swz_put_float(text, bytes, size);
		break;
	case SWZ_TYPE_ENUM:
		put_enum(text, value, type, number);
		break;
	case SWZ_TYPE_POINTER:
	case SWZ_TYPE_FUNCTION:
	case SWZ_TYPE_REFERENCE:
	case SWZ_TYPE_SMART:
		put_address(text, binding,
			    (uint64_t)swz_read_number(bytes, size, false));
		break;
	case SWZ_TYPE_STRUCT:
		put_struct(text, binding, value, type, bytes, size, depth);
		break;
	case SWZ_TYPE_VARIANT:
		put_variant(text, binding, value, type, bytes, size, depth);
		break;
	case SWZ_TYPE_ARRAY:
		put_array(text, binding, value, type, bytes, size, depth);
		break;
	case SWZ_TYPE_VECTOR:
		put_vector(text, value, type, bytes, size);
		break;
	case SWZ_TYPE_FILE:
		put_file(text, bytes, size);
		break;
	case SWZ_TYPE_STRING: /* whose text is not recorded: in a struct */
		if (size == 8)
			put_address(
				text, binding,
				(uint64_t)swz_read_number(bytes, size, false));
		else if (size == LIBSTDCXX_STRING)
			swz_text_put(
				text, "{size = %" PRIu64 "}",
				(uint64_t)swz_read_number(bytes + 8, 8, false));
		else
			swz_text_put_plain(text, "{...}");
		break;
	default:
		put_opaque(text, bytes, size);
		break;
	}
}

/* ------------------------------------------------------------------ values */

void swz_value_print(struct swz_text *text, struct swz_binding *binding,
		     const struct swz_value *value)
{
	if (value->text.bytes) {
		put_string(text, &value->text);
		return;
	}
	if (!value->plain.bytes || value->plain.bad) {
		swz_text_put_plain(text, "?");
		return;
	}
	put_typed(text, binding, value, value->type, value->plain.bytes,
		  value->plain.size, 0);
}

/* What a null pointer leads to. */
static bool is_of_null(const struct swz_call_values *values, size_t i)
{
	const struct swz_value *value = &values->values[i];
	const struct swz_value *pointer = value - 1;
	int64_t number;

	return value->pointed && i && value->plain.bad && !value->plain.size &&
	       pointer->name == value->name && !pointer->pointed &&
	       swz_value_number(pointer, &number) && !number;
}

void swz_arguments_print(struct swz_text *text, struct swz_binding *binding,
			 const struct swz_call_values *values,
			 swz_print_object *object, void *context)
{
	bool returns = values->moment == SWZ_VALUES_RETURN, any = false;
	size_t i;

	for (i = 0; i < values->count; i++) {
		const struct swz_value *value = &values->values[i];

		if (value->field || (returns && !value->pointed) ||
		    is_of_null(values, i))
			continue;
		swz_text_put(text, "%s%s%s = ", any ? ", " : "",
			     value->pointed ? "*" : "", value->name);
		if (swz_value_is_object(value))
			object(context, text, binding, values, value);
		else
			swz_value_print(text, binding, value);
		any = true;
	}
}

const char *swz_object_field(struct swz_text *text, struct swz_binding *binding,
			     const struct swz_call_values *values,
			     const struct swz_value *object, uint32_t index)
{
	const struct swz_value_member *m =
		&object->set->members[object->type->first + index];
	const char *name = swz_signature_text(object->set, m->name);
	size_t length = strlen(object->name), i;

	for (i = 0; i < values->count; i++) {
		const struct swz_value *value = &values->values[i];

		if (!value->field ||
		    strncmp(value->name, object->name, length) != 0 ||
		    value->name[length] != '.' ||
		    strcmp(value->name + length + 1, name) != 0)
			continue;
		swz_value_print(text, binding, value);
		return name;
	}
	if (has_field(object, m, object->plain.size))
		put_field(text, binding, object, m, object->plain.bytes,
			  object->plain.size, 0);
	else
		swz_text_put_plain(text, "...");
	return name;
}
