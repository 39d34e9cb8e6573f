/* What depends on the format is checked when all options are known, since -f
 * may come last. */

#include "tools/dump/option_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/compressed.h"
#include "tools/dump/message.h"
#include "tools/dump/option_table.h"
#include "tools/dump/option_values.h"
#include "tools/dump/push.h"
#include "tools/dump/usage.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Events are of all threads, and at the times that were measured; what is
 * neither them nor sums shows a file as it is. */
static unsigned int takes_of(const struct swz_format *format,
			     const struct swz_dump_options *options)
{
	unsigned int with = format->takes;

	if (format->section)
		with |= GIVEN_SEPARATE_THREADS | GIVEN_NO_COMPENSATE;
	if (format->section || format->events)
		with |= GIVEN_TID | GIVEN_RANGE | GIVEN_THREAD_PARTS |
			GIVEN_DEMANGLE | GIVEN_DEBUG_DIR | GIVEN_SYMFS;
	if (format->takes & SWZ_TAKES_NO_PARTS)
		with &= ~(unsigned int)GIVEN_THREAD_PARTS;
	if (format->takes & SWZ_TAKES_NAMES)
		with |= GIVEN_EMBED | GIVEN_NO_EMBED | GIVEN_DEBUG_DIR |
			GIVEN_SYMFS;
	if (format->by)
		with |= GIVEN_BY;
	if (format->events)
		with |= GIVEN_DEPTH;
	/* (what a trace takes of a page, its bytes say) */
	if (format->fewer_events)
		with |= GIVEN_LIMITS;
	if (format->takes & SWZ_TAKES_CALLS)
		with |= GIVEN_CALLS_OF | GIVEN_BLAME;
	if (options->given & with & GIVEN_CALLS_OF)
		with |= SWZ_TAKES_ROWS | SWZ_TAKES_SORT;
	if (options->calls.apart && format->invocations)
		with |= SWZ_TAKES_ROWS;
	/* which has rows, whatever the format's own are */
	if (format->by && options->by)
		with |= SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT |
			SWZ_FILTERS_ROWS;
	return with;
}

static unsigned int takes(const struct swz_dump_options *options)
{
	return takes_of(options->format, options);
}

static _Noreturn void not_taken(const struct swz_dump_options *options,
				const char *option)
{
	swz_dump_complain("the format %s has no use for %s\n" SWZ_TRY_HELP,
			  options->format->name, option);
	exit(EXIT_USAGE);
}

#define LIST_BYTES 256

static void append_name(char list[LIST_BYTES], const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "",
		 name);
}

/* OPTION, of which all formats take BIT that have a use for it. */
static _Noreturn void others_take(const struct swz_dump_options *options,
				  const char *option, unsigned int bit)
{
	char list[LIST_BYTES] = "";
	const struct swz_format *other;
	size_t i;

	for (i = 0; (other = swz_format_at(i)) != NULL; i++)
		if (takes_of(other, options) & bit)
			append_name(list, other->name);
	swz_dump_bad_usage("the format %s has no use for %s%s%s",
			   options->format->name, option,
			   *list ? "; those that have: " : "", list);
}

static _Noreturn void cannot_compare(const char *format)
{
	const struct swz_format *other;
	char names[LIST_BYTES] = "";
	size_t i;

	for (i = 0; (other = swz_format_at(i)) != NULL; i++)
		if (other->takes & SWZ_TAKES_DIFF)
			append_name(names, other->name);
	swz_dump_complain("the format %s has no use for --diff; those that "
			  "compare are: %s",
			  format, names);
	exit(EXIT_USAGE);
}

static void check_diff(const struct swz_dump_options *options)
{
	if (!(options->format->takes & SWZ_TAKES_DIFF))
		cannot_compare(options->format->name);
	if (options->format->needs & SWZ_NEEDS_THREADS &&
	    options->thread_parts) {
		swz_dump_complain("--diff in the format %s adds all threads "
				  "up; --separate-threads makes a file for "
				  "each name of threads",
				  options->format->name);
		exit(EXIT_USAGE);
	}
	if (!options->argument_count) {
		swz_dump_complain("--diff needs two sides: --diff OLD NEW, or "
				  "several runs of each, --diff OLD... -- "
				  "NEW...");
		exit(EXIT_USAGE);
	}
	/* "--diff old.* new.*" would compare one old run with all others */
	if (options->argument_count > 1 && !options->sides_parted) {
		swz_dump_complain("--diff of %zu profiles needs a -- between "
				  "old and new: --diff OLD... -- NEW...",
				  options->argument_count + options->old_count);
		exit(EXIT_USAGE);
	}
	if (options->table.sort == SWZ_SORT_MIN ||
	    options->table.sort == SWZ_SORT_MAX) {
		swz_dump_complain(
			"--diff is not sorted by min or max\n" SWZ_TRY_HELP);
		exit(EXIT_USAGE);
	}
	if (options->threads.count) {
		swz_dump_complain("--diff has no use for --tid, as other "
				  "threads have other ids; --thread-parts "
				  "compares those with the same name");
		exit(EXIT_USAGE);
	}
}

/* Tables of functions are sorted by all keys, contexts have no shortest and
 * longest calls, and where they are not sorted the key says what counts. */
static bool sort_fits(unsigned int with, enum swz_sort sort)
{
	if (with & GIVEN_CALLS_OF)
		return sort == SWZ_SORT_START || sort == SWZ_SORT_INCLUSIVE;
	if (sort == SWZ_SORT_START)
		return false;
	if (with & SWZ_TAKES_BOTTOM_UP)
		return sort != SWZ_SORT_MIN && sort != SWZ_SORT_MAX;
	return with & SWZ_TAKES_ROWS || sort == SWZ_SORT_SELF ||
	       sort == SWZ_SORT_CALLS;
}

static void check_sort(const struct swz_dump_options *options)
{
	unsigned int with = takes(options);
	char list[LIST_BYTES] = "";
	enum swz_sort sort;
	const char *name;
	size_t i;

	if (sort_fits(with, options->table.sort))
		return;
	for (i = 0; (name = swz_dump_sort_key(i, &sort)) != NULL; i++)
		if (sort_fits(with, sort))
			append_name(list, name);
	swz_dump_bad_usage("the format %s has no use for this sort key; it "
			   "has: %s",
			   options->format->name, list);
}

/* Shortest and longest calls are those of functions. */
static void check_by(struct swz_dump_options *options)
{
	const char *problem = NULL;

	if (options->old)
		problem = "--diff";
	else if (options->thread_parts || options->separate_threads)
		problem = "--thread-parts and --separate-threads; --by "
			  "thread has a row for each";
	else if (options->table.sort == SWZ_SORT_MIN ||
		 options->table.sort == SWZ_SORT_MAX)
		problem = "this sort key";
	if (!problem)
		return;
	swz_dump_complain("--by %s has no use for %s", swz_by_name(options->by),
			  problem);
	exit(EXIT_USAGE);
}

static void check_apart(const struct swz_dump_options *options)
{
	const char *other = options->calls.blame      ? "--blame"
			    : options->at.given       ? "--at"
			    : options->calls.of.count ? "--calls-of"
						      : NULL;

	if (!options->format->invocations)
		not_taken(options, "--file-per-invocation");
	if (other) {
		swz_dump_complain("--file-per-invocation has no use for "
				  "%s\n" SWZ_TRY_HELP,
				  other);
		exit(EXIT_USAGE);
	}
	if (!options->view.only.count) {
		swz_dump_complain("--file-per-invocation needs -F FUNCTION: of "
				  "its calls each gets a file");
		exit(EXIT_USAGE);
	}
	if (options->output && strcmp(options->output, "-") == 0)
		swz_dump_bad_usage("--file-per-invocation writes several "
				   "files: -o '%s' names no folder",
				   options->output);
}

const char *swz_dump_not_of_times(const struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;

	if (options->old)
		return "--diff";
	if (options->thread_parts || options->separate_threads)
		return "--thread-parts and --separate-threads";
	if (options->threads.count)
		return "--tid";
	if (swz_dump_has_range(options))
		return "--from and --to";
	if (options->since)
		return "--since";
	if (options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	    options->columns_by != SWZ_BY_NOTHING)
		return "--by thread, --by process and --by rank";
	if (options->table.sort == SWZ_SORT_MIN ||
	    options->table.sort == SWZ_SORT_MAX)
		return "the shortest and longest calls";
	return format->section ? NULL : format->name;
}

/* (Of a file that is shown as it is nothing is taken away.) */
static void check_since(const struct swz_dump_options *options)
{
	if (options->format->file)
		not_taken(options, "--since");
	if (options->old || options->from.given || options->in_place) {
		swz_dump_complain("--since has no use for %s\n" SWZ_TRY_HELP,
				  options->old        ? "--diff"
				  : options->in_place ? "--embed"
						      : "--from");
		exit(EXIT_USAGE);
	}
}

static void check_times(const struct swz_dump_options *options)
{
	const char *what = swz_dump_not_of_times(options);

	if (!what)
		return;
	if (!options->format->section && what == options->format->name)
		swz_dump_complain("the format %s has no use for --times", what);
	else
		swz_dump_complain("--times has no use for %s: only sums over "
				  "all threads are known of both runs",
				  what);
	exit(EXIT_USAGE);
}

/* What compresses its file itself is not called as if it did so in another way.
 */
static void check_name(const struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;
	enum swz_compression named = swz_compression_of(options->output);

	if (named == SWZ_PLAIN || !(format->takes & SWZ_COMPRESSES) ||
	    (format->suffix && swz_compression_of(format->suffix) == named))
		return;
	swz_dump_complain("the format %s is not compressed by the name of its "
			  "file: '%s' would be no such file. Leave the %s "
			  "out\n" SWZ_TRY_HELP,
			  format->name, options->output,
			  strrchr(options->output, '.'));
	exit(EXIT_USAGE);
}

void swz_dump_check_options(struct swz_dump_options *options)
{
	static const struct {
		unsigned int bit;
		const char *option;
	} names[] = {
		{SWZ_TAKES_ROWS, "-n"},
		{SWZ_TAKES_SORT, "-s"},
		{SWZ_TAKES_LIMIT, "--percent-limit"},
		{SWZ_TAKES_BOTTOM_UP, "--bottom-up"},
		{SWZ_TAKES_SOURCE, "--no-source"},
		{GIVEN_TID, "--tid"},
		{GIVEN_RANGE, "--from or --to"},
		{GIVEN_THREAD_PARTS, "--thread-parts"},
		{GIVEN_SEPARATE_THREADS, "--separate-threads"},
		{GIVEN_NO_COMPENSATE, "--no-compensate"},
		{GIVEN_DEMANGLE, "--demangle"},
		{GIVEN_EMBED, "--embed"},
		{GIVEN_NO_EMBED, "--no-embed"},
		{GIVEN_DEBUG_DIR, "--debug-dir"},
		{GIVEN_SYMFS, "--symfs"},
		{GIVEN_BY, "--by"},
		{SWZ_TAKES_CALLS, "--at"},
		{GIVEN_DEPTH, "-D, --depth and --max-depth"},
		{GIVEN_LIMITS, "-t, --min-time and --sample-events"},
		{GIVEN_CALLS_OF, "--calls-of"},
		{GIVEN_BLAME, "--blame"},
		{SWZ_TAKES_RINGS, "--ring-clock and --ring-paths"},
	};
	const struct swz_format *format = options->format;
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		if (options->given & ~takes(options) & names[i].bit)
			others_take(options, names[i].option, names[i].bit);
	if (options->given & SWZ_TAKES_SORT)
		check_sort(options);
	if (options->given & GIVEN_BY)
		check_by(options);
	if (options->calls.blame &&
	    (options->at.given || options->calls.of.count)) {
		swz_dump_complain("--blame has no use for %s\n" SWZ_TRY_HELP,
				  options->at.given ? "--at" : "--calls-of");
		exit(EXIT_USAGE);
	}
	if (options->calls.apart)
		check_apart(options);
	if (options->output)
		check_name(options);
	if (options->since)
		check_since(options);
	if (options->times)
		check_times(options);
	if (options->old)
		check_diff(options);
	else if (options->fail_above >= 0) {
		swz_dump_complain("--fail-above is for comparisons: --diff "
				  "OLD... -- NEW...");
		exit(EXIT_USAGE);
	}
	if (format->file && options->process_count)
		not_taken(options, "--process");
	if (!format->section && !format->events &&
	    !swz_view_is_whole(&options->view))
		not_taken(options, "-F, -N, -H, -C and --script");
	if (takes(options) & SWZ_FILTERS_ROWS) {
		options->table.filters = options->view.only;
		options->view.only = (struct swz_patterns){0};
	}
	if (options->separate_threads && options->output &&
	    strcmp(options->output, "-") == 0 && format->prefix)
		swz_dump_bad_usage("one file per thread cannot be written to "
				   "'%s'",
				   options->output);
}

void swz_dump_choose_pushed(struct swz_dump_options *options)
{
	const char *name = swz_push_format(options->push);

	if (options->output || options->old || options->merge_into ||
	    (options->format && strcmp(options->format->name, name) != 0)) {
		swz_dump_complain("--push to this URL sends the format %s, and "
				  "has no use for -o, --diff, --merge-into and "
				  "other formats\n" SWZ_TRY_HELP,
				  name);
		exit(EXIT_USAGE);
	}
	options->format = swz_format_find(name);
}

void swz_dump_check_merge(const struct swz_dump_options *options)
{
	if (options->format || options->output || options->old ||
	    options->times || options->given || options->since ||
	    !swz_view_is_whole(&options->view)) {
		swz_dump_complain("--merge-into has no use for options that "
				  "choose, sort or write: use them when you "
				  "read %s\n" SWZ_TRY_HELP,
				  options->merge_into);
		exit(EXIT_USAGE);
	}
	if (!options->argument_count) {
		swz_dump_complain("--merge-into %s: no profiles are given "
				  "that are to be added to it\n" SWZ_TRY_HELP,
				  options->merge_into);
		exit(EXIT_USAGE);
	}
}
