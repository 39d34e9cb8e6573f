#include "profile/costs/merge_description.h"

#include <string.h>

#include "profile/support/arith.h"
#include "profile/support/memory.h"

static void take_first(struct swz_merge *merge,
		       const struct swz_profile *profile)
{
	size_t i;

	merge->header = profile->header;
	merge->header.flags &= SWZ_FILE_SAMPLES;
	merge->header.lost_calls = merge->header.samples = 0;
	merge->header.lost_samples = merge->header.missed_samples = 0;
	merge->header.cut_stacks = merge->header.broken_stacks = 0;
	merge->header.unread_scripts = merge->header.lost_marks = 0;
	merge->header.lost_values = 0;
	merge->header.merged_profiles = merge->header.merged_threads = 0;
	merge->executable = swz_intern(&merge->strings, profile->executable);
	merge->cwd = swz_intern(&merge->strings, profile->cwd);
	merge->arguments = swz_allocate(profile->argument_count + 1,
					sizeof(*merge->arguments));
	for (i = 0; i < profile->argument_count; i++)
		merge->arguments[i] = swz_intern(&merge->strings,
						 profile->arguments[i]);
	merge->argument_count = profile->argument_count;
	merge->labels = swz_allocate(2 * profile->label_count + 1,
				     sizeof(*merge->labels));
	for (i = 0; i < 2 * profile->label_count; i++)
		merge->labels[i] = swz_intern(&merge->strings,
					      profile->labels[i]);
	merge->label_count = profile->label_count;
}

/* Those that all profiles have. */
static void take_labels(struct swz_merge *merge,
			const struct swz_profile *profile)
{
	size_t kept = 0, i;

	for (i = 0; i < merge->label_count; i++) {
		const char **label = &merge->labels[2 * i];
		const char *value = swz_profile_label(profile, label[0]);

		if (!value || strcmp(value, label[1]) != 0)
			continue;
		memmove(&merge->labels[2 * kept++], label, 2 * sizeof(*label));
	}
	merge->label_count = kept;
}

static void add_header(struct swz_merge *merge,
		       const struct swz_profile *profile)
{
	const struct swz_file_header *from = &profile->header;
	struct swz_file_header *to = &merge->header;
	bool merged = from->flags & SWZ_FILE_MERGED;

	to->flags |= from->flags & (SWZ_FILE_FOLDED | SWZ_FILE_FILTERED);
	to->lost_calls = swz_add_count(to->lost_calls, from->lost_calls);
	to->samples = swz_add_count(to->samples, from->samples);
	to->lost_samples = swz_add_count(to->lost_samples, from->lost_samples);
	to->missed_samples = swz_add_count(to->missed_samples,
					   from->missed_samples);
	to->cut_stacks = swz_add_count(to->cut_stacks, from->cut_stacks);
	to->broken_stacks = swz_add_count(to->broken_stacks,
					  from->broken_stacks);
	to->unread_scripts = swz_add_count(to->unread_scripts,
					   from->unread_scripts);
	to->sample_flags |= from->sample_flags;
	if (from->full)
		to->full = from->full;
	if (from->start_realtime_ns < to->start_realtime_ns)
		to->start_realtime_ns = from->start_realtime_ns;
	if (from->root_pid != to->root_pid ||
	    from->root_start != to->root_start) {
		to->root_pid = 0;
		to->root_start = 0;
	}
	to->merged_profiles = swz_add_count(to->merged_profiles,
					    merged ? from->merged_profiles : 1);
	to->merged_threads = swz_add_count(to->merged_threads,
					   merged ? from->merged_threads
						  : profile->thread_count);
}

void swz_merge_description(struct swz_merge *merge,
			   const struct swz_profile *profile)
{
	if (!merge->executable)
		take_first(merge, profile);
	take_labels(merge, profile);
	add_header(merge, profile);
}
