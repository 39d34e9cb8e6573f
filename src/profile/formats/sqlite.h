#ifndef SWZ_PROFILE_FORMATS_SQLITE_H
#define SWZ_PROFILE_FORMATS_SQLITE_H

/* The parts of the writer of SQLite databases. docs/sqlite.md explains the
 * tables. */

#include "profile/formats/database.h"
#include "profile/formats/formats.h"

/* Before any row: the tables; after all of them: indexes, and views that show
 * names in the place of numbers. */
extern const char swz_sqlite_tables[];
extern const char swz_sqlite_indexes[];

/* The events of traces, one thread after the other. */
struct swz_sqlite_events;
struct swz_sqlite_events *swz_sqlite_events_begin(
	struct swz_database *database);
void swz_sqlite_events_free(struct swz_sqlite_events *events);

/* Writes those of the section's thread, whose number is THREAD; its contexts
 * have the numbers from FIRST_CONTEXT on. */
void swz_sqlite_events_add(struct swz_sqlite_events *events,
			   const struct swz_section *section, int64_t thread,
			   int64_t first_context);

/* Arguments and results of those calls, one thread after the other. */
struct swz_sqlite_values;
struct swz_sqlite_values *swz_sqlite_values_begin(
	struct swz_database *database);
void swz_sqlite_values_free(struct swz_sqlite_values *values);
void swz_sqlite_values_thread(struct swz_sqlite_values *values,
			      const struct swz_section *section);

/* Of the call with the number EVENT: at its begin, or at its end. FROM is what
 * swz_events_next() has just handed out. */
void swz_sqlite_values_add(struct swz_sqlite_values *values, int64_t event,
			   const struct swz_event *from);

/* A value that can be compared and added up; NULL for all others. */
struct swz_value;
void swz_sqlite_put_number(struct swz_statement *row,
			   const struct swz_value *value);

/* Writes those of a profile that is no trace: the last ones and the extremes of
 * the section's contexts, which are by unit and have the numbers from
 * FIRST_CONTEXT on. */
void swz_sqlite_put_context_values(struct swz_statement *row,
				   const struct swz_section *section,
				   int64_t first_context);

/* Writes when the section's thread did not run, as far as that was recorded. */
void swz_sqlite_put_waits(struct swz_statement *waits,
			  const struct swz_section *section, int64_t thread);

/* Writes the marks of the section's thread, or those of its whole process. */
void swz_sqlite_put_marks(struct swz_statement *marks,
			  const struct swz_section *section, int64_t process,
			  int64_t thread, bool of_process);

/* A time as the database has it: ns since the first process's start. */
int64_t swz_sqlite_ns(const struct swz_section *section, uint64_t ticks);

#endif
