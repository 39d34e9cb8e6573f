#include "profile/formats/sqlite.h"

#include <stdlib.h>
#include <string.h>

#include "profile/formats/shown_values.h"
#include "profile/support/memory.h"

struct swz_sqlite_values {
	struct swz_statement *add;
	struct swz_value_reader *reader; /* of the thread; NULL: it has none */
	struct swz_binding *binding;
	struct swz_shown_value shown;
};

struct swz_sqlite_values *swz_sqlite_values_begin(struct swz_database *database)
{
	struct swz_sqlite_values *values = swz_allocate(1, sizeof(*values));

	values->add = swz_statement_prepare(
		database,
		"INSERT INTO call_values VALUES (?, ?, ?, ?, ?, ?, ?)");
	return values;
}

void swz_sqlite_values_free(struct swz_sqlite_values *values)
{
	swz_values_close(values->reader);
	swz_statement_free(values->add);
	swz_shown_free(&values->shown);
	free(values);
}

void swz_sqlite_values_thread(struct swz_sqlite_values *values,
			      const struct swz_section *section)
{
	swz_values_close(values->reader);
	values->reader = swz_values_open(section->profile, section->thread);
	values->binding = section->binding;
}

/* What can be compared and added up. */
void swz_sqlite_put_number(struct swz_statement *row,
			   const struct swz_value *value)
{
	int64_t number;
	double real;

	if (value && swz_value_number(value, &number) &&
	    (number >= 0 || value->type->kind != SWZ_TYPE_UNSIGNED))
		swz_statement_integer(row, number);
	else if (value && swz_value_real(value, &real))
		swz_statement_real(row, real);
	else
		swz_statement_null(row);
}

/* A string without quotes, as far as it was recorded. */
static void put_text(struct swz_statement *row, const struct swz_value *value)
{
	const struct swz_value_bytes *text = value ? &value->text : NULL;
	char *copy;

	if (!text || !text->bytes || text->bad) {
		swz_statement_null(row);
		return;
	}
	copy = swz_allocate(text->size + 1, 1);
	memcpy(copy, text->bytes, text->size);
	swz_statement_text(row, copy);
	free(copy);
}

void swz_sqlite_values_add(struct swz_sqlite_values *values, int64_t event,
			   const struct swz_event *from)
{
	struct swz_statement *row = values->add;
	struct swz_call_values of;
	size_t i;

	if (!swz_values_of(values->reader, from, &of))
		return;
	for (i = 0; i < swz_shown_count(&of); i++) {
		swz_shown_read(&values->shown, values->binding, &of, i);
		swz_statement_integer(row, event);
		swz_statement_word(row, from->begins ? "entry" : "return");
		swz_statement_count(row, i + 1);
		swz_statement_kept_text(row, values->shown.name.text);
		swz_statement_kept_text(row, values->shown.text.text);
		swz_sqlite_put_number(row, values->shown.value);
		put_text(row, values->shown.value);
		swz_statement_run(row);
	}
}
