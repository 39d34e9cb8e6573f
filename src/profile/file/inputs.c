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

#include "swizzle/format.h"
#include "base/status.h"
#include "base/syscall.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/file/reader.h"

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
