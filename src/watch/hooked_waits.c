/* A thread that does not run changes nothing in its profile, so the context
 * that it stands in can be found there. Of each edge the number of calls that
 * have begun and not ended is known (swz_node.open). The edges that are open
 * make one path from the thread's root. It is followed as long as an edge is
 * left that is open more often than it was taken: by Euler's argument that can
 * end in one context only, the current one, whatever the order, also where
 * recursion was folded.
 *
 * schedstat counts how often a thread has got a processor. Where it has got
 * none since it was seen blocked, it is still where it was: that is all that is
 * read then. A thread that is ready to run waits, too, while it has no
 * processor.
 *
 * Looks are noted in a chunk of the profile, in room that is taken as
 * swizzle-ctl takes it for marks (src/ctl/live_profile.c). The file may be cut
 * by others while it is mapped, so SIGBUS is caught: then there are no looks
 * any more. */

#include "watch/engine.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/syscall.h"
#include "profile/file/packing.h"
#include "util/memory.h"
#include "watch/proc_task.h"

#define USUAL_NS UINT64_C(10000000)
/* Short runs have more looks. */
#define EARLY_NS UINT64_C(2000000)
/* Programs that end sooner have no looks: a file that is cut soon loses
 * nothing. */
#define SHORT_NS UINT64_C(20000000)
#define EARLY_LOOKS 500u
/* So many times as long as a look, or a search for profiles, took. */
#define REST 500u
#define SEARCH_NS UINT64_C(100000000)
#define FIRST_SEARCHES 10u
#define MOST_THREADS 256u /* at once, in turn, and with open files */
#define MOST_STEPS 512u   /* of a path */
#define PATIENCE 64u      /* looks, for a chunk that is being made */
/* A chunk of looks, and how much longer the next one is when that is full. Most
 * threads wait in few places. */
#define FIRST_BYTES UINT64_C(1024)
#define MORE 4u
#define MOST_CHUNKS 3u
#define MOST_BYTES (FIRST_BYTES * MORE * MORE)

_Static_assert(FIRST_BYTES % SWZ_UNIT_BYTES == 0, "a chunk's length");
_Static_assert(sizeof(struct swz_chunk) % sizeof(struct swz_look) == 0,
	       "a chunk's slots end with it");

/* A chunk of nodes. */
struct span {
	uint32_t unit, count;
	uint32_t known;        /* of these: they are among the children */
	uint32_t *first_child; /* by node: units; 0: none */
	uint32_t *next;        /* the same: brother */
};

struct thread {
	int32_t tid;
	uint32_t index, root;
	uint32_t root_child;
	uint64_t record; /* offset in the file */
	struct span *spans;
	size_t span_count, span_capacity;
	int schedstat, stat; /* or -1 */
	uint64_t looked_ns;
	enum { NOT_SEEN, READY, BLOCKED } seen; /* then, in the context `at` */
	uint32_t at;
	struct swz_proc_turns turns; /* as they were then */
	bool ended;
};

/* One of the file, of slots. */
struct looks {
	struct swz_look *slots;
	uint32_t count;
};

struct hooked {
	dev_t device;
	ino_t inode;
	int fd;
	uint8_t *file; /* mapped, `mapped` bytes */
	uint64_t mapped, length;
	uint64_t scanned; /* chunks up to there are known */
	unsigned waited;  /* for the one there */
	uint64_t met_ns;
	struct looks looks[MOST_CHUNKS];
	unsigned look_chunks;
	bool full; /* no more of them: the disk is */
	struct thread *threads;
	size_t thread_count, thread_capacity;
	size_t next; /* to be looked at */
	bool over;
};

static struct {
	struct hooked *items;
	size_t count, capacity;
	uint64_t search_at, looks, searches;
	size_t files; /* that are open of threads */
	bool begun, blind;
	sigjmp_buf lost;
} all;

static void lose(int signal)
{
	(void)signal;
	siglongjmp(all.lost, 1);
}

/* ------------------------------------------------------------- profiles */

static struct swz_file_header *header_of(const struct hooked *h)
{
	return (struct swz_file_header *)(void *)h->file;
}

static bool is_timed(const struct swz_file_header *header)
{
	return !(header->flags & (SWZ_FILE_SAMPLES | SWZ_FILE_SAMPLED |
				  SWZ_FILE_COUNTS | SWZ_FILE_MERGED));
}

static bool is_known(const struct stat *st)
{
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].inode == st->st_ino &&
		    all.items[i].device == st->st_dev)
			return true;
	return false;
}

static void meet(void *context, const struct swz_run_profile *profile)
{
	const struct swz_file_header *header = profile->header;
	struct hooked h = {.device = profile->status->st_dev,
			   .inode = profile->status->st_ino,
			   .scanned = SWZ_HEADER_BYTES,
			   .mapped = header->limit_bytes};
	char path[64]; /* the same file, not one that has its name by now */

	(void)context;
	if (!is_timed(header) || is_known(profile->status) ||
	    header->flags & SWZ_FILE_ENDED || header->end_ticks ||
	    header->limit_bytes < SWZ_HEADER_BYTES ||
	    swz_process_start(header->pid) != header->process_start)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", profile->fd);
	h.fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	h.file = h.fd < 0 ? MAP_FAILED
			  : mmap(NULL, h.mapped, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_NORESERVE, h.fd, 0);
	if (h.file == MAP_FAILED) {
		if (h.fd >= 0)
			close(h.fd);
		return;
	}
	swz_grow(&all.items, &all.capacity, all.count, sizeof(*all.items));
	h.met_ns = swz_watch_now();
	all.items[all.count++] = h;
}

static void close_files(struct thread *t)
{
	if (t->schedstat >= 0) {
		close(t->schedstat);
		close(t->stat);
		all.files -= 2;
	}
	t->schedstat = t->stat = -1;
}

static void end_thread(struct thread *t)
{
	close_files(t);
	for (size_t i = 0; i < t->span_count; i++) {
		free(t->spans[i].first_child);
		free(t->spans[i].next);
	}
	free(t->spans);
	t->spans = NULL;
	t->span_count = 0;
	t->ended = true;
}

static void forget(struct hooked *h)
{
	for (size_t i = 0; i < h->thread_count; i++)
		if (!h->threads[i].ended)
			end_thread(&h->threads[i]);
	munmap(h->file, h->mapped);
	close(h->fd);
	free(h->threads);
	h->threads = NULL;
	h->thread_count = 0;
	h->over = true; /* (its number stays known) */
}

/* -------------------------------------------------------------- threads */

static struct thread *thread_of(struct hooked *h, uint32_t index)
{
	for (size_t i = h->thread_count; i-- > 0;)
		if (h->threads[i].index == index)
			return &h->threads[i];
	return NULL;
}

static void add_thread(struct hooked *h, const struct swz_chunk *chunk,
		       uint64_t at)
{
	struct thread *t = thread_of(h, chunk->owner);
	struct swz_thread_record record;

	if (chunk->bytes < sizeof(*chunk) + sizeof(record))
		return;
	memcpy(&record, chunk + 1, sizeof(record));
	if (!t) {
		swz_grow(&h->threads, &h->thread_capacity, h->thread_count,
			 sizeof(*t));
		t = &h->threads[h->thread_count++];
		*t = (struct thread){.index = chunk->owner};
	}
	t->tid = record.tid;
	t->root = record.root;
	t->record = at + sizeof(*chunk);
	t->schedstat = t->stat = -1;
}

/* Its nodes may come before the thread's own record. */
static void add_span(struct hooked *h, const struct swz_chunk *chunk,
		     uint64_t at)
{
	uint64_t room = (chunk->bytes - sizeof(*chunk)) /
			sizeof(struct swz_node);
	struct thread *t = thread_of(h, chunk->owner);
	struct span *span;

	if (!t) {
		swz_grow(&h->threads, &h->thread_capacity, h->thread_count,
			 sizeof(*t));
		t = &h->threads[h->thread_count++];
		*t = (struct thread){
			.index = chunk->owner, .schedstat = -1, .stat = -1};
	}
	if (t->ended)
		return;
	swz_grow(&t->spans, &t->span_capacity, t->span_count, sizeof(*span));
	span = &t->spans[t->span_count++];
	*span = (struct span){
		.unit = (uint32_t)((at + sizeof(*chunk)) / SWZ_UNIT_BYTES),
		.count = chunk->count < room ? chunk->count : (uint32_t)room};
	span->first_child = swz_allocate(span->count, sizeof(uint32_t));
	span->next = swz_allocate(span->count, sizeof(uint32_t));
}

/* Chunks that have come since the last look. */
static void scan(struct hooked *h)
{
	uint64_t used = __atomic_load_n(&header_of(h)->used_bytes,
					__ATOMIC_ACQUIRE);
	struct stat st;

	if (used & SWZ_USED_CLOSED || used > h->mapped)
		return;
	if (used > h->length) {
		if (fstat(h->fd, &st) != 0 || (uint64_t)st.st_size < used)
			return;
		h->length = (uint64_t)st.st_size;
	}
	while (h->scanned + sizeof(struct swz_chunk) <= used) {
		const struct swz_chunk *chunk = (const void *)(h->file +
							       h->scanned);

		if (__atomic_load_n(&chunk->magic, __ATOMIC_ACQUIRE) !=
			    SWZ_CHUNK_MAGIC ||
		    chunk->bytes < sizeof(*chunk) ||
		    chunk->bytes % SWZ_UNIT_BYTES ||
		    chunk->bytes > used - h->scanned) {
			if (h->waited++ < PATIENCE)
				return;
			h->scanned += SWZ_UNIT_BYTES;
			continue;
		}
		h->waited = 0;
		if (chunk->type == SWZ_CHUNK_THREAD)
			add_thread(h, chunk, h->scanned);
		else if (chunk->type == SWZ_CHUNK_NODES)
			add_span(h, chunk, h->scanned);
		h->scanned += chunk->bytes;
	}
}

/* ------------------------------------------------------------- contexts */

static struct span *span_of(struct thread *t, uint32_t unit)
{
	for (size_t i = t->span_count; i-- > 0;)
		if (unit >= t->spans[i].unit &&
		    unit - t->spans[i].unit < t->spans[i].count)
			return &t->spans[i];
	return NULL;
}

static const struct swz_node *node_at(const struct hooked *h, uint32_t unit)
{
	return (const void *)(h->file + (uint64_t)unit * SWZ_UNIT_BYTES);
}

/* Where the list of a context's edges begins; NULL: it is not there. */
static uint32_t *children_of(struct thread *t, uint32_t unit)
{
	struct span *span;

	if (unit == t->root)
		return &t->root_child;
	span = span_of(t, unit);
	return span ? &span->first_child[unit - span->unit] : NULL;
}

/* Adds the edges that are new. */
static void know_nodes(const struct hooked *h, struct thread *t)
{
	for (size_t i = 0; i < t->span_count; i++) {
		struct span *span = &t->spans[i];

		for (; span->known < span->count; span->known++) {
			uint32_t unit = span->unit + span->known;
			const struct swz_node *node = node_at(h, unit);
			uint32_t *first;

			if (__atomic_load_n(&node->function,
					    __ATOMIC_ACQUIRE) ==
			    SWZ_FUNCTION_NONE)
				break;
			first = unit == t->root ? NULL
						: children_of(t, node->parent);
			if (!first)
				continue;
			span->next[span->known] = *first;
			*first = unit;
		}
	}
}

struct path {
	uint32_t edges[MOST_STEPS];
	unsigned count;
};

/* How often an edge is open and not in the path yet. */
static int32_t left_open(const struct hooked *h, const struct path *path,
			 uint32_t unit)
{
	int32_t open = (int32_t)__atomic_load_n(&node_at(h, unit)->open,
						__ATOMIC_RELAXED) >>
		       SWZ_NODE_OPEN_SHIFT;

	for (unsigned i = 0; open > 0 && i < path->count; i++)
		open -= path->edges[i] == unit;
	return open;
}

/* The context that the thread stands in. */
static uint32_t current_context(const struct hooked *h, struct thread *t)
{
	struct path path = {.count = 0};
	uint32_t context = t->root, edge;

	know_nodes(h, t);
	while (path.count < MOST_STEPS) {
		const uint32_t *first = children_of(t, context);

		for (edge = first ? *first : 0; edge;) {
			const struct span *span = span_of(t, edge);

			if (left_open(h, &path, edge) > 0)
				break;
			edge = span->next[edge - span->unit];
		}
		if (!edge)
			break;
		path.edges[path.count++] = edge;
		context = node_at(h, edge)->context;
	}
	return context;
}

/* ---------------------------------------------------------------- slots */

static bool is_as_long_as(const struct hooked *h, uint64_t bytes)
{
	struct stat st;

	return fstat(h->fd, &st) == 0 && bytes <= (uint64_t)st.st_size;
}

/* The offset of room for a chunk within the file as long as it is; 0: none. A
 * process that ends meanwhile and cuts it leaves another used_bytes. */
static uint64_t take_room(const struct hooked *h, uint64_t bytes)
{
	struct swz_file_header *header = header_of(h);
	uint64_t used = __atomic_load_n(&header->used_bytes, __ATOMIC_RELAXED);
	uint64_t events = header->event_limit_bytes > header->event_bytes
				  ? header->event_limit_bytes -
					    header->event_bytes
				  : 0;

	do {
		if (used & SWZ_USED_CLOSED || !is_as_long_as(h, used + bytes) ||
		    used + bytes + events > header->limit_bytes)
			return 0;
	} while (!__atomic_compare_exchange_n(
		&header->used_bytes, &used, used + bytes, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return used;
}

/* Zeros that are written are there, also on a disk that is full later. */
static bool add_looks(struct hooked *h)
{
	static const uint8_t zeros[MOST_BYTES];
	uint64_t bytes = FIRST_BYTES, at;
	struct swz_chunk *chunk;
	struct looks *looks;

	if (h->full || h->look_chunks == MOST_CHUNKS)
		return false;
	for (unsigned i = 0; i < h->look_chunks; i++)
		bytes *= MORE;
	at = take_room(h, bytes);
	if (!at)
		return false;
	h->full = pwrite(h->fd, zeros, bytes, (off_t)at) != (ssize_t)bytes;
	if (h->full)
		return false;
	chunk = (struct swz_chunk *)(void *)(h->file + at);
	looks = &h->looks[h->look_chunks++];
	looks->slots = (struct swz_look *)(void *)(chunk + 1);
	looks->count = (uint32_t)((bytes - sizeof(*chunk)) /
				  sizeof(*looks->slots));
	chunk->type = SWZ_CHUNK_LOOKS;
	chunk->bytes = bytes;
	chunk->count = looks->count;
	__atomic_store_n(&chunk->magic, SWZ_CHUNK_MAGIC, __ATOMIC_RELEASE);
	return true;
}

static bool have_slots(struct hooked *h)
{
	const struct swz_request *request = (const void *)(h->file +
							   SWZ_REQUEST_OFFSET);

	/* acquire: until then the process takes room without asking */
	return h->look_chunks ||
	       (__atomic_load_n(&request->ready, __ATOMIC_ACQUIRE) &&
		add_looks(h));
}

/* NULL: there is no room for one more. */
static struct swz_look *slot_in(const struct looks *looks, uint32_t node,
				enum swz_look_kind kind)
{
	uint32_t at = (node * 2654435761u ^ kind) % looks->count;

	for (unsigned i = 0; i < looks->count;
	     i++, at = (at + 1) % looks->count) {
		struct swz_look *slot = &looks->slots[at];

		if (slot->node == node && slot->kind == kind)
			return slot;
		if (slot->node)
			continue;
		slot->kind = kind;
		/* release: what kind it is */
		__atomic_store_n(&slot->node, node, __ATOMIC_RELEASE);
		return slot;
	}
	return NULL;
}

static struct swz_look *slot_of(struct hooked *h, uint32_t node,
				enum swz_look_kind kind)
{
	struct swz_look *slot = NULL;

	for (unsigned i = 0; !slot && i < h->look_chunks; i++)
		slot = slot_in(&h->looks[i], node, kind);
	/* the last one is full */
	if (!slot && add_looks(h))
		slot = slot_in(&h->looks[h->look_chunks - 1], node, kind);
	return slot;
}

static void note(struct hooked *h, uint32_t node, enum swz_look_kind kind,
		 uint64_t ns)
{
	struct swz_look *slot = ns ? slot_of(h, node, kind) : NULL;

	if (slot)
		__atomic_store_n(&slot->ns, slot->ns + ns, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- looks */

static int open_task_file(int32_t pid, int32_t tid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid,
		 name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool open_files(const struct hooked *h, struct thread *t)
{
	if (t->schedstat >= 0)
		return true;
	t->schedstat = open_task_file(header_of(h)->pid, t->tid, "schedstat");
	t->stat = open_task_file(header_of(h)->pid, t->tid, "stat");
	all.files += 2;
	if (t->schedstat >= 0 && t->stat >= 0)
		return true;
	if (t->schedstat >= 0)
		close(t->schedstat);
	if (t->stat >= 0)
		close(t->stat);
	t->schedstat = t->stat = -1;
	all.files -= 2;
	return false;
}

static bool read_turns(const struct thread *t, struct swz_proc_turns *turns)
{
	char text[128];
	const char *at = text;
	ssize_t n = pread(t->schedstat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return swz_scan(&at, 10, &turns->processor_ns) &&
	       swz_scan(&at, 10, &turns->queued_ns) &&
	       swz_scan(&at, 10, &turns->turns);
}

/* R, S, D and so on; proc(5) has them. 0: it has ended. */
static char state_of(const struct thread *t)
{
	char text[256], *at;
	ssize_t n = pread(t->stat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return '\0';
	return at[2];
}

/* It has been blocked since the last look. (A kernel that counts no turns has
 * 0.) */
static bool has_not_run(const struct thread *t,
			const struct swz_proc_turns *now)
{
	return t->seen == BLOCKED && now->turns && now->turns == t->turns.turns;
}

/* Accounts for what it did since the last look. If it was ready to run then, it
 * had a processor or not: both are likely in the proportion of the time that it
 * has had and waited for one since, by the kernel's account, which is brought
 * up to date at each tick. If it was blocked, that time is another context's,
 * where it went on. */
static void settle(struct hooked *h, struct thread *t,
		   const struct swz_proc_turns *now, uint64_t since)
{
	uint64_t ran = now->processor_ns - t->turns.processor_ns;
	uint64_t queued = now->queued_ns - t->turns.queued_ns, part = 0;

	if (t->seen == NOT_SEEN)
		return;
	if (has_not_run(t, now)) {
		note(h, t->at, SWZ_LOOK_BLOCKED, since);
		return;
	}
	if (t->seen == BLOCKED)
		since -= since < ran + queued ? since : ran + queued;
	else if (ran + queued)
		part = (uint64_t)((double)since * (double)ran /
				  (double)(ran + queued));
	note(h, t->at, SWZ_LOOK_RAN, part);
	note(h, t->at, SWZ_LOOK_WAITED, since - part);
}

/* False: it has ended. The context of a thread that runs changes while it is
 * looked for, so it is roughly known. */
static bool look_at_thread(struct hooked *h, struct thread *t, uint64_t now)
{
	const struct swz_thread_record *record = (const void *)(h->file +
								t->record);
	struct swz_proc_turns turns, after;
	char state;

	if (record->end_ticks || !open_files(h, t) || !read_turns(t, &turns))
		return false;
	settle(h, t, &turns, now - t->looked_ns);
	t->looked_ns = now;
	if (has_not_run(t, &turns))
		return true;
	t->turns = turns;
	state = state_of(t);
	t->seen = state == 'R' ? READY : BLOCKED;
	t->at = current_context(h, t);
	/* it may have gone on meanwhile */
	if (t->seen == BLOCKED &&
	    (!read_turns(t, &after) || after.turns != turns.turns))
		t->seen = NOT_SEEN;
	return state != 0;
}

static void look_at_profile(struct hooked *h, uint64_t now)
{
	const struct swz_file_header *header = header_of(h);

	if (header->flags & SWZ_FILE_ENDED || header->end_ticks) {
		forget(h);
		return;
	}
	scan(h);
	if (now < h->met_ns + SHORT_NS || !have_slots(h))
		return;
	for (size_t i = 0; i < h->thread_count && i < MOST_THREADS; i++) {
		struct thread *t;

		h->next = h->next + 1 < h->thread_count ? h->next + 1 : 0;
		t = &h->threads[h->next];
		if (t->ended || !t->record)
			continue;
		if (!look_at_thread(h, t, now))
			end_thread(t);
		else if (all.files > 2 * (size_t)MOST_THREADS)
			close_files(t);
	}
}

/* In a folder with thousands of files it takes its time; but the first profile
 * comes soon. */
static void search(const struct swz_run *run, uint64_t now)
{
	uint64_t from = swz_watch_used(), rest_ns;

	swz_run_profiles_each(run, meet, NULL);
	rest_ns = (swz_watch_used() - from) * REST;
	if (all.count && rest_ns < SEARCH_NS)
		rest_ns = SEARCH_NS;
	if (all.searches++ < FIRST_SEARCHES && !all.count)
		rest_ns = EARLY_NS;
	all.search_at = now + rest_ns;
}

static uint64_t look(const struct swz_run *run)
{
	uint64_t usual_ns = all.looks < EARLY_LOOKS ? EARLY_NS : USUAL_NS;
	uint64_t now = swz_watch_now(), from, took, rest_ns;

	if (now >= all.search_at)
		search(run, now);
	now = swz_watch_now();
	from = swz_watch_used();
	for (size_t i = 0; i < all.count; i++)
		if (!all.items[i].over)
			look_at_profile(&all.items[i], now);
	if (all.count)
		all.looks++;
	took = swz_watch_used() - from;
	/* half to one and a half of that, so that nobody keeps in step */
	rest_ns = usual_ns / 2 + (uint64_t)random() % usual_ns;
	return took * REST > rest_ns ? took * REST : rest_ns;
}

static void begin(void)
{
	struct sigaction action = {.sa_handler = lose};
	sigset_t set;

	all.begun = true;
	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigaction(SIGBUS, &action, NULL);
}

uint64_t swz_hooked_waits_look(const struct swz_run *run)
{
	if (!all.begun)
		begin();
	if (all.blind || sigsetjmp(all.lost, 1)) {
		all.blind = true;
		return UINT64_C(1) << 40;
	}
	return look(run);
}
