/* Prints recorded values by the types in the profile. Bytes that were not
 * recorded are shown as "?"; nesting, length and members are bounded, because a
 * profile may be damaged. */

#include "profile/names/value_print.h"

#include <float.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/file/values.h"
#include "profile/names/catalog.h"
#include "options/config_file.h"
#include "profile/names/symbols.h"

/* --- text that grows ----------------------------------------------------- */

static void make_room(struct swz_text *text, size_t size)
{
	size_t need = text->size + size + 1;

	if (need <= text->capacity)
		return;
	if (need < 2 * text->capacity)
		need = 2 * text->capacity;
	text->text = swz_reallocate(text->text, need, 1);
	text->capacity = need;
}

void swz_text_clear(struct swz_text *text)
{
	make_room(text, 0);
	text->size = 0;
	text->text[0] = '\0';
}

void swz_text_add(struct swz_text *text, const char *bytes, size_t size)
{
	make_room(text, size);
	memcpy(text->text + text->size, bytes, size);
	text->size += size;
	text->text[text->size] = '\0';
}

void swz_text_put(struct swz_text *text, const char *format, ...)
{
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	make_room(text, (size_t)size);
	va_start(arguments, format);
	vsnprintf(text->text + text->size, (size_t)size + 1, format, arguments);
	va_end(arguments);
	text->size += (size_t)size;
}

void swz_text_free(struct swz_text *text)
{
	free(text->text);
	*text = (struct swz_text){0};
}

void swz_text_put_plain(struct swz_text *text, const char *s)
{
	swz_text_add(text, s, strlen(s));
}

/* --- members ------------------------------------------------------------- */

const char *swz_value_member_name(const struct swz_value *value,
				  const struct swz_value_type *type,
				  int64_t number)
{
	uint32_t i;

	for (i = 0; i < type->members; i++) {
		const struct swz_value_member *member =
			&value->set->members[type->first + i];

		if (member->offset == number)
			return swz_signature_text(value->set, member->name);
	}
	return NULL;
}

const struct swz_value_member *swz_value_variant(
	const struct swz_value *value, const struct swz_value_type *type,
	const uint8_t *bytes, size_t size)
{
	const struct swz_value_member *m = &value->set->members[type->first],
				      *other = NULL;
	const struct swz_value_type *of;
	uint64_t number = 0, mask;
	uint32_t i;

	if (!type->members || m->type >= value->set->type_count)
		return NULL;
	of = &value->set->types[m->type];
	if (of->bytes > 8 || m->offset < 0 || (uint64_t)m->offset > size ||
	    size - (uint64_t)m->offset < of->bytes)
		return NULL;
	if (of->bytes)
		memcpy(&number, bytes + m->offset, of->bytes);
	mask = of->bytes ? UINT64_MAX >> (64 - 8 * of->bytes) : 0;
	for (i = 1; i < type->members; i++) {
		if (m[i].bit)
			other = &m[i];
		else if (((uint64_t)m[i].offset & mask) == number)
			return &m[i];
	}
	return other;
}

/* --- numbers ------------------------------------------------------------- */

/* Bytes of a value as numbers and text. */

int64_t swz_value_read(const uint8_t *bytes, size_t size, bool is_signed)
{
	uint64_t value = 0;
	unsigned unused;

	if (size > sizeof(value))
		size = sizeof(value);
	memcpy(&value, bytes, size);
	unused = 64 - 8 * (unsigned)size;
	if (!size)
		return 0;
	return is_signed ? (int64_t)(value << unused) >> unused
			 : (int64_t)value;
}

bool swz_value_number(const struct swz_value *value, int64_t *number)
{
	switch (value->type->kind) {
	case SWZ_TYPE_FLOAT:
	case SWZ_TYPE_STRUCT:
	case SWZ_TYPE_VARIANT:
	case SWZ_TYPE_ARRAY:
	case SWZ_TYPE_VECTOR:
	case SWZ_TYPE_OPAQUE:
	case SWZ_TYPE_FILE:
	case SWZ_TYPE_STRING:
		return false;
	default:
		break;
	}
	if (!value->plain.bytes || value->plain.bad ||
	    value->plain.size > sizeof(*number))
		return false;
	*number = swz_value_read(value->plain.bytes, value->plain.size,
				 value->type->kind != SWZ_TYPE_UNSIGNED &&
					 value->type->kind != SWZ_TYPE_BOOL);
	return true;
}

bool swz_value_real(const struct swz_value *value, double *number)
{
	const struct swz_value_bytes *plain = &value->plain;
	long double wide = 0;
	float narrow;

	if (value->type->kind != SWZ_TYPE_FLOAT || !plain->bytes || plain->bad)
		return false;
	switch (plain->size) {
	case sizeof(narrow):
		memcpy(&narrow, plain->bytes, sizeof(narrow));
		*number = (double)narrow;
		return true;
	case sizeof(*number):
		memcpy(number, plain->bytes, sizeof(*number));
		return true;
	default:
		memcpy(&wide, plain->bytes,
		       plain->size < 10 ? plain->size : 10);
		*number = (double)wide;
		return true;
	}
}

/* A number of 16 bytes. */
static void put_wide(struct swz_text *text, const uint8_t *bytes,
		     bool is_signed)
{
	unsigned __int128 value;
	char digits[48], *at = digits + sizeof(digits);
	bool negative;

	memcpy(&value, bytes, sizeof(value));
	negative = is_signed && (__int128)value < 0;
	if (negative)
		value = -value;
	do
		*--at = (char)('0' + (int)(value % 10));
	while (value /= 10);
	if (negative)
		*--at = '-';
	swz_text_add(text, at, (size_t)(digits + sizeof(digits) - at));
}

/* Puts a number of 4 bytes, of 8, or an x87 one, with as many digits as tell it
 * apart. */
static void put_float(struct swz_text *text, const uint8_t *bytes, size_t size)
{
	char number[64];
	int digits;

	if (size == sizeof(float)) {
		float value;

		memcpy(&value, bytes, sizeof(value));
		for (digits = FLT_DIG; digits <= 9; digits++) {
			snprintf(number, sizeof(number), "%.*g", digits,
				 (double)value);
			if (strtof(number, NULL) == value)
				break;
		}
	} else if (size == sizeof(double)) {
		double value;

		memcpy(&value, bytes, sizeof(value));
		for (digits = 6; digits <= 17; digits++) {
			snprintf(number, sizeof(number), "%.*g", digits, value);
			if (strtod(number, NULL) == value)
				break;
		}
	} else {
		long double value = 0;

		memcpy(&value, bytes, size < 10 ? size : 10);
		for (digits = 6; digits <= 21; digits++) {
			snprintf(number, sizeof(number), "%.*Lg", digits,
				 value);
			if (strtold(number, NULL) == value)
				break;
		}
	}
	swz_text_put_plain(text, number);
}

/* As in C, but UTF-8 stays. */
static void put_escaped(struct swz_text *text, const uint8_t *bytes,
			size_t size, char quote)
{
	size_t i;

	for (i = 0; i < size; i++) {
		uint8_t c = bytes[i];
		size_t length;
		bool shown;

		if (c == (uint8_t)quote || c == '\\') {
			swz_text_put(text, "\\%c", c);
			continue;
		}
		if (c == '\n' || c == '\t' || c == '\r') {
			swz_text_put_plain(text, c == '\n'   ? "\\n"
						 : c == '\t' ? "\\t"
							     : "\\r");
			continue;
		}
		length = swz_character((const char *)bytes + i, size - i,
				       &shown);
		if (!shown) {
			swz_text_put(text, "\\x%02x", c);
			continue;
		}
		swz_text_add(text, (const char *)bytes + i, length);
		i += length - 1;
	}
}

/* --- values -------------------------------------------------------------- */

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
	put_escaped(text, s->bytes, s->size, '"');
	swz_text_put_plain(text, s->bad ? "\"?" : s->cut ? "\"..." : "\"");
}

/* ------------------------------------------------------------------ types */

/* Puts the name of what lies there: a function, or a place in a module. */
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

/* A value of an enum that has no name. */
static void put_unnamed(struct swz_text *text,
			const struct swz_value_type *type, int64_t number)
{
	uint64_t bits = (uint64_t)number;

	if (type->bytes && type->bytes < 8)
		bits &= UINT64_MAX >> (64 - 8 * type->bytes);
	if (type->flags & SWZ_TYPE_SHOWS_HEX)
		swz_text_put(text, "0x%" PRIx64, bits);
	else if (type->flags & SWZ_TYPE_SHOWS_OCTAL)
		swz_text_put(text, "0%" PRIo64, bits);
	else if (type->flags & SWZ_TYPE_SHOWS_UNSIGNED)
		swz_text_put(text, "%" PRIu64, bits);
	else
		swz_text_put(text, "%" PRId64, number);
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
		put_unnamed(text, type, number);
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
	uint64_t number = (uint64_t)swz_value_read(bytes, size, false) >>
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

/* True for a tuple of Rust: its fields are __0, __1, ... */
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

static bool has_field(const struct swz_value *value,
		      const struct swz_value_member *m, size_t size)
{
	return m->type < value->set->type_count && m->offset >= 0 &&
	       (uint64_t)m->offset <= size;
}

/* Its beginning can be shown where the rest was not recorded. */
static bool has_parts(const struct swz_value_type *type)
{
	return type->kind == SWZ_TYPE_STRUCT || type->kind == SWZ_TYPE_ARRAY ||
	       type->kind == SWZ_TYPE_VARIANT;
}

/* Puts a field of a struct in SIZE bytes. */
static void put_field(struct swz_text *text, struct swz_binding *binding,
		      const struct swz_value *value,
		      const struct swz_value_member *m, const uint8_t *bytes,
		      size_t size, unsigned depth)
{
	const struct swz_value_type *of = &value->set->types[m->type];
	size_t needed = m->bits ? (7u + m->bit + m->bits) / 8 : of->bytes;
	size_t left = size - (size_t)m->offset;

	/* (a half of a number is another number) */
	if (left < needed && (!left || m->bits || !has_parts(of)))
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
	bool cut = type->flags & SWZ_TYPE_IS_CUT, any = false;
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

		if (!has_field(value, m, size)) {
			cut = true;
			continue;
		}
		swz_text_put_plain(text, any ? ", " : "");
		any = true;
		if (*name && !tuple)
			swz_text_put(text, "%s = ", name);
		put_field(text, binding, value, m, bytes, size, depth);
	}
	if (cut)
		swz_text_put_plain(text, any ? ", ..." : "...");
	swz_text_put_plain(text, tuple ? ")" : "}");
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

	/* of itself, in a damaged file; or of as many as there is room for */
	if (!of || !of->bytes || depth > MOST_ARRAYS || !type->bytes) {
		swz_text_put_plain(text, "[...]");
		return;
	}
	if (of->kind == SWZ_TYPE_CHAR && size) {
		size_t length = strnlen((const char *)bytes, size);

		swz_text_put_plain(text, "\"");
		put_escaped(text, bytes, length, '"');
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
	number = swz_value_read(bytes, size, type->kind != SWZ_TYPE_UNSIGNED);
	if (size < type->bytes && type->kind != SWZ_TYPE_ARRAY &&
	    type->kind != SWZ_TYPE_STRUCT && type->kind != SWZ_TYPE_OPAQUE &&
	    type->kind != SWZ_TYPE_STRING && type->kind != SWZ_TYPE_VARIANT) {
		swz_text_put_plain(text, "...");
		return;
	}
	switch (type->kind) {
	case SWZ_TYPE_SIGNED:
		if (size == 16)
			put_wide(text, bytes, true);
		else
			swz_text_put(text, "%" PRId64, number);
		break;
	case SWZ_TYPE_UNSIGNED:
		if (size == 16)
			put_wide(text, bytes, false);
		else
			swz_text_put(text, "%" PRIu64, (uint64_t)number);
		break;
	case SWZ_TYPE_HEX:
		swz_text_put(text, "0x%" PRIx64,
			     (uint64_t)swz_value_read(bytes, size, false));
		break;
	case SWZ_TYPE_OCTAL:
		swz_text_put(text, "0%" PRIo64,
			     (uint64_t)swz_value_read(bytes, size, false));
		break;
	case SWZ_TYPE_BOOL:
		swz_text_put_plain(text, size && bytes[0] ? "true" : "false");
		break;
	case SWZ_TYPE_CHAR:
		swz_text_put_plain(text, "'");
		if (size == 1 || (number >= 0 && number < 0x80))
			put_escaped(text, bytes, 1, '\'');
		else
			swz_text_put(text,
				     (uint32_t)number <= 0xffff ? "\\u%04x"
								: "\\U%08x",
				     (unsigned int)number);
		swz_text_put_plain(text, "'");
		break;
	case SWZ_TYPE_FLOAT:
		put_float(text, bytes, size);
		break;
	case SWZ_TYPE_ENUM:
		put_enum(text, value, type, number);
		break;
	case SWZ_TYPE_POINTER:
	case SWZ_TYPE_FUNCTION:
	case SWZ_TYPE_REFERENCE:
	case SWZ_TYPE_SMART:
		put_address(text, binding,
			    (uint64_t)swz_value_read(bytes, size, false));
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
				(uint64_t)swz_value_read(bytes, size, false));
		else if (size == LIBSTDCXX_STRING)
			swz_text_put(
				text, "{size = %" PRIu64 "}",
				(uint64_t)swz_value_read(bytes + 8, 8, false));
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

/* True if FIELD is a text that a field of VALUE leads to: its name is
 * "VALUE.NAME". */
static bool is_field_of(const struct swz_value *field,
			const struct swz_value *value)
{
	size_t length = strlen(value->name);

	return field->field && strncmp(field->name, value->name, length) == 0 &&
	       field->name[length] == '.';
}

static bool has_texts(const struct swz_call_values *values,
		      const struct swz_value *value)
{
	size_t i;

	for (i = 0; i < values->count; i++)
		if (is_field_of(&values->values[i], value))
			return true;
	return false;
}

void swz_value_print_of(struct swz_text *text, struct swz_binding *binding,
			const struct swz_call_values *values,
			const struct swz_value *value)
{
	bool cut = value->type->flags & SWZ_TYPE_IS_CUT;
	struct swz_text field = {0};
	const char *name;
	uint32_t i;

	if (value->type->kind != SWZ_TYPE_STRUCT || value->text.bytes ||
	    !value->plain.bytes || value->plain.bad ||
	    !has_texts(values, value)) {
		swz_value_print(text, binding, value);
		return;
	}
	swz_text_put_plain(text, "{");
	for (i = 0; i < value->type->members; i++) {
		swz_text_clear(&field);
		name = swz_object_field(&field, binding, values, value, i);
		swz_text_put(text, "%s%s%s%s", i ? ", " : "", name,
			     *name ? " = " : "", field.text);
	}
	swz_text_put_plain(text, cut ? i ? ", ...}" : "...}" : "}");
	swz_text_free(&field);
}

/* True if a null pointer leads to it. */
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
			swz_value_print_of(text, binding, values, value);
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

		if (!is_field_of(value, object) ||
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
