/* A signature says where one function's arguments and result lie and what is
 * read of them. It is built from the types in the debug information; a
 * condition that can be decided at the entry becomes a check beside it. */

#include "profile/names/function_rules.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/config_file.h"
#include "profile/names/dwarf_types.h"
#include "swizzle/values.h"
#include "util/memory.h"

/* --- values behind pointers ----------------------------------------------- */

/* list_args = n, req.uri, ctx->depth and watch = ...: fields of an argument in
 * place of all of it. A path is followed through types; a recorded value can go
 * through the argument's pointer and one more, as the runtime reads them. */

#define MOST_PATH 256u /* bytes */

/* Returns the rest behind an argument's name: "" or what begins with . or ->;
 * NULL: the path is of another one. */
static const char *behind(const char *path, const char *name)
{
	size_t length = name ? strlen(name) : 0;

	path += *path == '*';
	if (!length || strncmp(path, name, length) != 0 ||
	    (path[length] && path[length] != '.' && path[length] != '-'))
		return NULL;
	return path + length;
}

/* Where a path has come to. */
struct way {
	struct swz_value_part part;
	Dwarf_Die type;                      /* of the struct, peeled */
	bool by_pointer;                     /* the part's place points at it */
	const struct swz_value_part *halves; /* else: its registers, or its */
	size_t half_count;                   /* place on the stack */
};

/* The words of ->: the next one, and whether another follows. */
static const char *next_word(const char *path, char word[MOST_PATH], bool *more)
{
	const char *arrow;
	size_t length;

	path += *path == '.' ? 1 : *path == '-' ? 2 : 0;
	arrow = strstr(path, "->");
	length = arrow ? (size_t)(arrow - path) : strlen(path);
	if (length >= MOST_PATH)
		length = MOST_PATH - 1;
	memcpy(word, path, length);
	word[length] = '\0';
	*more = arrow != NULL;
	return path + length;
}

/* The argument is the struct itself: its place is the register, or the word of
 * the stack, that the field lies in. */
static bool enter_half(struct way *w, uint64_t offset)
{
	bool on_stack = w->half_count && w->halves[0].place == SWZ_PLACE_STACK;
	size_t at = (size_t)offset / 8;

	if (offset % 8 || (!on_stack && at >= w->half_count) ||
	    offset > INT16_MAX)
		return false;
	w->part.place = w->halves[on_stack ? 0 : at].place;
	w->part.offset = on_stack ? w->halves[0].offset + (int32_t)offset : 0;
	return true;
}

static bool is_text(struct swz_placing *p, uint32_t type, Dwarf_Die *of)
{
	return p->b->types[type].kind == SWZ_TYPE_STRING &&
	       dwarf_tag(of) == DW_TAG_pointer_type;
}

/* The part is of the field at OFFSET, of TYPE. */
static bool end_way(struct swz_placing *p, struct way *w, uint64_t offset,
		    Dwarf_Die *named)
{
	struct swz_value_part *part = &w->part;
	Dwarf_Die type = *named;

	if (!swz_die_peel(&type) || !swz_die_size(&type) || offset > INT16_MAX)
		return false;
	part->type = swz_value_type_named(p->b, named, 0);
	if (!w->by_pointer) {
		if (!enter_half(w, offset) ||
		    swz_die_size(&type) > (w->part.place == SWZ_PLACE_STACK
						   ? SWZ_MOST_OBJECT_BYTES
						   : 8))
			return false;
		part->kind = is_text(p, part->type, &type) ? SWZ_PART_STRING
							   : SWZ_PART_PLAIN;
		part->bytes = (uint16_t)swz_die_size(&type);
		return true;
	}
	/* (on the stack the offset is that of the pointer) */
	if (part->place == SWZ_PLACE_STACK)
		return false;
	part->offset = 0;
	if (is_text(p, part->type, &type)) {
		part->kind = SWZ_PART_FIELD;
		part->bytes = 8;
	} else if (swz_tag_is_class(dwarf_tag(&type))) {
		swz_place_fill(p, part, &type);
		part->other += (uint16_t)offset;
	} else {
		part->kind = SWZ_PART_MEMORY;
		part->bytes = (uint16_t)(swz_die_size(&type) <
							 SWZ_MOST_OBJECT_BYTES
						 ? swz_die_size(&type)
						 : SWZ_MOST_OBJECT_BYTES);
	}
	part->offset += (int32_t)offset;
	return part->kind != SWZ_PART_MEMORY || part->bytes;
}

/* Goes on to what a pointer at OFFSET leads to. */
static bool follow(struct way *w, uint64_t offset, Dwarf_Die *pointer)
{
	Dwarf_Die to = *pointer;

	if (!swz_die_peel(&to) || dwarf_tag(&to) != DW_TAG_pointer_type ||
	    !swz_die_type(&to, &w->type) || !swz_die_peel(&w->type))
		return false;
	if (!w->by_pointer) {
		w->by_pointer = true;
		return enter_half(w, offset);
	}
	if (w->part.through || offset >= UINT16_MAX)
		return false; /* the runtime goes through two */
	w->part.through = (uint16_t)(offset + 1);
	return true;
}

/* False: the path leads nowhere, or too far. */
static bool walk(struct swz_placing *p, struct way *w, const char *rest)
{
	char word[MOST_PATH];
	uint64_t offset;
	Dwarf_Die member;
	bool more;

	do {
		rest = next_word(rest, word, &more);
		if (!swz_tag_is_class(dwarf_tag(&w->type)) ||
		    !swz_die_member(&w->type, word, &offset, &member, 0))
			return false;
		if (!more)
			return end_way(p, w, offset, &member);
	} while (follow(w, offset, &member));
	return false;
}

static void place_path(struct swz_placing *p, Dwarf_Die *argument,
		       const struct swz_value_part *halves, size_t half_count,
		       const char *path, const char *rest)
{
	struct way w = {.halves = halves, .half_count = half_count};
	bool constant = false;
	Dwarf_Die type;

	if (!half_count || !swz_die_type(argument, &type) ||
	    !swz_die_peel(&type))
		return;
	w.type = type;
	if (dwarf_tag(&type) == DW_TAG_pointer_type ||
	    swz_tag_is_reference(dwarf_tag(&type))) {
		if (!swz_die_type(&type, &w.type))
			return;
		constant = swz_die_is_const(&w.type);
		w.by_pointer = true;
		if (!swz_die_peel(&w.type))
			return;
	} else if (swz_abi_by_address(&type)) {
		w.by_pointer = true;
	}
	w.part.place = halves[0].place;
	w.part.offset = halves[0].offset;
	w.part.name = swz_signature_add_text(p->b, path);
	if (!walk(p, &w, rest))
		return;
	w.part.value = (uint16_t)p->value++;
	swz_place_part(p, w.part);
	if (w.by_pointer && !constant && p->kept < SWZ_MOST_KEPT)
		swz_place_kept(p, w.part);
}

/* True if all of the argument is asked for. */
static bool is_whole(const struct swz_placing *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->wish->argument_count; i++) {
		const char *rest = behind(p->wish->arguments[i], name);

		if (rest && !*rest)
			return true;
	}
	return !p->wish->argument_count || swz_is_dumped(p, name);
}

/* The wish chooses what there is of ARGUMENT: the parts that were placed since
 * SINCE stay, or fields alone take their place; others are added. */
static void place_chosen(struct swz_placing *p, Dwarf_Die *argument,
			 const struct swz_placed *since)
{
	const struct swz_signature_wish *wish = p->wish;
	const char *name = dwarf_diename(argument), *rest;
	struct swz_value_part halves[2];
	size_t count, i;

	for (count = 0;
	     count < 2 && since->parts + count < p->b->part_count &&
	     (!count ||
	      (!p->b->parts[since->parts + count].pointed &&
	       p->b->parts[since->parts + count].kind == SWZ_PART_PLAIN));
	     count++)
		halves[count] = p->b->parts[since->parts + count];
	if (!is_whole(p, name)) {
		p->b->part_count = since->parts;
		p->kept = since->kept;
		p->return_count = since->returns;
	}
	for (i = 0; i < wish->argument_count; i++)
		if ((rest = behind(wish->arguments[i], name)) && *rest)
			place_path(p, argument, halves, count,
				   wish->arguments[i], rest);
	for (i = 0; i < wish->more_count; i++)
		if ((rest = behind(wish->more[i], name)) && *rest)
			place_path(p, argument, halves, count, wish->more[i],
				   rest);
}

/* --- signatures ---------------------------------------------------------- */

#define MOST_PARTS 64u /* of a function's entry */

void swz_signature_builder_free(struct swz_signature_builder *b)
{
	free(b->signatures);
	free(b->parts);
	free(b->types);
	free(b->type_keys);
	free(b->members);
	free(b->text);
	free(b->checks);
}

/* Before its version 18 clang has rules of its own for a number of 128 bits
 * that does not fit in registers. */
static bool splits_wide(Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	const char *producer, *at;
	Dwarf_Die unit;

	if (!dwarf_diecu(function, &unit, NULL, NULL) ||
	    !dwarf_attr(&unit, DW_AT_producer, &attribute) ||
	    !(producer = dwarf_formstring(&attribute)) ||
	    !(at = strstr(producer, "clang version ")))
		return false;
	return strtoul(at + strlen("clang version "), NULL, 10) < 18;
}

/* The argument in the convention of the function's language. */
struct convention {
	enum swz_rust_function rust;
	bool fortran;
	enum swz_abi_class halves[2]; /* of the result, in C's */
	bool by_address;              /* the result's */
};

/* Before the arguments: the result may take the first register. False: nothing
 * is known. RESULT: NULL if there is none. */
static bool begin(struct convention *c, struct swz_placing *p,
		  Dwarf_Die *function, Dwarf_Die *result)
{
	c->rust = swz_rust_function(function);
	c->fortran = swz_is_fortran(function);
	p->splits_wide = splits_wide(function);
	p->either = c->rust == SWZ_RUST_EITHER;
	if (c->rust == SWZ_RUST_OWN)
		return swz_rust_begin(p, result, &c->by_address);
	if (!result)
		return true;
	if (p->either && !swz_rust_is_plain(result))
		return false;
	if (swz_c_is_wide_complex(result)) {
		c->halves[0] = SWZ_ABI_X87;
		return true;
	}
	if (!swz_abi_classify(result, c->halves))
		return false;
	c->by_address = c->halves[0] == SWZ_ABI_MEMORY ||
			c->halves[1] == SWZ_ABI_MEMORY ||
			swz_abi_by_address(result);
	p->integers = c->by_address; /* where it is to lie */
	return true;
}

/* False: from here on it is not known where they lie. */
static bool add_argument(struct convention *c, struct swz_placing *p,
			 Dwarf_Die *function, Dwarf_Die *argument)
{
	if (c->rust == SWZ_RUST_OWN)
		return swz_rust_argument(p, argument);
	if (c->fortran)
		return swz_fortran_argument(p, function, argument);
	return swz_c_argument(p, argument);
}

/* False: the compiler has changed what the function gets. */
static bool add_arguments(struct convention *c, struct swz_placing *p,
			  Dwarf_Die *function, Dwarf_Die *declared)
{
	struct swz_signature_builder *b = p->b;
	struct swz_placed since;
	bool known = true;
	Dwarf_Die child;
	size_t before;

	if (dwarf_child(declared, &child) != 0)
		return true;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		before = b->part_count;
		since = (struct swz_placed){before, p->kept, p->return_count};
		known = before - p->first < MOST_PARTS &&
			add_argument(c, p, function, &child);
		if (swz_entry_differs(function, &child, b->parts + before,
				      b->part_count - before))
			return false;
		if (known && p->wish)
			place_chosen(p, &child, &since);
	} while (known && dwarf_siblingof(&child, &child) == 0);
	if (c->fortran)
		swz_fortran_end(p);
	return true;
}

static void add_result(struct convention *c, struct swz_placing *p,
		       Dwarf_Die *result)
{
	unsigned i;

	if (result && c->rust == SWZ_RUST_OWN)
		swz_rust_result(p, result, c->by_address);
	else if (result && (c->halves[0] != SWZ_ABI_NONE || c->by_address))
		swz_c_result(p, result, c->by_address, c->halves);
	for (i = 0; i < p->return_count; i++)
		swz_place_part(p, p->returns[i]);
}

bool swz_signature_add(struct swz_signature_builder *b, Dwarf_Die *function,
		       uint64_t address, const struct swz_signature_wish *wish)
{
	struct swz_placing p = {.b = b, .first = b->part_count, .wish = wish};
	struct swz_signature signature = {.function = (uint32_t)address,
					  .first = (uint32_t)b->part_count};
	Dwarf_Die declared = *function, type, named, *result = NULL;
	struct convention c = {0};
	Dwarf_Attribute origin;

	/* in the order of the declaration: what was optimised out is missing
	 * where the code is */
	if (dwarf_attr(function, DW_AT_abstract_origin, &origin))
		(void)dwarf_formref_die(&origin, &declared);
	if (swz_die_number(&declared, DW_AT_calling_convention, 0) ==
	    DW_CC_nocall)
		return false;
	if (swz_die_type(&declared, &type)) {
		named = type;
		p.result = &named;
		if (swz_die_peel(&type) && swz_die_size(&type))
			result = &type;
	}
	p.function = dwarf_diename(&declared);
	if (!begin(&c, &p, function, result))
		return false;
	if (!add_arguments(&c, &p, function, &declared)) {
		b->part_count = p.first;
		return false;
	}
	signature.entry_parts = (uint16_t)(b->part_count - p.first);
	add_result(&c, &p, result);
	signature.return_parts = (uint16_t)(b->part_count - p.first -
					    signature.entry_parts);
	if (b->part_count == p.first)
		return false;
	swz_grow(&b->signatures, &b->capacity, b->count,
		 sizeof(*b->signatures));
	b->signatures[b->count++] = signature;
	return true;
}

/* --- checks of conditions ------------------------------------------------ */

static void add_check(struct swz_signature_builder *b,
		      struct swz_value_check check)
{
	check.signature = (uint32_t)b->count - 1;
	swz_grow(&b->checks, &b->check_capacity, b->check_count,
		 sizeof(*b->checks));
	b->checks[b->check_count++] = check;
}

static bool is_called(const struct swz_signature_builder *b,
		      const struct swz_value_part *part, const char *name)
{
	return (*name == '*') == (part->pointed != 0) &&
	       strcmp(b->text ? b->text + part->name : "",
		      name + (*name == '*')) == 0;
}

/* The part that is all of an argument's value; -1: there is none. */
static int only_part(const struct swz_signature_builder *b, const char *name)
{
	const struct swz_signature *s = &b->signatures[b->count - 1];
	int found = -1;
	unsigned i;

	for (i = 0; i < s->entry_parts; i++) {
		const struct swz_value_part *part = &b->parts[s->first + i];

		if (part->kind == SWZ_PART_KEEP || !part->name ||
		    !is_called(b, part, name))
			continue;
		if (found >= 0)
			return -1;
		found = (int)i;
	}
	return found;
}

static bool find_enumerator(const struct swz_signature_builder *b,
			    const struct swz_value_type *type, const char *name,
			    int64_t *value)
{
	uint32_t i;

	for (i = 0; type->kind == SWZ_TYPE_ENUM && i < type->members; i++) {
		const struct swz_value_member *m = &b->members[type->first + i];

		if (strcmp(b->text + m->name, name) != 0)
			continue;
		*value = m->offset;
		return true;
	}
	return false;
}

static bool as_float(struct swz_value_check *check, size_t bytes, double number)
{
	float narrow = (float)number;

	check->kind = SWZ_CHECK_FLOAT;
	if (bytes == sizeof(number))
		memcpy(&check->value, &number, sizeof(number));
	else if (bytes == sizeof(narrow) && (double)narrow == number)
		memcpy(&check->value, &narrow, sizeof(narrow));
	else
		return false;
	return true;
}

/* Records it as a number; false: another time. */
static bool as_number(const struct swz_signature_builder *b,
		      const struct swz_value_type *type,
		      const struct swz_condition *c,
		      struct swz_value_check *check)
{
	check->value = c->integer;
	switch (type->kind) {
	case SWZ_TYPE_FLOAT:
		return (c->operand == SWZ_OPERAND_INTEGER ||
			c->operand == SWZ_OPERAND_FLOAT) &&
		       as_float(check, type->bytes, c->number);
	case SWZ_TYPE_ENUM:
		check->kind = SWZ_CHECK_SIGNED;
		return c->operand == SWZ_OPERAND_INTEGER ||
		       (c->operand == SWZ_OPERAND_NAME &&
			find_enumerator(b, type, c->text, &check->value));
	case SWZ_TYPE_SIGNED:
	case SWZ_TYPE_CHAR:
		check->kind = SWZ_CHECK_SIGNED;
		return c->operand == SWZ_OPERAND_INTEGER;
	case SWZ_TYPE_UNSIGNED:
	case SWZ_TYPE_BOOL:
		check->kind = SWZ_CHECK_UNSIGNED;
		return c->operand == SWZ_OPERAND_INTEGER && c->integer >= 0;
	case SWZ_TYPE_POINTER:
	case SWZ_TYPE_FUNCTION:
		check->kind = SWZ_CHECK_UNSIGNED;
		if (c->operand == SWZ_OPERAND_NULL)
			check->value = 0;
		return c->operand == SWZ_OPERAND_NULL ||
		       c->operand == SWZ_OPERAND_INTEGER;
	default:
		return false;
	}
}

void swz_signature_add_check(struct swz_signature_builder *b,
			     const struct swz_condition *c)
{
	struct swz_value_check check = {.op = (uint8_t)c->op};
	const struct swz_value_part *part;
	int at = c->kind == SWZ_IF_ARGUMENT && c->op != SWZ_MATCHES
			 ? only_part(b, c->name)
			 : -1;

	if (at < 0)
		return;
	part = &b->parts[b->signatures[b->count - 1].first + (unsigned)at];
	check.part = (uint16_t)at;
	if (part->kind != SWZ_PART_PLAIN && part->kind != SWZ_PART_MEMORY) {
		check.kind = c->operand == SWZ_OPERAND_NULL ? SWZ_CHECK_NULL
							    : SWZ_CHECK_TEXT;
		if (c->operand != SWZ_OPERAND_NULL &&
		    c->operand != SWZ_OPERAND_TEXT)
			return;
		if (check.kind == SWZ_CHECK_TEXT) {
			check.length = (uint32_t)strlen(c->text);
			check.text = swz_signature_add_text(b, c->text);
		}
	} else if (part->bytes > sizeof(check.value) ||
		   b->types[part->type].bytes != part->bytes ||
		   !as_number(b, &b->types[part->type], c, &check)) {
		return;
	}
	add_check(b, check);
}

void swz_signature_add_backtrace(struct swz_signature_builder *b,
				 unsigned levels, unsigned mark)
{
	add_check(b, (struct swz_value_check){.kind = SWZ_CHECK_BACKTRACE,
					      .part = (uint16_t)levels,
					      .value = INT64_C(1) << mark});
}
