#ifndef SWZ_PROFILE_FORMATS_COMMON_SECTION_H
#define SWZ_PROFILE_FORMATS_COMMON_SECTION_H

/* A writer of a format gets sections: a report each, and all that it may want
 * to say about where the report comes from. It prints to a stream and leaves
 * errors to its owner (see output.h). */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/costs/contexts.h"
#include "profile/costs/report.h"
#include "profile/costs/runs.h"
#include "profile/costs/trace.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"
#include "profile/formats/common/encoders.h"
#include "profile/names/catalog.h"
#include "util/figures.h"

/* A writer shows a section: a report and where it comes from. */
struct swz_section {
	const struct swz_catalog *catalog;   /* resolved */
	const struct swz_report *report;     /* sorted */
	const struct swz_contexts *contexts; /* summed; NULL unless the format
					      * needs them */
	const struct swz_profile *profile;   /* the first of those merged */
	struct swz_binding *binding; /* that one's part of the catalog */
	const struct swz_thread_choice *threads; /* that are shown */
	const struct swz_view *view; /* what is left out; NULL: all is
				      * shown */
	size_t profile_count;
	struct swz_profile *const *profiles;     /* all of them */
	const struct swz_profile_thread *thread; /* NULL: several */
	unsigned int part;                       /* from 1 */
	unsigned int thread_number; /* from 1, if there is a thread */
	uint64_t origin; /* ticks at time 0 where several processes are shown:
			  * the first one's start */
	/* Joined, of one run: the first process's start, since 1970. Counts and
	 * samples may have clocks of their own. 0: otherwise. */
	uint64_t started_ns;
	const struct swz_thread_times *thread_times; /* joined: the thread's */
	bool compensated;
	const struct swz_range *range; /* of time; NULL: all */
	/* The section that this is compared with, aligned (see diff.h); NULL:
	 * nothing. In a comparison by threads all that are called thread_name
	 * are shown. */
	const struct swz_section *old;
	const struct swz_runs *runs; /* that the report is the mean of; NULL
				      * where nothing is compared */
	const char *thread_name;
	/* Times are of another run (--times), of which these are the profiles;
	 * NULL: of the same. */
	const struct swz_joined *joined;
	struct swz_profile *const *sampled;
	size_t sampled_count;
};

enum swz_sort {
	SWZ_SORT_DEFAULT, /* the format's own */
	SWZ_SORT_SELF,
	SWZ_SORT_CPU,     /* as self; threads and processes: processor time */
	SWZ_SORT_WAITING, /* the same, in which they did not run */
	SWZ_SORT_INCLUSIVE,
	SWZ_SORT_CALLS,
	SWZ_SORT_NAME,
	SWZ_SORT_MIN,
	SWZ_SORT_MAX,
	SWZ_SORT_START /* of single calls */
};

struct swz_table_options {
	enum swz_sort sort;
	size_t rows;          /* 0: all */
	double percent_limit; /* least share of the total, in percent; less
			       * than 0: the format's own */
	struct swz_patterns filters; /* of which one has to match, if
				      * there are any */
	bool bottom_up;
	bool offsets;        /* tree: where in the caller each call is made */
	bool without_source; /* a page has no source text */
	const struct swz_style *style; /* of tables for people; NULL: tables
					* are for programs */
	const char *inputs; /* for commands that are proposed: the files, each
			     * with a space before it; NULL: propose none */
};

/* One file that is written: some sections one after the other. */
struct swz_writer {
	FILE *stream;
	const struct swz_table_options *options;
	size_t sections;           /* that were written */
	const char *const *advice; /* before the end: sentences on how the
				    * report could say more, NULL-terminated;
				    * NULL: none */
	const char *path; /* of the file, until it is in its place; NULL: it
			   * has none. Formats with SWZ_WRITES_FILE write to
			   * that, and nothing to the stream */
	char *failure;    /* set by the format at the end: why the file is worth
			   * nothing; to be freed. NULL: nothing is known */
	struct swz_trace *trace; /* at the end of a file of all threads: the
				  * calls that --slow has kept; NULL: none */
	void *state;             /* the format's own, from begin to end */
};

/* Writes the profiled command, its words separated by spaces. */
void swz_put_command(FILE *stream, const struct swz_profile *profile);
/* The same as a text; to be freed. */
char *swz_command_text(const struct swz_profile *profile);

/* The lines, beginning with '#', that say what a table is of. */
void swz_put_heading(FILE *stream, const struct swz_section *section);

/* True if tables for programs have columns of waiting: who did not ask for them
 * has the columns that there always were. */
bool swz_shows_waiting(const struct swz_report *report,
		       const struct swz_table_options *options);

/* True if something is known of what threads waited. */
static inline bool swz_tells_running(const struct swz_report *report)
{
	return report->knows_waiting || report->unplaced_ns;
}

/* Then: what they are known to have run. */
static inline int64_t swz_running_ns(const struct swz_report *report)
{
	return report->total_ns - report->unplaced_ns - report->unknown_ns;
}

/* Lines about waiting, and these columns, if there are any. */
void swz_put_waiting_note(FILE *stream, const struct swz_report *report,
			  bool columns);

/* The name of a function's module without its directory. */
const char *swz_module_name(const struct swz_section *section,
			    uint32_t function);

/* The name of the figures that stand in the column of calls: "calls" or
 * "samples". */
static inline const char *swz_counted(const struct swz_section *section)
{
	return section->report->samples ? "samples" : "calls";
}

/* The same as people read it: only first calls are known of -m cover. */
static inline const char *swz_counted_title(const struct swz_section *section)
{
	return section->report->first_calls ? "runs" : swz_counted(section);
}

/* ns that a recorded call costs inside and outside of what it records. */
double swz_hook_cost_ns(const struct swz_profile *profile);

/* --- losses -------------------------------------------------------------- */

/* Losses: what is not in the figures, or is not what was asked for. Of all
 * profiles of a section together, so that each format says the same. */

/* Why the waiting of a thread with context switches is not known. */
#define SWZ_UNSEEN_SWITCHES \
	"the last context switches were not read (a process that is " \
	"killed, or still runs)"

struct swz_losses {
	uint64_t lost_calls;   /* not recorded */
	uint64_t folded_calls; /* without a context */
	uint64_t lost_marks;   /* and spans */
	uint64_t lost_values;  /* records of arguments or results */
	uint64_t lost_events;
	uint64_t samples; /* that were taken and are there */
	uint64_t lost_samples, missed_samples;
	uint64_t cut_stacks;     /* of the samples: without their outermost part
				  */
	size_t without_switches; /* threads, where the others have them */
	uint32_t full, flags;    /* of the headers; see swz_file_bound() */
	size_t incomplete;       /* profiles, as all that follow */
	size_t damaged;
	size_t overwritten;
	size_t running;
};

struct swz_losses swz_losses_find(const struct swz_section *section);

/* A line for each that there is, each with PREFIX before it. Of samples there
 * is always one. */
void swz_put_loss_lines(FILE *stream, const struct swz_section *section,
			const char *prefix);

/* The members of an object, each with a comma before it; all of them. */
void swz_put_loss_members(struct swz_json *json,
			  const struct swz_section *section);

/* Each by its name, as JSON has them: at INDEX from 0 on. NULL: past the last.
 */
const char *swz_loss_at(const struct swz_losses *losses, size_t index,
			uint64_t *count);

/* True if the hooks took longer than the program ran: then times of short
 * functions are not to be trusted. */
static inline bool swz_hooks_exceed(const struct swz_section *section)
{
	return section->compensated && !section->old &&
	       section->report->hook_ns > 0 &&
	       swz_report_cost(section->report) > section->report->total_ns;
}

/* --- marks --------------------------------------------------------------- */

/* Marks as lines of text. */

/* A line for each mark of the section, in the order of time of each profile:
 * seconds since the profile's beginning, thread, text; before it PREFIX. No
 * more than MOST of them, then how many there are beside; 0: all. Nothing if
 * there are none. */
void swz_put_marks(FILE *stream, const struct swz_section *section,
		   const char *prefix, size_t most);

/* The same of a profile, all. */
void swz_put_marks_of(FILE *stream, const struct swz_profile *profile);

/* --- figures of joined runs ---------------------------------------------- */

/* Figures of a report whose times are those of another run (costs/runs.h):
 * what has no call count, and times of which only a bound is known. A report of
 * counts (-m count) knows no times at all. Of other reports they are plain
 * figures; but where hooks have cost all that was measured of a function with
 * calls, there is a bound, too. */

/* True if the function's calls were counted. */
bool swz_is_counted(const struct swz_report *report, uint32_t function);

/* swz_bound_of() of a time that is not known. */
#define SWZ_TIME_UNKNOWN (-1)

/* The same of a context of it with so many calls. */
bool swz_is_counted_there(const struct swz_report *report, uint32_t function,
			  uint64_t calls);

/* The bound that a time of the function is less than; 0: NS is the time itself;
 * SWZ_TIME_UNKNOWN: nothing is known. */
int64_t swz_bound_of(const struct swz_report *report, uint32_t function,
		     int64_t ns);

/* The same where columns are digits, but of joined profiles: a note in the head
 * stands for the others. */
int64_t swz_plain_bound(const struct swz_report *report, uint32_t function,
			int64_t ns);

/* At the right of WIDTH columns: "123", or "-"; "123", "<123", or "-". */
void swz_put_plain_count(FILE *stream, int width, uint64_t count, bool counted);
void swz_put_plain_time(FILE *stream, int width, int64_t ns, int64_t bound_ns);
/* ">=123". */
void swz_put_plain_least(FILE *stream, int width, int64_t ns);

/* The number of calls, or samples, of all functions. */
uint64_t swz_calls_of(const struct swz_report *report);

/* True if counts and times of a joined section are of one run. */
bool swz_is_one_run(const struct swz_section *section);

/* The processor time in ns that counting calls and planning took, of a joined
 * section. It is no function's. */
uint64_t swz_left_out_ns(const struct swz_section *section);

/* "Counts are of ..., times of ...", without a newline. */
void swz_put_joined_note(FILE *stream, const struct swz_section *section);

/* --- from first to last -------------------------------------------------- */

/* The wall-clock time from the first process's start to the end of the last. */

struct swz_extent {
	uint64_t start_ns, end_ns; /* since 1970; 0: nothing yet */
	bool end_is_bound;         /* one of them may have ended later */
};

void swz_extent_add(struct swz_extent *extent,
		    const struct swz_profile *profile);

/* Adds all profiles of a section. */
void swz_extent_add_section(struct swz_extent *extent,
			    const struct swz_section *section);

/* The kind of a section's times. */

enum swz_time_kind {
	SWZ_WALL_TIME,
	SWZ_RUNNING_TIME, /* of hooks: what threads did not wait, if known */
	SWZ_PROCESSOR_TIME
};

static inline enum swz_time_kind swz_time_kind(
	const struct swz_section *section)
{
	if (section->report->joined || section->report->samples)
		return SWZ_PROCESSOR_TIME;
	return section->report->knows_waiting ? SWZ_RUNNING_TIME
					      : SWZ_WALL_TIME;
}

/* As pprof and OpenTelemetry call it. */
static inline const char *swz_time_type(const struct swz_section *section)
{
	return swz_time_kind(section) == SWZ_WALL_TIME ? "wall" : "cpu";
}

/* --- rules of --slow ------------------------------------------------------ */

/* The calls in a rule's histogram, and the time in ticks that SHARE (0 to 1) of
 * them do not exceed: the end of a bucket. */
uint64_t swz_slow_calls(const struct swz_slow_record *rule);
uint64_t swz_slow_percentile(const struct swz_slow_record *rule, uint64_t calls,
			     double share);

/* Writes what is known of all calls of a rule, and how many are kept, as one
 * line without its end. */
void swz_put_slow_rule(FILE *stream, const struct swz_profile *profile,
		       size_t index, bool utf8);

#endif
