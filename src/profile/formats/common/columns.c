/* A new column is one entry of a list: all formats that want it name it. */

#include "profile/formats/common/columns.h"

#include <inttypes.h>
#include <math.h>

#include "util/memory.h"
#include "util/output.h"

/* --- writing ------------------------------------------------------------- */

static const char *name_of(const struct swz_columns *columns, size_t i)
{
	const char *name = columns->columns[i]->name;

	return name ? name : columns->counted;
}

static struct swz_field field_of(const struct swz_columns *columns, size_t i,
				 const void *row)
{
	const struct swz_column *column = columns->columns[i];

	return column->get(columns->table, row, column->argument);
}

void swz_columns_put_titles(FILE *stream, const struct swz_columns *columns)
{
	size_t i;

	for (i = 0; i < columns->count; i++) {
		const struct swz_column *column = columns->columns[i];
		const char *title = column->title ? column->title
						  : name_of(columns, i);

		fprintf(stream, "%s%*s",
			!column->width ? "  "
			: i            ? " "
				       : "",
			column->width, title);
	}
}

static void put_number(FILE *stream, const struct swz_field *field)
{
	if (field->tenths)
		fprintf(stream, "%" PRId64 ".%" PRId64, field->number / 10,
			field->number % 10);
	else if (field->is_count)
		fprintf(stream, "%" PRIu64, (uint64_t)field->number);
	else
		swz_put_integer(stream, field->number);
}

void swz_columns_put_text(FILE *stream, const struct swz_columns *columns,
			  const void *row)
{
	size_t i;

	for (i = 0; i < columns->count; i++) {
		const struct swz_column *column = columns->columns[i];
		struct swz_field field = field_of(columns, i, row);

		if (!column->width) {
			fputs("  ", stream);
			swz_put_text(stream, field.text);
			continue;
		}
		if (i)
			putc(' ', stream);
		if (field.tenths)
			fprintf(stream, "%*" PRId64 ".%" PRId64,
				column->width - 2, field.number / 10,
				field.number % 10);
		else if (field.known && field.at_least)
			swz_put_plain_least(stream, column->width,
					    field.number);
		else if (field.is_count)
			swz_put_plain_count(stream, column->width,
					    (uint64_t)field.number,
					    field.known);
		else
			swz_put_plain_time(stream, column->width, field.number,
					   field.known ? field.bound_ns
						       : SWZ_TIME_UNKNOWN);
	}
}

void swz_columns_put_names(FILE *stream, const struct swz_columns *columns)
{
	size_t i;

	for (i = 0; i < columns->count; i++)
		fprintf(stream, "%s%s", i ? "," : "", name_of(columns, i));
}

void swz_columns_put_csv(FILE *stream, const struct swz_columns *columns,
			 const void *row)
{
	size_t i;

	for (i = 0; i < columns->count; i++) {
		struct swz_field field = field_of(columns, i, row);

		if (i)
			putc(',', stream);
		if (!field.known || field.at_least)
			continue;
		if (field.text)
			swz_put_csv(stream, field.text);
		else
			put_number(stream, &field);
	}
}

void swz_columns_put_json(struct swz_json *json,
			  const struct swz_columns *columns, const void *row)
{
	size_t i;

	for (i = 0; i < columns->count; i++) {
		struct swz_field field = field_of(columns, i, row);

		if (!field.known || field.at_least) {
			swz_json_null(json, name_of(columns, i));
		} else if (field.text) {
			swz_json_string(json, name_of(columns, i), field.text);
		} else {
			swz_json_key(json, name_of(columns, i));
			put_number(json->stream, &field);
		}
	}
}

/* --- columns of functions ------------------------------------------------ */

static const struct swz_report_function *costs_of(const void *row)
{
	return ((const struct swz_row *)row)->costs;
}

static const struct swz_report *report_of(const void *table)
{
	return ((const struct swz_function_table *)table)->section->report;
}

enum { OF_SELF, OF_INCLUSIVE };

static struct swz_field get_calls(const void *table, const void *row,
				  int argument)
{
	(void)table;
	(void)argument;
	return swz_field_count(!costs_of(row)->uncounted, costs_of(row)->calls);
}

/* -m count knows no times. */
static struct swz_field get_time(const void *table, const void *row, int of)
{
	const struct swz_report_function *costs = costs_of(row);
	const struct swz_report *report = report_of(table);
	uint32_t function = (uint32_t)(costs - report->functions);
	int64_t ns = of == OF_SELF ? costs->self_ns : costs->inclusive_ns;
	struct swz_field field = swz_field_number(!report->without_times, ns);

	field.bound_ns = ((const struct swz_function_table *)table)->plain
				 ? swz_plain_bound(report, function, ns)
				 : swz_bound_of(report, function, ns);
	if (field.bound_ns < 0)
		field.known = false;
	return field;
}

static struct swz_field get_waiting(const void *table, const void *row, int of)
{
	const struct swz_report_function *costs = costs_of(row);

	return swz_field_number(report_of(table)->knows_waiting,
				of == OF_SELF ? costs->self_waiting_ns
					      : costs->inclusive_waiting_ns);
}

enum { OF_ERROR, OF_MIN, OF_MAX, OF_UNWOUND, OF_BOUND };

static struct swz_field get_other(const void *table, const void *row, int of)
{
	const struct swz_report_function *costs = costs_of(row);
	const struct swz_report *report = report_of(table);
	const bool times = !report->without_times;

	switch (of) {
	case OF_ERROR:
		return swz_field_number(
			true, (int64_t)rint(sqrt(costs->variance_ns)));
	case OF_MIN:
		return swz_field_number(times && costs->min_ns, costs->min_ns);
	case OF_MAX:
		return swz_field_number(times && costs->max_ns, costs->max_ns);
	case OF_UNWOUND:
		return swz_field_count(swz_report_sees_ends(report),
				       costs->unwound);
	default:
		return swz_field_number(
			!costs->self_ns,
			swz_bound_of(report,
				     (uint32_t)(costs - report->functions), 0));
	}
}

static struct swz_field get_percentile(const void *table, const void *row,
				       int which)
{
	const struct swz_report_function *costs = costs_of(row);
	int64_t ns = swz_percentile_ns(&costs->times,
				       (enum swz_percentile)which,
				       costs->min_ns, costs->max_ns);

	(void)table;
	return swz_field_number(ns >= 0, ns);
}

static struct swz_field get_timed(const void *table, const void *row,
				  int argument)
{
	const struct swz_report_function *costs = costs_of(row);

	(void)table;
	(void)argument;
	return swz_field_count(costs->times.count, costs->times.calls);
}

enum { OF_FUNCTION, OF_MODULE, OF_FILE, OF_LINE, OF_TID, OF_THREAD };

static struct swz_field get_name(const void *table, const void *row, int of)
{
	const struct swz_section *section =
		((const struct swz_function_table *)table)->section;
	const struct swz_row *r = row;

	switch (of) {
	case OF_FUNCTION:
		return swz_field_text(r->function->name);
	case OF_MODULE:
		return swz_field_text(r->module);
	case OF_FILE:
		return swz_field_text(r->function->file);
	case OF_LINE:
		return swz_field_number(r->function->file, r->function->line);
	case OF_TID:
		return swz_field_number(true, section->thread->record.tid);
	default:
		return swz_field_text(section->thread->name);
	}
}

const struct swz_column *swz_function_column(enum swz_function_column column)
{
	static const struct swz_column columns[] = {
		[SWZ_COLUMN_CALLS] = {NULL, NULL, 12, get_calls, 0},
		[SWZ_COLUMN_SELF] = {"self_ns", "self", 15, get_time, OF_SELF},
		[SWZ_COLUMN_INCLUSIVE] = {"incl_ns", "incl", 15, get_time,
					  OF_INCLUSIVE},
		[SWZ_COLUMN_SELF_WAITING] = {"self_waiting_ns", "self-wait", 15,
					     get_waiting, OF_SELF},
		[SWZ_COLUMN_INCLUSIVE_WAITING] = {"incl_waiting_ns",
						  "incl-wait", 15, get_waiting,
						  OF_INCLUSIVE},
		[SWZ_COLUMN_ERROR] = {"self_error_ns", "+/-", 13, get_other,
				      OF_ERROR},
		[SWZ_COLUMN_MIN] = {"min_ns", "min", 15, get_other, OF_MIN},
		[SWZ_COLUMN_MAX] = {"max_ns", "max", 15, get_other, OF_MAX},
		[SWZ_COLUMN_P50] = {"p50_ns", "p50", 15, get_percentile,
				    SWZ_P50},
		[SWZ_COLUMN_P90] = {"p90_ns", "p90", 15, get_percentile,
				    SWZ_P90},
		[SWZ_COLUMN_P99] = {"p99_ns", "p99", 15, get_percentile,
				    SWZ_P99},
		[SWZ_COLUMN_P999] = {"p999_ns", "p99.9", 15, get_percentile,
				     SWZ_P999},
		[SWZ_COLUMN_TIMED] = {"timed_calls", NULL, 12, get_timed, 0},
		[SWZ_COLUMN_UNWOUND] = {"unwound", NULL, 12, get_other,
					OF_UNWOUND},
		[SWZ_COLUMN_BOUND] = {"bound_ns", NULL, 15, get_other,
				      OF_BOUND},
		[SWZ_COLUMN_FUNCTION] = {"function", NULL, 0, get_name,
					 OF_FUNCTION},
		[SWZ_COLUMN_MODULE] = {"module", NULL, 0, get_name, OF_MODULE},
		[SWZ_COLUMN_FILE] = {"file", NULL, 0, get_name, OF_FILE},
		[SWZ_COLUMN_LINE] = {"line", NULL, 12, get_name, OF_LINE},
		[SWZ_COLUMN_TID] = {"tid", NULL, 12, get_name, OF_TID},
		[SWZ_COLUMN_THREAD] = {"thread", NULL, 0, get_name, OF_THREAD},
	};

	return &columns[column];
}
