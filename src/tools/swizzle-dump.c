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

#include "profile/formats.h"
#include "profile/inputs.h"
#include "profile/memory.h"
#include "profile/output.h"
#include "profile/progress.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

enum exit_status { EXIT_OK = 0, EXIT_INPUT = 1, EXIT_USAGE = 2 };

enum format { FORMAT_CALLGRIND, FORMAT_TEXT, FORMAT_INFO };

static const struct {
	const char *name;
	enum format format;
	const char *description;
} formats[] = {
	{"callgrind", FORMAT_CALLGRIND,
	 "for KCachegrind and callgrind_annotate (default)"},
	{"text", FORMAT_TEXT, "a table of functions"},
	{"info", FORMAT_INFO,
	 "what the file holds: command, threads, modules, refusals"},
};

static const struct {
	const char *name;
	enum swz_sort sort;
} sort_keys[] = {
	{"self", SWZ_SORT_SELF},   {"incl", SWZ_SORT_INCLUSIVE},
	{"calls", SWZ_SORT_CALLS}, {"name", SWZ_SORT_NAME},
	{"min", SWZ_SORT_MIN},     {"max", SWZ_SORT_MAX},
};

struct options {
	enum format format;
	const char *output; /* NULL: the format's default */
	bool thread_parts;
	bool separate_threads;
	bool compensate;
	bool quiet;
	bool one_thread;
	int32_t tid;
	enum swz_demangle demangle;
	struct swz_table_options table;
	const char **filters;
	size_t filter_capacity;
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
	"  -f, --format FORMAT    callgrind (default), text or info; `help'\n"
	"                         lists them\n"
	"  -o, --output FILE      `-': standard output. Default: callgrind\n"
	"                         writes callgrind.out.PID, the others to\n"
	"                         standard output\n"
	"      --thread-parts     one part (or table) per thread\n"
	"      --separate-threads one file (or table) per thread\n"
	"      --tid TID          only the thread with this id\n"
	"      --no-compensate    do not subtract the cost of the hooks\n"
	"      --demangle=HOW     no, simple (default; without parameters) or\n"
	"                         full\n"
	"  -F, --filter PATTERN   text: only functions whose name matches; "
	"may\n"
	"                         be repeated\n"
	"  -n N                   text: at most N rows\n"
	"  -s KEY                 text: sort by self (default), incl, calls,\n"
	"                         name, min or max\n"
	"      --percent-limit P  text: leave out what is below P percent\n"
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

static enum format parse_format(const char *name)
{
	size_t i;

	if (strcmp(name, "help") == 0) {
		for (i = 0; i < COUNT(formats); i++)
			printf("%-10s %s\n", formats[i].name,
			       formats[i].description);
		finish_printing();
	}
	for (i = 0; i < COUNT(formats); i++)
		if (strcmp(name, formats[i].name) == 0)
			return formats[i].format;
	bad_usage("unknown format", name);
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

enum long_option {
	OPTION_THREAD_PARTS = 256,
	OPTION_SEPARATE_THREADS,
	OPTION_NO_COMPENSATE,
	OPTION_DEMANGLE,
	OPTION_PERCENT_LIMIT,
	OPTION_TID
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
	{"tid", required_argument, NULL, OPTION_TID},
	{"sort", required_argument, NULL, 's'},
	{"quiet", no_argument, NULL, 'q'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0}};

static void add_filter(struct options *options, const char *pattern)
{
	swz_grow(&options->filters, &options->filter_capacity,
		 options->table.filter_count, sizeof(*options->filters));
	options->filters[options->table.filter_count++] = pattern;
	options->table.filters = options->filters;
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
		if (!*value)
			bad_usage("not a pattern", value);
		add_filter(options, value);
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
	case OPTION_DEMANGLE:
		options->demangle = parse_demangle(value);
		break;
	case OPTION_PERCENT_LIMIT:
		options->table.percent_limit = parse_percent(value);
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

static void parse_options(struct options *options, int argc, char **argv)
{
	static char program[] = "swizzle";
	int option;

	argv[0] = program; /* the prefix of getopt's own messages */
	while ((option = getopt_long(argc, argv, "f:o:F:n:s:qVh", long_options,
				     NULL)) != -1)
		take_option(options, option, optarg);
	if (options->separate_threads && options->output &&
	    strcmp(options->output, "-") == 0 &&
	    options->format == FORMAT_CALLGRIND)
		bad_usage("one file per thread cannot be written to",
			  options->output);
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

static void read_inputs(struct input *input, const struct options *options,
			char **arguments, int count)
{
	struct swz_inputs inputs = {0};
	struct swz_error error;
	size_t i;
	int at;

	for (at = 0; at < count; at++)
		if (swz_inputs_add(&inputs, arguments[at], &error) != SWZ_OK)
			complain("%s: %s", arguments[at], error.text);
	if (!count && swz_inputs_add_newest(&inputs) != SWZ_OK)
		complain("no swizzle.out.* in this directory");
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

static uint64_t node_count(const struct swz_profile_thread *thread)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < thread->span_count; i++)
		count += thread->spans[i].count;
	return count;
}

static void add_thread(struct swz_report *report, struct swz_binding *binding,
		       const struct swz_profile_thread *thread,
		       const struct options *options)
{
	struct swz_tree tree;

	swz_tree_build(&tree, binding->profile, thread, options->compensate);
	swz_report_add(report, binding, &tree);
	swz_tree_free(&tree);
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

static void write_section(FILE *stream, const struct swz_section *section,
			  const struct options *options)
{
	if (options->format == FORMAT_CALLGRIND)
		swz_write_callgrind(stream, section);
	else
		swz_write_text(stream, section, &options->table);
}

static char *output_path(const struct options *options, int32_t pid)
{
	if (options->output)
		return swz_duplicate(options->output);
	if (options->format == FORMAT_CALLGRIND)
		return swz_print("callgrind.out.%" PRId32, pid);
	return swz_duplicate("-");
}

static int close_output(struct swz_output *output, const char *path,
			const struct options *options)
{
	if (swz_output_close(output) != SWZ_OK)
		return write_failed(path);
	if (!options->quiet && !options->output &&
	    options->format == FORMAT_CALLGRIND)
		complain("wrote %s", path);
	return EXIT_OK;
}

static struct swz_section new_section(const struct input *input, size_t index,
				      const struct swz_report *report,
				      const struct options *options)
{
	return (struct swz_section){
		.catalog = input->bindings[index].catalog,
		.report = report,
		.profile = input->profiles[index],
		.profile_count = 1,
		.part = 1,
		.compensated = options->compensate,
	};
}

static int dump_merged(struct input *input, struct swz_catalog *catalog,
		       const struct options *options)
{
	struct swz_report report = {0};
	struct swz_section section;
	struct swz_output output;
	int status = EXIT_OK;
	char *path;
	size_t i, j;

	begin_adding(input, options, NULL);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				add_thread(&report, &input->bindings[i],
					   &input->profiles[i]->threads[j],
					   options);
	warn_report(&report, options);
	swz_report_sort(&report);
	resolve(catalog);
	section = new_section(input, 0, &report, options);
	section.profile_count = input->count;
	path = output_path(options, input->profiles[0]->header.pid);
	if (swz_output_open(&output, path) == SWZ_OK) {
		write_section(output.stream, &section, options);
		status = close_output(&output, path, options);
	} else {
		status = write_failed(path);
	}
	free(path);
	swz_report_free(&report);
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

struct thread_output {
	struct swz_output output;
	char *path;
	unsigned int part; /* in the open file */
};

static int begin_part(struct thread_output *to, const struct options *options,
		      int32_t pid, unsigned int thread_number)
{
	char *path;

	/* tables need no files of their own, unless a name is given */
	if (to->path && !options->separate_threads)
		return EXIT_OK;
	path = output_path(options, pid);
	if (options->separate_threads && strcmp(path, "-") != 0) {
		to->path = swz_print("%s-%02u", path, thread_number);
		free(path);
	} else {
		to->path = path;
	}
	to->part = 0;
	if (swz_output_open(&to->output, to->path) == SWZ_OK)
		return EXIT_OK;
	return write_failed(to->path);
}

static int end_file(struct thread_output *to, const struct options *options)
{
	int status = EXIT_OK;

	if (to->path && to->output.stream)
		status = close_output(&to->output, to->path, options);
	free(to->path);
	*to = (struct thread_output){0};
	return status;
}

static int dump_thread(struct input *input, size_t index, size_t thread_index,
		       struct thread_output *to, const struct options *options)
{
	const struct swz_profile *profile = input->profiles[index];
	struct swz_binding *binding = &input->bindings[index];
	struct swz_report report = {0};
	struct swz_section section = new_section(input, index, &report,
						 options);
	int status;

	section.thread = &profile->threads[thread_index];
	section.thread_number = threads_before(input, index) +
				(unsigned int)thread_index + 1;
	status = begin_part(to, options, profile->header.pid,
			    section.thread_number);
	if (status != EXIT_OK)
		return status;
	section.part = ++to->part;
	begin_adding(input, options, section.thread);
	add_thread(&report, binding, section.thread, options);
	warn_report(&report, options);
	swz_report_sort(&report);
	resolve(binding->catalog);
	if (options->format == FORMAT_TEXT && section.part > 1)
		putc('\n', to->output.stream);
	write_section(to->output.stream, &section, options);
	swz_report_free(&report);
	if (options->separate_threads)
		status = end_file(to, options);
	return status;
}

static int dump_threads(struct input *input, const struct options *options)
{
	struct thread_output to = {0};
	int status = EXIT_OK, last;
	size_t i, j;

	for (i = 0; i < input->count && status == EXIT_OK; i++)
		for (j = 0;
		     j < input->profiles[i]->thread_count && status == EXIT_OK;
		     j++)
			if (wants(options, &input->profiles[i]->threads[j]))
				status = dump_thread(input, i, j, &to, options);
	last = end_file(&to, options);
	return status != EXIT_OK ? status : last;
}

static int dump_reports(struct input *input, const struct options *options)
{
	struct swz_catalog_options catalog_options = {
		.symbols = true,
		.lines = options->format == FORMAT_CALLGRIND,
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
	if (options->thread_parts || options->separate_threads)
		status = dump_threads(input, options);
	else
		status = dump_merged(input, &catalog, options);
	swz_catalog_free(&catalog);
	return status;
}

static int dump_info(struct input *input, const struct options *options)
{
	const char *path = options->output ? options->output : "-";
	struct swz_output output;
	size_t i;

	if (swz_output_open(&output, path) != SWZ_OK)
		return write_failed(path);
	for (i = 0; i < input->count; i++) {
		if (i)
			putc('\n', output.stream);
		swz_write_info(output.stream, input->profiles[i]);
	}
	return swz_output_close(&output) == SWZ_OK ? EXIT_OK
						   : write_failed(path);
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

int main(int argc, char **argv)
{
	struct options options = {
		.compensate = true,
		.demangle = SWZ_DEMANGLE_SIMPLE,
	};
	struct input input = {0};
	int status;

	signal(SIGPIPE, SIG_IGN);    /* a write says EPIPE instead */
	unsetenv("DEBUGINFOD_URLS"); /* no network */
	parse_options(&options, argc, argv);
	swz_progress_allow(!options.quiet);
	read_inputs(&input, &options, argv + optind, argc - optind);
	if (!input.count) {
		status = EXIT_INPUT;
	} else if (options.one_thread && !has_thread(&input, &options)) {
		complain("no thread %" PRId32 " in this profile", options.tid);
		status = EXIT_INPUT;
	} else if (options.format == FORMAT_INFO) {
		status = dump_info(&input, &options);
	} else {
		status = dump_reports(&input, &options);
	}
	free_input(&input);
	free(options.filters);
	return status;
}
