/* The call graph, for graphviz (dot) and as a page that lays itself out. Both
 * show the same functions and calls. */

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/common/encoders.h"
#include "profile/formats/page/html_blocks.h"

/* --- what is shown ------------------------------------------------------- */

/* Chooses the functions and calls of a picture of the call graph: a graph of
 * thousands is of no use, and cannot be drawn. In a comparison what counts is
 * the side on which a function takes more. */

#define SWZ_GRAPH_LIMIT 0.5 /* percent, without --percent-limit */

struct swz_graph_choice {
	const struct swz_section *section;
	int64_t total_ns;
	double percent;   /* the limit */
	int64_t least_ns; /* that a function or call has to take */
	bool *shown;      /* per function of the report */
	size_t count;     /* of these */
	size_t present;   /* of all functions */
};

static int descending(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a > *b ? -1 : *a < *b;
}

/* How much there is of a function, or of such a sum: its inclusive time, or its
 * calls where no times are known. */
static int64_t graph_amount(const struct swz_report *report, size_t index)
{
	const struct swz_report_function *costs = &report->functions[index];

	return report->without_times ? swz_signed(costs->calls)
				     : costs->inclusive_ns;
}

static int64_t graph_edge_amount(const struct swz_report *report,
				 const struct swz_report_edge *edge)
{
	return report->without_times ? swz_signed(edge->calls)
				     : edge->inclusive_ns;
}

/* A function's time: in a comparison on the side where it is more. */
static int64_t inclusive_of(const struct swz_graph_choice *choice, size_t index)
{
	const struct swz_section *section = choice->section;
	int64_t new = graph_amount(section->report, index);
	int64_t old = section->old ? graph_amount(section->old->report, index)
				   : 0;

	return new > old ? new : old;
}

/* By what functions are chosen with a limit of their number: in a comparison by
 * the change. */
static int64_t weight_of(const struct swz_graph_choice *choice, size_t index)
{
	struct swz_diff_function function;

	if (!choice->section->old)
		return inclusive_of(choice, index);
	function = swz_diff_function(choice->section, (uint32_t)index);
	return (int64_t)swz_diff_inclusive(&function.costs);
}

static bool is_present(const struct swz_graph_choice *choice, size_t index)
{
	const struct swz_section *section = choice->section;

	return section->report->functions[index].present ||
	       (section->old && section->old->report->functions[index].present);
}

/* The least time of a function that is among those with most time. */
static int64_t least_of(const struct swz_graph_choice *choice, size_t rows)
{
	size_t capacity = choice->section->report->function_capacity;
	int64_t *times = swz_allocate(capacity, sizeof(*times));
	size_t count = 0, i;
	int64_t least = 0;

	for (i = 0; i < capacity; i++)
		if (is_present(choice, i))
			times[count++] = weight_of(choice, i);
	qsort(times, count, sizeof(*times), descending);
	if (rows && rows < count)
		least = times[rows - 1];
	free(times);
	return least;
}

/* By --percent-limit and -n. To be freed. */
static struct swz_graph_choice graph_choose(
	const struct swz_section *section,
	const struct swz_table_options *options)
{
	const struct swz_report *report = section->report;
	struct swz_graph_choice choice = {
		.section = section,
		.total_ns = section->old ? swz_diff_total(section)
			    : report->without_times
				    ? swz_signed(swz_calls_of(report))
				    : report->total_ns,
		.percent = options->percent_limit < 0 ? SWZ_GRAPH_LIMIT
						      : options->percent_limit,
	};
	int64_t least = least_of(&choice, options->rows);
	size_t i;

	choice.least_ns = swz_least_share(choice.percent, choice.total_ns);
	choice.shown = swz_allocate(report->function_capacity,
				    sizeof(*choice.shown));
	for (i = 0; i < report->function_capacity; i++) {
		bool present = is_present(&choice, i);

		choice.shown[i] = present &&
				  inclusive_of(&choice, i) >= choice.least_ns &&
				  weight_of(&choice, i) >= least &&
				  (!options->rows ||
				   choice.count < options->rows);
		choice.present += present;
		choice.count += choice.shown[i];
	}
	return choice;
}

static void graph_choice_free(struct swz_graph_choice *choice)
{
	free(choice->shown);
	choice->shown = NULL;
}

/* All calls from one function to another, from *AT on; the edges are sorted so
 * that they follow each other. Those of two reports are at the same indices. */
static struct swz_report_edge graph_sum_edges(const struct swz_report *report,
					      size_t *at)
{
	struct swz_report_edge sum = report->edges[*at];

	while (++*at < report->edge_count &&
	       report->edges[*at].caller == sum.caller &&
	       report->edges[*at].callee == sum.callee) {
		sum.calls = swz_add_count(sum.calls, report->edges[*at].calls);
		sum.inclusive_ns = swz_add(sum.inclusive_ns,
					   report->edges[*at].inclusive_ns);
	}
	return sum;
}

/* True if such a sum is shown. OLD: of the other side. Recursive calls have no
 * time of their own. */
static bool graph_shows(const struct swz_graph_choice *choice,
			const struct swz_report_edge *edge,
			const struct swz_report_edge *old)
{
	return choice->shown[edge->caller] && choice->shown[edge->callee] &&
	       (graph_edge_amount(choice->section->report, edge) >=
			choice->least_ns ||
		(old && old->inclusive_ns >= choice->least_ns) ||
		edge->caller == edge->callee);
}

/* --- dot ----------------------------------------------------------------- */

/* The call graph in the language of graphviz: a box per function, the redder
 * the more time of its own it has, and an arrow per pair of caller and callee,
 * as thick as what is called takes time. What takes little is left out.
 *
 * In a comparison red is slower, green faster and grey noise. Boxes are filled
 * by self times and bordered by inclusive ones. The noise of single edges is
 * not known; an edge is noise within that of the function that it leads to. */

/* The length of a name as it is written. Graphviz has strings of 16,384 bytes
 * at most, and draws nothing of a graph with a longer one. */
#define MOST_BYTES 8000

struct graph {
	FILE *stream;
	const struct swz_section *section;
	struct swz_graph_choice choice;
};

/* A part of a label: a backslash would begin an escape, an ampersand may begin
 * an entity (of five bytes). */
static void put_escaped(FILE *stream, const char *text)
{
	size_t left = MOST_BYTES;

	while (*text) {
		bool shown;
		size_t length = swz_character(text, SIZE_MAX, &shown);
		unsigned char c = (unsigned char)*text;

		if (left < 5) {
			fputs("...", stream);
			return;
		}
		left -= c == '&' ? 5 : length > 2 ? length : 2;
		if (!shown)
			putc('?', stream);
		else if (c == '"' || c == '\\')
			fprintf(stream, "\\%c", c);
		else if (c == '&')
			fputs("&amp;", stream);
		else
			fwrite(text, 1, length, stream);
		text += length;
	}
}

static double share(const struct graph *graph, int64_t ns)
{
	int64_t total = graph->choice.total_ns;

	return total ? (double)ns / (double)total : 0;
}

/* ---- comparisons ---- */

#define GREY "#a0a0a0"

/* "+12 ns (+3.40%)" */
static void put_change(FILE *stream, int64_t old, int64_t new)
{
	fprintf(stream, "%+" PRId64 " ns", new - old);
	if (old)
		fprintf(stream, " (%+.2f%%)",
			100 * ((double)new - (double)old) / (double)old);
}

/* Red, green or, without a difference, SAME. */
static const char *colour_of(int64_t old, int64_t new, const char *same)
{
	return new > old ? "#c02020" : new < old ? "#208020" : same;
}

static void put_changed_node(const struct graph *graph, uint32_t index)
{
	struct swz_diff_function function = swz_diff_function(graph->section,
							      index);
	const struct swz_costs *old = &function.costs.old;
	const struct swz_costs *new = &function.costs.new;
	bool noise = function.kind == SWZ_DIFF_NOISE;
	bool more = new->self_ns > old->self_ns;
	const char *kind = swz_diff_kind_name(&function);
	double part = share(graph, (int64_t)swz_diff_self(&function.costs));
	FILE *stream = graph->stream;

	fputs("\\nself ", stream);
	put_change(stream, old->self_ns, new->self_ns);
	fputs("\\nincl ", stream);
	put_change(stream, old->inclusive_ns, new->inclusive_ns);
	fprintf(stream, "\\n%" PRIu64, old->calls);
	if (new->calls != old->calls)
		fprintf(stream, " to %" PRIu64, new->calls);
	fprintf(stream, " calls%s%s%s\", ", kind ? " (" : "", kind ? kind : "",
		kind ? ")" : "");
	if (noise) {
		fprintf(stream, "fillcolor=\"#eeeeee\", color=\"" GREY
				"\", fontcolor=\"#707070\"];\n");
		return;
	}
	/* (a self time within the noise has no colour) */
	if (function.kind == SWZ_DIFF_OTHER || new->self_ns == old->self_ns)
		part = 0;
	fprintf(stream, "fillcolor=\"%s %.3f 1.000\", color=\"%s\"];\n",
		more ? "0.02" : "0.33",
		part > 0 ? 0.08 + 0.67 * sqrt(part < 1 ? part : 1) : 0,
		function.noise.known && swz_diff_inclusive(&function.costs) <=
						function.noise.inclusive_ns
			? GREY
			: colour_of(old->inclusive_ns, new->inclusive_ns,
				    "#404040"));
}

static void put_changed_edge(const struct graph *graph,
			     const struct swz_report_edge *new,
			     const struct swz_report_edge *old)
{
	struct swz_diff_function callee = swz_diff_function(graph->section,
							    new->callee);
	struct swz_costs_diff costs = {
		.new = {.calls = new->calls, .inclusive_ns = new->inclusive_ns},
		.old = {.calls = old->calls, .inclusive_ns = old->inclusive_ns},
	};
	double part = share(graph, (int64_t)swz_diff_inclusive(&costs));
	bool noise = callee.noise.known &&
		     swz_diff_inclusive(&costs) <= callee.noise.inclusive_ns;

	fputs("label=\"", graph->stream);
	put_change(graph->stream, old->inclusive_ns, new->inclusive_ns);
	fprintf(graph->stream, "\\n%" PRIu64, old->calls);
	if (new->calls != old->calls)
		fprintf(graph->stream, " to %" PRIu64, new->calls);
	fprintf(graph->stream, "\", color=\"%s\", penwidth=%.2f",
		noise ? GREY
		      : colour_of(old->inclusive_ns, new->inclusive_ns,
				  "#404040"),
		0.5 + 5 * (noise || part < 0 ? 0
			   : part < 1        ? part
					     : 1));
	part = share(graph, new->inclusive_ns > old->inclusive_ns
				    ? new->inclusive_ns
				    : old->inclusive_ns);
	fprintf(graph->stream, ", weight=%d];\n",
		1 + (int)(20 * (part < 1 ? part : 1)));
}

/* Beneath the graph: what is compared and what the colours say. */
static void put_legend(const struct graph *graph)
{
	const struct swz_section *section = graph->section;
	struct swz_diff_function total = swz_diff_of_total(section);
	FILE *stream = graph->stream;

	fputs("\tlabel=\"total ", stream);
	put_change(stream, total.costs.old.self_ns, total.costs.new.self_ns);
	if (total.noise.known)
		fprintf(stream, ", noise %" PRIu64 " ns: %s",
			total.noise.self_ns, swz_diff_verdict(&total));
	fprintf(stream,
		"\\nbox: self time, border and arrow: inclusive time; red: "
		"slower, green: faster%s\";\n"
		"\tfontname=\"sans-serif\";\n\tfontsize=10;\n",
		total.noise.known
			? ", grey: within the noise"
			: ". The noise is unknown: give several runs of each");
}

/* ---- the graph ---- */

static void put_node(const struct graph *graph, uint32_t index)
{
	const struct swz_report *report = graph->section->report;
	const struct swz_report_function *costs = &report->functions[index];
	double self = share(graph, report->without_times
					   ? swz_signed(costs->calls)
					   : costs->self_ns);

	fprintf(graph->stream, "\tf%" PRIu32 " [label=\"", index);
	put_escaped(graph->stream,
		    graph->section->catalog->functions[index].name);
	fputs("\\n", graph->stream);
	put_escaped(graph->stream, swz_module_name(graph->section, index));
	if (graph->section->old) {
		put_changed_node(graph, index);
		return;
	}
	if (report->without_times)
		fputs("\\n", graph->stream);
	else
		fprintf(graph->stream, "\\n%.2f%% (self %.2f%%)\\n",
			100 * share(graph, costs->inclusive_ns), 100 * self);
	swz_put_plain_count(graph->stream, 0, costs->calls, !costs->uncounted);
	fprintf(graph->stream, " %s\", fillcolor=\"0.02 %.3f 1.000\"];\n",
		swz_counted(graph->section),
		0.04 + 0.71 * sqrt(self < 1 ? self : 1));
}

static void put_dot_edge(const struct graph *graph, size_t *at)
{
	size_t from = *at;
	struct swz_report_edge edge = graph_sum_edges(graph->section->report,
						      at);
	struct swz_report_edge old = {0};
	double part;

	if (graph->section->old)
		old = graph_sum_edges(graph->section->old->report, &from);
	if (!graph_shows(&graph->choice, &edge, &old))
		return;
	fprintf(graph->stream, "\tf%" PRIu32 " -> f%" PRIu32 " [", edge.caller,
		edge.callee);
	if (graph->section->old) {
		put_changed_edge(graph, &edge, &old);
		return;
	}
	part = share(graph, graph_edge_amount(graph->section->report, &edge));
	fputs("label=\"", graph->stream);
	if (!graph->section->report->without_times)
		fprintf(graph->stream, "%.2f%%\\n", 100 * part);
	swz_put_plain_count(graph->stream, 0, edge.calls,
			    swz_is_counted_there(graph->section->report,
						 edge.callee, edge.calls));
	fprintf(graph->stream, "\", penwidth=%.2f, weight=%d];\n",
		0.5 + 5 * (part < 1 ? part : 1),
		1 + (int)(20 * (part < 1 ? part : 1)));
}

void swz_write_dot(struct swz_writer *writer, const struct swz_section *section)
{
	struct graph graph = {.stream = writer->stream, .section = section};
	const struct swz_report *report = section->report;
	size_t at = 0;
	uint32_t i;

	graph.choice = graph_choose(section, writer->options);
	fputs("digraph \"", graph.stream);
	put_escaped(graph.stream,
		    section->thread ? section->thread->name
		    : section->thread_name
			    ? section->thread_name
			    : swz_base_name(section->profile->executable));
	fputs("\" {\n"
	      "\tnode [shape=box, style=\"filled,rounded\", "
	      "fontname=\"sans-serif\", fontsize=10];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=8, "
	      "color=\"#404040\"];\n",
	      graph.stream);
	if (section->old)
		put_legend(&graph);
	for (i = 0; i < report->function_capacity; i++)
		if (graph.choice.shown[i])
			put_node(&graph, i);
	while (at < report->edge_count)
		put_dot_edge(&graph, &at);
	fputs("}\n", graph.stream);
	graph_choice_free(&graph.choice);
}

/* --- the page ------------------------------------------------------------ */

/* The call graph as a page: a frame (src/html/graph.html) with two blocks of
 * data in its midst. "graph" is JSON: the functions that are shown, the calls
 * between them by the place where they are made, and what was left out. Where
 * no times are known, calls stand for them: "byCalls".
 * "sources" is that of the page of -f html. */

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define LEVEL 6 /* of compression */

/* src/html/page.S */
extern const char swz_graph_head[], swz_graph_head_end[];
extern const char swz_graph_tail[], swz_graph_tail_end[];

struct graph_page {
	struct swz_html_sources *sources;
	const struct swz_catalog *catalog; /* NULL: there was no section */
};

/* null for a count that is not known. */
static void put_count(struct swz_json *json, const struct swz_section *section,
		      uint32_t function, uint64_t count)
{
	if (swz_is_counted(section->report, function))
		swz_json_integer(json, "calls", count);
	else
		swz_json_null(json, "calls");
}

static void put_function(struct swz_json *json,
			 const struct swz_section *section, uint32_t index)
{
	const struct swz_catalog *catalog = section->catalog;
	const struct swz_catalog_function *function =
		&catalog->functions[index];
	struct swz_report_function costs = swz_report_function(section->report,
							       index);
	bool times = !section->report->without_times;

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "name", function->name);
	swz_json_string(json, "module", swz_module_name(section, index));
	swz_json_string(json, "path",
			swz_catalog_module_path(catalog, function));
	swz_json_string(json, "file", function->file);
	swz_json_number(json, "line", function->line);
	swz_json_number(json, "self",
			times ? costs.self_ns : swz_signed(costs.calls));
	swz_json_number(json, "incl",
			times ? costs.inclusive_ns : swz_signed(costs.calls));
	put_count(json, section, index, costs.calls);
	swz_json_close(json, "}");
}

/* Returns the number of each function in the page. */
static uint32_t *put_functions(struct swz_json *json,
			       const struct swz_graph_choice *choice)
{
	size_t all = choice->section->report->function_capacity;
	uint32_t *numbers = swz_allocate(all, sizeof(*numbers));
	uint32_t count = 0, i;

	swz_json_open(json, "functions", "[");
	for (i = 0; i < all; i++) {
		if (!choice->shown[i])
			continue;
		put_function(json, choice->section, i);
		numbers[i] = count++;
	}
	swz_json_close(json, "]");
	return numbers;
}

static void put_edge(struct swz_json *json, const struct swz_section *section,
		     const struct swz_report_edge *edge,
		     const uint32_t *numbers)
{
	const struct swz_catalog_place *place =
		&section->catalog->places[edge->place];

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_integer(json, "caller", numbers[edge->caller]);
	swz_json_integer(json, "callee", numbers[edge->callee]);
	put_count(json, section, edge->callee, edge->calls);
	swz_json_number(json, "incl", graph_edge_amount(section->report, edge));
	swz_json_number(json, "line", place->line);
	swz_json_string(json, "file", place->file);
	swz_json_string(json, "inlined", place->inlined);
	swz_json_number(json, "outer", place->outer_line);
	swz_json_close(json, "}");
}

static void put_edges(struct swz_json *json,
		      const struct swz_graph_choice *choice,
		      const uint32_t *numbers)
{
	const struct swz_report *report = choice->section->report;
	size_t at = 0, hidden = 0;

	swz_json_open(json, "edges", "[");
	while (at < report->edge_count) {
		size_t first = at;
		struct swz_report_edge sum = graph_sum_edges(report, &at);

		if (!graph_shows(choice, &sum, NULL)) {
			hidden++;
			continue;
		}
		for (; first < at; first++)
			put_edge(json, choice->section, &report->edges[first],
				 numbers);
	}
	swz_json_close(json, "]");
	swz_json_integer(json, "hiddenEdges", hidden);
}

static void put_graph(FILE *stream, const struct swz_section *section,
		      const struct swz_table_options *options)
{
	struct swz_graph_choice choice = graph_choose(section, options);
	char *command = swz_command_text(section->profile);
	struct swz_json json = {.stream = stream};
	uint32_t *numbers;

	swz_json_open(&json, NULL, "{");
	swz_json_string(&json, "creator", "swizzle " SWZ_VERSION);
	swz_json_string(&json, "command", command);
	swz_json_string(&json, "thread",
			section->thread ? section->thread->name : NULL);
	swz_json_string(&json, "counts", swz_counted(section));
	if (section->report->without_times)
		swz_json_flag(&json, "byCalls", true);
	swz_json_number(&json, "pid", section->profile->header.pid);
	swz_json_integer(&json, "profiles", section->profile_count);
	swz_json_number(&json, "total", choice.total_ns);
	/* in thousandths: a decimal point depends on the locale */
	swz_json_number(&json, "limit", (int64_t)(choice.percent * 1000));
	swz_json_integer(&json, "present", choice.present);
	swz_json_number(&json, "bound", section->report->bound_ns);
	numbers = put_functions(&json, &choice);
	put_edges(&json, &choice, numbers);
	swz_json_close(&json, "}");
	free(numbers);
	free(command);
	graph_choice_free(&choice);
}

static void put_block(FILE *stream, const char *text, size_t size)
{
	struct swz_page_block *block = swz_page_block_begin(stream, "graph",
							    LEVEL);

	swz_page_block_bytes(block, text, size);
	swz_page_block_end(block);
}

void swz_graph_begin(struct swz_writer *writer)
{
	struct graph_page *page = swz_allocate(1, sizeof(*page));

	page->sources = swz_html_sources_begin();
	writer->state = page;
	swz_page_frame(writer->stream, swz_graph_head, swz_graph_head_end);
}

/* (a page has one graph: --by thread,parts is not for it) */
void swz_graph_section(struct swz_writer *writer,
		       const struct swz_section *section)
{
	struct graph_page *page = writer->state;
	char *text = NULL;
	size_t size = 0;
	FILE *memory = swz_text_stream(&text, &size);

	put_graph(memory, section, writer->options);
	swz_text_stream_end(memory);
	put_block(writer->stream, text, size);
	free(text);
	page->catalog = section->catalog;
	swz_html_sources_add(page->sources, section);
}

void swz_graph_end(struct swz_writer *writer)
{
	struct graph_page *page = writer->state;
	static const struct swz_catalog nothing;
	static const char empty[] =
		"{\"functions\":[],\"edges\":[],\"total\":0,\"present\":0}";

	if (!page->catalog)
		put_block(writer->stream, empty, sizeof(empty) - 1);
	swz_html_sources_end(page->sources, writer->stream,
			     page->catalog ? page->catalog : &nothing,
			     !writer->options->without_source);
	swz_page_frame(writer->stream, swz_graph_tail, swz_graph_tail_end);
	free(page);
	writer->state = NULL;
}
