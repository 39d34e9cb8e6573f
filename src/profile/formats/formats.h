#ifndef SWZ_PROFILE_FORMATS_FORMATS_H
#define SWZ_PROFILE_FORMATS_FORMATS_H

/* The output formats: what each can do, and its writer. */

#include "profile/formats/common/section.h"
#include "profile/formats/page/html_blocks.h"

struct swz_by_section; /* table.h */
struct swz_coverage;   /* table.h */

/* How a format uses options; without the bit the option is wrong usage. */
enum swz_format_takes {
	SWZ_TAKES_ROWS = 1,         /* -n */
	SWZ_TAKES_SORT = 2,         /* -s */
	SWZ_TAKES_LIMIT = 4,        /* --percent-limit */
	SWZ_TAKES_BOTTOM_UP = 8,    /* --bottom-up */
	SWZ_TAKES_DIFF = 32,        /* --diff */
	SWZ_TAKES_NAMES = 1024,     /* --embed */
	SWZ_TAKES_SOURCE = 2048,    /* --no-source */
	SWZ_COMPRESSES = 32768,     /* its file is compressed as it is */
	SWZ_TAKES_NO_PARTS = 16384, /* no --by thread,parts */
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
	SWZ_NEEDS_JOINED_THREADS = 1024, /* where counts and times are joined:
					  * before the section of all one
					  * per thread, for its functions */
	SWZ_NEEDS_CELLS = 128, /* --by rank: what each rank has, too */
	SWZ_NEEDS_TIMES = 256, /* or whole contexts: counts (-m count) will not
				* do ... */
	SWZ_NEEDS_TIMES_TO_COMPARE = 512 /* ... for --diff */
};

struct swz_format {
	const char *name;
	const char *description;
	unsigned int takes; /* enum swz_format_takes */
	unsigned int needs; /* enum swz_format_needs */
	size_t rows;        /* that are shown without -n; 0: all */
	bool proposes;      /* commands that show more; see table.inputs */
	/* The file that is written by default is PREFIX, the pid, SUFFIX; NULL:
	 * standard output. */
	const char *prefix;
	const char *suffix;
	bool for_owner; /* nobody else may read its file: the profile or source
			 * text is in it */
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
	bool of_samples;   /* samples with times will do, too ... */
	bool samples_only; /* ... or are all that it shows */
	bool of_code;      /* any profile will do: it shows functions' code */
	bool reads_twice;  /* the events */
	void (*events)(FILE *stream, struct swz_trace *trace);
	/* With --file-per-invocation; NULL: there is none. */
	struct swz_invocations (*invocations)(const char *directory,
					      struct swz_trace *trace);
	/* ... or: which functions ran, of all profiles ... */
	void (*functions)(FILE *stream, const struct swz_coverage *coverage);
	bool of_symbols; /* their names are those of the symbols */
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

#endif
