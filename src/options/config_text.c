#include "options/config_reading.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void swz_config_fail(struct swz_config_reading *r, const char *format, ...)
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

void swz_config_fail_word(struct swz_config_reading *r, const char *what,
			  const char *word, swz_word_at *at)
{
	char advice[SWZ_ADVICE_BYTES];

	swz_word_advice(at, word, advice);
	swz_config_fail(r, "unknown %s '%.100s'%s", what, word, advice);
}

char *swz_config_copy(struct swz_config_reading *r, const char *from,
		      size_t length)
{
	char *to = strndup(from, length);

	if (!to)
		swz_config_fail(r, "no memory");
	return to;
}

void swz_config_set_text(struct swz_config_reading *r, char **to,
			 const char *from)
{
	free(*to);
	*to = swz_config_copy(r, from, strlen(from));
}

char *swz_config_strip(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

char *swz_config_next_part(char **rest)
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
	return swz_config_strip(part);
}

bool swz_config_unquote(char *text)
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
