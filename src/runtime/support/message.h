#ifndef SWZ_RUNTIME_SUPPORT_MESSAGE_H
#define SWZ_RUNTIME_SUPPORT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line being put together without libc. */
struct swz_line {
	char text[1024];
	unsigned length;
	bool listed; /* for standard output, in parts if it is long; others are
		      * cut */
};

/* Notes what stderr is: if it is another file later, nothing is written to it.
 */
void swz_message_begin(void);

void swz_line_start(struct swz_line *line);
void swz_line_start_listed(struct swz_line *line);
void swz_line_string(struct swz_line *line, const char *string);
void swz_line_number(struct swz_line *line, uint64_t number);
void swz_line_hex(struct swz_line *line, uint64_t number);
/* Pads with spaces to this column (left-justified fields). */
void swz_line_column(struct swz_line *line, unsigned column);
/* Ends the line and writes it to stderr, whole where that goes; one that was
 * started as listed, to standard output. */
void swz_line_write(struct swz_line *line);
void swz_line_list(struct swz_line *line);
/* Whether a part of those could not be written. */
bool swz_line_lost(void);

/* A line with its newline to stderr, also where the program has closed that at
 * its end (as many do, to see whether all was written). False: it is not what
 * it was at the start, or does not take it. */
bool swz_message_put_last(const char *text, size_t length);

/* "swizzle: <a><b><c>\n" on stderr unless --quiet. NULL parts are skipped. */
void swz_say(const char *a, const char *b, const char *c);

#endif
