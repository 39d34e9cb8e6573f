/* -f rings is a picture (SVG): graphviz lays out discs, one for each function,
 * with arrows for calls; then the picture is drawn around them. */

#include "profile/formats/calls/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/printable.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/trace.h"

/* --- layout -------------------------------------------------------------- */

/* Where the rings are in the picture: graphviz decides. */

/* Graphviz gets boxes of a fixed size and arrows, and answers in its format
 * "plain": a line for each thing, lengths in inches, from the bottom left. What
 * goes to it and comes from it is in files in memory, so neither waits for the
 * other. */

#define SWZ_RINGS_BOX_HEIGHT 122.0 /* pixels */

struct swz_rings_point {
	double x, y; /* pixels, from the top left */
};

/* A line of Bezier curves: a point, then three for each. */
struct swz_rings_line {
	uint32_t caller, callee;
	struct swz_rings_point *points;
	size_t count;
};

struct swz_rings_layout {
	double width, height;
	struct swz_rings_point *middles; /* of the rings' boxes */
	struct swz_rings_line *lines;
	size_t line_count;
	char *text; /* graphviz' answer */
};

#define PIXELS 72.0     /* an inch */
#define MOST_RANKED 150 /* functions that dot places in short time */

/* The width of the box that a ring is given, with its name. */
static double rings_box_width(const struct swz_rings *rings, size_t ring)
{
	size_t length = strlen(
		rings->trace->catalog->functions[rings->rings[ring].function]
			.name);
	double width = 6.2 * (double)(length < 24 ? length : 24) + 8;

	return width > 104 ? width : 104;
}

/* ---------------------------------------------------------------- the child */

static bool put_graph(int file, const struct swz_rings *rings)
{
	FILE *stream = fdopen(dup(file), "w");
	bool good;
	size_t i;

	if (!stream)
		return false;
	fputs("digraph rings {\n"
	      "graph [nodesep=0.3, ranksep=0.45, overlap=prism];\n"
	      "node [shape=box, fixedsize=true, label=\"\"];\n",
	      stream);
	for (i = 0; i < rings->count; i++)
		fprintf(stream, "n%zu [width=%.3f, height=%.3f];\n", i,
			rings_box_width(rings, i) / PIXELS,
			SWZ_RINGS_BOX_HEIGHT / PIXELS);
	for (i = 0; i < rings->edge_count; i++)
		fprintf(stream, "n%" PRIu32 " -> n%" PRIu32 ";\n",
			rings->edges[i].caller, rings->edges[i].callee);
	fputs("}\n", stream);
	good = !ferror(stream);
	return fclose(stream) == 0 && good && lseek(file, 0, SEEK_SET) == 0;
}

/* Returns an errno. */
static int start(pid_t *pid, const char *program, int from, int to)
{
	char *const arguments[] = {(char *)(uintptr_t)program,
				   (char *)"-Tplain", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t usual;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (!error) {
		/* what we ignore it need not */
		sigemptyset(&usual);
		sigaddset(&usual, SIGPIPE);
		sigaddset(&usual, SIGXFSZ);
		error = posix_spawn_file_actions_adddup2(&actions, from,
							 STDIN_FILENO);
		error = error ? error
			      : posix_spawn_file_actions_adddup2(&actions, to,
								 STDOUT_FILENO);
		error = error ? error
			      : posix_spawn_file_actions_addopen(
					&actions, STDERR_FILENO, "/dev/null",
					O_WRONLY, 0);
		error = error ? error
			      : posix_spawnattr_setsigdefault(&attributes,
							      &usual);
		error = error ? error
			      : posix_spawnattr_setflags(&attributes,
							 POSIX_SPAWN_SETSIGDEF);
		error = error ? error
			      : posix_spawnp(pid, program, &actions,
					     &attributes, arguments, environ);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static char *run(const char *program, int from, int to)
{
	pid_t pid;
	int status = 0, error = start(&pid, program, from, to);

	if (error == ENOENT)
		return swz_print("%s of graphviz is not installed: install the "
				 "package graphviz, or use -f graph",
				 program);
	if (error)
		return swz_print("cannot run %s of graphviz: %s", program,
				 strerror(error));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return swz_print("cannot wait for %s: %s", program,
					 strerror(errno));
	if (WIFSIGNALED(status))
		return swz_print("%s of graphviz was ended by signal %d",
				 program, WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return swz_print("%s of graphviz failed with status %d: fewer "
				 "functions (-n) may help",
				 program, WEXITSTATUS(status));
	return NULL;
}

static char *read_whole(int file)
{
	struct stat stat;
	size_t size, done = 0;
	char *text;

	if (fstat(file, &stat) != 0)
		return NULL;
	size = (size_t)stat.st_size;
	text = swz_allocate(size + 1, 1);
	while (done < size) {
		ssize_t bytes = pread(file, text + done, size - done,
				      (off_t)done);

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes <= 0)
			break;
		done += (size_t)bytes;
	}
	text[done] = '\0';
	return text;
}

static char *ask(struct swz_rings_layout *layout, const struct swz_rings *rings,
		 const char *program)
{
	int from = memfd_create("graph", MFD_CLOEXEC);
	int to = memfd_create("plain", MFD_CLOEXEC);
	char *failure = NULL;

	if (from < 0 || to < 0 || !put_graph(from, rings))
		failure = swz_print("cannot give the graph to graphviz: %s",
				    strerror(errno));
	else
		failure = run(program, from, to);
	if (!failure)
		layout->text = read_whole(to);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return failure;
}

/* --------------------------------------------------------------- the answer */

/* The next word of a line, or NULL. */
static char *word(char **rest)
{
	return strtok_r(NULL, " \n", rest);
}

static bool number(char **rest, double *value)
{
	char *text = word(rest), *end;

	if (!text)
		return false;
	*value = strtod(text, &end) * PIXELS;
	return !*end && *value > -1e7 && *value < 1e7;
}

static bool ring(char **rest, const struct swz_rings *rings, uint32_t *index)
{
	char *text = word(rest), *end;
	unsigned long value;

	if (!text || *text != 'n')
		return false;
	value = strtoul(text + 1, &end, 10);
	*index = (uint32_t)value;
	return !*end && value < rings->count;
}

static bool point(char **rest, const struct swz_rings_layout *layout,
		  struct swz_rings_point *to)
{
	if (!number(rest, &to->x) || !number(rest, &to->y))
		return false;
	to->y = layout->height - to->y;
	return true;
}

static bool read_line(struct swz_rings_layout *layout,
		      const struct swz_rings *rings, char **rest)
{
	struct swz_rings_line *line = &layout->lines[layout->line_count];
	char *count;
	size_t i;

	if (layout->line_count == rings->edge_count ||
	    !ring(rest, rings, &line->caller) ||
	    !ring(rest, rings, &line->callee) || !(count = word(rest)))
		return false;
	line->count = strtoul(count, NULL, 10);
	if (line->count < 4 || line->count > 100000 || line->count % 3 != 1)
		return false;
	line->points = swz_allocate(line->count, sizeof(*line->points));
	layout->line_count++;
	for (i = 0; i < line->count; i++)
		if (!point(rest, layout, &line->points[i]))
			return false;
	return true;
}

static bool read_answer(struct swz_rings_layout *layout,
			const struct swz_rings *rings)
{
	char *lines, *text = strtok_r(layout->text, "\n", &lines);
	size_t placed = 0;
	double scale;

	for (; text; text = strtok_r(NULL, "\n", &lines)) {
		char *rest, *kind = strtok_r(text, " ", &rest);
		uint32_t index;

		if (!kind)
			continue;
		if (strcmp(kind, "stop") == 0)
			break;
		if (strcmp(kind, "graph") == 0 &&
		    !(number(&rest, &scale) && number(&rest, &layout->width) &&
		      number(&rest, &layout->height)))
			return false;
		if (strcmp(kind, "node") == 0) {
			if (!ring(&rest, rings, &index) ||
			    !point(&rest, layout, &layout->middles[index]))
				return false;
			placed++;
		}
		if (strcmp(kind, "edge") == 0 &&
		    !read_line(layout, rings, &rest))
			return false;
	}
	return placed == rings->count &&
	       layout->line_count == rings->edge_count;
}

/* Runs graphviz and waits for it. Returns NULL, or why there is no layout, to
 * be freed. Free the layout in either case. */
static char *rings_lay_out(struct swz_rings_layout *layout,
			   const struct swz_rings *rings)
{
	const char *program = rings->count <= MOST_RANKED ? "dot" : "sfdp";
	char *failure;

	*layout = (struct swz_rings_layout){0};
	layout->middles = swz_allocate(rings->count + 1,
				       sizeof(*layout->middles));
	layout->lines = swz_allocate(rings->edge_count + 1,
				     sizeof(*layout->lines));
	if (!rings->count)
		return NULL;
	failure = ask(layout, rings, program);
	if (!failure && !(layout->text && read_answer(layout, rings)))
		failure = swz_print("%s of graphviz gave no layout that can be "
				    "read",
				    program);
	return failure;
}

static void rings_layout_free(struct swz_rings_layout *layout)
{
	size_t i;

	for (i = 0; i < layout->line_count; i++)
		free(layout->lines[i].points);
	free(layout->lines);
	free(layout->middles);
	free(layout->text);
}

/* --- the picture --------------------------------------------------------- */

/* The picture: arrows, discs as hot as the functions' self time, and around
 * each the segments of its ring, which begin at the top. Beside what is drawn
 * elements have the figures, for those who read the file. */

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
		bool shown;
		size_t length = swz_character(text, SIZE_MAX, &shown);
		unsigned char c = (unsigned char)*text;

		if (left < length) {
			fputs("...", stream);
			return;
		}
		left -= length;
		if (!shown)
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
		text += length;
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
	fprintf(stream, "\n%" PRIu64 " call%s, self %s (%.2f %%), incl %s",
		ring->calls, swz_s(ring->calls),
		swz_figure_time(self, ring->self_ns, false),
		percent(rings, ring->self_ns),
		swz_figure_time(inclusive, ring->inclusive_ns, false));
	if (ring->left_out)
		fprintf(stream,
			"\n%" PRIu64 " call%s not drawn: the ring has %u "
			"segments",
			ring->left_out, ring->left_out == 1 ? " is" : "s are",
			SWZ_RINGS_MOST_SEGMENTS);
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
		"stroke=\"%s\" stroke-width=\"2\"/>\n"
		"<text y=\"4\">%.1f%%</text>\n",
		full, DISC, pale, pale,
		colours[(size_t)(ring - rings->rings) % (COLOURS - 1)],
		percent(rings, ring->self_ns));
	for (i = 0; i < ring->segment_count; i++)
		put_segment(stream, rings, ring, &ring->segments[i]);
	fprintf(stream, "<text class=\"name\" y=\"%.2f\">",
		SWZ_RINGS_BOX_HEIGHT / 2 + UP - 4);
	put_some(stream, name, NAME_BYTES);
	fputs("</text>\n</g>\n", stream);
}

/* ------------------------------------------------------------- the picture */

/* The colour of a ring's calls: of its disc's edge, and of the arrows from it.
 */
static size_t caller_colour(uint32_t ring)
{
	return ring % (COLOURS - 1);
}

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
		"\" stroke=\"%s\" marker-end=\"url(#arrow%zu)\" "
		"stroke-width=\"%.2f\"%s d=\"",
		edge->calls, colours[caller_colour(edge->caller)],
		caller_colour(edge->caller),
		0.7 + 0.25 * log2((double)edge->calls),
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
	fprintf(stream, ": %" PRIu64 " call%s", edge->calls,
		swz_s(edge->calls));
	if (edge->direct < edge->calls)
		fprintf(stream, ", %" PRIu64 " through hidden functions",
			edge->calls - edge->direct);
	fputs("</title></path>\n", stream);
}

/* Says what is shown, what is not, and how to read it. */
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
		"%" PRIu64 " call%s, %.2f %% of the time</text>\n",
		rings->count, rings->present, rings->calls - calls,
		swz_s(rings->calls - calls),
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
		fprintf(stream, "%" PRIu64 " call%s not drawn. ", undrawn,
			undrawn == 1 ? " is" : "s are");
	if (rings->trace->choice.left_out)
		fprintf(stream, "%" PRIu64 " call%s left out of the trace. ",
			rings->trace->choice.left_out,
			rings->trace->choice.left_out == 1 ? " was" : "s were");
	fputs("Point at something for its figures; the wheel zooms, a drag "
	      "moves</text>\n</g>\n",
	      stream);
}

/* src/html/zoom.js */
extern const char swz_zoom_script[];

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
	      ".edge{fill:none}.edge:hover{stroke:#c00}"
	      ".call{stroke-width:.5}.call:hover{stroke:#000}"
	      "</style>\n"
	      "<defs>",
	      stream);
	for (i = 0; i < COLOURS - 1; i++)
		fprintf(stream,
			"<marker id=\"arrow%zu\" viewBox=\"0 0 8 8\" "
			"refX=\"1\" refY=\"4\" markerWidth=\"8\" "
			"markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
			"orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\" "
			"fill=\"%s\"/></marker>",
			i, colours[i]);
	fputs("</defs>\n"
	      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
	      stream);
	fprintf(stream, "<g transform=\"translate(%.0f %.0f)\">\n", MARGIN,
		MARGIN);
	put_head(stream, rings);
	fprintf(stream,
		"<g transform=\"translate(0 %.0f)\">\n"
		"<g>\n",
		HEAD);
	for (i = 0; i < layout->line_count; i++)
		put_line(stream, rings, &layout->lines[i]);
	fputs("</g>\n", stream);
	for (i = 0; i < rings->count; i++)
		put_ring(stream, rings, &rings->rings[i], &layout->middles[i]);
	fputs("</g>\n</g>\n<script><![CDATA[\n", stream);
	fputs(swz_zoom_script, stream);
	fputs("]]></script>\n</svg>\n", stream);
}

void swz_write_rings(FILE *stream, struct swz_trace *trace)
{
	struct swz_rings rings;
	struct swz_rings_layout layout;

	swz_rings_collect(&rings, stream, trace);
	trace->failure = rings_lay_out(&layout, &rings);
	if (!trace->failure)
		put_picture(stream, &rings, &layout);
	rings_layout_free(&layout);
	swz_rings_free(&rings);
}
