/* A profile in its place gets chunks behind its last one, and only when these
 * are in the file does the header count them: whatever happens in between, it
 * is the profile that it was. */

#include "tools/dump/embed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/file/archive.h"
#include "profile/names/embed.h"
#include "tools/dump/message.h"
#include "tools/dump/target.h"

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

void swz_dump_add_names(struct swz_profile *profile,
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

	if (swz_output_open(&output, profile->name) != SWZ_OK)
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
		swz_dump_complain("%s: %zu names and %zu source lines added",
				  profile->name, result.names, result.lines);
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
