/* The list of formats. */

#include "profile/formats/formats.h"

#include <string.h>

#include "profile/file/inputs.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/tables/table.h"

static void write_callgrind(struct swz_writer *writer,
			    const struct swz_section *section)
{
	swz_write_callgrind(writer->stream, section);
}

static void write_text(struct swz_writer *writer,
		       const struct swz_section *section)
{
	if (writer->sections)
		putc('\n', writer->stream);
	swz_write_text(writer->stream, section, writer->options);
}

static void write_table(struct swz_writer *writer,
			const struct swz_section *section)
{
	if (writer->sections)
		putc('\n', writer->stream);
	swz_write_table(writer->stream, section, writer->options);
}

static void write_tree(struct swz_writer *writer,
		       const struct swz_section *section)
{
	if (writer->sections)
		putc('\n', writer->stream);
	swz_write_tree(writer->stream, section, writer->options);
}

static void write_folded(struct swz_writer *writer,
			 const struct swz_section *section)
{
	swz_write_folded(writer->stream, section, writer->options);
}

static const struct swz_format formats[] = {
	{
		.name = "callgrind",
		.description =
			"for KCachegrind and callgrind_annotate (default "
			"elsewhere)",
		.takes = SWZ_TAKES_DIFF,
		.needs = SWZ_NEEDS_LINES | SWZ_NEEDS_EDGES | SWZ_NEEDS_HITS |
			 SWZ_NEEDS_TIMES_TO_COMPARE,
		.prefix = "callgrind.out.",
		.suffix = "",
		.section = write_callgrind,
	},
	{
		.name = "table",
		.description = "a table of functions for people (default on a "
			       "terminal)",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT |
			 SWZ_TAKES_DIFF | SWZ_FILTERS_ROWS | SWZ_FOR_PEOPLE,
		.rows = 25,
		.section = write_table,
		.by = swz_write_table_by,
	},
	{
		.name = "brief",
		.description = "the answer in at most 60 lines of plain text: "
			       "functions, waits, doubts",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT |
			 SWZ_TAKES_NO_PARTS | SWZ_FILTERS_ROWS,
		.needs = SWZ_NEEDS_EDGES,
		.proposes = true,
		.rows = 10,
		.begin = swz_brief_begin,
		.section = swz_brief_section,
		.end = swz_brief_end,
	},
	{
		.name = "text",
		.description = "a table of functions for scripts, times in ns",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT |
			 SWZ_TAKES_DIFF | SWZ_FILTERS_ROWS,
		.section = write_text,
		.by = swz_write_text_by,
	},
	{
		.name = "tree",
		.description = "calling contexts, top-down or bottom-up; "
			       "callers and callees of a function",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT |
			 SWZ_TAKES_BOTTOM_UP | SWZ_TAKES_DIFF |
			 SWZ_FILTERS_ROWS | SWZ_TELLS_FOLDED |
			 SWZ_FOR_TERMINALS,
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_TIMES_TO_COMPARE,
		.section = write_tree,
	},
	{
		.name = "folded",
		.description = "stacks and their self time, a line each, for "
			       "flamegraph.pl",
		.takes = SWZ_TAKES_SORT | SWZ_TAKES_DIFF,
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_TIMES,
		.section = write_folded,
	},
	{
		.name = "speedscope",
		.description = "a flame graph for speedscope (JSON); of a "
			       "trace, its events",
		.takes = SWZ_TAKES_SORT,
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_LINES | SWZ_NEEDS_TIMES,
		.begin = swz_begin_speedscope,
		.section = swz_write_speedscope,
		.end = swz_end_speedscope,
		.event_bytes = 45,
		.fewer_events = true,
		.events = swz_write_speedscope_events,
	},
	{
		.name = "pprof",
		.description = "for pprof (profile.proto, compressed)",
		.takes = SWZ_COMPRESSES | SWZ_TAKES_DIFF,
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_LINES |
			 SWZ_NEEDS_PLACES,
		.prefix = "pprof.",
		.suffix = ".pb.gz",
		.begin = swz_begin_pprof,
		.section = swz_write_pprof,
		.end = swz_end_pprof,
	},
	{
		.name = "otlp",
		.description = "profiles of OpenTelemetry (protobuf, "
			       "v1development as of 1.11.0)",
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_LINES |
			 SWZ_NEEDS_PLACES | SWZ_NEEDS_THREADS | SWZ_NEEDS_TIMES,
		.prefix = "otlp.",
		.suffix = ".pb",
		.begin = swz_begin_otlp,
		.section = swz_write_otlp,
		.end = swz_end_otlp,
	},
	{
		.name = "dot",
		.description = "the call graph for graphviz, coloured by cost "
			       "or change",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_LIMIT | SWZ_TAKES_DIFF,
		.needs = SWZ_NEEDS_EDGES | SWZ_NEEDS_TIMES_TO_COMPARE,
		.section = swz_write_dot,
	},
	{
		.name = "graph",
		.description = "the call graph as a page for a browser, to be "
			       "moved and searched",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_LIMIT | SWZ_TAKES_SOURCE |
			 SWZ_TAKES_NO_PARTS,
		.needs = SWZ_NEEDS_LINES | SWZ_NEEDS_EDGES,
		.rows = 300,
		.prefix = "swizzle.",
		.suffix = ".graph.html",
		.for_owner = true,
		.begin = swz_graph_begin,
		.section = swz_graph_section,
		.end = swz_graph_end,
	},
	{
		.name = "csv",
		.description = "the table of functions for spreadsheets",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT |
			 SWZ_TAKES_DIFF | SWZ_FILTERS_ROWS,
		.needs = SWZ_NEEDS_LINES,
		.section = swz_write_csv,
		.by = swz_write_csv_by,
	},
	{
		.name = "json",
		.description = "functions, calls and contexts for programs",
		.takes = SWZ_TAKES_DIFF | SWZ_TELLS_FOLDED,
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_LINES |
			 SWZ_NEEDS_EDGES | SWZ_NEEDS_CELLS,
		.begin = swz_begin_json,
		.section = swz_write_json,
		.end = swz_end_json,
		.by = swz_write_json_by,
	},
	{
		.name = "sqlite",
		.description = "a database for questions in SQL; of a trace, "
			       "with each call",
		.takes = SWZ_TELLS_FOLDED | SWZ_WRITES_FILE | SWZ_COMPRESSES,
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_PLACES |
			 SWZ_NEEDS_LINES | SWZ_NEEDS_THREADS | SWZ_NEEDS_UNITS |
			 SWZ_NEEDS_EDGES | SWZ_NEEDS_JOINED_THREADS,
		.prefix = "swizzle.",
		.suffix = ".sqlite",
		.for_owner = true,
		.begin = swz_sqlite_begin,
		.section = swz_sqlite_section,
		.end = swz_sqlite_end,
	},
	{
		.name = "html",
		.description = "a page for a browser, in one file",
		.takes = SWZ_TELLS_FOLDED | SWZ_TAKES_SOURCE | SWZ_TAKES_DIFF,
		.needs = SWZ_NEEDS_CONTEXTS | SWZ_NEEDS_PLACES |
			 SWZ_NEEDS_LINES | SWZ_NEEDS_THREADS | SWZ_NEEDS_UNITS |
			 SWZ_NEEDS_EDGES | SWZ_NEEDS_TIMES,
		.prefix = "swizzle.",
		.suffix = ".html",
		.for_owner = true,
		.begin = swz_html_begin,
		.section = swz_html_section,
		.end = swz_html_end,
	},
	{
		.name = "calls",
		.description = "a trace's events, call by call, with arguments "
			       "and results",
		.takes = SWZ_FOR_TERMINALS | SWZ_TAKES_CALLS | SWZ_TAKES_ROWS,
		.rows = 25,
		.fewer_events = true,
		.events = swz_write_calls,
		.invocations = swz_write_invocations_text,
	},
	{
		.name = "calls-html",
		.description =
			"a trace's events, call by call, as a page for a "
			"browser",
		.takes = SWZ_TAKES_ROWS,
		.rows = SWZ_CALLS_OF_PAGE,
		.prefix = "swizzle.",
		.suffix = ".calls.html",
		.for_owner = true,
		.fewer_events = true,
		.reads_twice = true,
		.events = swz_write_calls_html,
		.invocations = swz_write_invocations_html,
	},
	{
		.name = "rings",
		.description = "a trace's events as rings around functions "
			       "(SVG; needs graphviz)",
		.takes = SWZ_TAKES_ROWS | SWZ_TAKES_RINGS,
		.rows = 40,
		.prefix = "swizzle.",
		.suffix = ".rings.svg",
		.fewer_events = true,
		.reads_twice = true,
		.events = swz_write_rings,
	},
	{
		.name = "samples",
		.description = "samples one by one: time, thread, processor, "
			       "stack",
		.takes = SWZ_FOR_TERMINALS,
		.of_samples = true,
		.samples_only = true,
		.events = swz_write_samples,
	},
	{
		.name = "perfetto",
		.description = "a trace's events, or samples, for "
			       "ui.perfetto.dev (protobuf)",
		.of_samples = true,
		.prefix = "swizzle.",
		.suffix = ".perfetto-trace",
		.event_bytes = 20,
		.fewer_events = true,
		.events = swz_write_perfetto,
	},
	{
		.name = "firefox",
		.description = "a trace's events, or samples, for "
			       "profiler.firefox.com (JSON)",
		.of_samples = true,
		.prefix = "swizzle.",
		.suffix = ".firefox.json",
		.event_bytes = 40,
		.fewer_events = true,
		.events = swz_write_firefox,
	},
	{
		.name = "chrome",
		.description =
			"a trace's events, or samples, as chrome://tracing "
			"and others read them (JSON)",
		.of_samples = true,
		.prefix = "swizzle.",
		.suffix = ".trace.json",
		.event_bytes = 80,
		.fewer_events = true,
		.events = swz_write_chrome,
	},
	{
		.name = "asm",
		.description = "a function's instructions with samples, calls, "
			       "source lines and jumps",
		.takes = SWZ_FOR_TERMINALS,
		.of_code = true,
		.events = swz_write_assembly,
	},
	{
		.name = "cover",
		.description =
			"how many functions of each module and file ran, "
			"and how many did not",
		.takes = SWZ_FILTERS_ROWS,
		.needs = SWZ_NEEDS_LINES,
		.functions = swz_write_cover,
	},
	{
		.name = "never",
		.description =
			"the functions that never ran, the largest first",
		.takes = SWZ_TAKES_ROWS | SWZ_FILTERS_ROWS,
		.needs = SWZ_NEEDS_LINES,
		.functions = swz_write_never,
	},
	{
		.name = "lcov",
		.description =
			"coverage of functions as genhtml and CI services "
			"read it (.info)",
		.takes = SWZ_FILTERS_ROWS,
		.needs = SWZ_NEEDS_LINES,
		.functions = swz_write_lcov,
	},
	{
		.name = "order",
		.description =
			"symbols in the order of first calls (-m cover), "
			"for lld",
		.takes = SWZ_FILTERS_ROWS,
		.functions = swz_write_order,
		.of_symbols = true,
	},
	{
		.name = "sections",
		.description = "the same as names of sections, for gold",
		.takes = SWZ_FILTERS_ROWS,
		.functions = swz_write_sections,
		.of_symbols = true,
	},
	{
		.name = "archive",
		.description = "the profile itself, compressed, with the "
			       "names that it needs",
		.takes = SWZ_COMPRESSES | SWZ_TAKES_PLACE | SWZ_TAKES_NAMES,
		.prefix = "swizzle.",
		.suffix = ".swz",
		.for_owner = true,
		.profile = swz_write_archive,
	},
	{
		.name = "info",
		.description = "what the file holds: command, threads, "
			       "modules, refusals",
		.profile = swz_write_info,
	},
	{
		.name = "raw",
		.description = "the file's header, chunks and records as they "
			       "are, also of a damaged file",
		.takes = SWZ_TAKES_ROWS,
		.file = swz_write_raw,
	},
};

const struct swz_format *swz_format_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(name, formats[i].name) == 0)
			return &formats[i];
	return NULL;
}

const struct swz_format *swz_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(formats[0]) ? &formats[index]
							    : NULL;
}

void swz_formats_list(FILE *stream)
{
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		fprintf(stream, "%-10s %s\n", formats[i].name,
			formats[i].description);
}
