#ifndef SWZ_PROFILE_FORMATS_COMMON_WRITERS_H
#define SWZ_PROFILE_FORMATS_COMMON_WRITERS_H

/* The writers, one per output format. formats.c lists them. */

#include "profile/formats/common/section.h"

/* One part in the format of callgrind, version 1, with the event ns. */
void swz_write_callgrind(FILE *stream, const struct swz_section *section);

/* A table of functions. Lines that begin with '#' explain it. */
void swz_write_text(FILE *stream, const struct swz_section *section,
		    const struct swz_table_options *options);

/* The same for people: figures with units, shares, the summary of what was
 * recorded and lost. */
void swz_write_table(FILE *stream, const struct swz_section *section,
		     const struct swz_table_options *options);

/* A profile in a few lines; see brief.c. */
void swz_brief_begin(struct swz_writer *writer);
void swz_brief_section(struct swz_writer *writer,
		       const struct swz_section *section);
void swz_brief_end(struct swz_writer *writer);

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

/* Says what a profile file holds. */
void swz_write_info(FILE *stream, struct swz_profile *profile);

#endif
