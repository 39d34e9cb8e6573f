/* The call graph in the language of graphviz: a box per function, the redder
 * the more time of its own it has, and an arrow per pair of caller and callee,
 * as thick as what is called takes time. What takes little is left out: a graph
 * of thousands is of no use, and cannot be drawn. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

#define DEFAULT_LIMIT 0.5 /* percent */
/* Of a name as it is written. Graphviz has strings of 16,384 bytes at most, and
 * draws nothing of a graph with a longer one. */
#define MOST_BYTES 8000

struct graph {
	FILE *stream;
	const struct swz_section *section;
	int64_t least; /* ns that a function has to take */
	bool *shown;   /* per function */
};

/* A part of a label: a backslash would begin an escape, an ampersand may begin
 * an entity (of five bytes). */
static void put_escaped(FILE *stream, const char *text)
{
	size_t left = MOST_BYTES;

	while (*text) {
		size_t length = swz_utf8_length(text);
		unsigned char c = (unsigned char)*text;

		if (left < 5) {
			fputs("...", stream);
			return;
		}
		left -= c == '&' ? 5 : length > 2 ? length : 2;
		if (!length || c < 0x20 || c == 0x7f)
			putc('?', stream);
		else if (c == '"' || c == '\\')
			fprintf(stream, "\\%c", c);
		else if (c == '&')
			fputs("&amp;", stream);
		else
			fwrite(text, 1, length, stream);
		text += length ? length : 1;
	}
}

static double share(const struct graph *graph, int64_t ns)
{
	int64_t total = graph->section->report->total_ns;

	return total ? (double)ns / (double)total : 0;
}

static int descending(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a > *b ? -1 : *a < *b;
}

/* What a function must take to be among those with most time. */
static int64_t least_of(const struct swz_report *report, size_t rows)
{
	int64_t *times = swz_allocate(report->function_capacity,
				      sizeof(*times));
	size_t count = 0, i;
	int64_t least = 0;

	for (i = 0; i < report->function_capacity; i++)
		if (report->functions[i].present)
			times[count++] = report->functions[i].inclusive_ns;
	qsort(times, count, sizeof(*times), descending);
	if (rows && rows < count)
		least = times[rows - 1];
	free(times);
	return least;
}

static void choose(struct graph *graph, const struct swz_table_options *options)
{
	const struct swz_report *report = graph->section->report;
	double percent = options->percent_limit < 0 ? DEFAULT_LIMIT
						    : options->percent_limit;
	int64_t least = least_of(report, options->rows);
	size_t i, shown = 0;

	graph->least = (int64_t)(percent / 100 * (double)report->total_ns);
	graph->shown = swz_allocate(report->function_capacity,
				    sizeof(*graph->shown));
	for (i = 0; i < report->function_capacity; i++) {
		int64_t inclusive = report->functions[i].inclusive_ns;

		graph->shown[i] = report->functions[i].present &&
				  inclusive >= graph->least &&
				  inclusive >= least &&
				  (!options->rows || shown < options->rows);
		shown += graph->shown[i];
	}
}

static void put_node(const struct graph *graph, uint32_t index)
{
	const struct swz_report_function *costs =
		&graph->section->report->functions[index];
	double self = share(graph, costs->self_ns);

	fprintf(graph->stream, "\tf%" PRIu32 " [label=\"", index);
	put_escaped(graph->stream,
		    graph->section->catalog->functions[index].name);
	fputs("\\n", graph->stream);
	put_escaped(graph->stream, swz_module_name(graph->section, index));
	fprintf(graph->stream,
		"\\n%.2f%% (self %.2f%%)\\n%" PRIu64
		" calls\", fillcolor=\"0.02 %.3f 1.000\"];\n",
		100 * share(graph, costs->inclusive_ns), 100 * self,
		costs->calls, 0.04 + 0.71 * sqrt(self < 1 ? self : 1));
}

/* All calls from one function to another; the edges are sorted so that they
 * follow each other. */
static void put_edge(const struct graph *graph, size_t *at)
{
	const struct swz_report *report = graph->section->report;
	const struct swz_report_edge first = report->edges[*at];
	uint64_t calls = 0;
	int64_t inclusive = 0;
	double part;

	for (; *at < report->edge_count &&
	       report->edges[*at].caller == first.caller &&
	       report->edges[*at].callee == first.callee;
	     (*at)++) {
		calls = swz_add_count(calls, report->edges[*at].calls);
		inclusive = swz_add(inclusive, report->edges[*at].inclusive_ns);
	}
	if (!graph->shown[first.caller] || !graph->shown[first.callee])
		return;
	/* recursive calls have no time of their own */
	if (inclusive < graph->least && first.caller != first.callee)
		return;
	part = share(graph, inclusive);
	fprintf(graph->stream,
		"\tf%" PRIu32 " -> f%" PRIu32 " [label=\"%.2f%%\\n%" PRIu64
		"\", penwidth=%.2f, weight=%d];\n",
		first.caller, first.callee, 100 * part, calls,
		0.5 + 5 * (part < 1 ? part : 1),
		1 + (int)(20 * (part < 1 ? part : 1)));
}

void swz_write_dot(struct swz_writer *writer, const struct swz_section *section)
{
	struct graph graph = {.stream = writer->stream, .section = section};
	const struct swz_report *report = section->report;
	size_t at = 0;
	uint32_t i;

	choose(&graph, writer->options);
	fputs("digraph \"", graph.stream);
	put_escaped(graph.stream,
		    section->thread
			    ? section->thread->name
			    : swz_base_name(section->profile->executable));
	fputs("\" {\n"
	      "\tnode [shape=box, style=\"filled,rounded\", "
	      "fontname=\"sans-serif\", fontsize=10];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=8, "
	      "color=\"#404040\"];\n",
	      graph.stream);
	for (i = 0; i < report->function_capacity; i++)
		if (graph.shown[i])
			put_node(&graph, i);
	while (at < report->edge_count)
		put_edge(&graph, &at);
	fputs("}\n", graph.stream);
	free(graph.shown);
}
