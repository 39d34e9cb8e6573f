/* Code made at run time, named by files of a JIT compiler: /tmp/perf-PID.map
 * and jit-PID.dump. Ranges are kept by size class, each list sorted by start,
 * so a look-up is one binary search per class however ranges overlap. Addresses
 * are used again: what was there at a given moment counts. The files are not
 * trusted. */

#include "profile/file/code_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/basics.h"
#include "util/memory.h"

/* --- ranges of code ------------------------------------------------------ */

/* Ranges are kept apart by their size: in a list of ranges of at most S bytes,
 * those that hold an address begin less than S before it. So a map with one
 * huge range is searched as fast as any other. */

#define USER_SPACE (1ull << 47)
#define MOST_RANGES (1u << 24)
#define MOST_TEXT (1u << 31)

static unsigned class_of(uint64_t size)
{
	return 63u - (unsigned)__builtin_clzll(size);
}

static uint32_t add_name(struct swz_code_ranges *ranges, const char *name,
			 size_t length)
{
	uint32_t at = (uint32_t)ranges->text_bytes;

	if (ranges->text_capacity - ranges->text_bytes <= length) {
		ranges->text_capacity += ranges->text_capacity / 2 + length +
					 4096;
		ranges->text = swz_reallocate(ranges->text,
					      ranges->text_capacity, 1);
	}
	memcpy(ranges->text + at, name, length);
	ranges->text[at + length] = '\0';
	ranges->text_bytes += length + 1;
	return at;
}

/* Adds a range whose name has LENGTH bytes (no NUL among them). What cannot be
 * code is left out: nothing, what is too large or beyond the address space. */
static void code_ranges_add(struct swz_code_ranges *ranges, uint64_t start,
			    uint64_t size, uint64_t time_ns, const char *name,
			    size_t length)
{
	struct swz_code_range_list *list;

	if (!size || start >= USER_SPACE || size > USER_SPACE - start ||
	    !length || ranges->count == MOST_RANGES ||
	    ranges->text_bytes + length >= MOST_TEXT)
		return;
	list = &ranges->lists[class_of(size)];
	swz_grow(&list->ranges, &list->capacity, list->count,
		 sizeof(*list->ranges));
	list->ranges[list->count++] = (struct swz_code_range){
		.start = start,
		.size = size,
		.time_ns = time_ns,
		.number = ranges->count++,
		.name = add_name(ranges, name, length),
	};
}

static int by_start(const void *left, const void *right)
{
	const struct swz_code_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The ranges that came since are few: they are sorted and put between the
 * others. */
static void sort(struct swz_code_range_list *list)
{
	size_t news = list->count - list->sorted, old = list->sorted;
	size_t at = list->count;
	struct swz_code_range *copy;

	if (!news)
		return;
	copy = swz_allocate(news, sizeof(*copy));
	memcpy(copy, list->ranges + old, news * sizeof(*copy));
	qsort(copy, news, sizeof(*copy), by_start);
	while (news)
		if (old &&
		    by_start(&list->ranges[old - 1], &copy[news - 1]) > 0)
			list->ranges[--at] = list->ranges[--old];
		else
			list->ranges[--at] = copy[--news];
	list->sorted = list->count;
	free(copy);
}

/* How many begin at the address or before. */
static size_t count_before(const struct swz_code_range_list *list,
			   uint64_t address)
{
	size_t low;

	SWZ_PARTITION(low, list->count, list->ranges[low].start <= address);
	return low;
}

/* The one is the better answer. */
static bool is_better(const struct swz_code_range *a,
		      const struct swz_code_range *b, uint64_t time_ns)
{
	bool was = a->time_ns <= time_ns;

	if (!b)
		return true;
	if (was != (b->time_ns <= time_ns))
		return was;
	if (a->time_ns != b->time_ns)
		return (a->time_ns > b->time_ns) == was;
	return a->number > b->number;
}

static const struct swz_code_range *find_in(struct swz_code_range_list *list,
					    unsigned class, uint64_t address,
					    uint64_t time_ns,
					    const struct swz_code_range *best)
{
	sort(list);
	for (size_t i = count_before(list, address); i-- > 0;) {
		const struct swz_code_range *range = &list->ranges[i];

		if ((address - range->start) >> class >= 2)
			break;
		if (address - range->start < range->size &&
		    is_better(range, best, time_ns))
			best = range;
	}
	return best;
}

const char *swz_code_ranges_find(struct swz_code_ranges *ranges,
				 uint64_t address, uint64_t time_ns)
{
	const struct swz_code_range *best = NULL;

	for (unsigned i = 0; i < SWZ_SIZE_CLASSES; i++)
		if (ranges->lists[i].count)
			best = find_in(&ranges->lists[i], i, address, time_ns,
				       best);
	return best ? ranges->text + best->name : NULL;
}

static void *copy_of(const void *from, size_t count, size_t size)
{
	void *to = swz_allocate(count, size);

	memcpy(to, from, count * size);
	return to;
}

void swz_code_ranges_copy(struct swz_code_ranges *to,
			  const struct swz_code_ranges *from)
{
	*to = *from;
	if (!from->count) /* (text comes with a range) */
		return;
	for (unsigned i = 0; i < SWZ_SIZE_CLASSES; i++) {
		struct swz_code_range_list *list = &to->lists[i];

		list->capacity = list->count;
		if (list->count)
			list->ranges = copy_of(list->ranges, list->count,
					       sizeof(*list->ranges));
	}
	to->text_capacity = to->text_bytes;
	to->text = copy_of(from->text, from->text_bytes, 1);
}

void swz_code_ranges_free(struct swz_code_ranges *ranges)
{
	for (unsigned i = 0; i < SWZ_SIZE_CLASSES; i++)
		free(ranges->lists[i].ranges);
	free(ranges->text);
	*ranges = (struct swz_code_ranges){0};
}

/* --- names of functions -------------------------------------------------- */

/* The name of a function that some compiler has named. V8 compiles one function
 * several times, with a mark for each way: "JS:~f file:1:1", "JS:^f", "JS:*f",
 * once "LazyCompile:*f" or "Function:~f". They are one function. */

#define NAMELESS "(anonymous)"
#define MOST_BYTES 4096u

/* How V8 says by which of its compilers code was made: a sign, before it an o
 * where that replaces a loop that was running, behind it an apostrophe where it
 * serves one closure only. Returns its bytes; 0: it is none. */
static size_t mark_bytes(const char *text, size_t length)
{
	size_t n = length > 1 && text[0] == 'o' && strchr("*+", text[1]);

	if (n == length || !text[n] || !strchr("~^*+", text[n]))
		return 0;
	n++;
	return n < length && text[n - 1] != '~' && text[n] == '\'' ? n + 1 : n;
}

/* True if it begins so, with a mark behind it; *name is then what follows. */
static bool skip_mark(const char *prefix, const char **name, size_t *length)
{
	size_t n = strlen(prefix), mark;

	if (*length <= n || memcmp(*name, prefix, n) != 0)
		return false;
	mark = mark_bytes(*name + n, *length - n);
	if (!mark)
		return false;
	*name += n + mark;
	*length -= n + mark;
	return true;
}

static void skip_tier(const char **name, size_t *length)
{
	static const char *const prefixes[] = {
		"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (skip_mark(prefixes[i], name, length))
			return;
}

/* Adds the code by the name that is to be shown, as code_ranges_add().
 * The name ends before its first control character; LENGTH may be anything. */
static void add_code(struct swz_code_ranges *ranges, uint64_t start,
		     uint64_t size, uint64_t time_ns, const char *name,
		     size_t length)
{
	char text[MOST_BYTES + sizeof(NAMELESS)];
	const char *whole = name;
	size_t used = 0;

	if (length > MOST_BYTES)
		length = MOST_BYTES;
	while (used < length && (unsigned char)name[used] >= ' ' &&
	       name[used] != 0x7f)
		used++;
	length = used;
	skip_tier(&name, &length);
	if (name == whole || (length && *name != ' ')) {
		code_ranges_add(ranges, start, size, time_ns, name, length);
		return;
	}
	memcpy(text, NAMELESS, sizeof(NAMELESS) - 1);
	memcpy(text + sizeof(NAMELESS) - 1, name, length);
	code_ranges_add(ranges, start, size, time_ns, text,
			sizeof(NAMELESS) - 1 + length);
}

/* --- perf map files ------------------------------------------------------ */

struct line {
	const char *at, *end;
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void skip_blanks(struct line *line)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
}

/* With or without 0x, and with a blank behind it. */
static bool take_number(struct line *line, uint64_t *number)
{
	const char *first;

	skip_blanks(line);
	if (line->end - line->at > 2 && line->at[0] == '0' &&
	    (line->at[1] | 0x20) == 'x')
		line->at += 2;
	*number = 0;
	for (first = line->at; line->at < line->end; line->at++) {
		int digit = digit_of(*line->at);

		if (digit < 0)
			break;
		if (*number >> 60)
			return false;
		*number = *number << 4 | (unsigned)digit;
	}
	return line->at > first && line->at < line->end &&
	       (*line->at == ' ' || *line->at == '\t');
}

static void read_line(struct swz_code_ranges *ranges, struct line line,
		      uint64_t time_ns)
{
	uint64_t start, size;

	if (!take_number(&line, &start) || !take_number(&line, &size))
		return;
	skip_blanks(&line);
	add_code(ranges, start, size, time_ns, line.at,
		 (size_t)(line.end - line.at));
}

size_t swz_perf_map_read(struct swz_code_ranges *ranges, const char *text,
			 size_t size, uint64_t time_ns)
{
	const char *at = text, *end = text + size, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		read_line(ranges, (struct line){at, newline}, time_ns);
		at = newline + 1;
	}
	return (size_t)(at - text);
}

/* --- jitdump files ------------------------------------------------------- */

#define MAGIC 0x4a695444u
#define ARCH_TIMESTAMP 1u
#define MOST_NAME 4096u
#define MOST_NAMES (1u << 31)

enum { CODE_LOAD, CODE_MOVE };

struct header {
	uint32_t magic, version, total_size, machine, padding, pid;
	uint64_t timestamp, flags;
};

struct prefix {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct load {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
	/* the name with its NUL, and the code */
};

struct move {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

static void keep_name(struct swz_jitdump *dump, uint64_t index,
		      const char *name, size_t length)
{
	if (dump->name_bytes + length + 1 > MOST_NAMES)
		return;
	if (dump->name_capacity - dump->name_bytes <= length) {
		dump->name_capacity += dump->name_capacity / 2 + length + 4096;
		dump->names = swz_reallocate(dump->names, dump->name_capacity,
					     1);
	}
	*swz_map_at(&dump->by_index, index, 0) = (uint32_t)dump->name_bytes;
	memcpy(dump->names + dump->name_bytes, name, length);
	dump->names[dump->name_bytes + length] = '\0';
	dump->name_bytes += length + 1;
}

static void take_load(struct swz_jitdump *dump, struct swz_code_ranges *ranges,
		      const uint8_t *bytes, size_t size)
{
	struct load load;
	const char *name = (const char *)bytes + sizeof(load);
	size_t length;

	if (size < sizeof(load))
		return;
	memcpy(&load, bytes, sizeof(load));
	length = strnlen(name, size - sizeof(load));
	add_code(ranges, load.code_addr, load.code_size,
		 dump->no_times ? 0 : load.prefix.timestamp, name, length);
	keep_name(dump, load.code_index, name, length);
}

static void take_move(struct swz_jitdump *dump, struct swz_code_ranges *ranges,
		      const uint8_t *bytes, size_t size)
{
	struct move move;
	uint32_t name;

	if (size < sizeof(move))
		return;
	memcpy(&move, bytes, sizeof(move));
	name = swz_map_get(&dump->by_index, move.code_index, 0);
	if (name == SWZ_MAP_NONE || !dump->names)
		return;
	add_code(ranges, move.new_code_addr, move.code_size,
		 dump->no_times ? 0 : move.prefix.timestamp, dump->names + name,
		 strlen(dump->names + name));
}

static uint64_t take_header(struct swz_jitdump *dump, const uint8_t *bytes,
			    size_t size)
{
	struct header header;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	dump->begun = true;
	dump->damaged = header.magic != MAGIC ||
			header.total_size < sizeof(header);
	dump->no_times = (header.flags & ARCH_TIMESTAMP) != 0;
	return header.total_size;
}

/* So much of a record is looked at: the code behind the name is not. */
static size_t wanted_of(const struct prefix *prefix)
{
	size_t most = prefix->id == CODE_LOAD ? sizeof(struct load) + MOST_NAME
		      : prefix->id == CODE_MOVE ? sizeof(struct move)
						: sizeof(*prefix);

	return prefix->total_size < most ? prefix->total_size : most;
}

uint64_t swz_jitdump_read(struct swz_jitdump *dump,
			  struct swz_code_ranges *ranges, const uint8_t *bytes,
			  size_t size)
{
	uint64_t done = 0;

	if (!dump->begun)
		done = take_header(dump, bytes, size);
	if (dump->damaged)
		return size;
	while (dump->begun && done <= size &&
	       size - done >= sizeof(struct prefix)) {
		struct prefix prefix;
		size_t wanted;

		memcpy(&prefix, bytes + done, sizeof(prefix));
		wanted = wanted_of(&prefix);
		if (wanted < sizeof(prefix)) {
			dump->damaged = true;
			return size;
		}
		if (size - done < wanted)
			break;
		if (prefix.id == CODE_LOAD)
			take_load(dump, ranges, bytes + done, wanted);
		else if (prefix.id == CODE_MOVE)
			take_move(dump, ranges, bytes + done, wanted);
		done += prefix.total_size;
	}
	return done;
}

void swz_jitdump_free(struct swz_jitdump *dump)
{
	swz_map_free(&dump->by_index);
	free(dump->names);
	*dump = (struct swz_jitdump){0};
}

/* --- files of a profiled process ----------------------------------------- */

/* The process has ended, mostly: its number may be another's by now, and so may
 * a file with this number in its name. That one's time tells. */

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
