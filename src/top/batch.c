#include "top/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "profile/names/catalog.h"
#include "top/live.h"
#include "top/session.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"
#include "watch/proc_task.h"

/* --- back traces --------------------------------------------------------- */

/* A back trace is a context: the path that leads to it. Of each function the
 * contexts that are it are gathered, and sorted by their own time. */

/* swizzle-top -b prints this in a round. */

struct swz_back_trace_options {
	unsigned int min_percent;  /* of all time: functions */
	unsigned int back_percent; /* of the function's: back traces of it */
};

#define INDENT 12
/* More levels of a recursion are read by nobody. */
#define MOST_FRAMES 100u

static const struct swz_live_figures *figures;

/* --offsets: by context, where in its function most samples hit (as a place);
 * NULL. */
static uint32_t *hottest;

/* They are sorted and chosen by time, or by calls where no time is known. */
static bool by_calls;

static int64_t weight_of(int64_t self_ns, uint64_t calls)
{
	return by_calls ? swz_signed(calls) : self_ns;
}

static int64_t function_weight(uint32_t function)
{
	return weight_of(figures->functions[function].self_ns,
			 figures->functions[function].calls);
}

static int64_t context_weight(const struct swz_context *context)
{
	return weight_of(context->self_ns, context->calls);
}

static const char *share_of(char *out, int64_t part, int64_t whole)
{
	return by_calls ? "-" : swz_figure_share(out, part, whole);
}

static int by_self(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int64_t of_a = function_weight(a);
	int64_t of_b = function_weight(b);

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
	if (context_weight(a) != context_weight(b))
		return context_weight(a) > context_weight(b) ? -1 : 1;
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

	swz_put_text(p->stream, text);
	free(text);
}

/* One line of a back trace. PLACE: where in the function it is. */
static void print_frame(const struct printing *p, uint32_t function,
			uint32_t place)
{
	const struct swz_catalog_function *f =
		&p->live->catalog.functions[function];

	fprintf(p->stream, "%*s", INDENT, "");
	print_name(p, function, p->live->offsets ? 2 * INDENT : INDENT);
	if (p->live->offsets) {
		if (place != SWZ_PLACE_UNKNOWN)
			fprintf(p->stream, "+0x%" PRIx32 "/0x%" PRIx32,
				place - 1, f->size);
		fputs(" [", p->stream);
		swz_put_text(p->stream, swz_live_module(p->live, function));
		fputc(']', p->stream);
	}
	fputc('\n', p->stream);
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
	uint32_t place = hottest ? hottest[index] : SWZ_PLACE_UNKNOWN;
	size_t frames = 0;

	fprintf(p->stream, "  %6s %10s %s\n",
		share_of(share, items[index].self_ns, function_ns),
		swz_figure_count(count, items[index].calls),
		unit(p, items[index].calls));
	for (uint32_t at = index; at; at = items[at].parent) {
		/* who called the caller nobody knows */
		if (by_calls && frames > 1 &&
		    items[at].function == SWZ_CATALOG_UNKNOWN)
			break;
		if (frames++ == MOST_FRAMES) {
			fprintf(p->stream, "%*s...\n", INDENT, "");
			break;
		}
		print_frame(p, items[at].function, place);
		place = items[at].place;
	}
}

/* Samples in a function are its context's: of the places there the one
 * with most time is told. Places of calls have no name of their own then. */
static void gather_hits(struct swz_contexts *contexts)
{
	int64_t *most = swz_allocate(contexts->count, sizeof(*most));

	hottest = swz_allocate(contexts->count, sizeof(*hottest));
	for (size_t i = 1; i < contexts->count; i++) {
		struct swz_context *hit = &contexts->items[i];

		if (!hit->is_hit)
			continue;
		if (context_weight(hit) > most[hit->parent]) {
			most[hit->parent] = context_weight(hit);
			hottest[hit->parent] = hit->place;
		}
		swz_context_merge(&contexts->items[hit->parent], hit);
		hit->calls = 0;
		hit->self_ns = 0;
	}
	free(most);
}

/* Prints the function's back traces, the most frequent first. */
static void print_traces(const struct printing *p, uint32_t function,
			 int64_t self_ns)
{
	int64_t weight = function_weight(function);
	const struct swz_context *items = figures->contexts.items;
	char share[SWZ_FIGURE_BYTES], count[SWZ_FIGURE_BYTES];
	int64_t rest_ns = 0;
	size_t rest = 0;

	for (size_t i = 0; i < p->context_count; i++) {
		const struct swz_context *c = &items[p->contexts[i]];

		if (c->function != function || !context_weight(c))
			continue;
		if ((double)context_weight(c) * 100 <
		    (double)weight * p->options->back_percent) {
			rest_ns += c->self_ns;
			rest++;
			continue;
		}
		print_trace(p, p->contexts[i], self_ns);
	}
	if (rest)
		fprintf(p->stream, "  %6s %10s other back trace%s\n",
			share_of(share, rest_ns, self_ns),
			swz_figure_count(count, rest), rest == 1 ? "" : "s");
}

static void print_function(const struct printing *p, uint32_t function)
{
	const struct swz_live_function *f = &figures->functions[function];
	char share[SWZ_FIGURE_BYTES], count[SWZ_FIGURE_BYTES];
	char time[SWZ_FIGURE_BYTES];

	fprintf(p->stream, "%6s %10s %s, %s  ",
		share_of(share, f->self_ns, figures->total_ns),
		swz_figure_count(count, f->calls), unit(p, f->calls),
		by_calls ? "-"
			 : swz_figure_time(time, f->self_ns, p->style->utf8));
	print_name(p, function, 40);
	fputs("  ", p->stream);
	swz_put_text(p->stream, swz_live_module(p->live, function));
	fputc('\n', p->stream);
	print_traces(p, function, f->self_ns);
}

static void print_functions(const struct printing *p)
{
	uint32_t *order = swz_allocate(figures->function_count, sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; i < figures->function_count; i++)
		if (function_weight((uint32_t)i))
			order[count++] = (uint32_t)i;
	qsort(order, count, sizeof(*order), by_self);
	for (size_t i = 0; i < count; i++) {
		if ((double)function_weight(order[i]) * 100 <
		    (double)weight_of(figures->total_ns, figures->calls) *
			    p->options->min_percent)
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
			by_calls ? "no times (-m count)"
				 : swz_figure_time(text[1], figures->total_ns,
						   p->style->utf8));
		return;
	}
	fprintf(p->stream, "%s ticks, %s hits, %s missed back traces\n",
		swz_figure_count(text[0], figures->calls + figures->lost +
						  figures->missed),
		swz_figure_count(text[1], figures->calls),
		swz_figure_count(text[2], figures->cut));
}

/* The time, ticks, hits and missed back traces (of exact counts: calls), then
 * functions with their most frequent back traces, innermost function first. */
static void back_traces_print(FILE *stream, struct swz_live *live,
			      const struct swz_back_trace_options *options,
			      const struct swz_style *style)
{
	struct printing p = {stream, live, options, style, NULL, 0};

	figures = &live->recent;
	by_calls = live->without_times;
	if (live->offsets)
		gather_hits(&live->recent.contexts);
	p.contexts = swz_allocate(figures->contexts.count, sizeof(uint32_t));
	for (size_t i = 1; i < figures->contexts.count; i++)
		if (context_weight(&figures->contexts.items[i]))
			p.contexts[p.context_count++] = (uint32_t)i;
	if (p.context_count)
		qsort(p.contexts, p.context_count, sizeof(uint32_t),
		      by_function);
	print_heading(&p);
	print_functions(&p);
	fputc('\n', stream);
	free(p.contexts);
	free(hottest);
	hottest = NULL;
}

/* --- rounds of text ------------------------------------------------------ */

/* Waits until FD can be read or it is UNTIL_NS. False: the user wants the end.
 */
static bool wait_for(int fd, int ending, uint64_t until_ns)
{
	struct pollfd fds[] = {{ending, POLLIN, 0}, {fd, POLLIN, 0}};

	for (;;) {
		uint64_t now = swz_watch_now();
		int ms = 0;

		if (fd >= 0)
			ms = -1;
		else if (now < until_ns)
			ms = (int)((until_ns - now + 999999) / 1000000);
		else
			return true;
		if (poll(fds, 2, ms) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents)
			return false;
		if (fds[1].revents)
			return true;
	}
}

static struct swz_style find_style(void)
{
	struct swz_style style = {.width = 0};
	struct winsize size;

	setlocale(LC_CTYPE, "");
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}

/* The last round may be shorter, when all that was watched has ended. */
#define LOOK_NS 20000000u

static bool wait_for_round(struct swz_top_session *s, int ending,
			   uint64_t until_ns)
{
	for (;;) {
		uint64_t now = swz_watch_now();
		uint64_t next = now + LOOK_NS < until_ns ? now + LOOK_NS
							 : until_ns;

		if (!wait_for(-1, ending, next))
			return false;
		swz_top_session_look(s);
		if (next == until_ns || swz_top_session_has_ended(s))
			return true;
	}
}

static int open_ending(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

bool swz_top_batch_list(const struct swz_top_options *options)
{
	const struct swz_style style = find_style();
	uint64_t rounds = options->rounds ? options->rounds : 1;
	struct swz_process_list list = {0};
	int ending = open_ending();
	bool good = true;

	swz_process_list_read(&list);
	for (uint64_t i = 0; good && i < rounds; i++) {
		if (!wait_for(-1, ending, list.read_ns + options->delay_ns))
			break;
		swz_process_list_read(&list);
		swz_process_list_print(stdout, &list, &style);
		good = fflush(stdout) == 0 && !ferror(stdout);
	}
	swz_process_list_free(&list);
	return good;
}

bool swz_top_batch(struct swz_top_session *s)
{
	const struct swz_back_trace_options options = {s->options.min_percent,
						       s->options.back_percent};
	const struct swz_style style = find_style();
	int ending = open_ending();
	bool going = true;
	uint64_t next;

	if (s->sampler.why_pause)
		swz_complain("sampling by pauses (--engine pause): %s",
			     s->sampler.why_pause);
	/* exact counts: the first round is more than what there was before */
	if (!s->live.samples)
		swz_top_session_take(s);
	next = swz_watch_now();
	for (uint64_t i = 0; going && (!i || !s->ended); i++) {
		int fd;

		if (s->options.rounds && i >= s->options.rounds)
			break;
		next += s->options.delay_ns;
		going = wait_for_round(s, ending, next);
		fd = swz_top_session_ask(s);
		if (fd >= 0)
			going &= wait_for(fd, ending, 0);
		swz_top_session_take(s);
		back_traces_print(stdout, &s->live, &options, &style);
		if (fflush(stdout) != 0 || ferror(stdout))
			return false;
	}
	return true;
}
