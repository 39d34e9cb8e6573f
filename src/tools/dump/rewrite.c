/* Writes profiles as profiles: sums of several (--merge-into), one with its
 * names in it (--embed), or its bytes as they are. A file is replaced when it
 * is complete, and never while another swizzle-dump writes it. */

#include "tools/dump/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/printable.h"
#include "profile/costs/merge.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/formats/exports/exports.h"
#include "profile/names/catalog.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"
#include "util/memory.h"
#include "util/output.h"

/* --- sums of profiles ---------------------------------------------------- */

/* The sum is written every half minute, and in one piece: whoever is ended
 * before all is done begins anew with the same command, and what is in the file
 * already is passed over. */

#define SECONDS_BETWEEN 30

/* A run with -m both has a sum of its counts and one of its samples, which lies
 * beside the other and is called like it, with ".samples". */
struct merging {
	const struct swz_dump_options *options;
	const char *path;
	struct merging *beside; /* NULL: this one is */
	struct swz_merge merge;
	struct stat target; /* as it was read or written last */
	bool has_target;
	bool changed; /* since then */
	bool has_any;
	size_t added, known, failed, traces;
	struct timespec written;
};

static bool target_is_ours(const struct merging *m)
{
	struct stat now;

	if (stat(m->path, &now) != 0)
		return !m->has_target;
	return m->has_target && now.st_dev == m->target.st_dev &&
	       now.st_ino == m->target.st_ino &&
	       now.st_size == m->target.st_size &&
	       now.st_mtim.tv_sec == m->target.st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == m->target.st_mtim.tv_nsec;
}

static bool write_sum(struct merging *m)
{
	const char *path = m->path;
	struct swz_output output;

	if (!target_is_ours(m)) {
		swz_dump_complain("%s: another process has written it "
				  "meanwhile; it is left as it is. Give each "
				  "process a file of its own, and merge these",
				  path);
		return false;
	}
	if (swz_output_open(&output, path, SWZ_OUTPUT_PRIVATE) != SWZ_OK) {
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
				  path, m->path);
		break;
	case SWZ_MERGE_KIND:
		swz_dump_complain(
			"%s: samples and calls cannot be added, nor "
			"counts without times (-m count) to either, "
			"nor samples with and without --no-wall: left "
			"out",
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
	m->has_any |= status == SWZ_MERGE_ADDED;
	m->known += status == SWZ_MERGE_KNOWN;
	m->failed += status > SWZ_MERGE_KNOWN;
	m->traces += status == SWZ_MERGE_ADDED && swz_profile_traced(profile);
}

/* The samples beside counts, which need not be given. */
static void add_beside(struct merging *m, struct swz_profile *counts)
{
	struct swz_dump_input input = {.profiles = &counts, .count = 1};

	swz_dump_find_beside(&input, true);
	for (size_t i = 0; i < input.sample_count; i++) {
		add_profile(m->beside, input.samples[i]->name,
			    input.samples[i]);
		swz_profile_free(input.samples[i]);
	}
	free(input.samples);
}

/* Samples of a run whose calls were counted: where these come is known when all
 * else is there. */
static bool is_half(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_SAMPLES &&
	       profile->header.counts_pid;
}

static void add_half(struct merging *m, const char *path,
		     struct swz_profile *profile)
{
	add_profile(m->merge.header.flags & SWZ_FILE_COUNTS ? m->beside : m,
		    path, profile);
}

/* HALVES: the paths of those, to be added later; NULL: this is later. */
static void add_one(struct merging *m, const char *path,
		    struct swz_profile *profile, struct swz_inputs *halves)
{
	if (!is_half(profile)) {
		add_profile(m, path, profile);
		if (profile->header.flags & SWZ_FILE_COUNTS)
			add_beside(m, profile);
	} else if (halves) {
		swz_inputs_add_file(halves, path);
	} else {
		add_half(m, path, profile);
	}
}

static void add_file(struct merging *m, const char *path,
		     struct swz_inputs *halves)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (swz_profile_read(path, &profile, &error) != SWZ_OK) {
		swz_dump_complain("%s: %s", path, error.text);
		m->failed++;
		return;
	}
	if (swz_dump_wants_process(m->options, profile))
		add_one(m, path, profile, halves);
	swz_profile_free(profile);
}

/* Reads the sum so far. */
static bool read_target(struct merging *m)
{
	const char *path = m->path;
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
	m->has_target = m->has_any = true;
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
	swz_dump_complain("%zu profile%s added to %s, which has %" PRIu64
			  " now",
			  m->added, swz_s(m->added), m->path,
			  m->merge.header.merged_profiles);
	if (m->known)
		swz_dump_complain("%zu %s in it already", m->known,
				  m->known == 1 ? "was" : "were");
	if (m->traces)
		swz_dump_complain("%zu trace%s: the events are not in the sum",
				  m->traces, swz_s(m->traces));
}

static bool add_inputs(struct merging *m, const struct swz_inputs *inputs,
		       struct swz_inputs *halves)
{
	size_t i;

	for (i = 0; i < inputs->count; i++) {
		if (!is_target(m, inputs->paths[i]) &&
		    !is_target(m->beside, inputs->paths[i]))
			add_file(m, inputs->paths[i], halves);
		swz_progress_add(1);
		if ((is_due(m) && !write_sum(m)) ||
		    (is_due(m->beside) && !write_sum(m->beside)))
			return false;
	}
	return true;
}

static bool end_sum(struct merging *m)
{
	if (m->changed && !write_sum(m))
		return false;
	if (!m->beside && !m->has_any)
		return true;
	say_done(m);
	return true;
}

int swz_dump_merge_into(const struct swz_dump_options *options)
{
	char *path = swz_print("%s.samples", options->merge_into);
	struct merging beside = {.options = options, .path = path};
	struct merging m = {.options = options,
			    .path = options->merge_into,
			    .beside = &beside};
	struct swz_inputs inputs = {0}, halves = {0};
	bool good = read_target(&m) && read_target(&beside);

	clock_gettime(CLOCK_MONOTONIC, &m.written);
	beside.written = m.written;
	/* what one profile takes the next one takes again */
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 28);
	(void)mallopt(M_TRIM_THRESHOLD, 1 << 28);
	if (good) {
		swz_dump_find_inputs(&inputs, options, options->arguments,
				     options->argument_count);
		swz_progress_stage("merging profiles", inputs.count);
		good = add_inputs(&m, &inputs, &halves) &&
		       add_inputs(&m, &halves, NULL);
		swz_progress_end();
	}
	good = good && end_sum(&m) && end_sum(&beside);
	m.failed += beside.failed;
	if (good && !m.added && !m.known && !beside.added && !beside.known)
		m.failed++;
	swz_inputs_free(&inputs);
	swz_inputs_free(&halves);
	swz_merge_free(&m.merge);
	swz_merge_free(&beside.merge);
	free(path);
	return !good ? EXIT_INPUT : m.failed ? EXIT_INPUT : EXIT_OK;
}

/* --- names put into profiles --------------------------------------------- */

/* A profile in its place gets chunks behind its last one, and only when these
 * are in the file does the header count them: whatever happens in between, it
 * is the profile that it was. */

static void collect(struct swz_profile *profile,
		    const struct swz_dump_options *options,
		    struct swz_embed_result *result)
{
	struct swz_catalog_options catalog_options = {
		.symbols = true,
		.lines = true,
		.quiet = options->quiet,
		.files = &options->files,
	};
	struct swz_catalog catalog;
	struct swz_binding binding;

	swz_catalog_begin(&catalog, &catalog_options);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_embed_collect(&binding, result);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
}

/* Adds them to what an archive of the profile will hold. Says so where that
 * cannot be done; the archive is as good as the profile then. */
static void dump_add_names(struct swz_profile *profile,
			   const struct swz_dump_options *options)
{
	struct swz_embed_result result;

	/* what a broken chunk takes for its own would be read as such */
	if (swz_profile_damaged(profile)) {
		if (!options->quiet)
			swz_dump_complain("%s: damaged; the archive gets no "
					  "names",
					  profile->name);
		return;
	}
	collect(profile, options, &result);
	free(profile->added);
	profile->added = result.chunks;
	profile->added_bytes = result.bytes;
}

static bool write_at(int fd, const void *bytes, size_t size, uint64_t offset)
{
	const char *from = bytes;

	while (size) {
		ssize_t done = pwrite(fd, from, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		from += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return true;
}

/* Behind the profile's last chunk. False: errno says why; it is as it was. */
static bool append(int fd, const struct swz_profile *profile)
{
	static const char zeros[SWZ_UNIT_BYTES];
	uint64_t used = profile->header.used_bytes;
	uint64_t start = (used + SWZ_UNIT_BYTES - 1) / SWZ_UNIT_BYTES *
			 SWZ_UNIT_BYTES;
	uint64_t end = start + profile->added_bytes;
	struct swz_file_header now;
	struct stat info;
	int error;

	if (fstat(fd, &info) != 0)
		return false;
	if (pread(fd, &now, sizeof(now), 0) != (ssize_t)sizeof(now) ||
	    memcmp(&now, &profile->header, sizeof(now)) != 0) {
		errno = ESTALE; /* it is another one now */
		return false;
	}
	if (write_at(fd, zeros, (size_t)(start - used), used) &&
	    write_at(fd, profile->added, profile->added_bytes, start) &&
	    fdatasync(fd) == 0 &&
	    write_at(fd, &end, sizeof(end),
		     offsetof(struct swz_file_header, used_bytes)))
		return true;
	error = errno;
	if ((uint64_t)info.st_size < end)
		(void)!ftruncate(fd, info.st_size);
	errno = error;
	return false;
}

static int append_to_file(const struct swz_profile *profile)
{
	int fd = open(profile->name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	int status = EXIT_OK;

	if (fd < 0 || !append(fd, profile))
		status = swz_dump_write_failed(profile->name);
	if (fd >= 0)
		close(fd);
	return status;
}

static int replace_archive(struct swz_profile *profile)
{
	struct swz_output output;

	if (swz_output_open(&output, profile->name, SWZ_OUTPUT_PRIVATE) !=
	    SWZ_OK)
		return swz_dump_write_failed(profile->name);
	swz_write_archive(output.stream, profile);
	if (swz_output_close(&output) != SWZ_OK)
		return swz_dump_write_failed(profile->name);
	return EXIT_OK;
}

static int embed(struct swz_profile *profile,
		 const struct swz_dump_options *options)
{
	struct swz_embed_result result;
	int status = EXIT_OK;

	if (profile->written) {
		swz_dump_complain("%s: its process is still writing it. Try "
				  "again when that has ended",
				  profile->name);
		return EXIT_INPUT;
	}
	if (swz_profile_damaged(profile)) {
		swz_dump_complain("%s: damaged, so no names were added",
				  profile->name);
		return EXIT_INPUT;
	}
	collect(profile, options, &result);
	profile->added = result.chunks;
	profile->added_bytes = result.bytes;
	if (result.bytes)
		status = profile->archived ? replace_archive(profile)
					   : append_to_file(profile);
	if (status == EXIT_OK && !options->quiet)
		swz_dump_complain("%s: %zu name%s and %zu source line%s added",
				  profile->name, result.names,
				  swz_s(result.names), result.lines,
				  swz_s(result.lines));
	return status;
}

int swz_dump_embed(struct swz_dump_input *input,
		   const struct swz_dump_options *options)
{
	int status = EXIT_OK, one;
	size_t i;

	for (i = 0; i < input->count; i++) {
		one = embed(input->profiles[i], options);
		if (one != EXIT_OK)
			status = one;
	}
	return status;
}

/* --- profiles as they are ------------------------------------------------ */

/* Nothing is added up here, and no name is looked up. */

int swz_dump_profiles(struct swz_dump_input *input,
		      const struct swz_dump_options *options)
{
	struct swz_output output;
	int status = EXIT_OK;
	char *path;
	size_t i;

	if (options->format->prefix && input->count > 1) {
		swz_dump_complain("the format %s is for one profile at a time",
				  options->format->name);
		return EXIT_USAGE;
	}
	path = swz_dump_output_path(options, input->profiles[0]->header.pid);
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		status = swz_dump_write_failed(path);
		free(path);
		return status;
	}
	for (i = 0; i < input->count && !ferror(output.stream); i++) {
		if (i)
			putc('\n', output.stream);
		if (options->format->takes & SWZ_TAKES_NAMES && options->embed)
			dump_add_names(input->profiles[i], options);
		options->format->profile(output.stream, input->profiles[i]);
	}
	status = swz_dump_end_output(&output, path, options);
	free(path);
	return status;
}

static bool write_file(FILE *stream, const char *path,
		       const struct swz_dump_options *options)
{
	struct swz_error error;
	uint64_t problems;

	if (options->format->file(stream, path, options->table.rows, &problems,
				  &error) != SWZ_OK) {
		swz_dump_complain("%s: %s", path, error.text);
		return false;
	}
	if (problems && !options->quiet)
		swz_dump_complain("%s: %" PRIu64
				  " faults, which are marked by '!'",
				  path, problems);
	return true;
}

int swz_dump_files(const struct swz_dump_options *options)
{
	const char *path = options->output ? options->output : "-";
	struct swz_inputs inputs = {0};
	struct swz_output output;
	int status = EXIT_INPUT;
	size_t failed = 0, i;

	swz_dump_find_inputs(&inputs, options, options->arguments,
			     options->argument_count);
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		swz_inputs_free(&inputs);
		return swz_dump_write_failed(path);
	}
	for (i = 0; i < inputs.count && !ferror(output.stream); i++) {
		if (status == EXIT_OK)
			putc('\n', output.stream);
		if (write_file(output.stream, inputs.paths[i], options))
			status = EXIT_OK;
		else
			failed++;
	}
	swz_inputs_free(&inputs);
	if (status != EXIT_OK)
		swz_output_discard(&output);
	else if (swz_output_close(&output) != SWZ_OK)
		return swz_dump_write_failed(path);
	return failed ? EXIT_INPUT : status;
}
