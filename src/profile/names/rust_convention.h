#ifndef SWZ_PROFILE_NAMES_RUST_CONVENTION_H
#define SWZ_PROFILE_NAMES_RUST_CONVENTION_H

#include <elfutils/libdw.h>
#include <stdbool.h>

bool swz_is_rust(Dwarf_Die *function);

/* Rust's own convention is not that of C: parts of an object may have a
 * register each, and one of more than 16 bytes is passed by its address. This
 * much is the same: numbers, pointers, and two words. */
bool swz_rust_is_plain(Dwarf_Die *type);

#endif
