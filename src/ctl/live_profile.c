/* Works on the profile of a process while that writes it: the file is mapped,
 * and what the process changes is read with acquire order. Nothing is taken
 * from it twice, because it may change between; sizes and offsets are checked
 * against the mapping. Snapshots, marks, the state of the hooks and `status`
 * are made of this. */

#include "base/basics.h"
#include "ctl/ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "control/attach.h"
#include "swizzle/format.h"
#include "top/live.h"
#include "util/output.h"

static struct swz_ctl_hooks_state ctl_hooks_of(
	const struct swz_live_profile *profile, int32_t pid);

/* --- a profile that is being written ------------------------------------- */

/* The process goes on writing. It never makes its file shorter than what is in
 * use, and room in it is taken by compare-and-exchange, so this one can take
 * some, too: in chunks for marks from outside (SWZ_MARKS_OUTSIDE), the first of
 * which is there from the start. The file is not made longer: that is its
 * writer's. */

/* Calls and threads so far. */
struct swz_live_counts {
	uint64_t calls;
	uint64_t threads;
};

/* Calls VISIT for each chunk that is complete, with its offset. */
typedef void swz_live_visitor(void *context, const struct swz_chunk *chunk,
			      uint64_t offset);

#define LOOK_NS 5000000
#define MARKS_BYTES UINT64_C(1024) /* of a chunk that is taken here */

/* The file is there before its header: all of that is zeros, or not there. */
#define BEGIN_NS 2000000000u

static bool has_begun(const struct swz_live_profile *profile)
{
	static const char nothing[sizeof(profile->header->magic)];

	return profile->page &&
	       memcmp(profile->header->magic, nothing, sizeof(nothing)) != 0 &&
	       profile->request->version;
}

static bool map_header(struct swz_live_profile *profile)
{
	struct stat st;

	if (!profile->page && fstat(profile->fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && (uint64_t)st.st_size >= SWZ_PAGE) {
		profile->page = mmap(NULL, SWZ_PAGE, PROT_READ | PROT_WRITE,
				     MAP_SHARED, profile->fd, 0);
		if (profile->page == MAP_FAILED)
			profile->page = NULL;
	}
	if (!profile->page)
		return false;
	profile->header = (struct swz_file_header *)(void *)profile->page;
	profile->request = (struct swz_request *)(void *)(profile->page +
							  SWZ_REQUEST_OFFSET);
	return has_begun(profile);
}

bool swz_live_open(struct swz_live_profile *profile,
		   const struct swz_ctl_process *process)
{
	const struct timespec look = {0, LOOK_NS};

	*profile = (struct swz_live_profile){.path = process->profile};
	profile->fd = open(process->profile,
			   O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (profile->fd < 0) {
		snprintf(profile->problem, sizeof(profile->problem), "%s",
			 strerror(errno));
		return false;
	}
	for (uint64_t waited = 0; !map_header(profile) && waited < BEGIN_NS &&
				  kill(process->pid, 0) == 0;
	     waited += LOOK_NS)
		nanosleep(&look, NULL);
	if (!profile->page ||
	    memcmp(profile->header->magic, SWZ_FILE_MAGIC,
		   sizeof(profile->header->magic)) != 0 ||
	    profile->header->version != SWZ_FILE_VERSION ||
	    profile->request->version != SWZ_REQUEST_VERSION) {
		snprintf(profile->problem, sizeof(profile->problem),
			 "its profile is of another version of swizzle");
		swz_live_close(profile);
		return false;
	}
	return true;
}

void swz_live_close(struct swz_live_profile *profile)
{
	if (profile->page)
		munmap(profile->page, SWZ_PAGE);
	close(profile->fd);
	profile->page = NULL;
	profile->fd = -1;
}

bool swz_live_wait_ready(struct swz_live_profile *profile,
			 const struct swz_ctl_process *process, uint64_t ns)
{
	const struct timespec look = {0, LOOK_NS};

	for (uint64_t waited = 0;; waited += LOOK_NS) {
		/* acquire: what it has begun with */
		if (__atomic_load_n(&profile->request->ready, __ATOMIC_ACQUIRE))
			return true;
		if (waited >= ns || kill(process->pid, 0) != 0)
			break;
		nanosleep(&look, NULL);
	}
	snprintf(profile->problem, sizeof(profile->problem),
		 "it is still starting: its functions are being planned. Try "
		 "again in a moment");
	return false;
}

uint64_t swz_live_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* Bytes that are in use. */
static uint64_t live_used(const struct swz_live_profile *profile)
{
	uint64_t used = __atomic_load_n(&profile->header->used_bytes,
					__ATOMIC_ACQUIRE) &
			~SWZ_USED_CLOSED;
	struct stat st;

	if (fstat(profile->fd, &st) != 0)
		return 0;
	return used < (uint64_t)st.st_size ? used : (uint64_t)st.st_size;
}

enum swz_request_state swz_live_state(const struct swz_live_profile *profile)
{
	uint32_t state = __atomic_load_n(&profile->request->paused,
					 __ATOMIC_ACQUIRE);

	return state > SWZ_REQUEST_DETACH ? SWZ_REQUEST_PAUSE
					  : (enum swz_request_state)state;
}

/* ---------------------------------------------------------------- chunks */

static void live_chunks(const struct swz_live_profile *profile, uint64_t end,
			swz_live_visitor *visit, void *context)
{
	uint64_t at = SWZ_HEADER_BYTES;
	struct swz_chunk chunk;

	while (at + sizeof(chunk) <= end &&
	       pread(profile->fd, &chunk, sizeof(chunk), (off_t)at) ==
		       (ssize_t)sizeof(chunk)) {
		bool good = chunk.magic == SWZ_CHUNK_MAGIC &&
			    chunk.bytes >= sizeof(chunk) &&
			    chunk.bytes % SWZ_UNIT_BYTES == 0 &&
			    chunk.bytes <= end - at;

		if (good)
			visit(context, &chunk, at);
		at += good ? chunk.bytes : SWZ_UNIT_BYTES;
	}
}

struct counting {
	const struct swz_live_profile *profile;
	struct swz_live_counts counts;
};

static void count_chunk(void *context, const struct swz_chunk *chunk,
			uint64_t offset)
{
	struct counting *c = context;
	struct swz_node nodes[256];
	uint64_t left = (chunk->bytes - sizeof(*chunk)) / sizeof(*nodes);

	if (chunk->type == SWZ_CHUNK_THREAD)
		c->counts.threads++;
	if (chunk->type != SWZ_CHUNK_NODES)
		return;
	if (left > chunk->count)
		left = chunk->count;
	offset += sizeof(*chunk);
	while (left) {
		size_t n = left < 256 ? (size_t)left : 256;
		ssize_t got = pread(c->profile->fd, nodes, n * sizeof(*nodes),
				    (off_t)offset);

		if (got != (ssize_t)(n * sizeof(*nodes)))
			return;
		for (size_t i = 0; i < n; i++)
			if (nodes[i].function != SWZ_FUNCTION_NONE)
				c->counts.calls += nodes[i].calls;
		left -= n;
		offset += n * sizeof(*nodes);
	}
}

static struct swz_live_counts live_count(const struct swz_live_profile *profile)
{
	struct counting c = {.profile = profile};

	live_chunks(profile, live_used(profile), count_chunk, &c);
	return c.counts;
}

/* ----------------------------------------------------------------- marks */

struct marking {
	struct swz_live_profile *profile;
	enum swz_mark_kind kind;
	const char *text;
	size_t text_bytes;
	bool cut;
	uint64_t ticks;
	bool done;
};

static uint64_t record_bytes(const struct marking *m)
{
	return (sizeof(struct swz_mark_record) + m->text_bytes + 7) &
	       ~UINT64_C(7);
}

/* As the process itself does it: src/runtime/record/annotations.c. */
static bool put_record(const struct marking *m, struct swz_chunk *chunk)
{
	uint64_t *used = &chunk->reserved[SWZ_MARKS_USED];
	uint64_t at = __atomic_load_n(used, __ATOMIC_RELAXED);
	uint64_t room = chunk->bytes - sizeof(*chunk);
	struct swz_mark_record *record;

	do {
		if (at > room || record_bytes(m) > room - at)
			return false;
	} while (!__atomic_compare_exchange_n(used, &at, at + record_bytes(m),
					      false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	record = (void *)((char *)(chunk + 1) + at);
	record->node = 0;
	record->kind = (uint16_t)(m->kind | (m->cut ? SWZ_MARK_CUT : 0u));
	record->text_bytes = (uint16_t)m->text_bytes;
	memcpy(record + 1, m->text, m->text_bytes);
	__atomic_store_n(&record->ticks, m->ticks, __ATOMIC_RELEASE);
	return true;
}

/* Maps a part of the file. NULL: it cannot be. */
static uint8_t *map_part(const struct swz_live_profile *profile,
			 uint64_t offset, uint64_t bytes, uint8_t **mapping,
			 size_t *mapped)
{
	uint64_t first = swz_page_down(offset);

	*mapped = (size_t)(offset + bytes - first);
	*mapping = mmap(NULL, *mapped, PROT_READ | PROT_WRITE, MAP_SHARED,
			profile->fd, (off_t)first);
	if (*mapping == MAP_FAILED)
		return NULL;
	return *mapping + (offset - first);
}

static void mark_in_chunk(void *context, const struct swz_chunk *chunk,
			  uint64_t offset)
{
	struct marking *m = context;
	uint8_t *mapping, *at;
	size_t mapped;

	if (m->done || chunk->type != SWZ_CHUNK_MARKS ||
	    chunk->owner != SWZ_MARKS_OUTSIDE || chunk->bytes > 16 * SWZ_PAGE)
		return;
	at = map_part(m->profile, offset, chunk->bytes, &mapping, &mapped);
	if (!at)
		return;
	m->done = put_record(m, (struct swz_chunk *)(void *)at);
	munmap(mapping, mapped);
}

/* The offset of room for a chunk within the file as long as it is; 0: none. */
static uint64_t take_room(const struct swz_live_profile *profile)
{
	struct swz_file_header *h = profile->header;
	uint64_t used = __atomic_load_n(&h->used_bytes, __ATOMIC_RELAXED);
	uint64_t events = h->event_limit_bytes > h->event_bytes
				  ? h->event_limit_bytes - h->event_bytes
				  : 0;
	struct stat st;

	do {
		if (used & SWZ_USED_CLOSED || fstat(profile->fd, &st) != 0 ||
		    used + MARKS_BYTES > (uint64_t)st.st_size ||
		    used + MARKS_BYTES + events > h->limit_bytes)
			return 0;
	} while (!__atomic_compare_exchange_n(
		&h->used_bytes, &used, used + MARKS_BYTES, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return used;
}

static void mark_in_new_chunk(struct marking *m)
{
	uint64_t offset = record_bytes(m) + sizeof(struct swz_chunk) <=
					  MARKS_BYTES
				  ? take_room(m->profile)
				  : 0;
	struct swz_chunk *chunk;
	uint8_t *mapping;
	size_t mapped;

	if (!offset)
		return;
	chunk = (struct swz_chunk *)(void *)map_part(
		m->profile, offset, MARKS_BYTES, &mapping, &mapped);
	if (!chunk)
		return;
	chunk->type = SWZ_CHUNK_MARKS;
	chunk->bytes = MARKS_BYTES;
	chunk->owner = SWZ_MARKS_OUTSIDE;
	m->done = put_record(m, chunk);
	__atomic_store_n(&chunk->magic, SWZ_CHUNK_MAGIC, __ATOMIC_RELEASE);
	munmap(mapping, mapped);
}

/* Not within a character of UTF-8. */
static size_t cut(const char *text, size_t most)
{
	size_t bytes = strlen(text);

	if (bytes <= most)
		return bytes;
	bytes = most;
	while (bytes && ((uint8_t)text[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

bool swz_live_mark(struct swz_live_profile *profile, enum swz_mark_kind kind,
		   const char *text)
{
	const size_t most = MARKS_BYTES - sizeof(struct swz_chunk) -
			    sizeof(struct swz_mark_record) - 8;
	struct marking m = {.profile = profile,
			    .kind = kind,
			    .text = text,
			    .text_bytes = cut(text, most),
			    .ticks = swz_live_ticks()};

	m.cut = text[m.text_bytes];
	live_chunks(profile, live_used(profile), mark_in_chunk, &m);
	if (!m.done)
		mark_in_new_chunk(&m);
	if (!m.done) {
		__atomic_fetch_add(&profile->header->lost_marks, 1,
				   __ATOMIC_RELAXED);
		snprintf(profile->problem, sizeof(profile->problem),
			 "there is no room for a mark in its profile now");
	}
	return m.done;
}

bool swz_live_set(struct swz_live_profile *profile,
		  enum swz_request_state state)
{
	static const enum swz_mark_kind kinds[] = {
		[SWZ_REQUEST_RECORD] = SWZ_MARK_PROCESS_RESUMED,
		[SWZ_REQUEST_PAUSE] = SWZ_MARK_PROCESS_PAUSED,
		[SWZ_REQUEST_DETACH] = SWZ_MARK_DETACHED,
	};
	struct swz_request *request = profile->request;
	uint32_t old = __atomic_load_n(&request->paused, __ATOMIC_RELAXED);

	do {
		uint64_t now = swz_live_ticks();

		if (old == (uint32_t)state || old == SWZ_REQUEST_DETACH)
			return false;
		__atomic_store_n(&request->changed_ticks, now,
				 __ATOMIC_RELAXED);
		if (state != SWZ_REQUEST_RECORD)
			__atomic_store_n(&request->stopped_ticks, now,
					 __ATOMIC_RELAXED);
		/* release: the time, for who reads the state */
	} while (!__atomic_compare_exchange_n(
		&request->paused, &old, (uint32_t)state, false,
		__ATOMIC_RELEASE, __ATOMIC_RELAXED));
	(void)swz_live_mark(profile, kinds[state], "");
	return true;
}

/* --- hooks --------------------------------------------------------------- */

enum swz_ctl_hooks {
	SWZ_CTL_HOOKED, /* all are there */
	SWZ_CTL_NATIVE, /* none is */
	SWZ_CTL_PARTLY  /* a controller was killed, or is at work */
};

struct swz_ctl_hooks_state {
	enum swz_ctl_hooks hooks;
	/* 0 where ptrace is not permitted: */
	uint32_t left_out; /* functions that are not hooked since recording was
			    * started again */
	uint32_t lasting;  /* jumps that stay when the hooks are out */
};

static void note(const struct swz_live_profile *profile, bool native)
{
	__atomic_store_n(&profile->request->native, native, __ATOMIC_RELAXED);
}

static void tell(const struct swz_attached *a, bool hooked,
		 char told[SWZ_CTL_TOLD_BYTES])
{
	char stops[SWZ_STOPS_BYTES];

	swz_attached_tell_stops(a, stops);
	snprintf(told, SWZ_CTL_TOLD_BYTES, "%s: %s",
		 hooked ? "functions hooked" : "hooks taken out", stops);
}

bool swz_ctl_hook(struct swz_live_profile *profile, int32_t pid,
		  char told[SWZ_CTL_TOLD_BYTES])
{
	static struct swz_attached a;
	bool done;

	told[0] = '\0';
	if (ctl_hooks_of(profile, pid).hooks == SWZ_CTL_HOOKED)
		return true;
	done = swz_native_open(&a, pid) && swz_native_put_back(&a);
	swz_attached_close(&a);
	if (done) {
		note(profile, false);
		tell(&a, true, told);
		return true;
	}
	snprintf(profile->problem, sizeof(profile->problem),
		 "its functions cannot be hooked again: %.180s", a.problem);
	return false;
}

void swz_ctl_unhook(struct swz_live_profile *profile, int32_t pid,
		    bool detached, char told[SWZ_CTL_TOLD_BYTES])
{
	static struct swz_attached a;

	told[0] = '\0';
	if (swz_native_open(&a, pid) &&
	    (detached ? swz_native_detach(&a) : swz_native_take_out(&a))) {
		note(profile, true);
		if (a.stops.count)
			tell(&a, false, told);
	} else {
		snprintf(told, SWZ_CTL_TOLD_BYTES,
			 "its hooks stay in place and follow the request: "
			 "%.400s",
			 a.problem);
	}
	swz_attached_close(&a);
}

static enum swz_ctl_hooks hooks_by(const struct swz_control *control)
{
	switch (control->code_state) {
	case SWZ_CODE_HOOKED:
		return SWZ_CTL_HOOKED;
	case SWZ_CODE_NATIVE:
		return SWZ_CTL_NATIVE;
	default:
		return SWZ_CTL_PARTLY;
	}
}

static struct swz_ctl_hooks_state ctl_hooks_of(
	const struct swz_live_profile *profile, int32_t pid)
{
	static struct swz_attached a;
	struct swz_ctl_hooks_state state = {
		.hooks = __atomic_load_n(&profile->request->native,
					 __ATOMIC_RELAXED)
				 ? SWZ_CTL_NATIVE
				 : SWZ_CTL_HOOKED,
	};

	if (swz_attached_open(&a, pid) && swz_injected_find(&a)) {
		state.hooks = hooks_by(&a.control);
		state.left_out = a.control.left_out;
		state.lasting = a.control.lasting;
	}
	swz_attached_close(&a);
	return state;
}

/* --- snapshots ----------------------------------------------------------- */

/* Everything is copied once, in the order of the file, while the process goes
 * on. What must be no older than the rest comes after that: threads, whose last
 * moment is no earlier than what their nodes have; packed events, which may
 * hold what the pages that were copied before did not have any more. */

#define PIECE_BYTES 65536u

struct copying {
	const struct swz_live_profile *profile;
	int32_t pid;
	int to;
	uint64_t ticks; /* when all but what is copied late was copied */
	uint64_t until; /* what is open lasts: until then, or until recording
			 * was stopped */
	int error;      /* errno; 0: none */
};

static void copy(struct copying *c, uint64_t from, uint64_t to)
{
	static uint8_t piece[PIECE_BYTES];

	while (from < to && !c->error) {
		size_t bytes = to - from < PIECE_BYTES ? (size_t)(to - from)
						       : PIECE_BYTES;
		ssize_t got = pread(c->profile->fd, piece, bytes, (off_t)from);

		if (got <= 0) {
			c->error = got ? errno : EIO;
			return;
		}
		if (pwrite(c->to, piece, (size_t)got, (off_t)from) != got)
			c->error = errno ? errno : ENOSPC;
		from += (uint64_t)got;
	}
}

static void copy_early(void *context, const struct swz_chunk *chunk,
		       uint64_t offset)
{
	if (chunk->type != SWZ_CHUNK_PACKED)
		copy(context, offset, offset + chunk->bytes);
}

/* (In another namespace of pids none of the process's is found.) */
static bool thread_lives(const struct copying *c, int32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)c->pid, (int)tid);
	return access(path, F_OK) == 0;
}

/* Calls that are open in a living thread last until now. (The copy can be
 * written only, so the record is read where it was copied from.) */
static void prolong(struct copying *c, uint64_t offset)
{
	struct swz_thread_record record;
	uint64_t at = offset + sizeof(struct swz_chunk);

	if (c->error ||
	    pread(c->profile->fd, &record, sizeof(record), (off_t)at) !=
		    (ssize_t)sizeof(record) ||
	    record.end_ticks || record.last_ticks >= c->until ||
	    !thread_lives(c, record.tid))
		return;
	at += offsetof(struct swz_thread_record, last_ticks);
	if (pwrite(c->to, &c->until, sizeof(c->until), (off_t)at) !=
	    (ssize_t)sizeof(c->until))
		c->error = errno ? errno : ENOSPC;
}

static void copy_late(void *context, const struct swz_chunk *chunk,
		      uint64_t offset)
{
	if (chunk->type == SWZ_CHUNK_PACKED || chunk->type == SWZ_CHUNK_THREAD)
		copy(context, offset, offset + chunk->bytes);
	if (chunk->type == SWZ_CHUNK_THREAD &&
	    chunk->bytes >= sizeof(*chunk) + sizeof(struct swz_thread_record))
		prolong(context, offset);
}

static void write_header(struct copying *c, uint64_t used)
{
	uint8_t page[SWZ_HEADER_BYTES];
	struct swz_file_header *header = (struct swz_file_header *)(void *)page;

	memcpy(page, c->profile->page, sizeof(page));
	header->used_bytes = used;
	header->snapshot_ticks = c->ticks;
	if (!c->error && pwrite(c->to, page, sizeof(page), 0) != sizeof(page))
		c->error = errno ? errno : ENOSPC;
}

bool swz_snapshot_write(struct swz_live_profile *profile, int32_t pid,
			const char *path)
{
	uint64_t used = live_used(profile);
	struct copying c = {.profile = profile, .pid = pid};
	struct swz_output output;
	struct stat st;

	errno = 0;
	/* as the profile itself */
	if (swz_output_open(&output, path, SWZ_OUTPUT_PRIVATE) != SWZ_OK) {
		snprintf(profile->problem, sizeof(profile->problem), "%s: %s",
			 path, strerror(errno));
		return false;
	}
	c.to = fileno(output.stream);
	if (fstat(c.to, &st) != 0 || !S_ISREG(st.st_mode)) {
		snprintf(profile->problem, sizeof(profile->problem),
			 "%s: a snapshot needs a regular file", path);
		swz_output_discard(&output);
		return false;
	}
	if (ftruncate(c.to, (off_t)used) != 0)
		c.error = errno;
	live_chunks(profile, used, copy_early, &c);
	c.ticks = c.until = swz_live_ticks();
	/* (where its hooks are out of the code a thread has not noticed) */
	if (profile->request->native)
		c.until = profile->request->stopped_ticks;
	live_chunks(profile, used, copy_late, &c);
	write_header(&c, used);
	if (!c.error && swz_output_close(&output) == SWZ_OK)
		return true;
	snprintf(profile->problem, sizeof(profile->problem), "%s: %s", path,
		 strerror(c.error ? c.error : errno));
	if (c.error)
		swz_output_discard(&output);
	return false;
}

/* --- periods ------------------------------------------------------------- */

static struct timespec began;
static sigset_t ending;

/* Blocked, and asked for: none is lost between two waits. */
void swz_periods_begin(void)
{
	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, NULL);
	clock_gettime(CLOCK_MONOTONIC, &began);
}

static int64_t left_of(uint64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)ns -
	       ((int64_t)(now.tv_sec - began.tv_sec) * 1000000000 +
		now.tv_nsec - began.tv_nsec);
}

bool swz_periods_wait(uint64_t ns)
{
	for (;;) {
		int64_t left = left_of(ns);
		struct timespec wait = {0, 0};

		if (left > 0) {
			wait.tv_sec = (time_t)(left / 1000000000);
			wait.tv_nsec = (long)(left % 1000000000);
		}
		if (sigtimedwait(&ending, NULL, &wait) > 0)
			return false;
		if (errno == EAGAIN && left <= 0)
			return true;
	}
}

/* --- status -------------------------------------------------------------- */

static const char *state_of(const struct swz_live_profile *profile)
{
	if (!profile->request->ready)
		return "starting";
	switch (swz_live_state(profile)) {
	case SWZ_REQUEST_PAUSE:
		return "stopped";
	case SWZ_REQUEST_DETACH:
		return "detached";
	default:
		return "recording";
	}
}

static const char *mode_of(const struct swz_file_header *header)
{
	return header->flags & SWZ_FILE_TRACED   ? "trace"
	       : header->flags & SWZ_FILE_COVER  ? "cover"
	       : header->flags & SWZ_FILE_COUNTS ? "count"
						 : "profile";
}

/* By the header's samples of the clock; 0: not known. */
static double ticks_per_second(const struct swz_file_header *header)
{
	const struct swz_clock_sample *from = &header->clock[0];
	const struct swz_clock_sample *to = &header->clock[1];

	if (header->clock[2].ticks > to->ticks)
		to = &header->clock[2];
	if (to->ticks <= from->ticks || to->monotonic_ns <= from->monotonic_ns)
		return 0;
	return (double)(to->ticks - from->ticks) * 1e9 /
	       (double)(to->monotonic_ns - from->monotonic_ns);
}

/* For how long it has been so. */
static double seconds_since(const struct swz_live_profile *profile,
			    uint64_t ticks)
{
	double rate = ticks_per_second(profile->header);
	uint64_t now = swz_live_ticks();

	if (!ticks)
		ticks = profile->header->start_ticks;
	return rate > 0 && now > ticks ? (double)(now - ticks) / rate : 0;
}

static double in_state(const struct swz_live_profile *profile)
{
	return seconds_since(profile, profile->request->changed_ticks);
}

void swz_ctl_report_begin(FILE *stream, const struct swz_ctl_options *options)
{
	if (options->json)
		putc('[', stream);
	else if (options->command == SWZ_CTL_LIST)
		fprintf(stream, "%8s %-9s %10s %-7s %15s  %-15s  %s\n", "pid",
			"state", "since, s", "mode", "calls", "name",
			"profile");
}

void swz_ctl_report_end(FILE *stream, const struct swz_ctl_options *options)
{
	if (options->json)
		fputs("\n]\n", stream);
}

static const char *hooks_word(enum swz_ctl_hooks hooks)
{
	switch (hooks) {
	case SWZ_CTL_HOOKED:
		return "in place";
	case SWZ_CTL_NATIVE:
		return "out";
	default:
		return "partly";
	}
}

static const char *hooks_text(enum swz_ctl_hooks hooks,
			      enum swz_request_state state)
{
	bool stopped = state != SWZ_REQUEST_RECORD;

	switch (hooks) {
	case SWZ_CTL_HOOKED:
		return stopped ? "in place: a call costs about 4 ns"
			       : "in place";
	case SWZ_CTL_NATIVE:
		return stopped ? "out of the code: calls are native"
			       : "out of the code: start it by swizzle-ctl";
	default:
		return "partly in place: start or stop it again";
	}
}

static void put_json(FILE *stream, const struct swz_ctl_process *process,
		     const struct swz_live_profile *profile, bool first)
{
	const struct swz_file_header *header = profile->header;
	struct swz_live_counts counts = live_count(profile);
	char *command = swz_top_process_command(process->pid);
	struct swz_ctl_hooks_state hooks = ctl_hooks_of(profile, process->pid);

	fprintf(stream, "%s\n{\"pid\":%" PRId32 ",\"parent\":%" PRId32,
		first ? "" : ",", process->pid, process->parent);
	fputs(",\"name\":", stream);
	swz_put_json(stream, process->name);
	fputs(",\"command\":", stream);
	swz_put_json(stream, command);
	fputs(",\"profile\":", stream);
	swz_put_json(stream, profile->path);
	fprintf(stream,
		",\"mode\":\"%s\",\"state\":\"%s\",\"stateSeconds\":%.3f"
		",\"seconds\":%.3f,\"calls\":%" PRIu64 ",\"lostCalls\":%" PRIu64
		",\"threads\":%" PRIu64 ",\"bytes\":%" PRIu64
		",\"limitBytes\":%" PRIu64
		",\"hooks\":\"%s\",\"leftOut\":%" PRIu32 ",\"lasting\":%" PRIu32
		"}",
		mode_of(header), state_of(profile), in_state(profile),
		seconds_since(profile, 0), counts.calls, header->lost_calls,
		counts.threads, live_used(profile), header->limit_bytes,
		hooks_word(hooks.hooks), hooks.left_out, hooks.lasting);
	free(command);
}

static void put_row(FILE *stream, const struct swz_ctl_process *process,
		    const struct swz_live_profile *profile)
{
	fprintf(stream, "%8" PRId32 " %-9s %10.1f %-7s %15" PRIu64 "  ",
		process->pid, state_of(profile), in_state(profile),
		mode_of(profile->header), live_count(profile).calls);
	swz_put_text(stream, process->name);
	fprintf(stream, "%*s", (int)(17 - strlen(process->name)), "");
	swz_put_text(stream, profile->path);
	putc('\n', stream);
}

static void put_status(FILE *stream, const struct swz_ctl_process *process,
		       const struct swz_live_profile *profile, bool first)
{
	const struct swz_file_header *header = profile->header;
	enum swz_request_state state = swz_live_state(profile);
	struct swz_live_counts counts = live_count(profile);
	char *command = swz_top_process_command(process->pid);
	struct swz_ctl_hooks_state hooks = ctl_hooks_of(profile, process->pid);

	fprintf(stream, "%spid: %" PRId32 "\ncommand: ", first ? "" : "\n",
		process->pid);
	swz_put_text(stream, command);
	fputs("\nprofile: ", stream);
	swz_put_text(stream, profile->path);
	fprintf(stream, "\nmode: %s\nstate: %s for %.1f s\n", mode_of(header),
		state_of(profile), in_state(profile));
	fprintf(stream, "hooks: %s\n", hooks_text(hooks.hooks, state));
	if (hooks.hooks == SWZ_CTL_NATIVE && hooks.lasting)
		fprintf(stream,
			"jumps that stay, and lead past their hooks: %" PRIu32
			"\n",
			hooks.lasting);
	if (hooks.left_out)
		fprintf(stream,
			"functions left out since it was started again: "
			"%" PRIu32 "\n",
			hooks.left_out);
	fprintf(stream,
		"profiled for: %.1f s\ncalls: %" PRIu64 "\nlost calls: %" PRIu64
		"\nthreads: %" PRIu64 "\nused: %" PRIu64 " of %" PRIu64
		" bytes\n",
		seconds_since(profile, 0), counts.calls, header->lost_calls,
		counts.threads, live_used(profile), header->limit_bytes);
	free(command);
}

void swz_ctl_report(FILE *stream, const struct swz_ctl_options *options,
		    const struct swz_ctl_process *process,
		    const struct swz_live_profile *profile, bool first)
{
	if (options->json)
		put_json(stream, process, profile, first);
	else if (options->command == SWZ_CTL_LIST)
		put_row(stream, process, profile);
	else
		put_status(stream, process, profile, first);
}
