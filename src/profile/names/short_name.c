/* A name is read once for its brackets. Those that hold parameters or template
 * arguments are groups, which can be cut; they are sorted by the order in which
 * that is done, and cut one after the other until the name fits.
 *
 * '<' and '>' are brackets unless they are a part of "operator<" or "->", or
 * have no counterpart within the parentheses around them: (a > b). */

#include "profile/names/short_name.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

#define NO_GROUP SIZE_MAX

/* A forged name may have any number of brackets, and each costs a look at all
 * around it. What comes after so many groups or scopes is not cut. */
#define MOST_PARTS 1000u

struct group {
	size_t open;  /* of its brackets: the places in the name */
	size_t close; /* 0: there is none */
	size_t parent;
	unsigned int depth; /* how many groups are around it */
	unsigned int inner; /* columns that are shown between the brackets */
	bool parameters;    /* of a function, not of a type that is an argument
			     */
	bool kept;          /* no cutting here: "(anonymous namespace)" */
	bool cut;
};

struct parsed {
	const char *name;
	struct group *groups; /* in the order of their opening brackets */
	size_t count, capacity;
	size_t *scopes; /* where the names in scopes begin: past each "::" that
			 * is in no bracket; the last is the own name's */
	size_t scope_count, scope_capacity;
	size_t open;         /* the innermost group that is open */
	unsigned int braces; /* {lambda(int)#1} */
	bool converts;       /* past "operator ", before a type's name */
};

/* ------------------------------------------------------------- reading it */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The length of an operator's name at AT, 0: there is none. */
static size_t operator_length(struct parsed *parsed, size_t at)
{
	static const char *const symbols[] = {"<=>", "<<=", ">>=", "->*", "<<",
					      ">>",  "<=",  ">=",  "->",  "()",
					      "<",   ">",   NULL};
	const char *text = parsed->name + at;
	size_t i;

	if (!begins(text, "operator") ||
	    (at && (isalnum((unsigned char)text[-1]) || text[-1] == '_')))
		return 0;
	text += strlen("operator");
	for (i = 0; symbols[i]; i++)
		if (begins(text, symbols[i]))
			return strlen("operator") + strlen(symbols[i]);
	if (*text == ' ' && parsed->open == NO_GROUP)
		parsed->converts = true;
	return 0;
}

static void open_group(struct parsed *parsed, size_t at)
{
	const char *text = parsed->name + at;
	bool template = *text == '<' || (at && text[-1] == '!'); /* D: !(int) */
	size_t parent = parsed->open;
	const struct group *around = parent == NO_GROUP
					     ? NULL
					     : &parsed->groups[parent];
	bool parameters = !template &&
			  (!around || around->parameters || around->kept);

	swz_grow(&parsed->groups, &parsed->capacity, parsed->count,
		 sizeof(*parsed->groups));
	/* void (*signal(int))(int): its name is within */
	parsed->groups[parsed->count] = (struct group){
		.open = at,
		.parent = parent,
		.depth = parent == NO_GROUP ? 0
					    : parsed->groups[parent].depth + 1,
		.parameters = parameters,
		.kept = begins(text, "(anonymous namespace)") ||
			(parameters && (text[1] == '*' || text[1] == '&')),
	};
	parsed->open = parsed->count++;
	if (!template)
		parsed->converts = false;
}

/* A bracket that is closed closes those within it that were none. */
static void close_group(struct parsed *parsed, size_t at)
{
	char with = parsed->name[at] == ')' ? '(' : '<';
	size_t group = parsed->open;

	while (group != NO_GROUP &&
	       parsed->name[parsed->groups[group].open] != with) {
		if (with == '<')
			return;
		group = parsed->groups[group].parent;
	}
	if (group == NO_GROUP)
		return;
	parsed->groups[group].close = at;
	parsed->open = parsed->groups[group].parent;
}

static void add_scope(struct parsed *parsed, size_t at)
{
	swz_grow(&parsed->scopes, &parsed->scope_capacity, parsed->scope_count,
		 sizeof(*parsed->scopes));
	parsed->scopes[parsed->scope_count++] = at;
}

static void parse(struct parsed *parsed, const char *name)
{
	size_t at;

	*parsed = (struct parsed){.name = name, .open = NO_GROUP};
	for (at = 0; name[at] && parsed->count < MOST_PARTS &&
		     parsed->scope_count < MOST_PARTS;
	     at++) {
		size_t length = operator_length(parsed, at);

		if (length) {
			at += length - 1;
		} else if (begins(name + at, "->")) {
			at++;
		} else if (name[at] == '(' || name[at] == '<') {
			open_group(parsed, at);
		} else if (name[at] == ')' || name[at] == '>') {
			close_group(parsed, at);
		} else if (name[at] == '{') {
			parsed->braces++;
		} else if (name[at] == '}' && parsed->braces) {
			parsed->braces--;
		} else if (begins(name + at, "::") &&
			   parsed->open == NO_GROUP && !parsed->braces &&
			   !parsed->converts) {
			add_scope(parsed, at + 2);
			at++;
		}
	}
}

/* ------------------------------------------------------------- cutting it */

/* Sets the groups' inner width, by one walk through the name. */
static void measure(struct parsed *parsed)
{
	size_t length = strlen(parsed->name), at = 0, i;
	unsigned int *before = swz_allocate(length + 1, sizeof(*before));
	char character[8] = "";

	while (at < length) {
		size_t bytes = swz_utf8_length(parsed->name + at);
		unsigned int width;

		bytes += !bytes;
		memset(character, 0, sizeof(character));
		memcpy(character, parsed->name + at, bytes);
		width = before[at] + swz_text_width(character);
		for (i = 1; i <= bytes; i++)
			before[at + i] = width;
		at += bytes;
	}
	for (i = 0; i < parsed->count; i++)
		if (parsed->groups[i].close)
			parsed->groups[i].inner =
				before[parsed->groups[i].close] -
				before[parsed->groups[i].open + 1];
	free(before);
}

/* A group that nothing closes is none. */
static bool can_cut(const struct group *group)
{
	return group->close && !group->kept;
}

static int compare_order(const void *left, const void *right, void *argument)
{
	const struct group *groups = argument;
	const struct group *a = &groups[*(const size_t *)left];
	const struct group *b = &groups[*(const size_t *)right];

	if (a->parameters != b->parameters)
		return a->parameters ? -1 : 1;
	if (a->depth != b->depth) /* parameters as a whole */
		return (a->depth < b->depth) == a->parameters ? -1 : 1;
	if (a->inner != b->inner && !a->parameters)
		return a->inner > b->inner ? -1 : 1;
	return a->open < b->open ? -1 : a->open > b->open;
}

static bool is_within_cut(const struct parsed *parsed, size_t group)
{
	for (; group != NO_GROUP; group = parsed->groups[group].parent)
		if (parsed->groups[group].cut)
			return true;
	return false;
}

/* Cuts groups until no more than WIDTH columns are left of ALL. */
static void cut_groups(struct parsed *parsed, unsigned int all,
		       unsigned int width, unsigned int mark)
{
	size_t *order = swz_allocate(parsed->count, sizeof(*order));
	size_t count = 0, i;

	measure(parsed);
	for (i = 0; i < parsed->count; i++)
		if (can_cut(&parsed->groups[i]))
			order[count++] = i;
	if (count > 1)
		qsort_r(order, count, sizeof(*order), compare_order,
			parsed->groups);
	for (i = 0; i < count && all > width; i++) {
		struct group *group = &parsed->groups[order[i]];
		unsigned int less;
		size_t around;

		if (group->inner <= mark ||
		    is_within_cut(parsed, group->parent))
			continue;
		group->cut = true;
		less = group->inner - mark;
		for (around = order[i]; around != NO_GROUP;
		     around = parsed->groups[around].parent)
			if (parsed->groups[around].close)
				parsed->groups[around].inner -= less;
		all -= less;
	}
	free(order);
}

/* The name from a place on, as it was cut. */
static char *write_from(const struct parsed *parsed, size_t at,
			const char *mark)
{
	size_t room = strlen(parsed->name) + 1, i;
	char *text, *to;

	for (i = 0; i < parsed->count; i++)
		room += strlen(mark);
	to = text = swz_allocate(room, 1);
	for (i = 0; parsed->name[at]; at++) {
		while (i < parsed->count && parsed->groups[i].open < at)
			i++;
		*to++ = parsed->name[at];
		if (i < parsed->count && parsed->groups[i].open == at &&
		    parsed->groups[i].cut) {
			to = stpcpy(to, mark);
			at = parsed->groups[i].close - 1;
		}
	}
	return text;
}

/* Leaves scopes out until the rest fits. */
static char *cut_scopes(const struct parsed *parsed, unsigned int width,
			const char *mark)
{
	char *text = write_from(parsed, 0, mark);
	unsigned int all = swz_text_width(text);
	size_t i;

	for (i = 0; i < parsed->scope_count && all > width; i++) {
		char *rest = write_from(parsed, parsed->scopes[i], mark);
		char *shorter = swz_print("%s::%s", mark, rest);

		free(rest);
		if (swz_text_width(shorter) >= all) {
			free(shorter);
			continue;
		}
		free(text);
		text = shorter;
		all = swz_text_width(text);
	}
	return text;
}

char *swz_short_name(const char *name, unsigned int width, bool utf8)
{
	const char *mark = utf8 ? "\xe2\x80\xa6" : "...";
	unsigned int all = swz_text_width(name);
	struct parsed parsed;
	char *text;

	if (!width || all <= width)
		return swz_duplicate(name);
	parse(&parsed, name);
	cut_groups(&parsed, all, width, swz_text_width(mark));
	text = cut_scopes(&parsed, width, mark);
	free(parsed.groups);
	free(parsed.scopes);
	return text;
}
