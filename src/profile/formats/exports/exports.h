#ifndef SWZ_PROFILE_FORMATS_EXPORTS_EXPORTS_H
#define SWZ_PROFILE_FORMATS_EXPORTS_EXPORTS_H

/* Writers of exports give this to each other and to swizzle-dump. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/costs/merge.h"
#include "profile/formats/common/section.h"
#include "util/memory.h"

/* --- labels --------------------------------------------------------------- */

/* Labels of samples: which process they are of, on which host, for which
 * service. Names are those of --push: Prometheus has no dots. */

struct swz_pprof_label {
	const char *key;
	const char *text; /* NULL: it is a number */
	uint64_t number;
};

#define SWZ_PPROF_MOST_LABELS 8

/* The labels that all processes of the section have in common. Returns how
 * many. Texts are the profiles'. */
size_t swz_pprof_labels(const struct swz_section *section,
			struct swz_pprof_label *labels);

/* The name of times there. */
const char *swz_pprof_time(const struct swz_profile *profile);

/* The value of a label that all processes of the section have; the name of the
 * program that all of them are. NULL: it is not the same. */
const char *swz_common_label(const struct swz_section *section,
			     const char *name);
const char *swz_common_program(const struct swz_section *section);

/* --- sums of profiles as profiles ------------------------------------------
 */

/* Writes a sum of profiles as a profile (SWZ_FILE_MERGED). */

/* The caller checks the stream. */
void swz_write_merged(FILE *stream, const struct swz_merge *merge);

/* --- a database of sqlite ------------------------------------------------ */

/* A new SQLite database that is filled row by row, by libsqlite3. The first
 * error is kept; after it all of these do nothing. */

struct swz_database;
struct swz_statement; /* a prepared INSERT or UPDATE */

/* Fills the empty file at PATH, which nobody else looks at meanwhile: half of
 * it is worth nothing, so nothing is done for what a crash would leave. */
struct swz_database *swz_database_begin(const char *path);

/* Runs statements, separated by semicolons. */
void swz_database_run(struct swz_database *database, const char *statements);

/* All is written, and the database closed and freed. Returns NULL, or what was
 * wrong: a text to be freed. */
char *swz_database_end(struct swz_database *database);

/* True if there was an error. */
bool swz_database_failed(const struct swz_database *database);

/* The statement has a parameter for each value. To be freed before the database
 * ends. */
struct swz_statement *swz_statement_prepare(struct swz_database *database,
					    const char *text);
void swz_statement_free(struct swz_statement *statement);

/* The values of a row, from the first to the last, then its end. */
void swz_statement_integer(struct swz_statement *statement, int64_t value);
void swz_statement_count(struct swz_statement *statement,
			 uint64_t value); /* saturates */
void swz_statement_real(struct swz_statement *statement, double value);
void swz_statement_null(struct swz_statement *statement);
/* Bytes that are no UTF-8 become U+FFFD, since readers stumble over them.
 * NULL: no value. */
void swz_statement_text(struct swz_statement *statement, const char *text);
/* The same of a text that stays as it is until the row ends. */
void swz_statement_kept_text(struct swz_statement *statement, const char *text);
/* The same of a text that is UTF-8 and lives as long as the program. */
void swz_statement_word(struct swz_statement *statement, const char *word);
void swz_statement_run(struct swz_statement *statement);

/* --- the calls of a trace (sqlite_calls.c) ---------------------------------
 */

struct swz_section;
struct swz_sqlite_events;

/* A time as the database has it: ns since the first process's start. */
int64_t swz_sqlite_ns(const struct swz_section *section, uint64_t ticks);

struct swz_sqlite_events *swz_sqlite_events_begin(
	struct swz_database *database);

/* Writes those of the section's thread, whose number is THREAD; its contexts
 * have the numbers from FIRST_CONTEXT on. */
void swz_sqlite_events_add(struct swz_sqlite_events *events,
			   const struct swz_section *section, int64_t thread,
			   int64_t first_context);

void swz_sqlite_events_free(struct swz_sqlite_events *events);

/* Writes when the section's thread did not run, as far as that was recorded. */
void swz_sqlite_put_waits(struct swz_statement *waits,
			  const struct swz_section *section, int64_t thread);

/* Writes the marks of the section's thread, or those of its whole process. */
void swz_sqlite_put_marks(struct swz_statement *marks,
			  const struct swz_section *section, int64_t process,
			  int64_t thread, bool of_process);

/* Writes those of a profile that is no trace: the last ones and the extremes of
 * the section's contexts, which are by unit and have the numbers from
 * FIRST_CONTEXT on. */
void swz_sqlite_put_context_values(struct swz_statement *row,
				   const struct swz_section *section,
				   int64_t first_context);

#endif
