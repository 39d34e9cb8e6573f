#ifndef SWZ_BASE_PRINTABLE_H
#define SWZ_BASE_PRINTABLE_H

/* The characters that a line of text may have. All outputs ask here, so that a
 * name which controls a terminal, breaks a line or turns the text around does
 * that nowhere. These are shown as '?':
 *
 *     U+0000 to U+001F, U+007F to U+009F   controls (C0, DEL, C1)
 *     U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069
 *                                          directions (Unicode UAX #9)
 *     U+2028, U+2029                       ends of lines
 *     U+FFFE, U+FFFF                       no characters (XML has neither)
 *     any byte that is no UTF-8
 *
 * Pure; the texts need not end with a NUL where a size is given. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "swizzle/values.h"

/* --- text without control characters ------------------------------------- */

/* The length of the UTF-8 character that TEXT begins with, 0 if it is none. */
size_t swz_utf8_length(const char *text);

/* The length of what TEXT, of SIZE bytes (SIZE_MAX: up to a NUL) but at least
 * one, begins with: a character or a byte that is none. *SHOWN: it is shown as
 * it is. */
size_t swz_character(const char *text, size_t size, bool *shown);

/* Puts '?' in the place of what is not shown, except characters of KEPT. */
void swz_make_printable(char *text, const char *kept);

/* --- counts --------------------------------------------------------------- */

/* Ends a noun behind COUNT: "1 call", "2 calls". */
static inline const char *swz_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* --- profiles that are full ---------------------------------------------- */

/* Why a profile had no room for all that was to be in it. */

/* In a few words, as in "3 events not traced (ulimit -f)". FULL and FLAGS are a
 * file header's; OPTION is the bound where nothing else was in the way. */
const char *swz_file_bound(uint32_t full, uint32_t flags, const char *option);

/* --- reasons of refusals ------------------------------------------------- */

/* Why a function is not patched (enum swz_refusal), in words. Any number is
 * allowed. */
const char *swz_refusal_text(unsigned int reason);

/* --- labels -------------------------------------------------------------- */

/* Where a process belongs among others like it: what its environment says about
 * that when it starts. SWZ_CHUNK_LABELS of its profile has it. */

#define SWZ_LABELS_BYTES 2048u

/* Patterns, one a line: only paths that lead to these are to be shown. */
#define SWZ_LABEL_CALLER "caller"

/* The name by which the program was called, where its file has another one (a
 * symbolic link: redis-server, which is redis-check-rdb). */
#define SWZ_LABEL_CALLED "called"

struct swz_labels {
	uint32_t strings; /* two for each label: its name, its value */
	size_t bytes;
	char text[SWZ_LABELS_BYTES]; /* each with its NUL */
};

/* Reads them from ENVIRONMENT, which ends with NULL. What has no room is left
 * out. Allocates nothing. */
void swz_labels_read(struct swz_labels *labels, char *const *environment);

/* Sets one, in the place of another one of that name. Without room it is left
 * out. */
void swz_labels_set(struct swz_labels *labels, const char *name,
		    const char *value);

/* Adds SWZ_LABEL_CALLED where that is needed. CALLED and FILE are paths; either
 * may be NULL or empty. */
void swz_labels_add_called(struct swz_labels *labels, const char *called,
			   const char *file);

/* --- values of options --------------------------------------------------- */

/* The notation of -A, which is uftrace's: FUNCTION@SPEC[,SPEC]...
 *
 *     argN[/FORMAT]     argument N of the class INTEGER: 1 to 6 lie in
 *                       registers, the others on the stack
 *     fpargN[/FORMAT]   argument N of the class SSE: 1 to 8 in registers
 *     retval[/FORMAT]   the result
 *     argN%REGISTER, argN%stack+M, fpargN%xmmM
 *                       elsewhere: a register, the M-th word of the stack
 *
 * FORMAT is a letter and bits (8, 16, 32, 64; f: 32, 64, 80), either may be
 * left out: d and i signed, u, x, o, c (char), b (bool), s (C string), S
 * (std::string), p (pointer), f (floating point). Pure. */

/* One SPEC. */
struct swz_value_spec {
	struct swz_value_part part; /* but name and type, which are 0 */
	uint8_t type;               /* enum swz_type_kind */
	bool at_return;
	const char *name; /* "arg1", where it stands */
	unsigned name_length;
};

/* The text of one function's: where its SPECs begin; NULL: there is no @, or
 * nothing on one of its sides. */
const char *swz_value_specs(const char *text, unsigned length);

/* The next SPEC of TEXT, which ends at END; *TEXT then is behind it and a
 * comma. False: it is none; *TEXT stays. At the end the caller does not ask. */
bool swz_value_spec_read(const char **text, const char *end,
			 struct swz_value_spec *spec);

/* --- names of output files ----------------------------------------------- */

/* The names that -o may ask for: %h is the host's name, %q{VARIABLE} the value
 * of an environment variable. (%p, the process's number, is replaced later:
 * each process of a run has its own.) */

enum swz_output_name_status {
	SWZ_OUTPUT_NAME_FINE,
	SWZ_OUTPUT_NAME_UNSET,    /* the variable is not set */
	SWZ_OUTPUT_NAME_EMPTY,    /* its value is empty */
	SWZ_OUTPUT_NAME_UNCLOSED, /* %q without {, or { without } */
	SWZ_OUTPUT_NAME_HOST,     /* the host has no name */
	SWZ_OUTPUT_NAME_LONG      /* there is no room for the result */
};

struct swz_output_name_problem {
	const char *variable; /* within the pattern, and its length */
	size_t length;
};

/* Writes PATTERN with %h and %q{VARIABLE} replaced to OUT, of ROOM bytes, with
 * a NUL. Values are not looked into for more of them. ENVIRONMENT ends with
 * NULL. *PROBLEM is set for UNSET and EMPTY. Allocates nothing;
 * async-signal-safe. */
enum swz_output_name_status swz_output_name_expand(
	const char *pattern, char *const *environment, char *out, size_t room,
	struct swz_output_name_problem *problem);

#endif
