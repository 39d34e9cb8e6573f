/* A profile is mapped, shared, while it is written: /proc/PID/maps names it.
 * Its header says that it is one. */

#include "top/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process_start.h"
#include "profile/support/memory.h"
#include "swizzle/format.h"

/* Of a regular file; *inode is set. */
static bool read_header(const char *path, struct swz_file_header *header,
			uint64_t *inode)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	     pread(fd, header, sizeof(*header), 0) == sizeof(*header) &&
	     memcmp(header->magic, SWZ_FILE_MAGIC, sizeof(header->magic)) ==
		     0 &&
	     !(header->flags & SWZ_FILE_SAMPLES);
	close(fd);
	*inode = is ? st.st_ino : 0;
	return is;
}

bool swz_top_profile_header(const char *path, struct swz_file_header *header)
{
	uint64_t inode;

	return read_header(path, header, &inode);
}

/* Who reads a profile, as swizzle-ctl does, may have it mapped, too. Either may
 * differ where the process is in a namespace: of numbers, or of time. */
static bool is_written_by(const struct swz_file_header *header, int32_t pid)
{
	return (int32_t)header->pid == pid ||
	       header->process_start == swz_process_start(pid);
}

/* *OWN: it is the process's own. */
static bool is_profile(int32_t pid, const char *path, uint64_t inode, bool *own)
{
	struct swz_file_header header;
	uint64_t found;

	if (!read_header(path, &header, &found) || found != inode)
		return false;
	*own = is_written_by(&header, pid);
	return true;
}

void swz_top_profiles_beside(const char *profile,
			     void (*visit)(void *context, const char *path),
			     void *context)
{
	const char *slash = strrchr(profile, '/');
	char *folder = slash ? strndup(profile, (size_t)(slash - profile) + 1)
			     : NULL;
	DIR *directory = folder ? opendir(folder) : NULL;
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path;

		if (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN)
			continue;
		path = swz_print("%s%s", folder, entry->d_name);
		visit(context, path);
		free(path);
	}
	if (directory)
		closedir(directory);
	free(folder);
}

/* The process may have another root. */
static char *find_profile(int32_t pid, const char *path, uint64_t inode,
			  bool *own)
{
	char *inside;

	if (is_profile(pid, path, inode, own))
		return swz_duplicate(path);
	inside = swz_print("/proc/%d/root%s", (int)pid, path);
	if (is_profile(pid, inside, inode, own))
		return inside;
	free(inside);
	return NULL;
}

static bool is_library(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strstr(slash, "libswizzle.so");
}

/* A child that was forked while recording was stopped has its parent's, and the
 * library. */
char *swz_top_profile_of(int32_t pid)
{
	char *name = swz_print("/proc/%d/maps", (int)pid), *line = NULL;
	FILE *file = fopen(name, "re");
	char *found = NULL;
	bool own = false, has_library = false;
	size_t room = 0;

	free(name);
	if (!file)
		return NULL;
	while (!own && getline(&line, &room, file) > 0) {
		char rights[8], *profile;
		uint64_t inode;
		int path = 0;

		if (sscanf(line, "%*x-%*x %7s %*x %*s %" SCNu64 " %n", rights,
			   &inode, &path) < 2 ||
		    !path || line[path] != '/')
			continue;
		line[strcspn(line, "\n")] = '\0';
		has_library |= is_library(line + path);
		profile = rights[3] == 's'
				  ? find_profile(pid, line + path, inode, &own)
				  : NULL;
		if (profile && (own || !found)) {
			free(found);
			found = profile;
		} else {
			free(profile);
		}
	}
	free(line);
	fclose(file);
	if (!own && !has_library) {
		free(found);
		found = NULL;
	}
	return found;
}

static char *read_file(int32_t pid, const char *name, size_t *size)
{
	char *path = swz_print("/proc/%d/%s", (int)pid, name), *text;
	FILE *file = fopen(path, "re");

	free(path);
	*size = 0;
	if (!file)
		return NULL;
	text = swz_allocate(4096, 1);
	*size = fread(text, 1, 4095, file);
	fclose(file);
	return text;
}

char *swz_top_process_command(int32_t pid)
{
	size_t size;
	char *text = read_file(pid, "cmdline", &size);

	if (text && !size) {
		free(text);
		text = read_file(pid, "comm", &size);
	}
	if (!text)
		return swz_duplicate("");
	for (size_t i = 0; i < size; i++)
		if (!text[i] || text[i] == '\n')
			text[i] = i + 1 < size ? ' ' : '\0';
	return text;
}
