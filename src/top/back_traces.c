/* A back trace is a context: the path that leads to it. Of each function the
 * contexts that are it are gathered, and sorted by their own time. */

#include "top/back_traces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "profile/names/short_name.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"

#define INDENT 12
/* Of a recursion nobody reads more. */
#define MOST_FRAMES 100u

static const struct swz_live_figures *figures;

static int by_self(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int64_t of_a = figures->functions[a].self_ns;
	int64_t of_b = figures->functions[b].self_ns;

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* By function first. */
static int by_function(const void *left, const void *right)
{
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct swz_context *a = &figures->contexts.items[i];
	const struct swz_context *b = &figures->contexts.items[j];

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (a->self_ns != b->self_ns)
		return a->self_ns > b->self_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

struct printing {
	FILE *stream;
	const struct swz_live *live;
	const struct swz_back_trace_options *options;
	const struct swz_style *style;
	uint32_t *contexts; /* sorted by function */
	size_t context_count;
};

static void print_name(const struct printing *p, uint32_t function, int indent)
{
	unsigned int width = p->style->width > (unsigned int)indent + 20
				     ? p->style->width - (unsigned int)indent
				     : 0;
	char *text = swz_short_name(swz_live_name(p->live, function), width,
				    p->style->utf8);

	fprintf(p->stream, "%s", text);
	free(text);
}

static const char *unit(const struct printing *p, uint64_t count)
{
	if (p->live->samples)
		return count == 1 ? "hit" : "hits";
	return count == 1 ? "call" : "calls";
}

static void print_trace(const struct printing *p, uint32_t index,
			int64_t function_ns)
{
	const struct swz_context *items = figures->contexts.items;
	char share[SWZ_FIGURE_BYTES], count[SWZ_FIGURE_BYTES];
	size_t frames = 0;

	fprintf(p->stream, "  %6s %10s %s\n",
		swz_figure_share(share, items[index].self_ns, function_ns),
		swz_figure_count(count, items[index].calls),
		unit(p, items[index].calls));
	for (uint32_t at = index; at; at = items[at].parent) {
		if (frames++ == MOST_FRAMES) {
			fprintf(p->stream, "%*s...\n", INDENT, "");
			break;
		}
		fprintf(p->stream, "%*s", INDENT, "");
		print_name(p, items[at].function, INDENT);
		fputc('\n', p->stream);
	}
}

/* Those of the function, the most frequent first. */
static void print_traces(const struct printing *p, uint32_t function,
			 int64_t self_ns)
{
	const struct swz_context *items = figures->contexts.items;
	char share[SWZ_FIGURE_BYTES], count[SWZ_FIGURE_BYTES];
	int64_t rest_ns = 0;
	size_t rest = 0;

	for (size_t i = 0; i < p->context_count; i++) {
		const struct swz_context *c = &items[p->contexts[i]];

		if (c->function != function || !c->self_ns)
			continue;
		if ((double)c->self_ns * 100 <
		    (double)self_ns * p->options->back_percent) {
			rest_ns += c->self_ns;
			rest++;
			continue;
		}
		print_trace(p, p->contexts[i], self_ns);
	}
	if (rest)
		fprintf(p->stream, "  %6s %10s other back trace%s\n",
			swz_figure_share(share, rest_ns, self_ns),
			swz_figure_count(count, rest), rest == 1 ? "" : "s");
}

static void print_function(const struct printing *p, uint32_t function)
{
	const struct swz_live_function *f = &figures->functions[function];
	char share[SWZ_FIGURE_BYTES], count[SWZ_FIGURE_BYTES];
	char time[SWZ_FIGURE_BYTES];

	fprintf(p->stream, "%6s %10s %s, %s  ",
		swz_figure_share(share, f->self_ns, figures->total_ns),
		swz_figure_count(count, f->calls), unit(p, f->calls),
		swz_figure_time(time, f->self_ns, p->style->utf8));
	print_name(p, function, 40);
	fprintf(p->stream, "  %s\n", swz_live_module(p->live, function));
	print_traces(p, function, f->self_ns);
}

static void print_functions(const struct printing *p)
{
	uint32_t *order = swz_allocate(figures->function_count, sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; i < figures->function_count; i++)
		if (figures->functions[i].self_ns)
			order[count++] = (uint32_t)i;
	qsort(order, count, sizeof(*order), by_self);
	for (size_t i = 0; i < count; i++) {
		if ((double)figures->functions[order[i]].self_ns * 100 <
		    (double)figures->total_ns * p->options->min_percent)
			break;
		print_function(p, order[i]);
	}
	free(order);
}

static void print_heading(const struct printing *p)
{
	char text[3][SWZ_FIGURE_BYTES], when[40] = "";
	time_t now = time(NULL);
	struct tm local;

	if (localtime_r(&now, &local))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
	fprintf(p->stream, "%s  %.1f s: ", when,
		(double)figures->wall_ns / 1e9);
	if (!p->live->samples) {
		fprintf(p->stream, "%s calls, %s\n",
			swz_figure_count(text[0], figures->calls),
			swz_figure_time(text[1], figures->total_ns,
					p->style->utf8));
		return;
	}
	fprintf(p->stream, "%s ticks, %s hits, %s missed back traces\n",
		swz_figure_count(text[0], figures->calls + figures->lost +
						  figures->missed),
		swz_figure_count(text[1], figures->calls),
		swz_figure_count(text[2], figures->cut));
}

void swz_back_traces_print(FILE *stream, const struct swz_live *live,
			   const struct swz_back_trace_options *options,
			   const struct swz_style *style)
{
	struct printing p = {stream, live, options, style, NULL, 0};

	figures = &live->recent;
	p.contexts = swz_allocate(figures->contexts.count, sizeof(uint32_t));
	for (size_t i = 1; i < figures->contexts.count; i++)
		if (figures->contexts.items[i].self_ns)
			p.contexts[p.context_count++] = (uint32_t)i;
	if (p.context_count)
		qsort(p.contexts, p.context_count, sizeof(uint32_t),
		      by_function);
	print_heading(&p);
	print_functions(&p);
	fputc('\n', stream);
	free(p.contexts);
}
