#ifndef SWZ_PROFILE_FORMATS_HTML_PAGE_H
#define SWZ_PROFILE_FORMATS_HTML_PAGE_H

/* What is known of a page while it is written (html.c). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/formats/diff.h"
#include "profile/formats/formats.h"
#include "profile/formats/html_bands.h"
#include "profile/formats/html_calls.h"
#include "profile/formats/html_events.h"
#include "profile/formats/html_sources.h"

#define SWZ_HTML_LEVEL 6 /* of compression */

/* What the description says of a thread. */
struct swz_html_thread_note {
	size_t profile;                          /* index */
	const struct swz_profile_thread *thread; /* NULL: of several */
	int32_t tid;
	const char *name;
	int64_t start_ns; /* since the first thread's start */
	int64_t end_ns;
	int64_t total_ns;
	int64_t raw_ns;
	size_t without_ranks; /* functions for whose ranks there was no room */
	struct swz_html_events events;
	struct swz_html_cut cut;
};

/* And of a profile. */
struct swz_html_profile_note {
	const struct swz_profile *profile;
	uint64_t dropped;   /* inconsistent contexts */
	uint64_t repaired;  /* torn times */
	uint64_t not_shown; /* calls that a view hides */
	bool cut;           /* to a range of time (--from, --to) */
	struct swz_range range;
};

/* And of a comparison. */
struct swz_html_comparison_note {
	size_t first_old; /* of the profiles; 0: nothing is compared */
	size_t new_runs, old_runs;
	struct swz_diff_function total;
};

struct swz_html_page {
	FILE *stream;
	const struct swz_catalog *catalog;
	bool compensated;
	const struct swz_section *joined; /* times are of another run; NULL:
					   * none is. Until the end */
	struct swz_html_thread_note *threads;
	size_t thread_count;
	size_t thread_capacity;
	struct swz_html_profile_note *profiles;
	size_t profile_count;
	size_t profile_capacity;
	struct swz_html_sources *sources;
	uint64_t event_room; /* bytes of events that there may be still */
	uint64_t value_room; /* of arguments and results */
	size_t rank_room;    /* and times of ranks */
	struct swz_html_band_names bands;
	const struct swz_view *view; /* of the sections; or NULL */
	struct swz_html_comparison_note comparison;
};

#endif
