#ifndef SWZ_PROFILE_FORMATS_FORMATS_H
#define SWZ_PROFILE_FORMATS_FORMATS_H

/* The writers, one per output format, and the list of them. They print to a
 * stream and leave errors to its owner (see output.h). */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/costs/aggregate.h"
#include "profile/names/catalog.h"
#include "profile/costs/contexts.h"
#include "profile/costs/joined.h"
#include "profile/file/reader.h"
#include "profile/costs/trace.h"
#include "profile/costs/runs.h"
#include "profile/costs/view.h"
#include "profile/formats/calls_html.h"
#include "profile/support/style.h"

struct swz_by_section; /* by.h */

/* What a writer is to show: a report and where it comes from. */
struct swz_section {
	const struct swz_catalog *catalog;   /* resolved */
	const struct swz_report *report;     /* sorted */
	const struct swz_contexts *contexts; /* summed; NULL unless the format
					      * needs them */
	const struct swz_profile *profile;   /* the first of those merged */
	struct swz_binding *binding; /* that one's part of the catalog */
	const struct swz_thread_choice *threads; /* that are shown */
	const struct swz_view *view; /* what is left out; NULL: all is
				      * shown */
	size_t profile_count;
	struct swz_profile *const *profiles;     /* all of them */
	const struct swz_profile_thread *thread; /* NULL: several */
	unsigned int part;                       /* from 1 */
	unsigned int thread_number; /* from 1, if there is a thread */
	uint64_t origin; /* ticks at time 0 where several processes are shown:
			  * the first one's start */
	bool compensated;
	const struct swz_range *range; /* of time; NULL: all */
	/* What this is compared with, aligned (see diff.h); NULL: nothing. In a
	 * comparison by threads all that are called thread_name are shown. */
	const struct swz_section *old;
	const struct swz_runs *runs; /* that the report is the mean of; NULL
				      * where nothing is compared */
	const char *thread_name;
	/* Times are of another run (--times), of which these are the profiles;
	 * NULL: of the same. */
	const struct swz_joined *joined;
	struct swz_profile *const *sampled;
	size_t sampled_count;
};

enum swz_sort {
	SWZ_SORT_DEFAULT, /* the format's own */
	SWZ_SORT_SELF,
	SWZ_SORT_INCLUSIVE,
	SWZ_SORT_CALLS,
	SWZ_SORT_NAME,
	SWZ_SORT_MIN,
	SWZ_SORT_MAX,
	SWZ_SORT_START /* of single calls */
};

struct swz_table_options {
	enum swz_sort sort;
	size_t rows;          /* 0: all */
	double percent_limit; /* least share of the total, in percent; less
			       * than 0: the format's own */
	struct swz_patterns filters; /* of which one has to match, if
				      * there are any */
	bool bottom_up;
	bool without_source;           /* a page has no source text */
	const struct swz_style *style; /* of tables for people; NULL: tables
					* are for programs */
	const char *inputs; /* for commands that are proposed: the files, each
			     * with a space before it; NULL: propose none */
};

/* One file that is written: some sections one after the other. */
struct swz_writer {
	FILE *stream;
	const struct swz_table_options *options;
	size_t sections;           /* that were written */
	const char *const *advice; /* before the end: sentences on how the
				    * report could say more, NULL-terminated;
				    * NULL: none */
	const char *path; /* of the file, until it is in its place; NULL: it
			   * has none. Formats with SWZ_WRITES_FILE write to
			   * that, and nothing to the stream */
	char *failure;    /* set by the format at the end: why the file is worth
			   * nothing; to be freed. NULL: nothing is known */
	void *state;      /* the format's own, from begin to end */
};

/* What a format does with options; without the bit the option is wrong usage.
 */
enum swz_format_takes {
	SWZ_TAKES_ROWS = 1,         /* -n */
	SWZ_TAKES_SORT = 2,         /* -s */
	SWZ_TAKES_LIMIT = 4,        /* --percent-limit */
	SWZ_TAKES_BOTTOM_UP = 8,    /* --bottom-up */
	SWZ_TAKES_DIFF = 32,        /* --diff */
	SWZ_TAKES_NAMES = 1024,     /* --embed */
	SWZ_TAKES_SOURCE = 2048,    /* --no-source */
	SWZ_COMPRESSES = 32768,     /* its file is compressed as it is */
	SWZ_TAKES_NO_PARTS = 16384, /* no --thread-parts */
	SWZ_WRITES_FILE = 4096,     /* in any order: not to a pipe */
	SWZ_TAKES_RINGS = 1u << 31, /* --ring-clock, --ring-paths */
	SWZ_TAKES_CALLS = 8192,  /* -D, --at, --blame, --calls-of, and with that
				    -n and -s */
	SWZ_TAKES_PLACE = 64,    /* that of its profile (-o): all is in it */
	SWZ_FOR_PEOPLE = 256,    /* it is drawn in a style, always ... */
	SWZ_FOR_TERMINALS = 512, /* ... or on a terminal */
	SWZ_TELLS_FOLDED = 128,  /* it says itself what folding has changed */
	SWZ_FILTERS_ROWS = 16    /* -F says which rows there are; otherwise
				  * which functions, with what they call */
};

enum swz_format_needs {
	SWZ_NEEDS_CONTEXTS = 1,
	SWZ_NEEDS_LINES = 2,   /* source lines */
	SWZ_NEEDS_PLACES = 4,  /* contexts are told apart by the place of calls
				*/
	SWZ_NEEDS_THREADS = 8, /* a section per thread */
	SWZ_NEEDS_UNITS = 16,  /* contexts of a trace's nodes: see contexts.h */
	SWZ_NEEDS_HITS = 64,   /* the lines that samples hit, of the report */
	SWZ_NEEDS_EDGES = 32,  /* of the report */
	SWZ_NEEDS_CELLS = 128  /* --by rank: what each rank has, too */
};

struct swz_format {
	const char *name;
	const char *description;
	unsigned int takes; /* enum swz_format_takes */
	unsigned int needs; /* enum swz_format_needs */
	size_t rows;        /* that are shown without -n; 0: all */
	/* The file that is written by default is PREFIX, the pid, SUFFIX; NULL:
	 * standard output. */
	const char *prefix;
	const char *suffix;
	/* Either: the beginning and the end of a file, which may be NULL, and
	 * what is between ... */
	void (*begin)(struct swz_writer *writer);
	void (*section)(struct swz_writer *writer,
			const struct swz_section *section);
	void (*end)(struct swz_writer *writer);
	/* With --by in place of these: the whole file. NULL: there is none. */
	void (*by)(FILE *stream, const struct swz_by_section *by,
		   const struct swz_table_options *options);
	/* ... or, of traces: their events, of which each takes about so many
	 * bytes. */
	unsigned int event_bytes;
	bool fewer_events; /* -t, -D and --sample-events are seen to before */
	bool reads_twice;  /* the events */
	void (*events)(FILE *stream, struct swz_trace *trace);
	/* With --file-per-invocation; NULL: there is none. */
	struct swz_invocations (*invocations)(const char *directory,
					      struct swz_trace *trace);
	/* ... or: one profile as it is ... */
	void (*profile)(FILE *stream, struct swz_profile *profile);
	/* ... or: one file, which may be anything; see swz_write_raw(). */
	enum swz_status (*file)(FILE *stream, const char *path, size_t rows,
				uint64_t *problems, struct swz_error *error);
};

/* The format of that name, or NULL. */
const struct swz_format *swz_format_find(const char *name);

/* The format at an index; NULL past the last. */
const struct swz_format *swz_format_at(size_t index);

/* Lists them, one per line. */
void swz_formats_list(FILE *stream);

/* One part in the format of callgrind, version 1, with the event ns. */
void swz_write_callgrind(FILE *stream, const struct swz_section *section);

/* A table of functions. Lines that begin with '#' explain it. */
void swz_write_text(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options);

/* The same for people: figures with units, shares, the summary of what was
 * recorded and lost. */
void swz_write_table(FILE *stream, const struct swz_section *section,
		     const struct swz_table_options *options);

/* Either of two profiles. */
void swz_write_text_diff(FILE *stream, const struct swz_section *section,
			 const struct swz_table_options *options);

/* A table of contexts, indented by depth; or of functions and, indented, their
 * callers; or, for the functions that the filters name, of both. */
void swz_write_tree(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options);

/* One line per context: its path, separated by semicolons, and its self time;
 * sorted by calls: the number of calls. */
void swz_write_folded(FILE *stream, const struct swz_section *section,
		      const struct swz_table_options *options);

/* The table of functions as comma-separated values. */
void swz_write_csv(struct swz_writer *writer,
		   const struct swz_section *section);

/* Functions, the calls between them, and contexts. */
void swz_begin_json(struct swz_writer *writer);
void swz_write_json(struct swz_writer *writer,
		    const struct swz_section *section);
void swz_end_json(struct swz_writer *writer);

/* The file format of speedscope; sorted by calls: with the number of calls for
 * the weights. */
void swz_begin_speedscope(struct swz_writer *writer);
void swz_write_speedscope(struct swz_writer *writer,
			  const struct swz_section *section);
void swz_end_speedscope(struct swz_writer *writer);

/* A graph for graphviz. */
void swz_write_dot(struct swz_writer *writer,
		   const struct swz_section *section);

/* Profiles of OpenTelemetry (OTLP), protobuf. */
void swz_begin_otlp(struct swz_writer *writer);
void swz_write_otlp(struct swz_writer *writer,
		    const struct swz_section *section);
void swz_end_otlp(struct swz_writer *writer);

/* profile.proto of pprof, compressed by gzip. */
void swz_begin_pprof(struct swz_writer *writer);
void swz_write_pprof(struct swz_writer *writer,
		     const struct swz_section *section);
void swz_end_pprof(struct swz_writer *writer);

/* A page for a browser: its beginning, a thread of it, its end. */
void swz_html_begin(struct swz_writer *writer);
void swz_html_section(struct swz_writer *writer,
		      const struct swz_section *section);
void swz_html_end(struct swz_writer *writer);

/* The call graph as a page that lays itself out. */
void swz_graph_begin(struct swz_writer *writer);
void swz_graph_section(struct swz_writer *writer,
		       const struct swz_section *section);
void swz_graph_end(struct swz_writer *writer);

/* A SQLite database. */
void swz_sqlite_begin(struct swz_writer *writer);
void swz_sqlite_section(struct swz_writer *writer,
			const struct swz_section *section);
void swz_sqlite_end(struct swz_writer *writer);

/* What a profile file holds. */
void swz_write_info(FILE *stream, struct swz_profile *profile);
/* The part of that which is about events. */
void swz_put_events(FILE *stream, const struct swz_profile *profile);

/* Writes the profiled command, its words separated by spaces. */
void swz_put_command(FILE *stream, const struct swz_profile *profile);
/* The same as a text; to be freed. */
char *swz_command_text(const struct swz_profile *profile);

/* The lines, beginning with '#', that say what a table is of. */
void swz_put_heading(FILE *stream, const struct swz_section *section);

/* The line about the columns of waiting, if the report knows of any. */
void swz_put_waiting_note(FILE *stream, const struct swz_report *report);

/* The name of a function's module without its directory. */
const char *swz_module_name(const struct swz_section *section,
			    uint32_t function);

/* What the figures that are called calls are: "calls" or "samples". */
static inline const char *swz_counted(const struct swz_section *section)
{
	return section->report->samples ? "samples" : "calls";
}

/* ns that a recorded call costs inside and outside of what it records. */
double swz_hook_cost_ns(const struct swz_profile *profile);

#endif
