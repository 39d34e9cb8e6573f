/* Each profile is one source, and a sum has those of the profiles that it is
 * of. They are sorted, so that equal ones stand beside each other. */

#include "tools/dump/same_process.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "tools/dump/message.h"

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

static bool is_sum(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_MERGED;
}

static void add(struct sources *sources, struct source source)
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
		add(sources, source);
		return;
	}
	for (i = 0; i < profile->source_count; i++) {
		const struct swz_merged_record *of = &profile->sources[i];

		source.pid = of->pid;
		source.process_start = of->process_start;
		source.start_realtime_ns = of->start_realtime_ns;
		add(sources, source);
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
