#ifndef SWZ_PROFILE_NAMES_VALUE_TYPES_H
#define SWZ_PROFILE_NAMES_VALUE_TYPES_H

/* Where the arguments and results of functions lie, by their types in the debug
 * information (SysV ABI for x86-64, 3.2.3; Itanium C++ ABI, 3.1): at the first
 * instruction, where no location list is of use. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/values.h"

/* Signatures that are being collected. */
struct swz_signature_builder {
	struct swz_signature *signatures;
	size_t count, capacity;
	struct swz_value_part *parts;
	size_t part_count, part_capacity;
	struct swz_value_type *types;
	Dwarf_Off *type_offsets; /* of each type's entry */
	size_t type_count, type_capacity, offset_capacity;
	struct swz_value_member *members;
	size_t member_count, member_capacity;
	char *text;
	size_t text_bytes, text_capacity;
};

void swz_signature_builder_free(struct swz_signature_builder *builder);

/* Adds the signature of a function at an ELF address; FUNCTION is its entry.
 * False: nothing of it can be recorded, or nothing is to be. */
bool swz_signature_add(struct swz_signature_builder *builder,
		       Dwarf_Die *function, uint64_t address);

#endif
