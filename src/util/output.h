#ifndef SWZ_UTIL_OUTPUT_H
#define SWZ_UTIL_OUTPUT_H

/* How far long work is, in a line on the terminal that stderr is, if it is one.
 * It appears after a second and is gone when the work is done. Not thread safe.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/basics.h"

/* --- progress on a terminal ---------------------------------------------- */

/* Nothing is shown before this says so, and without a terminal it does not
 * matter. */
void swz_progress_allow(bool allowed);

/* A part of the work begins: what is done, and how much of it there is. */
void swz_progress_stage(const char *doing, uint64_t total);

/* So much more of it is done. */
void swz_progress_add(uint64_t amount);

/* Writes a line to stderr: "swizzle: ..." with '?' for what is not shown
 * (base/printable.h), as names and paths come from files. It may have newlines.
 */
void swz_complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void swz_complain_list(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0)));

/* Takes it away, and nothing is shown until the next stage. */
void swz_progress_end(void);

/* --- files that are complete or not there -------------------------------- */

/* An output file that appears complete or not at all: it is written beside its
 * destination and renamed, or removed where exit(), SIGHUP, SIGINT or SIGTERM
 * ends the program before (up to four at a time). A destination that is no
 * regular file (a device, a FIFO) is written to directly.
 *
 * A file that takes the place of another of the same owner gets its
 * permissions, as if it had been opened and written. */

enum swz_output_flags {
	/* The user has not given this name. Another user may have made what it
	 * leads to, so that is replaced by a new file: a symbolic link, a FIFO
	 * and the permissions of an older file are not heeded. */
	SWZ_OUTPUT_OWN_NAME = 1,
	/* A new file is for its owner only (0600), whatever the umask is. */
	SWZ_OUTPUT_PRIVATE = 2,
};

struct swz_output {
	FILE *stream;
	char *path;      /* the destination, NULL: standard output */
	char *temporary; /* to be renamed to path, or NULL */
	char *buffer;    /* the stream's; NULL: one of its own */
};

/* Opens PATH, "-" for standard output. FLAGS: enum swz_output_flags.
 * SWZ_E_SYSTEM: see errno. */
enum swz_status swz_output_open(struct swz_output *output, const char *path,
				unsigned int flags) SWZ_MUST_CHECK;

/* Puts the file in its place. SWZ_E_SYSTEM (see errno) if that or anything
 * written before failed; the destination is untouched then. */
enum swz_status swz_output_close(struct swz_output *output) SWZ_MUST_CHECK;

/* Gives up: the destination is untouched, if it is a regular file. */
void swz_output_discard(struct swz_output *output);

/* Writes a number in decimal: what printf does, sooner. */
void swz_put_integer(FILE *stream, int64_t value);

/* Writes TEXT with '?' for what is not shown (base/printable.h). */
void swz_put_text(FILE *stream, const char *text);

/* Writes TEXT as a JSON string, with its quotes. Bytes that are no UTF-8 become
 * U+FFFD; what is not shown is escaped. The result can stand in an HTML
 * <script>, too. */
void swz_put_json(FILE *stream, const char *text);

/* Writes TEXT as a field of CSV, in quotes if it needs them, as swz_put_text()
 * does. A text that begins with = + - @ gets an apostrophe before that: it is
 * no formula then. */
void swz_put_csv(FILE *stream, const char *text);

/* The same of a part of a field; quotes and apostrophe are the caller's. */
void swz_put_csv_part(FILE *stream, const char *text);

/* The last part of a path; "-" for NULL. */
const char *swz_base_name(const char *path);

/* --- compressed files ---------------------------------------------------- */

/* Output that is compressed as it is written. */

enum swz_compression { SWZ_PLAIN, SWZ_GZIP, SWZ_ZSTD };

/* By the name of a file: ".gz", ".zst". */
enum swz_compression swz_compression_of(const char *path);

/* All that is written from now on is compressed. SWZ_E_SYSTEM: it cannot be,
 * and the output is discarded. */
enum swz_status swz_output_compress(struct swz_output *output,
				    enum swz_compression compression)
	SWZ_MUST_CHECK;

#endif
