/* Of one process the samples of one process are wanted; of several, those of
 * all: which process of one run is which of the other is not known. */

#include "tools/dump/pairs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/writer.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "tools/dump/message.h"

static bool has_samples(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_SAMPLES;
}

/* Whether SAMPLES are of the first run to COUNTS. */
static bool is_pair(const struct swz_profile *samples,
		    const struct swz_profile *counts)
{
	const struct swz_file_header *first = &samples->header;
	const struct swz_file_header *second = &counts->header;

	return has_samples(samples) && !has_samples(counts) &&
	       first->counts_pid && first->counts_pid == second->root_pid &&
	       first->counts_start == second->root_start;
}

static bool is_root(const struct swz_profile *profile)
{
	return profile->header.pid == profile->header.root_pid;
}

static void add(struct swz_dump_input *input, struct swz_profile *samples)
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

void swz_dump_take_pairs(struct swz_dump_input *input)
{
	size_t i = 0;

	while (i < input->count) {
		if (!is_other_half(input, i)) {
			i++;
			continue;
		}
		add(input, input->profiles[i]);
		input->count--;
		memmove(&input->profiles[i], &input->profiles[i + 1],
			(input->count - i) * sizeof(struct swz_profile *));
	}
}

static void read_pair(struct swz_dump_input *input, const char *path,
		      const struct swz_profile *counts)
{
	struct swz_profile *samples;
	struct swz_error error;

	(void)swz_wait_for_sampler(path);
	if (swz_profile_read(path, &samples, &error) != SWZ_OK)
		return;
	if (is_pair(samples, counts) && (input->count > 1 || is_root(samples)))
		add(input, samples);
	else
		swz_profile_free(samples);
}

static void find_beside(struct swz_dump_input *input,
			const struct swz_profile *counts)
{
	const char *base = swz_base_name(counts->name);
	char *directory = swz_print("%.*s", (int)(base - counts->name),
				    counts->name);
	char *prefix = swz_print("%s.samples", base);
	DIR *entries = opendir(*directory ? directory : ".");
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		const char *rest = entry->d_name + strlen(prefix);
		char *path;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
		    (*rest && *rest != '.'))
			continue;
		path = swz_print("%s%s", directory, entry->d_name);
		read_pair(input, path, counts);
		free(path);
	}
	if (entries)
		closedir(entries);
	free(prefix);
	free(directory);
}

void swz_dump_find_pairs(struct swz_dump_input *input,
			 const struct swz_dump_options *options)
{
	const char *what;
	size_t i;

	if (!options->own_times && !input->sample_count)
		for (i = 0; i < input->count; i++)
			if (!has_samples(input->profiles[i]) &&
			    input->profiles[i]->header.root_pid &&
			    is_root(input->profiles[i]))
				find_beside(input, input->profiles[i]);
	if (!input->sample_count || options->own_times || options->quiet)
		return;
	what = swz_dump_not_of_times(options);
	if (what)
		swz_dump_complain("the times are the recorded ones: %s has "
				  "none for %s",
				  input->samples[0]->name, what);
	else
		swz_dump_complain("times are from %s%s; --no-times shows the "
				  "recorded ones",
				  input->samples[0]->name,
				  input->sample_count > 1 ? " and others" : "");
}
