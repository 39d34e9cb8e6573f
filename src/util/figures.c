#include "util/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/printable.h"
#include "util/memory.h"

/* --- colours and widths -------------------------------------------------- */

enum swz_colour swz_colour_of_share(int64_t part, int64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;

	return share >= 0.1    ? SWZ_COLOUR_HOT
	       : share >= 0.01 ? SWZ_COLOUR_WARM
	       : share < 0.001 ? SWZ_COLOUR_DIM
			       : SWZ_COLOUR_NONE;
}

char *swz_printable(const char *text, bool utf8)
{
	char *printable = swz_allocate(strlen(text) + 1, 1), *to = printable;
	bool shown;

	while (*text) {
		size_t length = swz_character(text, SIZE_MAX, &shown);

		if (shown && (utf8 || length == 1)) {
			memcpy(to, text, length);
			to += length;
		} else {
			*to++ = '?';
		}
		text += length;
	}
	return printable;
}

static wchar_t code_point(const unsigned char *text, size_t length)
{
	unsigned int code = length == 2   ? text[0] & 0x1fu
			    : length == 3 ? text[0] & 0x0fu
					  : text[0] & 0x07u;
	size_t i;

	for (i = 1; i < length; i++)
		code = code << 6 | (text[i] & 0x3fu);
	return (wchar_t)code;
}

unsigned int swz_text_width(const char *text)
{
	unsigned int width = 0;

	while (*text) {
		size_t length = swz_utf8_length(text);
		int columns = 1;

		if (length > 1)
			columns = wcwidth(code_point(
				(const unsigned char *)text, length));
		width += columns < 0 ? 1 : (unsigned int)columns;
		text += length ? length : 1;
	}
	return width;
}

void swz_put_cell(FILE *stream, const struct swz_style *style,
		  enum swz_colour colour, const char *text, int width)
{
	static const char *const begin[] = {
		[SWZ_COLOUR_NONE] = "",
		[SWZ_COLOUR_BOLD] = "\033[1m",
		[SWZ_COLOUR_DIM] = "\033[2m",
		[SWZ_COLOUR_HOT] = "\033[1;31m",
		[SWZ_COLOUR_WARM] = "\033[33m",
		[SWZ_COLOUR_GOOD] = "\033[32m",
		[SWZ_COLOUR_FIRST_NAMED] = "\033[31m",
		[SWZ_COLOUR_FIRST_NAMED + 1] = "\033[32m",
		[SWZ_COLOUR_FIRST_NAMED + 2] = "\033[33m",
		[SWZ_COLOUR_FIRST_NAMED + 3] = "\033[34m",
		[SWZ_COLOUR_FIRST_NAMED + 4] = "\033[35m",
		[SWZ_COLOUR_FIRST_NAMED + 5] = "\033[36m",
		[SWZ_COLOUR_FIRST_NAMED + 6] = "\033[2m",
		[SWZ_COLOUR_LAST_NAMED] = "\033[1m",
	};
	bool coloured = style->colour && colour != SWZ_COLOUR_NONE;
	int padding = abs(width) - (int)swz_text_width(text);

	if (width > 0 && padding > 0)
		fprintf(stream, "%*s", padding, "");
	if (coloured)
		fputs(begin[colour], stream);
	fputs(text, stream);
	if (coloured)
		fputs("\033[m", stream);
	if (width < 0 && padding > 0)
		fprintf(stream, "%*s", padding, "");
}

/* --- figures as they are shown ------------------------------------------- */

/* Times are rounded in integers: 999,950 ns is 1.00 ms, never 1000 us. */

char *swz_figure_count(char *out, uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = out;
	int i;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

/* The first step of which there are less than a thousand is that to show. */
static char *put_time(char *out, uint64_t ns, bool utf8)
{
	static const char *const units[] = {"us", "ms", "s"};
	uint64_t step = 1, rounded = ns;
	unsigned int i;

	if (ns < 1000) {
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64 " ns", ns);
		return out;
	}
	for (i = 0; i < 9 && rounded >= 1000; i++) {
		step *= 10;
		rounded = (ns + step / 2) / step;
	}
	if (rounded >= 1000) {
		swz_figure_count(out, rounded);
		strcat(out, " s");
		return out;
	}
	i--; /* steps of 10 ns: 1.23 us, 100 ns: 12.3 us, 1 us: 123 us, ... */
	if (i % 3 == 2)
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64, rounded);
	else if (i % 3 == 1)
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64 ".%" PRIu64,
			 rounded / 10, rounded % 10);
	else
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64 ".%02" PRIu64,
			 rounded / 100, rounded % 100);
	strcat(out, " ");
	strcat(out, i < 3 && utf8 ? "\xc2\xb5s" : units[i / 3]);
	return out;
}

char *swz_figure_time(char *out, int64_t ns, bool utf8)
{
	if (ns >= 0)
		return put_time(out, (uint64_t)ns, utf8);
	out[0] = '-';
	put_time(out + 1, -(uint64_t)ns, utf8);
	return out;
}

char *swz_figure_share(char *out, int64_t part, int64_t whole)
{
	double percent = 100.0 * (double)part / (double)whole;

	if (!whole)
		strcpy(out, "-");
	else if (part > 0 && percent < 0.05)
		strcpy(out, "<0.1%");
	else
		snprintf(out, SWZ_FIGURE_BYTES, "%.*f%%", percent < 99.95,
			 percent);
	return out;
}

static char *put_sign(char *out, bool more)
{
	*out = more ? '+' : '-';
	return out + 1;
}

char *swz_figure_count_change(char *out, uint64_t old, uint64_t new)
{
	if (old == new)
		strcpy(out, "0");
	else
		swz_figure_count(put_sign(out, new > old),
				 new > old ? new - old : old - new);
	return out;
}

char *swz_figure_time_change(char *out, int64_t old, int64_t new, bool utf8)
{
	uint64_t distance = new > old ? (uint64_t) new - (uint64_t)old
				      : (uint64_t)old - (uint64_t) new;

	if (old == new)
		strcpy(out, "0");
	else
		put_time(put_sign(out, new > old), distance, utf8);
	return out;
}

char *swz_figure_percent_change(char *out, int64_t old, int64_t new)
{
	double percent = 100.0 * ((double)new - (double)old) / (double)old;

	if (old == new)
		strcpy(out, "0%");
	else if (!old)
		strcpy(out, "-");
	else if (fabs(percent) < 999.95)
		snprintf(out, SWZ_FIGURE_BYTES, "%+.1f%%", percent);
	else {
		swz_figure_count(put_sign(out, percent > 0),
				 fabs(percent) < 1e15
					 ? (uint64_t)(fabs(percent) + 0.5)
					 : (uint64_t)1e15);
		strcat(out, "%");
	}
	return out;
}

bool swz_missed_matter(uint64_t taken, uint64_t missed)
{
	double part = (double)missed, rest = (double)taken;

	return part * 50 > part + rest && part * part > rest;
}
