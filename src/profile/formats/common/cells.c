/* A row of a table for people is put cell by cell, from the left. Figures have
 * columns as wide as the largest figure of the table needs; names get what is
 * left of the terminal's width and are cut to it. */

#include "profile/formats/common/cells.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "profile/file/values.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/names/catalog.h"
#include "profile/names/value_print.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

#define LEAST_CUT 5u /* less says nothing */
#define MARK(utf8) ((utf8) ? "\xe2\x80\xa6" : "...")

char *swz_cut_end(const char *whole, unsigned int width, bool utf8)
{
	const char *mark = MARK(utf8);
	char *text = swz_printable(whole, utf8);
	char *cut;

	if (swz_text_width(text) <= width)
		return text;
	if (width < LEAST_CUT) {
		text[0] = '\0';
		return text;
	}
	while (swz_text_width(text) > width - swz_text_width(mark)) {
		size_t end = strlen(text) - 1;

		while (end && ((unsigned char)text[end] & 0xc0) == 0x80)
			end--;
		text[end] = '\0';
	}
	cut = swz_print("%s%s", text, mark);
	free(text);
	return cut;
}

char *swz_cut_beginning(const char *whole, unsigned int width, bool utf8)
{
	const char *mark = MARK(utf8), *rest;
	char *text = swz_printable(whole, utf8), *cut;

	if (swz_text_width(text) <= width)
		return text;
	if (width < LEAST_CUT) {
		text[0] = '\0';
		return text;
	}
	rest = text;
	while (swz_text_width(rest) > width - swz_text_width(mark)) {
		rest++;
		while (((unsigned char)*rest & 0xc0) == 0x80)
			rest++;
	}
	cut = swz_print("%s%s", mark, rest);
	free(text);
	return cut;
}

char *swz_cut_command(const char *command, unsigned int width, bool utf8)
{
	char *text = swz_printable(command, utf8), *shorter, *cut;
	const char *program = text;

	if (swz_text_width(text) <= width)
		return text;
	for (const char *c = text; *c && *c != ' ' && *text != '['; c++)
		if (*c == '/' && c[1] && c[1] != ' ')
			program = c;
	shorter = program == text ? swz_duplicate(text)
				  : swz_print("%s%s", MARK(utf8), program);
	cut = swz_cut_end(shorter, width, utf8);
	free(shorter);
	free(text);
	return cut;
}

/* The bytes at TEXT whose characters take at most WIDTH columns, or with
 * UP, at least so many. */
static size_t bytes_of(const char *text, unsigned int width, bool up)
{
	char character[8] = "";
	unsigned int used = 0;
	size_t at = 0;

	while (text[at]) {
		size_t bytes = swz_utf8_length(text + at);
		unsigned int columns;

		bytes += !bytes;
		memset(character, 0, sizeof(character));
		memcpy(character, text + at, bytes);
		columns = swz_text_width(character);
		if (up ? used >= width : used + columns > width)
			break;
		used += columns;
		at += bytes;
	}
	return at;
}

char *swz_cut_middle(const char *whole, unsigned int width, bool utf8)
{
	const char *mark = MARK(utf8);
	char *text = swz_printable(whole, utf8), *cut;
	unsigned int all = swz_text_width(text), kept, head;
	size_t end;

	if (all <= width)
		return text;
	if (width < LEAST_CUT) {
		text[0] = '\0';
		return text;
	}
	kept = width - swz_text_width(mark);
	head = kept - kept / 2;
	end = bytes_of(text, head, false);
	cut = swz_print("%.*s%s%s", (int)end, text, mark,
			text + bytes_of(text, all - (kept - head), true));
	free(text);
	return cut;
}

/* --- cells --------------------------------------------------------------- */

#define SHARE_WIDTH 5 /* "<0.1%" */
#define LEAST_NAME 16u
#define LEAST_MODULE 8u
#define WIDEST_ALIGNED 60u /* where lines are not cut */

static int at_least(int width, const char *figure)
{
	int needed = (int)swz_text_width(figure);

	return needed > width ? needed : width;
}

void swz_cells_begin(struct swz_cells *cells, FILE *stream,
		     const struct swz_style *style, int64_t total,
		     uint64_t count, const char *counted)
{
	char figure[SWZ_FIGURE_BYTES];

	*cells = (struct swz_cells){.stream = stream,
				    .style = style,
				    .total = total,
				    .counted = counted};
	cells->time = at_least((int)strlen("1.23 ms"),
			       swz_figure_time(figure, total, false));
	cells->count = at_least((int)strlen(counted),
				swz_figure_count(figure, count));
}

void swz_cells_have_bound(struct swz_cells *cells, int64_t bound_ns)
{
	char figure[SWZ_FIGURE_BYTES];

	if (bound_ns)
		cells->time = at_least(cells->time - 1,
				       swz_figure_time(figure, bound_ns,
						       false)) +
			      1;
}

static void put(struct swz_cells *cells, enum swz_colour colour,
		const char *text, int width)
{
	swz_put_cell(cells->stream, cells->style,
		     cells->faint ? SWZ_COLOUR_DIM : colour, text, width);
	cells->used += (unsigned int)at_least(abs(width), text);
}

void swz_put_text_cell(struct swz_cells *cells, enum swz_colour colour,
		       const char *text, int width)
{
	put(cells, colour, text, width);
}

/* Two spaces are between a function's shares. */
static int share_width(const struct swz_cells *cells)
{
	return cells->used ? SHARE_WIDTH + 2 : SHARE_WIDTH;
}

void swz_put_share(struct swz_cells *cells, int64_t part)
{
	char figure[SWZ_FIGURE_BYTES];

	put(cells, swz_colour_of_share(part, cells->total),
	    swz_figure_share(figure, part, cells->total), share_width(cells));
}

void swz_put_time(struct swz_cells *cells, enum swz_colour colour, int64_t ns)
{
	char figure[SWZ_FIGURE_BYTES];

	put(cells, SWZ_COLOUR_NONE, "", 1);
	put(cells, colour, swz_figure_time(figure, ns, cells->style->utf8),
	    cells->time);
}

static void put_marked_time(struct swz_cells *cells, const char *mark,
			    int64_t ns)
{
	char figure[SWZ_FIGURE_BYTES], marked[SWZ_FIGURE_BYTES + 3];

	snprintf(marked, sizeof(marked), "%s%s", mark,
		 swz_figure_time(figure, ns, cells->style->utf8));
	put(cells, SWZ_COLOUR_NONE, marked, cells->time + 1);
}

void swz_put_rough_time(struct swz_cells *cells, int64_t ns)
{
	put_marked_time(cells, cells->style->utf8 ? "\u2248" : "~", ns);
}

void swz_put_time_above(struct swz_cells *cells, int64_t ns)
{
	put_marked_time(cells, cells->style->utf8 ? "\u2265" : ">", ns);
}

void swz_put_count(struct swz_cells *cells, uint64_t count)
{
	char figure[SWZ_FIGURE_BYTES];

	put(cells, SWZ_COLOUR_NONE, swz_figure_count(figure, count),
	    cells->count + 2);
}

void swz_put_share_below(struct swz_cells *cells, int64_t part,
			 int64_t bound_ns)
{
	char figure[SWZ_FIGURE_BYTES], below[SWZ_FIGURE_BYTES + 1];

	if (!bound_ns) {
		swz_put_share(cells, part);
		return;
	}
	if (bound_ns < 0) {
		put(cells, SWZ_COLOUR_DIM, "-", share_width(cells));
		return;
	}
	swz_figure_share(figure, bound_ns, cells->total);
	snprintf(below, sizeof(below), "%s%s",
		 *figure == '<' || *figure == '-' ? "" : "<", figure);
	put(cells, SWZ_COLOUR_DIM, below, share_width(cells));
}

void swz_put_time_below(struct swz_cells *cells, enum swz_colour colour,
			int64_t ns, int64_t bound_ns)
{
	char figure[SWZ_FIGURE_BYTES], below[SWZ_FIGURE_BYTES + 1];

	if (!bound_ns) {
		swz_put_time(cells, colour, ns);
		return;
	}
	if (bound_ns < 0) {
		put(cells, SWZ_COLOUR_DIM, "-", cells->time + 1);
		return;
	}
	snprintf(below, sizeof(below), "<%s",
		 swz_figure_time(figure, bound_ns, cells->style->utf8));
	put(cells, SWZ_COLOUR_DIM, below, cells->time + 1);
}

void swz_put_count_or_none(struct swz_cells *cells, uint64_t count,
			   bool counted)
{
	if (counted)
		swz_put_count(cells, count);
	else
		put(cells, SWZ_COLOUR_DIM, "-", cells->count + 2);
}

void swz_put_share_title(struct swz_cells *cells, const char *title)
{
	put(cells, SWZ_COLOUR_BOLD, title, share_width(cells));
}

void swz_put_time_title(struct swz_cells *cells, const char *title)
{
	put(cells, SWZ_COLOUR_BOLD, title, cells->time + 1);
}

void swz_put_count_title(struct swz_cells *cells, const char *title)
{
	put(cells, SWZ_COLOUR_BOLD, title, cells->count + 2);
}

static unsigned int smaller(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The columns from the cursor to the terminal's edge, without TAKEN. */
static unsigned int room(const struct swz_cells *cells, unsigned int taken)
{
	taken += cells->used;
	return cells->style->width > taken ? cells->style->width - taken : 0;
}

unsigned int swz_cells_room(const struct swz_cells *cells, unsigned int taken)
{
	return room(cells, taken);
}

void swz_cells_widen(unsigned int *width, const struct swz_style *style,
		     const char *name, const char *remark)
{
	char *shown = swz_printable(name, style->utf8);
	unsigned int needed = swz_text_width(shown) + swz_text_width(remark);

	free(shown);
	if (needed > *width)
		*width = needed;
}

/* Two spaces are before each of them. Modules have a third of the room, and
 * more where the names leave it. */
void swz_cells_fit(struct swz_cells *cells, unsigned int widest_name,
		   unsigned int widest_module)
{
	unsigned int all = room(cells, 4);

	if (widest_name < strlen("function"))
		widest_name = (unsigned int)strlen("function");
	if (widest_module < strlen("module"))
		widest_module = (unsigned int)strlen("module");
	if (!cells->style->width) {
		cells->module = 0;
		cells->name = smaller(widest_name, WIDEST_ALIGNED);
		return;
	}
	cells->module = smaller(widest_module, all / 3);
	if (all > widest_name + cells->module)
		cells->module = smaller(widest_module, all - widest_name);
	if (cells->module < LEAST_MODULE)
		cells->module = smaller(widest_module, LEAST_MODULE);
	cells->name = all > cells->module ? all - cells->module : 0;
	if (cells->name < LEAST_NAME)
		cells->name = LEAST_NAME;
	cells->name = smaller(cells->name, widest_name);
}

void swz_put_line(FILE *stream, const struct swz_style *style, const char *text,
		  unsigned int used)
{
	unsigned int width = style->width > used ? style->width - used : 0;
	char *line = style->width ? swz_cut_end(text, width, style->utf8)
				  : swz_printable(text, style->utf8);

	swz_put_cell(stream, style, SWZ_COLOUR_BOLD, line, 0);
	free(line);
}

void swz_put_heading_of(struct swz_cells *cells, const char *what,
			const char *function)
{
	const struct swz_style *style = cells->style;
	unsigned int taken = (unsigned int)strlen(what) + 4;
	char *name = swz_printable(function, style->utf8), *text;

	if (cells->begun)
		putc('\n', cells->stream);
	text = swz_short_name(name,
			      style->width > taken ? style->width - taken : 0,
			      style->utf8);
	fprintf(cells->stream, "%s of ", what);
	swz_put_cell(cells->stream, style, SWZ_COLOUR_BOLD, text, 0);
	putc('\n', cells->stream);
	free(text);
	free(name);
}

/* So deep as leaves room for a name; what is deeper says how deep it is. */
static void put_indent(struct swz_cells *cells, uint32_t indent)
{
	unsigned int half = room(cells, 0) / 2;
	uint32_t most = cells->style->width ? half / 2 : 100;
	char depth[24];

	put(cells, SWZ_COLOUR_NONE, "",
	    (int)(2 * (indent < most ? indent : most)));
	if (indent <= most)
		return;
	snprintf(depth, sizeof(depth), "(%" PRIu32 ") ", indent);
	put(cells, SWZ_COLOUR_DIM, depth, 0);
}

/* The columns that a name may take: its own, or what is left of the row. */
static unsigned int name_room(const struct swz_cells *cells, const char *module,
			      const char *remark)
{
	unsigned int taken = swz_text_width(remark);

	if (*module)
		taken += 2 + smaller(swz_text_width(module), 12);
	if (!cells->style->width)
		return 0;
	if (cells->name)
		return cells->name;
	return room(cells, taken) > LEAST_NAME ? room(cells, taken)
					       : LEAST_NAME;
}

/* The module as it fits behind NAME; "": not at all. To be freed. */
static char *module_beside(const struct swz_cells *cells, const char *name,
			   const char *module, const char *remark)
{
	const struct swz_style *style = cells->style;
	unsigned int taken = swz_text_width(name);

	if (!style->width)
		return swz_printable(module, style->utf8);
	if (taken < cells->name)
		taken = cells->name;
	return swz_cut_end(module,
			   room(cells, taken + 2 + swz_text_width(remark)),
			   style->utf8);
}

void swz_put_names(struct swz_cells *cells, uint32_t indent,
		   const char *function, const char *module, const char *remark)
{
	const struct swz_style *style = cells->style;
	char *whole = swz_printable(function, style->utf8), *text, *after;
	unsigned int width;

	put(cells, SWZ_COLOUR_NONE, "", 2);
	put_indent(cells, indent);
	width = name_room(cells, module, remark);
	text = swz_short_name(whole, width, style->utf8);
	if (width) {
		char *cut = swz_cut_middle(text, width, style->utf8);

		free(text);
		text = cut;
	}
	after = module_beside(cells, text, module, remark);
	put(cells, SWZ_COLOUR_NONE, text,
	    *after || *remark ? -(int)cells->name : 0);
	if (*after) {
		put(cells, SWZ_COLOUR_NONE, "", 2);
		put(cells, SWZ_COLOUR_DIM, after, 0);
	}
	free(after);
	free(text);
	free(whole);
	if (*remark)
		put(cells, SWZ_COLOUR_DIM, remark, 0);
	putc('\n', cells->stream);
	cells->used = 0;
}

void swz_put_name_titles(struct swz_cells *cells, const char *name,
			 const char *module)
{
	char *after;

	put(cells, SWZ_COLOUR_NONE, "", 2);
	after = module_beside(cells, name, module ? module : "", "");
	put(cells, SWZ_COLOUR_BOLD, name, *after ? -(int)cells->name : 0);
	if (*after) {
		put(cells, SWZ_COLOUR_NONE, "", 2);
		put(cells, SWZ_COLOUR_BOLD, after, 0);
	}
	free(after);
	putc('\n', cells->stream);
	cells->used = 0;
	cells->begun = true;
}

void swz_put_shown(FILE *stream, size_t shown, size_t all, const char *one,
		   const char *many)
{
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "\n%s of", swz_figure_count(figure, shown));
	fprintf(stream, " %s %s", swz_figure_count(figure, all),
		all == 1 ? one : many);
	if (shown < all)
		fputs("; -n 0 shows all", stream);
}

/* ---------------------------------------------------------- comparisons */

#define PERCENT_WIDTH 8 /* "-100.0%" */
#define WIDE 100        /* a terminal with room for all columns */

static bool is_narrow(const struct swz_cells *cells)
{
	return cells->style->width && cells->style->width < WIDE;
}

void swz_put_change_titles(struct swz_cells *cells)
{
	char title[24];

	if (cells->without_times) {
		swz_put_count_title(cells, cells->counted);
		swz_put_count_title(cells, "was");
		put(cells, SWZ_COLOUR_BOLD, "diff", cells->count + 4);
		put(cells, SWZ_COLOUR_BOLD, "%", PERCENT_WIDTH);
		return;
	}
	snprintf(title, sizeof(title), "%s diff", cells->counted);
	/* One of the four columns that put() adds below is a space. */
	cells->count = at_least(cells->count, title + 3);
	swz_put_time_title(cells, "self");
	swz_put_time_title(cells, "was");
	put(cells, SWZ_COLOUR_BOLD, "diff", cells->time + 3);
	put(cells, SWZ_COLOUR_BOLD, "%", PERCENT_WIDTH);
	if (!is_narrow(cells))
		put(cells, SWZ_COLOUR_BOLD, "incl diff", cells->time + 4);
	put(cells, SWZ_COLOUR_BOLD, title, cells->count + 4);
}

/* Less is good; what is little of the total is neither. */
static enum swz_colour colour_of(const struct swz_cells *cells, int64_t old,
				 int64_t new)
{
	double share = cells->total ? ((double)new - (double)old) /
					      (double)cells->total
				    : 0;

	return share >= 0.01    ? SWZ_COLOUR_HOT
	       : share <= -0.01 ? SWZ_COLOUR_GOOD
				: SWZ_COLOUR_NONE;
}

static void put_changed_calls(struct swz_cells *cells, uint64_t old,
			      uint64_t new)
{
	char figure[SWZ_FIGURE_BYTES];

	swz_put_count(cells, new);
	swz_put_count(cells, old);
	put(cells, SWZ_COLOUR_NONE, swz_figure_count_change(figure, old, new),
	    cells->count + 4);
	put(cells, SWZ_COLOUR_NONE,
	    swz_figure_percent_change(figure, swz_signed(old), swz_signed(new)),
	    PERCENT_WIDTH);
}

static void put_time_change(struct swz_cells *cells, int64_t old, int64_t new,
			    int64_t bound_ns, int width)
{
	bool utf8 = cells->style->utf8;
	char figure[SWZ_FIGURE_BYTES], below[SWZ_FIGURE_BYTES + 1];

	if (!bound_ns) {
		put(cells, colour_of(cells, old, new),
		    swz_figure_time_change(figure, old, new, utf8), width);
		return;
	}
	snprintf(below, sizeof(below), "<%s",
		 swz_figure_time(figure, bound_ns, utf8));
	put(cells, SWZ_COLOUR_DIM, below, width);
}

void swz_put_changes(struct swz_cells *cells,
		     const struct swz_costs_diff *costs)
{
	const struct swz_costs *old = &costs->old, *new = &costs->new;
	int64_t old_bound = swz_self_bound(old),
		new_bound = swz_self_bound(new);
	char figure[SWZ_FIGURE_BYTES];

	if (cells->without_times) {
		put_changed_calls(cells, old->calls, new->calls);
		return;
	}
	swz_put_time_below(cells, SWZ_COLOUR_NONE, new->self_ns, new_bound);
	swz_put_time_below(cells, SWZ_COLOUR_NONE, old->self_ns, old_bound);
	put_time_change(cells, old->self_ns, new->self_ns,
			swz_diff_self_bound(costs), cells->time + 3);
	put(cells, colour_of(cells, old->self_ns, new->self_ns),
	    old_bound || new_bound
		    ? "-"
		    : swz_figure_percent_change(figure, old->self_ns,
						new->self_ns),
	    PERCENT_WIDTH);
	if (!is_narrow(cells))
		put_time_change(cells, old->inclusive_ns, new->inclusive_ns,
				swz_diff_inclusive_bound(costs),
				cells->time + 4);
	put(cells, SWZ_COLOUR_NONE,
	    costs->uncounted
		    ? "-"
		    : swz_figure_count_change(figure, old->calls, new->calls),
	    cells->count + 4);
}

/* --- values of a context -------------------------------------------------- */

/* Arguments, results and exceptions: of the calls of a trace those at one
 * moment, of a profile's contexts the last ones and the range of each number.
 */

size_t swz_shown_count(const struct swz_call_values *values)
{
	return (values->exception ? 1 : 0) + values->count;
}

void swz_shown_read(struct swz_shown_value *shown, struct swz_binding *binding,
		    const struct swz_call_values *values, size_t index)
{
	swz_text_clear(&shown->name);
	swz_text_clear(&shown->text);
	shown->value = NULL;
	if (values->exception && index-- == 0) {
		swz_text_put(&shown->name, "exception");
		swz_exception_print(&shown->text, values->exception);
		return;
	}
	shown->value = &values->values[index];
	if (shown->value->pointed)
		swz_text_put_plain(&shown->name, "*");
	swz_text_put_plain(&shown->name, shown->value->name);
	swz_value_print(&shown->text, binding, shown->value);
}

void swz_shown_free(struct swz_shown_value *shown)
{
	swz_text_free(&shown->name);
	swz_text_free(&shown->text);
}

/* --- values of contexts -------------------------------------------------- */

void swz_context_value_free(struct swz_context_value *value)
{
	swz_text_free(&value->name);
	swz_text_free(&value->last);
	swz_text_free(&value->low);
	swz_text_free(&value->high);
}

static enum swz_value_moment moment_of(
	const struct swz_profile_summary *summary, unsigned range)
{
	return swz_summary_ranges(summary->head)[range].part <
			       summary->signature->entry_parts
		       ? SWZ_VALUES_ENTRY
		       : SWZ_VALUES_RETURN;
}

/* The range of the moment's value with this name; false: it has none. */
static bool find_range(const struct swz_profile_summary *summary,
		       struct swz_context_value *value)
{
	unsigned i;

	for (i = 0; i < summary->head->ranges; i++)
		if (moment_of(summary, i) == value->moment &&
		    swz_summary_range(summary, i, &value->low_value,
				      &value->high_value) &&
		    strcmp(value->low_value.name, value->name.text) == 0)
			return true;
	return false;
}

static void print_range(struct swz_context_value *value,
			struct swz_binding *binding)
{
	swz_text_clear(&value->low);
	swz_text_clear(&value->high);
	if (!value->has_range)
		return;
	swz_value_print(&value->low, binding, &value->low_value);
	swz_value_print(&value->high, binding, &value->high_value);
}

void swz_context_values_each(
	const struct swz_profile_summary *summary, struct swz_binding *binding,
	struct swz_context_value *value,
	void (*each)(void *to, const struct swz_context_value *value), void *to)
{
	static const enum swz_value_moment moments[] = {SWZ_VALUES_ENTRY,
							SWZ_VALUES_RETURN};
	struct swz_shown_value shown = {0};
	struct swz_call_values last;
	size_t m, i;

	for (m = 0; m < 2; m++) {
		value->moment = moments[m];
		value->has_last = swz_summary_values(summary, moments[m],
						     &last);
		for (i = 0; value->has_last && i < last.count; i++) {
			swz_shown_read(&shown, binding, &last, i);
			swz_text_clear(&value->name);
			swz_text_put(&value->name, "%s", shown.name.text);
			swz_text_clear(&value->last);
			swz_text_put(&value->last, "%s", shown.text.text);
			value->has_range = find_range(summary, value);
			print_range(value, binding);
			each(to, value);
		}
		/* where the last ones were being written */
		for (i = 0; !value->has_last && i < summary->head->ranges;
		     i++) {
			if (moment_of(summary, (unsigned)i) != moments[m] ||
			    !swz_summary_range(summary, (unsigned)i,
					       &value->low_value,
					       &value->high_value))
				continue;
			swz_text_clear(&value->name);
			swz_text_put(&value->name, "%s", value->low_value.name);
			value->has_range = true;
			print_range(value, binding);
			each(to, value);
		}
	}
	swz_shown_free(&shown);
}
