/* A command line names files and directories; options choose some of their
 * processes and threads. */

#include "profile/file/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "profile/file/code_files.h"
#include "profile/file/reader.h"
#include "swizzle/format.h"
#include "util/memory.h"
#include "util/output.h"

/* --- archives ------------------------------------------------------------- */

/* Events are pairs of 32 bits: node above, time and kind below. In a block of
 * words of 64 bits the lower halves become differences, and then the first
 * bytes of all words come first, then the second ones, and so on. That works
 * for any bytes and is undone exactly; of events it makes columns of small
 * numbers. */

#define VERSION 1u
#define BLOCK_BYTES ((size_t)1 << 20)
#define LEVEL 3
/* More than any profile has: 2^32 units. */
#define MOST_BYTES ((uint64_t)1 << 38)

struct head {
	char magic[8];
	uint32_t version;
	uint32_t block_bytes;
	uint64_t bytes; /* of the profile */
};

struct block_head {
	uint64_t offset; /* in the profile */
	uint32_t bytes;  /* of the profile; 0: the end */
	uint32_t packed; /* that follow */
};

static void transform(const uint8_t *from, uint8_t *to, size_t size)
{
	size_t words = size / 8, i, byte;
	uint32_t last = 0;

	for (i = 0; i < words; i++) {
		uint64_t word;
		uint32_t low;

		memcpy(&word, from + 8 * i, 8);
		low = (uint32_t)word;
		word = (word & ~(uint64_t)UINT32_MAX) | (uint32_t)(low - last);
		last = low;
		for (byte = 0; byte < 8; byte++)
			to[byte * words + i] = (uint8_t)(word >> 8 * byte);
	}
	memcpy(to + 8 * words, from + 8 * words, size - 8 * words);
}

static void undo(const uint8_t *from, uint8_t *to, size_t size)
{
	size_t words = size / 8, i, byte;
	uint32_t last = 0;

	for (i = 0; i < words; i++) {
		uint64_t word = 0;

		for (byte = 0; byte < 8; byte++)
			word |= (uint64_t)from[byte * words + i] << 8 * byte;
		last += (uint32_t)word;
		word = (word & ~(uint64_t)UINT32_MAX) | last;
		memcpy(to + 8 * i, &word, 8);
	}
	memcpy(to + 8 * words, from + 8 * words, size - 8 * words);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return !size || (!bytes[0] && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Where the chunks that are added begin. */
static uint64_t added_at(const struct swz_profile *profile)
{
	return (profile->size + SWZ_UNIT_BYTES - 1) / SWZ_UNIT_BYTES *
	       SWZ_UNIT_BYTES;
}

static uint64_t whole_size(const struct swz_profile *profile)
{
	return profile->added_bytes ? added_at(profile) + profile->added_bytes
				    : profile->size;
}

/* Copies the part of those chunks that is in a block of SIZE bytes. */
static void copy_added(const struct swz_profile *profile, uint64_t offset,
		       uint8_t *block, size_t size)
{
	uint64_t start = added_at(profile), skip = 0, from = 0;
	uint64_t end = start + profile->added_bytes;

	if (!profile->added_bytes || offset + size <= start || offset >= end)
		return;
	if (offset < start)
		skip = start - offset;
	else
		from = offset - start;
	memcpy(block + skip, profile->added + from,
	       size - skip < profile->added_bytes - from
		       ? size - skip
		       : profile->added_bytes - from);
}

/* A block of the profile; of a live one, the header as it was read. */
static size_t read_block(const struct swz_profile *profile, uint64_t offset,
			 uint8_t *block)
{
	struct swz_file_header header = profile->header;
	size_t size = BLOCK_BYTES;

	if (size > whole_size(profile) - offset)
		size = (size_t)(whole_size(profile) - offset);
	memset(block, 0, size);
	swz_profile_bytes(profile, offset, block, size);
	swz_run_time_code_undo(profile, offset, block, size);
	copy_added(profile, offset, block, size);
	if (profile->added_bytes)
		header.used_bytes = whole_size(profile);
	if (!offset && size >= sizeof(header))
		memcpy(block, &header, sizeof(header));
	return size;
}

void swz_write_archive(FILE *stream, struct swz_profile *profile)
{
	struct head head = {.version = VERSION,
			    .block_bytes = BLOCK_BYTES,
			    .bytes = whole_size(profile)};
	size_t room = ZSTD_compressBound(BLOCK_BYTES);
	uint8_t *block = swz_allocate(BLOCK_BYTES, 1);
	uint8_t *columns = swz_allocate(BLOCK_BYTES, 1);
	uint8_t *packed = swz_allocate(room, 1);
	struct block_head end = {0};
	uint64_t offset;

	memcpy(head.magic, SWZ_ARCHIVE_MAGIC, sizeof(head.magic));
	fwrite(&head, sizeof(head), 1, stream);
	swz_progress_stage("compressing", head.bytes);
	for (offset = 0; offset < head.bytes && !ferror(stream);
	     offset += BLOCK_BYTES) {
		size_t size = read_block(profile, offset, block), got;
		struct block_head it = {.offset = offset,
					.bytes = (uint32_t)size};

		swz_progress_add(size);
		if (is_zero(block, size))
			continue;
		transform(block, columns, size);
		got = ZSTD_compress(packed, room, columns, size, LEVEL);
		if (ZSTD_isError(got)) /* nothing else can fail */
			swz_out_of_memory();
		it.packed = (uint32_t)got;
		fwrite(&it, sizeof(it), 1, stream);
		fwrite(packed, 1, got, stream);
	}
	swz_progress_end();
	fwrite(&end, sizeof(end), 1, stream);
	free(block);
	free(columns);
	free(packed);
}

/* ---- reading ---- */

bool swz_archive_begins(int fd)
{
	char magic[8];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, SWZ_ARCHIVE_MAGIC, sizeof(magic)) == 0;
}

static enum swz_status damaged(struct swz_error *error, const char *what)
{
	snprintf(error->text, sizeof(error->text), "damaged archive (%s)",
		 what);
	return SWZ_E_FORMAT;
}

static enum swz_status failed(struct swz_error *error, const char *what)
{
	snprintf(error->text, sizeof(error->text), "%s: %s", what,
		 strerror(errno));
	return SWZ_E_SYSTEM;
}

static int open_nameless(void)
{
	const char *directory = getenv("TMPDIR");
	char *path = swz_print("%s/swizzle-XXXXXX",
			       directory && *directory ? directory : "/tmp");
	int fd = mkstemp(path);

	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static bool write_fully(int fd, const uint8_t *bytes, size_t size,
			uint64_t offset)
{
	while (size) {
		ssize_t done = pwrite(fd, bytes, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return true;
}

struct expanding {
	FILE *from;
	int to;
	struct head head;
	uint64_t done; /* blocks may not go back */
	uint8_t *packed, *columns, *block;
	size_t room;
};

/* One block. *more: it was not the last. */
static enum swz_status expand_block(struct expanding *e, bool *more,
				    struct swz_error *error)
{
	struct block_head it;
	size_t got;

	*more = false;
	if (fread(&it, sizeof(it), 1, e->from) != 1)
		return damaged(error, "cut off");
	if (!it.bytes)
		return SWZ_OK;
	if (it.bytes > BLOCK_BYTES || it.packed > e->room ||
	    it.offset < e->done || it.offset > e->head.bytes ||
	    it.bytes > e->head.bytes - it.offset)
		return damaged(error, "a block that does not fit");
	if (fread(e->packed, 1, it.packed, e->from) != it.packed)
		return damaged(error, "cut off");
	got = ZSTD_decompress(e->columns, BLOCK_BYTES, e->packed, it.packed);
	if (ZSTD_isError(got) || got != it.bytes)
		return damaged(error, "a block that cannot be unpacked");
	undo(e->columns, e->block, it.bytes);
	if (!write_fully(e->to, e->block, it.bytes, it.offset))
		return failed(
			error,
			"cannot write a temporary file in TMPDIR or /tmp");
	e->done = it.offset + it.bytes;
	*more = true;
	return SWZ_OK;
}

static enum swz_status expand(struct expanding *e, struct swz_error *error)
{
	enum swz_status status = SWZ_OK;
	bool more = true;

	if (fread(&e->head, sizeof(e->head), 1, e->from) != 1)
		return damaged(error, "cut off");
	if (e->head.version != VERSION || e->head.block_bytes != BLOCK_BYTES) {
		snprintf(error->text, sizeof(error->text),
			 "an archive of another swizzle (version %" PRIu32
			 ", this one reads %u): use the swizzle-dump of "
			 "that one",
			 e->head.version, VERSION);
		return SWZ_E_UNSUPPORTED;
	}
	if (e->head.bytes > MOST_BYTES)
		return damaged(error, "its size");
	if (ftruncate(e->to, (off_t)e->head.bytes) != 0)
		return failed(
			error,
			"cannot write a temporary file in TMPDIR or /tmp");
	while (more && status == SWZ_OK)
		status = expand_block(e, &more, error);
	return status;
}

enum swz_status swz_archive_expand(int fd, int *profile,
				   struct swz_error *error)
{
	struct expanding e = {.to = open_nameless()};
	enum swz_status status;
	int copy;

	*profile = -1;
	if (e.to < 0)
		return failed(error,
			      "cannot make a temporary file in TMPDIR or /tmp");
	copy = dup(fd);
	e.from = copy < 0 ? NULL : fdopen(copy, "rb");
	if (!e.from) {
		status = failed(error, "cannot read it");
		if (copy >= 0)
			close(copy);
		close(e.to);
		return status;
	}
	rewind(e.from);
	e.room = ZSTD_compressBound(BLOCK_BYTES);
	e.packed = swz_allocate(e.room, 1);
	e.columns = swz_allocate(BLOCK_BYTES, 1);
	e.block = swz_allocate(BLOCK_BYTES, 1);
	status = expand(&e, error);
	free(e.packed);
	free(e.columns);
	free(e.block);
	fclose(e.from);
	if (status == SWZ_OK)
		*profile = e.to;
	else
		close(e.to);
	return status;
}

/* --- files --------------------------------------------------------------- */

#define DEFAULT_PREFIX "swizzle.out."

static void add(struct swz_inputs *inputs, char *path)
{
	swz_grow(&inputs->paths, &inputs->capacity, inputs->count,
		 sizeof(*inputs->paths));
	inputs->paths[inputs->count++] = path;
}

void swz_inputs_add_file(struct swz_inputs *inputs, const char *path)
{
	add(inputs, swz_duplicate(path));
}

static bool has_default_name(const char *name)
{
	return strncmp(name, DEFAULT_PREFIX, strlen(DEFAULT_PREFIX)) == 0;
}

/* *START_NS: when its process began; of what does not say so, after all. */
static bool has_magic(const char *path, uint64_t *start_ns)
{
	const size_t bytes = offsetof(struct swz_file_header, end_ticks);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct swz_file_header header;
	ssize_t n;

	*start_ns = UINT64_MAX;
	if (fd < 0)
		return false;
	n = read(fd, &header, bytes);
	close(fd);
	if (n < (ssize_t)sizeof(header.magic) ||
	    memcmp(header.magic, SWZ_FILE_MAGIC, sizeof(header.magic)) != 0)
		return false;
	if (n == (ssize_t)bytes)
		*start_ns = header.start_realtime_ns;
	return true;
}

static bool is_regular(const char *path, struct stat *info)
{
	return stat(path, info) == 0 && S_ISREG(info->st_mode);
}

struct found {
	char *path;
	uint64_t start_ns;
};

/* The first process of a run comes first: headings and names of files are its
 * (numbers of processes begin anew after the highest). */
static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

static enum swz_status add_directory(struct swz_inputs *inputs,
				     const char *path, struct swz_error *error)
{
	struct found *found = NULL;
	size_t count = 0, capacity = 0, i;
	struct dirent *entry;
	DIR *directory = opendir(path);

	if (!directory) {
		snprintf(error->text, sizeof(error->text), "%s",
			 strerror(errno));
		return SWZ_E_SYSTEM;
	}
	while ((entry = readdir(directory))) {
		char *file = swz_print("%s/%s", path, entry->d_name);
		uint64_t start_ns;
		struct stat info;

		if (is_regular(file, &info) &&
		    (has_magic(file, &start_ns) ||
		     has_default_name(entry->d_name))) {
			swz_grow(&found, &capacity, count, sizeof(*found));
			found[count++] = (struct found){file, start_ns};
		} else {
			free(file);
		}
	}
	closedir(directory);
	if (!count) {
		snprintf(error->text, sizeof(error->text),
			 "no profile in this directory");
		return SWZ_E_NOTFOUND;
	}
	qsort(found, count, sizeof(*found), compare_found);
	for (i = 0; i < count; i++)
		add(inputs, found[i].path);
	free(found);
	return SWZ_OK;
}

enum swz_status swz_inputs_add(struct swz_inputs *inputs, const char *path,
			       struct swz_error *error)
{
	struct stat info;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return add_directory(inputs, path, error);
	swz_inputs_add_file(inputs, path);
	return SWZ_OK;
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* "swizzle.out.4067.samples": what belongs to "swizzle.out.4067", if that is
 * there. */
static bool is_half(const char *name)
{
	const char *end = strstr(name, ".samples");
	char *other = end ? swz_print("%.*s", (int)(end - name), name) : NULL;
	struct stat info;
	bool half = other && is_regular(other, &info);

	free(other);
	return half;
}

enum swz_status swz_inputs_add_newest(struct swz_inputs *inputs)
{
	struct stat info, newest_info = {0};
	struct dirent *entry;
	char *newest = NULL;
	DIR *directory = opendir(".");

	if (!directory)
		return SWZ_E_NOTFOUND;
	while ((entry = readdir(directory))) {
		if (!has_default_name(entry->d_name) ||
		    is_half(entry->d_name) ||
		    !is_regular(entry->d_name, &info) ||
		    (newest && !is_newer(&info, &newest_info)))
			continue;
		free(newest);
		newest = swz_duplicate(entry->d_name);
		newest_info = info;
	}
	closedir(directory);
	if (!newest)
		return SWZ_E_NOTFOUND;
	add(inputs, newest);
	return SWZ_OK;
}

void swz_inputs_free(struct swz_inputs *inputs)
{
	size_t i;

	for (i = 0; i < inputs->count; i++)
		free(inputs->paths[i]);
	free(inputs->paths);
	*inputs = (struct swz_inputs){0};
}

/* --- processes ----------------------------------------------------------- */

static bool matches(const char *item, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash && !strchr(item, '/'))
		path = slash + 1;
	return *path && fnmatch(item, path, 0) == 0;
}

bool swz_process_is_named(const struct swz_profile *profile, const char *item)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRId32, profile->header.pid);
	return strcmp(item, pid) == 0 || matches(item, profile->executable) ||
	       (profile->argument_count &&
		matches(item, profile->arguments[0]));
}

/* --- names of processes -------------------------------------------------- */

/* The types and services are Chromium's (its command line's --type=); services
 * are named as in network.mojom.NetworkService. Firefox's processes have
 * -contentproc among their arguments, and their type last. */

/* The text behind it in one of the arguments; they may all be in one, as a
 * process' title is. */
static const char *value_of(const struct swz_profile *profile,
			    const char *option, size_t *length)
{
	for (size_t i = 0; i < profile->argument_count; i++) {
		const char *all = profile->arguments[i];
		const char *at = strstr(all, option);

		if (!at || (at > all && at[-1] != ' '))
			continue;
		at += strlen(option);
		*length = strcspn(at, " .");
		return at;
	}
	return NULL;
}

/* The last word, if OPTION is among those before; likewise. */
static const char *last_behind(const struct swz_profile *profile,
			       const char *option, size_t *length)
{
	const char *last = NULL, *end;
	bool found = false;

	for (size_t i = 0; i < profile->argument_count; i++) {
		const char *all = profile->arguments[i];
		const char *at = strstr(all, option);

		found |= at && (at == all || at[-1] == ' ') &&
			 (!at[strlen(option)] || at[strlen(option)] == ' ');
		last = all;
	}
	if (!found)
		return NULL;
	end = last + strlen(last);
	while (end > last && end[-1] == ' ')
		end--;
	*length = 0;
	while (end - *length > last && end[-1 - (ptrdiff_t)*length] != ' ')
		++*length;
	return end - *length;
}

const char *swz_process_name(const struct swz_profile *profile, char *name,
			     size_t room)
{
	size_t of_type = 0, of_service = 0;
	const char *type = value_of(profile, "--type=", &of_type);
	const char *service = value_of(profile,
				       "--utility-sub-type=", &of_service);

	if (!type)
		type = last_behind(profile, "-contentproc", &of_type);
	if (!type)
		of_type = 0;
	if (!service)
		of_service = 0;
	snprintf(name, room, "%s%s%.*s%s%.*s",
		 swz_base_name(profile->executable), of_type ? " " : "",
		 (int)(of_type < 32 ? of_type : 32), type ? type : "",
		 of_service ? " " : "",
		 (int)(of_service < 32 ? of_service : 32),
		 service ? service : "");
	return name;
}

/* --- threads ------------------------------------------------------------- */

void swz_thread_choice_add(struct swz_thread_choice *choice, const char *item)
{
	swz_grow(&choice->items, &choice->capacity, choice->count,
		 sizeof(*choice->items));
	choice->items[choice->count++] = item;
}

void swz_thread_choice_free(struct swz_thread_choice *choice)
{
	free(choice->items);
	*choice = (struct swz_thread_choice){0};
}

bool swz_thread_is_named(const struct swz_profile_thread *thread,
			 const char *item)
{
	char id[16];

	snprintf(id, sizeof(id), "%" PRId32, thread->record.tid);
	return strcmp(item, id) == 0 || fnmatch(item, thread->name, 0) == 0;
}

bool swz_thread_is_chosen(const struct swz_thread_choice *choice,
			  const struct swz_profile_thread *thread)
{
	size_t i;

	for (i = 0; i < choice->count; i++)
		if (swz_thread_is_named(thread, choice->items[i]))
			return true;
	return !choice->count;
}

/* --- who still writes ---------------------------------------------------- */

bool swz_has_writer(int fd, const struct swz_file_header *header)
{
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		(void)flock(fd, LOCK_UN);
	else if (errno == EWOULDBLOCK)
		return true;
	return !(header->flags & SWZ_FILE_ENDED) && header->process_start &&
	       header->pid > 0 &&
	       swz_process_start(header->pid) == header->process_start;
}

#define WAIT_NS 2000000
#define MOST_WAITS 2500 /* 5 s */

static bool read_header(int fd, struct swz_file_header *header)
{
	return pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
	       memcmp(header->magic, SWZ_FILE_MAGIC, sizeof(header->magic)) ==
		       0;
}

bool swz_file_header_read(const char *path, struct swz_file_header *header)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool is = fd >= 0 && read_header(fd, header);

	if (fd >= 0)
		close(fd);
	return is;
}

bool swz_wait_for_sampler(const char *path)
{
	const struct timespec pause = {0, WAIT_NS};
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct swz_file_header header;
	uint64_t start;
	int waits = 0;

	if (fd < 0)
		return false;
	/* a process that was gone before it was looked at has a start of 0 */
	if (read_header(fd, &header) && header.flags & SWZ_FILE_SAMPLES &&
	    !(header.flags & SWZ_FILE_ENDED) &&
	    ((start = swz_process_start(header.pid)) == 0 ||
	     start != header.process_start))
		for (; waits < MOST_WAITS; waits++) {
			if (flock(fd, LOCK_SH | LOCK_NB) == 0 ||
			    errno != EWOULDBLOCK)
				break;
			nanosleep(&pause, NULL);
		}
	close(fd);
	return waits > 0;
}

const char *swz_full_reason(const struct swz_file_header *header)
{
	switch (header->full) {
	case SWZ_FULL_NOT:
		return NULL;
	case SWZ_FULL_DISK:
		return "the disk was full";
	case SWZ_FULL_LIMIT:
		return "longer files were not allowed (ulimit -f)";
	case SWZ_FULL_NAME:
		return "the file was removed, or the process could not open it "
		       "any more";
	case SWZ_FULL_MEMORY:
		return "there was no memory";
	default:
		return "there was no more room";
	}
}
