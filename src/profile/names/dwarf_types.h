#ifndef SWZ_PROFILE_NAMES_DWARF_TYPES_H
#define SWZ_PROFILE_NAMES_DWARF_TYPES_H

/* What debug information says of types (DWARF 5, chapter 5). Nothing here is
 * kept: entries are the caller's. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* The type of an entry, or of the one that it is made from. False: void. */
bool swz_die_type(Dwarf_Die *die, Dwarf_Die *type);

/* Goes past names of types and qualifiers. False: void. */
bool swz_die_peel(Dwarf_Die *type);

bool swz_die_is_const(Dwarf_Die *type);

/* An attribute that is a number or a flag. */
Dwarf_Word swz_die_number(Dwarf_Die *die, unsigned name, Dwarf_Word otherwise);

/* In bytes; 0: it is not known. */
uint64_t swz_die_size(Dwarf_Die *type);

/* Of tags: a struct, class or union; a reference. */
bool swz_tag_is_class(int tag);
bool swz_tag_is_reference(int tag);

/* Whether the type's name begins so. */
bool swz_die_is_named(Dwarf_Die *type, const char *begin);

bool swz_die_has_member(Dwarf_Die *type, const char *name);

/* The member that PATH names, "a.b", also one of a base: where it lies, and its
 * type. DEPTH is 0. */
bool swz_die_member(Dwarf_Die *of, const char *path, uint64_t *offset,
		    Dwarf_Die *type, unsigned depth);

/* The first template argument that is a type. */
bool swz_die_template_type(Dwarf_Die *type, Dwarf_Die *argument);

/* Of a Rust enum with data: what tells its variants. */
bool swz_die_variant_part(Dwarf_Die *type, Dwarf_Die *part);

/* The first bit of a bit-field of BITS, whose type is TYPE: since DWARF 4 from
 * the beginning of the struct; before that from the upper end of a unit of
 * storage. */
Dwarf_Word swz_die_first_bit(Dwarf_Die *field, Dwarf_Die *type,
			     Dwarf_Word bits);

#endif
