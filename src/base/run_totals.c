/* A profile says in its header to which run it belongs, so the folder is all
 * that has to be looked at: nothing is shared by the processes of a run. Files
 * are read, not mapped: another process may be cutting one, and to touch what
 * is gone would be a SIGBUS for the program. */

#include "base/run_totals.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/process_start.h"
#include "base/syscall.h"

struct entry { /* as getdents64 has it */
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

/* The pattern's name up to %p, or all of it. */
static bool begins_as_wanted(const char *pattern, const char *name)
{
	while (*pattern && !(pattern[0] == '%' && pattern[1] == 'p'))
		if (*pattern++ != *name++)
			return false;
	return true;
}

static void add_nodes(struct swz_run_totals *t, const struct swz_node *node,
		      size_t count)
{
	for (; count--; node++) {
		if (node->function == SWZ_FUNCTION_NONE)
			continue;
		t->calls += node->calls;
		t->contexts |= node->function != SWZ_FUNCTION_ROOT &&
			       node->function != SWZ_FUNCTION_OURSELVES;
		if (node->open & SWZ_NODE_FOLDED)
			t->folded += node->calls;
	}
}

static long read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return SWZ_SYSCALL(SYS_pread64, fd, to, bytes, offset);
}

static void add_chunk_of_nodes(struct swz_run_files *w, int fd, uint64_t at,
			       uint64_t end)
{
	while (at < end) {
		uint64_t want = end - at < SWZ_RUN_BLOCK_BYTES
					? end - at
					: SWZ_RUN_BLOCK_BYTES;
		long n = read_at(fd, w->block, want, at);

		if (n < (long)sizeof(struct swz_node))
			return;
		n &= -(long)sizeof(struct swz_node);
		add_nodes(&w->totals, (const struct swz_node *)w->block,
			  (size_t)n / sizeof(struct swz_node));
		at += (uint64_t)n;
	}
}

static uint64_t end_of(const struct swz_file_header *h,
		       const struct swz_thread_record *thread)
{
	uint64_t last = thread->last_ticks;

	if (thread->end_ticks > last)
		last = thread->end_ticks;
	else if (!thread->end_ticks && h->end_ticks > last)
		last = h->end_ticks;
	return last;
}

static bool is_root(const struct swz_run_files *w)
{
	return w->header.pid == w->run->root_pid &&
	       w->header.process_start == w->run->root_start;
}

static void add_thread(struct swz_run_files *w, int fd, uint64_t at)
{
	struct swz_thread_record record;

	if (read_at(fd, &record, sizeof(record), at) != sizeof(record))
		return;
	w->totals.threads++;
	w->totals.untraced += record.untraced;
	if (is_root(w) && end_of(&w->header, &record) > w->totals.last_ticks)
		w->totals.last_ticks = end_of(&w->header, &record);
}

/* A ring's oldest events are gone if no chunk has the first page. */
static void add_chunks(struct swz_run_files *w, int fd)
{
	uint64_t at = SWZ_HEADER_BYTES, end = w->header.used_bytes;
	bool has_events = false, has_first = false;
	uint64_t before = w->totals.calls;
	struct swz_chunk chunk;

	while (at < end &&
	       read_at(fd, &chunk, sizeof(chunk), at) == sizeof(chunk)) {
		uint64_t bytes = chunk.bytes;

		if (chunk.magic != SWZ_CHUNK_MAGIC || bytes < sizeof(chunk) ||
		    bytes % SWZ_UNIT_BYTES || bytes > end - at) {
			at += SWZ_UNIT_BYTES; /* being made */
			continue;
		}
		if (chunk.type == SWZ_CHUNK_NODES)
			add_chunk_of_nodes(w, fd, at + sizeof(chunk),
					   at + bytes);
		else if (chunk.type == SWZ_CHUNK_PACKED_NODES)
			w->totals.contexts = true; /* it is large */
		else if (chunk.type == SWZ_CHUNK_THREAD)
			add_thread(w, fd, at + sizeof(chunk));
		/* (each profile has room for marks from outside) */
		w->totals.marks |= chunk.type == SWZ_CHUNK_MARKS &&
				   chunk.reserved[SWZ_MARKS_USED];
		has_events |= chunk.type == SWZ_CHUNK_EVENTS ||
			      chunk.type == SWZ_CHUNK_PACKED;
		has_first |= (chunk.type == SWZ_CHUNK_EVENTS &&
			      !chunk.reserved[SWZ_EVENTS_FIRST]) ||
			     (chunk.type == SWZ_CHUNK_PACKED &&
			      chunk.reserved[SWZ_PACKED_FIRST] == 1);
		at += bytes;
	}
	if (w->header.flags & SWZ_FILE_RING && !has_first &&
	    (has_events || w->totals.calls > before))
		w->totals.overwritten = true;
}

static void add_root(struct swz_run_files *w, const char *name)
{
	struct swz_run_totals *t = &w->totals;
	size_t length = strlen(name);

	t->told |= (w->header.flags & SWZ_FILE_TOLD) != 0;
	if (w->header.end_ticks > t->last_ticks)
		t->last_ticks = w->header.end_ticks;
	/* what was executed later in the same process comes after it */
	if (t->start_ticks && w->header.start_ticks > t->start_ticks)
		return;
	t->start_ticks = w->header.start_ticks;
	memcpy(t->clock, w->header.clock, sizeof(t->clock));
	if (length < sizeof(t->first))
		memcpy(t->first, name, length + 1);
}

static bool writer_lives(const struct swz_file_header *h)
{
	return !(h->flags & SWZ_FILE_ENDED) && h->process_start && h->pid > 0 &&
	       swz_process_start(h->pid) == h->process_start;
}

/* Past so many they are not told apart. */
static void add_running(struct swz_run_totals *t, int32_t pid)
{
	const uint32_t most = sizeof(t->pids) / sizeof(t->pids[0]);

	for (uint32_t i = 0; i < t->running && i < most; i++)
		if (t->pids[i] == pid)
			return;
	if (t->running < most)
		t->pids[t->running] = pid;
	t->running++;
}

static void add_open(struct swz_run_files *w, int fd, const char *name)
{
	struct swz_file_header *h = &w->header;
	struct swz_run_totals *t = &w->totals;
	bool same;

	if (read_at(fd, h, sizeof(*h), 0) != sizeof(*h) ||
	    memcmp(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic)) != 0 ||
	    h->version != SWZ_FILE_VERSION || h->snapshot_ticks)
		return;
	same = h->root_pid == w->run->root_pid &&
	       h->root_start == w->run->root_start;
	if (!same || h->flags & SWZ_FILE_SAMPLES) {
		t->others++;
		t->sampled |= same;
		return;
	}
	t->files++;
	t->lost += h->lost_calls;
	t->flags |= h->flags;
	if (h->full)
		t->full = h->full;
	if (is_root(w))
		add_root(w, name);
	else if (writer_lives(h))
		add_running(t, h->pid);
	if (!is_root(w) && strlen(name) < sizeof(t->other))
		memcpy(t->other, name, strlen(name) + 1);
	add_chunks(w, fd);
}

/* No link is followed, and nothing waited for. Less than 0: it is no file. */
static int open_file(int folder, const char *name)
{
	struct stat st;
	long fd = SWZ_SYSCALL(SYS_openat, folder, name,
			      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				      O_CLOEXEC);

	if (fd < 0 ||
	    (SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 && S_ISREG(st.st_mode)))
		return (int)fd;
	SWZ_SYSCALL(SYS_close, fd);
	return -1;
}

static void add_file(struct swz_run_files *w, int folder, const char *name)
{
	int fd = open_file(folder, name);

	if (fd < 0)
		return;
	add_open(w, fd, name);
	SWZ_SYSCALL(SYS_close, fd);
}

/* Nothing was recorded, nor lost. Changes the totals. */
static bool is_unused(struct swz_run_files *w, int fd)
{
	const struct swz_file_header *h = &w->header;

	if (read_at(fd, &w->header, sizeof(*h), 0) != sizeof(*h) ||
	    memcmp(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic)) != 0 ||
	    h->version != SWZ_FILE_VERSION || h->flags & SWZ_FILE_SAMPLES ||
	    h->lost_calls || h->full)
		return false;
	w->totals.calls = 0;
	w->totals.marks = w->totals.contexts = false;
	add_chunks(w, fd);
	return !w->totals.calls && !w->totals.contexts && !w->totals.marks;
}

/* What a process that runs has not recorded it may record yet; but the root
 * ends. */
static void remove_unused(struct swz_run_files *w, int folder, const char *name)
{
	int fd = open_file(folder, name);
	bool unused;

	if (fd < 0)
		return;
	unused = is_unused(w, fd) && w->header.root_pid == w->run->root_pid &&
		 w->header.root_start == w->run->root_start &&
		 (is_root(w) || !writer_lives(&w->header));
	SWZ_SYSCALL(SYS_close, fd);
	if (unused)
		SWZ_SYSCALL(SYS_unlinkat, folder, name, 0);
}

/* Calls VISIT for each file that may be the run's. */
static bool visit_folder(struct swz_run_files *w,
			 void (*visit)(struct swz_run_files *w, int folder,
				       const char *name))
{
	const char *slash = strrchr(w->run->output, '/');
	size_t length = slash ? (size_t)(slash - w->run->output) + 1 : 0;
	long folder, n;

	if (!slash || length >= sizeof(w->path))
		return false;
	w->name = slash + 1;
	memcpy(w->path, w->run->output, length);
	w->path[length] = '\0';
	folder = SWZ_SYSCALL(SYS_open, w->path,
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	while ((n = SWZ_SYSCALL(SYS_getdents64, folder, w->entries,
				sizeof(w->entries))) > 0)
		for (long at = 0; at < n;) {
			const struct entry *e =
				(const void *)((char *)w->entries + at);

			if (begins_as_wanted(w->name, e->name))
				visit(w, (int)folder, e->name);
			at += e->bytes;
		}
	SWZ_SYSCALL(SYS_close, folder);
	return true;
}

bool swz_run_add_folder(struct swz_run_files *w)
{
	return visit_folder(w, add_file) && w->totals.files != 0;
}

void swz_run_leave_used(struct swz_run_files *w)
{
	struct swz_run_totals before = w->totals;

	(void)visit_folder(w, remove_unused);
	w->totals = (struct swz_run_totals){.told = before.told};
	(void)swz_run_add_folder(w);
	/* (where it was gone before, it has said so when it went) */
	if (w->totals.first[0] || !before.first[0])
		return;
	w->totals.start_ticks = before.start_ticks;
	w->totals.last_ticks = before.last_ticks;
	memcpy(w->totals.clock, before.clock, sizeof(before.clock));
	memcpy(w->totals.first, w->totals.other, sizeof(w->totals.first));
}

bool swz_run_is_unused(const char *path)
{
	struct swz_run_files *w;
	bool unused = false;
	int fd = open_file(AT_FDCWD, path);

	if (fd < 0)
		return false;
	w = swz_sys_mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w) {
		w->run = &(const struct swz_run){.root_pid = 0};
		unused = is_unused(w, fd);
		swz_sys_munmap(w, sizeof(*w));
	}
	SWZ_SYSCALL(SYS_close, fd);
	return unused;
}
