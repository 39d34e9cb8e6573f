/* By libiberty. Rust goes before C++: its legacy names are valid C++ names too,
 * with a hash at their end that nobody wants to see.
 *
 * A mangled name refers back to its own parts, so one of some hundred bytes may
 * stand for gigabytes. The demanglers take no for an answer in no other way
 * than by a jump out of them.
 *
 * gfortran and gnat mangle nothing that would be a mark: dgemm_ and list__sort
 * are fine names in C. So these are read only in modules which the run-time
 * library of the language belongs to. */

#include "base/shown_name.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>

/* D's types nest as deep as a name is long. */
#define MOST_BYTES_OF_D 4096u

struct text {
	char *out;
	unsigned room, used;
};

static void *too_long[5];

void swz_shown_name_give_up(void)
{
	__builtin_longjmp(too_long, 1);
}

static void add(const char *piece, size_t size, void *argument)
{
	struct text *text = argument;

	if (!size) /* PIECE may be NULL */
		return;
	if (size >= text->room - text->used)
		swz_shown_name_give_up();
	memcpy(text->out + text->used, piece, size);
	text->used += (unsigned)size;
	text->out[text->used] = '\0';
}

static void add_string(struct text *text, const char *string)
{
	add(string, strlen(string), text);
}

static bool cut(struct text *text, unsigned length)
{
	text->used = length;
	text->out[length] = '\0';
	return length != 0;
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool starts(const char *string, const char *with)
{
	return strncmp(string, with, strlen(with)) == 0;
}

static bool is_cxx_or_rust(struct text *text, const char *symbol, bool full)
{
	int options = full ? DMGL_PARAMS | DMGL_ANSI : 0;

	if (symbol[0] != '_')
		return false;
	if (rust_demangle_callback(symbol, options, add, text))
		return text->used != 0;
	cut(text, 0);
	if (!cplus_demangle_v3_callback(symbol, options, add, text))
		cut(text, 0);
	return text->used != 0;
}

/* What GCC puts behind the name of a function's clone: ".part.0". */
static const char *clone_suffix(const char *symbol)
{
	const char *dot = strchr(symbol, '.');

	return dot && dot != symbol ? dot : symbol + strlen(symbol);
}

/* As the demangler of C++ has it. */
static void add_clone(struct text *text, const char *suffix, bool full)
{
	if (!full || !*suffix)
		return;
	add_string(text, " [clone ");
	add_string(text, suffix);
	add_string(text, "]");
}

/* ---------------------------------------------------------------------- D */

/* Takes the parameters away, and what qualifies `this` behind them. */
static void cut_parameters(struct text *text)
{
	unsigned end = text->used, depth = 0;

	while (end &&
	       (is_lower(text->out[end - 1]) || text->out[end - 1] == ' '))
		end--;
	if (!end || text->out[end - 1] != ')')
		return;
	while (end) {
		char c = text->out[--end];

		depth += c == ')';
		depth -= c == '(';
		if (!depth)
			break;
	}
	if (end && text->out[end - 1] != '!') /* !(...): of a template */
		cut(text, end);
}

static bool is_d(struct text *text, const char *symbol, bool full)
{
	const char *suffix = clone_suffix(symbol);
	char plain[MOST_BYTES_OF_D];
	size_t length = (size_t)(suffix - symbol);
	char *name;

	if (!starts(symbol, "_D") || length >= sizeof(plain))
		return false;
	memcpy(plain, symbol, length);
	plain[length] = '\0';
	name = dlang_demangle(plain, DMGL_DLANG);
	if (!name)
		return false;
	length = strlen(name);
	if (length < text->room)
		add(name, length, text);
	free(name);
	if (!full)
		cut_parameters(text);
	add_clone(text, suffix, full);
	return text->used != 0;
}

/* ----------------------------------------------------- gfortran and gnat */

/* __module_MOD_procedure, in any module: nobody else has such names. */
static bool is_fortran_of_module(struct text *text, const char *symbol,
				 bool full)
{
	const char *suffix = clone_suffix(symbol), *mark;

	if (!starts(symbol, "__") || !is_lower(symbol[2]))
		return false;
	mark = strstr(symbol, "_MOD_");
	if (!mark || mark + 5 >= suffix)
		return false;
	add(symbol + 2, (size_t)(mark - symbol - 2), text);
	add_string(text, "::");
	add(mark + 5, (size_t)(suffix - mark - 5), text);
	add_clone(text, suffix, full);
	return true;
}

/* A procedure of no module: name_, or name__ (-fsecond-underscore). */
static bool is_fortran(struct text *text, const char *symbol, bool full)
{
	const char *suffix = clone_suffix(symbol), *end = suffix;

	for (const char *c = symbol; c < suffix; c++)
		if (!is_lower(*c) && !is_digit(*c) && *c != '_')
			return false;
	if (!is_lower(symbol[0]) || suffix[-1] != '_')
		return false;
	while (end[-1] == '_')
		end--;
	if (suffix - end > 2)
		return false;
	add(symbol, (size_t)(end - symbol), text);
	add_clone(text, suffix, full);
	return true;
}

/* The number of an overloaded subprogram, __2: gnat's names have no parameters.
 */
static const char *overload_number(const char *symbol)
{
	const char *end = clone_suffix(symbol), *at = end;

	while (at > symbol && is_digit(at[-1]))
		at--;
	return at < end && at > symbol + 2 && at[-1] == '_' && at[-2] == '_'
		       ? at
		       : NULL;
}

/* _ada_main stays what it is: main is C's, which calls it. */
static bool is_ada(struct text *text, const char *symbol, bool full)
{
	const char *number = overload_number(symbol), *suffix;
	char *name;

	if (!is_lower(symbol[0]) || !strstr(symbol, "__"))
		return false;
	name = ada_demangle(symbol, DMGL_GNAT);
	if (name && name[0] != '<' && strlen(name) < text->room)
		add_string(text, name);
	free(name);
	if (!text->used || !full || !number)
		return text->used != 0;
	suffix = clone_suffix(symbol);
	add_string(text, "#");
	add(number, (size_t)(suffix - number), text);
	return true;
}

unsigned swz_languages_of(const char *symbol)
{
	if (symbol[0] != '_')
		return 0;
	if (starts(symbol, "_gfortran_"))
		return SWZ_FORTRAN;
	return starts(symbol, "__gnat_") ? SWZ_ADA : 0;
}

static bool write_name(struct text *text, const char *symbol,
		       unsigned languages, bool full)
{
	return is_cxx_or_rust(text, symbol, full) || is_d(text, symbol, full) ||
	       is_fortran_of_module(text, symbol, full) ||
	       (languages & SWZ_FORTRAN && is_fortran(text, symbol, full)) ||
	       (languages & SWZ_ADA && is_ada(text, symbol, full));
}

bool swz_shown_name(const char *symbol, unsigned languages, bool full,
		    char *out, unsigned room)
{
	struct text text = {.out = out, .room = room};

	if (__builtin_setjmp(too_long))
		return false;
	cut(&text, 0);
	return write_name(&text, symbol, languages, full);
}
