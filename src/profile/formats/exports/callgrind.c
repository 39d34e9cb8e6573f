/* The format of callgrind, as KCachegrind and callgrind_annotate read it. Both
 * are particular; the second section says how. */

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"

/* --- a part's head ------------------------------------------------------- */

/* The head of a part in the format of callgrind, and costs as it says which
 * there are. */

/* A line's costs. */
struct swz_callgrind_cost {
	int64_t ns;
	int64_t waiting;  /* beside that */
	uint64_t samples; /* -m count: calls, and nothing else is shown */
};

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

/* The events of a comparison. */
static void callgrind_put_events(FILE *stream, int64_t more, int64_t less,
				 int64_t old, int64_t new)
{
	fprintf(stream, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
		more, less, old, new);
}

/* OLD: of a comparison, in ns. */
static void callgrind_put_cost(FILE *stream, const struct swz_section *section,
			       struct swz_callgrind_cost new, int64_t old)
{
	const struct swz_report *report = section->report;

	if (section->old) {
		callgrind_put_events(stream, new.ns > old ? new.ns - old : 0,
				     old > new.ns ? old - new.ns : 0, old,
				     new.ns);
		return;
	}
	if (report->without_times) {
		fprintf(stream, "%" PRIu64 "\n", new.samples);
		return;
	}
	fprintf(stream, "%" PRId64, new.ns);
	if (report->knows_waiting)
		fprintf(stream, " %" PRId64, new.waiting);
	if (report->samples)
		fprintf(stream, " %" PRIu64, new.samples);
	putc('\n', stream);
}

static struct swz_callgrind_cost total_of(const struct swz_report *report)
{
	struct swz_callgrind_cost total = {.ns = report->total_ns};
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		total.waiting = swz_add(total.waiting,
					report->functions[i].self_waiting_ns);
		total.samples = swz_add_count(total.samples,
					      report->functions[i].calls);
	}
	return total;
}

/* The sums of all functions' self times and of their differences, behind KEY:
 * "summary" or "totals". */
static void callgrind_put_totals(FILE *stream,
				 const struct swz_section *section,
				 const char *key)
{
	const struct swz_report *new = section->report, *old;
	int64_t more = 0, less = 0;
	size_t i;

	fprintf(stream, "%s: ", key);
	if (!section->old) {
		callgrind_put_cost(stream, section, total_of(new), 0);
		return;
	}
	old = section->old->report;
	for (i = 0; i < new->function_capacity; i++) {
		int64_t difference = swz_sub(new->functions[i].self_ns,
					     old->functions[i].self_ns);

		if (difference > 0)
			more = swz_add(more, difference);
		else
			less = swz_sub(less, difference);
	}
	callgrind_put_events(stream, more, less, old->total_ns, new->total_ns);
}

static void put_refusals(FILE *stream, const struct swz_profile *profile)
{
	uint64_t sums[SWZ_REFUSAL_SLOTS] = {0};
	uint64_t refused = 0, all = 0;
	const char *separator = ": ";
	size_t i, j;

	for (i = 0; i < profile->module_count; i++)
		for (j = 0; j < SWZ_REFUSAL_SLOTS; j++)
			sums[j] += profile->modules[i].record.counts[j];
	for (j = 0; j < SWZ_REFUSAL_SLOTS; j++) {
		all += sums[j];
		refused += j == SWZ_PATCHED ? 0 : sums[j];
	}
	fprintf(stream,
		"desc: Not profiled: %" PRIu64 " of %" PRIu64 " functions",
		refused, all);
	for (j = 1; j < SWZ_REFUSAL_SLOTS; j++) {
		if (!sums[j])
			continue;
		fprintf(stream, "%s%" PRIu64 " %s", separator, sums[j],
			swz_refusal_text((unsigned int)j));
		separator = ", ";
	}
	putc('\n', stream);
}

static void put_joined(FILE *stream, const struct swz_section *section)
{
	fputs("desc: Joined: ", stream);
	swz_put_joined_note(stream, section);
	fprintf(stream,
		"\ndesc: A time of 0 is less than %" PRId64
		" ns; calls=0: not counted\n",
		section->report->bound_ns);
}

/* Says what the figures are. */
static void put_kind(FILE *stream, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_report *report = section->report;

	if (report->without_times) {
		fputs("desc: Calls, without times (-m count): a function has "
		      "its calls; what it calls has the calls from there\n",
		      stream);
		return;
	}
	if (report->samples || report->joined)
		fputs("desc: Clock: processor time, sampled\n", stream);
	else if (profile->clock_known)
		fprintf(stream, "desc: Clock: TSC at %.6f GHz, %s\n",
			(double)profile->clock_ticks /
				(double)profile->clock_ns,
			report->knows_waiting ? "running and waiting apart"
					      : "wall-clock time");
	else
		fputs("desc: Clock: not calibrated, 1 ns stands for a tick\n",
		      stream);
	if (report->joined)
		put_joined(stream, section);
	else if (report->samples)
		fputs("desc: calls= and the second figure of each line are "
		      "samples, not calls\n",
		      stream);
	else if (section->compensated)
		fprintf(stream,
			"desc: Compensation: %" PRId64
			" ns of hooks subtracted, %.2f ns per call\n",
			swz_report_cost(report), swz_hook_cost_ns(profile));
	else
		fputs("desc: Compensation: none\n", stream);
	if (swz_hooks_exceed(section))
		fputs("desc: Hooks took more time than the program: times of "
		      "short functions are rough; true times: swizzle-run -m "
		      "both\n",
		      stream);
}

static void put_description(FILE *stream, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_report *report = section->report;

	if (section->thread_name) {
		fputs("desc: Threads called: ", stream);
		swz_put_text(stream, section->thread_name);
		putc('\n', stream);
	} else if (section->thread) {
		fprintf(stream, "desc: Thread: %" PRId32 " ",
			section->thread->record.tid);
		swz_put_text(stream, section->thread->name);
		putc('\n', stream);
	} else {
		fprintf(stream, "desc: Threads: %zu\n", report->thread_count);
	}
	if (section->profile_count > 1)
		fprintf(stream, "desc: Profiles: %zu, merged\n",
			section->profile_count);
	put_kind(stream, section);
	if (!report->samples)
		put_refusals(stream, profile);
	swz_put_loss_lines(stream, section, "desc: ");
	if (report->not_shown)
		fprintf(stream, "desc: Not shown: %" PRIu64 " %s%s\n",
			report->not_shown, swz_counted(section),
			report->without_times
				? ""
				: ", whose time is their callers'");
	if (report->folded_recursion)
		fprintf(stream,
			"desc: Folded recursion: %" PRIu64
			" calls are in a context further up\n",
			report->folded_recursion);
	if (report->unplaced_ns)
		fprintf(stream,
			"desc: Waiting: %" PRId64
			" ns of the time, it is not known where\n",
			report->unplaced_ns);
	if (swz_tells_running(report) && report->unknown_ns)
		fprintf(stream,
			"desc: Unknown: %" PRId64
			" ns of the time are running or waiting\n",
			report->unknown_ns);
	if (report->unseen_threads ||
	    (report->knows_waiting && report->silent_threads))
		fprintf(stream,
			"desc: Waiting: not known of %" PRIu64
			" of %zu threads\n",
			report->silent_threads, report->thread_count);
	if (report->missing_switches)
		fprintf(stream,
			"desc: Missing context switches: %" PRIu64
			" or more, so there is too little waiting\n",
			report->missing_switches);
}

static void put_old(FILE *stream, const struct swz_section *section)
{
	const struct swz_section *old = section->old;

	fprintf(stream, "desc: Compared with: process %" PRId32 ": ",
		old->profile->header.pid);
	swz_put_command(stream, old->profile);
	putc('\n', stream);
	if (old->profile_count > 1)
		fprintf(stream, "desc: Compared with: %zu profiles, merged\n",
			old->profile_count);
}

/* Up to the first function. */
static void callgrind_put_header(FILE *stream,
				 const struct swz_section *section)
{

	if (section->part == 1)
		fputs("# callgrind format\n"
		      "version: 1\n"
		      "creator: swizzle-" SWZ_VERSION "\n",
		      stream);
	else
		putc('\n', stream);
	fprintf(stream,
		"pid: %" PRId32 "\ncmd: ", section->profile->header.pid);
	swz_put_command(stream, section->profile);
	fprintf(stream, "\npart: %u\n", section->part);
	if (section->thread || section->thread_name)
		fprintf(stream, "thread: %u\n", section->thread_number);
	put_description(stream, section);
	if (section->old)
		put_old(stream, section);
	fputs("positions: line\n", stream);
	if (section->old)
		fputs("event: more : More than before (ns)\n"
		      "event: less : Less than before (ns)\n"
		      "event: old : Old time (ns)\n"
		      "event: new : New time (ns)\n"
		      "events: more less old new\n",
		      stream);
	else if (section->report->knows_waiting || section->report->samples)
		fprintf(stream,
			"event: ns : %s (ns)\n"
			"%s%sevents: ns%s%s\n",
			section->report->knows_waiting ? "Running" : "Time",
			section->report->knows_waiting
				? "event: Wait : Waiting (ns)\n"
				  "event: All = ns + Wait : Running or waiting "
				  "(ns)\n"
				: "",
			section->report->samples ? "event: samples : Samples\n"
						 : "",
			section->report->knows_waiting ? " Wait" : "",
			section->report->samples ? " samples" : "");
	else if (section->report->without_times)
		fputs("event: Calls : Calls\nevents: Calls\n", stream);
	else
		fputs("event: ns : Time (ns)\n"
		      "events: ns\n",
		      stream);
	callgrind_put_totals(stream, section, "summary");
}

/* --- costs --------------------------------------------------------------- */

/* The format of callgrind, as KCachegrind and callgrind_annotate read it.
 *
 * Both are particular. KCachegrind forgets compressed names at the beginning
 * of a part, so each part defines them anew. callgrind_annotate takes the
 * costs of all calls to a function as its inclusive cost and a pair of file
 * and function as its name; so there must be no two functions with the same
 * pair, and only outermost calls may have a cost. It takes `fi=' for the
 * beginning of another function, which costs as much as what is called from
 * there: that is a sum of disjoint times only if the caller is not recursive.
 * Where calls in inlined code of a recursive function come to more than its own
 * inclusive time, they are shown at the line where that code was inlined.
 *
 * Where waiting is known it is an event of its own, beside the time that the
 * program ran; viewers derive the sum of both.
 *
 * Where calls are counted and no time is known, they are the event. Of a call
 * that is the number of calls from there: so the calls to a function have
 * together what it has itself, and no function more than there is.
 *
 * A comparison has four events. Costs are never negative, and KCachegrind's sum
 * of a formula with a minus isn't either, so what has become more and what has
 * become less are two. Of each line and call they are its own difference, but
 * of calls whose lines in the two programs are not matched the difference of
 * all of them, each according to its share. They come first: viewers sort by
 * the first event. */

#define UNKNOWN "???"

struct writer {
	FILE *stream;
	const struct swz_section *section;
	struct swz_map objects; /* module to number, as it is compressed */
	struct swz_map files;   /* (interned path, module of a namesake) */
	struct swz_map functions;
	struct swz_map inlined; /* of the function that is being written, if it
				 * is recursive: files to sums */
	struct sum {
		int64_t new;
		int64_t old;
	} * sums;
	size_t sum_count;
	size_t sum_capacity;
};

static const struct swz_catalog_function *function_of(const struct writer *w,
						      uint32_t index)
{
	return &w->section->catalog->functions[index];
}

/* The number that stands for a name; *is_new if it was not yet used. */
static uint32_t number(struct swz_map *map, uint64_t a, uint64_t b,
		       bool *is_new)
{
	uint32_t next = (uint32_t)map->count + 1;
	uint32_t *found = swz_map_at(map, a, b);

	*is_new = *found == SWZ_MAP_NONE;
	if (*is_new)
		*found = next;
	return *found;
}

static void put_object(struct writer *w, const char *key,
		       const struct swz_catalog_function *function)
{
	const char *path = swz_catalog_module_path(w->section->catalog,
						   function);
	bool is_new;

	fprintf(w->stream, "%s=(%" PRIu32 ")", key,
		number(&w->objects, function->module, 0, &is_new));
	if (is_new) {
		putc(' ', w->stream);
		swz_put_text(w->stream, path ? path : UNKNOWN);
	}
	putc('\n', w->stream);
}

static void put_file(struct writer *w, const char *key, const char *file,
		     const struct swz_catalog_function *namesake)
{
	uint64_t module = namesake ? (uint64_t)namesake->module + 1 : 0;
	bool is_new;

	fprintf(w->stream, "%s=(%" PRIu32 ")", key,
		number(&w->files, (uintptr_t)file, module, &is_new));
	if (is_new) {
		putc(' ', w->stream);
		swz_put_text(w->stream, file ? file : UNKNOWN);
		if (namesake) {
			fputs(" (", w->stream);
			swz_put_text(w->stream,
				     swz_catalog_module_name(
					     w->section->catalog, namesake));
			putc(')', w->stream);
		}
	}
	putc('\n', w->stream);
}

static void put_file_of(struct writer *w, const char *key,
			const struct swz_catalog_function *function)
{
	put_file(w, key, function->file, function->namesake ? function : NULL);
}

static void put_function(struct writer *w, const char *key, uint32_t index)
{
	bool is_new;

	fprintf(w->stream, "%s=(%" PRIu32 ")", key,
		number(&w->functions, index, 0, &is_new));
	if (is_new) {
		putc(' ', w->stream);
		swz_put_text(w->stream, function_of(w, index)->name);
	}
	putc('\n', w->stream);
}

/* Adds up what is called from each file, from edge FIRST on. */
static void sum_files(struct writer *w, uint32_t caller, size_t first)
{
	const struct swz_report *report = w->section->report;
	const struct swz_report *old = w->section->old ? w->section->old->report
						       : NULL;
	size_t i;

	swz_map_free(&w->inlined);
	w->sum_count = 0;
	if (!function_of(w, caller)->recursive)
		return;
	for (i = first;
	     i < report->edge_count && report->edges[i].caller == caller; i++) {
		uint32_t place = report->edges[i].place;
		uint32_t *found = swz_map_at(
			&w->inlined,
			(uintptr_t)w->section->catalog->places[place].file, 0);
		struct sum *sum;

		if (*found == SWZ_MAP_NONE) {
			swz_grow(&w->sums, &w->sum_capacity, w->sum_count,
				 sizeof(*w->sums));
			*found = (uint32_t)w->sum_count++;
			w->sums[*found] = (struct sum){0, 0};
		}
		sum = &w->sums[*found];
		sum->new = swz_add(sum->new, report->edges[i].inclusive_ns);
		if (old)
			sum->old = swz_add(sum->old,
					   old->edges[i].inclusive_ns);
	}
}

/* True if all calls in that file's code may be shown there. */
static bool fits(const struct writer *w, uint32_t caller, const char *file)
{
	const struct swz_section *section = w->section;
	const struct sum *sum;

	if (!function_of(w, caller)->recursive)
		return true;
	sum = &w->sums[swz_map_get(&w->inlined, (uintptr_t)file, 0)];
	return sum->new <= swz_report_function(section->report, caller)
				   .inclusive_ns &&
	       (!section->old ||
		sum->old <= swz_report_function(section->old->report, caller)
				    .inclusive_ns);
}

/* Where a call is shown. A file other than the caller's is one of inlined
 * code, or the caller is not known. */
static struct swz_catalog_place shown_place(const struct writer *w,
					    uint32_t caller, uint32_t index)
{
	struct swz_catalog_place place = w->section->catalog->places[index];
	const char *file = function_of(w, caller)->file;

	if (!place.file) {
		place.file = file;
		place.line = 0;
	} else if (!SWZ_CATALOG_IS_REAL(caller)) {
		place.file = file;
	} else if (place.file != file && !fits(w, caller, place.file)) {
		place.file = file;
		place.line = file ? place.outer_line : 0;
	}
	return place;
}

/* Viewers have no place for the name of the inlined function. */
static void put_inlined(const struct writer *w,
			const struct swz_catalog_place *place)
{
	if (!place->inlined)
		return;
	fputs("# in ", w->stream);
	swz_put_text(w->stream, place->inlined);
	fputs(", inlined", w->stream);
	if (place->outer_line)
		fprintf(w->stream, " at line %d", place->outer_line);
	putc('\n', w->stream);
}

/* Calls between two functions in a comparison. */
struct pair {
	bool matched; /* each line is in both, or all are in one only */
	int64_t new, old;
	int64_t new_done, old_done; /* of the lines that were written */
};

static struct pair find_pair(const struct writer *w, size_t at)
{
	const struct swz_report *new = w->section->report;
	const struct swz_report *old = w->section->old->report;
	bool any_new = false, any_old = false, one_sided = false;
	struct pair pair = {0};
	size_t i;

	for (i = at; i < new->edge_count &&new->edges[i].caller ==
		     new->edges[at].caller &&new->edges[i].callee ==
		     new->edges[at].callee;
	     i++) {
		any_new |= new->edges[i].calls != 0;
		any_old |= old->edges[i].calls != 0;
		one_sided |= !new->edges[i].calls != !old->edges[i].calls;
		pair.new = swz_add(pair.new, new->edges[i].inclusive_ns);
		pair.old = swz_add(pair.old, old->edges[i].inclusive_ns);
	}
	pair.matched = !one_sided || !any_new || !any_old;
	return pair;
}

/* The part of a difference that is on a line with so much of the SUM; together
 * all parts are the difference. */
static int64_t part_of(int64_t difference, int64_t ns, int64_t sum,
		       int64_t *done)
{
	int64_t before = swz_scale(difference, (uint64_t)*done, (uint64_t)sum);

	*done = swz_add(*done, ns);
	return swz_scale(difference, (uint64_t)*done, (uint64_t)sum) - before;
}

static void put_call_cost(const struct writer *w, struct pair *pair,
			  struct swz_callgrind_cost new, int64_t old)
{
	int64_t difference;

	if (!pair || pair->matched) {
		callgrind_put_cost(w->stream, w->section, new, old);
		return;
	}
	difference = swz_sub(pair->new, pair->old);
	callgrind_put_events(
		w->stream,
		part_of(difference, new.ns, pair->new, &pair->new_done),
		part_of(swz_sub(0, difference), old, pair->old,
			&pair->old_done),
		old, new.ns);
}

/* In a comparison OLD is the same edge of the other report, and PAIR is not
 * NULL. A viewer has one number of calls: that of the new one, if it has the
 * call. */
static void put_call(struct writer *w, const struct swz_report_edge *edge,
		     const struct swz_report_edge *old, struct pair *pair,
		     const char **file)
{
	int64_t old_ns = old ? old->inclusive_ns : 0;
	uint64_t calls = edge->calls;
	const struct swz_catalog_function *caller = function_of(w,
								edge->caller);
	const struct swz_catalog_function *callee = function_of(w,
								edge->callee);
	struct swz_catalog_place place = shown_place(w, edge->caller,
						     edge->place);

	if (place.file != *file) {
		if (place.file == caller->file) {
			put_file_of(w, "fe", caller);
		} else {
			/* a file in which no line has a cost of its own is
			 * more than callgrind_annotate --auto expects */
			put_file(w, "fi", place.file, NULL);
			fprintf(w->stream, "%d ", place.line);
			callgrind_put_cost(w->stream, w->section,
					   (struct swz_callgrind_cost){0}, 0);
		}
		*file = place.file;
	}
	put_inlined(w, &place);
	if (callee->module != caller->module)
		put_object(w, "cob", callee);
	put_file_of(w, "cfi", callee);
	put_function(w, "cfn", edge->callee);
	if (!calls && old)
		calls = old->calls;
	fprintf(w->stream, "calls=%" PRIu64 " %d\n%d ", calls, callee->line,
		place.line);
	put_call_cost(w, pair,
		      (struct swz_callgrind_cost){edge->inclusive_ns,
						  edge->waiting_ns,
						  edge->calls},
		      old_ns);
}

static bool more_hits(const struct swz_report *report, uint32_t function,
		      size_t hit)
{
	return hit < report->hits.count &&
	       report->hits.items[hit].function == function;
}

/* The lines that samples hit; *hit is the function's first one, if any, and
 * moves on. What lies in another file was inlined: it is shown at the line
 * where that was, since viewers take a function's costs in another file for
 * those of another function. */
static void put_hits(struct writer *w, uint32_t index, size_t *hit)
{
	const struct swz_report *report = w->section->report;
	const char *file = function_of(w, index)->file;

	for (; more_hits(report, index, *hit); (*hit)++) {
		const struct swz_hit *of = &report->hits.items[*hit];
		const struct swz_catalog_place *place =
			&w->section->catalog->places[of->place];

		put_inlined(w, place);
		fprintf(w->stream, "%d ",
			place->file == file ? place->line
			: file              ? place->outer_line
					    : 0);
		callgrind_put_cost(
			w->stream, w->section,
			(struct swz_callgrind_cost){
				of->self_ns, of->self_waiting_ns, of->samples},
			0);
	}
}

/* A function's cost without that of the lines that are known. */
static struct swz_callgrind_cost cost_elsewhere(const struct writer *w,
						uint32_t index, size_t hit)
{
	const struct swz_report *report = w->section->report;
	struct swz_report_function costs = swz_report_function(report, index);
	struct swz_callgrind_cost cost = {costs.self_ns, costs.self_waiting_ns,
					  costs.calls};

	for (; more_hits(report, index, hit); hit++) {
		cost.ns -= report->hits.items[hit].self_ns;
		cost.waiting -= report->hits.items[hit].self_waiting_ns;
		cost.samples -= cost.samples < report->hits.items[hit].samples
					? cost.samples
					: report->hits.items[hit].samples;
	}
	return cost;
}

/* Writes one function; *edge is its first edge, if any, and moves on, as *hit
 * does. */
static void put_costs(struct writer *w, uint32_t index, size_t *edge,
		      size_t *hit)
{
	const struct swz_report *report = w->section->report;
	const struct swz_report *old = w->section->old ? w->section->old->report
						       : NULL;
	const struct swz_catalog_function *function = function_of(w, index);
	const char *file = function->file;
	uint32_t callee = SWZ_INDEX_NONE;
	struct pair pair = {0};

	putc('\n', w->stream);
	put_object(w, "ob", function);
	put_file_of(w, "fl", function);
	put_function(w, "fn", index);
	fprintf(w->stream, "%d ", function->line);
	callgrind_put_cost(w->stream, w->section,
			   cost_elsewhere(w, index, *hit),
			   old ? swz_report_function(old, index).self_ns : 0);
	put_hits(w, index, hit);
	sum_files(w, index, *edge);
	for (;
	     *edge < report->edge_count && report->edges[*edge].caller == index;
	     (*edge)++) {
		if (old && report->edges[*edge].callee != callee)
			pair = find_pair(w, *edge);
		callee = report->edges[*edge].callee;
		put_call(w, &report->edges[*edge],
			 old ? &old->edges[*edge] : NULL, old ? &pair : NULL,
			 &file);
	}
}

void swz_write_callgrind(FILE *stream, const struct swz_section *section)
{
	struct writer w = {.stream = stream, .section = section};
	size_t edge = 0, hit = 0;
	uint32_t i;

	callgrind_put_header(stream, section);
	for (i = 0; i < section->report->function_capacity; i++)
		if (section->report->functions[i].present ||
		    (section->old &&
		     section->old->report->functions[i].present))
			put_costs(&w, i, &edge, &hit);
	putc('\n', stream);
	callgrind_put_totals(stream, section, "totals");
	swz_map_free(&w.objects);
	swz_map_free(&w.files);
	swz_map_free(&w.functions);
	swz_map_free(&w.inlined);
	free(w.sums);
}
