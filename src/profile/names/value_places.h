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

/* At the return: what PART's place points at, which the function may have
 * written to. */
void swz_place_written(struct swz_placing *p, struct swz_value_part part,
		       Dwarf_Die *type);

/* A value of class INTEGER that is one register or word, at PART's place. */
void swz_place_scalar(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *type, bool entered);

/* dump_this: the object of a method (value_places.c). */
void swz_place_dumped(struct swz_placing *p, struct swz_value_part part,
		      Dwarf_Die *pointer);

#endif
