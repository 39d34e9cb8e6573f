/* The profile that this process writes. It is mapped once, as long as it may
 * ever get, and made longer in steps. The descriptor lives only while it is
 * made. */

#include "runtime/record/record_file.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "swizzle/format.h"

/* --- the file ------------------------------------------------------------- */

/* ----------------------------------------------------- a file that is full */

static const char *reason(enum swz_file_full why)
{
	switch (why) {
	case SWZ_FULL_DISK:
		return ": the disk is full; calls from now on may be lost. "
		       "Free space, or use -o";
	case SWZ_FULL_LIMIT:
		return ": longer files are not allowed (ulimit -f); calls from "
		       "now on may be lost";
	case SWZ_FULL_NAME:
		return ": the file was removed, or this process may not open "
		       "it any more; calls from now on may be lost";
	case SWZ_FULL_MEMORY:
	case SWZ_FULL_NOT:
		break;
	}
	return ": no memory; calls from now on may be lost";
}

void swz_file_is_full(struct swz_file_header *file, enum swz_file_full why,
		      uint64_t at)
{
	uint32_t none = SWZ_FULL_NOT;

	if (file == swz_file && !swz_file_is_ours())
		return;
	if (at < file->limit_bytes)
		file->limit_bytes = at;
	if (__atomic_compare_exchange_n(&file->full, &none, why, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
	    file == swz_file)
		swz_say(swz_file_path(), reason(why), NULL);
}

/* ---------------------------------------------------- how long the file is */

/* Steps grow with the file, so that few are needed; those of a short file by
 * half, so that a small program's needs none. Where there are huge pages (of
 * the file system, too) they end at a multiple of them. */
#define LEAST_STEP (32ull << 10)
#define MOST_STEP (64ull << 20)
#define STEP_UNIT (64ull << 10)

struct extent {
	_Atomic uint64_t bytes; /* the file is at least as long, and all of it
				 * may be accessed */
	uint64_t next;          /* what `bytes` is about to be */
	uint64_t most;
};

static struct extent current, path_beside;

/* The thread that changes the length of the file; 0: none. */
static _Atomic int32_t holder;

#define PAUSE_NS 20000

static struct extent *extent_of(const struct swz_file_header *file)
{
	return file == swz_file ? &current : &path_beside;
}

static uint64_t step_to(uint64_t need, uint64_t most)
{
	bool small = need <= SWZ_HUGE_PAGE;
	uint64_t more = small ? need / 2 : need / 4;
	uint64_t unit = small ? STEP_UNIT : SWZ_HUGE_PAGE;
	uint64_t bytes;

	if (more < LEAST_STEP)
		more = LEAST_STEP;
	if (more > MOST_STEP)
		more = MOST_STEP;
	bytes = (need + more + unit - 1) & -unit;
	return bytes < most ? bytes : most;
}

/* Gives the new file behind FD its first length. MOST: what it is going to be
 * mapped with. Then, when it is mapped: takes the access to the rest away. */
static enum swz_status extent_begin(int fd, uint64_t most)
{
	uint64_t bytes = step_to(SWZ_HEADER_BYTES, most);

	if (SWZ_SYSCALL(SYS_ftruncate, fd, bytes) != 0)
		return SWZ_E_SYSTEM;
	path_beside.most = most;
	path_beside.next = bytes;
	atomic_store_explicit(&path_beside.bytes, bytes, memory_order_relaxed);
	/* of the parent's file */
	atomic_store_explicit(&holder, 0, memory_order_relaxed);
	return SWZ_OK;
}

static enum swz_status extent_close_rest(struct swz_file_header *file)
{
	uint64_t bytes = path_beside.next;

	if (bytes < path_beside.most &&
	    swz_sys_mprotect((char *)file + bytes, path_beside.most - bytes,
			     PROT_NONE) != 0)
		return SWZ_E_SYSTEM;
	return SWZ_OK;
}

/* The new one is in the place of swz_file. */
static void extent_replace(void)
{
	uint64_t bytes = atomic_load_explicit(&path_beside.bytes,
					      memory_order_relaxed);

	current.most = path_beside.most;
	current.next = bytes;
	atomic_store_explicit(&current.bytes, bytes, memory_order_relaxed);
}

uint64_t swz_extent(void)
{
	return atomic_load_explicit(&current.bytes, memory_order_relaxed);
}

/* The next place from AT on where the mapping of swz_file, or of the new one,
 * may change its protection; UINT64_MAX: nowhere. */
static uint64_t extent_border(const struct swz_file_header *file, uint64_t at)
{
	const struct extent *e = extent_of(file);
	uint64_t bytes = atomic_load_explicit(&e->bytes, memory_order_relaxed);
	uint64_t border = UINT64_MAX;

	if (e->next > at)
		border = e->next;
	if (bytes > at && bytes < border)
		border = bytes;
	return border;
}

/* Few threads ever wait, a file system's time. They sleep, since the holder
 * may be one of lower priority. False: this thread is the holder, and was
 * interrupted. */
static bool hold(void)
{
	const struct timespec pause = {0, PAUSE_NS};
	int32_t me = (int32_t)SWZ_SYSCALL(SYS_gettid), nobody = 0;

	/* acquire, and release in let_go(): the length */
	while (!atomic_compare_exchange_strong_explicit(&holder, &nobody, me,
							memory_order_acquire,
							memory_order_relaxed)) {
		if (nobody == me)
			return false;
		nobody = 0;
		SWZ_SYSCALL(SYS_nanosleep, &pause, NULL);
	}
	return true;
}

static void let_go(void)
{
	atomic_store_explicit(&holder, 0, memory_order_release);
}

static enum swz_file_full extend(struct swz_file_header *file, struct extent *e,
				 uint64_t bytes)
{
	uint64_t old = atomic_load_explicit(&e->bytes, memory_order_relaxed);
	enum swz_file_full why = swz_file_name_resize(file, old, bytes);

	if (why != SWZ_FULL_NOT)
		return why;
	e->next = bytes;
	if (swz_sys_mprotect((char *)file + old, bytes - old,
			     PROT_READ | PROT_WRITE) != 0)
		return SWZ_FULL_MEMORY;
	/* release: who sees it may use what was mapped */
	atomic_store_explicit(&e->bytes, bytes, memory_order_release);
	return SWZ_FULL_NOT;
}

static bool grow(struct swz_file_header *file, struct extent *e, uint64_t need)
{
	enum swz_file_full why = SWZ_FULL_NOT;
	uint64_t bytes;

	if (need > e->most || !hold())
		return false;
	bytes = atomic_load_explicit(&e->bytes, memory_order_relaxed);
	if (bytes < need)
		why = extend(file, e, step_to(need, e->most));
	let_go();
	if (why != SWZ_FULL_NOT)
		swz_file_is_full(file, why, bytes);
	return why == SWZ_FULL_NOT;
}

bool swz_extent_reach(struct swz_file_header *file, uint64_t bytes)
{
	struct extent *e = extent_of(file);

	return bytes <= atomic_load_explicit(&e->bytes, memory_order_acquire) ||
	       grow(file, e, bytes);
}

/* Signals are blocked: a handler would wait for what it has interrupted. */
void swz_extent_reach_all(void)
{
	uint64_t all = ~UINT64_C(0), before, most;

	if (!swz_file_is_ours())
		return;
	most = swz_file->limit_bytes & -(uint64_t)4096;
	if (swz_extent() >= most ||
	    SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, 8) != 0)
		return;
	if (hold()) {
		/* if it cannot be, that is said when the room is needed */
		if (swz_extent() < most)
			(void)extend(swz_file, &current, most);
		let_go();
	}
	SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

/* The end, in three calls. Nobody makes swz_file longer between the first and
 * the last, which is not to be called if the first returns false. Between the
 * first and the second nobody may take room either; after the second nobody has
 * any beyond BYTES (whole pages), and the last cuts the file there. OLD is what
 * the second has returned. */
static bool extent_hold(void)
{
	return hold();
}

/* A thread that needs more from now on waits for extent_cut(). */
static uint64_t extent_lower(uint64_t bytes)
{
	uint64_t old = swz_extent();

	if (bytes < old) {
		current.next = old;
		atomic_store_explicit(&current.bytes, bytes,
				      memory_order_relaxed);
	}
	return old;
}

static void extent_cut(uint64_t old)
{
	uint64_t bytes = swz_extent();
	char *from = (char *)swz_file + bytes;

	if (bytes < old &&
	    (swz_sys_mprotect(from, old - bytes, PROT_NONE) != 0 ||
	     swz_file_name_resize(swz_file, bytes, bytes) != SWZ_FULL_NOT) &&
	    swz_sys_mprotect(from, old - bytes, PROT_READ | PROT_WRITE) == 0)
		atomic_store_explicit(&current.bytes, old,
				      memory_order_relaxed);
	let_go();
}

/* --------------------------------------------------------------- making it */

/* The descriptor lives only while the file is made: a daemon that closes
 * everything, or a program that counts on the number of its next descriptor,
 * never meets it. So the file is mapped once, as long as it may ever get, and
 * made longer, or cut, by name (record_file.c, file_mapping.c). */

static struct swz_links *links;
static char *link_room; /* the mapping that they are in, with tables */
static uint64_t link_bytes;
static uint64_t mapped_bytes; /* of swz_file */
static uint64_t old_bytes;    /* of the parent's, while a child takes over */

/* Room that is left for what runs after our destructor, and of that for
 * events, if there are any. */
#define AFTERLIFE_BYTES (1ull << 20)
#define AFTERLIFE_EVENT_BYTES (1ull << 19)
/* How far from the end of their room tables can be (edge_table.h). */
#define MOST_TABLES ((uint64_t)SWZ_TABLE_UNIT << 31)
/* The first of them lie before the links. Others may lie in huge pages. */
#define SMALL_TABLES (1016u << 10)
/* Between these and the links. */
#define WIPED_WORD_ROOM SWZ_TABLE_UNIT
/* Bytes before the links, so that they lie as huge pages need it. */
#define FIRST_LINKS (SWZ_HUGE_PAGE / SWZ_UNIT_BYTES * sizeof(struct swz_links))
#define BEFORE_LINKS (SWZ_HUGE_PAGE - FIRST_LINKS - SWZ_PAGE)

_Static_assert(SMALL_TABLES + WIPED_WORD_ROOM <= BEFORE_LINKS,
	       "room before the links");

static uint64_t wanted_bytes(void)
{
	return swz_config.max_memory +
	       (swz_config.trace ? swz_config.max_size : 0);
}

/* The bound, or less where the process may not write files that long: going
 * past RLIMIT_FSIZE would be a signal to the program. */
static uint64_t allowed_bytes(void)
{
	struct rlimit limit;
	uint64_t bytes = wanted_bytes();

	if (SWZ_SYSCALL(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	    limit.rlim_cur < bytes)
		bytes = limit.rlim_cur & -(uint64_t)4096;
	return bytes;
}

static uint64_t number_of(const struct swz_trigger *trigger)
{
	return trigger->pattern ? trigger->number : 0;
}

static void fill_header(struct swz_file_header *h, uint64_t bytes, int32_t pid)
{
	struct timespec now = {0, 0};

	memcpy(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic));
	h->version = SWZ_FILE_VERSION;
	h->header_bytes = SWZ_HEADER_BYTES;
	h->byte_order = SWZ_FILE_BYTE_ORDER;
	h->used_bytes = SWZ_HEADER_BYTES;
	h->limit_bytes = bytes;
	if (bytes < wanted_bytes())
		h->flags = SWZ_FILE_SHORT;
	if (swz_config.trace) {
		h->flags |= SWZ_FILE_TRACED;
		if (swz_config.ring)
			h->flags |= SWZ_FILE_RING;
		if (swz_config.flows)
			h->flags |= SWZ_FILE_FLOWS;
		h->event_limit_bytes = bytes - swz_config.max_memory;
		/* less than was asked for: a part for each */
		if (bytes < wanted_bytes())
			h->event_limit_bytes = bytes / 2 & -(uint64_t)4096;
	}
	h->pid = pid;
	h->parent_pid = (int32_t)SWZ_SYSCALL(SYS_getppid);
	h->process_start = swz_process_start(0);
	h->root_pid = swz_config.run.root_pid;
	h->root_start = swz_config.run.root_start;
	h->start_ticks = swz_ticks();
	h->epoch_ticks = h->start_ticks;
	swz_clock_read(CLOCK_REALTIME, &now);
	h->start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u +
			       (uint64_t)now.tv_nsec;
	h->start_at_number = number_of(&swz_config.start_at);
	h->stop_at_number = number_of(&swz_config.stop_at);
	h->start_at_calls = swz_trigger_state.starts;
	h->stop_at_calls = swz_trigger_state.stops;
	h->trigger_flags = swz_trigger_state.flags;
	h->arena_start = (uintptr_t)swz_arena_start;
	h->arena_end = (uintptr_t)swz_arena_end;
}

/* A place where nobody looks for room: a large mapping next to the libraries
 * would leave none within reach of their jumps (2 GiB). Aligned as the kernel
 * needs it to map a large folio of a file all at once. */
static void *far_below_us(uint64_t bytes)
{
	uintptr_t us = (uintptr_t)&swz_file;
	uint64_t distance = bytes + (8ull << 30);

	return us > distance
		       ? (void *)((us - distance) & -(uintptr_t)SWZ_HUGE_PAGE)
		       : NULL;
}

/* The header is there before the file gets its length: a process that is killed
 * then leaves one that readers know, and that the next one of that name
 * replaces. */
static struct swz_file_header *create(bool replace, const char **problem)
{
	uint64_t bytes = allowed_bytes();
	struct swz_file_header header = {.magic = {0}}, *h = NULL;
	struct stat st;
	long fd;

	fill_header(&header, bytes, (int32_t)SWZ_SYSCALL(SYS_getpid));
	fd = swz_file_name_create(&header, replace, &st);
	*problem = fd < 0 && fd != -ENOSPC ? "cannot create the profile "
					   : "the disk is full: no room for "
					     "the profile ";
	if (fd < 0)
		return NULL;
	if (extent_begin((int)fd, bytes) == SWZ_OK) {
		h = swz_sys_mmap(far_below_us(bytes), bytes,
				 PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd,
				 0);
		if (!h)
			*problem = "too little address space (ulimit -v) for "
				   "the profile ";
	}
	if (h && swz_request_map((int)fd) != SWZ_OK) {
		swz_sys_munmap(h, bytes);
		h = NULL;
	}
	SWZ_SYSCALL(SYS_close, fd);
	/* There is nothing to read ahead: it would make pages of zeros,
	 * megabytes of them, some milliseconds long. (Events will be written to
	 * them, and large folios take a fourth of the time.) */
	if (h && !swz_config.trace)
		SWZ_SYSCALL(SYS_madvise, h, bytes, MADV_RANDOM);
	if (h && (!swz_make_present((char *)h, SWZ_PRESENT_BYTES) ||
		  extent_close_rest(h) != SWZ_OK)) {
		swz_sys_munmap(h, bytes);
		h = NULL;
	}
	if (!h) {
		SWZ_SYSCALL(SYS_unlink, swz_file_path());
		return NULL;
	}
	swz_file_name_keep(st.st_dev, st.st_ino);
	swz_request()->version = SWZ_REQUEST_VERSION;
	return h;
}

/* Half of what links take: most tables take less. And no more than half of
 * what they can tell. */
static uint64_t table_bytes(uint64_t all_links)
{
	return (all_links < MOST_TABLES ? all_links : MOST_TABLES) / 2 +
	       SWZ_PAGE;
}

/* Maps the links. If nodes lie in huge pages their links do, too; not those of
 * the first nodes, since the page before all is not mapped. The first tables
 * lie before these links. (In a trace the little of them that is used lies far
 * apart, between events.) */
static enum swz_status map_links(void)
{
	/* a child's file is never larger */
	uint64_t all = mapped_bytes / SWZ_UNIT_BYTES * sizeof(*links);
	uint64_t bytes = BEFORE_LINKS + all + table_bytes(all), near;
	char *room = far_below_us(mapped_bytes + 2 * SWZ_HUGE_PAGE + bytes);

	room = swz_sys_mmap(room ? room + SWZ_PAGE : NULL, bytes,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!room)
		return SWZ_E_NOMEM;
	link_room = room;
	link_bytes = bytes;
	if (SWZ_SYSCALL(SYS_madvise, room, bytes, MADV_WIPEONFORK) != 0)
		return SWZ_E_NOMEM;
	if (swz_config.trace)
		SWZ_SYSCALL(SYS_madvise, room, bytes, MADV_NOHUGEPAGE);
	/* A core file would have the length of all that is not there, too. */
	SWZ_SYSCALL(SYS_madvise, room, bytes, MADV_DONTDUMP);
	links = (struct swz_links *)(void *)(room + BEFORE_LINKS);
	near = bytes < MOST_TABLES ? SMALL_TABLES : 0;
	swz_table_room_begin((char *)links - WIPED_WORD_ROOM - near, near,
			     room + BEFORE_LINKS + all, table_bytes(all));
	return SWZ_OK;
}

_Atomic uint32_t *swz_file_wiped_word(void)
{
	return (_Atomic uint32_t *)(void *)((char *)links - WIPED_WORD_ROOM);
}

void swz_file_begin_huge_pages(struct swz_file_header *file)
{
	const uint64_t first = SWZ_HUGE_PAGE - SWZ_PAGE; /* of the links */

	if (file->limit_bytes > SWZ_HUGE_PAGE)
		SWZ_SYSCALL(SYS_madvise, (char *)file + SWZ_HUGE_PAGE,
			    file->limit_bytes - SWZ_HUGE_PAGE, MADV_HUGEPAGE);
	if (links && !swz_config.trace && link_bytes > first)
		SWZ_SYSCALL(SYS_madvise, link_room + first, link_bytes - first,
			    MADV_HUGEPAGE);
}

enum swz_status swz_file_create(const char **problem)
{
	swz_file = create(swz_config.fresh, problem);
	if (!swz_file)
		return SWZ_E_SYSTEM;
	extent_replace();
	mapped_bytes = swz_file->limit_bytes;
	*problem = "no memory for the profile ";
	if (map_links() != SWZ_OK)
		return SWZ_E_NOMEM;
	swz_file_own(swz_file_wiped_word() + 1);
	return SWZ_OK;
}

void swz_file_discard(void)
{
	if (!swz_file)
		return;
	if (link_bytes)
		swz_sys_munmap(link_room, link_bytes);
	swz_sys_munmap(swz_file, mapped_bytes);
	swz_request_map(-1);
	swz_file = NULL;
	swz_file_own(NULL);
	links = NULL;
	SWZ_SYSCALL(SYS_unlink, swz_file_path());
	swz_file_name_forget();
}

uint64_t swz_file_mapped_bytes(void)
{
	return mapped_bytes;
}

uint64_t swz_file_links_bytes(void)
{
	return link_bytes;
}

struct swz_links *swz_file_links(void)
{
	return links;
}

uint64_t swz_file_used(void)
{
	/* (that of a parent process may be cut just now) */
	uint64_t used = __atomic_load_n(&swz_file->used_bytes,
					__ATOMIC_ACQUIRE) &
			~SWZ_USED_CLOSED;

	return used < swz_extent() ? used : swz_extent();
}

struct swz_file_header *swz_file_create_beside(void)
{
	const char *problem;

	return create(false, &problem);
}

void swz_file_remove_beside(void)
{
	SWZ_SYSCALL(SYS_unlink, swz_file_path());
}

static bool failed(long result)
{
	return result < 0 && result > -4096;
}

/* The kernel knows a profile as several mappings, since advice and protection
 * are not the same for all of it, and moves one at a time (before Linux 6.17).
 */
static enum swz_status move(char *from, uint64_t bytes, char *to)
{
	const struct swz_file_header *file = (const void *)from;
	uint64_t start = 0, end;

	for (; start < bytes; start = end) {
		end = extent_border(file, start);
		if (start < SWZ_HUGE_PAGE && SWZ_HUGE_PAGE < end)
			end = SWZ_HUGE_PAGE;
		if (end > bytes)
			end = bytes;
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
	if (move((char *)swz_file, mapped_bytes, room) != SWZ_OK)
		return SWZ_E_SYSTEM;
	*old = (struct swz_file_header *)(void *)room;
	old_bytes = mapped_bytes;
	if (move((char *)beside, bytes, (char *)swz_file) != SWZ_OK)
		return SWZ_E_SYSTEM;
	extent_replace();
	swz_file_own(swz_file_wiped_word() + 1);
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
		plain->used_bytes =
			SWZ_USED_CLOSED; /* full, as its limit is 0 */
	swz_request_map(-1);
	swz_file_name_forget();
}

/* Less than a microsecond. */
#define TIGHT_TICKS 1000

void swz_file_sample_clock(unsigned which)
{
	struct swz_clock_sample *sample = &swz_file->clock[which];
	uint64_t best = UINT64_MAX;

	/* the tightest of three brackets, or the first that is tight */
	for (int i = 0; i < 3 && best > TIGHT_TICKS; i++) {
		struct timespec now;
		uint64_t before = swz_ticks(), after;

		/* refused, or not asked any more: no sample */
		if (!swz_clock_read(CLOCK_MONOTONIC, &now))
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

/* Another process takes room by what used_bytes and the file's length were
 * (src/ctl/live_profile.c, src/watch/hooked_waits.c). If that was before a cut,
 * it must find another end after it: an empty chunk. Returns the end. Where
 * there is no room for that, there is none for the other process either. */
static uint64_t move_end(uint64_t bytes)
{
	struct swz_chunk *padding = (void *)((char *)swz_file + bytes);

	if (bytes + sizeof(*padding) > swz_extent() ||
	    !swz_make_present((char *)padding, sizeof(*padding)))
		return bytes;
	padding->type = SWZ_CHUNK_PADDING;
	padding->bytes = sizeof(*padding);
	/* release: the chunk is there when its number is */
	__atomic_store_n(&padding->magic, SWZ_CHUNK_MAGIC, __ATOMIC_RELEASE);
	return bytes + sizeof(*padding);
}

void swz_file_finish(void)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&swz_file->used_bytes;
	uint64_t bytes, later = AFTERLIFE_BYTES, old = 0;
	bool held;

	if (!swz_file || !swz_file_path()[0])
		return;
	swz_file_sample_clock(2);
	swz_file->flags |= SWZ_FILE_ENDED;
	/* Threads may go on, and destructors of other libraries come yet: they
	 * get a little more, and all that is handed out lies before the cut. */
	held = extent_hold();
	bytes = atomic_fetch_or_explicit(used, SWZ_USED_CLOSED,
					 memory_order_relaxed) &
		~SWZ_USED_CLOSED;
	if (held)
		bytes = move_end(bytes);
	if (swz_file->event_limit_bytes >
	    swz_file->event_bytes + AFTERLIFE_EVENT_BYTES) {
		swz_file->event_limit_bytes = swz_file->event_bytes +
					      AFTERLIFE_EVENT_BYTES;
		later += AFTERLIFE_EVENT_BYTES;
	}
	if (swz_file->limit_bytes > bytes + later)
		swz_file->limit_bytes = (bytes + later) & -(uint64_t)4096;
	if (held)
		old = extent_lower((bytes + 4095) & -(uint64_t)4096);
	atomic_store_explicit(used, bytes, memory_order_relaxed);
	if (held)
		extent_cut(old);
}

/* --- chunks --------------------------------------------------------------- */

/* Space is taken by one atomic addition, once the file is long enough, and made
 * present; a chunk's magic
 * number is stored last, so a reader, of a live process too, knows what is
 * complete. */

/* With less room than this, none is given up for huge pages. */
#define WORTH_HUGE_PAGES (64ull << 20)

/* The file in which huge pages were begun, or could not be, by its start: a
 * forked child's is another one. */
static _Atomic uint64_t tried_in;

/* The room that is left for all but events when `used` bytes are taken. */
static uint64_t room_at(const struct swz_file_header *file, uint64_t used)
{
	uint64_t events = __atomic_load_n(&file->event_bytes, __ATOMIC_RELAXED);
	uint64_t limit = file->limit_bytes;

	/* what events may still take is not to be had */
	if (file->event_limit_bytes > events)
		used += file->event_limit_bytes - events;
	return used > limit ? 0 : limit - used;
}

uint64_t swz_chunks_room(void)
{
	return room_at(swz_file, __atomic_load_n(&swz_file->used_bytes,
						 __ATOMIC_RELAXED));
}

/* Contexts begin to be folded when an eighth of the bound is left; where that
 * is less than a large program's call edges need, up to a half. */
#define FOLD_SHARE 8u
#define FOLD_SHARE_MOST 2u
#define FOLD_BYTES (8ull << 20)

uint64_t swz_nodes_fold_reserve(void)
{
	uint64_t bound = swz_file->limit_bytes - swz_file->event_limit_bytes;
	uint64_t bytes = bound / FOLD_SHARE_MOST;

	if (swz_file->flags & SWZ_FILE_ENDED)
		return 0;
	if (bytes > FOLD_BYTES)
		bytes = FOLD_BYTES;
	return bytes > bound / FOLD_SHARE ? bytes : bound / FOLD_SHARE;
}

/* Up to where in the file of that start all is present, as its first chunks are
 * small: those in a page that is there need not ask for it again. */
static _Atomic uint64_t present_in, present_end;

static bool make_present(const struct swz_file_header *file, uint64_t at,
			 uint64_t bytes)
{
	uint64_t end = SWZ_PRESENT_BYTES;

	/* acquire: matches the release below */
	if (atomic_load_explicit(&present_in, memory_order_acquire) ==
	    file->start_ticks)
		end = atomic_load_explicit(&present_end, memory_order_relaxed);
	if (at + bytes <= end)
		return true;
	if (!swz_make_present((char *)file + at, bytes))
		return false;
	/* what lies between is another thread's, or not of this file yet */
	if (at > end)
		return true;
	/* that of a thread that was faster may be larger: then some ask again
	 */
	atomic_store_explicit(&present_end,
			      (at + bytes + 4095) & -(uint64_t)4096,
			      memory_order_relaxed);
	/* release: with the end */
	atomic_store_explicit(&present_in, file->start_ticks,
			      memory_order_release);
	return true;
}

/* Who takes the first byte behind small pages tells the kernel: most programs
 * never come there. */
static void note_taken(struct swz_file_header *file, uint64_t from, uint64_t to)
{
	if (from <= SWZ_HUGE_PAGE && to > SWZ_HUGE_PAGE)
		swz_file_begin_huge_pages(file);
}

struct swz_chunk *swz_chunk_take(struct swz_file_header *file, uint32_t type,
				 uint64_t payload_bytes, uint32_t count,
				 uint32_t owner)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&file->used_bytes;
	uint64_t bytes = (payload_bytes + sizeof(struct swz_chunk) + 63) &
			 -(uint64_t)64;
	uint64_t at = atomic_load_explicit(used, memory_order_relaxed);
	struct swz_chunk *chunk;

	do {
		/* before it is taken: a file is no shorter than what is used */
		if (bytes > room_at(file, at) ||
		    !swz_extent_reach(file, at + bytes))
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(used, &at, at + bytes,
							memory_order_relaxed,
							memory_order_relaxed));
	note_taken(file, at, at + bytes);
	chunk = (struct swz_chunk *)((char *)file + at);
	if (!make_present(file, at, bytes)) {
		/* The disk is full, and stays so for us. */
		uint64_t end = at + bytes;

		swz_file_is_full(file, SWZ_FULL_DISK, at);
		atomic_compare_exchange_strong_explicit(used, &end, at,
							memory_order_relaxed,
							memory_order_relaxed);
		return NULL;
	}
	chunk->type = type;
	chunk->bytes = bytes;
	chunk->count = count;
	chunk->owner = owner;
	return chunk;
}

/* Publishes the gap before a chunk that begins at a whole page. False: there
 * is no room. */
static bool publish_padding(struct swz_file_header *file, uint64_t at,
			    uint64_t bytes)
{
	struct swz_chunk *padding = (struct swz_chunk *)((char *)file + at);

	if (!bytes || !swz_make_present((char *)padding, sizeof(*padding)))
		return false;
	padding->type = SWZ_CHUNK_PADDING;
	padding->bytes = bytes;
	swz_chunk_publish(padding);
	return true;
}

void swz_chunks_pass_over(struct swz_file_header *file, uint64_t until)
{
	uint64_t at = file->used_bytes;

	if (until > at && room_at(file, until) >= room_at(file, at) / 2 &&
	    swz_extent_reach(file, until) &&
	    publish_padding(file, at, until - at)) {
		file->used_bytes = until;
		note_taken(file, at, until);
	}
}

void swz_chunks_begin_huge_pages(void)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&swz_file->used_bytes;
	const uint64_t huge = SWZ_HUGE_PAGE;
	uint64_t at = atomic_load_explicit(used, memory_order_relaxed);
	uint64_t taken = 2 * huge, end = huge;

	/* until it is there, all of the second one is ours alone */
	do {
		if (tried_in == swz_file->start_ticks || at >= huge ||
		    room_at(swz_file, at) < WORTH_HUGE_PAGES ||
		    !swz_extent_reach(swz_file, taken))
			return;
	} while (!atomic_compare_exchange_weak_explicit(
		used, &at, taken, memory_order_relaxed, memory_order_relaxed));
	tried_in = swz_file->start_ticks;
	note_taken(swz_file, at, taken);
	if (!swz_make_present((char *)swz_file + huge, 1)) {
		/* what a disk that is nearly full has given for it serves for
		 * small ones */
		SWZ_SYSCALL(SYS_madvise, (char *)swz_file + huge, huge,
			    MADV_REMOVE);
		end = at;
	}
	if (!atomic_compare_exchange_strong_explicit(used, &taken, end,
						     memory_order_relaxed,
						     memory_order_relaxed))
		end = 2 * huge; /* others have taken what comes then */
	(void)publish_padding(swz_file, at, end - at);
}

struct swz_chunk *swz_chunk_take_events(uint32_t type, uint32_t pages,
					uint32_t owner)
{
	_Atomic uint64_t *used = (_Atomic uint64_t *)&swz_file->used_bytes;
	_Atomic uint64_t *events = (_Atomic uint64_t *)&swz_file->event_bytes;
	uint64_t bytes = (uint64_t)pages * SWZ_EVENT_PAGE, at, start;
	struct swz_chunk *chunk;

	at = atomic_fetch_add_explicit(events, bytes, memory_order_relaxed);
	if (at + bytes > swz_file->event_limit_bytes) {
		atomic_fetch_sub_explicit(events, bytes, memory_order_relaxed);
		return NULL;
	}
	at = atomic_load_explicit(used, memory_order_relaxed);
	do {
		start = (at + SWZ_EVENT_PAGE - 1) & -(uint64_t)SWZ_EVENT_PAGE;
		if (start > swz_file->limit_bytes ||
		    bytes > swz_file->limit_bytes - start ||
		    !swz_extent_reach(swz_file, start + bytes))
			return NULL; /* full, also for events */
	} while (!atomic_compare_exchange_weak_explicit(
		used, &at, start + bytes, memory_order_relaxed,
		memory_order_relaxed));
	note_taken(swz_file, at, start + bytes);
	(void)publish_padding(swz_file, at, start - at);
	chunk = (struct swz_chunk *)((char *)swz_file + start);
	if (!swz_make_present((char *)chunk, bytes)) {
		/* The disk is full: the place stays a hole, which takes none
		 * of it, and there will be no other. */
		swz_file->event_limit_bytes = 0;
		swz_file_is_full(swz_file, SWZ_FULL_DISK, start);
		return NULL;
	}
	chunk->type = type;
	chunk->bytes = bytes;
	chunk->owner = owner;
	return chunk;
}

void swz_chunk_publish(struct swz_chunk *chunk)
{
	/* release: a reader that sees the magic sees the rest */
	atomic_store_explicit((_Atomic uint32_t *)&chunk->magic,
			      SWZ_CHUNK_MAGIC, memory_order_release);
}
