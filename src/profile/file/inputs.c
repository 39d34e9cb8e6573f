/* Which profile files a command line means. */

#include "profile/file/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

static bool has_magic(const char *path)
{
	char magic[sizeof(SWZ_FILE_MAGIC) - 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool same;

	if (fd < 0)
		return false;
	same = read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, SWZ_FILE_MAGIC, sizeof(magic)) == 0;
	close(fd);
	return same;
}

static bool is_regular(const char *path, struct stat *info)
{
	return stat(path, info) == 0 && S_ISREG(info->st_mode);
}

static int compare_paths(const void *left, const void *right)
{
	char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

static enum swz_status add_directory(struct swz_inputs *inputs,
				     const char *path, struct swz_error *error)
{
	size_t before = inputs->count;
	struct dirent *entry;
	DIR *directory = opendir(path);

	if (!directory) {
		snprintf(error->text, sizeof(error->text), "%s",
			 strerror(errno));
		return SWZ_E_SYSTEM;
	}
	while ((entry = readdir(directory))) {
		char *file = swz_print("%s/%s", path, entry->d_name);
		struct stat info;

		if (is_regular(file, &info) &&
		    (has_default_name(entry->d_name) || has_magic(file)))
			add(inputs, file);
		else
			free(file);
	}
	closedir(directory);
	if (inputs->count == before) {
		snprintf(error->text, sizeof(error->text),
			 "no profile in this directory");
		return SWZ_E_NOTFOUND;
	}
	qsort(inputs->paths + before, inputs->count - before, sizeof(char *),
	      compare_paths);
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
