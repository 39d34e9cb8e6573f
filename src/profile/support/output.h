#ifndef SWZ_PROFILE_SUPPORT_OUTPUT_H
#define SWZ_PROFILE_SUPPORT_OUTPUT_H

/* An output file that appears complete or not at all: it is written beside its
 * destination and renamed, or removed where exit(), SIGHUP, SIGINT or SIGTERM
 * ends the program before (up to four at a time). A destination that is no
 * regular file (a device, a FIFO) is written to directly. */

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

struct swz_output {
	FILE *stream;
	char *path;      /* the destination, NULL: standard output */
	char *temporary; /* to be renamed to path, or NULL */
	char *buffer;    /* the stream's; NULL: one of its own */
};

/* Opens PATH, "-" for standard output. SWZ_E_SYSTEM: see errno. */
enum swz_status swz_output_open(struct swz_output *output,
				const char *path) SWZ_MUST_CHECK;

/* Puts the file in its place. SWZ_E_SYSTEM (see errno) if that or anything
 * written before failed; the destination is untouched then. */
enum swz_status swz_output_close(struct swz_output *output) SWZ_MUST_CHECK;

/* Gives up: the destination is untouched, if it is a regular file. */
void swz_output_discard(struct swz_output *output);

/* Writes a number in decimal: what printf does, sooner. */
void swz_put_integer(FILE *stream, int64_t value);

/* Writes TEXT; control characters, which could break a line, become '?'. */
void swz_put_text(FILE *stream, const char *text);

/* Writes TEXT as a JSON string, with its quotes. Bytes that are no UTF-8 become
 * U+FFFD; the result can stand in an HTML <script>, too. */
void swz_put_json(FILE *stream, const char *text);

/* Writes TEXT as a field of CSV, in quotes if it needs them; control characters
 * become '?'. */
void swz_put_csv(FILE *stream, const char *text);

/* The same of a part of a field; the quotes are the caller's. */
void swz_put_csv_part(FILE *stream, const char *text);

/* The length of the UTF-8 character that TEXT begins with, 0 if it is none. */
size_t swz_utf8_length(const char *text);

/* The last part of a path; "-" for NULL. */
const char *swz_base_name(const char *path);

#endif
