/* The sum is written every half minute, and in one piece: whoever is ended
 * before all is done begins anew with the same command, and what is in the file
 * already is passed over. */

#include "tools/dump/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "profile/costs/merge.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/formats/merged.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"
#include "tools/dump/input.h"
#include "tools/dump/message.h"
#include "tools/dump/target.h"

#define SECONDS_BETWEEN 30

struct merging {
	const struct swz_dump_options *options;
	struct swz_merge merge;
	struct stat target; /* as it was read or written last */
	bool has_target;
	bool changed; /* since then */
	size_t added, known, failed, traces;
	struct timespec written;
};

static bool target_is_ours(const struct merging *m)
{
	struct stat now;

	if (stat(m->options->merge_into, &now) != 0)
		return !m->has_target;
	return m->has_target && now.st_dev == m->target.st_dev &&
	       now.st_ino == m->target.st_ino &&
	       now.st_size == m->target.st_size &&
	       now.st_mtim.tv_sec == m->target.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == m->target.st_mtim.tv_nsec;
}

static bool write_sum(struct merging *m)
{
	const char *path = m->options->merge_into;
	struct swz_output output;

	if (!target_is_ours(m)) {
		swz_dump_complain("%s: another process has written it "
				  "meanwhile; it is left as it is. Give each "
				  "process a file of its own, and merge these",
				  path);
		return false;
	}
	if (swz_output_open(&output, path) != SWZ_OK) {
		(void)swz_dump_write_failed(path);
		return false;
	}
	swz_write_merged(output.stream, &m->merge);
	if (swz_output_close(&output) != SWZ_OK) {
		(void)swz_dump_write_failed(path);
		return false;
	}
	m->has_target = stat(path, &m->target) == 0;
	m->changed = false;
	clock_gettime(CLOCK_MONOTONIC, &m->written);
	return true;
}

static bool is_due(const struct merging *m)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return m->changed && now.tv_sec - m->written.tv_sec >= SECONDS_BETWEEN;
}

static void complain(const struct merging *m, const char *path,
		     enum swz_merge_status status)
{
	switch (status) {
	case SWZ_MERGE_PARTLY:
		swz_dump_complain("%s: %s has some of its profiles already, "
				  "not all: left out. Merge into another file",
				  path, m->options->merge_into);
		break;
	case SWZ_MERGE_KIND:
		swz_dump_complain("%s: samples and calls cannot be added, nor "
				  "samples with and without --wall: left out",
				  path);
		break;
	case SWZ_MERGE_SAMPLED:
		swz_dump_complain("%s: times are estimates (--timing sampled), "
				  "which cannot be added: left out",
				  path);
		break;
	case SWZ_MERGE_DAMAGED:
		swz_dump_complain("%s: damaged; its times by rank cannot be "
				  "read: left out. Merge its profiles again",
				  path);
		break;
	default:
		break;
	}
}

static void add_profile(struct merging *m, const char *path,
			struct swz_profile *profile)
{
	enum swz_merge_status status;

	if (profile->written) {
		swz_dump_complain("%s: its process is still writing it: left "
				  "out. Try again when that has ended",
				  path);
		m->failed++;
		return;
	}
	if (swz_profile_damaged(profile) && !m->options->quiet)
		swz_dump_complain("%s: damaged; what is left is added", path);
	status = swz_merge_add(&m->merge, profile);
	complain(m, path, status);
	m->added += status == SWZ_MERGE_ADDED;
	m->changed |= status == SWZ_MERGE_ADDED;
	m->known += status == SWZ_MERGE_KNOWN;
	m->failed += status > SWZ_MERGE_KNOWN;
	m->traces += status == SWZ_MERGE_ADDED && swz_profile_traced(profile);
}

static void add_file(struct merging *m, const char *path)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (swz_profile_read(path, &profile, &error) != SWZ_OK) {
		swz_dump_complain("%s: %s", path, error.text);
		m->failed++;
		return;
	}
	if (swz_dump_wants_process(m->options, profile))
		add_profile(m, path, profile);
	swz_profile_free(profile);
}

/* What it holds so far. */
static bool read_target(struct merging *m)
{
	const char *path = m->options->merge_into;
	struct swz_profile *profile;
	struct swz_error error;
	bool good;

	if (stat(path, &m->target) != 0)
		return errno == ENOENT ||
		       swz_dump_write_failed(path) == EXIT_OK;
	if (swz_profile_read(path, &profile, &error) != SWZ_OK) {
		swz_dump_complain("%s: %s. --merge-into adds to a file that it "
				  "has made",
				  path, error.text);
		return false;
	}
	good = profile->header.flags & SWZ_FILE_MERGED &&
	       !swz_profile_damaged(profile);
	if (!good)
		swz_dump_complain("%s: a profile that --merge-into has not "
				  "made, or damaged, is left as it is. Name "
				  "another file",
				  path);
	if (good) {
		enum swz_merge_status status = swz_merge_add(&m->merge,
							     profile);

		complain(m, path, status);
		good = status == SWZ_MERGE_ADDED;
	}
	swz_profile_free(profile);
	m->has_target = true;
	return good;
}

static bool is_target(const struct merging *m, const char *path)
{
	struct stat info;

	return m->has_target && stat(path, &info) == 0 &&
	       info.st_dev == m->target.st_dev &&
	       info.st_ino == m->target.st_ino;
}

static void say_done(const struct merging *m)
{
	if (m->options->quiet)
		return;
	swz_dump_complain("%zu profiles added to %s, which has %" PRIu64 " now",
			  m->added, m->options->merge_into,
			  m->merge.header.merged_profiles);
	if (m->known)
		swz_dump_complain("%zu were in it already", m->known);
	if (m->traces)
		swz_dump_complain("%zu traces: their events are not in the sum",
				  m->traces);
}

static bool add_inputs(struct merging *m, const struct swz_inputs *inputs)
{
	size_t i;

	for (i = 0; i < inputs->count; i++) {
		if (!is_target(m, inputs->paths[i]))
			add_file(m, inputs->paths[i]);
		swz_progress_add(1);
		if (is_due(m) && !write_sum(m))
			return false;
	}
	return true;
}

int swz_dump_merge_into(const struct swz_dump_options *options)
{
	struct merging m = {.options = options};
	struct swz_inputs inputs = {0};
	bool good = read_target(&m);

	clock_gettime(CLOCK_MONOTONIC, &m.written);
	/* what one profile takes the next one takes again */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 28);
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 28);
	if (good) {
		swz_dump_find_inputs(&inputs, options, options->arguments,
				     options->argument_count);
		swz_progress_stage("merging profiles", inputs.count);
		good = add_inputs(&m, &inputs);
		swz_progress_end();
	}
	if (good && m.changed)
		good = write_sum(&m);
	if (good)
		say_done(&m);
	if (good && !m.added && !m.known)
		m.failed++;
	swz_inputs_free(&inputs);
	swz_merge_free(&m.merge);
	return !good ? EXIT_INPUT : m.failed ? EXIT_INPUT : EXIT_OK;
}
