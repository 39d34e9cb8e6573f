/* list_args = n, req.uri, ctx->depth and watch = ...: fields of an argument in
 * place of all of it. A path is followed through types; a recorded value can go
 * through the argument's pointer and one more, as the runtime reads them. */

#include "profile/names/value_places.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "profile/names/calling_convention.h"
#include "profile/names/dwarf_types.h"

#define MOST_PATH 256u /* bytes */

/* What is behind an argument's name: "" or what begins with . or ->; NULL: the
 * path is of another one. */
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

void swz_place_chosen(struct swz_placing *p, Dwarf_Die *argument,
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
