#ifndef SWZ_PROFILE_NAMES_SIGNATURE_BUILDER_H
#define SWZ_PROFILE_NAMES_SIGNATURE_BUILDER_H

/* Where the arguments and results of functions lie, by their types in the debug
 * information: at the first instruction, where no location list is of use. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/values.h"
#include "options/config_file.h"

/* Signatures that are being collected. */
struct swz_signature_builder {
	struct swz_signature *signatures;
	size_t count, capacity;
	struct swz_value_part *parts;
	size_t part_count, part_capacity;
	struct swz_value_type *types;
	uint64_t *type_keys; /* of each type's entry; 0: it has none */
	size_t type_count, type_capacity, key_capacity;
	struct swz_value_member *members;
	size_t member_count, member_capacity;
	char *text;
	size_t text_bytes, text_capacity;
	const struct swz_config_file *config; /* its printers; or NULL */
	struct swz_value_check *checks;
	size_t check_count, check_capacity;
};

void swz_signature_builder_free(struct swz_signature_builder *builder);

/* What is recorded besides, or alone. */
struct swz_signature_wish {
	bool object; /* of methods the object; of others the argument that a
		      * field begins with */
	char *const *fields; /* of these alone, if there are any */
	size_t field_count;
	/* Of these arguments and fields alone, if there are any. */
	const char *const *arguments;
	size_t argument_count;
	char *const *more; /* and of these besides */
	size_t more_count;
};

/* Adds the signature of a function at an ELF address; FUNCTION is its entry.
 * WISH may be NULL. False: nothing of it can be recorded. */
bool swz_signature_add(struct swz_signature_builder *builder,
		       Dwarf_Die *function, uint64_t address,
		       const struct swz_signature_wish *wish);

/* Checks a condition of an argument of the signature that was added last, if it
 * can be decided when a call begins. */
void swz_signature_add_check(struct swz_signature_builder *builder,
			     const struct swz_condition *condition);

/* One of a caller that has a mark. */
void swz_signature_add_backtrace(struct swz_signature_builder *builder,
				 unsigned levels, unsigned mark);

#endif
