#ifndef SWZ_PROFILE_NAMES_VALUE_TYPES_H
#define SWZ_PROFILE_NAMES_VALUE_TYPES_H

/* Types of values, as swizzle-dump shows them later without the debug
 * information. They are added to a builder's, each once. */

#include "profile/names/signature_builder.h"

/* Returns its number. OF is peeled. DEPTH: of types around it. */
uint32_t swz_value_type_add(struct swz_signature_builder *b, Dwarf_Die *of,
			    unsigned depth);

/* One without members; OFFSET: of its entry, 0: it is found by nobody. */
uint32_t swz_value_type_new(struct swz_signature_builder *b, Dwarf_Off offset,
			    enum swz_type_kind kind, uint64_t bytes);

/* Gives a type its members, which follow each other. */
void swz_value_type_members(struct swz_signature_builder *b, uint32_t type,
			    const struct swz_value_member *members,
			    unsigned count);

/* Where a field lies, which may be a bit-field; without name and type. */
struct swz_value_member swz_member_place(Dwarf_Die *field, Dwarf_Die *type);

enum swz_type_kind swz_value_base_kind(Dwarf_Die *type);

/* Where it lies among the builder's text. NULL: 0. */
uint32_t swz_signature_add_text(struct swz_signature_builder *b,
				const char *text);

#endif
