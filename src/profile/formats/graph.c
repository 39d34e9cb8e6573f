/* The call graph as a page: a frame (src/html/graph.html) with two blocks of
 * data in its midst. "graph" is JSON: the functions that are shown, the calls
 * between them by the place where they are made, and what was left out.
 * "sources" is that of the page of -f html. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/formats/graph_choice.h"
#include "profile/formats/html_sources.h"
#include "profile/formats/joined_figures.h"
#include "profile/formats/page_block.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

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

static void put_member(FILE *json, const char *key, const char *text)
{
	fprintf(json, ",\"%s\":", key);
	swz_put_json(json, text ? text : "");
}

/* Of a count that is not known: null. */
static void put_count(FILE *json, const struct swz_section *section,
		      uint32_t function, uint64_t count)
{
	if (swz_is_counted(section->report, function))
		fprintf(json, ",\"calls\":%" PRIu64, count);
	else
		fputs(",\"calls\":null", json);
}

static void put_function(FILE *json, const struct swz_section *section,
			 uint32_t index)
{
	const struct swz_catalog *catalog = section->catalog;
	const struct swz_catalog_function *function =
		&catalog->functions[index];
	struct swz_report_function costs = swz_report_function(section->report,
							       index);
	const char *path = swz_catalog_module_path(catalog, function);

	fputs("{\"name\":", json);
	swz_put_json(json, function->name);
	put_member(json, "module", swz_module_name(section, index));
	put_member(json, "path", path);
	put_member(json, "file", function->file);
	fprintf(json, ",\"line\":%d,\"self\":%" PRId64 ",\"incl\":%" PRId64,
		function->line, costs.self_ns, costs.inclusive_ns);
	put_count(json, section, index, costs.calls);
	putc('}', json);
}

/* Returns the number of each function in the page. */
static uint32_t *put_functions(FILE *json,
			       const struct swz_graph_choice *choice)
{
	size_t all = choice->section->report->function_capacity;
	uint32_t *numbers = swz_allocate(all, sizeof(*numbers));
	uint32_t count = 0, i;

	fputs(",\"functions\":[", json);
	for (i = 0; i < all; i++) {
		if (!choice->shown[i])
			continue;
		fputs(count ? ",\n" : "\n", json);
		put_function(json, choice->section, i);
		numbers[i] = count++;
	}
	fputs("]", json);
	return numbers;
}

static void put_edge(FILE *json, const struct swz_section *section,
		     const struct swz_report_edge *edge,
		     const uint32_t *numbers)
{
	const struct swz_catalog_place *place =
		&section->catalog->places[edge->place];

	fprintf(json, "{\"caller\":%" PRIu32 ",\"callee\":%" PRIu32,
		numbers[edge->caller], numbers[edge->callee]);
	put_count(json, section, edge->callee, edge->calls);
	fprintf(json, ",\"incl\":%" PRId64 ",\"line\":%d", edge->inclusive_ns,
		place->line);
	put_member(json, "file", place->file);
	put_member(json, "inlined", place->inlined);
	fprintf(json, ",\"outer\":%d}", place->outer_line);
}

static void put_edges(FILE *json, const struct swz_graph_choice *choice,
		      const uint32_t *numbers)
{
	const struct swz_report *report = choice->section->report;
	size_t at = 0, hidden = 0, shown = 0;

	fputs(",\"edges\":[", json);
	while (at < report->edge_count) {
		size_t first = at;
		struct swz_report_edge sum = swz_graph_sum_edges(report, &at);

		if (!swz_graph_shows(choice, &sum, NULL)) {
			hidden++;
			continue;
		}
		for (; first < at; first++) {
			fputs(shown++ ? ",\n" : "\n", json);
			put_edge(json, choice->section, &report->edges[first],
				 numbers);
		}
	}
	fprintf(json, "],\"hiddenEdges\":%zu", hidden);
}

static void put_graph(FILE *json, const struct swz_section *section,
		      const struct swz_table_options *options)
{
	struct swz_graph_choice choice = swz_graph_choose(section, options);
	char *command = swz_command_text(section->profile);
	uint32_t *numbers;

	fputs("{\"creator\":\"swizzle " SWZ_VERSION "\"", json);
	put_member(json, "command", command);
	put_member(json, "thread",
		   section->thread ? section->thread->name : NULL);
	put_member(json, "counts", swz_counted(section));
	fprintf(json,
		",\"pid\":%" PRId32 ",\"profiles\":%zu,\"total\":%" PRId64
		/* in thousandths: a decimal point depends on the locale */
		",\"limit\":%" PRId64 ",\"present\":%zu,\"bound\":%" PRId64,
		section->profile->header.pid, section->profile_count,
		choice.total_ns, (int64_t)(choice.percent * 1000),
		choice.present, section->report->bound_ns);
	numbers = put_functions(json, &choice);
	put_edges(json, &choice, numbers);
	putc('}', json);
	free(numbers);
	free(command);
	swz_graph_choice_free(&choice);
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

/* (a page has one graph: --thread-parts is not for it) */
void swz_graph_section(struct swz_writer *writer,
		       const struct swz_section *section)
{
	struct graph_page *page = writer->state;
	char *text = NULL;
	size_t size = 0;
	FILE *json = swz_text_stream(&text, &size);

	put_graph(json, section, writer->options);
	swz_text_stream_end(json);
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
