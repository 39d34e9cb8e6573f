#include "base/qualified_name.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- qualified names ----------------------------------------------------- */

/* A parser of mangled names by recursive descent, one function for each rule
 * that matters. Of types, template arguments and the parameters of an outer
 * function only the end is looked for: they are parsed with `muted` set. A
 * substitution is then just passed over; in a name itself only those of std
 * can stand. */

#define MOST_DEPTH 48u
#define MOST_LENGTH 4096u

struct parser {
	const char *at;
	char *out;
	unsigned room, used;
	unsigned last; /* where the last component begins */
	unsigned muted, depth;
};

static bool name(struct parser *p);
static bool encoding(struct parser *p);
static bool type(struct parser *p);
static bool template_argument(struct parser *p);

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool begins_with(const struct parser *p, const char *text)
{
	return strncmp(p->at, text, strlen(text)) == 0;
}

static bool put(struct parser *p, const char *text, unsigned length)
{
	if (p->muted)
		return true;
	if (length >= p->room - p->used)
		return false;
	memcpy(p->out + p->used, text, length);
	p->used += length;
	return true;
}

static bool put_string(struct parser *p, const char *text)
{
	return put(p, text, (unsigned)strlen(text));
}

/* Before the next component. */
static bool separate(struct parser *p)
{
	if (p->muted)
		return true;
	if (p->used && !put(p, "::", 2))
		return false;
	p->last = p->used;
	return true;
}

static bool accept(struct parser *p, char c)
{
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static unsigned number(struct parser *p)
{
	unsigned n = 0;

	while (is_digit(*p->at) && n < MOST_LENGTH)
		n = n * 10 + (unsigned)(*p->at++ - '0');
	return n;
}

/* [n] digits */
static void skip_number(struct parser *p)
{
	accept(p, 'n');
	while (is_digit(*p->at))
		p->at++;
}

/* Up to and with the next '_'. */
static bool skip_index(struct parser *p)
{
	while (is_digit(*p->at) || (*p->at >= 'A' && *p->at <= 'Z'))
		p->at++;
	return accept(p, '_');
}

/* Each item up to 'E'. */
static bool until_end(struct parser *p, bool (*item)(struct parser *p))
{
	bool ok = true;

	p->muted++;
	while (ok && *p->at && *p->at != 'E')
		ok = item(p);
	p->muted--;
	return ok && accept(p, 'E');
}

/* ------------------------------------------------------------------ names */

static bool source_name(struct parser *p)
{
	unsigned length = number(p);
	const char *text = p->at;

	if (!length)
		return false;
	for (unsigned i = 0; i < length; i++)
		if (!*p->at++)
			return false;
	if (length >= 10 && memcmp(text, "_GLOBAL_", 8) == 0 &&
	    (text[8] == '_' || text[8] == '.' || text[8] == '$') &&
	    text[9] == 'N')
		return put_string(p, "(anonymous namespace)");
	return put(p, text, length);
}

/* True at the end of a name of Rust: h and 16 hexadecimal digits. */
static bool is_rust_hash(const struct parser *p)
{
	if (!begins_with(p, "17h"))
		return false;
	for (unsigned i = 3; i < 19; i++)
		if (!is_digit(p->at[i]) && (p->at[i] < 'a' || p->at[i] > 'f'))
			return false;
	return p->at[19] == 'E';
}

static const struct {
	char code[3];
	const char *text;
} operators[] = {
	{"nw", " new"},      {"na", " new[]"},    {"dl", " delete"},
	{"da", " delete[]"}, {"aw", " co_await"}, {"ps", "+"},
	{"ng", "-"},         {"ad", "&"},         {"de", "*"},
	{"co", "~"},         {"pl", "+"},         {"mi", "-"},
	{"ml", "*"},         {"dv", "/"},         {"rm", "%"},
	{"an", "&"},         {"or", "|"},         {"eo", "^"},
	{"aS", "="},         {"pL", "+="},        {"mI", "-="},
	{"mL", "*="},        {"dV", "/="},        {"rM", "%="},
	{"aN", "&="},        {"oR", "|="},        {"eO", "^="},
	{"ls", "<<"},        {"rs", ">>"},        {"lS", "<<="},
	{"rS", ">>="},       {"eq", "=="},        {"ne", "!="},
	{"lt", "<"},         {"gt", ">"},         {"le", "<="},
	{"ge", ">="},        {"ss", "<=>"},       {"nt", "!"},
	{"aa", "&&"},        {"oo", "||"},        {"pp", "++"},
	{"mm", "--"},        {"cm", ","},         {"pm", "->*"},
	{"pt", "->"},        {"cl", "()"},        {"ix", "[]"},
};

static bool operator_name(struct parser *p)
{
	if (begins_with(p, "li")) { /* operator"" x */
		p->at += 2;
		return put_string(p, "operator\"\" ") && source_name(p);
	}
	for (unsigned i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (begins_with(p, operators[i].code)) {
			p->at += 2;
			return put_string(p, "operator") &&
			       put_string(p, operators[i].text);
		}
	return false;
}

/* Constructors and destructors repeat the last component. */
static bool special_member(struct parser *p, unsigned class_at,
			   unsigned class_end)
{
	bool destroys = *p->at++ == 'D';

	if (!destroys && accept(p, 'I')) /* inherited */
		return false;
	if (!is_digit(*p->at++))
		return false;
	if (p->muted)
		return true;
	return class_end > class_at && (!destroys || put(p, "~", 1)) &&
	       put(p, p->out + class_at, class_end - class_at);
}

static bool unnamed(struct parser *p)
{
	char digits[12];
	unsigned n = 1, at = sizeof(digits);
	bool lambda = p->at[1] == 'l';

	p->at += 2;
	if (lambda && !until_end(p, type))
		return false;
	if (is_digit(*p->at))
		n = number(p) + 2;
	if (!accept(p, '_'))
		return false;
	digits[--at] = '\0';
	for (; n; n /= 10)
		digits[--at] = (char)('0' + n % 10);
	return put_string(p, lambda ? "{lambda#" : "{unnamed type#") &&
	       put_string(p, digits + at) && put(p, "}", 1);
}

static bool unqualified_name(struct parser *p)
{
	unsigned class_at = p->last, class_end = p->used;
	bool ok;

	if (!separate(p))
		return false;
	accept(p, 'L'); /* of internal linkage */
	if (is_digit(*p->at))
		ok = source_name(p);
	else if (*p->at == 'C' || *p->at == 'D')
		ok = special_member(p, class_at, class_end);
	else if (begins_with(p, "Ul") || begins_with(p, "Ut"))
		ok = unnamed(p);
	else
		ok = operator_name(p);
	while (ok && accept(p, 'B')) { /* an ABI tag */
		p->muted++;
		ok = source_name(p);
		p->muted--;
	}
	return ok;
}

/* S and what follows. Outside of types only what stands for parts of std. */
static bool substitution(struct parser *p)
{
	static const struct {
		char code;
		const char *name; /* behind "std::" */
	} known[] = {
		{'a', "allocator"}, {'b', "basic_string"}, {'s', "string"},
		{'i', "istream"},   {'o', "ostream"},      {'d', "iostream"},
	};

	p->at++;
	if (accept(p, 't'))
		return separate(p) && put(p, "std", 3);
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (accept(p, known[i].code))
			return separate(p) && put(p, "std", 3) && separate(p) &&
			       put_string(p, known[i].name);
	return p->muted && skip_index(p);
}

static bool plain_argument(struct parser *p)
{
	if (accept(p, 'J')) /* a pack */
		return until_end(p, template_argument);
	if (accept(p, 'X')) { /* of expressions: the address of something */
		if (begins_with(p, "ad"))
			p->at += 2;
		return *p->at == 'L' && template_argument(p) && accept(p, 'E');
	}
	if (!accept(p, 'L'))
		return type(p);
	if (begins_with(p, "_Z")) {
		p->at += 2;
		if (!encoding(p))
			return false;
		while (*p->at && *p->at != 'E')
			if (!type(p))
				return false;
		return accept(p, 'E');
	}
	if (!type(p))
		return false;
	while (*p->at && *p->at != 'E')
		p->at++;
	return accept(p, 'E');
}

static bool template_argument(struct parser *p)
{
	bool ok;

	if (++p->depth > MOST_DEPTH)
		return false;
	ok = plain_argument(p);
	p->depth--;
	return ok;
}

static bool nested_name(struct parser *p)
{
	while (*p->at == 'r' || *p->at == 'V' || *p->at == 'K')
		p->at++;
	if (*p->at == 'R' || *p->at == 'O')
		p->at++;
	while (*p->at && *p->at != 'E') {
		bool ok;

		if (is_rust_hash(p)) {
			p->at += 19;
			continue;
		}
		if (accept(p, 'I'))
			ok = until_end(p, template_argument);
		else if (*p->at == 'S')
			ok = substitution(p);
		else if (accept(p, 'T')) /* a parameter */
			ok = p->muted && skip_index(p);
		else if (begins_with(p, "Dt") || begins_with(p, "DT"))
			ok = false;
		else
			ok = accept(p, 'M') /* of an initializer */ ||
			     unqualified_name(p);
		if (!ok)
			return false;
	}
	return accept(p, 'E');
}

/* Reads a name that is declared within a function. */
static bool local_name(struct parser *p)
{
	if (!encoding(p) || !until_end(p, type))
		return false;
	if (accept(p, 's')) /* a string */
		return p->muted;
	if (accept(p, 'd')) { /* in a default argument */
		skip_number(p);
		if (!accept(p, '_'))
			return false;
	}
	if (!name(p))
		return false;
	if (accept(p, '_')) { /* of several with that name */
		bool wide = accept(p, '_');

		skip_number(p);
		return !wide || accept(p, '_');
	}
	return true;
}

static bool name(struct parser *p)
{
	bool ok;

	if (++p->depth > MOST_DEPTH)
		return false;
	if (accept(p, 'N')) {
		ok = nested_name(p);
	} else if (accept(p, 'Z')) {
		ok = local_name(p);
	} else {
		ok = !begins_with(p, "St") || substitution(p);
		ok = ok && unqualified_name(p) &&
		     (!accept(p, 'I') || until_end(p, template_argument));
	}
	p->depth--;
	return ok;
}

/* [n] offset _, or two of them */
static bool skip_offset(struct parser *p)
{
	bool two = *p->at == 'v';

	if (*p->at != 'h' && !two)
		return false;
	p->at++;
	skip_number(p);
	if (!accept(p, '_'))
		return false;
	if (two) {
		skip_number(p);
		return accept(p, '_');
	}
	return true;
}

/* Parameters are left to the caller. */
static bool encoding(struct parser *p)
{
	bool ok;

	if (++p->depth > MOST_DEPTH)
		return false;
	if (begins_with(p, "Th") || begins_with(p, "Tv")) {
		p->at++;
		ok = skip_offset(p) && encoding(p);
	} else if (begins_with(p, "Tc")) {
		p->at += 2;
		ok = skip_offset(p) && skip_offset(p) && encoding(p);
	} else if (begins_with(p, "TW") || begins_with(p, "TH")) {
		p->at += 2; /* of thread-local variables */
		ok = name(p);
	} else if (begins_with(p, "GTt") || begins_with(p, "GTn")) {
		p->at += 3;
		ok = encoding(p);
	} else {
		ok = name(p);
	}
	p->depth--;
	return ok;
}

/* ------------------------------------------------------------------ types */

static bool arguments_of_type(struct parser *p)
{
	return !accept(p, 'I') || until_end(p, template_argument);
}

/* D and what follows. */
static bool d_type(struct parser *p)
{
	char kind = *p->at++;

	switch (kind) {
	case 'p': /* a pack */
	case 'o': /* noexcept */
		return type(p);
	case 'v': /* a vector */
	case 'F':
		skip_number(p);
		return accept(p, '_') && (kind == 'F' || type(p));
	case 'n':
	case 'i':
	case 's':
	case 'u':
	case 'a':
	case 'c':
	case 'd':
	case 'e':
	case 'f':
	case 'h':
		return true;
	}
	return false; /* an expression */
}

static bool plain_type(struct parser *p)
{
	char kind = *p->at;

	if (is_digit(kind) || kind == 'N' || kind == 'Z')
		return name(p) && arguments_of_type(p);
	if (kind == 'S') {
		bool of_std = p->at[1] == 't';

		return substitution(p) && (!of_std || unqualified_name(p)) &&
		       arguments_of_type(p);
	}
	p->at++;
	switch (kind) {
	case 'P':
	case 'R':
	case 'O':
	case 'K':
	case 'V':
	case 'r':
	case 'C':
	case 'G':
		return type(p);
	case 'M':
		return type(p) && type(p);
	case 'A':
		skip_number(p);
		return accept(p, '_') && type(p);
	case 'F':
		accept(p, 'Y');
		while (*p->at && *p->at != 'E')
			if (!begins_with(p, "RE") && !begins_with(p, "OE")) {
				if (!type(p))
					return false;
			} else {
				p->at++;
			}
		return accept(p, 'E');
	case 'T':
		return skip_index(p) && arguments_of_type(p);
	case 'U':
		return source_name(p) && arguments_of_type(p) && type(p);
	case 'u':
		return source_name(p);
	case 'D':
		return d_type(p);
	}
	return kind >= 'a' && kind <= 'z';
}

/* Always muted. */
static bool type(struct parser *p)
{
	bool ok;

	if (++p->depth > MOST_DEPTH)
		return false;
	p->muted++;
	ok = plain_type(p);
	p->muted--;
	p->depth--;
	return ok;
}

bool swz_qualified_name(const char *symbol, char *out, unsigned room)
{
	struct parser p = {.at = symbol + 2, .out = out, .room = room};

	if (strncmp(symbol, "_Z", 2) != 0 || !room || !encoding(&p))
		return false;
	out[p.used] = '\0';
	return p.used != 0;
}

/* --- names as they are shown --------------------------------------------- */

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

/* GCC's suffix for a clone of a function: ".part.0". */
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
