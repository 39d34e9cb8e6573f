/* The descriptor lives only while the file is made: a daemon that closes
 * everything, or a program that counts on the number of its next descriptor,
 * never meets it. So the file gets its full (sparse) length at once, and is cut
 * by name at the end if it is still the same file. */

#include "runtime/record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/syscall.h"
#include "runtime/record/present.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"

struct swz_file_header *swz_file;

static char path[4200];
static uint64_t file_device, file_inode;
static struct swz_links *links;
static char *link_room; /* the mapping that they are in */
static uint64_t link_bytes;
static uint64_t mapped_bytes; /* of swz_file */
static uint64_t old_bytes;    /* of the parent's, while a child takes over */
static uint64_t closed_from;  /* of swz_file, what has been cut off; or 0 */

/* Room that is left for what runs after our destructor, and of that for
 * events, if there are any. */
#define AFTERLIFE_BYTES (1ull << 20)
#define AFTERLIFE_EVENT_BYTES (1ull << 19)

#define CLOSED (1ull << 63) /* in used_bytes, while the file is being cut */

/* path = the pattern with %p replaced in the file's name; a directory may have
 * that in its own. Returns whether there was one. */
static bool expand_pattern(int32_t pid)
{
	const char *from = swz_config.output;
	const char *slash = strrchr(from, '/');
	char *to = path;
	bool found = false;

	while (*from && to < path + sizeof(path) - 16) {
		char digits[12];
		unsigned n = 0;

		if (from[0] != '%' || from[1] != 'p' || from < slash) {
			*to++ = *from++;
			continue;
		}
		for (uint32_t v = (uint32_t)pid; v; v /= 10)
			digits[n++] = (char)('0' + v % 10);
		while (n)
			*to++ = digits[--n];
		from += 2;
		found = true;
	}
	*to = '\0';
	return found;
}

static void append_number(char *end, uint32_t number)
{
	char digits[12];
	unsigned n = 0;

	*end++ = '.';
	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n)
		*end++ = digits[--n];
	*end = '\0';
}

static bool is_profile(int fd)
{
	char magic[sizeof(SWZ_FILE_MAGIC) - 1];
	struct stat st;

	if (SWZ_SYSCALL(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (st.st_size == 0)
		return true; /* as mktemp makes it */
	return SWZ_SYSCALL(SYS_pread64, fd, magic, sizeof(magic), 0) ==
		       sizeof(magic) &&
	       (memcmp(magic, SWZ_FILE_MAGIC, sizeof(magic)) == 0 ||
		memcmp(magic, SWZ_ARCHIVE_MAGIC, sizeof(magic)) == 0);
}

/* An older profile of the very name that the user gave makes room. What is
 * anything else may have been meant to be run, or read. */
static void remove_older(void)
{
	long fd = SWZ_SYSCALL(SYS_open, path,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (is_profile((int)fd))
		SWZ_SYSCALL(SYS_unlink, path);
	SWZ_SYSCALL(SYS_close, fd);
}

static long create_new(void)
{
	return SWZ_SYSCALL(SYS_open, path,
			   O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			   0600);
}

static long open_new(bool replace)
{
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	bool per_process = expand_pattern(pid);
	size_t length = strlen(path);
	char *end = path + length;
	long fd;

	if (replace && !per_process)
		remove_older();
	fd = -EEXIST;
	if (per_process || replace)
		fd = create_new();
	if (fd == -EEXIST && !per_process) {
		append_number(end, (uint32_t)pid);
		end = path + strlen(path);
		fd = create_new();
	}
	for (uint32_t i = 1; fd == -EEXIST && i < 100000; i++) {
		append_number(end, i);
		fd = create_new();
	}
	if (fd >= 0 && replace && !per_process && end != path + length)
		swz_say(swz_config.output,
			" is no profile and is left alone: writing ", path);
	return fd;
}

/* The bound, or less where the process may not write files that long: going
 * past RLIMIT_FSIZE would be a signal to the program. */
static uint64_t allowed_bytes(void)
{
	struct rlimit limit;
	uint64_t bytes = swz_config.max_memory;

	if (swz_config.trace)
		bytes += swz_config.max_size;
	if (SWZ_SYSCALL(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	    limit.rlim_cur < bytes)
		bytes = limit.rlim_cur & -(uint64_t)4096;
	return bytes;
}

static void fill_header(struct swz_file_header *h, uint64_t bytes)
{
	struct timespec now;

	memcpy(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic));
	h->version = SWZ_FILE_VERSION;
	h->header_bytes = SWZ_HEADER_BYTES;
	h->byte_order = SWZ_FILE_BYTE_ORDER;
	h->used_bytes = SWZ_HEADER_BYTES;
	h->limit_bytes = bytes;
	if (swz_config.trace) {
		h->flags = SWZ_FILE_TRACED;
		if (swz_config.ring)
			h->flags |= SWZ_FILE_RING;
		h->event_limit_bytes = bytes - swz_config.max_memory;
		/* less than was asked for: a part for each */
		if (bytes < swz_config.max_memory + swz_config.max_size)
			h->event_limit_bytes = bytes / 2 & -(uint64_t)4096;
	}
	h->pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	h->parent_pid = (int32_t)SWZ_SYSCALL(SYS_getppid);
	h->start_ticks = swz_ticks();
	h->epoch_ticks = h->start_ticks;
	SWZ_SYSCALL(SYS_clock_gettime, CLOCK_REALTIME, &now);
	h->start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u +
			       (uint64_t)now.tv_nsec;
	h->arena_start = (uintptr_t)swz_arena_start;
	h->arena_end = (uintptr_t)swz_arena_end;
}

/* Where nobody looks for room: a large mapping next to the libraries would
 * leave none within reach of their jumps (2 GiB). Aligned as the kernel needs
 * it to map a large folio of a file all at once. */
static void *far_below_us(uint64_t bytes)
{
	uintptr_t us = (uintptr_t)&swz_file;
	uint64_t distance = bytes + (8ull << 30);

	return us > distance
		       ? (void *)((us - distance) & -(uintptr_t)SWZ_HUGE_PAGE)
		       : NULL;
}

/* Before the file gets its length: a process that is killed then leaves one
 * that readers know, and that the next one of that name replaces. */
static bool write_header(long fd, uint64_t bytes)
{
	struct swz_file_header h = {.magic = {0}};

	fill_header(&h, bytes);
	return SWZ_SYSCALL(SYS_pwrite64, fd, &h, sizeof(h), 0) == sizeof(h);
}

static struct swz_file_header *create(bool replace, const char **problem)
{
	uint64_t bytes = allowed_bytes();
	struct swz_file_header *h = NULL;
	struct stat st;
	long fd = open_new(replace);

	*problem = "cannot create the profile ";
	if (fd < 0)
		return NULL;
	*problem = "no room for the profile ";
	if (SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 &&
	    bytes >= UINT64_C(16) * SWZ_HEADER_BYTES &&
	    write_header(fd, bytes) &&
	    SWZ_SYSCALL(SYS_ftruncate, fd, bytes) == 0)
		h = swz_sys_mmap(far_below_us(bytes), bytes,
				 PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd,
				 0);
	SWZ_SYSCALL(SYS_close, fd);
	/* There is nothing to read ahead: it would make pages of zeros,
	 * megabytes of them, some milliseconds long. (Events will be written to
	 * them, and large folios take a fourth of the time.) */
	if (h && !swz_config.trace)
		SWZ_SYSCALL(SYS_madvise, h, bytes, MADV_RANDOM);
	if (h && bytes > SWZ_HUGE_PAGE)
		SWZ_SYSCALL(SYS_madvise, (char *)h + SWZ_HUGE_PAGE,
			    bytes - SWZ_HUGE_PAGE, MADV_HUGEPAGE);
	if (h && !swz_make_present((char *)h, SWZ_HEADER_BYTES)) {
		swz_sys_munmap(h, bytes);
		h = NULL;
	}
	if (!h) {
		SWZ_SYSCALL(SYS_unlink, path);
		return NULL;
	}
	file_device = st.st_dev;
	file_inode = st.st_ino;
	return h;
}

/* Of nodes in huge pages the links lie in huge ones, too. (In a trace what
 * little of them is used lies far apart, between events.) */
static enum swz_status map_links(void)
{
	/* a child's file is never larger */
	uint64_t bytes = swz_file_links_bytes();
	uint64_t first = SWZ_HUGE_PAGE / SWZ_UNIT_BYTES * sizeof(*links);
	uint64_t before = SWZ_HUGE_PAGE - first; /* for alignment */
	char *room;

	bytes += before;
	room = swz_sys_mmap(far_below_us(mapped_bytes + SWZ_HUGE_PAGE + bytes),
			    bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!room)
		return SWZ_E_NOMEM;
	link_room = room;
	link_bytes = bytes;
	if (SWZ_SYSCALL(SYS_madvise, room, bytes, MADV_WIPEONFORK) != 0)
		return SWZ_E_NOMEM;
	SWZ_SYSCALL(SYS_madvise, room, swz_config.trace ? bytes : SWZ_HUGE_PAGE,
		    MADV_NOHUGEPAGE);
	if (!swz_config.trace && bytes > SWZ_HUGE_PAGE)
		SWZ_SYSCALL(SYS_madvise, room + SWZ_HUGE_PAGE,
			    bytes - SWZ_HUGE_PAGE, MADV_HUGEPAGE);
	/* A core file would have the length of all that is not there, too. */
	SWZ_SYSCALL(SYS_madvise, room, bytes, MADV_DONTDUMP);
	links = (struct swz_links *)(void *)(room + before);
	return SWZ_OK;
}

enum swz_status swz_file_create(const char **problem)
{
	swz_file = create(swz_config.fresh, problem);
	if (!swz_file)
		return SWZ_E_SYSTEM;
	mapped_bytes = swz_file->limit_bytes;
	*problem = "no memory for the profile ";
	return map_links();
}

void swz_file_discard(void)
{
	if (!swz_file)
		return;
	if (link_bytes)
		swz_sys_munmap(link_room, link_bytes);
	swz_sys_munmap(swz_file, mapped_bytes);
	swz_file = NULL;
	links = NULL;
	SWZ_SYSCALL(SYS_unlink, path);
	path[0] = '\0';
}

uint64_t swz_file_mapped_bytes(void)
{
	return mapped_bytes;
}

uint64_t swz_file_links_bytes(void)
{
	return mapped_bytes / SWZ_UNIT_BYTES * sizeof(*links);
}

struct swz_links *swz_file_links(void)
{
	return links;
}

const char *swz_file_path(void)
{
	return path;
}

struct swz_file_header *swz_file_create_beside(void)
{
	const char *problem;

	return create(false, &problem);
}

void swz_file_remove_beside(void)
{
	SWZ_SYSCALL(SYS_unlink, path);
}

static bool failed(long result)
{
	return result < 0 && result > -4096;
}

/* The kernel knows a profile as several mappings, since advice and protection
 * are not the same for all of it, and moves one at a time (before Linux 6.17).
 * CLOSED: where the second of its borders is, or 0. */
static enum swz_status move(char *from, uint64_t bytes, char *to,
			    uint64_t closed)
{
	uint64_t start = 0, end;

	for (; start < bytes; start = end) {
		end = bytes;
		if (start < SWZ_HUGE_PAGE && SWZ_HUGE_PAGE < end)
			end = SWZ_HUGE_PAGE;
		if (start < closed && closed < end)
			end = closed;
		if (failed(SWZ_SYSCALL(
			    SYS_mremap, from + start, end - start, end - start,
			    MREMAP_MAYMOVE | MREMAP_FIXED, to + start)))
			return SWZ_E_SYSTEM;
	}
	return SWZ_OK;
}

enum swz_status swz_file_replace(struct swz_file_header *beside,
				 struct swz_file_header **old)
{
	uint64_t bytes = beside->limit_bytes;
	char *room = swz_sys_mmap(NULL, mapped_bytes, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				  -1, 0);

	if (!room)
		return SWZ_E_NOMEM;
	/* The place is filled at once, there is only this thread. */
	if (move((char *)swz_file, mapped_bytes, room, closed_from) != SWZ_OK)
		return SWZ_E_SYSTEM;
	closed_from = 0;
	*old = (struct swz_file_header *)(void *)room;
	old_bytes = mapped_bytes;
	if (move((char *)beside, bytes, (char *)swz_file, 0) != SWZ_OK)
		return SWZ_E_SYSTEM;
	swz_own_remove((uintptr_t)beside, bytes); /* the program may get it */
	if (bytes < mapped_bytes)
		swz_sys_munmap((char *)swz_file + bytes, mapped_bytes - bytes);
	mapped_bytes = bytes;
	return SWZ_OK;
}

void swz_file_drop(struct swz_file_header *old)
{
	swz_sys_munmap(old, old_bytes);
}

void swz_file_detach(void)
{
	struct swz_file_header *plain = swz_sys_mmap(
		swz_file, mapped_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	if (plain)
		plain->used_bytes = CLOSED; /* full */
	path[0] = '\0';
}

void swz_file_sample_clock(unsigned which)
{
	struct swz_clock_sample *sample = &swz_file->clock[which];
	uint64_t best = UINT64_MAX;

	/* the tightest of three brackets */
	for (int i = 0; i < 3; i++) {
		struct timespec now;
		uint64_t before = swz_ticks(), after;

		/* refused, or not asked any more: no sample */
		if (SWZ_SYSCALL(SYS_clock_gettime, CLOCK_MONOTONIC, &now) != 0)
			return;
		after = swz_ticks();
		if (after - before < best) {
			best = after - before;
			sample->ticks = before + best / 2;
			sample->monotonic_ns = (uint64_t)now.tv_sec *
						       1000000000u +
					       (uint64_t)now.tv_nsec;
		}
	}
}

/* Behind the end of the file each access would be a SIGBUS. Nobody makes one
 * but who reads all memory that is there to be read, as memcheck does when it
 * looks for leaks: for 256 MiB, word by word, that takes it minutes. */
static void close_off(uint64_t from)
{
	if (from < mapped_bytes &&
	    swz_sys_mprotect((char *)swz_file + from, mapped_bytes - from,
			     PROT_NONE) == 0)
		closed_from = from;
}

void swz_file_finish(void)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&swz_file->used_bytes;
	struct stat st;
	uint64_t bytes, later = AFTERLIFE_BYTES;

	if (!swz_file || !path[0])
		return;
	swz_file_sample_clock(2);
	swz_file->end_ticks = swz_ticks();
	swz_file->flags |= SWZ_FILE_ENDED;
	/* Threads may go on, and destructors of other libraries come yet: they
	 * get a little more, and all that is handed out lies before the cut. */
	bytes = atomic_fetch_or_explicit(used, CLOSED, memory_order_relaxed) &
		~CLOSED;
	if (swz_file->event_limit_bytes >
	    swz_file->event_bytes + AFTERLIFE_EVENT_BYTES) {
		swz_file->event_limit_bytes = swz_file->event_bytes +
					      AFTERLIFE_EVENT_BYTES;
		later += AFTERLIFE_EVENT_BYTES;
	}
	if (swz_file->limit_bytes > bytes + later)
		swz_file->limit_bytes = (bytes + later) & -(uint64_t)4096;
	atomic_store_explicit(used, bytes, memory_order_relaxed);
	if (SWZ_SYSCALL(SYS_lstat, path, &st) == 0 &&
	    st.st_dev == file_device && st.st_ino == file_inode &&
	    SWZ_SYSCALL(SYS_truncate, path, swz_file->limit_bytes) == 0)
		close_off(swz_file->limit_bytes);
}
