/* The process goes on writing. It never makes its file shorter than what is in
 * use, and room in it is taken by compare-and-exchange, so this one can take
 * some, too: in chunks for marks from outside (SWZ_MARKS_OUTSIDE), the first of
 * which is there from the start. The file is not made longer: that is its
 * writer's. */

#include "ctl/live_profile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 5000000
#define PAGE UINT64_C(4096)
#define CLOSED (UINT64_C(1) << 63) /* in used_bytes, while it is being cut */
#define MARKS_BYTES UINT64_C(1024) /* of a chunk that is taken here */

bool swz_live_open(struct swz_live_profile *profile,
		   const struct swz_ctl_process *process)
{
	struct stat st;

	*profile = (struct swz_live_profile){.path = process->profile};
	profile->fd = open(process->profile,
			   O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (profile->fd < 0) {
		snprintf(profile->problem, sizeof(profile->problem), "%s",
			 strerror(errno));
		return false;
	}
	if (fstat(profile->fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size >= PAGE) {
		profile->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_SHARED, profile->fd, 0);
		if (profile->page == MAP_FAILED)
			profile->page = NULL;
	}
	if (profile->page) {
		profile->header =
			(struct swz_file_header *)(void *)profile->page;
		profile->request =
			(struct swz_request *)(void *)(profile->page +
						       SWZ_REQUEST_OFFSET);
	}
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
		munmap(profile->page, PAGE);
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

uint64_t swz_live_used(const struct swz_live_profile *profile)
{
	uint64_t used = __atomic_load_n(&profile->header->used_bytes,
					__ATOMIC_ACQUIRE) &
			~CLOSED;
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

void swz_live_chunks(const struct swz_live_profile *profile, uint64_t end,
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

struct swz_live_counts swz_live_count(const struct swz_live_profile *profile)
{
	struct counting c = {.profile = profile};

	swz_live_chunks(profile, swz_live_used(profile), count_chunk, &c);
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

/* As the process itself does it: src/runtime/record/marks.c. */
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
	uint64_t first = offset & ~(PAGE - 1);

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
	    chunk->owner != SWZ_MARKS_OUTSIDE || chunk->bytes > 16 * PAGE)
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
		if (used & CLOSED || fstat(profile->fd, &st) != 0 ||
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
	swz_live_chunks(profile, swz_live_used(profile), mark_in_chunk, &m);
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
