#ifndef SWZ_PROFILE_NAMES_LIBRARY_TYPES_H
#define SWZ_PROFILE_NAMES_LIBRARY_TYPES_H

/* Types of libraries and languages whose objects are shown as what they stand
 * for. */

#include <elfutils/libdw.h>
#include <stdbool.h>

/* libstdc++'s std::string: of its two layouts the older is a pointer alone. */
bool swz_is_std_string(Dwarf_Die *type);
bool swz_is_std_view(Dwarf_Die *type); /* std::string_view */

/* Rust's &str: a pointer, then the length. */
bool swz_is_rust_str(Dwarf_Die *type);

#endif
