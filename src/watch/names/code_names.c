/* A file is kept open: the process may end, and then nothing leads into its
 * mount namespace any more. */

#include "watch/names/script_codes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/memory.h"
#include "profile/file/code_files.h"

#define PIECE_BYTES (1u << 18)
/* A line that is longer is none. */
#define MOST_LINE (PIECE_BYTES / 2)

struct growing {
	int fd; /* -1: not there so far */
	uint64_t at;
};

struct swz_code_names {
	int32_t pid;
	int32_t own_pid; /* as the process knows it: in its namespace */
	uid_t owner;
	bool has_owner;
	struct timespec born;
	struct swz_code_ranges ranges;
	struct growing map, dump;
	struct swz_jitdump dumped;
	char *dump_path;
	uint64_t read_ns; /* when the map was read before; 0: never */
	char *piece;
};

/* ------------------------------------------------------------- process */

static struct timespec clock_of(clockid_t clock)
{
	struct timespec now = {0};

	clock_gettime(clock, &now);
	return now;
}

/* Its clock ticks are of the time since the machine was started. */
static struct timespec birth_of(uint64_t process_start)
{
	struct timespec now = clock_of(CLOCK_REALTIME);
	struct timespec up = clock_of(CLOCK_BOOTTIME);

	/* (a second for what is rounded) */
	now.tv_sec -= up.tv_sec -
		      (time_t)(process_start / (uint64_t)sysconf(_SC_CLK_TCK)) +
		      1;
	return now;
}

static void look_at_process(struct swz_code_names *names)
{
	char path[64], line[512];
	struct stat st;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)names->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			names->own_pid = (int32_t)strtol(last, NULL, 10);
	}
	names->has_owner = fstat(fileno(file), &st) == 0;
	names->owner = st.st_uid;
	fclose(file);
}

static struct swz_code_names *create(int32_t pid, uint64_t process_start)
{
	struct swz_code_names *names = swz_allocate(1, sizeof(*names));

	names->pid = names->own_pid = pid;
	names->map.fd = names->dump.fd = -1;
	names->born = birth_of(process_start);
	look_at_process(names);
	return names;
}

struct swz_code_names *swz_code_names_open(int32_t pid, uint64_t process_start)
{
	return create(pid, process_start);
}

struct swz_code_names *swz_code_names_fork(const struct swz_code_names *parent,
					   int32_t pid, uint64_t process_start)
{
	struct swz_code_names *names = create(pid, process_start);

	swz_code_ranges_copy(&names->ranges, &parent->ranges);
	return names;
}

void swz_code_names_close(struct swz_code_names *names)
{
	if (!names)
		return;
	if (names->map.fd >= 0)
		close(names->map.fd);
	if (names->dump.fd >= 0)
		close(names->dump.fd);
	swz_code_ranges_free(&names->ranges);
	swz_jitdump_free(&names->dumped);
	free(names->dump_path);
	free(names->piece);
	free(names);
}

/* --------------------------------------------------------------- files */

static bool is_ours(const struct swz_code_names *names, const struct stat *st)
{
	return S_ISREG(st->st_mode) &&
	       (st->st_uid == 0 || st->st_uid == geteuid() ||
		(names->has_owner && st->st_uid == names->owner)) &&
	       st->st_mtim.tv_sec >= names->born.tv_sec;
}

static bool open_file(const struct swz_code_names *names,
		      struct growing *growing, const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				    O_CLOEXEC);

	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0 || !is_ours(names, &st)) {
		close(fd);
		return false;
	}
	growing->fd = fd;
	return true;
}

/* As the process names it, whose root may be another one. Where that cannot be
 * looked into, or when it has ended, PATH is ours, too. */
static void open_of_process(const struct swz_code_names *names,
			    struct growing *growing, const char *path,
			    const char *own_path)
{
	char *inside = swz_print("/proc/%d/root%s", (int)names->pid, path);

	if (!open_file(names, growing, inside))
		(void)open_file(names, growing, own_path);
	free(inside);
}

static void open_map(struct swz_code_names *names)
{
	char inside[48], here[48];

	snprintf(inside, sizeof(inside), "/tmp/perf-%d.map",
		 (int)names->own_pid);
	snprintf(here, sizeof(here), "/tmp/perf-%d.map", (int)names->pid);
	open_of_process(names, &names->map, inside, here);
}

static bool has_grown(const struct growing *growing)
{
	struct stat st;

	return growing->fd >= 0 && fstat(growing->fd, &st) == 0 &&
	       (uint64_t)st.st_size > growing->at;
}

static size_t read_piece(struct swz_code_names *names,
			 const struct growing *growing)
{
	ssize_t n;

	if (!names->piece)
		names->piece = swz_allocate(PIECE_BYTES, 1);
	do
		n = pread(growing->fd, names->piece, PIECE_BYTES,
			  (off_t)growing->at);
	while (n < 0 && errno == EINTR);
	return n > 0 ? (size_t)n : 0;
}

static void read_map(struct swz_code_names *names, uint64_t now_ns)
{
	size_t size, done;

	while ((size = read_piece(names, &names->map))) {
		done = swz_perf_map_read(&names->ranges, names->piece, size,
					 names->read_ns);
		if (!done && size > MOST_LINE)
			done = size;
		if (!done)
			break;
		names->map.at += done;
	}
	names->read_ns = now_ns;
}

static void read_dump(struct swz_code_names *names)
{
	size_t size;
	uint64_t done;

	while ((size = read_piece(names, &names->dump))) {
		done = swz_jitdump_read(&names->dumped, &names->ranges,
					(const uint8_t *)names->piece, size);
		if (!done)
			break;
		names->dump.at += done;
	}
}

void swz_code_names_mapped(struct swz_code_names *names, const char *path)
{
	const char *slash = strrchr(path, '/');
	int pid, end = 0;

	if (names->dump_path || !slash ||
	    sscanf(slash, "/jit-%d.dump%n", &pid, &end) != 1 || !end ||
	    slash[end] || (pid != names->pid && pid != names->own_pid))
		return;
	names->dump_path = swz_duplicate(path);
	open_of_process(names, &names->dump, path, path);
}

void swz_code_names_refresh(struct swz_code_names *names, uint64_t now_ns)
{
	if (names->map.fd < 0)
		open_map(names);
	if (has_grown(&names->map))
		read_map(names, now_ns);
	if (has_grown(&names->dump))
		read_dump(names);
}

const char *swz_code_names_find(struct swz_code_names *names, uint64_t address,
				uint64_t time_ns)
{
	return swz_code_ranges_find(&names->ranges, address, time_ns);
}

uint32_t swz_code_names_count(const struct swz_code_names *names)
{
	return names->ranges.count;
}

bool swz_code_names_have_times(const struct swz_code_names *names)
{
	return names->dump.fd >= 0;
}
