#ifndef SWZ_PROFILE_FORMATS_COMMON_CELLS_H
#define SWZ_PROFILE_FORMATS_COMMON_CELLS_H

/* The rows of a table for people: cells of figures, side by side, then names
 * that are cut to what is left of the terminal's width. */

#include <stdbool.h>

#include "profile/file/values.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/names/value_print.h"
#include "util/figures.h"

struct swz_cells {
	FILE *stream;
	const struct swz_style *style;
	int64_t total;       /* what shares are of */
	int time;            /* columns of a time */
	int count;           /* columns of a number */
	unsigned int used;   /* columns of the row so far */
	unsigned int name;   /* columns for functions where modules line up; 0:
			      * each module follows its function */
	unsigned int module; /* columns for modules */
	bool faint;          /* the row is drawn so, whatever its cells are */
	bool begun;          /* a table with titles is above */
	const char *counted; /* calls or samples */
	bool without_times;  /* of a comparison: calls alone */
};

/* No time in the table is longer than TOTAL, no count more than COUNT. COUNTED
 * is what is counted. */
void swz_cells_begin(struct swz_cells *cells, FILE *stream,
		     const struct swz_style *style, int64_t total,
		     uint64_t count, const char *counted);

/* There will be bounds, all the same, as below; 0: none. */
void swz_cells_have_bound(struct swz_cells *cells, int64_t bound_ns);

/* The cells of one row, from left to right, and their titles. */
void swz_put_share(struct swz_cells *cells, int64_t part);

void swz_put_time(struct swz_cells *cells, enum swz_colour colour, int64_t ns);

/* The same with a sign that it is rough. */
void swz_put_rough_time(struct swz_cells *cells, int64_t ns);

void swz_put_count(struct swz_cells *cells, uint64_t count);

/* The same; with BOUND_NS above 0 what it is less than: "<1.00 ms"; below 0 it
 * is not known: "-". */
void swz_put_share_below(struct swz_cells *cells, int64_t part,
			 int64_t bound_ns);

void swz_put_time_below(struct swz_cells *cells, enum swz_colour colour,
			int64_t ns, int64_t bound_ns);

/* A lower bound: ">431 us". */
void swz_put_time_above(struct swz_cells *cells, int64_t ns);

/* The same; "-" for what was not counted. */
void swz_put_count_or_none(struct swz_cells *cells, uint64_t count,
			   bool counted);

/* A cell with any text, at the right of WIDTH columns. */
void swz_put_text_cell(struct swz_cells *cells, enum swz_colour colour,
		       const char *text, int width);

void swz_put_share_title(struct swz_cells *cells, const char *title);

void swz_put_time_title(struct swz_cells *cells, const char *title);

void swz_put_count_title(struct swz_cells *cells, const char *title);

/* Makes *WIDTH as wide as a name with its remark is, at least. */
void swz_cells_widen(unsigned int *width, const struct swz_style *style,
		     const char *name, const char *remark);

/* The widest name and module of the table, by swz_cells_widen(), so that the
 * columns are no wider than they need be. The titles left of them have been
 * put. */
void swz_cells_fit(struct swz_cells *cells, unsigned int widest_name,
		   unsigned int widest_module);

/* The row's end: INDENT levels deep the function, its module, and a remark. */
void swz_put_names(struct swz_cells *cells, uint32_t indent,
		   const char *function, const char *module,
		   const char *remark);

/* "function" and "module", or others; MODULE may be NULL. */
void swz_put_name_titles(struct swz_cells *cells, const char *name,
			 const char *module);

/* The line below: how many rows are shown of ALL, which are called ONE or
 * MANY. */
void swz_put_shown(FILE *stream, size_t shown, size_t all, const char *one,
		   const char *many);

/* A comparison: what is new, what it was, and by how much it differs. */
void swz_put_change_titles(struct swz_cells *cells);

void swz_put_changes(struct swz_cells *cells,
		     const struct swz_costs_diff *costs);

/* The line above one of several tables: "callers of FUNCTION". */
void swz_put_heading_of(struct swz_cells *cells, const char *what,
			const char *function);

/* The columns that are left of the line, without TAKEN; of a line that is not
 * cut 0. */
unsigned int swz_cells_room(const struct swz_cells *cells, unsigned int taken);

/* Writes TEXT, cut to the terminal's width, in bold and without a newline; USED
 * columns of the line are not free. */
void swz_put_line(FILE *stream, const struct swz_style *style, const char *text,
		  unsigned int used);

/* Says what the table is of, and what is missing in it. */
void swz_put_summary(FILE *stream, const struct swz_style *style,
		     const struct swz_section *section);

/* --- texts cut to a width ------------------------------------------------ */

/* Texts that are cut to some columns of a terminal. */

/* The beginning of TEXT, its end, or both, in at most WIDTH columns, with a
 * mark where it is cut; "" if there is no room for that. To be freed. */
char *swz_cut_end(const char *text, unsigned int width, bool utf8);

char *swz_cut_middle(const char *text, unsigned int width, bool utf8);

char *swz_cut_beginning(const char *text, unsigned int width, bool utf8);

/* Cuts a command line that is wider than WIDTH: without the folder of the
 * program, then its beginning. A name in brackets, as kernel threads have it,
 * is no path. To be freed. */
char *swz_cut_command(const char *command, unsigned int width, bool utf8);

/* --- values of a context -------------------------------------------------- */

/* Arguments and results of a profile that is no trace: of each context the last
 * ones, and the smallest and the largest of each number. */

/* One argument or result; begins with zeros. */
struct swz_context_value {
	enum swz_value_moment moment;
	struct swz_text name, last; /* as -f calls has them */
	bool has_last;              /* it was not just being written */
	bool has_range;
	struct swz_text low, high;
	struct swz_value low_value, high_value; /* of the summary */
};
void swz_context_value_free(struct swz_context_value *value);

/* Calls PUT for each value of a context, those of the entry first. VALUE's
 * contents are those of this call alone. */
void swz_context_values_each(
	const struct swz_profile_summary *summary, struct swz_binding *binding,
	struct swz_context_value *value,
	void (*put)(void *to, const struct swz_context_value *value), void *to);

/* --- values of events ---------------------------------------------------- */

/* Arguments, results and exceptions as the formats of events have them: a name
 * and a text each, the same in all of them. */

/* The value that was read last; begins with zeros. */
struct swz_shown_value {
	struct swz_text name; /* "n", "*n" of what n points at, "exception" */
	struct swz_text text; /* as -f calls has it */
	const struct swz_value *value; /* NULL: an exception */
};

/* How many there are at one moment of a call. */
size_t swz_shown_count(const struct swz_call_values *values);

/* The one with this INDEX. */
void swz_shown_read(struct swz_shown_value *shown, struct swz_binding *binding,
		    const struct swz_call_values *values, size_t index);

void swz_shown_free(struct swz_shown_value *shown);

#endif
