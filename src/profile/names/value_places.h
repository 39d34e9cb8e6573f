#ifndef SWZ_PROFILE_NAMES_VALUE_PLACES_H
#define SWZ_PROFILE_NAMES_VALUE_PLACES_H

/* The parts of one function's signature, as they are given out: registers, the
 * stack, and memory that these lead to. */

#include "profile/names/signature_builder.h"

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

/* The wish chooses what there is of ARGUMENT: the parts that were placed since
 * SINCE stay, or fields alone take their place; others are added. */
void swz_place_chosen(struct swz_placing *p, Dwarf_Die *argument,
		      const struct swz_placed *since);

#endif
