/* A thin layer over libsqlite3, so that who fills tables need not look at
 * errors. There is one transaction, without a journal; the file is in nobody's
 * way until it is whole, so it is not locked either. */

#include "profile/formats/exports/exports.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"

struct swz_database {
	sqlite3 *handle;
	char *failure; /* the first; NULL: none */
};

struct swz_statement {
	struct swz_database *database;
	sqlite3_stmt *prepared; /* NULL: it could not be prepared */
	int column;             /* of the last value */
};

static void fail(struct swz_database *database, int code)
{
	if (code == SQLITE_NOMEM)
		swz_out_of_memory();
	if (database->failure)
		return;
	database->failure =
		code == SQLITE_FULL
			? swz_duplicate("no room for it, or for the temporary "
					"files that sorting takes (in "
					"SQLITE_TMPDIR or TMPDIR)")
			: swz_duplicate(
				  database->handle
					  ? sqlite3_errmsg(database->handle)
					  : sqlite3_errstr(code));
}

/* There is one thread, and nobody asks how much memory was taken: what it costs
 * to see to that is a tenth of the time. (Refused when it is too late.) */
static int open_alone(const char *path, sqlite3 **handle)
{
	(void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	return sqlite3_open_v2(path, handle,
			       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			       "unix-none");
}

struct swz_database *swz_database_begin(const char *path)
{
	struct swz_database *database = swz_allocate(1, sizeof(*database));
	int code = open_alone(path, &database->handle);

	if (code != SQLITE_OK)
		fail(database, code);
	/* (sorting for an index, too, takes so much memory: what a processor's
	 * cache holds is sorted soonest) */
	swz_database_run(database, "PRAGMA journal_mode = OFF;"
				   "PRAGMA synchronous = OFF;"
				   "PRAGMA cache_size = -4096;"
				   "BEGIN");
	return database;
}

void swz_database_run(struct swz_database *database, const char *statements)
{
	int code;

	if (database->failure)
		return;
	code = sqlite3_exec(database->handle, statements, NULL, NULL, NULL);
	if (code != SQLITE_OK)
		fail(database, code);
}

char *swz_database_end(struct swz_database *database)
{
	char *failure;
	int code;

	swz_database_run(database, "COMMIT");
	code = sqlite3_close(database->handle);
	if (code != SQLITE_OK)
		fail(database, code);
	failure = database->failure;
	free(database);
	return failure;
}

bool swz_database_failed(const struct swz_database *database)
{
	return database->failure != NULL;
}

struct swz_statement *swz_statement_prepare(struct swz_database *database,
					    const char *text)
{
	struct swz_statement *statement = swz_allocate(1, sizeof(*statement));
	int code;

	statement->database = database;
	if (database->failure)
		return statement;
	code = sqlite3_prepare_v3(database->handle, text, -1,
				  SQLITE_PREPARE_PERSISTENT,
				  &statement->prepared, NULL);
	if (code != SQLITE_OK)
		fail(database, code);
	return statement;
}

void swz_statement_free(struct swz_statement *statement)
{
	sqlite3_finalize(statement->prepared);
	free(statement);
}

static void bound(struct swz_statement *statement, int code)
{
	if (code != SQLITE_OK)
		fail(statement->database, code);
}

void swz_statement_integer(struct swz_statement *statement, int64_t value)
{
	if (statement->prepared)
		bound(statement,
		      sqlite3_bind_int64(statement->prepared,
					 ++statement->column, value));
}

void swz_statement_count(struct swz_statement *statement, uint64_t value)
{
	swz_statement_integer(statement,
			      value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void swz_statement_real(struct swz_statement *statement, double value)
{
	if (statement->prepared)
		bound(statement,
		      sqlite3_bind_double(statement->prepared,
					  ++statement->column, value));
}

void swz_statement_null(struct swz_statement *statement)
{
	if (statement->prepared)
		bound(statement, sqlite3_bind_null(statement->prepared,
						   ++statement->column));
}

/* A copy in which each byte that is no UTF-8 has become U+FFFD. */
static char *valid_copy(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	char *copy = swz_allocate(strlen(text) + 1, sizeof(replacement) - 1);
	char *to = copy;

	while (*text) {
		size_t length = swz_utf8_length(text);

		if (length) {
			memcpy(to, text, length);
			to += length;
			text += length;
		} else {
			memcpy(to, replacement, sizeof(replacement) - 1);
			to += sizeof(replacement) - 1;
			text++;
		}
	}
	return copy;
}

void swz_statement_text(struct swz_statement *statement, const char *text)
{
	if (!text) {
		swz_statement_null(statement);
		return;
	}
	if (statement->prepared)
		bound(statement, sqlite3_bind_text(statement->prepared,
						   ++statement->column,
						   valid_copy(text), -1, free));
}

static bool is_valid(const char *text, size_t *size)
{
	const char *at = text;

	while (*at) {
		size_t length = swz_utf8_length(at);

		if (!length)
			return false;
		at += length;
	}
	*size = (size_t)(at - text);
	return true;
}

void swz_statement_kept_text(struct swz_statement *statement, const char *text)
{
	size_t size;

	if (!is_valid(text, &size) || size > INT_MAX)
		swz_statement_text(statement, text);
	else if (statement->prepared)
		bound(statement, sqlite3_bind_text(statement->prepared,
						   ++statement->column, text,
						   (int)size, SQLITE_STATIC));
}

void swz_statement_word(struct swz_statement *statement, const char *word)
{
	if (!word)
		swz_statement_null(statement);
	else if (statement->prepared)
		bound(statement, sqlite3_bind_text(statement->prepared,
						   ++statement->column, word,
						   -1, SQLITE_STATIC));
}

void swz_statement_run(struct swz_statement *statement)
{
	statement->column = 0;
	if (!statement->prepared || statement->database->failure)
		return;
	if (sqlite3_step(statement->prepared) != SQLITE_DONE)
		fail(statement->database,
		     sqlite3_errcode(statement->database->handle));
	sqlite3_reset(statement->prepared);
}
