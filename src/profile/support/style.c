#include "profile/support/style.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

enum swz_colour swz_colour_of_share(int64_t part, int64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;

	return share >= 0.1    ? SWZ_COLOUR_HOT
	       : share >= 0.01 ? SWZ_COLOUR_WARM
	       : share < 0.001 ? SWZ_COLOUR_DIM
			       : SWZ_COLOUR_NONE;
}

/* U+0080 to U+009F are control characters, too. */
static bool is_shown(const unsigned char *text, size_t length, bool utf8)
{
	if (length == 1)
		return text[0] >= 0x20 && text[0] != 0x7f;
	return utf8 && length && !(text[0] == 0xc2 && text[1] < 0xa0);
}

char *swz_printable(const char *text, bool utf8)
{
	char *printable = swz_allocate(strlen(text) + 1, 1), *to = printable;

	while (*text) {
		size_t length = swz_utf8_length(text);

		if (is_shown((const unsigned char *)text, length, utf8)) {
			memcpy(to, text, length);
			to += length;
		} else {
			*to++ = '?';
		}
		text += length ? length : 1;
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
