/* One pass over the lines. The first mistake ends it: what follows a wrong
 * section would be of another one. */

#include "options/config_reading.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 1000000u

static const char *kind_at(size_t index)
{
	static const char *const words[] = {"func", "class", "file", "module",
					    "printer"};

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
		swz_config_fail_word(r, "value", value, at);
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
		char *field = swz_config_next_part(&value), **more;

		if (!*field || rule->field_count == SWZ_CONFIG_MOST_ITEMS) {
			swz_config_fail(
				r,
				"write yes, no, or up to %u names of fields "
				"with commas between",
				SWZ_CONFIG_MOST_ITEMS);
			return;
		}
		more = realloc(rule->fields,
			       (rule->field_count + 1) * sizeof(*more));
		if (!more) {
			swz_config_fail(r, "no memory");
			return;
		}
		rule->fields = more;
		more[rule->field_count++] = swz_config_copy(r, field,
							    strlen(field));
	}
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
	swz_config_set_text(r, &rule->printed, value);
}

static void set_exceptional(struct swz_config_reading *r, char *value)
{
	struct swz_rule *rule = r->rule;

	if (strcmp(value, "no") == 0) {
		rule->never_exceptional = true;
		return;
	}
	swz_config_add_condition(r, &rule->exceptional,
				 &rule->exceptional_count, value);
	if (!r->failed && rule->exceptional[rule->exceptional_count - 1].kind !=
				  SWZ_IF_RESULT)
		swz_config_fail(r, "write no or retval,OPERATOR,VALUE");
}

static void set_depth(struct swz_config_reading *r, const char *value)
{
	char *end;
	unsigned long depth = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)*value) || *end || !depth ||
	    depth > MOST_DEPTH)
		swz_config_fail(
			r, "'%.100s' is not a number of levels from 1 to %u",
			value, MOST_DEPTH);
	else
		r->rule->depth = (uint32_t)depth;
}

static void set_colour(struct swz_config_reading *r, const char *value)
{
	if (swz_word_is(swz_config_colour_at, value, strlen(value)) < 0)
		swz_config_fail_word(r, "colour", value, swz_config_colour_at);
	else
		swz_config_set_text(r, &r->rule->colour, value);
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
	KEY_TEXT, /* and those behind it are of printers */
	KEY_LENGTH,
	KEY_SIZE,
	KEY_POINTER,
	KEYS
};

static const char *const keys[] = {
	"show",   "only_show_if", "list_args",   "prefix", "band",
	"colour", "dump_this",    "exceptional", "depth",  "errno",
	"prints", "text",         "length",      "size",   "pointer"};

static const char *key_of_call_at(size_t index)
{
	return index < KEY_TEXT ? keys[index] : NULL;
}

static const char *key_of_printer_at(size_t index)
{
	return index < KEYS - KEY_TEXT ? keys[KEY_TEXT + index] : NULL;
}

static void set_key(struct swz_config_reading *r, enum key key, char *value)
{
	struct swz_rule *rule = r->rule;

	switch (key) {
	case KEY_SHOW:
		set_choice(r, &rule->show, value, show_at);
		break;
	case KEY_ONLY_SHOW_IF:
		swz_config_add_condition(r, &rule->conditions,
					 &rule->condition_count, value);
		break;
	case KEY_LIST_ARGS:
		set_choice(r, &rule->list_args, value, yes_at);
		break;
	case KEY_PREFIX:
		if (*value == '"' && !swz_config_unquote(value))
			swz_config_fail(r, "a text must end with a quote");
		swz_config_set_text(r, &rule->prefix, value);
		break;
	case KEY_BAND:
		swz_config_set_text(r, &rule->band, value);
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
	case KEY_TEXT:
		swz_config_set_text(r, &rule->text, value);
		break;
	case KEY_LENGTH:
		swz_config_set_text(r, &rule->length, value);
		break;
	case KEY_SIZE:
		swz_config_set_text(r, &rule->size, value);
		break;
	case KEY_POINTER:
		swz_config_set_text(r, &rule->pointer, value);
		break;
	case KEYS:
		break;
	}
}

/* ------------------------------------------------------------------- lines */

static void read_key(struct swz_config_reading *r, char *line)
{
	char *equals = strchr(line, '='), *value;
	const char *key;
	bool printer;
	int found;

	if (!equals) {
		swz_config_fail(
			r, "neither [KIND@PATTERN] nor KEY = VALUE: %.100s",
			line);
		return;
	}
	*equals = '\0';
	key = swz_config_strip(line);
	value = swz_config_strip(equals + 1);
	if (!r->rule) {
		swz_config_fail(r, "'%.100s' stands before the first section",
				key);
		return;
	}
	if (strcmp(key, "color") == 0)
		key = "colour";
	printer = r->rule->kind == SWZ_RULE_PRINTER;
	found = swz_word_is(printer ? key_of_printer_at : key_of_call_at, key,
			    strlen(key));
	if (found < 0) {
		swz_config_fail_word(r, "key", key,
				     printer ? key_of_printer_at
					     : key_of_call_at);
		return;
	}
	r->key = printer ? keys[KEY_TEXT + found] : keys[found];
	if (!*value)
		swz_config_fail(r, "a value is missing");
	else
		set_key(r, (enum key)(printer ? KEY_TEXT + found : found),
			value);
	r->key = NULL;
}

static void check_printer(struct swz_config_reading *r)
{
	const struct swz_rule *rule = r->rule;

	if (!rule || rule->kind != SWZ_RULE_PRINTER || r->failed)
		return;
	r->line = rule->line;
	if (!rule->text + !rule->size + !rule->pointer != 2)
		swz_config_fail(
			r,
			"[printer@%.100s] needs one of text, size and pointer",
			rule->pattern);
	else if (rule->length && !rule->text)
		swz_config_fail(r, "[printer@%.100s]: length is that of text",
				rule->pattern);
}

static void read_section(struct swz_config_reading *r, char *line)
{
	size_t length = strlen(line);
	char *at, *kind;
	int found;

	if (line[length - 1] != ']') {
		swz_config_fail(r, "a section ends with ]: %.100s", line);
		return;
	}
	line[length - 1] = '\0';
	at = strchr(line, '@');
	if (!at) {
		swz_config_fail(
			r, "a section is [KIND@PATTERN]: func, class, file, "
			   "module or printer, @, and a pattern");
		return;
	}
	*at = '\0';
	kind = swz_config_strip(line + 1);
	found = swz_word_is(kind_at, kind, strlen(kind));
	if (found < 0) {
		swz_config_fail_word(r, "kind of section", kind, kind_at);
		return;
	}
	if (r->config->count == r->config->capacity) {
		size_t more = 2 * r->config->capacity + 8;
		void *rules = realloc(r->config->rules,
				      more * sizeof(struct swz_rule));

		if (!rules) {
			swz_config_fail(r, "no memory");
			return;
		}
		r->config->rules = rules;
		r->config->capacity = more;
	}
	r->rule = &r->config->rules[r->config->count++];
	*r->rule = (struct swz_rule){.kind = (enum swz_rule_kind)found,
				     .line = r->line};
	swz_config_set_text(r, &r->rule->pattern, swz_config_strip(at + 1));
	if (!r->failed && (!*r->rule->pattern || *r->rule->pattern == '!'))
		swz_config_fail(r, "a pattern is missing behind @");
}

static void read_line(struct swz_config_reading *r, char *line)
{
	line = swz_config_strip(line);
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
		swz_config_fail(&r, "no memory");
		return false;
	}
	if (strlen(all) != size) {
		r.line = 1;
		for (const char *s = all; *s; s++)
			r.line += *s == '\n';
		swz_config_fail(&r, "a character 0: this is no text");
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
