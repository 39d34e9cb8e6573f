/* A thin layer over libsqlite3, so that who fills tables need not look at
 * errors. There is one transaction, without a journal; the file is in nobody's
 * way until it is whole, so it is not locked either. */

#include "profile/formats/database.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

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

struct swz_database *swz_database_begin(const char *path)
{
	struct swz_database *database = swz_allocate(1, sizeof(*database));
	int code = sqlite3_open_v2(path, &database->handle,
				   SQLITE_OPEN_READWRITE, "unix-none");

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
