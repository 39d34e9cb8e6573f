/* Which profile files a command line means. */

#include "profile/file/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/support/memory.h"

#define DEFAULT_PREFIX "swizzle.out."

static void add(struct swz_inputs *inputs, char *path)
{
	swz_grow(&inputs->paths, &inputs->capacity, inputs->count,
		 sizeof(*inputs->paths));
	inputs->paths[inputs->count++] = path;
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
	add(inputs, swz_duplicate(path));
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
