#ifndef SWZ_PROFILE_NAMES_VALUE_PRINT_H
#define SWZ_PROFILE_NAMES_VALUE_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "options/config_file.h"
#include "profile/file/reader.h"
#include "profile/file/values.h"
#include "profile/names/catalog.h"

/* --- text that grows ----------------------------------------------------- */

/* Text that grows; begins with zeros. */
struct swz_text {
	char *text; /* with a NUL, once there is any */
	size_t size, capacity;
};
void swz_text_clear(struct swz_text *text);
void swz_text_add(struct swz_text *text, const char *bytes, size_t size);
void swz_text_put(struct swz_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void swz_text_put_plain(struct swz_text *text, const char *s);
void swz_text_free(struct swz_text *text);

/* --- values -------------------------------------------------------------- */

/* Arguments and results as text: the same in all formats. */

/* Adds the value. The binding's catalog names functions that pointers lead
 * to; it may get more of them. */
void swz_value_print(struct swz_text *text, struct swz_binding *binding,
		     const struct swz_value *value);

/* The same of one of VALUES, which may have texts that its fields lead to. */
void swz_value_print_of(struct swz_text *text, struct swz_binding *binding,
			const struct swz_call_values *values,
			const struct swz_value *value);

/* Prints an object that a method is called on, one of VALUES. */
typedef void swz_print_object(void *context, struct swz_text *text,
			      struct swz_binding *binding,
			      const struct swz_call_values *values,
			      const struct swz_value *object);

/* Adds "name = value, name = value": all arguments, and what they point at as
 * "*name"; of a return these alone. Objects are printed by OBJECT. */
void swz_arguments_print(struct swz_text *text, struct swz_binding *binding,
			 const struct swz_call_values *values,
			 swz_print_object *object, void *context);

/* True if it is the object of a method (dump_this). */
static inline bool swz_value_is_object(const struct swz_value *value)
{
	return value->pointed && value->type->flags & SWZ_TYPE_IS_OBJECT;
}

/* Reads a field of such an object, one of VALUES; INDEX is less than the
 * members of its type. Returns the field's name. */
const char *swz_object_field(struct swz_text *text, struct swz_binding *binding,
			     const struct swz_call_values *values,
			     const struct swz_value *object, uint32_t index);

/* --- parts of values ------------------------------------------------------ */

/* The name in an enum: of a number, of a variant with data. NULL: it is not
 * known. */
const char *swz_value_member_name(const struct swz_value *value,
				  const struct swz_value_type *type,
				  int64_t number);

/* The variant that there is in these SIZE bytes of TYPE; NULL: none. */
const struct swz_value_member *swz_value_variant(
	const struct swz_value *value, const struct swz_value_type *type,
	const uint8_t *bytes, size_t size);

/* Up to 8 bytes as a number, the sign extended if it has one. */
int64_t swz_value_read(const uint8_t *bytes, size_t size, bool is_signed);

/* A whole number that the value is or stands for. False: it is none. */
bool swz_value_number(const struct swz_value *value, int64_t *number);

/* A floating-point number that the value is. False: it is none. */
bool swz_value_real(const struct swz_value *value, double *number);

/* --- results that tell of errors (function_rules.c)
 * --------------------------- */

/* The result among the values of a return; NULL: there is none. */
const struct swz_value *swz_value_result(const struct swz_call_values *values);

/* True if a result says that something went wrong, as far as its type tells: a
 * negative number, -1, NULL, false, an error of an enum. */
bool swz_value_is_exceptional(const struct swz_value *result);

/* The exception's type, for people. */
void swz_exception_print(struct swz_text *text, const char *mangled);

/* --- types that the configuration names ----------------------------------- */

/* [type@PATTERN] of the configuration: what the numbers of a type stand for. */

/* Flags of types beside those of swizzle/values.h, which no file has. */
#define SWZ_TYPE_SHOWS_HEX 32u /* an enum: values without a name */
#define SWZ_TYPE_SHOWS_OCTAL 64u
#define SWZ_TYPE_SHOWS_UNSIGNED 128u

/* Changes the types of a profile's values as CONFIG, which must outlive it,
 * says. */
void swz_type_rules_apply(struct swz_profile *profile,
			  const struct swz_config_file *config);

#endif
