#ifndef SWZ_PROFILE_NAMES_RUST_CONVENTION_H
#define SWZ_PROFILE_NAMES_RUST_CONVENTION_H

/* Where functions of Rust's own convention get what they are passed, and leave
 * their result. It is not fixed by anything: rustc 1.63 and 1.95 agree in this
 * (rustc_ty_utils, "fn_abi_adjust_for_abi"). */

#include "profile/names/value_places.h"

enum swz_rust_function {
	SWZ_RUST_NONE,   /* it is of another language */
	SWZ_RUST_OWN,    /* its name is mangled: of Rust's own convention */
	SWZ_RUST_EITHER, /* or of C's, or it spreads a tuple: only what all of
			  * them pass alike is known */
};

enum swz_rust_function swz_rust_function(Dwarf_Die *function);

/* True if both conventions pass the type alike: a number, a pointer, two words.
 */
bool swz_rust_is_plain(Dwarf_Die *type);

/* Begins with the result, for which there may be a first register that says
 * where it is to lie. False: nothing is known of the function. */
bool swz_rust_begin(struct swz_placing *p, Dwarf_Die *result, bool *by_address);

/* The next argument. False: from here on it is not known where they lie. */
bool swz_rust_argument(struct swz_placing *p, Dwarf_Die *argument);

/* After all arguments. */
void swz_rust_result(struct swz_placing *p, Dwarf_Die *type, bool by_address);

#endif
