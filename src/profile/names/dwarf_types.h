#ifndef SWZ_PROFILE_NAMES_DWARF_TYPES_H
#define SWZ_PROFILE_NAMES_DWARF_TYPES_H

/* Types in debug information (DWARF 5, chapter 5). Nothing here is kept:
 * entries are the caller's. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile/names/signature_builder.h"

/* --- entries of the debug information ------------------------------------ */

/* The type of an entry, or of the one that it is made from. False: void. */
bool swz_die_type(Dwarf_Die *die, Dwarf_Die *type);

/* Goes past names of types and qualifiers. False: void. */
bool swz_die_peel(Dwarf_Die *type);

bool swz_die_is_const(Dwarf_Die *type);

/* An attribute that is a number or a flag. */
Dwarf_Word swz_die_number(Dwarf_Die *die, unsigned name, Dwarf_Word otherwise);

/* In bytes; 0: it is not known. */
uint64_t swz_die_size(Dwarf_Die *type);

/* True for the tags of a struct, class or union; of a reference. */
bool swz_tag_is_class(int tag);
bool swz_tag_is_reference(int tag);

/* The source file that declares it; NULL: not known. (dwarf_decl_file of
 * elfutils 0.188 aborts for units of .dwo files.) */
const char *swz_die_file(Dwarf_Die *die);

/* True if the type's name begins so. */
bool swz_die_is_named(Dwarf_Die *type, const char *begin);

/* The member that PATH names, "a.b", also one of a base: where it lies, and its
 * type. DEPTH is 0. */
bool swz_die_member(Dwarf_Die *of, const char *path, uint64_t *offset,
		    Dwarf_Die *type, unsigned depth);

/* The first template argument that is a type. */
bool swz_die_template_type(Dwarf_Die *type, Dwarf_Die *argument);

/* Finds what tells the variants of a Rust enum with data. */
bool swz_die_variant_part(Dwarf_Die *type, Dwarf_Die *part);

/* The first bit of a bit-field of BITS, whose type is TYPE: since DWARF 4 from
 * the beginning of the struct; before that from the upper end of a unit of
 * storage. */
Dwarf_Word swz_die_first_bit(Dwarf_Die *field, Dwarf_Die *type,
			     Dwarf_Word bits);

/* --- types of libstdc++, libc++ and Rust's library ----------------------- */

/* Types of libraries and languages whose objects are shown as what they stand
 * for. */

/* libstdc++'s std::string: of its two layouts the older is a pointer alone. */
bool swz_is_std_string(Dwarf_Die *type);
bool swz_is_std_view(Dwarf_Die *type); /* std::string_view */

/* Rust's &str: a pointer, then the length. */
bool swz_is_rust_str(Dwarf_Die *type);

/* Rust's String: where its text's address and length lie. */
bool swz_is_rust_string(Dwarf_Die *type, uint64_t *text, uint64_t *length);

/* std::unique_ptr and std::shared_ptr: where the pointer lies. libstdc++ has a
 * deleter that is not empty before it. */
bool swz_smart_pointer(Dwarf_Die *type, uint64_t *offset);

/* --- types as the profile holds them ------------------------------------- */

/* Types of values, as swizzle-dump shows them later without the debug
 * information. They are added to a builder's, each once. */

/* Returns its number. OF is peeled. DEPTH: of types around it. */
uint32_t swz_value_type_add(struct swz_signature_builder *b, Dwarf_Die *of,
			    unsigned depth);

/* The same of a type that is not peeled: a number that a typedef names has a
 * type of that name, so that the configuration can say what it stands for. */
uint32_t swz_value_type_named(struct swz_signature_builder *b, Dwarf_Die *of,
			      unsigned depth);

/* One without members; OFFSET: of its entry, 0: it is found by nobody. */
uint32_t swz_value_type_new(struct swz_signature_builder *b, uint64_t key,
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
