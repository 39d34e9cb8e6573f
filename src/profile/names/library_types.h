#ifndef SWZ_PROFILE_NAMES_LIBRARY_TYPES_H
#define SWZ_PROFILE_NAMES_LIBRARY_TYPES_H

/* Types of libraries and languages whose objects are shown as what they stand
 * for. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif
