/* A header is read in two passes over a copy in which comments are blanks: its
 * lines are looked at for #defines, and the rest for enums. Expressions are
 * evaluated in 64 bits by precedence climbing; a name is looked up among those
 * that came before, as a compiler would. */

#include "options/config_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 64u        /* of parentheses */
#define MOST_NAMES (1u << 16) /* of one type */

void swz_value_names_free(struct swz_value_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i].name);
	free(names->items);
	*names = (struct swz_value_names){0};
}

bool swz_value_names_add(struct swz_value_names *names, const char *name,
			 size_t length, int64_t value)
{
	char *copy;

	if (names->count == MOST_NAMES)
		return true;
	if (names->count == names->capacity) {
		size_t capacity = 2 * names->capacity + 16;
		void *items = realloc(names->items,
				      capacity * sizeof(*names->items));

		if (!items)
			return false;
		names->items = items;
		names->capacity = capacity;
	}
	copy = strndup(name, length);
	if (!copy)
		return false;
	names->items[names->count++] = (struct swz_value_name){copy, value};
	return true;
}

/* --- expressions --------------------------------------------------------- */

struct expression {
	const struct swz_value_names *names;
	const char *at, *end;
	unsigned depth;
	bool wrong;
};

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void skip_blanks(struct expression *e)
{
	while (e->at < e->end && isspace((unsigned char)*e->at))
		e->at++;
}

static bool take(struct expression *e, const char *token)
{
	size_t length = strlen(token);

	skip_blanks(e);
	if ((size_t)(e->end - e->at) < length ||
	    memcmp(e->at, token, length) != 0)
		return false;
	e->at += length;
	return true;
}

static uint64_t binary(struct expression *e, unsigned level);

static uint64_t number(struct expression *e)
{
	char digits[72], *end;
	size_t length = 0;
	uint64_t value;
	int base = 0;

	while (e->at + length < e->end &&
	       (is_name(e->at[length]) || e->at[length] == '\''))
		length++;
	if (length >= sizeof(digits)) {
		e->wrong = true;
		return 0;
	}
	memcpy(digits, e->at, length);
	digits[length] = '\0';
	e->at += length;
	for (char *s = digits; (s = strchr(s, '\'')) != NULL;)
		memmove(s, s + 1, strlen(s));
	if (digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B'))
		base = 2;
	value = strtoull(digits + (base ? 2 : 0), &end, base);
	if (end[strspn(end, "uUlLzZ")] != '\0')
		e->wrong = true;
	return value;
}

/* 'a', '\n', 'abcd' of one byte each. */
static uint64_t character(struct expression *e)
{
	static const char from[] = "ntr0\\'\"abfv",
			  to[] = "\n\t\r\0\\'\"\a\b\f\v";
	uint64_t value = 0;

	while (e->at < e->end && *e->at != '\'') {
		char c = *e->at++;

		if (c == '\\' && e->at < e->end) {
			const char *found = strchr(from, *e->at++);

			if (!found || !*found) {
				e->wrong = true;
				return 0;
			}
			c = to[found - from];
		}
		value = value << 8 | (uint8_t)c;
	}
	if (e->at == e->end)
		e->wrong = true;
	else
		e->at++;
	return value;
}

static uint64_t name_value(struct expression *e, const char *name,
			   size_t length)
{
	for (size_t i = e->names ? e->names->count : 0; i-- > 0;)
		if (strncmp(e->names->items[i].name, name, length) == 0 &&
		    !e->names->items[i].name[length])
			return (uint64_t)e->names->items[i].value;
	e->wrong = true;
	return 0;
}

/* "(type)" before an operand: words that are no known names. */
static bool take_cast(struct expression *e)
{
	struct expression probe = *e;
	bool any = false;

	if (!take(&probe, "("))
		return false;
	for (;;) {
		const char *word;

		skip_blanks(&probe);
		word = probe.at;
		while (probe.at < probe.end &&
		       (is_name(*probe.at) || *probe.at == ':'))
			probe.at++;
		if (probe.at == word)
			break;
		probe.wrong = isdigit((unsigned char)*word);
		if (!probe.wrong)
			(void)name_value(&probe, word,
					 (size_t)(probe.at - word));
		else
			return false;
		if (!probe.wrong)
			return false;
		any = true;
	}
	while (take(&probe, "*"))
		;
	if (!any || !take(&probe, ")"))
		return false;
	skip_blanks(&probe);
	/* a name alone in parentheses is no cast */
	if (probe.at == probe.end ||
	    (!is_name(*probe.at) && *probe.at != '(' && *probe.at != '-' &&
	     *probe.at != '~' && *probe.at != '\''))
		return false;
	e->at = probe.at;
	return true;
}

static uint64_t unary(struct expression *e)
{
	const char *name;
	uint64_t value;

	skip_blanks(e);
	if (e->at == e->end || e->depth == MOST_DEPTH || e->wrong) {
		e->wrong = true;
		return 0;
	}
	e->depth++;
	if (take_cast(e)) {
		value = unary(e);
	} else if (take(e, "(")) {
		value = binary(e, 0);
		e->wrong |= !take(e, ")");
	} else if (take(e, "-")) {
		value = -unary(e);
	} else if (take(e, "~")) {
		value = ~unary(e);
	} else if (take(e, "!")) {
		value = !unary(e);
	} else if (take(e, "+")) {
		value = unary(e);
	} else if (take(e, "'")) {
		value = character(e);
	} else if (isdigit((unsigned char)*e->at)) {
		value = number(e);
	} else {
		name = e->at;
		while (e->at < e->end && is_name(*e->at))
			e->at++;
		value = 0;
		if (e->at == name)
			e->wrong = true;
		else
			value = name_value(e, name, (size_t)(e->at - name));
	}
	e->depth--;
	return value;
}

/* By precedence, the weakest first; of those that begin alike the longer first.
 */
static const char *const operators[][5] = {{"||"},
					   {"&&"},
					   {"|"},
					   {"^"},
					   {"&"},
					   {"==", "!="},
					   {"<=", ">=", "<", ">"},
					   {"<<", ">>"},
					   {"+", "-"},
					   {"*", "/", "%"}};
#define LEVELS (sizeof(operators) / sizeof(operators[0]))

static const char *take_operator(struct expression *e, unsigned level)
{
	skip_blanks(e);
	for (unsigned i = 0; i < 5 && operators[level][i]; i++) {
		const char *op = operators[level][i];
		size_t length = strlen(op);
		const char *behind = e->at + length;

		if ((size_t)(e->end - e->at) < length ||
		    memcmp(e->at, op, length) != 0)
			continue;
		/* "|" is no half of "||", "<" none of "<<" */
		if (length == 1 && strchr("|&<>", *op) && behind < e->end &&
		    *behind == *op)
			continue;
		e->at = behind;
		return op;
	}
	return NULL;
}

static uint64_t apply(struct expression *e, const char *op, uint64_t a,
		      uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (*op) {
	case '|':
		return op[1] ? a || b : a | b;
	case '&':
		return op[1] ? a && b : a & b;
	case '^':
		return a ^ b;
	case '=':
		return a == b;
	case '!':
		return a != b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
	case '%':
		if (!b || (x == INT64_MIN && y == -1)) {
			e->wrong = true;
			return 0;
		}
		return (uint64_t)(*op == '/' ? x / y : x % y);
	case '<':
		if (op[1] == '<')
			return b < 64 ? a << b : 0;
		return op[1] ? x <= y : x < y;
	default:
		if (op[1] == '>')
			/* cppcheck-suppress shiftTooManyBitsSigned ; as gcc's
			 */
			return b < 64 ? (uint64_t)(x >> b) : 0;
		return op[1] ? x >= y : x > y;
	}
}

static uint64_t binary(struct expression *e, unsigned level)
{
	uint64_t value = level < LEVELS ? binary(e, level + 1) : unary(e);
	const char *op;

	while (level < LEVELS && !e->wrong &&
	       (op = take_operator(e, level)) != NULL)
		value = apply(e, op, value, binary(e, level + 1));
	return value;
}

bool swz_value_expression(const struct swz_value_names *names, const char *text,
			  size_t length, int64_t *value)
{
	struct expression e = {
		.names = names, .at = text, .end = text + length};

	*value = (int64_t)binary(&e, 0);
	skip_blanks(&e);
	return !e.wrong && e.at == e.end;
}

/* --- headers ------------------------------------------------------------- */

/* Comments become blanks, and lines that a backslash continues one line. */
static void clean(char *text)
{
	for (char *s = text; *s; s++) {
		if (s[0] == '\\' && s[1] == '\n') {
			s[0] = s[1] = ' ';
		} else if (s[0] == '/' && s[1] == '/') {
			while (*s && *s != '\n')
				*s++ = ' ';
			if (!*s)
				return;
		} else if (s[0] == '/' && s[1] == '*') {
			char *end = strstr(s + 2, "*/");

			if (!end)
				end = s + strlen(s) - 2;
			for (; s < end + 2; s++)
				*s = ' ';
			s--;
		} else if (*s == '"') {
			for (s++; *s && *s != '"' && *s != '\n'; s++)
				s += *s == '\\' && s[1];
			if (!*s)
				return;
		}
	}
}

/* "#define NAME EXPRESSION"; LINE is behind the #. */
static bool read_define(struct swz_value_names *names, const char *line,
			const char *end)
{
	static const char word[] = "define";
	const char *name;
	int64_t value;
	size_t length;

	while (line < end && (*line == ' ' || *line == '\t'))
		line++;
	if ((size_t)(end - line) < sizeof(word) ||
	    memcmp(line, word, sizeof(word) - 1) != 0)
		return true;
	line += sizeof(word) - 1;
	while (line < end && isspace((unsigned char)*line))
		line++;
	for (name = line; line < end && is_name(*line);)
		line++;
	length = (size_t)(line - name);
	if (!length || (line < end && *line == '('))
		return true;
	return !swz_value_expression(names, line, (size_t)(end - line),
				     &value) ||
	       swz_value_names_add(names, name, length, value);
}

/* The end of an enumerator's expression. */
static const char *expression_end(const char *at)
{
	unsigned depth = 0;

	for (; *at; at++) {
		if (*at == '(')
			depth++;
		else if (*at == ')')
			depth -= depth > 0;
		else if (!depth && (*at == ',' || *at == '}'))
			break;
	}
	return at;
}

/* AT is behind the opening brace. Returns where it ends; NULL: no memory. */
static const char *read_enum(struct swz_value_names *names, const char *at)
{
	int64_t value = 0;
	bool known = true;

	while (*at && *at != '}') {
		const char *name, *end;
		size_t length;

		while (isspace((unsigned char)*at))
			at++;
		for (name = at; is_name(*at);)
			at++;
		length = (size_t)(at - name);
		end = expression_end(at);
		at = memchr(at, '=', (size_t)(end - at));
		if (at)
			known = swz_value_expression(
				names, at + 1, (size_t)(end - at - 1), &value);
		if (length && known &&
		    !swz_value_names_add(names, name, length, value))
			return NULL;
		value = (int64_t)((uint64_t)value + 1);
		at = *end == ',' ? end + 1 : end;
	}
	return at;
}

/* Reads the enum that begins behind its word, if it is one with a body. */
static const char *find_enum(struct swz_value_names *names, const char *at)
{
	const char *brace = at + strcspn(at, "{;()=,#");

	return *brace == '{' ? read_enum(names, brace + 1) : at;
}

bool swz_value_names_read(struct swz_value_names *names, const char *text,
			  size_t size)
{
	static const char word[] = "enum";
	char *copy = strndup(text, size);
	const char *at = copy;
	bool begins = true;

	if (!copy)
		return false;
	clean(copy);
	while (at && *at) {
		const char *end = at + strcspn(at, "\n");

		if (*at == '#' && begins) {
			at = read_define(names, at + 1, end) ? end : NULL;
		} else if (strncmp(at, word, sizeof(word) - 1) == 0 &&
			   (at == copy || !is_name(at[-1])) &&
			   !is_name(at[sizeof(word) - 1])) {
			at = find_enum(names, at + sizeof(word) - 1);
			begins = false;
		} else {
			begins = *at == '\n' ||
				 (begins && isspace((unsigned char)*at));
			at++;
		}
	}
	free(copy);
	return at != NULL;
}
