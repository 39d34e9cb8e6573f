/* In a directory of debug files there may be a tree by build-id, a tree that
 * mirrors the file system, or just files. Each file that is tried must have the
 * module's build-id, so it does not matter how it came there. */

#include "profile/names/debug_files.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

#define USUAL_DIRECTORY "/usr/lib/debug"
/* Beside the module, in .debug beside it. '+': checksums are compared. */
#define BESIDE "+:.debug"

const struct swz_debug_files swz_debug_files_usual = {.usual = (char *)BESIDE
						      ":" USUAL_DIRECTORY};

/* libdwfl finds by name what has no build-id. Its list is separated by colons.
 */
static void extend_usual(struct swz_debug_files *files, const char *directory)
{
	const char *before = files->usual ? files->usual
					  : swz_debug_files_usual.usual;
	char *longer = strchr(directory, ':')
			       ? swz_duplicate(before)
			       : swz_print("%s:%s", before, directory);

	free(files->usual);
	files->usual = longer;
}

static char *directory_at(const char *path)
{
	char *whole = realpath(path, NULL);
	struct stat info;

	if (whole && stat(whole, &info) == 0 && !S_ISDIR(info.st_mode)) {
		free(whole);
		whole = NULL;
		errno = ENOTDIR;
	}
	return whole;
}

static void add(struct swz_debug_files *files, char *directory)
{
	swz_grow(&files->directories, &files->capacity, files->count,
		 sizeof(*files->directories));
	files->directories[files->count++] = directory;
	extend_usual(files, directory);
}

int swz_debug_files_add(struct swz_debug_files *files, const char *path)
{
	char *directory = directory_at(path);

	if (!directory)
		return -1;
	add(files, directory);
	return 0;
}

int swz_debug_files_set_root(struct swz_debug_files *files, const char *path)
{
	char *root = directory_at(path);

	if (!root)
		return -1;
	free(files->root);
	files->root = root;
	add(files, swz_print("%s" USUAL_DIRECTORY, root));
	return 0;
}

void swz_debug_files_free(struct swz_debug_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		free(files->directories[i]);
	free(files->directories);
	free(files->usual);
	free(files->root);
	*files = (struct swz_debug_files){0};
}

char *swz_debug_files_module(const struct swz_debug_files *files,
			     const char *path)
{
	return files->root ? swz_print("%s%s", files->root, path)
			   : swz_duplicate(path);
}

int swz_debug_files_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;

	if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool has_information(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header) ||
		    header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, strings, header.sh_name);
		if (header.sh_type == SHT_SYMTAB ||
		    (name && strcmp(name, ".debug_info") == 0))
			return true;
	}
	return false;
}

static bool belongs_to(int fd, const uint8_t *build_id, size_t build_id_bytes)
{
	const void *found;
	bool belongs;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!elf)
		return false;
	belongs = dwelf_elf_gnu_build_id(elf, &found) ==
			  (ssize_t)build_id_bytes &&
		  memcmp(found, build_id, build_id_bytes) == 0 &&
		  has_information(elf);
	elf_end(elf);
	return belongs;
}

/* Takes PATH over. */
static int try(char *path, const uint8_t *build_id, size_t build_id_bytes,
	       char **found)
{
	int fd = swz_debug_files_open(path);

	if (fd >= 0 && belongs_to(fd, build_id, build_id_bytes)) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -1;
}

/* To be freed. */
static char *path_by_build_id(const char *directory, const uint8_t *build_id,
			      size_t build_id_bytes)
{
	char digits[2 * 32 + 1];
	size_t i;

	for (i = 0; i < build_id_bytes; i++) {
		digits[2 * i] = "0123456789abcdef"[build_id[i] >> 4];
		digits[2 * i + 1] = "0123456789abcdef"[build_id[i] & 15];
	}
	digits[2 * i] = '\0';
	return swz_print("%s/.build-id/%.2s/%s.debug", directory, digits,
			 digits + 2);
}

static int find_in(const char *directory, const char *path,
		   const uint8_t *build_id, size_t build_id_bytes, char **found)
{
	const char *name = swz_base_name(path);
	int fd = try(path_by_build_id(directory, build_id, build_id_bytes),
		     build_id, build_id_bytes, found);

	if (fd < 0)
		fd = try(swz_print("%s%s.debug", directory, path), build_id,
			 build_id_bytes, found);
	if (fd < 0)
		fd = try(swz_print("%s%s", directory, path), build_id,
			 build_id_bytes, found);
	if (fd < 0)
		fd = try(swz_print("%s/%s.debug", directory, name), build_id,
			 build_id_bytes, found);
	if (fd < 0)
		fd = try(swz_print("%s/%s", directory, name), build_id,
			 build_id_bytes, found);
	return fd;
}

static bool is_usable(size_t build_id_bytes)
{
	return build_id_bytes >= 2 && build_id_bytes <= 32;
}

int swz_debug_files_find(const struct swz_debug_files *files, const char *path,
			 const uint8_t *build_id, size_t build_id_bytes,
			 char **found)
{
	int fd = -1;
	size_t i;

	for (i = 0; i < files->count && fd < 0 && is_usable(build_id_bytes);
	     i++)
		fd = find_in(files->directories[i], path, build_id,
			     build_id_bytes, found);
	return fd;
}

int swz_debug_files_find_usual(const uint8_t *build_id, size_t build_id_bytes,
			       char **found)
{
	if (!is_usable(build_id_bytes))
		return -1;
	return try(path_by_build_id(USUAL_DIRECTORY, build_id, build_id_bytes),
		   build_id, build_id_bytes, found);
}
