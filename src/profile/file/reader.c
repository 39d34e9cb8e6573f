/* The reader of profile files.
 *
 * The file is loaded (load.c), its records are collected (scan.c), then put in
 * order (index.c); what asks for them is in lookup.c and ticks.c. */

#include "profile/file/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/file/archive.h"
#include "profile/file/code_chunk.h"
#include "profile/file/index.h"
#include "profile/file/load.h"
#include "profile/support/memory.h"
#include "profile/file/ranks.h"
#include "profile/file/run_time_code.h"
#include "profile/file/scan.h"
#include "profile/file/signatures.h"
#include "profile/file/summaries.h"
#include "profile/file/ticks.h"
#include "profile/file/writer.h"

static enum swz_status fail(struct swz_error *error, enum swz_status status,
			    const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static enum swz_status fail(struct swz_error *error, enum swz_status status,
			    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	/* cppcheck-suppress ctuuninitvar ; it is being filled in */
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	return status;
}

static enum swz_status check_header(const uint8_t *bytes, size_t size,
				    struct swz_file_header *header,
				    struct swz_error *error)
{
	size_t magic = sizeof(header->magic);

	if (size == 0)
		return fail(error, SWZ_E_NOTFOUND, "the file is empty");
	if (size < magic || memcmp(bytes, SWZ_FILE_MAGIC, magic) != 0)
		return fail(error, SWZ_E_FORMAT, "not a swizzle profile");
	if (size < sizeof(*header))
		return fail(error, SWZ_E_FORMAT,
			    "cut off within its header (%zu bytes)", size);
	memcpy(header, bytes, sizeof(*header));
	if (header->byte_order != SWZ_FILE_BYTE_ORDER)
		return fail(error, SWZ_E_UNSUPPORTED,
			    "unknown byte order %#" PRIx32, header->byte_order);
	if (header->version != SWZ_FILE_VERSION)
		return fail(error, SWZ_E_UNSUPPORTED,
			    header->version < SWZ_FILE_VERSION
				    ? "recorded by an older swizzle (file "
				      "format %" PRIu32 ", this one reads "
				      "%u): record it again"
				    : "recorded by a newer swizzle (file "
				      "format %" PRIu32 ", this one reads "
				      "%u): use the swizzle-dump of that one",
			    header->version, SWZ_FILE_VERSION);
	if (header->header_bytes != SWZ_HEADER_BYTES)
		return fail(error, SWZ_E_FORMAT,
			    "damaged header (its size is given as %" PRIu32 ")",
			    header->header_bytes);
	return SWZ_OK;
}

/* Takes DATA over, and FD, from which events are read; -1: they are in DATA,
 * which malloc has made. AVAILABLE is the size of the file. */
static struct swz_profile *begin(const char *name, uint8_t *data, size_t size,
				 uint64_t available, int fd,
				 const struct swz_file_header *header)
{
	struct swz_profile *profile = swz_allocate(1, sizeof(*profile));

	profile->fd = fd;
	profile->mapped = fd >= 0;
	profile->mapped_bytes = profile->mapped ? size : 0;
	profile->name = swz_duplicate(name);
	profile->data = data;
	profile->size = size;
	profile->header = *header;
	profile->executable = "";
	profile->cwd = "";
	if (header->used_bytes > available)
		profile->damage.missing_bytes = header->used_bytes - available;
	else if (header->used_bytes < SWZ_HEADER_BYTES)
		profile->damage.bad_chunks++;
	return profile;
}

/* FROM: as swz_scan has it. OWNER: of the file; NULL: there is none. */
static enum swz_status parse(struct swz_profile *profile,
			     struct swz_loading *from, const uid_t *owner,
			     struct swz_error *error)
{
	struct swz_scan scan = {.profile = profile, .from = from};
	bool loaded = swz_scan_chunks(&scan);

	if (!loaded)
		(void)fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	swz_profile_calibrate(profile);
	swz_run_time_code_index(&scan, owner);
	swz_profile_index(&scan);
	return loaded ? SWZ_OK : SWZ_E_SYSTEM;
}

enum swz_status swz_profile_parse(const char *name, const void *bytes,
				  size_t size, struct swz_profile **out,
				  struct swz_error *error)
{
	struct swz_file_header header = {0};
	enum swz_status status;
	size_t used = size;
	uint8_t *data;

	*out = NULL;
	status = check_header(bytes, size, &header, error);
	if (status != SWZ_OK)
		return status;
	if (header.used_bytes < used)
		used = (size_t)header.used_bytes;
	data = swz_allocate(used, 1);
	memcpy(data, bytes, used);
	*out = begin(name, data, used, size, -1, &header);
	return parse(*out, NULL, NULL, error);
}

static enum swz_status read_open_file(int fd, const char *path,
				      struct swz_profile **out,
				      struct swz_error *error)
{
	uint8_t head[sizeof(struct swz_file_header)];
	struct swz_file_header header = {0};
	enum swz_status status;
	struct stat info;
	struct swz_loading from = {.fd = fd};
	struct swz_profile *profile;
	uint64_t size;
	ssize_t got;
	bool written;

	if (fstat(fd, &info) != 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	if (S_ISDIR(info.st_mode))
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(EISDIR));
	if (!S_ISREG(info.st_mode))
		return fail(error, SWZ_E_FORMAT, "not a regular file");
	got = swz_read_fully(fd, head, sizeof(head), 0);
	if (got < 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	status = check_header(head, (size_t)got, &header, error);
	if (status != SWZ_OK)
		return status;
	written = swz_has_writer(fd, &header);
	size = (uint64_t)info.st_size;
	if (header.used_bytes < size)
		size = header.used_bytes;
	from.size = size;
	from.data = mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (from.data == MAP_FAILED)
		return fail(error, SWZ_E_NOMEM,
			    "no memory for its %" PRIu64 " bytes", size);
	/* a trace has holes where its events are */
	if (!(header.flags & SWZ_FILE_TRACED))
		swz_use_large_pages(from.data, size);
	profile = begin(path, from.data, size, (uint64_t)info.st_size, fd,
			&header);
	profile->written = written && !profile->header.snapshot_ticks;
	status = parse(profile, &from, &info.st_uid, error);
	if (status != SWZ_OK) {
		profile->fd = -1; /* the caller's to close */
		swz_profile_free(profile);
		return status;
	}
	/* a directory may hold more profiles than files may be open */
	if (!from.partial && swz_load(&from, from.size)) {
		close(fd);
		profile->fd = -1;
	}
	*out = profile;
	return status;
}

enum swz_status swz_profile_read(const char *path, struct swz_profile **out,
				 struct swz_error *error)
{
	enum swz_status status;
	bool archived;
	int fd;

	*out = NULL;
	/* O_NONBLOCK: do not wait for a writer where the path is a FIFO */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail(error, SWZ_E_SYSTEM, "%s", strerror(errno));
	archived = swz_archive_begins(fd);
	if (archived) {
		int archive = fd;

		status = swz_archive_expand(archive, &fd, error);
		close(archive);
		if (status != SWZ_OK)
			return status;
	}
	status = read_open_file(fd, path, out, error);
	if (status != SWZ_OK)
		close(fd);
	else if (*out)
		(*out)->archived = archived;
	return status;
}

void swz_profile_free(struct swz_profile *profile)
{
	if (!profile)
		return;
	free(profile->name);
	if (profile->mapped)
		munmap(profile->data,
		       profile->mapped_bytes ? profile->mapped_bytes : 1);
	else
		free(profile->data);
	if (profile->fd >= 0)
		close(profile->fd);
	free(profile->event_chunks);
	free(profile->arguments);
	free(profile->labels);
	free(profile->sources);
	swz_ranks_free(profile);
	free(profile->modules);
	free(profile->functions);
	free(profile->by_address);
	free(profile->threads);
	free(profile->spans);
	free(profile->unwound);
	free(profile->switches);
	free(profile->marks);
	free(profile->value_chunks);
	swz_signatures_free(profile);
	swz_summaries_free(profile);
	free(profile->symbols);
	free(profile->lines);
	free(profile->added);
	swz_run_time_code_free(profile);
	free(profile);
}

bool swz_profile_damaged(const struct swz_profile *profile)
{
	const struct swz_damage *damage = &profile->damage;

	return damage->missing_bytes || damage->bad_chunks ||
	       damage->stray_nodes;
}
