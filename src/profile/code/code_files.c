/* The process has ended, mostly: its number may be another's by now, and so may
 * a file with this number in its name. That one's time tells. */

#include "profile/code/code_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/code/jitdump.h"
#include "profile/code/perf_map.h"
#include "profile/support/memory.h"

#define PIECE_BYTES (1u << 20)
#define MOST_LINE (PIECE_BYTES / 2)
/* Clocks are read at other moments than files are written. */
#define SLACK_SECONDS 2

static bool is_its_own(int fd, const struct swz_code_process *process)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid() ||
		st.st_uid == process->owner) &&
	       st.st_mtim.tv_sec >= process->start - SLACK_SECONDS &&
	       (!process->end ||
		st.st_mtim.tv_sec <= process->end + SLACK_SECONDS);
}

static int open_file(const char *path, const struct swz_code_process *process)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	if (fd >= 0 && !is_its_own(fd, process)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static size_t read_piece(int fd, char *piece, uint64_t at)
{
	ssize_t n;

	do
		n = pread(fd, piece, PIECE_BYTES, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

static void read_map(struct swz_code_ranges *ranges, int fd, char *piece)
{
	uint64_t at = 0;
	size_t size, done;

	while ((size = read_piece(fd, piece, at))) {
		done = swz_perf_map_read(ranges, piece, size, 0);
		if (!done && size > MOST_LINE)
			done = size; /* a line that is longer is none */
		if (!done)
			break;
		at += done;
	}
}

static void read_dump(struct swz_code_ranges *ranges, int fd, char *piece)
{
	struct swz_jitdump dump = {.begun = false};
	uint64_t at = 0, done;
	size_t size;

	while ((size = read_piece(fd, piece, at))) {
		done = swz_jitdump_read(&dump, ranges, (const uint8_t *)piece,
					size);
		if (!done)
			break;
		at += done;
	}
	swz_jitdump_free(&dump);
}

void swz_code_files_read(struct swz_code_ranges *ranges,
			 const struct swz_code_process *process)
{
	char *map = swz_print("/tmp/perf-%d.map", (int)process->pid);
	char *dump = swz_print("%s/jit-%d.dump", process->cwd,
			       (int)process->pid);
	int map_fd = open_file(map, process), dump_fd = -1;
	char *piece;

	if (*process->cwd)
		dump_fd = open_file(dump, process);
	if (map_fd >= 0 || dump_fd >= 0) {
		piece = swz_allocate(PIECE_BYTES, 1);
		if (map_fd >= 0)
			read_map(ranges, map_fd, piece);
		if (dump_fd >= 0)
			read_dump(ranges, dump_fd, piece);
		free(piece);
	}
	if (map_fd >= 0)
		close(map_fd);
	if (dump_fd >= 0)
		close(dump_fd);
	free(map);
	free(dump);
}
