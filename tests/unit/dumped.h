#ifndef SWZ_TESTS_DUMPED_H
#define SWZ_TESTS_DUMPED_H

#include <stdbool.h>

/* Runs swizzle-dump, as it was built beside the tests (../../bin), on profiles
 * that a test writes as text. Each test has a directory of its own, which is
 * the current one. */

/* What the latest dump() printed, and its exit status. */
struct dumped {
	char *out, *err;
	int status;
};

extern struct dumped dumped;

/* Fixtures, around each test. */
void dump_begin(void);
void dump_end(void);

/* Writes the profile FILE of process PID, the program /bin/prog. CALLS is a
 * line for each context: two blanks for each of its callers, the function,
 * calls, and the ns that they took with all that they called. In a trace a line
 * is a call: the function, and BEGIN-END, in ns since the start; a ! or ~
 * behind it says that an exception or longjmp has ended it. The line "thread
 * NAME NS" begins another thread, which lives so long; without one, the first
 * is "main", of 1000 ns. A function's address follows from where its name comes
 * first in the test. A call of a function has the same call site in all
 * contexts of a caller. "so:NAME" is a function of /lib/libso.so; 0x1f in a
 * name is a line break. All profiles of a test are of the same build.
 *
 * Before all threads there may be lines "path PATH BUILD" (the program's, and a
 * letter for its build-id), "label NAME VALUE" and "lost CALLS"; in a thread
 * "mark TEXT NS" and "times FUNCTION CALLS NS" (for --percentiles: so many
 * calls took so long). */
void dump_made(const char *file, int pid, const char *calls);

/* WORDS as a shell takes them: swizzle-dump WORDS. */
void dump(const char *words, ...) __attribute__((format(printf, 1, 2)));

/* Leaves of what the latest dump() printed the rows alone, without comments and
 * headings; one blank between figures, and one before the name, which keeps its
 * indentation. */
void dump_rows(void);

/* Leaves of the latest -f chrome -o - its calls, as dump_made() takes them; any
 * other end than an exception and longjmp is told behind the times. */
void dump_calls(void);

/* What the database ".base", which -f sqlite has written, answers: a line a
 * row, values with | between them. */
void dump_sql(const char *query);

/* Assertions about swizzle-dump WORDS. (Macros: the line of the test is told.)
 */
#define dump_has_rows(words, expected) \
	do { \
		dump("%s", words); \
		ck_assert_str_eq(dumped.err, ""); \
		dump_rows(); \
		ck_assert_str_eq(dumped.out, expected); \
		ck_assert_int_eq(dumped.status, 0); \
	} while (0)

#define dump_has_calls(words, expected) \
	do { \
		dump("-q -f chrome -o - %s", words); \
		ck_assert_str_eq(dumped.err, ""); \
		dump_calls(); \
		ck_assert_str_eq(dumped.out, expected); \
		ck_assert_int_eq(dumped.status, 0); \
	} while (0)

#define dump_answers(query, expected) \
	do { \
		dump_sql(query); \
		ck_assert_str_eq(dumped.out, expected); \
	} while (0)

#define dump_is(words, expected) \
	do { \
		dump("%s", words); \
		ck_assert_str_eq(dumped.err, ""); \
		ck_assert_str_eq(dumped.out, expected); \
		ck_assert_int_eq(dumped.status, 0); \
	} while (0)

/* A part of what was printed. */
#define dump_has(text, part) \
	ck_assert_msg(strstr(text, part), "no %s in:\n%s", part, text)

/* A line of swizzle's that has EXPECTED in it, or nothing if that is empty. */
#define dump_says(words, expected_status, expected) \
	do { \
		dump("%s", words); \
		ck_assert_msg(dumped.status == (expected_status) && \
				      dump_told(expected), \
			      "%s: status %d, not %d: %s", words, \
			      dumped.status, expected_status, dumped.err); \
	} while (0)

/* The same of a refusal, which prints nothing else. */
#define dump_refuses(words, expected_status, expected) \
	do { \
		dump_says(words, expected_status, expected); \
		ck_assert_str_eq(dumped.out, ""); \
	} while (0)

bool dump_told(const char *text);

#endif
