#include "profile/code/perf_map.h"

#include <string.h>

#include "profile/code/shown_code_name.h"

struct line {
	const char *at, *end;
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void skip_blanks(struct line *line)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
}

/* With or without 0x, and with a blank behind it. */
static bool take_number(struct line *line, uint64_t *number)
{
	const char *first;

	skip_blanks(line);
	if (line->end - line->at > 2 && line->at[0] == '0' &&
	    (line->at[1] | 0x20) == 'x')
		line->at += 2;
	*number = 0;
	for (first = line->at; line->at < line->end; line->at++) {
		int digit = digit_of(*line->at);

		if (digit < 0)
			break;
		if (*number >> 60)
			return false;
		*number = *number << 4 | (unsigned)digit;
	}
	return line->at > first && line->at < line->end &&
	       (*line->at == ' ' || *line->at == '\t');
}

static void read_line(struct swz_code_ranges *ranges, struct line line,
		      uint64_t time_ns)
{
	uint64_t start, size;

	if (!take_number(&line, &start) || !take_number(&line, &size))
		return;
	skip_blanks(&line);
	swz_add_code(ranges, start, size, time_ns, line.at,
		     (size_t)(line.end - line.at));
}

size_t swz_perf_map_read(struct swz_code_ranges *ranges, const char *text,
			 size_t size, uint64_t time_ns)
{
	const char *at = text, *end = text + size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		read_line(ranges, (struct line){at, newline}, time_ns);
		at = newline + 1;
	}
	return (size_t)(at - text);
}
