#ifndef SWZ_PROFILE_FORMATS_COMMON_COLUMNS_H
#define SWZ_PROFILE_FORMATS_COMMON_COLUMNS_H

/* The columns of a table, each described once: its names, its width, and how to
 * get a row's value. Text, csv and JSON are written from such a list. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/formats/common/encoders.h"
#include "profile/formats/common/section.h"

/* A row's value in a column. */
struct swz_field {
	bool known;
	bool tenths;      /* the number is ten times what is shown */
	bool at_least;    /* the time is a lower bound */
	bool is_count;    /* without a sign: up to UINT64_MAX */
	int64_t number;   /* where there is no text */
	int64_t bound_ns; /* above 0: the time is less than this */
	const char *text;
};

struct swz_column {
	const char *name;  /* in csv and JSON; NULL: "calls" or "samples" */
	const char *title; /* in text; NULL: the same */
	int width;         /* in text; 0: a name, behind two spaces */
	struct swz_field (*get)(const void *table, const void *row,
				int argument);
	int argument; /* where one function serves several columns */
};

/* The columns of one table, from left to right. */
#define SWZ_MOST_COLUMNS 32
struct swz_columns {
	const struct swz_column *columns[SWZ_MOST_COLUMNS];
	size_t count;
	const char *counted; /* "calls" or "samples" */
	const void *table;   /* what get() is given */
};

static inline void swz_columns_add(struct swz_columns *columns,
				   const struct swz_column *column)
{
	columns->columns[columns->count++] = column;
}

static inline struct swz_field swz_field_number(bool known, int64_t number)
{
	return (struct swz_field){.known = known, .number = number};
}

static inline struct swz_field swz_field_count(bool known, uint64_t count)
{
	return (struct swz_field){
		.known = known, .is_count = true, .number = (int64_t)count};
}

/* NULL is not known. */
static inline struct swz_field swz_field_text(const char *text)
{
	return (struct swz_field){.known = text, .text = text};
}

/* Digits, "-" for what is not known, "<" before a bound. Neither writes the end
 * of the line. */
void swz_columns_put_titles(FILE *stream, const struct swz_columns *columns);
void swz_columns_put_text(FILE *stream, const struct swz_columns *columns,
			  const void *row);

/* A field is empty where nothing is known. No end of the line, either. */
void swz_columns_put_names(FILE *stream, const struct swz_columns *columns);
void swz_columns_put_csv(FILE *stream, const struct swz_columns *columns,
			 const void *row);

/* Members of an object; null where nothing is known. */
void swz_columns_put_json(struct swz_json *json,
			  const struct swz_columns *columns, const void *row);

/* --- columns of functions ------------------------------------------------ */

/* A function of a report as a row of a table. */
struct swz_row {
	const struct swz_catalog_function *function;
	const struct swz_report_function *costs;
	const char *module; /* without its directory */
};

/* The table that columns of functions are given; its rows are swz_row. */
struct swz_function_table {
	const struct swz_section *section;
	bool plain; /* of the bounds those of joined runs alone */
};

enum swz_function_column {
	SWZ_COLUMN_CALLS,
	SWZ_COLUMN_SELF,
	SWZ_COLUMN_INCLUSIVE,
	SWZ_COLUMN_SELF_WAITING,
	SWZ_COLUMN_INCLUSIVE_WAITING,
	SWZ_COLUMN_ERROR, /* of self */
	SWZ_COLUMN_MIN,
	SWZ_COLUMN_MAX,
	SWZ_COLUMN_P50, /* the others follow as in enum swz_percentile */
	SWZ_COLUMN_P90,
	SWZ_COLUMN_P99,
	SWZ_COLUMN_P999,
	SWZ_COLUMN_TIMED, /* calls that the percentiles are of */
	SWZ_COLUMN_UNWOUND,
	SWZ_COLUMN_BOUND, /* of a self time of 0, in joined runs */
	SWZ_COLUMN_FUNCTION,
	SWZ_COLUMN_MODULE,
	SWZ_COLUMN_FILE,
	SWZ_COLUMN_LINE,
	SWZ_COLUMN_TID, /* of the section */
	SWZ_COLUMN_THREAD
};

const struct swz_column *swz_function_column(enum swz_function_column column);

#endif
