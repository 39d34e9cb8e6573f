/* Conditions of the configuration: read, and compared with values. */

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "options/config_reading.h"

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
		if (!swz_config_unquote(text)) {
			swz_config_fail(
				r, "a text must end with a quote, and be all "
				   "there is");
			return;
		}
		c->operand = SWZ_OPERAND_TEXT;
		swz_config_set_text(r, &c->text, text);
	} else if (strcmp(text, "NULL") == 0) {
		c->operand = SWZ_OPERAND_NULL;
	} else if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
		c->operand = SWZ_OPERAND_INTEGER;
		c->integer = *text == 't';
		c->number = (double)c->integer;
	} else if (is_name && strcmp(text, "inf") != 0 &&
		   strcmp(text, "nan") != 0) {
		c->operand = SWZ_OPERAND_NAME;
		swz_config_set_text(r, &c->text, text);
	} else if (!read_number(text, c)) {
		swz_config_fail(r,
				"'%.100s' is no value: a number, \"text\", "
				"true, false, "
				"NULL or the name of an enum's value",
				text);
	}
	if (c->op == SWZ_MATCHES && c->operand != SWZ_OPERAND_TEXT)
		swz_config_fail(r, "~ compares with a \"pattern\" in quotes");
	if (c->operand == SWZ_OPERAND_NULL && c->op != SWZ_EQUAL &&
	    c->op != SWZ_NOT_EQUAL)
		swz_config_fail(r, "NULL is compared by == or !=");
}

static void read_comparison(struct swz_config_reading *r,
			    struct swz_condition *c, char *rest)
{
	char *word = rest ? swz_config_next_part(&rest) : NULL;
	int op;

	if (!word || !rest) {
		swz_config_fail(r, "an operator and a value are missing, as in "
				   "retval,<,0");
		return;
	}
	op = swz_word_is(operator_at, word, strlen(word));
	if (op < 0) {
		swz_config_fail_word(r, "operator", word, operator_at);
		return;
	}
	c->op = (enum swz_operator)op;
	read_operand(r, c, swz_config_strip(rest));
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
	char *rest = value, *word = swz_config_next_part(&rest), *end;
	int kind = swz_word_is(condition_at, word, strlen(word));
	unsigned long levels;

	c->line = r->line;
	if (kind < 0) {
		swz_config_fail_word(r, "condition", word, condition_at);
		return;
	}
	c->kind = (enum swz_condition_kind)kind;
	if (c->kind == SWZ_IF_RESULT) {
		read_comparison(r, c, rest);
		return;
	}
	word = rest ? swz_config_next_part(&rest) : NULL;
	if (!word || !*word || !rest) {
		swz_config_fail(r, c->kind == SWZ_IF_ARGUMENT
					   ? "write arg,NAME,OPERATOR,VALUE"
					   : "write backtrace,LEVELS,FUNCTION");
		return;
	}
	if (c->kind == SWZ_IF_ARGUMENT) {
		swz_config_set_text(r, &c->name, word);
		read_comparison(r, c, rest);
		return;
	}
	levels = strtoul(word, &end, 10);
	if (!isdigit((unsigned char)*word) || *end || !levels ||
	    levels > MOST_LEVELS) {
		swz_config_fail(
			r, "'%.100s' is not a number of levels from 1 to %u",
			word, MOST_LEVELS);
		return;
	}
	c->levels = (unsigned)levels;
	rest = swz_config_strip(rest);
	if (!*rest)
		swz_config_fail(r, "a function is missing");
	swz_config_set_text(r, &c->name, rest);
}

void swz_config_add_condition(struct swz_config_reading *r,
			      struct swz_condition **to, size_t *count,
			      char *value)
{
	struct swz_condition *more;

	if (*count == SWZ_CONFIG_MOST_ITEMS) {
		swz_config_fail(r, "more than %u conditions",
				SWZ_CONFIG_MOST_ITEMS);
		return;
	}
	more = realloc(*to, (*count + 1) * sizeof(*more));
	if (!more) {
		swz_config_fail(r, "no memory");
		return;
	}
	*to = more;
	more[*count] = (struct swz_condition){.kind = SWZ_IF_RESULT};
	read_condition(r, &more[(*count)++], value);
}

static bool decide(enum swz_operator op, int order)
{
	switch (op) {
	case SWZ_EQUAL:
		return order == 0;
	case SWZ_NOT_EQUAL:
		return order != 0;
	case SWZ_LESS:
		return order < 0;
	case SWZ_LESS_OR_EQUAL:
		return order <= 0;
	case SWZ_GREATER:
		return order > 0;
	case SWZ_GREATER_OR_EQUAL:
		return order >= 0;
	default:
		return false;
	}
}

bool swz_condition_holds_integer(const struct swz_condition *c, int64_t value,
				 bool is_unsigned)
{
	int order;

	if (c->operand == SWZ_OPERAND_FLOAT)
		return swz_condition_holds_float(
			c,
			is_unsigned ? (double)(uint64_t)value : (double)value);
	if (is_unsigned)
		order = (uint64_t)value < (uint64_t)c->integer
				? -1
				: (uint64_t)value > (uint64_t)c->integer;
	else
		order = value < c->integer ? -1 : value > c->integer;
	return decide(c->op, order);
}

bool swz_condition_holds_float(const struct swz_condition *c, double value)
{
	if (value != value || c->number != c->number)
		return c->op == SWZ_NOT_EQUAL;
	return decide(c->op, value < c->number ? -1 : value > c->number);
}

bool swz_condition_holds_text(const struct swz_condition *c, const char *text,
			      size_t length)
{
	size_t own = strlen(c->text);
	char *whole;
	bool matches;
	int order;

	if (c->op == SWZ_MATCHES) {
		whole = strndup(text, length);
		matches = whole && fnmatch(c->text, whole, 0) == 0;
		free(whole);
		return matches;
	}
	order = memcmp(text, c->text, length < own ? length : own);
	if (!order)
		order = length < own ? -1 : length > own;
	return decide(c->op, order);
}
