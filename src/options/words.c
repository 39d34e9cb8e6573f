/* Near misses are counted as Damerau did: a letter too much, too few, another
 * one, or two in the wrong order. One in three letters may be wrong. */

#include "options/words.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MOST_LETTERS 32u

int swz_word_find(swz_word_at *at, const char *word, size_t length)
{
	int found = SWZ_WORD_UNKNOWN;
	const char *known;

	for (size_t i = 0; (known = at(i)); i++) {
		if (!*known || strncmp(known, word, length) != 0)
			continue;
		if (!known[length])
			return (int)i;
		found = found == SWZ_WORD_UNKNOWN ? (int)i : SWZ_WORD_AMBIGUOUS;
	}
	return length ? found : SWZ_WORD_UNKNOWN;
}

int swz_word_is(swz_word_at *at, const char *word, size_t length)
{
	const char *known;

	for (size_t i = 0; (known = at(i)); i++)
		if (*known && strncmp(known, word, length) == 0 &&
		    !known[length])
			return (int)i;
	return SWZ_WORD_UNKNOWN;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Row i of the table: how far the first i letters of A are from each beginning
 * of B. */
static unsigned distance(const char *a, size_t m, const char *b, size_t n)
{
	unsigned rows[MOST_LETTERS + 1][MOST_LETTERS + 1];

	for (size_t i = 0; i <= m; i++) {
		for (size_t j = 0; j <= n; j++) {
			if (!i || !j) {
				rows[i][j] = (unsigned)(i + j);
				continue;
			}
			rows[i][j] = least(
				least(rows[i - 1][j], rows[i][j - 1]) + 1,
				rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				rows[i][j] = least(rows[i][j],
						   rows[i - 2][j - 2] + 1);
		}
	}
	return rows[m][n];
}

const char *swz_word_meant(swz_word_at *at, const char *word, size_t length)
{
	const char *known, *nearest = NULL;
	unsigned best = MOST_LETTERS;

	if (length > MOST_LETTERS)
		return NULL;
	for (size_t i = 0; (known = at(i)); i++) {
		size_t n = strlen(known);
		unsigned far;

		if (!n || n > MOST_LETTERS)
			continue;
		far = distance(word, length, known, n);
		if (far < best &&
		    (size_t)far * 3 <= (n > length ? n : length)) {
			best = far;
			nearest = known;
		}
	}
	return nearest;
}

__attribute__((format(printf, 2, 3))) static void append(char *text,
							 const char *format,
							 ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, SWZ_ADVICE_BYTES - length, format, arguments);
	va_end(arguments);
}

void swz_word_advice(swz_word_at *at, const char *word,
		     char text[SWZ_ADVICE_BYTES])
{
	const char *meant = swz_word_meant(at, word, strlen(word)), *known;
	const char *before = "There are: ";

	*text = '\0';
	if (meant)
		append(text, "; did you mean '%s'? ", meant);
	else
		append(text, ". ");
	for (size_t i = 0; (known = at(i)); i++) {
		if (!*known)
			continue;
		append(text, "%s%s", before, known);
		before = ", ";
	}
}

void swz_word_beginnings(swz_word_at *at, const char *word,
			 char text[SWZ_ADVICE_BYTES])
{
	const char *known;

	*text = '\0';
	for (size_t i = 0; (known = at(i)); i++)
		if (*known && strncmp(known, word, strlen(word)) == 0)
			append(text, "%s%s", *text ? ", " : "", known);
}

void swz_option_complaint(swz_word_at *at, const char *argument,
			  char text[SWZ_ADVICE_BYTES])
{
	const char *word = argument + 2;
	size_t length = strcspn(word, "=");
	const char *meant = swz_word_meant(at, word, length), *known;
	const char *before = ": ";

	*text = '\0';
	if (swz_word_find(at, word, length) != SWZ_WORD_AMBIGUOUS) {
		append(text, "unknown option --%.*s", (int)length, word);
		if (meant)
			append(text, "; did you mean --%s?", meant);
		return;
	}
	append(text, "option --%.*s could be several", (int)length, word);
	for (size_t i = 0; (known = at(i)); i++)
		if (strncmp(known, word, length) == 0) {
			append(text, "%s--%s", before, known);
			before = ", ";
		}
}
