/* The picture: arrows, discs as hot as the functions' self time, and around
 * each the segments of its ring, which begin at the top. Beside what is drawn
 * elements have the figures, for those who read the file. */

#include "profile/formats/rings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/rings_calls.h"
#include "profile/formats/rings_layout.h"
#include "profile/support/figures.h"
#include "profile/support/output.h"

#define PI 3.14159265358979323846
#define DISC 18.0  /* pixels */
#define INNER 22.0 /* of a ring */
#define THIN 8.0   /* of a segment without calls inside; each level adds ... */
#define STEP 1.6
#define UP 9.0    /* a ring's middle is so much above its box's */
#define HEAD 76.0 /* of the picture: lines of text */
#define MARGIN 10.0
#define LEAST_WIDTH 720.0
#define NAME_BYTES 24

/* A colour for each of the most frequent paths, the last one for all others. */
static const char *const colours[] = {
	"#1f77b4", "#ff7f0e", "#2ca02c", "#9467bd", "#17becf", "#e377c2",
	"#bcbd22", "#8c564b", "#d62728", "#393b79", "#637939", "#999999"};
#define COLOURS (sizeof(colours) / sizeof(colours[0]))

/* Up to so many bytes of text, for XML; what it cannot have is a '?'. */
static void put_some(FILE *stream, const char *text, size_t most)
{
	size_t left = most;

	while (*text) {
		size_t length = swz_utf8_length(text);
		unsigned char c = (unsigned char)*text;

		if (left < (length ? length : 1)) {
			fputs("...", stream);
			return;
		}
		left -= length ? length : 1;
		if (!length || c < 0x20 || c == 0x7f ||
		    strncmp(text, "\xef\xbf\xbe", 3) == 0 ||
		    strncmp(text, "\xef\xbf\xbf", 3) == 0)
			putc('?', stream);
		else if (c == '&')
			fputs("&amp;", stream);
		else if (c == '<')
			fputs("&lt;", stream);
		else if (c == '>')
			fputs("&gt;", stream);
		else if (c == '"')
			fputs("&quot;", stream);
		else
			fwrite(text, 1, length, stream);
		text += length ? length : 1;
	}
}

static void put(FILE *stream, const char *text)
{
	put_some(stream, text, 8000);
}

static const char *colour_of(const struct swz_rings_path *path)
{
	return colours[path->colour < COLOURS - 1 ? path->colour : COLOURS - 1];
}

static double percent(const struct swz_rings *rings, int64_t ns)
{
	return rings->self_ns ? 100 * (double)ns / (double)rings->self_ns : 0;
}

/* --------------------------------------------------------------- one ring */

static double angle(const struct swz_rings *rings, int64_t at)
{
	double part = (double)(at - rings->begin) /
		      (double)(rings->end - rings->begin);

	return 2 * PI * (part < 0 ? 0 : part > 1 ? 1 : part);
}

static void put_arc(FILE *stream, double radius, double from, double to,
		    bool back)
{
	double first = back ? to : from, last = back ? from : to;

	fprintf(stream, "%c%.2f %.2fA%.2f %.2f 0 %d %d %.2f %.2f",
		back ? 'L' : 'M', radius * sin(first), -radius * cos(first),
		radius, radius, to - from > PI, !back, radius * sin(last),
		-radius * cos(last));
}

static void put_segment(FILE *stream, const struct swz_rings *rings,
			const struct swz_rings_ring *ring,
			const struct swz_rings_segment *segment)
{
	const struct swz_rings_path *path = &ring->paths[segment->path];
	const double least = 2 * PI / SWZ_RINGS_STEPS;
	double from = angle(rings, segment->from);
	double to = angle(rings, segment->to);
	double outer = INNER + THIN + STEP * segment->level;
	char figure[SWZ_FIGURE_BYTES];

	/* a full circle would end where it begins, and be nothing */
	if (to - from > 2 * PI - 0.001)
		to = from + 2 * PI - 0.001;
	if (to - from < least)
		to = from + least;
	fprintf(stream,
		"<path class=\"call\" data-from=\"%" PRId64
		"\" data-to=\"%" PRId64 "\" data-calls=\"%" PRIu64
		"\" data-depth=\"%" PRIu32 "\" data-path=\"%" PRIu32
		"\" fill=\"%s\"%s d=\"",
		segment->from, segment->to, segment->calls, segment->depth,
		segment->path, colour_of(path),
		/* a border takes small ones away */
		to - from > 3 * least ? " stroke=\"#fff\"" : "");
	put_arc(stream, outer, from, to, false);
	put_arc(stream, INNER, from, to, true);
	fputs("Z\"><title>", stream);
	if (segment->calls > 1)
		fprintf(stream,
			"%" PRIu64 " calls; the longest: ", segment->calls);
	if (rings->trace->rings->clock == SWZ_RINGS_TIME)
		fprintf(stream, "%s, ",
			swz_figure_time(figure, segment->longest, false));
	fprintf(stream, "%" PRIu32 " levels inside, ", segment->depth);
	put(stream, path->text);
	fputs("</title></path>\n", stream);
}

static void put_figures(FILE *stream, const struct swz_rings *rings,
			const struct swz_rings_ring *ring)
{
	const struct swz_catalog *catalog = rings->trace->catalog;
	const struct swz_catalog_function *function =
		&catalog->functions[ring->function];
	char self[SWZ_FIGURE_BYTES], inclusive[SWZ_FIGURE_BYTES];
	size_t i;

	fputs("<title>", stream);
	put(stream, function->name);
	fputs("\n", stream);
	put(stream, swz_catalog_module_name(catalog, function));
	fprintf(stream, "\n%" PRIu64 " calls, self %s (%.2f %%), incl %s",
		ring->calls, swz_figure_time(self, ring->self_ns, false),
		percent(rings, ring->self_ns),
		swz_figure_time(inclusive, ring->inclusive_ns, false));
	if (ring->left_out)
		fprintf(stream,
			"\n%" PRIu64 " calls are not drawn: the ring has %u "
			"segments",
			ring->left_out, SWZ_RINGS_MOST_SEGMENTS);
	for (i = 0; i < ring->path_count; i++) {
		fprintf(stream, "\n%" PRIu64 " time%s: ", ring->paths[i].calls,
			ring->paths[i].calls == 1 ? "" : "s");
		put(stream, ring->paths[i].text);
	}
	fputs("</title>\n", stream);
}

static void put_ring(FILE *stream, const struct swz_rings *rings,
		     const struct swz_rings_ring *ring,
		     const struct swz_rings_point *middle)
{
	const char *name =
		rings->trace->catalog->functions[ring->function].name;
	double heat = percent(rings, ring->self_ns) / 100;
	int pale = (int)(255 * (1 - 0.04 - 0.71 * sqrt(heat < 1 ? heat : 1)));
	double full = INNER + THIN;
	size_t i;

	if (rings->most_depth)
		full += STEP * (rings->most_depth < SWZ_RINGS_LEVELS
					? rings->most_depth
					: SWZ_RINGS_LEVELS - 1);
	fputs("<g class=\"function\" data-name=\"", stream);
	put(stream, name);
	fprintf(stream,
		"\" data-calls=\"%" PRIu64 "\" data-self-ns=\"%" PRId64
		"\" data-incl-ns=\"%" PRId64 "\" data-left-out=\"%" PRIu64
		"\" transform=\"translate(%.2f %.2f)\">\n",
		ring->calls, ring->self_ns, ring->inclusive_ns, ring->left_out,
		middle->x, middle->y - UP);
	put_figures(stream, rings, ring);
	fprintf(stream,
		"<circle r=\"%.2f\" fill=\"#fff\" stroke=\"#ddd\"/>\n"
		"<circle r=\"%.2f\" fill=\"rgb(255,%d,%d)\" "
		"stroke=\"#444\"/>\n"
		"<text y=\"4\">%.1f%%</text>\n",
		full, DISC, pale, pale, percent(rings, ring->self_ns));
	for (i = 0; i < ring->segment_count; i++)
		put_segment(stream, rings, ring, &ring->segments[i]);
	fprintf(stream, "<text class=\"name\" y=\"%.2f\">",
		SWZ_RINGS_BOX_HEIGHT / 2 + UP - 4);
	put_some(stream, name, NAME_BYTES);
	fputs("</text>\n</g>\n", stream);
}

/* ------------------------------------------------------------- the picture */

static const struct swz_rings_edge *edge_of(const struct swz_rings *rings,
					    const struct swz_rings_line *line)
{
	return &rings->edges[swz_map_get(&rings->edge_map, line->caller,
					 line->callee)];
}

static void put_line(FILE *stream, const struct swz_rings *rings,
		     const struct swz_rings_line *line)
{
	const struct swz_rings_edge *edge = edge_of(rings, line);
	const struct swz_catalog *catalog = rings->trace->catalog;
	size_t i;

	fprintf(stream,
		"<path class=\"edge\" data-calls=\"%" PRIu64
		"\" stroke-width=\"%.2f\"%s d=\"",
		edge->calls, 0.7 + 0.25 * log2((double)edge->calls),
		edge->direct ? "" : " stroke-dasharray=\"4 3\"");
	for (i = 0; i < line->count; i++)
		fprintf(stream, "%s%.2f %.2f",
			i == 0   ? "M"
			: i == 1 ? "C"
				 : " ",
			line->points[i].x, line->points[i].y);
	fputs("\"><title>", stream);
	put(stream,
	    catalog->functions[rings->rings[edge->caller].function].name);
	fputs(" to ", stream);
	put(stream,
	    catalog->functions[rings->rings[edge->callee].function].name);
	fprintf(stream, ": %" PRIu64 " calls", edge->calls);
	if (edge->direct < edge->calls)
		fprintf(stream, ", %" PRIu64 " through hidden functions",
			edge->calls - edge->direct);
	fputs("</title></path>\n", stream);
}

/* What is shown, what is not, and how to read it. */
static void put_head(FILE *stream, const struct swz_rings *rings)
{
	const struct swz_rings_options *options = rings->trace->rings;
	char length[SWZ_FIGURE_BYTES];
	uint64_t calls = 0, undrawn = 0;
	int64_t self = 0;
	size_t i;

	for (i = 0; i < rings->count; i++) {
		calls += rings->rings[i].calls;
		self += rings->rings[i].self_ns;
		undrawn += rings->rings[i].left_out;
	}
	fputs("<g class=\"head\">\n<text y=\"14\">", stream);
	if (rings->trace->count == 1) {
		put_some(stream,
			 swz_base_name(
				 rings->trace->bindings[0].profile->executable),
			 60);
		fputs(": ", stream);
	} else {
		fprintf(stream, "%zu processes: ", rings->trace->count);
	}
	fprintf(stream,
		"%zu of %zu functions, with the most self time. Left out: "
		"%" PRIu64 " calls, %.2f %% of the time</text>\n",
		rings->count, rings->present, rings->calls - calls,
		percent(rings, rings->self_ns - self));
	if (options->clock == SWZ_RINGS_TIME)
		fprintf(stream,
			"<text y=\"30\">Clockwise from the top: time, %s "
			"around (" SWZ_RAW_TIMES ")</text>\n",
			swz_figure_time(length, rings->end - rings->begin,
					false));
	else
		fprintf(stream,
			"<text y=\"30\">Clockwise from the top: calls, %" PRIu64
			" around, one thread after the other</text>\n",
			rings->calls);
	fprintf(stream,
		"<text y=\"46\">Thick: calls go deep inside. Colour: %s. "
		"Red disc: self time. Dashed: through hidden "
		"functions</text>\n<text y=\"62\">",
		options->paths == SWZ_RINGS_CALLEES
			? "the set of functions called"
			: "the class of the arguments");
	if (undrawn)
		fprintf(stream, "%" PRIu64 " calls are not drawn. ", undrawn);
	if (rings->trace->choice.left_out)
		fprintf(stream,
			"%" PRIu64 " calls were left out of the trace. ",
			rings->trace->choice.left_out);
	fputs("Point at something for its figures</text>\n</g>\n", stream);
}

static void put_picture(FILE *stream, const struct swz_rings *rings,
			const struct swz_rings_layout *layout)
{
	double width = layout->width + 2 * MARGIN;
	double height = layout->height + HEAD + 2 * MARGIN;
	size_t i;

	if (width < LEAST_WIDTH)
		width = LEAST_WIDTH;
	fprintf(stream,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"font-family=\"sans-serif\" font-size=\"10\" "
		"data-creator=\"swizzle " SWZ_VERSION "\" "
		"data-clock=\"%s\" data-begin=\"%" PRId64
		"\" data-end=\"%" PRId64 "\">\n",
		width, height, width, height,
		rings->trace->rings->clock == SWZ_RINGS_TIME ? "ns" : "calls",
		rings->begin, rings->end);
	fputs("<style>.function text{text-anchor:middle;pointer-events:none}"
	      ".function .name{font-size:11px}.head{font-size:12px}"
	      ".edge{fill:none;stroke:#888}.edge:hover{stroke:#c00}"
	      ".call{stroke-width:.5}.call:hover{stroke:#000}"
	      "</style>\n"
	      "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"1\" "
	      "refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
	      "markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
	      "<path d=\"M0 0L8 4L0 8Z\" fill=\"#888\"/></marker></defs>\n"
	      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
	      stream);
	fprintf(stream, "<g transform=\"translate(%.0f %.0f)\">\n", MARGIN,
		MARGIN);
	put_head(stream, rings);
	fprintf(stream,
		"<g transform=\"translate(0 %.0f)\">\n"
		"<g marker-end=\"url(#arrow)\">\n",
		HEAD);
	for (i = 0; i < layout->line_count; i++)
		put_line(stream, rings, &layout->lines[i]);
	fputs("</g>\n", stream);
	for (i = 0; i < rings->count; i++)
		put_ring(stream, rings, &rings->rings[i], &layout->middles[i]);
	fputs("</g>\n</g>\n</svg>\n", stream);
}

void swz_write_rings(FILE *stream, struct swz_trace *trace)
{
	struct swz_rings rings;
	struct swz_rings_layout layout;

	swz_rings_collect(&rings, stream, trace);
	trace->failure = swz_rings_lay_out(&layout, &rings);
	if (!trace->failure)
		put_picture(stream, &rings, &layout);
	swz_rings_layout_free(&layout);
	swz_rings_free(&rings);
}
