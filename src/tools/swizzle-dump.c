/* swizzle-dump: turns profiles into what people and viewers read.
 *
 * Three steps: read all files, add their threads to reports (one for all, or
 * one per thread), hand each report to the writer of the format. */

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/events.h"
#include "profile/formats.h"
#include "profile/inputs.h"
#include "profile/memory.h"
#include "profile/output.h"
#include "profile/progress.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

enum exit_status { EXIT_OK = 0, EXIT_INPUT = 1, EXIT_USAGE = 2 };

static const struct {
	const char *name;
	enum swz_sort sort;
} sort_keys[] = {
	{"self", SWZ_SORT_SELF},   {"incl", SWZ_SORT_INCLUSIVE},
	{"calls", SWZ_SORT_CALLS}, {"name", SWZ_SORT_NAME},
	{"min", SWZ_SORT_MIN},     {"max", SWZ_SORT_MAX},
};

struct moment {
	bool given, percent;
	double value;
};

struct options {
	const struct swz_format *format;
	struct moment from, to; /* of a trace */
	struct swz_range range; /* the same in ticks */
	const char *output;     /* NULL: the format's default */
	bool thread_parts;
	bool separate_threads;
	bool compensate;
	bool quiet;
	bool one_thread;
	int32_t tid;
	enum swz_demangle demangle;
	struct swz_table_options table;
	struct swz_view view;
	unsigned int given; /* enum swz_format_takes: options there were */
};

/* All that was read. */
struct input {
	struct swz_profile **profiles;
	struct swz_binding *bindings;
	size_t count;
	size_t capacity;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char usage_text[] =
	"Usage: swizzle-dump [options] [FILE|DIR...]\n"
	"Convert swizzle profiles; several are merged. Default: the newest\n"
	"swizzle.out.* in the working directory.\n"
	"\n"
	"  -f, --format FORMAT    callgrind (default), text, tree, ...; "
	"`help'\n"
	"                         lists them\n"
	"  -o, --output FILE      `-': standard output. Default: callgrind\n"
	"                         writes callgrind.out.PID, most others to\n"
	"                         standard output\n"
	"      --thread-parts     one part (table, tree, ...) per thread\n"
	"      --separate-threads one file (or table) per thread\n"
	"      --tid TID          only the thread with this id\n"
	"      --from TIME        of a trace, what happened from then on: "
	"seconds\n"
	"                         since the start (0.25), or percent (25%)\n"
	"      --to TIME          the same, up to then\n"
	"      --no-compensate    do not subtract the cost of the hooks\n"
	"      --demangle=HOW     no, simple (default; without parameters) or\n"
	"                         full\n"
	"  -F, --filter PATTERN   only functions that match, and what they\n"
	"                         call; in tables only rows that match; tree:\n"
	"                         callers and callees of those that match\n"
	"  -N, --notrace PATTERN  not the functions that match, nor what they\n"
	"                         call\n"
	"  -H, --hide PATTERN     not the functions that match\n"
	"  -n N                   tables, tree: at most N rows\n"
	"  -s, --sort KEY         tables, tree: sort by self, incl, calls,\n"
	"                         name, min or max\n"
	"      --percent-limit P  leave out what is below P percent\n"
	"      --bottom-up        tree: each function with its callers\n"
	"      --no-debuginfod    do not ask the servers in DEBUGINFOD_URLS "
	"for\n"
	"                         debug information\n"
	"  -q, --quiet            no warnings\n"
	"  -V, --version\n"
	"  -h, --help\n";

static void complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
	va_list arguments;

	swz_progress_clear();
	fputs("swizzle: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
}

/* ---- command line ---- */

static _Noreturn void bad_usage(const char *what, const char *value)
{
	complain("%s '%s'; try swizzle-dump --help", what, value);
	exit(EXIT_USAGE);
}

/* Ends the program with success, unless what was printed is lost. */
static _Noreturn void finish_printing(void)
{
	if (fflush(stdout) != 0) {
		complain("standard output: %s", strerror(errno));
		exit(EXIT_INPUT);
	}
	exit(EXIT_OK);
}

static const struct swz_format *parse_format(const char *name)
{
	const struct swz_format *format = swz_format_find(name);

	if (strcmp(name, "help") == 0) {
		swz_formats_list(stdout);
		finish_printing();
	}
	if (!format)
		bad_usage("unknown format", name);
	return format;
}

static enum swz_sort parse_sort(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(sort_keys); i++)
		if (strcmp(name, sort_keys[i].name) == 0)
			return sort_keys[i].sort;
	bad_usage("unknown sort key", name);
}

static enum swz_demangle parse_demangle(const char *name)
{
	if (strcmp(name, "no") == 0)
		return SWZ_DEMANGLE_NO;
	if (strcmp(name, "simple") == 0)
		return SWZ_DEMANGLE_SIMPLE;
	if (strcmp(name, "full") == 0)
		return SWZ_DEMANGLE_FULL;
	bad_usage("unknown way to demangle", name);
}

static unsigned long parse_count(const char *text, const char *what,
				 unsigned long high)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > high)
		bad_usage(what, text);
	return value;
}

static double parse_percent(const char *text)
{
	double value;
	char *end;

	value = strtod(text, &end);
	if (*end == '%')
		end++;
	if (end == text || *end || !isfinite(value) || value < 0)
		bad_usage("not a percentage", text);
	return value;
}

/* A moment: seconds since the start, or a percentage of the time recorded. */
static struct moment parse_moment(const char *text)
{
	struct moment moment = {.given = true};
	char *end;

	moment.value = strtod(text, &end);
	if (end != text && strcmp(end, "%") == 0)
		moment.percent = true;
	else if (end == text || (*end && strcmp(end, "s") != 0))
		bad_usage("not a time in seconds or percent", text);
	if (!isfinite(moment.value) || moment.value < 0 ||
	    moment.value > (moment.percent ? 100 : 1e9))
		bad_usage("not a time in seconds or percent", text);
	return moment;
}

enum long_option {
	OPTION_THREAD_PARTS = 256,
	OPTION_SEPARATE_THREADS,
	OPTION_NO_COMPENSATE,
	OPTION_DEMANGLE,
	OPTION_PERCENT_LIMIT,
	OPTION_BOTTOM_UP,
	OPTION_TID,
	OPTION_FROM,
	OPTION_TO,
	OPTION_NO_DEBUGINFOD
};

static const struct option long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"thread-parts", no_argument, NULL, OPTION_THREAD_PARTS},
	{"separate-threads", no_argument, NULL, OPTION_SEPARATE_THREADS},
	{"no-compensate", no_argument, NULL, OPTION_NO_COMPENSATE},
	{"demangle", required_argument, NULL, OPTION_DEMANGLE},
	{"percent-limit", required_argument, NULL, OPTION_PERCENT_LIMIT},
	{"filter", required_argument, NULL, 'F'},
	{"notrace", required_argument, NULL, 'N'},
	{"hide", required_argument, NULL, 'H'},
	{"bottom-up", no_argument, NULL, OPTION_BOTTOM_UP},
	{"tid", required_argument, NULL, OPTION_TID},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"no-debuginfod", no_argument, NULL, OPTION_NO_DEBUGINFOD},
	{"sort", required_argument, NULL, 's'},
	{"quiet", no_argument, NULL, 'q'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0}};

static void add_pattern(struct swz_patterns *patterns, const char *pattern)
{
	if (!*pattern)
		bad_usage("not a pattern", pattern);
	swz_patterns_add(patterns, pattern);
}

/* Which of the formats' options it is, 0 for others. */
static unsigned int format_option(int option)
{
	switch (option) {
	case 'n':
		return SWZ_TAKES_ROWS;
	case 's':
		return SWZ_TAKES_SORT;
	case OPTION_PERCENT_LIMIT:
		return SWZ_TAKES_LIMIT;
	case OPTION_BOTTOM_UP:
		return SWZ_TAKES_BOTTOM_UP;
	default:
		return 0;
	}
}

static void take_option(struct options *options, int option, const char *value)
{
	switch (option) {
	case 'f':
		options->format = parse_format(value);
		break;
	case 'o':
		if (!*value)
			bad_usage("not a file name", value);
		options->output = value;
		break;
	case 'F':
		add_pattern(&options->view.only, value);
		break;
	case 'N':
		add_pattern(&options->view.without, value);
		break;
	case 'H':
		add_pattern(&options->view.hidden, value);
		break;
	case 'n':
		options->table.rows = parse_count(value, "not a number of rows",
						  INT32_MAX);
		break;
	case 's':
		options->table.sort = parse_sort(value);
		break;
	case 'q':
		options->quiet = true;
		break;
	case 'V':
		puts("swizzle-dump " SWZ_VERSION);
		finish_printing();
	case 'h':
		fputs(usage_text, stdout);
		finish_printing();
	case OPTION_THREAD_PARTS:
		options->thread_parts = true;
		break;
	case OPTION_SEPARATE_THREADS:
		options->separate_threads = true;
		break;
	case OPTION_NO_COMPENSATE:
		options->compensate = false;
		break;
	case OPTION_NO_DEBUGINFOD:
		/* libdw asks no server then */
		unsetenv("DEBUGINFOD_URLS");
		break;
	case OPTION_DEMANGLE:
		options->demangle = parse_demangle(value);
		break;
	case OPTION_PERCENT_LIMIT:
		options->table.percent_limit = parse_percent(value);
		break;
	case OPTION_BOTTOM_UP:
		options->table.bottom_up = true;
		break;
	case OPTION_FROM:
		options->from = parse_moment(value);
		break;
	case OPTION_TO:
		options->to = parse_moment(value);
		break;
	case OPTION_TID:
		options->one_thread = true;
		options->tid = (int32_t)parse_count(value, "not a thread id",
						    INT32_MAX);
		break;
	default:
		fputs("swizzle: try swizzle-dump --help\n", stderr);
		exit(EXIT_USAGE);
	}
}

static _Noreturn void not_taken(const struct options *options,
				const char *option)
{
	complain("the format %s has no use for %s; try swizzle-dump --help",
		 options->format->name, option);
	exit(EXIT_USAGE);
}

static void check_options(struct options *options)
{
	static const struct {
		unsigned int bit;
		const char *option;
	} names[] = {
		{SWZ_TAKES_ROWS, "-n"},
		{SWZ_TAKES_SORT, "-s"},
		{SWZ_TAKES_LIMIT, "--percent-limit"},
		{SWZ_TAKES_BOTTOM_UP, "--bottom-up"},
	};
	const struct swz_format *format = options->format;
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		if (options->given & ~format->takes & names[i].bit)
			not_taken(options, names[i].option);
	if (!format->section && !swz_view_is_whole(&options->view))
		not_taken(options, "-F, -N and -H");
	if (format->takes & SWZ_FILTERS_ROWS) {
		options->table.filters = options->view.only;
		options->view.only = (struct swz_patterns){0};
	}
	if (options->separate_threads && options->output &&
	    strcmp(options->output, "-") == 0 && format->prefix)
		bad_usage("one file per thread cannot be written to",
			  options->output);
}

static void parse_options(struct options *options, int argc, char **argv)
{
	static char program[] = "swizzle";
	int option;

	argv[0] = program; /* the prefix of getopt's own messages */
	while ((option = getopt_long(argc, argv, "f:o:F:N:H:n:s:qVh",
				     long_options, NULL)) != -1) {
		take_option(options, option, optarg);
		options->given |= format_option(option);
	}
	check_options(options);
}

/* ---- reading ---- */

static void warn_damage(const struct swz_profile *profile)
{
	const struct swz_damage *damage = &profile->damage;

	if (damage->missing_bytes)
		complain("%s: truncated, %" PRIu64
			 " bytes are missing; showing what is there",
			 profile->name, damage->missing_bytes);
	else if (damage->bad_chunks || damage->stray_nodes)
		complain("%s: damaged (%" PRIu32 " bad chunks, %" PRIu64
			 " contexts without a thread); showing what is left",
			 profile->name, damage->bad_chunks,
			 damage->stray_nodes);
	if (!profile->clock_known)
		complain("%s: the clock is not calibrated; times are in ticks",
			 profile->name);
	if (profile->header.lost_calls)
		complain("%s: %" PRIu64 " calls were not recorded (no memory, "
			 "or threads that share their state)",
			 profile->name, profile->header.lost_calls);
	if (profile->folded_calls)
		complain("%s: %" PRIu64 " calls have no exact context "
			 "(memory bound)%s",
			 profile->name, profile->folded_calls,
			 profile->header.lost_calls ? ""
						    : "; counts are exact");
}

static void read_input(struct input *input, const struct options *options,
		       const char *path)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (swz_profile_read(path, &profile, &error) != SWZ_OK) {
		complain("%s: %s", path, error.text);
		return;
	}
	if (!options->quiet)
		warn_damage(profile);
	if (!profile->thread_count) {
		/* of a damaged file nothing at all is left then */
		if (swz_profile_damaged(profile) && !profile->module_count) {
			complain("%s: nothing usable is left", path);
			swz_profile_free(profile);
			return;
		}
		if (!options->quiet)
			complain("%s: no thread was recorded", path);
	}
	swz_grow(&input->profiles, &input->capacity, input->count,
		 sizeof(void *));
	input->profiles[input->count++] = profile;
}

static void find_inputs(struct swz_inputs *inputs, char **arguments, int count)
{
	struct swz_error error;
	int at;

	for (at = 0; at < count; at++)
		if (swz_inputs_add(inputs, arguments[at], &error) != SWZ_OK)
			complain("%s: %s", arguments[at], error.text);
	if (!count && swz_inputs_add_newest(inputs) != SWZ_OK)
		complain("no swizzle.out.* in this directory");
}

static void read_inputs(struct input *input, const struct options *options,
			char **arguments, int count)
{
	struct swz_inputs inputs = {0};
	size_t i;

	find_inputs(&inputs, arguments, count);
	swz_progress_stage("reading profiles", inputs.count);
	for (i = 0; i < inputs.count; i++) {
		read_input(input, options, inputs.paths[i]);
		swz_progress_add(1);
	}
	swz_progress_end();
	swz_inputs_free(&inputs);
}

static void free_input(struct input *input)
{
	size_t i;

	for (i = 0; i < input->count; i++) {
		if (input->bindings)
			swz_binding_free(&input->bindings[i]);
		swz_profile_free(input->profiles[i]);
	}
	free(input->bindings);
	free(input->profiles);
}

/* ---- reports ---- */

static bool wants(const struct options *options,
		  const struct swz_profile_thread *thread)
{
	return !options->one_thread || thread->record.tid == options->tid;
}

static bool has_range(const struct options *options)
{
	return options->from.given || options->to.given;
}

static uint64_t ticks_of(const struct moment *moment,
			 const struct swz_profile *profile, uint64_t first,
			 uint64_t last)
{
	double ticks = moment->percent
			       ? (double)(last - first) * moment->value / 100
			       : moment->value * 1e9 *
					 (double)profile->clock_ticks /
					 (double)profile->clock_ns;

	return ticks < (double)(INT64_MAX - (int64_t)(first >> 1))
		       ? first + (uint64_t)ticks
		       : UINT64_MAX;
}

/* The range of time that is asked for, in ticks; the start is that of the first
 * process. False: there is no trace of it. */
static bool find_range(const struct input *input, struct options *options)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t i, j;

	for (i = 0; i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		if (!swz_profile_traced(profile)) {
			complain("%s: not a trace, so there is no --from and "
				 "--to",
				 profile->name);
			return false;
		}
		if (swz_profile_origin(profile) < first)
			first = swz_profile_origin(profile);
		for (j = 0; j < profile->thread_count; j++)
			if (profile->threads[j].last_ticks > last)
				last = profile->threads[j].last_ticks;
	}
	if (last < first)
		last = first;
	options->range = (struct swz_range){first, UINT64_MAX};
	if (options->from.given)
		options->range.from = ticks_of(&options->from,
					       input->profiles[0], first, last);
	if (options->to.given)
		options->range.to = ticks_of(&options->to, input->profiles[0],
					     first, last);
	if (options->range.from > options->range.to) {
		complain("--from is later than --to");
		return false;
	}
	return true;
}

static uint64_t node_count(const struct swz_profile_thread *thread)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < thread->span_count; i++)
		count += thread->spans[i].count;
	return count;
}

/* What is made of one thread or of several. */
struct result {
	struct swz_report report;
	struct swz_contexts contexts;
	bool has_contexts;
};

static void begin_result(struct result *result, const struct options *options)
{
	unsigned int needs = options->format->needs;

	*result = (struct result){.has_contexts = needs & SWZ_NEEDS_CONTEXTS};
	result->report.without_edges = !(needs & SWZ_NEEDS_EDGES);
	if (result->has_contexts)
		swz_contexts_begin(&result->contexts, SWZ_CATALOG_OUTSIDE,
				   needs & SWZ_NEEDS_PLACES);
	result->contexts.by_unit = needs & SWZ_NEEDS_UNITS;
}

static void add_thread(struct result *result, struct swz_binding *binding,
		       const struct swz_profile_thread *thread,
		       const struct options *options)
{
	struct swz_tree tree;

	swz_tree_build_range(&tree, binding->profile, thread,
			     options->compensate,
			     has_range(options) ? &options->range : NULL);
	if (!swz_view_is_whole(&options->view))
		swz_view_apply(&options->view, binding, &tree);
	if (result->has_contexts)
		swz_contexts_add(&result->contexts, &result->report, binding,
				 &tree);
	else
		swz_report_add(&result->report, binding, &tree);
	swz_tree_free(&tree);
}

static void end_result(struct result *result)
{
	swz_report_sort(&result->report);
	swz_contexts_sum(&result->contexts);
}

static void free_result(struct result *result)
{
	swz_report_free(&result->report);
	swz_contexts_free(&result->contexts);
}

/* To be called before threads are added: all that are wanted, or one. */
static void begin_adding(const struct input *input,
			 const struct options *options,
			 const struct swz_profile_thread *only)
{
	uint64_t count = 0;
	size_t i, j;

	for (i = 0; i < input->count && !only; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				count += node_count(
					&input->profiles[i]->threads[j]);
	/* twice: making the tree, and adding its costs */
	swz_progress_stage("adding up", 2 * (only ? node_count(only) : count));
}

static void resolve(struct swz_catalog *catalog)
{
	swz_catalog_resolve(catalog);
	swz_progress_end();
}

static void warn_report(const struct swz_report *report,
			const struct options *options)
{
	if (report->dropped_nodes && !options->quiet)
		complain("%" PRIu64 " inconsistent contexts were left out",
			 report->dropped_nodes);
}

static int write_failed(const char *path)
{
	complain("cannot write %s: %s",
		 strcmp(path, "-") == 0 ? "standard output" : path,
		 strerror(errno));
	return EXIT_INPUT;
}

static char *output_path(const struct options *options, int32_t pid)
{
	const struct swz_format *format = options->format;

	if (options->output)
		return swz_duplicate(options->output);
	if (format->prefix)
		return swz_print("%s%" PRId32 "%s", format->prefix, pid,
				 format->suffix);
	return swz_duplicate("-");
}

/* The file that is being written. */
struct target {
	struct swz_output output;
	struct swz_writer writer;
	char *path;
};

static int open_target(struct target *target, const struct options *options,
		       char *path)
{
	target->path = path;
	if (swz_output_open(&target->output, path) != SWZ_OK)
		return write_failed(path);
	target->writer = (struct swz_writer){.stream = target->output.stream,
					     .options = &options->table};
	if (options->format->begin)
		options->format->begin(&target->writer);
	return EXIT_OK;
}

static void write_section(struct target *target,
			  const struct swz_section *section,
			  const struct options *options)
{
	options->format->section(&target->writer, section);
	target->writer.sections++;
}

/* The file is complete. */
static int end_output(struct swz_output *output, const char *path,
		      const struct options *options)
{
	if (swz_output_close(output) != SWZ_OK)
		return write_failed(path);
	if (!options->quiet && !options->output && options->format->prefix)
		complain("wrote %s", path);
	return EXIT_OK;
}

static int close_target(struct target *target, const struct options *options)
{
	int status = EXIT_OK;

	if (target->path && target->output.stream) {
		if (options->format->end)
			options->format->end(&target->writer);
		status = end_output(&target->output, target->path, options);
	}
	free(target->path);
	*target = (struct target){0};
	return status;
}

static struct swz_section new_section(const struct input *input, size_t index,
				      const struct result *result,
				      const struct options *options)
{
	return (struct swz_section){
		.catalog = input->bindings[index].catalog,
		.report = &result->report,
		.contexts = result->has_contexts ? &result->contexts : NULL,
		.profile = input->profiles[index],
		.profile_count = 1,
		.part = 1,
		.compensated = options->compensate,
		.range = has_range(options) ? &options->range : NULL,
	};
}

static int dump_merged(struct input *input, struct swz_catalog *catalog,
		       const struct options *options)
{
	struct target target = {0};
	struct result result = {0};
	struct swz_section section;
	int status;
	size_t i, j;

	begin_adding(input, options, NULL);
	begin_result(&result, options);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				add_thread(&result, &input->bindings[i],
					   &input->profiles[i]->threads[j],
					   options);
	warn_report(&result.report, options);
	end_result(&result);
	resolve(catalog);
	section = new_section(input, 0, &result, options);
	section.profile_count = input->count;
	status = open_target(
		&target, options,
		output_path(options, input->profiles[0]->header.pid));
	if (status == EXIT_OK) {
		write_section(&target, &section, options);
		status = close_target(&target, options);
	} else {
		free(target.path);
	}
	free_result(&result);
	return status;
}

/* How many threads of the same pid come before this profile's. */
static unsigned int threads_before(const struct input *input, size_t index)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < index; i++)
		if (input->profiles[i]->header.pid ==
		    input->profiles[index]->header.pid)
			count += (unsigned int)input->profiles[i]->thread_count;
	return count;
}

static int begin_part(struct target *to, const struct options *options,
		      int32_t pid, unsigned int thread_number)
{
	char *path;

	/* tables need no files of their own, unless a name is given */
	if (to->path && !options->separate_threads)
		return EXIT_OK;
	path = output_path(options, pid);
	if (options->separate_threads && strcmp(path, "-") != 0) {
		char *numbered = swz_print("%s-%02u", path, thread_number);

		free(path);
		path = numbered;
	}
	return open_target(to, options, path);
}

static int dump_thread(struct input *input, size_t index, size_t thread_index,
		       struct target *to, const struct options *options)
{
	const struct swz_profile *profile = input->profiles[index];
	struct swz_binding *binding = &input->bindings[index];
	struct result result = {0};
	struct swz_section section = new_section(input, index, &result,
						 options);
	int status;

	section.thread = &profile->threads[thread_index];
	section.thread_number = threads_before(input, index) +
				(unsigned int)thread_index + 1;
	status = begin_part(to, options, profile->header.pid,
			    section.thread_number);
	if (status != EXIT_OK)
		return status;
	section.part = (unsigned int)to->writer.sections + 1;
	begin_adding(input, options, section.thread);
	begin_result(&result, options);
	add_thread(&result, binding, section.thread, options);
	warn_report(&result.report, options);
	end_result(&result);
	resolve(binding->catalog);
	section.contexts = result.has_contexts ? &result.contexts : NULL;
	write_section(to, &section, options);
	free_result(&result);
	if (options->separate_threads)
		status = close_target(to, options);
	return status;
}

static int dump_threads(struct input *input, const struct options *options)
{
	struct target to = {0};
	int status = EXIT_OK, last;
	size_t i, j;

	for (i = 0; i < input->count && status == EXIT_OK; i++)
		for (j = 0;
		     j < input->profiles[i]->thread_count && status == EXIT_OK;
		     j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				status = dump_thread(input, i, j, &to, options);
	last = close_target(&to, options);
	return status != EXIT_OK ? status : last;
}

/* Filters are by name: all names have to be known first. */
static void prepare_view(struct input *input, struct swz_catalog *catalog,
			 const struct options *options)
{
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				swz_view_prepare(
					&input->bindings[i],
					&input->profiles[i]->threads[j]);
	resolve(catalog);
}

static bool is_traced(const struct input *input)
{
	size_t i;

	for (i = 0; i < input->count; i++)
		if (!swz_profile_traced(input->profiles[i]))
			return false;
	return true;
}

/* A format that has both shows a trace's events, unless something is asked for
 * that is about sums. */
static bool writes_events(const struct input *input,
			  const struct options *options)
{
	return options->format->events &&
	       (!options->format->section ||
		(is_traced(input) && swz_view_is_whole(&options->view) &&
		 !options->given && !options->thread_parts &&
		 !options->separate_threads));
}

static uint64_t event_bytes(const struct input *input,
			    const struct options *options)
{
	uint64_t bytes = 0;
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				bytes += swz_events_size(
					&input->profiles[i]->threads[j]);
	return bytes;
}

static int write_events(const struct input *input,
			const struct swz_catalog *catalog,
			const struct options *options)
{
	struct swz_trace trace = {
		.catalog = catalog,
		.bindings = input->bindings,
		.count = input->count,
		.one_thread = options->one_thread,
		.tid = options->tid,
		.range = {0, UINT64_MAX},
		.origin = UINT64_MAX,
	};
	struct swz_output output;
	int status = EXIT_OK;
	char *path;
	size_t i;

	if (has_range(options))
		trace.range = options->range;
	for (i = 0; i < input->count; i++)
		if (swz_profile_origin(input->profiles[i]) < trace.origin)
			trace.origin = swz_profile_origin(input->profiles[i]);
	path = output_path(options, input->profiles[0]->header.pid);
	if (swz_output_open(&output, path) != SWZ_OK) {
		status = write_failed(path);
	} else {
		swz_progress_stage("writing events",
				   event_bytes(input, options));
		options->format->events(output.stream, &trace);
		swz_progress_end();
		status = end_output(&output, path, options);
	}
	free(path);
	return status;
}

static int dump_reports(struct input *input, const struct options *options)
{
	struct swz_catalog_options catalog_options = {
		.symbols = true,
		.lines = options->format->needs & SWZ_NEEDS_LINES,
		.demangle = options->demangle,
		.quiet = options->quiet,
	};
	struct swz_catalog catalog;
	int status;
	size_t i;

	swz_catalog_begin(&catalog, &catalog_options);
	input->bindings = swz_allocate(input->count, sizeof(*input->bindings));
	for (i = 0; i < input->count; i++)
		swz_catalog_bind(&input->bindings[i], &catalog,
				 input->profiles[i]);
	if (!swz_view_is_whole(&options->view) || writes_events(input, options))
		prepare_view(input, &catalog, options);
	if (writes_events(input, options))
		status = write_events(input, &catalog, options);
	else if (options->thread_parts || options->separate_threads ||
		 options->format->needs & SWZ_NEEDS_THREADS)
		status = dump_threads(input, options);
	else
		status = dump_merged(input, &catalog, options);
	swz_catalog_free(&catalog);
	return status;
}

static int dump_profiles(struct input *input, const struct options *options)
{
	struct swz_output output;
	int status = EXIT_OK;
	char *path;
	size_t i;

	if (options->format->prefix && input->count > 1) {
		complain("the format %s is for one profile at a time",
			 options->format->name);
		return EXIT_USAGE;
	}
	path = output_path(options, input->profiles[0]->header.pid);
	if (swz_output_open(&output, path) != SWZ_OK) {
		status = write_failed(path);
		free(path);
		return status;
	}
	for (i = 0; i < input->count; i++) {
		if (i)
			putc('\n', output.stream);
		options->format->profile(output.stream, input->profiles[i]);
	}
	status = end_output(&output, path, options);
	free(path);
	return status;
}

static bool has_thread(const struct input *input, const struct options *options)
{
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				return true;
	return false;
}

/* What is in files, whether they are profiles or not. */
static int dump_files(const struct options *options, char **arguments,
		      int count)
{
	const char *path = options->output ? options->output : "-";
	struct swz_inputs inputs = {0};
	struct swz_output output;
	int status = EXIT_OK;
	size_t i;

	find_inputs(&inputs, arguments, count);
	if (!inputs.count || swz_output_open(&output, path) != SWZ_OK) {
		status = inputs.count ? write_failed(path) : EXIT_INPUT;
		swz_inputs_free(&inputs);
		return status;
	}
	for (i = 0; i < inputs.count; i++) {
		struct swz_error error;
		uint64_t problems;

		if (i)
			putc('\n', output.stream);
		if (options->format->file(output.stream, inputs.paths[i],
					  options->table.rows, &problems,
					  &error) != SWZ_OK) {
			complain("%s: %s", inputs.paths[i], error.text);
			status = EXIT_INPUT;
		} else if (problems && !options->quiet) {
			complain("%s: %" PRIu64 " places are not as they "
				 "should be; they are marked by '!'",
				 inputs.paths[i], problems);
		}
	}
	swz_inputs_free(&inputs);
	if (swz_output_close(&output) != SWZ_OK)
		return write_failed(path);
	return status;
}

static void free_options(struct options *options)
{
	swz_patterns_free(&options->table.filters);
	swz_view_free(&options->view);
}

int main(int argc, char **argv)
{
	struct options options = {
		.format = swz_format_find("callgrind"),
		.compensate = true,
		.demangle = SWZ_DEMANGLE_SIMPLE,
		.table = {.percent_limit = -1},
	};
	struct input input = {0};
	int status;

	signal(SIGPIPE, SIG_IGN); /* a write says EPIPE instead */
	parse_options(&options, argc, argv);
	swz_progress_allow(!options.quiet);
	if (options.format->file) {
		status = dump_files(&options, argv + optind, argc - optind);
		free_options(&options);
		return status;
	}
	read_inputs(&input, &options, argv + optind, argc - optind);
	if (!input.count) {
		status = EXIT_INPUT;
	} else if (options.one_thread && !has_thread(&input, &options)) {
		complain("no thread %" PRId32 " in this profile", options.tid);
		status = EXIT_INPUT;
	} else if (has_range(&options) && !find_range(&input, &options)) {
		status = EXIT_USAGE;
	} else if (options.format->events && !options.format->section &&
		   !is_traced(&input)) {
		complain("%s: not a trace (swizzle-run --mode trace)",
			 input.profiles[0]->name);
		status = EXIT_INPUT;
	} else if (options.format->profile) {
		status = dump_profiles(&input, &options);
	} else {
		status = dump_reports(&input, &options);
	}
	free_input(&input);
	free_options(&options);
	return status;
}
