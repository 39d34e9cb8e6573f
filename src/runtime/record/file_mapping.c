#include "runtime/record/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/basics.h"
#include "base/run_summary.h"
#include "base/syscall.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "swizzle/format.h"

/* ------------------------------------------------------------------- names */

/* A file gets its name when it has its header: nobody finds an empty one, and a
 * process that is killed meanwhile leaves none. (Not on file systems without
 * O_TMPFILE, nor where /proc is missing.)
 *
 * Who holds the lock of a file decides about it: its writer, and who removes an
 * older one. Thus nobody removes a file that another has just created and not
 * yet written to. */

static char path[4200];
static uint64_t file_device, file_inode;

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

static void append_number(char *end, char before, uint32_t number)
{
	char digits[12];
	unsigned n = 0;

	*end++ = before;
	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n)
		*end++ = digits[--n];
	*end = '\0';
}

static bool is_empty(int fd)
{
	struct stat st;

	return SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 && st.st_size == 0;
}

static bool is_regular(int fd)
{
	struct stat st;

	return SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode);
}

/* *HEADER is what is there of it, the rest zeros. */
static bool is_profile(int fd, struct swz_file_header *header)
{
	const size_t magic = sizeof(header->magic);

	memset(header, 0, sizeof(*header));
	if (is_empty(fd))
		return true; /* as mktemp makes it */
	return SWZ_SYSCALL(SYS_pread64, fd, header, sizeof(*header), 0) >=
		       (long)magic &&
	       (memcmp(header->magic, SWZ_FILE_MAGIC, magic) == 0 ||
		memcmp(header->magic, SWZ_ARCHIVE_MAGIC, magic) == 0);
}

static bool writer_lives(const struct swz_file_header *header)
{
	return memcmp(header->magic, SWZ_FILE_MAGIC, sizeof(header->magic)) ==
		       0 &&
	       !(header->flags & SWZ_FILE_ENDED) && header->process_start &&
	       header->pid > 0 &&
	       swz_process_start(header->pid) == header->process_start;
}

/* A reader that looks whether there is a writer (swizzle-dump), and who packs
 * the file, hold the lock for some microseconds; on a busy machine they may be
 * interrupted there. */
#define LOCK_ATTEMPTS 4
#define MOST_LOCK_ATTEMPTS 200 /* 0.1 s, where no writer lives */
#define LOCK_PAUSE_NS 500000

/* True if we have the lock. On file systems without locks everybody has it. */
static bool has_lock(int fd)
{
	return SWZ_SYSCALL(SYS_flock, fd, LOCK_EX | LOCK_NB) != -EWOULDBLOCK;
}

/* False: somebody else has the lock. */
static bool lock(int fd)
{
	const struct timespec pause = {0, LOCK_PAUSE_NS};
	struct swz_file_header header;

	for (int i = 0; i < MOST_LOCK_ATTEMPTS; i++) {
		if (i)
			SWZ_SYSCALL(SYS_nanosleep, &pause, NULL);
		if (has_lock(fd))
			return true;
		if (i >= LOCK_ATTEMPTS &&
		    (!is_profile(fd, &header) || is_empty(fd) ||
		     writer_lives(&header)))
			break;
	}
	return false;
}

static bool is_named(const char *name, uint64_t device, uint64_t inode)
{
	struct stat st;

	return SWZ_SYSCALL(SYS_lstat, name, &st) == 0 && st.st_dev == device &&
	       st.st_ino == inode;
}

static bool is_at_path(int fd)
{
	struct stat st;

	return SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 &&
	       is_named(path, st.st_dev, st.st_ino);
}

enum older {
	OLDER_GONE,     /* or there was none */
	OLDER_REPLACED, /* by a packed one, or that of another start */
	OLDER_WRITTEN,  /* by a process that runs */
	OLDER_OTHER,    /* no profile */
	OLDER_KEPT      /* not to be removed: of another user, for instance */
};

/* Removes an older profile. Any other file may have been meant to be run, or
 * read. */
static enum older remove_open(int fd)
{
	struct swz_file_header header;

	if (!is_regular(fd))
		return OLDER_OTHER;
	if (!lock(fd))
		return OLDER_WRITTEN;
	if (!is_profile(fd, &header))
		return OLDER_OTHER;
	if (writer_lives(&header))
		return OLDER_WRITTEN;
	/* before we had the lock */
	if (!is_at_path(fd))
		return OLDER_REPLACED;
	return SWZ_SYSCALL(SYS_unlink, path) == 0 ? OLDER_GONE : OLDER_KEPT;
}

static enum older remove_at_path(void)
{
	enum older older;
	long fd = SWZ_SYSCALL(SYS_open, path,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd == -ELOOP || fd == -ENXIO) /* a symbolic link, a socket */
		return OLDER_OTHER;
	if (fd < 0)
		return fd == -ENOENT ? OLDER_GONE : OLDER_KEPT;
	older = remove_open((int)fd);
	SWZ_SYSCALL(SYS_close, fd);
	return older;
}

#define REMOVE_ATTEMPTS 10

/* An older profile of the very name that the user gave makes room. */
static enum older remove_older(void)
{
	enum older older = OLDER_REPLACED;

	for (int i = 0; i < REMOVE_ATTEMPTS && older == OLDER_REPLACED; i++)
		older = remove_at_path();
	return older;
}

static bool write_header(long fd, const struct swz_file_header *header)
{
	return SWZ_SYSCALL(SYS_pwrite64, fd, header, sizeof(*header), 0) ==
	       sizeof(*header);
}

/* A file in the directory of `path`, with the header. Returns -1 where there
 * can be none without a name. */
static long create_nameless(const struct swz_file_header *header)
{
	char *slash = strrchr(path, '/'), first;
	long fd;

	if (!slash)
		return -1;
	first = slash[1];
	slash[1] = '\0';
	fd = SWZ_SYSCALL(SYS_open, path, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	slash[1] = first;
	if (fd >= 0 && !write_header(fd, header)) {
		SWZ_SYSCALL(SYS_close, fd);
		fd = -1;
	}
	return fd < 0 ? -1 : fd;
}

/* The file is opened once more: the kernel tells of a mapping that was made by
 * the old descriptor that the file is deleted (/proc/PID/maps). Until it is
 * locked again, its header tells who writes it. Returns the new descriptor, or
 * NAMELESS where the name leads elsewhere by now. */
static long open_named(long nameless, struct stat *st)
{
	const struct timespec pause = {0, LOCK_PAUSE_NS};
	long fd = SWZ_SYSCALL(SYS_open, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	struct stat named = {.st_ino = 0};

	if (SWZ_SYSCALL(SYS_fstat, nameless, st) == 0 && fd >= 0 &&
	    SWZ_SYSCALL(SYS_fstat, fd, &named) == 0 &&
	    named.st_dev == st->st_dev && named.st_ino == st->st_ino) {
		SWZ_SYSCALL(SYS_close, nameless);
	} else {
		if (fd >= 0)
			SWZ_SYSCALL(SYS_close, fd);
		fd = nameless;
	}
	for (int i = 0; i < MOST_LOCK_ATTEMPTS && !has_lock((int)fd); i++)
		SWZ_SYSCALL(SYS_nanosleep, &pause, NULL);
	return fd;
}

/* Gives the file its name. Returns a descriptor of it, or -errno. */
static long give_name(long nameless, struct stat *st)
{
	char link[sizeof("/proc/thread-self/fd/") + 12] =
		"/proc/thread-self/fd";
	long result;

	append_number(link + strlen(link), '/', (uint32_t)nameless);
	result = SWZ_SYSCALL(SYS_linkat, AT_FDCWD, link, AT_FDCWD, path,
			     AT_SYMLINK_FOLLOW);
	return result < 0 ? result : open_named(nameless, st);
}

/* -EEXIST also where another has taken the new file for an empty one that makes
 * room, and removed it, before it was locked. */
static long create_empty(struct stat *st)
{
	long fd = SWZ_SYSCALL(
		SYS_open, path,
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return fd;
	if (!lock((int)fd) || SWZ_SYSCALL(SYS_fstat, fd, st) != 0 ||
	    !st->st_nlink) {
		SWZ_SYSCALL(SYS_close, fd);
		return -EEXIST;
	}
	return fd;
}

/* *NAMELESS is -1 if there is none, and when it has got the name. */
static long create_new(long *nameless, const struct swz_file_header *header,
		       struct stat *st)
{
	long fd = -EOPNOTSUPP;

	if (*nameless >= 0)
		fd = give_name(*nameless, st);
	if (fd >= 0)
		*nameless = -1;
	if (fd >= 0 || fd == -EEXIST)
		return fd;
	fd = create_empty(st);
	if (fd >= 0 && !write_header(fd, header)) {
		SWZ_SYSCALL(SYS_close, fd);
		SWZ_SYSCALL(SYS_unlink, path);
		return -ENOSPC;
	}
	return fd;
}

static void say_why_not(enum older older)
{
	/* gone, but there again: another start was quicker */
	const char *why = " is being written by another process: writing ";

	if (older == OLDER_OTHER)
		why = " is not a profile and is left alone: writing ";
	else if (older == OLDER_KEPT)
		why = " cannot be replaced: writing ";
	swz_say(swz_config.output, why, path);
}

long swz_file_name_create(const struct swz_file_header *header, bool replace,
			  struct stat *st)
{
	bool per_process = expand_pattern(header->pid);
	enum older older = OLDER_GONE;
	size_t length = strlen(path);
	char *end = path + length;
	long nameless, fd = -EEXIST;

	if (header->limit_bytes < SWZ_LEAST_FILE_BYTES)
		return -ENOSPC;
	if (replace && !per_process)
		older = remove_older();
	nameless = create_nameless(header);
	if (per_process || (replace && older == OLDER_GONE))
		fd = create_new(&nameless, header, st);
	if (fd == -EEXIST && !per_process) {
		append_number(end, '.', (uint32_t)header->pid);
		end = path + strlen(path);
		fd = create_new(&nameless, header, st);
	}
	for (uint32_t i = 1; fd == -EEXIST && i < 100000; i++) {
		append_number(end, '.', i);
		fd = create_new(&nameless, header, st);
	}
	if (nameless >= 0)
		SWZ_SYSCALL(SYS_close, nameless);
	if (fd >= 0 && replace && !per_process && end != path + length)
		say_why_not(older);
	return fd;
}

void swz_file_name_keep(uint64_t device, uint64_t inode)
{
	file_device = device;
	file_inode = inode;
}

void swz_file_name_forget(void)
{
	path[0] = '\0';
}

const char *swz_file_path(void)
{
	return path;
}

/* ---------------------------------------------------------------- length */

static char *put_hex(char *to, uint64_t number)
{
	char digits[16];
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[number % 16];
		number /= 16;
	} while (number);
	while (n)
		*to++ = digits[--n];
	return to;
}

/* The kernel knows the name that the file of a mapping has now. *NAME gets it.
 */
static bool name_of_mapping(uint64_t low, uint64_t high, char *name,
			    size_t room)
{
	static const char folder[] = "/proc/self/map_files/";
	char link[sizeof(folder) + 2ul * 16 + 1], *to = link;
	long n;

	memcpy(to, folder, sizeof(folder) - 1);
	to = put_hex(to + sizeof(folder) - 1, low);
	*to++ = '-';
	to = put_hex(to, high);
	*to = '\0';
	n = SWZ_SYSCALL(SYS_readlink, link, name, room - 1);
	if (n <= 0)
		return false;
	name[n] = '\0';
	return is_named(name, file_device, file_inode);
}

/* True if `path` names the file, or where it was moved to meanwhile. */
static bool find_name(const struct swz_file_header *file, uint64_t mapped)
{
	uint64_t low = (uintptr_t)file;
	char name[sizeof(path)];

	if (!path[0])
		return false;
	if (is_named(path, file_device, file_inode))
		return true;
	/* what has other advice is another mapping */
	if (!name_of_mapping(low, low + mapped, name, sizeof(name)) &&
	    (mapped <= SWZ_HUGE_PAGE ||
	     !name_of_mapping(low, low + SWZ_HUGE_PAGE, name, sizeof(name))))
		return false;
	memcpy(path, name, strlen(name) + 1);
	return true;
}

/* Past its limit the process would get a signal. */
static bool is_allowed(uint64_t bytes)
{
	struct rlimit limit;

	return SWZ_SYSCALL(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0 ||
	       bytes <= limit.rlim_cur;
}

enum swz_file_full swz_file_name_resize(const struct swz_file_header *file,
					uint64_t mapped, uint64_t bytes)
{
	if (bytes > mapped && !is_allowed(bytes))
		return SWZ_FULL_LIMIT;
	if ((file == swz_file && swz_file_is_inherited()) ||
	    !find_name(file, mapped))
		return SWZ_FULL_NAME;
	switch (SWZ_SYSCALL(SYS_truncate, path, bytes)) {
	case 0:
		return SWZ_FULL_NOT;
	case -EFBIG:
		return SWZ_FULL_LIMIT;
	case -ENOSPC:
	case -EDQUOT:
	case -EIO:
		return SWZ_FULL_DISK;
	default:
		return SWZ_FULL_NAME;
	}
}

/* -------------------------------------------------- the summary at the end */

static bool is_there(void)
{
	return swz_file_is_ours() && swz_file_path()[0] &&
	       swz_config.run.root_pid;
}

/* The first process decides when all is known. */
static void remove_unused(void)
{
	if (is_there() && swz_config.run.only_used &&
	    swz_run_is_unused(swz_file_path()))
		SWZ_SYSCALL(SYS_unlink, swz_file_path());
}

static bool is_root(void)
{
	const struct swz_run *run = &swz_config.run;

	/* (a child may have the same number in another namespace) */
	return is_there() && !(swz_file->flags & SWZ_FILE_FORKED) &&
	       swz_file->pid == run->root_pid &&
	       swz_file->process_start == run->root_start;
}

void swz_tell_end(void)
{
	char text[SWZ_SUMMARY_BYTES];
	size_t length;

	if (!is_root()) {
		remove_unused();
		return;
	}
	if (swz_file->flags & SWZ_FILE_TOLD ||
	    (!swz_config.summary && !swz_config.run.only_used))
		return;
	/* as the profile says, though we may have been held up since */
	swz_config.run.end_ticks = swz_file->end_ticks ? swz_file->end_ticks
						       : swz_ticks();
	length = swz_run_summarize(&swz_config.run, text);
	if (length && swz_config.summary && swz_message_put_last(text, length))
		swz_file->flags |= SWZ_FILE_TOLD;
}

/* The memory of the profile. A forked child finds that it is its parent's by a
 * word in memory that the kernel wipes. Pages are made present before they are
 * used: a page fault on a full disk would be a SIGBUS in the program. */

/* ------------------------------------------------------------- the mapping */

struct swz_file_header *swz_file;

/* In memory that the kernel wipes in a forked child; NULL: there is no file. */
static _Atomic uint32_t *is_own;

void swz_file_own(_Atomic uint32_t *wiped)
{
	is_own = wiped;
	if (is_own)
		atomic_store_explicit(is_own, 1, memory_order_relaxed);
}

bool swz_file_is_inherited(void)
{
	return is_own && !atomic_load_explicit(is_own, memory_order_relaxed);
}

bool swz_file_is_ours(void)
{
	return is_own && atomic_load_explicit(is_own, memory_order_relaxed) &&
	       swz_file->pid == (int32_t)SWZ_SYSCALL(SYS_getpid);
}

/* --------------------------------------------------------- room for tables */

/* A block is what is needed soon: this for each edge that the thread has. */
#define BLOCK_BYTES_EACH 4u
#define LEAST_BLOCK 1024u
#define MOST_BLOCK 65536u
/* The pages of one that is as large are made present together. */
#define WORTH_ASKING 16384u
/* A quarter is left for folded contexts. */
#define FOLD_SHARE 4

struct range {
	char *start;
	uint64_t bytes;
	_Atomic uint64_t used;
};

static struct range ranges[2];
static char *room_end;

void swz_table_room_begin(char *first, uint64_t first_bytes, char *second,
			  uint64_t second_bytes)
{
	ranges[0] = (struct range){.start = first, .bytes = first_bytes};
	ranges[1] = (struct range){.start = second,
				   .bytes = second_bytes - SWZ_PAGE};
	room_end = second + second_bytes - SWZ_PAGE;
}

char *swz_table_room_end(void)
{
	return room_end;
}

static uint64_t bound_of(const struct range *range)
{
	return swz_file->flags & SWZ_FILE_FOLDED
		       ? range->bytes
		       : range->bytes - range->bytes / FOLD_SHARE;
}

/* Takes bytes of a range. The end of the first range is used first: it lies
 * beside what follows. */
static char *take_of(struct range *range, uint64_t bytes)
{
	uint64_t used = atomic_load_explicit(&range->used,
					     memory_order_relaxed);

	do {
		if (used + bytes > bound_of(range))
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&range->used, &used, used + bytes, memory_order_relaxed,
		memory_order_relaxed));
	return range == &ranges[0]
		       ? range->start + (range->bytes - used - bytes)
		       : range->start + used;
}

static char *take(uint64_t bytes)
{
	char *at = take_of(&ranges[0], bytes);

	return at ? at : take_of(&ranges[1], bytes);
}

static uint64_t block_bytes(const struct swz_thread_cold *cold)
{
	uint64_t bytes = (uint64_t)cold->nodes_made * BLOCK_BYTES_EACH;

	if (bytes < LEAST_BLOCK)
		return LEAST_BLOCK;
	return bytes > MOST_BLOCK ? MOST_BLOCK
				  : bytes & -(uint64_t)SWZ_TABLE_UNIT;
}

/* A block is one word, since a signal handler may take of it, too: how many
 * units before the end it begins, and below that, how many before it ends. */
static uint64_t block_at(const char *start, uint64_t bytes)
{
	uint64_t units = (uint64_t)(room_end - start) / SWZ_TABLE_UNIT;

	return units << 32 | (units - bytes / SWZ_TABLE_UNIT);
}

static char *take_of_block(struct swz_thread_cold *cold, uint64_t bytes)
{
	const uint64_t units = bytes / SWZ_TABLE_UNIT;
	uint64_t block = cold->table_block;

	do {
		if ((block >> 32) - (uint32_t)block < units)
			return NULL;
	} while (!__atomic_compare_exchange_n(
		&cold->table_block, &block, block - (units << 32), true,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return room_end - (block >> 32) * SWZ_TABLE_UNIT;
}

char *swz_table_room_take(struct swz_thread_cold *cold, uint64_t bytes)
{
	char *table, *block;
	uint64_t more;

	bytes = (bytes + SWZ_TABLE_UNIT - 1) & -(uint64_t)SWZ_TABLE_UNIT;
	table = take_of_block(cold, bytes);
	if (table)
		return table;
	more = block_bytes(cold);
	if (2 * bytes > more)
		return take(bytes);
	block = take(more);
	if (!block)
		return take(bytes);
	if (more >= WORTH_ASKING) /* where it is refused, by faults */
		SWZ_SYSCALL(SYS_madvise, ((uintptr_t)block & -SWZ_PAGE),
			    ((uintptr_t)block + more - 1) / SWZ_PAGE *
					    SWZ_PAGE -
				    ((uintptr_t)block & -SWZ_PAGE),
			    MADV_POPULATE_WRITE);
	/* what was left is too small, or a handler's new one: it stays unused
	 */
	__atomic_store_n(&cold->table_block,
			 block_at(block + bytes, more - bytes),
			 __ATOMIC_RELAXED);
	return block;
}

/* A hook that the fork has interrupted may yet write to the parent's tables: it
 * goes on behind these, as long as there is much room. */
void swz_table_room_begin_again(void)
{
	if (ranges[1].used > ranges[1].bytes / 2)
		ranges[0].used = ranges[1].used = 0;
}

/* ---------------------------------------------------- pages that are there */

bool swz_make_present(char *start, uint64_t bytes)
{
	char *page = (char *)((uintptr_t)start & -(uintptr_t)4096);
	char *end = start + bytes;
	long r = SWZ_SYSCALL(SYS_madvise, page, (size_t)(end - page),
			     MADV_POPULATE_WRITE);

	if (r == 0)
		return true;
	if (r != -EINVAL && r != -EPERM)
		return false;
	/* before Linux 5.14, or where the program has given up that call: let
	 * the kernel write, which fails where we would be killed */
	for (; page < end; page += 4096) {
		char *at = page < start ? start : page;

		if (SWZ_SYSCALL(SYS_clock_gettime, CLOCK_MONOTONIC, at) != 0)
			return false;
		memset(at, 0, sizeof(struct timespec));
	}
	return true;
}

/* ---------------------------------------------------- the page of requests */

/* A page of its own: another one is mapped over it. */
uint8_t swz_request_page[SWZ_HEADER_BYTES]
	__attribute__((aligned(SWZ_HEADER_BYTES)));

enum swz_status swz_request_map(int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	return swz_sys_mmap(swz_request_page, SWZ_HEADER_BYTES,
			    PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0)
		       ? SWZ_OK
		       : SWZ_E_SYSTEM;
}

bool swz_request_set(enum swz_request_state state, uint64_t ticks)
{
	struct swz_request *request = swz_request();

	uint32_t old = __atomic_load_n(&request->paused, __ATOMIC_RELAXED);

	if (old == (uint32_t)state || old == SWZ_REQUEST_DETACH)
		return false;
	__atomic_store_n(&request->changed_ticks, ticks, __ATOMIC_RELAXED);
	if (state != SWZ_REQUEST_RECORD)
		__atomic_store_n(&request->stopped_ticks, ticks,
				 __ATOMIC_RELAXED);
	/* release: the time, for swz_request_is_paused() */
	__atomic_store_n(&request->paused, (uint32_t)state, __ATOMIC_RELEASE);
	return true;
}
