#include "base/run_summary.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "swizzle/format.h"
#include "base/printable.h"
#include "base/syscall.h"

/* --- totals of a run ----------------------------------------------------- */

/* A profile says in its header to which run it belongs, so the folder is all
 * that has to be looked at: nothing is shared by the processes of a run. Files
 * are read, not mapped: another process may be cutting one, and to touch what
 * is gone would be a SIGBUS for the program. */

#define SWZ_RUN_BLOCK_BYTES 65536u

struct swz_run_totals {
	uint64_t calls, lost, folded, untraced;
	uint32_t files, threads, full, running, others;
	uint32_t flags;   /* of all of them */
	int32_t pids[64]; /* of processes that run: one may have several files
			   */
	bool told, overwritten, marks;
	bool sampled; /* a sampler has files of the same processes */
	/* --start-at and --stop-at: the most calls that a process saw, if none
	 * saw the one that is meant */
	struct swz_run_trigger {
		uint64_t number, calls;
		bool came;
	} start_at, stop_at;
	bool stopped_nothing; /* --stop-at, in a process that recorded later */
	bool contexts; /* of functions: a forked child may have spent its time
			* in such, without a call */
	/* of the root process */
	uint64_t start_ticks, last_ticks;
	struct swz_clock_sample clock[3];
	char first[256]; /* its first file's name */
	char other[256]; /* that of another process */
};

struct swz_run_files {
	const struct swz_run *run;
	const char *name; /* the pattern's last part */
	struct swz_run_totals totals;
	struct swz_file_header header;
	char path[SWZ_RUN_PATH_BYTES];
	uint64_t entries[SWZ_RUN_BLOCK_BYTES / 8];
	uint64_t block[SWZ_RUN_BLOCK_BYTES / 8];
};

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

/* Slots of the hash tables of -m count. */
static void add_counts(struct swz_run_files *w, int fd, uint64_t at,
		       uint64_t bytes)
{
	const struct swz_count_slot *slots = (const void *)w->block;

	bytes -= bytes % sizeof(*slots);
	while (bytes) {
		uint64_t want = bytes < SWZ_RUN_BLOCK_BYTES
					? bytes
					: SWZ_RUN_BLOCK_BYTES;
		long n = read_at(fd, w->block, want, at);

		if (n < (long)sizeof(*slots))
			return;
		n &= -(long)sizeof(*slots);
		for (size_t i = 0; i < (size_t)n / sizeof(*slots); i++)
			w->totals.calls += w->header.flags & SWZ_FILE_COVER
						   ? slots[i].calls != 0
						   : slots[i].calls;
		at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
}

/* How many of the bytes behind a chunk's header are slots. */
static uint64_t slot_bytes(const struct swz_chunk *chunk)
{
	uint64_t bytes = chunk->count * (uint64_t)sizeof(struct swz_count_slot);
	uint64_t room = chunk->bytes - sizeof(*chunk);

	return bytes < room ? bytes : room;
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
	return swz_run_is_root(w->run, &w->header);
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
	uint64_t at = SWZ_HEADER_BYTES,
		 end = w->header.used_bytes & ~SWZ_USED_CLOSED;
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
		else if (chunk.type == SWZ_CHUNK_COUNTS)
			add_counts(w, fd, at + sizeof(chunk),
				   slot_bytes(&chunk));
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

static void add_trigger(struct swz_run_trigger *t, uint64_t number,
			uint64_t calls, bool came)
{
	if (number)
		t->number = number;
	if (calls > t->calls)
		t->calls = calls;
	t->came |= came;
}

static void add_triggers(struct swz_run_totals *t,
			 const struct swz_file_header *h)
{
	const uint32_t flags = h->trigger_flags;
	const uint32_t nothing = SWZ_TRIGGER_STARTED | SWZ_TRIGGER_EARLY;

	add_trigger(&t->start_at, h->start_at_number, h->start_at_calls,
		    flags & SWZ_TRIGGER_STARTED);
	add_trigger(&t->stop_at, h->stop_at_number, h->stop_at_calls,
		    flags & SWZ_TRIGGER_STOPPED);
	t->stopped_nothing |= (flags & nothing) == nothing;
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
	same = swz_run_has(w->run, h);
	if (!same || h->flags & SWZ_FILE_SAMPLES) {
		/* (samples of -m both are read with the counts) */
		t->others += !same || !h->counts_pid;
		t->sampled |= same;
		return;
	}
	t->files++;
	t->lost += h->lost_calls;
	t->flags |= h->flags;
	add_triggers(t, h);
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

/* A running process may record yet what it has not recorded; but the root ends.
 */
static void remove_unused(struct swz_run_files *w, int folder, const char *name)
{
	int fd = open_file(folder, name);
	bool unused;

	if (fd < 0)
		return;
	unused = is_unused(w, fd) && swz_run_has(w->run, &w->header) &&
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

/* Adds the profiles in the folder of `output`; all but `run` is 0 before.
 * False: there is none, or the folder cannot be read. */
static bool run_add_folder(struct swz_run_files *w)
{
	return visit_folder(w, add_file) && w->totals.files != 0;
}

/* Removes profiles without a call, and adds the others. The root's times stay
 * known though its profile may go. */
static void run_leave_used(struct swz_run_files *w)
{
	struct swz_run_totals before = w->totals;

	(void)visit_folder(w, remove_unused);
	w->totals = (struct swz_run_totals){.told = before.told};
	(void)run_add_folder(w);
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

/* --- the summary --------------------------------------------------------- */

/* Figures are those of swizzle-dump -f info, but that it does not know when a
 * process was killed. */

#define MOST_TICKS (UINT64_C(1) << 62)

/* value * by / per, to six digits, for what 64 bits may hold. */
static uint64_t scale(uint64_t value, uint64_t by, uint64_t per)
{
	unsigned shift = 0;

	while (by >> 20 || per >> 20) {
		by >>= 1;
		per >>= 1;
	}
	while (by && value >> shift > UINT64_MAX / by)
		shift++;
	return per ? ((value >> shift) * by / per) << shift : 0;
}

/* The rate is that between the samples that are farthest apart: the end's, or
 * where the machine was suspended in between (so that they say something else
 * than those of the start, by more than a hundredth), the start's. */
static uint64_t nanoseconds(const struct swz_run_totals *t)
{
	const struct swz_clock_sample *c = t->clock;
	uint64_t ticks = t->last_ticks - t->start_ticks;
	uint64_t start_ticks = c[1].ticks - c[0].ticks;
	uint64_t start_ns = c[1].monotonic_ns - c[0].monotonic_ns;
	uint64_t all_ticks = c[2].ticks - c[0].ticks;
	uint64_t all_ns = c[2].monotonic_ns - c[0].monotonic_ns;
	uint64_t expected, off;

	if (t->last_ticks < t->start_ticks || ticks > MOST_TICKS)
		return 0;
	if (!c[2].ticks || all_ticks > MOST_TICKS)
		return scale(ticks, start_ns, start_ticks);
	expected = scale(all_ticks, start_ns, start_ticks);
	off = expected > all_ns ? expected - all_ns : all_ns - expected;
	if (off > expected / 100 + 20000 + scale(20000, expected, start_ns))
		return scale(ticks, start_ns, start_ticks);
	return scale(ticks, all_ns, all_ticks);
}

struct line {
	char *text;
	size_t length;
};

static void put(struct line *l, const char *s)
{
	/* one for the newline */
	while (*s && l->length < SWZ_SUMMARY_BYTES - 1)
		l->text[l->length++] = *s++;
}

/* WIDTH digits at least; GROUPED: 1,234,567. */
static void put_digits(struct line *l, uint64_t number, unsigned width,
		       bool grouped)
{
	char digits[40];
	unsigned at = sizeof(digits) - 1;

	digits[at] = '\0';
	for (unsigned n = 0; number || n < width; n++, number /= 10) {
		if (grouped && n && n % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + number % 10);
	}
	put(l, digits + at);
}

static void put_count(struct line *l, uint64_t number, const char *what)
{
	put_digits(l, number, 1, true);
	put(l, what);
	if (number != 1)
		put(l, "s");
}

static void put_time(struct line *l, uint64_t ns)
{
	const bool short_one = ns < 1000000000;
	const uint64_t unit = short_one ? 1000000 : 1000000000;
	uint64_t hundredths = (ns + unit / 200) / (unit / 100);

	put_digits(l, hundredths / 100, 1, true);
	put(l, ".");
	put_digits(l, hundredths % 100, 2, false);
	put(l, short_one ? " ms" : " s");
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("._/+:=@%,-", c)) ||
	       (unsigned char)c >= 0x80;
}

/* As a shell reads it; what would control the terminal is shown as ?. STAR: at
 * the end, left for the shell to expand. */
static void put_word(struct line *l, const char *word, size_t length, bool star)
{
	bool quoted = false;

	for (size_t i = 0; i < length; i++)
		quoted |= !is_plain(word[i]);
	put(l, quoted ? "'" : "");
	while (length) {
		bool shown;
		size_t size = swz_character(word, length, &shown);
		char character[5] = "";

		memcpy(character, word, size);
		put(l, *word == '\'' ? "'\\''" : shown ? character : "?");
		word += size;
		length -= size;
	}
	put(l, quoted ? "'" : "");
	put(l, star ? "*" : "");
}

/* The user's own name for the folder, and the first file or, with a *, all. */
static void put_files(struct line *l, struct swz_run_files *w, bool all)
{
	const char *from = w->run->output + w->run->shown;
	size_t folder = from < w->name ? (size_t)(w->name - from) : 0;
	const char *name = all ? w->name : w->totals.first;
	const char *end = all ? strstr(name, "%p") : NULL;
	size_t length = end ? (size_t)(end - name) : strlen(name);

	if (folder + length >= sizeof(w->path))
		return;
	memcpy(w->path, w->name - folder, folder);
	memcpy(w->path + folder, name, length);
	if (w->path[0] == '-') /* or it is an option */
		put(l, "./");
	put_word(l, w->path, folder + length, all);
	if (end)
		put_word(l, end + 2, strlen(end + 2), false);
}

/* "; 5 events not traced (disk full)" */
static void put_lost(struct line *l, const struct swz_run_totals *t,
		     uint64_t count, const char *what, const char *happened,
		     const char *option)
{
	const char *bound = swz_file_bound(t->full, t->flags, option);

	if (!count)
		return;
	put(l, "; ");
	put_count(l, count, what);
	put(l, happened);
	if (!bound)
		return;
	put(l, " (");
	put(l, bound);
	put(l, ")");
}

/* "; --stop-at never came: 1 call of 2" */
static void put_trigger(struct line *l, const char *option,
			const struct swz_run_trigger *t)
{
	if (!t->number || t->came)
		return;
	put(l, "; ");
	put(l, option);
	put(l, " never came: ");
	if (!t->calls) {
		put(l, "no call of it was seen (--list says if it is hooked)");
		return;
	}
	put_count(l, t->calls, " call");
	put(l, " of ");
	put_digits(l, t->number, 1, true);
}

static void put_triggers(struct line *l, const struct swz_run_totals *t)
{
	put_trigger(l, "--start-at", &t->start_at);
	/* (what never started need not be stopped) */
	if (!t->start_at.number || t->start_at.came)
		put_trigger(l, "--stop-at", &t->stop_at);
	if (t->stopped_nothing)
		put(l, "; --stop-at came before --start-at and stopped "
		       "nothing");
}

static void put_missing(struct line *l, const struct swz_run_totals *t)
{
	put_lost(l, t, t->lost, " call", " lost", NULL);
	put_lost(l, t, t->folded, " call", " folded into other contexts",
		 "--max-memory");
	put_lost(l, t, t->untraced, " event", " not traced", "--max-size");
	if (t->full && !t->lost && !t->folded && !t->untraced) {
		put(l, "; the profile could not grow (");
		put(l, swz_file_bound(t->full, 0, ""));
		put(l, ")");
	}
	if (t->overwritten)
		put(l, "; oldest events overwritten (--ring)");
	put_triggers(l, t);
	if (t->running) {
		put(l, "; ");
		put_digits(l, t->running, 1, true);
		put(l, t->running == 1 ? " process still runs"
				       : " processes still run");
	}
}

static bool is_default(const struct swz_run_files *w)
{
	static const char name[] = "swizzle.out.%p";

	return w->run->output + w->run->shown == w->name &&
	       strcmp(w->name, name) == 0;
}

static void put_line(struct line *l, struct swz_run_files *w)
{
	const struct swz_run_totals *t = &w->totals;
	const bool tree = t->files > 1, all = tree && !t->others;

	put(l, "swizzle: ");
	put_count(l, t->calls,
		  t->flags & SWZ_FILE_COVER ? " first call" : " call");
	put(l, " in ");
	put_time(l, nanoseconds(t));
	put(l, ", ");
	put_count(l, tree ? t->files : t->threads,
		  tree ? " profile" : " thread");
	put(l, " -> ");
	put_files(l, w, all);
	if (tree && !all) {
		put(l, " and ");
		put_digits(l, t->files - 1, 1, true);
		put(l, " more (a new -o DIR/ keeps those of a run together)");
	}
	put_missing(l, t);
	put(l, ". Next: swizzle-dump");
	/* (the newest file will be the sampler's) */
	if (tree || t->sampled || !is_default(w)) {
		put(l, " ");
		put_files(l, w, all);
	}
	l->text[l->length++] = '\n';
}

size_t swz_run_summarize(const struct swz_run *run, char *text)
{
	struct line line = {.text = text};
	struct swz_run_files *w;

	if (!run->root_pid)
		return 0;
	w = swz_sys_mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!w)
		return 0;
	w->run = run;
	if (run_add_folder(w) && run->end_ticks)
		w->totals.last_ticks = run->end_ticks;
	if (run->only_used && w->totals.calls)
		run_leave_used(w);
	if (w->totals.first[0] && !w->totals.told)
		put_line(&line, w);
	swz_sys_munmap(w, sizeof(*w));
	return line.length;
}
