#ifndef SWZ_RUNTIME_SUPPORT_MESSAGE_H
#define SWZ_RUNTIME_SUPPORT_MESSAGE_H

/* The library's messages: lines on stderr or standard output, put together
 * without libc, and the progress of planning. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"

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

/* With '?' for what is not shown (base/printable.h): names are the program's.
 */
void swz_line_string(struct swz_line *line, const char *string);
void swz_line_number(struct swz_line *line, uint64_t number);
void swz_line_hex(struct swz_line *line, uint64_t number);

/* Pads with spaces to this column (left-justified fields). */
void swz_line_column(struct swz_line *line, unsigned column);

/* Ends the line and writes it to stderr, whole where that goes; one that was
 * started as listed, to standard output. */
void swz_line_write(struct swz_line *line);
void swz_line_list(struct swz_line *line);

/* True if a part of those could not be written. */
bool swz_line_lost(void);

/* A line with its newline to stderr, also where the program has closed that at
 * its end (as many do, to see whether all was written). False: it is not what
 * it was at the start, or does not take it. */
bool swz_message_put_last(const char *text, size_t length);

/* "swizzle: <a><b><c>\n" on stderr unless --quiet. NULL parts are skipped. */
void swz_say(const char *a, const char *b, const char *c);

/* Why functions are not patched, for the user. */

/* Prints a line for each reason but one that counts say there is. */
void swz_refusals_print(const uint32_t *counts, unsigned except,
			const char *indent);

/* How far planning is, in a line on the terminal that stderr is, if it is one
 * and the process is in its foreground. It appears after a second and is gone
 * when the plan is made. Before the program's first code runs only: afterwards
 * the terminal is the program's. */

/* Planning begins: of modules with so much text. */
void swz_progress_begin(uint64_t bytes);

/* The module before, if any, is done; this one has so much of the text. */
void swz_progress_module(const char *path, uint64_t bytes);

/* So much of the module is done. */
void swz_progress_percent(unsigned percent);
void swz_progress_end(void);

#endif
