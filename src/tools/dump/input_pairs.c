/* The profiles that belong together: the counts and the samples of one run, and
 * several files that have the same process, which counts once. */

#include "tools/dump/input.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/reports.h"
#include "util/memory.h"

/* --- what a profile lacks and has ---------------------------------------- */

/* Follows "calls were not recorded"; empty if the file says why it is
 * incomplete, which is told before. */
static const char *why_lost(const struct swz_file_header *header)
{
	if (header->full != SWZ_FULL_NOT)
		return "";
	if (header->flags & SWZ_FILE_SHORT)
		return ": the file could not grow any more (ulimit -f)";
	return ": there was no memory, the program gave up system calls, "
	       "threads share their state, or its stack is not an ordinary one";
}

void swz_dump_warn_damage(const struct swz_profile *profile)
{
	const struct swz_damage *damage = &profile->damage;
	const char *full = swz_full_reason(&profile->header);

	if (damage->missing_bytes)
		swz_dump_complain("%s: truncated, %" PRIu64
				  " byte%s missing; showing what is there",
				  profile->name, damage->missing_bytes,
				  damage->missing_bytes == 1 ? " is" : "s are");
	else if (damage->bad_chunks || damage->stray_nodes)
		swz_dump_complain(
			"%s: damaged (%" PRIu32 " bad chunk%s, %" PRIu64
			" context%s without a thread); showing what is left",
			profile->name, damage->bad_chunks,
			damage->bad_chunks == 1 ? "" : "s", damage->stray_nodes,
			damage->stray_nodes == 1 ? "" : "s");
	if (!profile->clock_known)
		swz_dump_complain(
			"%s: the clock is not calibrated; times are in ticks",
			profile->name);
	if (profile->clock_uneven)
		swz_dump_complain(
			"%s: the processor's clock and the system's disagree "
			"(was the machine suspended?); times are the "
			"processor's",
			profile->name);
	if (full)
		swz_dump_complain("%s: incomplete: %s; calls from then on may "
				  "be missing",
				  profile->name, full);
	if (profile->header.lost_calls)
		swz_dump_complain("%s: %" PRIu64 " call%s not recorded%s",
				  profile->name, profile->header.lost_calls,
				  profile->header.lost_calls == 1 ? " was"
								  : "s were",
				  why_lost(&profile->header));
	if (profile->folded_calls)
		swz_dump_complain("%s: %" PRIu64 " call%s no exact context "
				  "(%s)%s",
				  profile->name, profile->folded_calls,
				  profile->folded_calls == 1 ? " has"
							     : "s have",
				  swz_file_bound(profile->header.full,
						 profile->header.flags,
						 "--max-memory was reached"),
				  profile->header.lost_calls ||
						  swz_profile_damaged(profile)
					  ? ""
					  : "; counts are exact");
}

bool swz_dump_is_traced(const struct swz_dump_input *input)
{
	size_t i;

	for (i = 0; i < input->count; i++)
		if (!swz_profile_traced(input->profiles[i]))
			return false;
	return true;
}

bool swz_dump_has_last_values(const struct swz_dump_input *input,
			      const struct swz_dump_options *options)
{
	bool any = false;
	size_t i;

	for (i = 0; i < input->count; i++) {
		if (swz_profile_traced(input->profiles[i]))
			return false;
		any |= input->profiles[i]->summary_count != 0;
	}
	return any && strcmp(options->format->name, "calls") == 0 &&
	       !options->at.given && !options->calls.of.count &&
	       !options->calls.blame && !options->calls.apart;
}

/* --- counts and samples of one run --------------------------------------- */

/* One process wants the samples of one process; several, those of
 * all: which process of one run is which of the other is not known. */

static bool has_samples(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_SAMPLES;
}

static bool is_sum(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_MERGED;
}

/* True if SAMPLES are of the run that COUNTS are of. */
static bool is_pair(const struct swz_profile *samples,
		    const struct swz_profile *counts)
{
	const struct swz_file_header *first = &samples->header;
	const struct swz_file_header *second = &counts->header;

	if (!has_samples(samples) || has_samples(counts) || !first->counts_pid)
		return false;
	if (is_sum(samples) || is_sum(counts)) /* of many runs */
		return is_sum(samples) && is_sum(counts) &&
		       second->flags & SWZ_FILE_COUNTS;
	return first->counts_pid == second->root_pid &&
	       first->counts_start == second->root_start;
}

static void add_pair(struct swz_dump_input *input, struct swz_profile *samples)
{
	swz_grow(&input->samples, &input->sample_capacity, input->sample_count,
		 sizeof(struct swz_profile *));
	input->samples[input->sample_count++] = samples;
}

static bool is_other_half(const struct swz_dump_input *input, size_t index)
{
	size_t i;

	for (i = 0; i < input->count; i++)
		if (is_pair(input->profiles[index], input->profiles[i]))
			return true;
	return false;
}

/* Takes profiles with samples out of the input, whose other half is there. */
void swz_dump_take_pairs(struct swz_dump_input *input)
{
	size_t i = 0;

	while (i < input->count) {
		if (!is_other_half(input, i)) {
			i++;
			continue;
		}
		add_pair(input, input->profiles[i]);
		input->count--;
		memmove(&input->profiles[i], &input->profiles[i + 1],
			(input->count - i) * sizeof(struct swz_profile *));
	}
}

/* Samples beside a profile are those of its process. A process that executes
 * another program goes on in files of its own, of calls and of samples: each of
 * calls has the latest of samples that began before it. The profile whose name
 * the samples' begins with, the first of the run, has them all: programs that
 * could not be hooked are in none of the others. */

struct profile_file {
	char *path;
	struct swz_file_header header;
};

struct profile_files {
	struct profile_file *items;
	size_t count, capacity;
};

static bool is_same_process(const struct swz_file_header *a,
			    const struct swz_file_header *b)
{
	/* in another namespace the numbers differ */
	if (a->pid == a->root_pid && b->pid == b->root_pid)
		return true;
	/* of one that was gone at once the start is not known */
	return a->pid == b->pid &&
	       (!a->process_start || a->process_start == b->process_start);
}

/* In the directory of the profile NAME. */
static void list_samples(struct profile_files *files, const char *name)
{
	char *directory = swz_print("%.*s", (int)(swz_base_name(name) - name),
				    name);
	DIR *entries = opendir(*directory ? directory : ".");
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		struct profile_file file = {.path = NULL};

		if (!strstr(entry->d_name, ".samples"))
			continue;
		file.path = swz_print("%s%s", directory, entry->d_name);
		(void)swz_wait_for_sampler(file.path);
		if (swz_file_header_read(file.path, &file.header) &&
		    file.header.flags & SWZ_FILE_SAMPLES) {
			swz_grow(&files->items, &files->capacity, files->count,
				 sizeof(file));
			files->items[files->count++] = file;
		} else {
			free(file.path);
		}
	}
	if (entries)
		closedir(entries);
	free(directory);
}

static bool is_named_after(const char *samples, const char *counts)
{
	const char *base = swz_base_name(samples);
	char *prefix = swz_print("%s.samples", swz_base_name(counts));
	size_t length = strlen(prefix);
	bool is = strncmp(base, prefix, length) == 0 &&
		  (!base[length] || base[length] == '.');

	free(prefix);
	return is;
}

static bool is_of_input(const struct swz_dump_input *input,
			const struct profile_file *file)
{
	for (size_t i = 0; i < input->count; i++)
		if (is_same_process(&file->header, &input->profiles[i]->header))
			return true;
	return false;
}

/* A recording of an attached process that ended before another one began is not
 * the other one's, though the process is the same. False also if the end is not
 * known. */
static bool ended_before(const struct swz_file_header *samples,
			 const struct swz_file_header *counts)
{
	return samples->end_ticks > samples->start_ticks &&
	       swz_add_count(samples->start_realtime_ns,
			     samples->end_ticks - samples->start_ticks) <
		       counts->start_realtime_ns;
}

/* The latest that began before; NULL: there is none. */
static const struct profile_file *samples_of_program(
	const struct profile_files *files, const struct swz_file_header *counts)
{
	const struct profile_file *latest = NULL;

	for (size_t i = 0; i < files->count; i++) {
		const struct profile_file *file = &files->items[i];

		if (file->header.counts_pid == counts->root_pid &&
		    file->header.counts_start == counts->root_start &&
		    is_same_process(&file->header, counts) &&
		    file->header.start_realtime_ns <=
			    counts->start_realtime_ns &&
		    !ended_before(&file->header, counts) &&
		    (!latest || latest->header.start_realtime_ns <
					file->header.start_realtime_ns))
			latest = file;
	}
	return latest;
}

/* The profile's times are in PATH, and cannot be had. */
static void lack_times(const char *path, const char *why)
{
	char *text = swz_print("%s. Calls are shown without their times", why);

	swz_dump_note_unread(path, text);
	free(text);
}

static void read_pair(struct swz_dump_input *input, const char *path,
		      const struct swz_profile *counts, bool quiet)
{
	struct swz_profile *samples;
	struct swz_error error;

	for (size_t i = 0; i < input->sample_count; i++)
		if (strcmp(input->samples[i]->name, path) == 0)
			return;
	if (swz_profile_read(path, &samples, &error) != SWZ_OK) {
		lack_times(path, error.text);
		return;
	}
	if (!is_pair(samples, counts)) {
		swz_profile_free(samples);
		return;
	}
	if (swz_profile_damaged(samples) && !samples->thread_count) {
		lack_times(path, "damaged or cut off, no thread is left");
		swz_profile_free(samples);
		return;
	}
	if (!quiet)
		swz_dump_warn_damage(samples);
	add_pair(input, samples);
}

/* The file that has the samples of COUNTS by its name is cut off within its
 * header, or empty. */
static void check_own_samples(const struct swz_profile *counts)
{
	char *path = swz_print("%s.samples", counts->name);
	struct swz_profile *samples;
	struct swz_file_header header;
	struct swz_error error;
	struct stat info;

	if (stat(path, &info) != 0 || swz_file_header_read(path, &header))
		; /* it is not there, or readable */
	else if (swz_profile_read(path, &samples, &error) == SWZ_OK)
		swz_profile_free(samples);
	else
		lack_times(path, error.text);
	free(path);
}

static void find_beside(struct swz_dump_input *input,
			const struct swz_profile *counts, bool quiet)
{
	const struct profile_file *own;
	struct profile_files files = {.items = NULL};
	bool first = false;

	if (counts->header.flags & SWZ_FILE_COUNTS)
		check_own_samples(counts);
	list_samples(&files, counts->name);
	for (size_t i = 0; i < files.count; i++) {
		const struct profile_file *file = &files.items[i];

		if (!is_named_after(file->path, counts->name))
			continue;
		first = true;
		if (is_sum(counts) || is_of_input(input, file))
			read_pair(input, file->path, counts, quiet);
	}
	own = first ? NULL : samples_of_program(&files, &counts->header);
	if (own)
		read_pair(input, own->path, counts, quiet);
	for (size_t i = 0; i < files.count; i++)
		free(files.items[i].path);
	free(files.items);
}

void swz_dump_find_beside(struct swz_dump_input *input, bool quiet)
{
	size_t i;

	if (input->sample_count)
		return;
	for (i = 0; i < input->count; i++)
		if (!has_samples(input->profiles[i]) &&
		    (input->profiles[i]->header.root_pid ||
		     is_sum(input->profiles[i])))
			find_beside(input, input->profiles[i], quiet);
}

bool swz_dump_is_pair(const struct swz_dump_input *samples,
		      const struct swz_dump_input *counts)
{
	size_t i, j;

	for (i = 0; i < samples->count; i++)
		for (j = 0; j < counts->count; j++)
			if (is_pair(samples->profiles[i], counts->profiles[j]))
				return true;
	return false;
}

/* Both halves, as one has the calls and the other one the samples. */
static void take_both(struct swz_dump_input *input)
{
	for (size_t i = 0; i < input->sample_count; i++) {
		swz_grow(&input->profiles, &input->capacity, input->count,
			 sizeof(void *));
		input->profiles[input->count++] = input->samples[i];
	}
	input->sample_count = 0;
}

/* A range of time, and what shows samples by themselves, is of the other half
 * alone where calls have no times of their own: it takes their place. */
static bool take_samples(struct swz_dump_input *input,
			 const struct swz_dump_options *options)
{
	bool wanted = options->format->of_samples ||
		      swz_dump_has_range(options);
	bool by_rank = options->columns_by == SWZ_BY_RANK;

	wanted &= swz_profiles_have_samples(input->samples,
					    input->sample_count);
	/* how often ranks call something says little of what they wait for */
	for (size_t i = 0; i < input->count && by_rank; i++)
		wanted |= input->profiles[i]->header.flags & SWZ_FILE_COUNTS;
	for (size_t i = 0; i < input->count; i++)
		wanted &= !swz_profile_traced(input->profiles[i]);
	if (!wanted || !input->sample_count || options->own_times)
		return false;
	for (size_t i = 0; i < input->count; i++)
		swz_profile_free(input->profiles[i]);
	free(input->profiles);
	input->profiles = input->samples;
	input->count = input->sample_count;
	input->samples = NULL;
	input->sample_count = 0;
	if (!options->quiet)
		swz_dump_complain("of the samples alone (%s): counts of calls "
				  "are those of the whole run",
				  input->profiles[0]->name);
	return true;
}

#define SHORT_NS 100000000 /* a run that may have no sample */

/* A program that ran for a few milliseconds may have no sample. Then there is
 * no time to be shown beside the counts. (One that only waits has waiting.) */
static void leave_out_empty(struct swz_dump_input *input,
			    const struct swz_dump_options *options)
{
	bool any = false;
	size_t i;

	for (i = 0; i < input->sample_count; i++)
		any |= input->samples[i]->header.samples ||
		       swz_profile_wall_ns(input->samples[i]) > SHORT_NS;
	if (any || !input->sample_count || !input->count ||
	    !(input->profiles[0]->header.flags & SWZ_FILE_COUNTS))
		return;
	if (!options->quiet && !options->own_times)
		swz_dump_complain("counts without times: the program ran for "
				  "less time than a sample needs. More "
				  "samples: swizzle-run -r 10000, or a longer "
				  "run");
	for (i = 0; i < input->sample_count; i++)
		swz_profile_free(input->samples[i]);
	input->sample_count = 0;
}

/* Says which runs were not sampled, where others were: rows have the calls of
 * all, and the times of those that were. */
static void warn_unsampled(const struct swz_dump_input *input)
{
	for (size_t i = 0; i < input->count; i++) {
		bool sampled = false;

		for (size_t j = 0; j < input->sample_count && !sampled; j++)
			sampled = is_pair(input->samples[j],
					  input->profiles[i]);
		if (!sampled)
			swz_dump_complain("%s: this run was not sampled: its "
					  "calls are among the others, its "
					  "times are not known",
					  input->profiles[i]->name);
	}
}

void swz_dump_find_pairs(struct swz_dump_input *input,
			 const struct swz_dump_options *options)
{
	const char *what;
	bool counts;

	if (!options->own_times)
		swz_dump_find_beside(input, options->quiet);
	if (options->format->of_code)
		take_both(input);
	if (take_samples(input, options))
		return;
	leave_out_empty(input, options);
	if (!input->sample_count || options->own_times || options->quiet)
		return;
	/* what needs a trace is refused next */
	if (options->format->events && !swz_dump_is_traced(input) &&
	    !swz_dump_has_last_values(input, options))
		return;
	warn_unsampled(input);
	what = swz_dump_not_of_times(options, true);
	counts = input->count &&
		 input->profiles[0]->header.flags & SWZ_FILE_COUNTS;
	if (what && counts)
		swz_dump_complain("counts without times: %s has no times for "
				  "%s",
				  input->samples[0]->name, what);
	else if (what)
		swz_dump_complain("the times are the recorded ones: %s has "
				  "none for %s",
				  input->samples[0]->name, what);
	else if (!counts)
		swz_dump_complain("times are from %s%s; --no-times shows the "
				  "recorded ones",
				  input->samples[0]->name,
				  input->sample_count > 1 ? " and others" : "");
}

/* --- the programs of one process ------------------------------------------ */

static int by_start(const void *left, const void *right)
{
	const struct profile_file *a = left, *b = right;
	uint64_t first = a->header.start_realtime_ns;
	uint64_t second = b->header.start_realtime_ns;

	return first < second ? -1 : first > second;
}

/* True if B is of a program that the first process of the run of A, which had
 * not ended, has executed since. */
static bool goes_on_in(const struct swz_file_header *a,
		       const struct swz_file_header *b)
{
	const uint32_t kinds = SWZ_FILE_SAMPLES | SWZ_FILE_COUNTS |
			       SWZ_FILE_MERGED;

	return (a->flags & kinds) == (b->flags & kinds) &&
	       a->root_pid == b->root_pid && a->root_start == b->root_start &&
	       b->pid == a->pid && b->process_start == a->process_start &&
	       b->start_realtime_ns > a->start_realtime_ns;
}

void swz_dump_add_programs(struct swz_inputs *inputs)
{
	const char *path = inputs->paths[0], *base = swz_base_name(path);
	struct profile_files found = {.items = NULL};
	struct swz_file_header first;
	char *directory, *prefix, *half = swz_print("%s.samples", path);
	struct dirent *entry;
	struct stat info;
	DIR *entries;

	if (!swz_file_header_read(path, &first) || !first.root_pid ||
	    first.pid != first.root_pid ||
	    first.flags & (SWZ_FILE_ENDED | SWZ_FILE_MERGED) ||
	    !(first.flags & SWZ_FILE_SAMPLES ||
	      (first.flags & SWZ_FILE_COUNTS && stat(half, &info) == 0))) {
		free(half);
		return;
	}
	directory = swz_print("%.*s", (int)(base - path), path);
	prefix = swz_print("%s.", base);
	entries = opendir(*directory ? directory : ".");
	while (entries && (entry = readdir(entries))) {
		struct profile_file file = {.path = NULL};

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		file.path = swz_print("%s%s", directory, entry->d_name);
		if (swz_file_header_read(file.path, &file.header) &&
		    goes_on_in(&first, &file.header)) {
			swz_grow(&found.items, &found.capacity, found.count,
				 sizeof(file));
			found.items[found.count++] = file;
		} else {
			free(file.path);
		}
	}
	if (entries)
		closedir(entries);
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), by_start);
	for (size_t i = 0; i < found.count; i++) {
		swz_inputs_add_file(inputs, found.items[i].path);
		free(found.items[i].path);
	}
	free(found.items);
	free(directory);
	free(prefix);
	free(half);
}

/* --- each process once --------------------------------------------------- */

/* Each profile is one source, and a sum has those of the profiles that it is
 * of. They are sorted, so that equal ones stand beside each other. */

/* A process is to count once, though several of the files that were given have
 * it: a file that is given twice, a copy, a snapshot beside the profile, a sum
 * (--merge-into) beside what it is of. */

struct source {
	uint64_t process_start, start_realtime_ns;
	uint32_t pid;
	bool samples; /* -m both: beside the counts of the same process */
	uint32_t at;  /* in the input */
};

enum fate { COUNTS, COUNTS_TWICE, LEFT_OUT };

struct sources {
	struct source *items;
	size_t count, capacity;
};

static void add_source(struct sources *sources, struct source source)
{
	swz_grow(&sources->items, &sources->capacity, sources->count,
		 sizeof(*sources->items));
	sources->items[sources->count++] = source;
}

static void add_profile(struct sources *sources,
			const struct swz_profile *profile, size_t at)
{
	const struct swz_file_header *header = &profile->header;
	struct source source = {.samples = header->flags & SWZ_FILE_SAMPLES,
				.at = (uint32_t)at,
				.pid = (uint32_t)header->pid,
				.process_start = header->process_start,
				.start_realtime_ns = header->start_realtime_ns};
	size_t i;

	if (!is_sum(profile)) {
		add_source(sources, source);
		return;
	}
	for (i = 0; i < profile->source_count; i++) {
		const struct swz_merged_record *of = &profile->sources[i];

		source.pid = of->pid;
		source.process_start = of->process_start;
		source.start_realtime_ns = of->start_realtime_ns;
		add_source(sources, source);
	}
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* 0: the same process. */
static int compare_process(const struct source *a, const struct source *b)
{
	int order = ORDER(a->start_realtime_ns, b->start_realtime_ns);

	order = order ? order : ORDER(a->process_start, b->process_start);
	order = order ? order : ORDER(a->pid, b->pid);
	return order ? order : ORDER(a->samples, b->samples);
}

static int compare(const void *left, const void *right)
{
	const struct source *a = left, *b = right;
	int order = compare_process(a, b);

	return order ? order : ORDER(a->at, b->at);
}

static void sort(struct sources *sources)
{
	if (sources->count > 1)
		qsort(sources->items, sources->count, sizeof(*sources->items),
		      compare);
}

/* Which of the same process has more of it: the whole, and the later. */
static uint64_t rank(const struct swz_profile *profile)
{
	if (is_sum(profile))
		return UINT64_MAX;
	if (swz_profile_damaged(profile))
		return 0;
	return profile->header.snapshot_ticks ? profile->header.snapshot_ticks
					      : UINT64_MAX - 1;
}

/* How many processes are in both. */
static size_t count_shared(const struct swz_dump_input *a,
			   const struct swz_dump_input *b)
{
	struct sources sources = {0};
	size_t shared = 0, i;

	for (i = 0; i < a->count; i++)
		add_profile(&sources, a->profiles[i], 0);
	for (i = 0; i < b->count; i++)
		add_profile(&sources, b->profiles[i], 1);
	sort(&sources);
	for (i = 1; i < sources.count; i++)
		shared += sources.items[i - 1].at != sources.items[i].at &&
			  compare_process(&sources.items[i - 1],
					  &sources.items[i]) == 0;
	free(sources.items);
	return shared;
}

/* A sum that has what another one has not stays. */
static bool has_more(struct swz_profile *sum, struct swz_profile *other)
{
	const struct swz_dump_input a = {.profiles = &sum, .count = 1};
	const struct swz_dump_input b = {.profiles = &other, .count = 1};

	return count_shared(&a, &b) < sum->source_count;
}

static void leave_out(struct swz_dump_input *input, enum fate *fates,
		      uint32_t which, uint32_t for_which, bool quiet)
{
	struct swz_profile *out = input->profiles[which];
	struct swz_profile *in = input->profiles[for_which];

	if (fates[which] != COUNTS)
		return;
	fates[which] = is_sum(out) && has_more(out, in) ? COUNTS_TWICE
							: LEFT_OUT;
	if (quiet)
		return;
	if (fates[which] == COUNTS_TWICE) {
		swz_dump_complain("%s and %s have processes in common, which "
				  "count twice. Name the profiles that they "
				  "are sums of",
				  in->name, out->name);
		return;
	}
	if (strcmp(out->name, in->name) == 0)
		swz_dump_complain("%s: given twice, counted once", out->name);
	else
		swz_dump_complain("%s: left out, as %s has the same process",
				  out->name, in->name);
}

/* Leaves out of INPUT what others in it have, too. QUIET: without a word. */
void swz_dump_count_once(struct swz_dump_input *input, bool quiet)
{
	enum fate *fates = swz_allocate(input->count + 1, sizeof(*fates));
	struct sources sources = {0};
	size_t i, kept = 0;
	uint32_t best = 0;

	for (i = 0; i < input->count; i++)
		add_profile(&sources, input->profiles[i], i);
	sort(&sources);
	for (i = 0; i < sources.count; i++) {
		uint32_t at = sources.items[i].at;

		if (!i || compare_process(&sources.items[i - 1],
					  &sources.items[i]) != 0) {
			best = at;
		} else if (at != best && rank(input->profiles[at]) >
						 rank(input->profiles[best])) {
			leave_out(input, fates, best, at, quiet);
			best = at;
		} else if (at != best) {
			leave_out(input, fates, at, best, quiet);
		}
	}
	for (i = 0; i < input->count; i++) {
		if (fates[i] == LEFT_OUT)
			swz_profile_free(input->profiles[i]);
		else
			input->profiles[kept++] = input->profiles[i];
	}
	input->count = kept;
	free(sources.items);
	free(fates);
}
