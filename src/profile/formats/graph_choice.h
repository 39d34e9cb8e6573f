#ifndef SWZ_PROFILE_FORMATS_GRAPH_CHOICE_H
#define SWZ_PROFILE_FORMATS_GRAPH_CHOICE_H

/* Which functions and calls a picture of the call graph shows: a graph of
 * thousands is of no use, and cannot be drawn. In a comparison what counts is
 * the side on which a function takes more. */

#include "profile/formats/formats.h"

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

/* By --percent-limit and -n. To be freed. */
struct swz_graph_choice swz_graph_choose(
	const struct swz_section *section,
	const struct swz_table_options *options);
void swz_graph_choice_free(struct swz_graph_choice *choice);

/* All calls from one function to another, from *AT on; the edges are sorted so
 * that they follow each other. Those of two reports are at the same indices. */
struct swz_report_edge swz_graph_sum_edges(const struct swz_report *report,
					   size_t *at);

/* Whether such a sum is shown. OLD: of the other side. */
bool swz_graph_shows(const struct swz_graph_choice *choice,
		     const struct swz_report_edge *edge,
		     const struct swz_report_edge *old);

#endif
