#ifndef SWZ_RUNTIME_SUPPORT_MESSAGE_H
#define SWZ_RUNTIME_SUPPORT_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

/* A line being put together without libc. */
struct swz_line {
	char text[1024];
	unsigned length;
};

/* Notes what stderr is: if it is another file later, nothing is written to it.
 */
void swz_message_begin(void);

void swz_line_start(struct swz_line *line);
void swz_line_string(struct swz_line *line, const char *string);
void swz_line_number(struct swz_line *line, uint64_t number);
void swz_line_hex(struct swz_line *line, uint64_t number);
/* Pads with spaces to this column (left-justified fields). */
void swz_line_column(struct swz_line *line, unsigned column);
/* Ends the line and writes it to a descriptor, whole where that goes. */
void swz_line_write(struct swz_line *line, int fd);
/* Whether a line for standard output could not be written. */
bool swz_line_lost(void);

/* "swizzle: <a><b><c>\n" on stderr unless --quiet. NULL parts are skipped. */
void swz_say(const char *a, const char *b, const char *c);

#endif
