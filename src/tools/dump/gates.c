/* Gates say whether a build may pass.
 *
 * A comparison has three answers. It fails if a figure has grown by more than
 * the limit, and by more than chance explains. It is undecided if chance alone
 * may move the figure by more than the limit, so that a build which is slower
 * would pass as often as not. Else it passes.
 *
 * Chance is asked for more than in tables: a table that is read may have one
 * wrong row of a hundred, a gate that is passed a hundred times a week may not
 * have one wrong answer. So all functions of a comparison share one chance of
 * 0.1% (Bonferroni's correction), and the total has one of its own. */

#include "tools/dump/reports.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/command_line.h"
#include "profile/costs/runs.h"
#include "profile/formats/common/diff.h"
#include "tools/dump/dump_options.h"
#include "util/memory.h"

#define CHANCE 0.001

/* Without noise, what takes so little of the larger total is not judged. */
#define LEAST_SHARE 0.001

/* Functions below this share of the total are never undecided: most functions
 * are small, and small ones are never sure. */
#define SHARE_TO_DECIDE 0.05

#define MOST_ANNOTATIONS 10 /* GitHub shows no more of one step */

static bool failed, undecided;
static size_t annotations;

bool swz_gates_any(const struct swz_dump_options *options)
{
	return options->fail_above >= 0 || options->fail_calls_above >= 0 ||
	       options->budget;
}

/* --- lines --------------------------------------------------------------- */

/* A value of GitHub's workflow commands. */
static void put_escaped(const char *text, bool property)
{
	for (; *text; text++) {
		bool special = *text == '%' || *text == '\n' || *text == '\r' ||
			       (property && (*text == ':' || *text == ','));

		if (special)
			fprintf(stderr, "%%%02X", (unsigned char)*text);
		else
			putc(*text, stderr);
	}
}

/* The path as the repository has it, where this is its directory. */
static const char *in_repository(const char *file)
{
	const char *workspace = getenv("GITHUB_WORKSPACE");
	char *here = workspace ? swz_duplicate(workspace) : getcwd(NULL, 0);
	size_t length = here ? strlen(here) : 0;

	if (length && strncmp(file, here, length) == 0 && file[length] == '/')
		file += length + 1;
	free(here);
	return file;
}

/* FUNCTION may be NULL: it is about no function. */
static void annotate(const struct swz_catalog_function *function,
		     const char *level, const char *text)
{
	if (annotations++ >= MOST_ANNOTATIONS)
		return;
	fprintf(stderr, "::%s ", level);
	if (function && function->file) {
		fputs("file=", stderr);
		put_escaped(in_repository(function->file), true);
		if (function->line)
			fprintf(stderr, ",line=%d", function->line);
		putc(',', stderr);
	}
	fputs("title=swizzle::", stderr);
	put_escaped(text, false);
	putc('\n', stderr);
}

static const struct swz_catalog_function *function_at(
	const struct swz_section *section, uint32_t index)
{
	return index == SWZ_INDEX_NONE ? NULL
				       : &section->catalog->functions[index];
}

/* "shop::work (prog)", or "total"; to be freed. */
static char *name_of(const struct swz_section *section, uint32_t index)
{
	const char *module;

	if (index == SWZ_INDEX_NONE)
		return swz_duplicate("total");
	module = swz_module_name(section, index);
	return swz_print("%s%s%s%s", function_at(section, index)->name,
			 module ? " (" : "", module ? module : "",
			 module ? ")" : "");
}

/* --- comparisons --------------------------------------------------------- */

/* A figure of both sides. */
struct figure {
	double old, new, noise, least;
	bool known; /* the noise */
};

enum verdict { PASSES, FAILS, UNDECIDED };

struct gate {
	const char *more;      /* "slower", "more calls" */
	const char *unit, *of; /* " ns", "self " */
	double percent;
	bool calls;
};

/* The worst of what a gate has found in a section. */
struct found {
	size_t failed, undecided;
	uint32_t worst, unsure; /* functions, or SWZ_INDEX_NONE */
	struct figure worst_figure, unsure_figure;
	bool total_failed, total_undecided;
	struct figure total;
};

/* MATTERS: it is large enough to be undecided. */
static enum verdict judge(const struct figure *f, double percent, bool matters)
{
	double more = f->new - f->old, limit = percent * f->old / 100;

	if (f->old <= 0)
		return PASSES; /* in the total */
	if (!f->known)
		return more > limit && more > f->least ? FAILS : PASSES;
	if (more > limit && more > f->noise && more > f->least)
		return FAILS;
	return matters && f->noise > limit && more + f->noise > limit
		       ? UNDECIDED
		       : PASSES;
}

static struct figure figure_of(const struct gate *gate,
			       const struct swz_diff_function *function,
			       double chance, double least)
{
	const struct swz_costs *old = &function->costs.old;
	const struct swz_costs *new = &function->costs.new;
	struct figure f = {.known = function->noise.known};

	f.old = gate->calls ? (double)old->calls : (double)old->self_ns;
	f.new = gate->calls ? (double)new->calls : (double)new->self_ns;
	f.least = gate->calls ? 0 : least;
	if (f.known)
		f.noise = gate->calls
				  ? swz_spread_noise_at(
					    &function->new_runs.calls,
					    &function->old_runs.calls, chance)
				  : swz_spread_noise_at(
					    &function->new_runs.self_ns,
					    &function->old_runs.self_ns,
					    chance);
	return f;
}

static struct figure total_of(const struct gate *gate,
			      const struct swz_section *section, double least,
			      double chance)
{
	struct swz_diff_function total = swz_diff_of_total(section);
	struct figure f = {.known = total.noise.known};
	struct swz_spread new = {0}, old = {0};

	f.old = gate->calls ? (double)swz_calls_of(section->old->report)
			    : (double)total.costs.old.self_ns;
	f.new = gate->calls ? (double)swz_calls_of(section->report)
			    : (double)total.costs.new.self_ns;
	f.least = gate->calls ? 0 : least;
	if (!f.known)
		return f;
	new = gate->calls ? swz_runs_total_calls(section->runs)
			  : swz_runs_total(section->runs);
	old = gate->calls ? swz_runs_total_calls(section->old->runs)
			  : swz_runs_total(section->old->runs);
	f.noise = swz_spread_noise_at(&new, &old, chance);
	return f;
}

static bool is_judged(const struct swz_section *section,
		      const struct swz_dump_options *options, uint32_t index,
		      const struct swz_diff_function *function)
{
	return SWZ_CATALOG_IS_REAL(index) && function->present &&
	       (!options->table.filters.count ||
		swz_patterns_match(&options->table.filters, section->catalog,
				   index, NULL));
}

/* "+40.2% (+12300 ns, noise 500 ns)"; to be freed. */
static char *describe(const struct gate *gate, const struct figure *f)
{
	double more = f->new - f->old;
	char *noise = f->known ? swz_print("noise %.0f%s", f->noise, gate->unit)
			       : swz_duplicate("noise unknown: give several "
					       "runs of each");
	char *text = swz_print("%+.1f%% (%+.0f%s, %s)", 100 * more / f->old,
			       more, gate->unit, noise);

	free(noise);
	return text;
}

static void annotate_figure(const struct swz_section *section,
			    const struct gate *gate, uint32_t index,
			    const struct figure *f, bool fails)
{
	char *name = name_of(section, index), *what = describe(gate, f);
	char *text = swz_print("%s: %s%s%s", name,
			       index == SWZ_INDEX_NONE ? "" : gate->of, what,
			       fails ? "" : ": cannot be told from noise");

	annotate(function_at(section, index), fails ? "error" : "warning",
		 text);
	free(text);
	free(what);
	free(name);
}

static void note(struct found *found, const struct swz_section *section,
		 const struct gate *gate, uint32_t index,
		 const struct figure *f, double percent,
		 const struct swz_dump_options *options)
{
	enum verdict verdict = judge(
		f, percent, f->old >= SHARE_TO_DECIDE * found->total.old);

	if (verdict == FAILS) {
		if (!found->failed++ ||
		    f->new - f->old >
			    found->worst_figure.new - found->worst_figure.old) {
			found->worst = index;
			found->worst_figure = *f;
		}
	} else if (verdict == UNDECIDED) {
		if (!found->undecided++ ||
		    f->noise > found->unsure_figure.noise) {
			found->unsure = index;
			found->unsure_figure = *f;
		}
	}
	if (verdict != PASSES && options->annotate)
		annotate_figure(section, gate, index, f, verdict == FAILS);
}

/* One line: the total, and the worst of the functions. */
static void say(const struct swz_section *section, const struct gate *gate,
		const struct found *found, bool fails)
{
	bool of_total = fails ? found->total_failed : found->total_undecided;
	size_t count = fails ? found->failed : found->undecided;
	char *total = of_total ? describe(gate, &found->total) : NULL;
	char *name = NULL, *worst = NULL;

	if (count) {
		name = name_of(section, fails ? found->worst : found->unsure);
		worst = describe(gate, fails ? &found->worst_figure
					     : &found->unsure_figure);
	}
	swz_dump_complain(
		"%s%s %g%%%s%s: %s%s%s%s%s%s%s%s%s",
		fails ? gate->more : "undecided, as the noise",
		fails ? " by more than" : " is larger than", gate->percent,
		section->thread_name ? " in threads called " : "",
		section->thread_name ? section->thread_name : "",
		total ? "total " : "", total ? total : "",
		total && worst ? "; " : "", worst ? name : "",
		worst ? ": " : "", worst ? gate->of : "", worst ? worst : "",
		count > 1 ? "; and other functions" : "",
		fails ? "" : ". Give more runs, on a quieter machine");
	free(total);
	free(name);
	free(worst);
}

static size_t count_judged(const struct swz_section *section,
			   const struct swz_dump_options *options)
{
	size_t count = 0;

	for (uint32_t i = 0; i < section->report->function_capacity; i++) {
		struct swz_diff_function function = swz_diff_function(section,
								      i);

		count += is_judged(section, options, i, &function);
	}
	return count ? count : 1;
}

/* Filters of rows leave functions out of this question, and then the total,
 * too. A new function has no percentage: it counts in the total, as the time
 * outside of all functions does. */
static void compare(const struct swz_section *section, const struct gate *gate,
		    const struct swz_dump_options *options)
{
	double chance = CHANCE / (double)count_judged(section, options);
	double least = LEAST_SHARE * (double)swz_diff_total(section);
	struct found found = {.total = total_of(gate, section, least, CHANCE)};
	enum verdict verdict = options->table.filters.count
				       ? PASSES
				       : judge(&found.total, gate->percent,
					       true);

	found.total_failed = verdict == FAILS;
	found.total_undecided = verdict == UNDECIDED;
	if (verdict != PASSES && options->annotate)
		annotate_figure(section, gate, SWZ_INDEX_NONE, &found.total,
				verdict == FAILS);
	for (uint32_t i = 0; i < section->report->function_capacity; i++) {
		struct swz_diff_function function = swz_diff_function(section,
								      i);
		struct figure f;

		if (!is_judged(section, options, i, &function))
			continue;
		f = figure_of(gate, &function, chance, least);
		note(&found, section, gate, i, &f, gate->percent, options);
	}
	if (found.failed || found.total_failed)
		say(section, gate, &found, true);
	if (found.undecided || found.total_undecided)
		say(section, gate, &found, false);
	failed |= found.failed || found.total_failed;
	undecided |= found.undecided || found.total_undecided;
}

/* swizzle-run --compare asks after each pair of runs, up to some tens of times,
 * and stops at the first yes: all these questions share one chance. A change is
 * told, or that there is none of 1%. */

#define QUESTIONS 20
#define CHANCE_OF_ALL 0.005
#define SMALL_CHANGE 0.01

/* True if all runs of one side are slower than all of the other, and so many
 * that chance seldom parts them so: where a few runs take far longer than the
 * rest, this says more than their means. */
static bool are_parted(const struct swz_runs *a, const struct swz_runs *b)
{
	double ways = 2; /* 2 / (n over k): that chance parts them */
	bool above = true, below = true;

	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++) {
			above &= a->items[i].total_ns > b->items[j].total_ns;
			below &= a->items[i].total_ns < b->items[j].total_ns;
		}
	for (size_t i = 1; i <= a->count; i++)
		ways *= (double)i / (double)(b->count + i);
	return (above || below) && ways <= CHANCE_OF_ALL / QUESTIONS;
}

static void tell(const struct swz_section *section)
{
	const struct gate gate = {.calls = section->report->without_times};
	double least = LEAST_SHARE * (double)swz_diff_total(section);
	struct figure f = total_of(&gate, section, least,
				   CHANCE_OF_ALL / QUESTIONS);
	double change = fabs(f.new - f.old);

	undecided |= !f.known ||
		     !((change > f.noise && change > f.least) ||
		       (change > f.least && !gate.calls &&
			are_parted(section->runs, section->old->runs)) ||
		       change + f.noise <= SMALL_CHANGE * f.old);
}

/* --- budgets ------------------------------------------------------------- */

/* A line of a budget: FUNCTION METRIC LIMIT. FUNCTION is a pattern, each of
 * whose functions has the limit, or `total`. */

enum metric { CALLS, SELF, INCLUSIVE };

static const char *metric_at(size_t index)
{
	static const char *const names[] = {
		[CALLS] = "calls", [SELF] = "self", [INCLUSIVE] = "incl"};

	return index <= INCLUSIVE ? names[index] : NULL;
}

struct limit {
	struct swz_patterns patterns; /* none: the total */
	char *function, *text;
	enum metric metric;
	double value; /* calls, ns or percent */
	bool percent, seen;
	unsigned int line;
};

static struct {
	struct limit *limits;
	size_t count, capacity;
	const char *path;
} budget;

__attribute__((noreturn)) static void bad_line(unsigned int line,
					       const char *what,
					       const char *word)
{
	swz_dump_bad_usage("%s:%u: %s%s%s%s. A line is FUNCTION METRIC LIMIT: "
			   "'parse* calls 1000', 'main incl 20ms', 'hash self "
			   "5%%'",
			   budget.path, line, what, word ? " '" : "",
			   word ? word : "", word ? "'" : "");
}

/* "1000", "20ms", "5%". */
static bool read_value(struct limit *limit, const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	if (limit->metric != CALLS && text[strlen(text) - 1] != '%' &&
	    strcmp(text, "0") != 0) {
		size_t digits = strspn(text, "0123456789.");

		/* a time without a unit could be anything */
		limit->value = (double)swz_duration(text);
		if (strcmp(text + digits, "us") == 0)
			limit->value = strtod(text, &end) * 1e3;
		else if (strcmp(text + digits, "ns") == 0)
			limit->value = strtod(text, &end);
		return text[digits] && limit->value > 0;
	}
	limit->value = strtod(text, &end);
	limit->percent = *end == '%' && limit->metric != CALLS;
	return isfinite(limit->value) && !end[limit->percent];
}

/* The last word of LINE, which is cut off; NULL: there is none. */
static char *last_word(char *line)
{
	char *end = line + strlen(line);

	while (end > line && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	while (end > line && !strchr(" \t", end[-1]))
		end--;
	return *end ? end : NULL;
}

static void read_limit(char *line, unsigned int number)
{
	struct limit limit = {.line = number};
	char *value, *metric, *function;
	int found;

	line += strspn(line, " \t");
	value = last_word(line);
	if (!value || *line == '#')
		return;
	limit.text = swz_duplicate(value);
	*value = '\0';
	metric = last_word(line);
	if (!metric)
		bad_line(number, "there is only", limit.text);
	found = swz_word_is(metric_at, metric, strlen(metric));
	if (found < 0)
		bad_line(number, "unknown metric (calls, self, incl)", metric);
	limit.metric = (enum metric)found;
	if (!read_value(&limit, limit.text))
		bad_line(number,
			 limit.metric == CALLS ? "no number of calls"
					       : "no time with a unit, and no "
						 "percentage",
			 limit.text);
	*metric = '\0';
	(void)last_word(line); /* blanks */
	function = line;
	if (!*function)
		bad_line(number, "there is no function", NULL);
	limit.function = swz_duplicate(function);
	if (strcmp(function, "total") != 0)
		swz_patterns_add(&limit.patterns, limit.function);
	swz_grow(&budget.limits, &budget.capacity, budget.count,
		 sizeof(*budget.limits));
	budget.limits[budget.count++] = limit;
}

void swz_gates_read_budget(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int number = 0;
	char *line = NULL;
	size_t room = 0;

	budget.path = path;
	if (!file) {
		swz_dump_complain("%s: %s", path, strerror(errno));
		exit(EXIT_INPUT);
	}
	while (getline(&line, &room, file) >= 0)
		read_limit(line, ++number);
	free(line);
	fclose(file);
	if (!budget.count)
		swz_dump_bad_usage("--budget %s: there is no limit in it",
				   path);
}

/* "1200 calls", "3.2 ms self" */
static char *text_of(const struct limit *limit, double value, double share)
{
	const char *metric = metric_at(limit->metric);
	const double ns = value;

	if (limit->percent)
		return swz_print("%s %.1f%%", metric, share);
	if (limit->metric == CALLS)
		return swz_print("%s %.0f", metric, value);
	if (ns < 1e4)
		return swz_print("%s %.0f ns", metric, ns);
	if (ns < 1e7)
		return swz_print("%s %.1f us", metric, ns / 1e3);
	return swz_print("%s %.1f ms", metric, ns / 1e6);
}

static void hold(const struct swz_section *section, struct limit *limit,
		 uint32_t index, double value,
		 const struct swz_dump_options *options)
{
	double total = (double)section->report->total_ns;
	double share = total > 0 ? 100 * value / total : 0;
	char *name, *what, *text;

	limit->seen = true;
	if ((limit->percent ? share : value) <= limit->value)
		return;
	name = name_of(section, index);
	what = text_of(limit, value, share);
	text = swz_print("%s: %s, more than %s (%s:%u)", name, what,
			 limit->text, budget.path, limit->line);
	swz_dump_complain("over budget: %s", text);
	if (options->annotate)
		annotate(function_at(section, index), "error", text);
	failed = true;
	free(text);
	free(what);
	free(name);
}

/* A limit that is not of this section's functions is of another's. */
static void hold_to_budget(const struct swz_section *section,
			   const struct swz_dump_options *options)
{
	const struct swz_report *report = section->report;

	for (size_t n = 0; n < budget.count; n++) {
		struct limit *limit = &budget.limits[n];

		if (limit->metric != CALLS && report->without_times)
			continue;
		if (!limit->patterns.count) {
			hold(section, limit, SWZ_INDEX_NONE,
			     limit->metric == CALLS
				     ? (double)swz_calls_of(report)
				     : (double)report->total_ns,
			     options);
			continue;
		}
		for (uint32_t i = 0; i < report->function_capacity; i++) {
			struct swz_report_function f = swz_report_function(
				report, i);

			if (!SWZ_CATALOG_IS_REAL(i) || !f.present ||
			    !swz_patterns_match(&limit->patterns,
						section->catalog, i, NULL))
				continue;
			hold(section, limit, i,
			     limit->metric == CALLS  ? (double)f.calls
			     : limit->metric == SELF ? (double)f.self_ns
						     : (double)f.inclusive_ns,
			     options);
		}
	}
}

/* A limit that nothing was held to is no limit that was kept, but for one of 0:
 * the function is not to be called. */
static void say_unseen(const struct swz_dump_options *options)
{
	for (size_t n = 0; n < budget.count; n++) {
		const struct limit *limit = &budget.limits[n];
		char *text;

		if (limit->seen || limit->value <= 0)
			continue;
		text = swz_print("%s:%u: nothing was recorded of '%s' that "
				 "%s could be held to",
				 budget.path, limit->line, limit->function,
				 metric_at(limit->metric));
		swz_dump_complain("undecided: %s", text);
		if (options->annotate)
			annotate(NULL, "warning", text);
		undecided = true;
		free(text);
	}
}

static void free_budget(void)
{
	for (size_t n = 0; n < budget.count; n++) {
		swz_patterns_free(&budget.limits[n].patterns);
		free(budget.limits[n].function);
		free(budget.limits[n].text);
	}
	free(budget.limits);
	budget.limits = NULL;
	budget.count = 0;
}

/* --- all ----------------------------------------------------------------- */

void swz_gates_look(const struct swz_section *section,
		    const struct swz_dump_options *options)
{
	const struct gate slower = {"slower", " ns", "self ",
				    options->fail_above, false};
	const struct gate calls = {"more calls", " calls", "",
				   options->fail_calls_above, true};

	if (section->old && options->fail_above >= 0)
		compare(section, &slower, options);
	if (section->old && options->fail_calls_above >= 0)
		compare(section, &calls, options);
	if (section->old && options->told)
		tell(section);
	if (options->budget)
		hold_to_budget(section, options);
}

int swz_gates_end(const struct swz_dump_options *options)
{
	if (options->budget)
		say_unseen(options);
	free_budget();
	return failed ? EXIT_FAILED : undecided ? EXIT_UNDECIDED : EXIT_OK;
}
