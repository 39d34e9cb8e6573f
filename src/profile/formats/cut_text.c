#include "profile/formats/cut_text.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "profile/support/style.h"

#define LEAST_CUT 5u /* less says nothing */
#define MARK(utf8) ((utf8) ? "\xe2\x80\xa6" : "...")

char *swz_cut_end(const char *whole, unsigned int width, bool utf8)
{
	const char *mark = MARK(utf8);
	char *text = swz_printable(whole, utf8);
	char *cut;

	if (swz_text_width(text) <= width)
		return text;
	if (width < LEAST_CUT) {
		text[0] = '\0';
		return text;
	}
	while (swz_text_width(text) > width - swz_text_width(mark)) {
		size_t end = strlen(text) - 1;

		while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
			end--;
		text[end] = '\0';
	}
	cut = swz_print("%s%s", text, mark);
	free(text);
	return cut;
}

char *swz_cut_beginning(const char *whole, unsigned int width, bool utf8)
{
	const char *mark = MARK(utf8), *rest;
	char *text = swz_printable(whole, utf8), *cut;

	if (swz_text_width(text) <= width)
		return text;
	if (width < LEAST_CUT) {
		text[0] = '\0';
		return text;
	}
	rest = text;
	while (swz_text_width(rest) > width - swz_text_width(mark)) {
		rest++;
		while (((unsigned char)*rest & 0xc0) == 0x80)
			rest++;
	}
	cut = swz_print("%s%s", mark, rest);
	free(text);
	return cut;
}

char *swz_cut_command(const char *command, unsigned int width, bool utf8)
{
	char *text = swz_printable(command, utf8), *shorter, *cut;
	const char *program = text;

	if (swz_text_width(text) <= width)
		return text;
	for (const char *c = text; *c && *c != ' ' && *text != '['; c++)
		if (*c == '/' && c[1] && c[1] != ' ')
			program = c;
	shorter = program == text ? swz_duplicate(text)
				  : swz_print("%s%s", MARK(utf8), program);
	cut = swz_cut_end(shorter, width, utf8);
	free(shorter);
	free(text);
	return cut;
}

/* The bytes at TEXT whose characters take at most WIDTH columns, or with
 * UP, at least so many. */
static size_t bytes_of(const char *text, unsigned int width, bool up)
{
	char character[8] = "";
	unsigned int used = 0;
	size_t at = 0;

	while (text[at]) {
		size_t bytes = swz_utf8_length(text + at);
		unsigned int columns;

		bytes += !bytes;
		memset(character, 0, sizeof(character));
		memcpy(character, text + at, bytes);
		columns = swz_text_width(character);
		if (up ? used >= width : used + columns > width)
			break;
		used += columns;
		at += bytes;
	}
	return at;
}

char *swz_cut_middle(const char *whole, unsigned int width, bool utf8)
{
	const char *mark = MARK(utf8);
	char *text = swz_printable(whole, utf8), *cut;
	unsigned int all = swz_text_width(text), kept, head;
	size_t end;

	if (all <= width)
		return text;
	if (width < LEAST_CUT) {
		text[0] = '\0';
		return text;
	}
	kept = width - swz_text_width(mark);
	head = kept - kept / 2;
	end = bytes_of(text, head, false);
	cut = swz_print("%.*s%s%s", (int)end, text, mark,
			text + bytes_of(text, all - (kept - head), true));
	free(text);
	return cut;
}
