/* The file in memory is made by a borrowed thread, and filled by us by way of
 * /proc/PID/fd. Its name is spelt as no other's: the dynamic linker takes two
 * files of the same name for one. */

#include "control/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME "libswizzle.so"

static bool is_same_file(const char *path, const struct stat *other)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_ino == other->st_ino &&
	       st.st_dev == other->st_dev;
}

bool swz_carry_is_needed(const struct swz_attached *a, const char *library)
{
	char *path = swz_target_path(&a->target, library);
	struct stat st;
	bool needed = stat(library, &st) == 0 && !is_same_file(path, &st);

	free(path);
	return needed;
}

static bool copy(int from, int to)
{
	char bytes[65536];
	ssize_t n;

	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		for (ssize_t done = 0, m; done < n; done += m) {
			m = write(to, bytes + done, (size_t)(n - done));
			if (m <= 0)
				return false;
		}
	return n == 0;
}

/* ------------------------------------------------------------ in its memory */

static bool call_system(struct swz_attached *a, long number, uint64_t first,
			uint64_t second, int64_t *result)
{
	const uint64_t arguments[4] = {(uint64_t)number, first, second};
	uint64_t function = swz_target_symbol(&a->target, "syscall");

	return function && swz_borrow_call(&a->borrower, function, arguments,
					   false, (uint64_t *)result);
}

/* The process says which descriptor it is, and may be wrong, or lie: nothing is
 * written to a file that has a name, or something in it. */
static int open_empty(const struct swz_attached *a, int64_t fd)
{
	char path[64];
	struct stat st;
	int there, to = -1;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)a->target.pid,
		 (int)fd);
	there = open(path, O_PATH | O_CLOEXEC);
	if (there < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", there);
	if (fstat(there, &st) == 0 && S_ISREG(st.st_mode) && !st.st_nlink &&
	    !st.st_size)
		to = open(path, O_WRONLY | O_CLOEXEC);
	close(there);
	return to;
}

static bool fill(const struct swz_attached *a, int from,
		 struct swz_carried *carried)
{
	int to = open_empty(a, carried->fd);
	bool done;

	if (to < 0) {
		carried->fd = -1; /* it is not for us to close */
		return false;
	}
	done = copy(from, to);
	close(to);
	return done;
}

static bool put_into_memory(struct swz_attached *a, int from,
			    struct swz_carried *carried)
{
	const uint64_t name = a->borrower.region + SWZ_REGION_TEXTS;

	if (!swz_target_write(&a->target, name, NAME, sizeof(NAME)) ||
	    !call_system(a, SYS_memfd_create, name, MFD_CLOEXEC,
			 &carried->fd) ||
	    carried->fd < 0) {
		carried->fd = -1;
		return false;
	}
	snprintf(carried->path, sizeof(carried->path), "/proc/./self/fd/%d",
		 (int)carried->fd);
	return fill(a, from, carried);
}

/* ---------------------------------------------------------- in its directories
 */

static const char *const directories[] = {"tmp", "run", "var", "dev", "."};

/* No symbolic link is followed: it could lead out of there. */
static bool put_into_file(struct swz_attached *a, int from,
			  struct swz_carried *carried)
{
	char path[64];
	bool done = false;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)a->target.pid);
	carried->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < sizeof(directories) / sizeof(*directories) &&
			   carried->root >= 0 && !done;
	     i++) {
		int directory = openat(carried->root, directories[i],
				       O_PATH | O_DIRECTORY | O_NOFOLLOW |
					       O_CLOEXEC);
		int to = -1;

		snprintf(carried->path, sizeof(carried->path),
			 "/%s/" NAME ".%d", directories[i], (int)getpid());
		if (directory >= 0)
			to = openat(directory, strrchr(carried->path, '/') + 1,
				    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
					    O_CLOEXEC,
				    0755);
		done = to >= 0 && lseek(from, 0, SEEK_SET) == 0 &&
		       copy(from, to);
		if (to >= 0 && !done)
			(void)unlinkat(directory,
				       strrchr(carried->path, '/') + 1, 0);
		if (to >= 0)
			close(to);
		if (directory >= 0)
			close(directory);
	}
	if (!done && carried->root >= 0) {
		close(carried->root);
		carried->root = -1;
	}
	return done;
}

/* ------------------------------------------------------------------------ */

static bool has_proc(const struct swz_attached *a)
{
	char *path = swz_target_path(&a->target, "/proc/self/fd");
	struct stat st;
	bool has = lstat(path, &st) == 0;

	free(path);
	return has;
}

bool swz_carry(struct swz_attached *a, const char *library,
	       struct swz_carried *carried)
{
	int from = open(library, O_RDONLY | O_CLOEXEC);
	bool done;

	*carried = (struct swz_carried){.fd = -1, .root = -1};
	if (from < 0)
		return swz_attached_fail(a, "%s cannot be read: %s", library,
					 strerror(errno));
	if (has_proc(a))
		done = put_into_memory(a, from, carried) ||
		       swz_attached_fail(a, "it has a root directory of its "
					    "own, and no file in memory for "
					    "the library");
	else
		done = put_into_file(a, from, carried) ||
		       swz_attached_fail(a, "it has a root directory of its "
					    "own, without /proc, and none of "
					    "/tmp, /run, /var, /dev there "
					    "can be written for a moment");
	close(from);
	if (!done)
		swz_carry_end(a, carried);
	return done;
}

void swz_carry_end(struct swz_attached *a, struct swz_carried *carried)
{
	int64_t result;

	if (carried->fd >= 0)
		(void)call_system(a, SYS_close, (uint64_t)carried->fd, 0,
				  &result);
	if (carried->root >= 0) {
		const char *slash = strrchr(carried->path, '/');
		char directory[64] = "";
		int in;

		memcpy(directory, carried->path + 1,
		       (size_t)(slash - carried->path) - 1);
		in = openat(carried->root, directory,
			    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (in >= 0) {
			(void)unlinkat(in, slash + 1, 0);
			close(in);
		}
		close(carried->root);
	}
	*carried = (struct swz_carried){.fd = -1, .root = -1};
}
