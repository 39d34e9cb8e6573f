/* Names are given after all profiles are read: only then is it known which
 * functions would share one. Two functions never have the same name and file,
 * because viewers take them for one. */

#include <ctype.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "profile/names/catalog.h"
#include "profile/names/symbols.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

/* --- names of modules ---------------------------------------------------- */

/* Short names are the last parts of paths. Where these are not enough to tell
 * modules apart the whole paths are shown, and where those are the same (a
 * program that was built anew) the build-id's beginning. The versions of a
 * module in a comparison are one. */

/* The names of a catalog's modules, as they are shown. */

enum { SHOWN_ID_BYTES = 4 };

/* The path's last part, or how it was called. */
static const char *short_name(const struct swz_catalog_module *module)
{
	return module->called ? module->called : swz_base_name(module->path);
}

struct clash {
	bool name, path;
};

static struct clash clash_of(const struct swz_catalog *catalog, size_t index)
{
	const struct swz_catalog_module *module = &catalog->modules[index];
	struct clash clash = {false, false};
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		const struct swz_catalog_module *other = &catalog->modules[i];

		if (i == index || other->same_as == module->same_as)
			continue;
		if (other->path == module->path)
			clash.path = true;
		else if (strcmp(short_name(other), short_name(module)) == 0)
			clash.name = true;
	}
	return clash;
}

/* Takes TEXT over. */
static const char *intern(struct swz_catalog *catalog, char *text)
{
	const char *interned = swz_intern(&catalog->strings, text);

	free(text);
	return interned;
}

static const char *with_build_id(struct swz_catalog *catalog,
				 const struct swz_catalog_module *module,
				 const char *name)
{
	char id[2 * SHOWN_ID_BYTES + 1] = "";
	size_t i;

	for (i = 0; i < SHOWN_ID_BYTES && i < module->build_id_bytes; i++)
		snprintf(id + 2 * i, 3, "%02x", module->build_id[i]);
	return *id ? intern(catalog, swz_print("%s@%s", name, id)) : name;
}

/* To be called when all modules are there; again after more were added. */
static void catalog_name_modules(struct swz_catalog *catalog)
{
	size_t i;

	for (i = 0; i < catalog->module_count; i++) {
		struct swz_catalog_module *module = &catalog->modules[i];
		struct clash clash = clash_of(catalog, i);

		module->whole = module->path;
		module->name = clash.name ? module->path
					  : swz_intern(&catalog->strings,
						       short_name(module));
		if (!clash.path)
			continue;
		module->whole = with_build_id(catalog, module, module->whole);
		module->name = with_build_id(catalog, module, module->name);
	}
}

const char *swz_catalog_module_path(const struct swz_catalog *catalog,
				    const struct swz_catalog_function *function)
{
	if (function->module == SWZ_INDEX_NONE)
		return NULL;
	return catalog->modules[function->module].whole;
}

const char *swz_catalog_module_name(const struct swz_catalog *catalog,
				    const struct swz_catalog_function *function)
{
	if (function->module == SWZ_INDEX_NONE)
		return "-";
	return catalog->modules[function->module].name;
}

/* --- names that tell functions apart ------------------------------------- */

/* Names must tell functions apart: viewers take two functions with the same
 * name and file for one, whose costs then exceed the total. So functions of one
 * name get their parameters (overloads) or, failing that, the second one its
 * address; where only the module differs it is marked as a namesake and the
 * writers add the module. */

static const char *made_up_name(struct swz_catalog *catalog,
				const struct swz_catalog_function *function)
{
	char name[40];

	if (function == &catalog->functions[SWZ_CATALOG_OUTSIDE])
		return swz_intern(&catalog->strings,
				  catalog->samples ? SWZ_ALL_NAME
						   : SWZ_OUTSIDE_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_UNKNOWN])
		return swz_intern(&catalog->strings, SWZ_UNKNOWN_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_UNTRACED])
		return swz_intern(&catalog->strings, SWZ_UNTRACED_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_KERNEL])
		return swz_intern(&catalog->strings, SWZ_KERNEL_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_UNSAMPLED])
		return swz_intern(&catalog->strings, SWZ_UNSAMPLED_NAME);
	if (function == &catalog->functions[SWZ_CATALOG_COUNTING])
		return swz_intern(&catalog->strings, SWZ_COUNTING_NAME);
	snprintf(name, sizeof(name),
		 function->module == SWZ_INDEX_NONE ? "function_%" PRIu64
						    : "sub_%" PRIx64,
		 function->address);
	return swz_intern(&catalog->strings, name);
}

static const char *name_in_style(struct swz_catalog *catalog,
				 struct swz_catalog_function *function,
				 enum swz_demangle style)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog,
							  function->module);
	const char *symbol = function->asked, *name;
	uint64_t offset = 0;
	char *plain, *demangled;

	if (symbols && !symbol)
		symbol = swz_symbols_name(symbols, function->address, &offset);
	if (!symbol) {
		function->nameless = function->module != SWZ_INDEX_NONE;
		return made_up_name(catalog, function);
	}
	plain = swz_symbol_without_version(symbol);
	demangled = swz_demangle(
		plain, symbols ? swz_symbols_languages(symbols) : 0, style);
	free(plain);
	if (offset) {
		char *longer = swz_print("%s+0x%" PRIx64, demangled, offset);

		free(demangled);
		demangled = longer;
	}
	name = swz_intern(&catalog->strings, demangled);
	free(demangled);
	return name;
}

static void resolve(struct swz_catalog *catalog,
		    struct swz_catalog_function *function)
{
	struct swz_symbols *symbols = swz_catalog_symbols(catalog,
							  function->module);

	function->name = name_in_style(catalog, function,
				       catalog->options.demangle);
	function->first_name = function->name;
	if (symbols && catalog->options.lines) {
		struct swz_source source = swz_catalog_line(
			catalog, function->module, symbols, function->address);

		function->file = swz_intern(&catalog->strings, source.file);
		function->line = source.line;
	}
}

static uint32_t *by_name(struct swz_map *names,
			 const struct swz_catalog_function *function)
{
	return swz_map_at(names, (uintptr_t)function->name,
			  (uintptr_t)function->file);
}

static void claim(uint32_t *holder, uint32_t index)
{
	if (*holder == SWZ_MAP_NONE)
		*holder = index;
}

/* True if that name is the function's alone. */
static bool name_in_full(struct swz_catalog *catalog, struct swz_map *names,
			 struct swz_catalog_function *function)
{
	uint32_t index = (uint32_t)(function - catalog->functions);
	uint32_t *holder;

	if (!SWZ_CATALOG_IS_REAL(index))
		return true;
	function->name = name_in_style(catalog, function, SWZ_DEMANGLE_FULL);
	holder = by_name(names, function);
	claim(holder, index);
	return *holder == index;
}

/* Gives a function whose name another one already has a better one. */
static void tell_apart(struct swz_catalog *catalog, struct swz_map *names,
		       struct swz_catalog_function *function)
{
	struct swz_catalog_function *other;
	uint32_t index = (uint32_t)(function - catalog->functions);
	uint32_t *holder = by_name(names, function);
	char *name;

	if (*holder == SWZ_MAP_NONE) {
		*holder = index;
		return;
	}
	other = &catalog->functions[*holder];
	if (!function->file && other->module != function->module) {
		function->namesake = true;
		return;
	}
	if (catalog->options.demangle == SWZ_DEMANGLE_SIMPLE) {
		/* overloads: all of them get their parameters */
		name_in_full(catalog, names, other);
		if (name_in_full(catalog, names, function))
			return;
	}
	name = swz_print("%s@%" PRIx64, function->name, function->address);
	function->name = swz_intern(&catalog->strings, name);
	free(name);
}

/* Claims the name that a function has already. It also holds the name that was
 * too short for several, or the next overload would get that. */
static void claim_names(struct swz_map *names,
			const struct swz_catalog_function *function,
			uint32_t index)
{
	claim(swz_map_at(names, (uintptr_t)function->first_name,
			 (uintptr_t)function->file),
	      index);
	claim(by_name(names, function), index);
}

/* By module and address: of namesakes the first has the plain name. */
static int by_place(const void *a, const void *b)
{
	const struct swz_catalog_function *one = *(
		struct swz_catalog_function *const *)a;
	const struct swz_catalog_function *other = *(
		struct swz_catalog_function *const *)b;

	if (one->module != other->module)
		return one->module < other->module ? -1 : 1;
	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return one < other ? -1 : one > other;
}

/* In an order that does not depend on where they were met first: formats read
 * profiles in different ones, and have the same names. */
static void resolve_new(struct swz_catalog *catalog, struct swz_map *names)
{
	size_t count = catalog->function_count - catalog->resolved, i;
	struct swz_catalog_function **sorted = swz_allocate(
		count + 1, sizeof(struct swz_catalog_function *));

	for (i = 0; i < count; i++)
		sorted[i] = &catalog->functions[catalog->resolved + i];
	qsort(sorted, count, sizeof(struct swz_catalog_function *), by_place);
	for (i = 0; i < count; i++) {
		swz_progress_add(1);
		resolve(catalog, sorted[i]);
		tell_apart(catalog, names, sorted[i]);
	}
	free(sorted);
}

void swz_catalog_resolve(struct swz_catalog *catalog)
{
	struct swz_map names = {0};
	size_t i;

	catalog_name_modules(catalog);
	for (i = 0; i < catalog->resolved; i++)
		claim_names(&names, &catalog->functions[i], (uint32_t)i);
	swz_progress_stage("finding names",
			   catalog->function_count - catalog->resolved);
	resolve_new(catalog, &names);
	catalog->resolved = catalog->function_count;
	swz_map_free(&names);
}

/* --- short names ---------------------------------------------------------- */

/* A name is read once for its brackets. Those that hold parameters or template
 * arguments are groups, which can be cut; they are sorted by the order in which
 * that is done, and cut one after the other until the name fits.
 *
 * '<' and '>' are brackets unless they are a part of "operator<" or "->", or
 * have no counterpart within the parentheses around them: (a > b). */

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
