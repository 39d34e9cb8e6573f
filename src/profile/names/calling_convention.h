#ifndef SWZ_PROFILE_NAMES_CALLING_CONVENTION_H
#define SWZ_PROFILE_NAMES_CALLING_CONVENTION_H

/* How the C and C++ conventions see a type (SysV ABI for x86-64, 3.2.3; Itanium
 * C++ ABI, 3.1). */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/values.h"
#include "profile/names/value_places.h"

/* --- classes of the System V ABI ----------------------------------------- */

enum swz_abi_class {
	SWZ_ABI_NONE,
	SWZ_ABI_INTEGER,
	SWZ_ABI_SSE,
	SWZ_ABI_MEMORY,
	SWZ_ABI_X87
};

/* Adds to the classes of the two halves of an object those of its parts. False:
 * it has too many of them, and nothing is known. */
bool swz_abi_classify(Dwarf_Die *type, enum swz_abi_class halves[2]);

/* Objects with a copy constructor or a destructor of their own are passed by
 * the address of a copy. Clang says which those are. */
bool swz_abi_by_address(Dwarf_Die *type);

/* --- locations that the debug information states ------------------------- */

/* Where the debug information itself says that an argument lies at the first
 * instruction: seldom all of it, and with optimisation only. Compilers drop
 * arguments that a function does not need, and older ones do not say so; then
 * those behind it have moved. */

/* True if a register is not the one that PARTS of the argument say. */
bool swz_entry_differs(Dwarf_Die *function, Dwarf_Die *declared,
		       const struct swz_value_part *parts, size_t count);

/* --- C and C++ ----------------------------------------------------------- */

/* Where C and C++ pass what they pass: the next argument, and the result. */

/* False: from here on it is not known where arguments lie. */
bool swz_c_argument(struct swz_placing *p, Dwarf_Die *argument);

/* _Complex long double, which returns in two registers of the x87. */
bool swz_c_is_wide_complex(Dwarf_Die *type);

/* BY_ADDRESS: it lies where the first register said. */
void swz_c_result(struct swz_placing *p, Dwarf_Die *type, bool by_address,
		  enum swz_abi_class halves[2]);

/* --- Fortran ------------------------------------------------------------- */

/* gfortran passes nearly everything by its address, arrays of a shape that is
 * not known by that of a descriptor, and behind all arguments the lengths of
 * texts. The debug information has the types of what lies there. Whether it is
 * the address that is passed (no `value`), the location at the first
 * instruction tells. */

bool swz_is_fortran(Dwarf_Die *function);

/* The next argument, as it is declared. False: from here on it is not known
 * where they lie. */
bool swz_fortran_argument(struct swz_placing *p, Dwarf_Die *function,
			  Dwarf_Die *argument);

/* After all arguments: what has no length that is known is no text. */
void swz_fortran_end(struct swz_placing *p);

/* --- Rust's own convention ------------------------------------------------ */

/* Where functions of Rust's own convention get what they are passed, and leave
 * their result. It is not fixed by anything: rustc 1.63 and 1.95 agree in this
 * (rustc_ty_utils, "fn_abi_adjust_for_abi"). */

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
