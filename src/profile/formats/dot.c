/* The call graph in the language of graphviz: a box per function, the redder
 * the more time of its own it has, and an arrow per pair of caller and callee,
 * as thick as what is called takes time. What takes little is left out.
 *
 * In a comparison red is slower, green faster and grey noise. Boxes are filled
 * by self times and bordered by inclusive ones. The noise of single edges is
 * not known; an edge is noise within that of the function that it leads to. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profile/formats/diff.h"
#include "profile/formats/graph_choice.h"
#include "profile/formats/joined_figures.h"
#include "profile/support/arith.h"
#include "profile/support/output.h"

/* Of a name as it is written. Graphviz has strings of 16,384 bytes at most, and
 * draws nothing of a graph with a longer one. */
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
		.new = {new->calls, 0, new->inclusive_ns},
		.old = {old->calls, 0, old->inclusive_ns},
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
	const struct swz_report_function *costs =
		&graph->section->report->functions[index];
	double self = share(graph, costs->self_ns);

	fprintf(graph->stream, "\tf%" PRIu32 " [label=\"", index);
	put_escaped(graph->stream,
		    graph->section->catalog->functions[index].name);
	fputs("\\n", graph->stream);
	put_escaped(graph->stream, swz_module_name(graph->section, index));
	if (graph->section->old) {
		put_changed_node(graph, index);
		return;
	}
	fprintf(graph->stream, "\\n%.2f%% (self %.2f%%)\\n",
		100 * share(graph, costs->inclusive_ns), 100 * self);
	swz_put_plain_count(graph->stream, 0, costs->calls, !costs->uncounted);
	fprintf(graph->stream, " %s\", fillcolor=\"0.02 %.3f 1.000\"];\n",
		swz_counted(graph->section),
		0.04 + 0.71 * sqrt(self < 1 ? self : 1));
}

static void put_edge(const struct graph *graph, size_t *at)
{
	size_t from = *at;
	struct swz_report_edge edge = swz_graph_sum_edges(
		graph->section->report, at);
	struct swz_report_edge old = {0};
	double part;

	if (graph->section->old)
		old = swz_graph_sum_edges(graph->section->old->report, &from);
	if (!swz_graph_shows(&graph->choice, &edge, &old))
		return;
	fprintf(graph->stream, "\tf%" PRIu32 " -> f%" PRIu32 " [", edge.caller,
		edge.callee);
	if (graph->section->old) {
		put_changed_edge(graph, &edge, &old);
		return;
	}
	part = share(graph, edge.inclusive_ns);
	fprintf(graph->stream, "label=\"%.2f%%\\n", 100 * part);
	swz_put_plain_count(
		graph->stream, 0, edge.calls,
		swz_is_counted(graph->section->report, edge.callee));
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

	graph.choice = swz_graph_choose(section, writer->options);
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
		put_edge(&graph, &at);
	fputs("}\n", graph.stream);
	swz_graph_choice_free(&graph.choice);
}
