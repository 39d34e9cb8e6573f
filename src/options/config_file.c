/* A configuration is read line by line into rules, one a section. The first
 * mistake ends the reading and is said with file, line and key. Texts are cut
 * in place; what a rule keeps of them is copied and belongs to the file. */

#include "options/config_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/command_line.h"

#define SWZ_CONFIG_MOST_ITEMS 64u /* conditions of a section, fields of one */

/* Where the reader is. */
struct swz_config_reading {
	struct swz_config_file *config;
	const char *name;
	unsigned line;
	const char *key; /* or NULL */
	char *problem;
	bool failed;
	struct swz_rule *rule; /* of the section */
};

/* --- text of the file ---------------------------------------------------- */

/* "FILE:LINE: KEY: what is wrong": the first mistake counts. */
static void config_fail(struct swz_config_reading *r, const char *format, ...)
{
	size_t room = SWZ_CONFIG_PROBLEM_BYTES, used;
	va_list arguments;

	if (r->failed)
		return;
	r->failed = true;
	used = (size_t)snprintf(r->problem, room, "%s:%u: %s%s", r->name,
				r->line, r->key ? r->key : "",
				r->key ? ": " : "");
	if (used >= room)
		return;
	va_start(arguments, format);
	vsnprintf(r->problem + used, room - used, format, arguments);
	va_end(arguments);
}

/* The same of a word that is none of those. */
static void config_fail_word(struct swz_config_reading *r, const char *what,
			     const char *word, swz_word_at *at)
{
	char advice[SWZ_ADVICE_BYTES];

	swz_word_advice(at, word, advice);
	config_fail(r, "unknown %s '%.100s'%s", what, word, advice);
}

static char *config_copy(struct swz_config_reading *r, const char *from,
			 size_t length)
{
	char *to = strndup(from, length);

	if (!to)
		config_fail(r, "no memory");
	return to;
}

static void config_set_text(struct swz_config_reading *r, char **to,
			    const char *from)
{
	free(*to);
	*to = config_copy(r, from, strlen(from));
}

/* Without white space at its ends, in place. */
static char *config_strip(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* The part before the next comma that is in no quotes, in place; *REST then is
 * behind it, or NULL. */
static char *config_next_part(char **rest)
{
	char *part = *rest, *s = part;
	bool quoted = false;

	for (; *s && (quoted || *s != ','); s++) {
		if (*s == '\\' && quoted && s[1])
			s++;
		else if (*s == '"')
			quoted = !quoted;
	}
	*rest = *s ? s + 1 : NULL;
	*s = '\0';
	return config_strip(part);
}

/* "a \"text\"" in place. False: it has no end, or something behind that. */
static bool config_unquote(char *text)
{
	char *to = text, *s = text + 1;

	for (; *s && *s != '"'; s++) {
		if (*s == '\\' && s[1]) {
			s++;
			*to++ = (char)(*s == 'n'   ? '\n'
				       : *s == 't' ? '\t'
						   : *s);
		} else {
			*to++ = *s;
		}
	}
	if (*s != '"' || s[1])
		return false;
	*to = '\0';
	return true;
}

/* --- conditions ---------------------------------------------------------- */

/* Conditions of the configuration: read, and compared with values. */

#define MOST_LEVELS 1000u

static const char *operator_at(size_t index)
{
	static const char *const words[] = {
		"==", "!=", "<", "<=", ">", ">=", "~"};

	return index < SWZ_OPERATORS ? words[index] : NULL;
}

static bool read_number(const char *text, struct swz_condition *c)
{
	char *end;

	errno = 0;
	if (*text == '-' || *text == '+') {
		c->integer = strtoll(text, &end, 0);
	} else {
		c->integer = (int64_t)strtoull(text, &end, 0);
	}
	if (*text && !*end && !errno) {
		c->operand = SWZ_OPERAND_INTEGER;
		c->number = *text == '-' ? (double)c->integer
					 : (double)(uint64_t)c->integer;
		return true;
	}
	errno = 0;
	c->number = strtod(text, &end);
	if (!*text || *end || errno)
		return false;
	c->operand = SWZ_OPERAND_FLOAT;
	c->integer = c->number > -9e18 && c->number < 9e18 ? (int64_t)c->number
							   : 0;
	return true;
}

static void read_operand(struct swz_config_reading *r, struct swz_condition *c,
			 char *text)
{
	bool is_name = isalpha((unsigned char)*text) || *text == '_';

	if (*text == '"') {
		if (!config_unquote(text)) {
			config_fail(r,
				    "a text must end with a quote, and be all "
				    "there is");
			return;
		}
		c->operand = SWZ_OPERAND_TEXT;
		config_set_text(r, &c->text, text);
	} else if (strcmp(text, "NULL") == 0) {
		c->operand = SWZ_OPERAND_NULL;
	} else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		c->operand = SWZ_OPERAND_INTEGER;
		c->integer = *text == 't';
		c->number = (double)c->integer;
	} else if (is_name && strcmp(text, "inf") != 0 &&
		   strcmp(text, "nan") != 0) {
		c->operand = SWZ_OPERAND_NAME;
		config_set_text(r, &c->text, text);
	} else if (!read_number(text, c)) {
		config_fail(r,
			    "'%.100s' is no value: a number, \"text\", "
			    "true, false, "
			    "NULL or the name of an enum's value",
			    text);
	}
	if (c->op == SWZ_MATCHES && c->operand != SWZ_OPERAND_TEXT)
		config_fail(r, "~ compares with a \"pattern\" in quotes");
	if (c->operand == SWZ_OPERAND_NULL && c->op != SWZ_EQUAL &&
	    c->op != SWZ_NOT_EQUAL)
		config_fail(r, "NULL is compared by == or !=");
}

static void read_comparison(struct swz_config_reading *r,
			    struct swz_condition *c, char *rest)
{
	char *word = rest ? config_next_part(&rest) : NULL;
	int op;

	if (!word || !rest) {
		config_fail(r, "an operator and a value are missing, as in "
			       "retval,<,0");
		return;
	}
	op = swz_word_is(operator_at, word, strlen(word));
	if (op < 0) {
		config_fail_word(r, "operator", word, operator_at);
		return;
	}
	c->op = (enum swz_operator)op;
	read_operand(r, c, config_strip(rest));
}

static const char *condition_at(size_t index)
{
	static const char *const words[] = {"backtrace", "arg", "retval"};

	return index < 3 ? words[index] : NULL;
}

/* backtrace,N,FUNCTION; arg,NAME,OP,VALUE; retval,OP,VALUE */
static void read_condition(struct swz_config_reading *r,
			   struct swz_condition *c, char *value)
{
	char *rest = value, *word = config_next_part(&rest), *end;
	int kind = swz_word_is(condition_at, word, strlen(word));
	unsigned long levels;

	c->line = r->line;
	if (kind < 0) {
		config_fail_word(r, "condition", word, condition_at);
		return;
	}
	c->kind = (enum swz_condition_kind)kind;
	if (c->kind == SWZ_IF_RESULT) {
		read_comparison(r, c, rest);
		return;
	}
	word = rest ? config_next_part(&rest) : NULL;
	if (!word || !*word || !rest) {
		config_fail(r, c->kind == SWZ_IF_ARGUMENT
				       ? "write arg,NAME,OPERATOR,VALUE"
				       : "write backtrace,LEVELS,FUNCTION");
		return;
	}
	if (c->kind == SWZ_IF_ARGUMENT) {
		config_set_text(r, &c->name, word);
		read_comparison(r, c, rest);
		return;
	}
	levels = strtoul(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || !levels ||
	    levels > MOST_LEVELS) {
		config_fail(r,
			    "'%.100s' is not a number of levels from 1 to %u",
			    word, MOST_LEVELS);
		return;
	}
	c->levels = (unsigned)levels;
	rest = config_strip(rest);
	if (!*rest)
		config_fail(r, "a function is missing");
	config_set_text(r, &c->name, rest);
}

/* Reads backtrace,N,FUNCTION; arg,NAME,OP,VALUE; retval,OP,VALUE. */
static void config_add_condition(struct swz_config_reading *r,
				 struct swz_condition **to, size_t *count,
				 char *value)
{
	struct swz_condition *more;

	if (*count == SWZ_CONFIG_MOST_ITEMS) {
		config_fail(r, "more than %u conditions",
			    SWZ_CONFIG_MOST_ITEMS);
		return;
	}
	more = realloc(*to, (*count + 1) * sizeof(*more));
	if (!more) {
		config_fail(r, "no memory");
		return;
	}
	*to = more;
	more[*count] = (struct swz_condition){.kind = SWZ_IF_RESULT};
	read_condition(r, &more[(*count)++], value);
}

/* --- sections and keys --------------------------------------------------- */

/* One pass over the lines. The first mistake ends it: what follows a wrong
 * section would be of another one. */

#define MOST_DEPTH 1000000u

static const char *kind_at(size_t index)
{
	static const char *const words[] = {"func",   "class",   "file",
					    "module", "printer", "type"};

	return index < SWZ_RULE_KINDS ? words[index] : NULL;
}

const char *swz_config_colour_at(size_t index)
{
	static const char *const words[] = {"red",  "green",   "yellow",
					    "blue", "magenta", "cyan",
					    "dim",  "bold"};

	return index < sizeof(words) / sizeof(words[0]) ? words[index] : NULL;
}

/* -------------------------------------------------------------------- keys */

static const char *yes_at(size_t index)
{
	static const char *const words[] = {"yes", "no"};

	return index < 2 ? words[index] : NULL;
}

static const char *show_at(size_t index)
{
	static const char *const words[] = {"yes", "no", "no_calls"};

	return index < 3 ? words[index] : NULL;
}

static void set_choice(struct swz_config_reading *r, enum swz_choice *to,
		       const char *value, swz_word_at *at)
{
	int found = swz_word_is(at, value, strlen(value));

	if (found < 0)
		config_fail_word(r, "value", value, at);
	else
		*to = (enum swz_choice)(SWZ_YES + found);
}

static void set_dump_this(struct swz_config_reading *r, char *value)
{
	struct swz_rule *rule = r->rule;

	rule->dump_this = SWZ_YES;
	if (swz_word_is(yes_at, value, strlen(value)) >= 0) {
		set_choice(r, &rule->dump_this, value, yes_at);
		return;
	}
	while (value && !r->failed) {
		char *field = config_next_part(&value), **more;

		if (!*field || rule->field_count == SWZ_CONFIG_MOST_ITEMS) {
			config_fail(
				r,
				"write yes, no, or up to %u names of fields "
				"with commas between",
				SWZ_CONFIG_MOST_ITEMS);
			return;
		}
		more = realloc(rule->fields,
			       (rule->field_count + 1) * sizeof(*more));
		if (!more) {
			config_fail(r, "no memory");
			return;
		}
		rule->fields = more;
		more[rule->field_count++] = config_copy(r, field,
							strlen(field));
	}
}

/* Adds a text to a list of them. */
static void add_text(struct swz_config_reading *r, char ***to, size_t *count,
		     const char *text)
{
	char **more = realloc(*to, (*count + 1) * sizeof(*more));

	if (!more) {
		config_fail(r, "no memory");
		return;
	}
	*to = more;
	more[*count] = config_copy(r, text, strlen(text));
	*count += !r->failed;
}

/* "n", "req.uri", "ctx->request->uri", "*n". */
static bool is_path(const char *text)
{
	text += *text == '*';
	for (;;) {
		size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz"
					     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					     "0123456789_");

		if (!length)
			return false;
		text += length;
		if (!*text)
			return true;
		if (*text == '.')
			text++;
		else if (text[0] == '-' && text[1] == '>')
			text += 2;
		else
			return false;
	}
}

static void add_paths(struct swz_config_reading *r, char ***to, size_t *count,
		      char *value)
{
	while (value && !r->failed) {
		char *path = config_next_part(&value);

		if (!is_path(path))
			config_fail(r,
				    "'%.100s' is no argument, nor a field of "
				    "one, as in n, req.uri, ctx->depth",
				    path);
		else if (*count == SWZ_CONFIG_MOST_ITEMS)
			config_fail(r, "more than %u arguments",
				    SWZ_CONFIG_MOST_ITEMS);
		else
			add_text(r, to, count, path);
	}
}

/* yes, no, or which arguments. */
static void set_list_args(struct swz_config_reading *r, char *value)
{
	struct swz_rule *rule = r->rule;

	rule->list_args = SWZ_YES;
	if (swz_word_is(yes_at, value, strlen(value)) >= 0)
		set_choice(r, &rule->list_args, value, yes_at);
	else
		add_paths(r, &rule->arguments, &rule->argument_count, value);
}

/* yes, no, or the name of the argument that has the text. */
static void set_prints(struct swz_config_reading *r, const char *value)
{
	struct swz_rule *rule = r->rule;

	free(rule->printed);
	rule->printed = NULL;
	if (swz_word_is(yes_at, value, strlen(value)) >= 0) {
		set_choice(r, &rule->prints, value, yes_at);
		return;
	}
	rule->prints = SWZ_YES;
	config_set_text(r, &rule->printed, value);
}

static void set_exceptional(struct swz_config_reading *r, char *value)
{
	struct swz_rule *rule = r->rule;

	if (strcmp(value, "no") == 0) {
		rule->never_exceptional = true;
		return;
	}
	config_add_condition(r, &rule->exceptional, &rule->exceptional_count,
			     value);
	if (!r->failed && rule->exceptional[rule->exceptional_count - 1].kind !=
				  SWZ_IF_RESULT)
		config_fail(r, "write no or retval,OPERATOR,VALUE");
}

static void set_depth(struct swz_config_reading *r, const char *value)
{
	char *end;
	unsigned long depth = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || !depth ||
	    depth > MOST_DEPTH)
		config_fail(r,
			    "'%.100s' is not a number of levels from 1 to %u",
			    value, MOST_DEPTH);
	else
		r->rule->depth = (uint32_t)depth;
}

static void set_colour(struct swz_config_reading *r, const char *value)
{
	if (swz_word_is(swz_config_colour_at, value, strlen(value)) < 0)
		config_fail_word(r, "colour", value, swz_config_colour_at);
	else
		config_set_text(r, &r->rule->colour, value);
}

/* NAME:VALUE, the path of a C header, or a pattern of names in it. */
static void add_names(struct swz_config_reading *r, char *item)
{
	struct swz_rule *rule = r->rule;
	char *colon = strchr(item, ':'), *name;
	int64_t value;

	if (!*item) {
		config_fail(r, "a name is missing between two commas");
		return;
	}
	if (!colon && strpbrk(item, "./")) {
		add_text(r, &rule->name_files, &rule->name_file_count, item);
		return;
	}
	if (!colon) {
		add_text(r, &rule->name_patterns, &rule->name_pattern_count,
			 item);
		return;
	}
	*colon = '\0';
	name = config_strip(item);
	if (!*name || !swz_value_expression(&rule->names, colon + 1,
					    strlen(colon + 1), &value))
		config_fail(r,
			    "'%.100s:%.100s' is not NAME:NUMBER, nor a C "
			    "header's path",
			    name, colon + 1);
	else if (!swz_value_names_add(&rule->names, name, strlen(name), value))
		config_fail(r, "no memory");
}

static void set_names(struct swz_config_reading *r, char *value)
{
	r->rule->names_line = r->line;
	while (value && !r->failed)
		add_names(r, config_next_part(&value));
}

static const char *base_at(size_t index)
{
	static const char *const words[] = {"decimal", "hex", "octal"};

	return index < 3 ? words[index] : NULL;
}

static void set_base(struct swz_config_reading *r, const char *value)
{
	static const unsigned bases[] = {10, 16, 8};
	int found = swz_word_is(base_at, value, strlen(value));

	if (found < 0)
		config_fail_word(r, "base", value, base_at);
	else
		r->rule->base = bases[found];
}

/* A type's rule is "no", or ">= 0x80000000" for the value itself. */
static void set_exceptional_value(struct swz_config_reading *r, char *value)
{
	size_t length = strspn(value, "=!<>~");
	char *text;

	if (strcmp(value, "no") == 0) {
		r->rule->never_exceptional = true;
		return;
	}
	if (asprintf(&text, "retval,%.*s,%s", (int)length, value,
		     value + length) < 0) {
		config_fail(r, "no memory");
		return;
	}
	config_add_condition(r, &r->rule->exceptional,
			     &r->rule->exceptional_count, text);
	free(text);
}

enum key {
	KEY_SHOW,
	KEY_ONLY_SHOW_IF,
	KEY_LIST_ARGS,
	KEY_PREFIX,
	KEY_BAND,
	KEY_COLOUR,
	KEY_DUMP_THIS,
	KEY_EXCEPTIONAL,
	KEY_DEPTH,
	KEY_ERRNO,
	KEY_PRINTS,
	KEY_WATCH,
	KEY_TEXT, /* and those behind it are of printers */
	KEY_LENGTH,
	KEY_SIZE,
	KEY_POINTER,
	KEY_NAMES, /* and those behind it are of types */
	KEY_BASE,
	KEY_TYPE_EXCEPTIONAL,
	KEYS
};

static const char *const keys[] = {
	"show",    "only_show_if", "list_args",   "prefix",     "band",
	"colour",  "dump_this",    "exceptional", "depth",      "errno",
	"prints",  "watch",        "text",        "length",     "size",
	"pointer", "names",        "base",        "exceptional"};

static const char *key_of_call_at(size_t index)
{
	return index < KEY_TEXT ? keys[index] : NULL;
}

static const char *key_of_printer_at(size_t index)
{
	return index < KEY_NAMES - KEY_TEXT ? keys[KEY_TEXT + index] : NULL;
}

static const char *key_of_type_at(size_t index)
{
	return index < KEYS - KEY_NAMES ? keys[KEY_NAMES + index] : NULL;
}

static void set_key(struct swz_config_reading *r, enum key key, char *value)
{
	struct swz_rule *rule = r->rule;

	switch (key) {
	case KEY_SHOW:
		set_choice(r, &rule->show, value, show_at);
		break;
	case KEY_ONLY_SHOW_IF:
		config_add_condition(r, &rule->conditions,
				     &rule->condition_count, value);
		break;
	case KEY_LIST_ARGS:
		set_list_args(r, value);
		break;
	case KEY_PREFIX:
		if (*value == '"' && !config_unquote(value))
			config_fail(r, "a text must end with a quote");
		config_set_text(r, &rule->prefix, value);
		break;
	case KEY_BAND:
		config_set_text(r, &rule->band, value);
		break;
	case KEY_COLOUR:
		set_colour(r, value);
		break;
	case KEY_DUMP_THIS:
		set_dump_this(r, value);
		break;
	case KEY_EXCEPTIONAL:
		set_exceptional(r, value);
		break;
	case KEY_DEPTH:
		set_depth(r, value);
		break;
	case KEY_ERRNO:
		set_choice(r, &rule->is_errno, value, yes_at);
		break;
	case KEY_PRINTS:
		set_prints(r, value);
		break;
	case KEY_WATCH:
		add_paths(r, &rule->watches, &rule->watch_count, value);
		break;
	case KEY_TEXT:
		config_set_text(r, &rule->text, value);
		break;
	case KEY_LENGTH:
		config_set_text(r, &rule->length, value);
		break;
	case KEY_SIZE:
		config_set_text(r, &rule->size, value);
		break;
	case KEY_POINTER:
		config_set_text(r, &rule->pointer, value);
		break;
	case KEY_NAMES:
		set_names(r, value);
		break;
	case KEY_BASE:
		set_base(r, value);
		break;
	case KEY_TYPE_EXCEPTIONAL:
		set_exceptional_value(r, value);
		break;
	case KEYS:
		break;
	}
}

/* ------------------------------------------------------------------- lines */

/* The keys that a section may have, and the first of them. */
static swz_word_at *keys_of(const struct swz_rule *rule, enum key *first)
{
	*first = rule->kind == SWZ_RULE_PRINTER ? KEY_TEXT
		 : rule->kind == SWZ_RULE_TYPE  ? KEY_NAMES
						: KEY_SHOW;
	return rule->kind == SWZ_RULE_PRINTER ? key_of_printer_at
	       : rule->kind == SWZ_RULE_TYPE  ? key_of_type_at
					      : key_of_call_at;
}

static void read_key(struct swz_config_reading *r, char *line)
{
	char *equals = strchr(line, '='), *value;
	const char *key;
	swz_word_at *at;
	enum key first;
	int found;

	if (!equals) {
		config_fail(r, "neither [KIND@PATTERN] nor KEY = VALUE: %.100s",
			    line);
		return;
	}
	*equals = '\0';
	key = config_strip(line);
	value = config_strip(equals + 1);
	if (!r->rule) {
		config_fail(r, "'%.100s' stands before the first section", key);
		return;
	}
	if (strcmp(key, "color") == 0)
		key = "colour";
	at = keys_of(r->rule, &first);
	found = swz_word_is(at, key, strlen(key));
	if (found < 0) {
		config_fail_word(r, "key", key, at);
		return;
	}
	r->key = keys[(int)first + found];
	if (!*value)
		config_fail(r, "a value is missing");
	else
		set_key(r, (enum key)((int)first + found), value);
	r->key = NULL;
}

static void check_printer(struct swz_config_reading *r)
{
	const struct swz_rule *rule = r->rule;

	if (!rule || rule->kind != SWZ_RULE_PRINTER || r->failed)
		return;
	r->line = rule->line;
	if (!rule->text + !rule->size + !rule->pointer != 2)
		config_fail(
			r,
			"[printer@%.100s] needs one of text, size and pointer",
			rule->pattern);
	else if (rule->length && !rule->text)
		config_fail(r, "[printer@%.100s]: length is that of text",
			    rule->pattern);
}

static void read_section(struct swz_config_reading *r, char *line)
{
	size_t length = strlen(line);
	char *at, *kind;
	int found;

	if (line[length - 1] != ']') {
		config_fail(r, "a section ends with ]: %.100s", line);
		return;
	}
	line[length - 1] = '\0';
	at = strchr(line, '@');
	if (!at) {
		config_fail(r,
			    "a section is [KIND@PATTERN]: func, class, file, "
			    "module, printer or type, @, and a pattern");
		return;
	}
	*at = '\0';
	kind = config_strip(line + 1);
	found = swz_word_is(kind_at, kind, strlen(kind));
	if (found < 0) {
		config_fail_word(r, "kind of section", kind, kind_at);
		return;
	}
	if (r->config->count == r->config->capacity) {
		size_t more = 2 * r->config->capacity + 8;
		void *rules = realloc(r->config->rules,
				      more * sizeof(struct swz_rule));

		if (!rules) {
			config_fail(r, "no memory");
			return;
		}
		r->config->rules = rules;
		r->config->capacity = more;
	}
	r->rule = &r->config->rules[r->config->count++];
	*r->rule = (struct swz_rule){.kind = (enum swz_rule_kind)found,
				     .line = r->line};
	config_set_text(r, &r->rule->pattern, config_strip(at + 1));
	if (!r->failed && (!*r->rule->pattern || *r->rule->pattern == '!'))
		config_fail(r, "a pattern is missing behind @");
}

static void read_line(struct swz_config_reading *r, char *line)
{
	line = config_strip(line);
	if (!*line || *line == '#' || *line == ';')
		return;
	if (*line == '[') {
		unsigned here = r->line;

		check_printer(r);
		r->line = here;
		if (!r->failed)
			read_section(r, line);
		return;
	}
	read_key(r, line);
}

bool swz_config_file_add(struct swz_config_file *config, const char *name,
			 const char *text, size_t size,
			 char problem[SWZ_CONFIG_PROBLEM_BYTES])
{
	struct swz_config_reading r = {
		.config = config, .name = name, .problem = problem};
	char *all = strndup(text, size), *line = all, *next;

	if (!all) {
		config_fail(&r, "no memory");
		return false;
	}
	if (strlen(all) != size) {
		r.line = 1;
		for (const char *s = all; *s; s++)
			r.line += *s == '\n';
		config_fail(&r, "a character 0: this is no text");
	}
	for (; line && !r.failed; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		r.line++;
		read_line(&r, line);
	}
	check_printer(&r);
	free(all);
	return !r.failed;
}
