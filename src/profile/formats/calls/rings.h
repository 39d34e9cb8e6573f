#ifndef SWZ_PROFILE_FORMATS_CALLS_RINGS_H
#define SWZ_PROFILE_FORMATS_CALLS_RINGS_H

/* -f rings: a picture (SVG) of the functions of a trace and who calls whom.
 * Around each function is a ring of its calls. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/costs/trace.h"
#include "util/memory.h"

enum swz_rings_clock {
	SWZ_RINGS_TIME, /* clockwise is time */
	SWZ_RINGS_CALLS /* each call is one tick, of all threads in turn */
};

/* A call's colour goes by one of these. */
enum swz_rings_paths {
	SWZ_RINGS_CALLEES,  /* the set of functions that it has called */
	SWZ_RINGS_ARGUMENTS /* the class of its arguments' values */
};

struct swz_rings_options {
	size_t rows; /* functions that are shown; 0: all */
	enum swz_rings_clock clock;
	enum swz_rings_paths paths;
};

/* Where graphviz is missing or fails, trace->failure says so. */
void swz_write_rings(FILE *stream, struct swz_trace *trace);

/* --- the calls of the picture --------------------------------------------- */

/* The part of a trace that the picture of -f rings shows. The trace is read
 * twice: first for the sums, by which the functions are chosen, then for the
 * calls of those. Memory goes by the functions and the pixels, not by the
 * trace's length. */

#define SWZ_RINGS_STEPS 360u /* of a ring, about a pixel each */
#define SWZ_RINGS_LEVELS 12u /* of a ring's thickness */
#define SWZ_RINGS_MOST_SEGMENTS 5000u

/* One call, or several that would lie on the same pixel. */
struct swz_rings_segment {
	int64_t from, to; /* on the clock */
	int64_t longest;  /* of its calls; its path and depth are shown */
	uint64_t calls;
	uint32_t path; /* index in the ring's */
	uint32_t depth;
	uint32_t level; /* of thickness, by depth */
};

struct swz_rings_path {
	char *text;
	uint64_t calls;
	uint32_t colour; /* from 0, by calls */
};

struct swz_rings_ring {
	uint32_t function; /* of the catalog */
	uint64_t calls;
	int64_t self_ns, inclusive_ns;
	struct swz_rings_segment *segments; /* by level falling, then by time */
	size_t segment_count, segment_capacity;
	uint64_t left_out; /* calls: more segments than a ring may have */
	struct swz_rings_path *paths;
	size_t path_count, path_capacity;
};

struct swz_rings_edge {
	uint32_t caller, callee; /* rings */
	uint64_t calls;
	uint64_t direct; /* of these; others lead through hidden functions */
};

/* For a function of the catalog. */
struct swz_rings_sum {
	uint64_t calls, open;
	int64_t self_ns, inclusive_ns;
	uint32_t depth; /* the most that a call of it has reached */
	uint32_t ring;  /* SWZ_RINGS_NONE: it is hidden */
};

struct swz_rings {
	struct swz_trace *trace;
	int64_t begin, end;  /* on the clock */
	int64_t first, last; /* of all calls: ns */
	uint64_t calls;      /* of all functions */
	int64_t self_ns;
	size_t present;               /* functions */
	uint32_t most_depth;          /* of what is shown */
	struct swz_rings_ring *rings; /* most self time first */
	size_t count;
	struct swz_rings_edge *edges;
	size_t edge_count, edge_capacity;
	/* while the trace is read: */
	struct swz_rings_sum *sums; /* by function of the catalog */
	size_t sum_count;
	struct swz_map path_map, segment_map, edge_map;
};

/* To be freed. STREAM: reading ends where it cannot be written to. */
void swz_rings_collect(struct swz_rings *rings, FILE *stream,
		       struct swz_trace *trace);
void swz_rings_free(struct swz_rings *rings);

/* The index of a ring's path that KEY tells from others; a new one has no text
 * yet. */
uint32_t swz_rings_path(struct swz_rings *rings, uint32_t ring, uint64_t key);

#endif
