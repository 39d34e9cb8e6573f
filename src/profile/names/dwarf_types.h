#ifndef SWZ_PROFILE_NAMES_DWARF_TYPES_H
#define SWZ_PROFILE_NAMES_DWARF_TYPES_H

/* Types in debug information (DWARF 5, chapter 5). Nothing here is kept:
 * entries are the caller's. */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/names/function_rules.h"
#include "swizzle/values.h"

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

/* --- where a value lies -------------------------------------------------- */

/* The parts of one function's signature, as they are given out: registers, the
 * stack, and memory that these lead to. */

#define SWZ_MOST_OBJECT_BYTES 128u
#define SWZ_MOST_TEXTS 16u /* of an object, with dump_this */

/* How far the registers and the stack have been given out. */
struct swz_placing {
	struct swz_signature_builder *b;
	unsigned integers, vectors, kept, value;
	int32_t stack;
	size_t first;     /* of the parts */
	bool splits_wide; /* by clang before its version 18 */
	bool either;      /* it may be of Rust's convention, or of C's */
	/* out-parameters, and what is read of the object */
	struct swz_value_part returns[SWZ_MOST_KEPT + SWZ_MOST_TEXTS];
	unsigned return_count;
	const char *function; /* its name, without the class; or NULL */
	bool is_this; /* the argument is the object of a method, or shown as
		       * one */
	bool dumped;  /* there was one: dump_this is of one object */
	Dwarf_Die *result; /* its type, with the names that typedefs give */
	const struct swz_signature_wish *wish; /* or NULL */
};

/* The place of the next argument that is one word. */
void swz_next_integer(struct swz_placing *p, struct swz_value_part *part);
void swz_next_vector(struct swz_placing *p, struct swz_value_part *part);

/* A place as another part's `other` says it. */
uint16_t swz_place_number(const struct swz_value_part *part);

void swz_place_part(struct swz_placing *p, struct swz_value_part part);

/* An object, or text in it, that PART's place points at; and what that leads to
 * if it is a smart pointer. ENTERED: of an argument. */
void swz_place_object(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *type, bool entered);

/* Texts that fields of a struct that is passed by value lead to. PARTS has its
 * COUNT registers, or the place on the stack. */
void swz_place_value_texts(struct swz_placing *p,
			   const struct swz_value_part *parts, size_t count,
			   Dwarf_Die *type);

/* At the return: what PART's place points at, which the function may have
 * written to. */
void swz_place_written(struct swz_placing *p, struct swz_value_part part,
		       Dwarf_Die *type);

/* A value of class INTEGER that is one register or word, at PART's place. */
void swz_place_scalar(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *type, bool entered);

/* dump_this: the object that an argument points at, which NAME calls.
 * True if there is one. */
bool swz_place_dumped(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *pointer, const char *name);

/* True if dump_this names the argument, as in "ctx" or "ctx->depth". */
bool swz_is_dumped(const struct swz_placing *p, const char *name);

/* Lets PART, whose place points at an object, have what is recorded of it;
 * TYPE: the object's. */
void swz_place_fill(struct swz_placing *p, struct swz_value_part *part,
		    Dwarf_Die *type);

/* The same part at the return: what its place points at is read again. There
 * must be room (SWZ_MOST_KEPT). */
void swz_place_kept(struct swz_placing *p, struct swz_value_part part);

/* --- arguments that are chosen (signature_builder.c)
 * --------------------------- */

/* How far a signature was when an argument began. */
struct swz_placed {
	size_t parts;
	unsigned kept, returns;
};

/* How the C and C++ conventions see a type (SysV ABI for x86-64, 3.2.3; Itanium
 * C++ ABI, 3.1). */

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
