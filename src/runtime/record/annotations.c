/* The profile says this beside calls: functions' ids, names of code that was
 * made at run time, names of spans, marks, and the title that the process gives
 * itself. */

#include "runtime/record/annotations.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "image/cursor.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "swizzle/format.h"

/* -------------------------------------------------------- ids of functions */

/* Ids for modules to come. */
#define LATER_IDS (1u << 20)

bool swz_ids_filtered;
uint8_t *swz_ids_filters;
static uint32_t next_id = 1;
static uint32_t end_id = UINT32_MAX;

uint32_t swz_ids_take(uint32_t count)
{
	uint32_t first = next_id;

	if (count > swz_ids_left())
		return 0;
	next_id += count;
	return first;
}

uint32_t swz_ids_left(void)
{
	return end_id - next_id;
}

uint32_t swz_ids_next(void)
{
	return next_id;
}

void swz_ids_end_start(void)
{
	end_id = next_id + LATER_IDS;
}

uint32_t swz_ids_bound(void)
{
	return end_id + 1;
}

uint32_t swz_ids_spare(void)
{
	return end_id;
}

enum swz_status swz_ids_begin_filters(void)
{
	/* a mapping of its own: it outlives the plan */
	swz_ids_filters = swz_sys_mmap(
		NULL, swz_ids_bound(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return swz_ids_filters ? SWZ_OK : SWZ_E_NOMEM;
}

void swz_ids_set_filter(uint32_t function, uint8_t flags)
{
	if (swz_ids_filters && function < end_id)
		swz_ids_filters[function] = flags;
}

uint8_t swz_ids_filter(uint32_t function)
{
	return swz_ids_filters && function < end_id ? swz_ids_filters[function]
						    : 0;
}

/* ------------------------------------------- what the process calls itself */

/* The kernel shows the bytes from the first argument to the end of the last;
 * or, where the last of them is no NUL any more, on to the first NUL in what
 * was the environment (proc(5), cmdline). A program may do so before each
 * request that it serves: the chunk is written over then. */

#define MOST_TITLE 1000u /* of a title, its NUL included */
#define LOOKED_AT_BYTES 128u

static const char *title_start, *title_end,
	*limit;       /* of the arguments; of all behind */
static uint64_t seen; /* a hash of their beginning */

/* The latest title's place, in the file of that start: a forked child's is
 * another one. */
static char *place;
static uint64_t place_in;

static uint64_t hash(void)
{
	size_t bytes = (size_t)(title_end - title_start);

	return swz_hash(0, (struct swz_bytes){(const uint8_t *)title_start,
					      bytes < LOOKED_AT_BYTES
						      ? bytes
						      : LOOKED_AT_BYTES});
}

static const char *end_of(char **strings, const char *before)
{
	while (*strings && *strings == before) {
		before = *strings + strlen(*strings) + 1;
		strings++;
	}
	return before;
}

void swz_title_begin(int argc, char **argv, char **envp)
{
	if (argc < 1)
		return;
	title_start = argv[0];
	title_end = end_of(argv, title_start);
	limit = end_of(envp, title_end);
	seen = hash();
}

static char *take_place(void)
{
	struct swz_chunk *chunk;

	if (place && place_in == swz_file->start_ticks)
		return place;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_TITLE, MOST_TITLE, 1, 0);
	if (!chunk)
		return NULL;
	memset(chunk + 1, 0, MOST_TITLE);
	swz_chunk_publish(chunk);
	place = (char *)(chunk + 1);
	place_in = swz_file->start_ticks;
	return place;
}

bool swz_title_is_new(void)
{
	return title_start && hash() != seen;
}

void swz_title_note(void)
{
	const char *last = title_end;
	size_t bytes;
	char *to;

	if (!title_start)
		return;
	seen = hash();
	to = take_place();
	if (!to)
		return;
	while (last[-1] && last < limit)
		last++;
	bytes = (size_t)(last - title_start);
	if (bytes > MOST_TITLE - 1)
		bytes = MOST_TITLE - 1;
	while (bytes && !title_start[bytes - 1])
		bytes--;
	for (size_t i = 0; i < bytes; i++)
		to[i] = title_start[i];
	for (size_t i = 0; i < bytes; i++)
		if (!to[i])
			to[i] = ' ';
	memset(to + bytes, 0, MOST_TITLE - bytes);
}

/* ------------------------------------------ names of code made at run time */

/* The nodes are linked through a field that they do not need; the header says
 * where that begins, so a forked child, which has another file, begins anew.
 *
 * The map is read into memory of its own, and the lines that are wanted are
 * moved to its beginning. */

#define MOST_BYTES (UINT64_C(256) << 20)
#define NS_PER_SECOND 1000000000u

void swz_code_note(struct swz_node *node)
{
	_Atomic uint32_t *latest = (_Atomic uint32_t *)&swz_file->latest_code;
	uint32_t before = atomic_load_explicit(latest, memory_order_relaxed);

	do
		node->outer_ticks = before;
	while (!atomic_compare_exchange_weak_explicit(
		latest, &before, swz_unit_of(node), memory_order_relaxed,
		memory_order_relaxed));
}

struct addresses {
	uint64_t *at; /* sorted */
	size_t count;
	size_t bytes; /* of the mapping */
};

/* By Shell's method (1959), with Knuth's distances. */
static void sort(uint64_t *of, size_t count)
{
	size_t distance = 1;

	while (distance < count / 3)
		distance = 3 * distance + 1;
	for (; distance; distance /= 3)
		for (size_t i = distance; i < count; i++) {
			uint64_t moved = of[i];
			size_t to = i;

			for (; to >= distance && of[to - distance] > moved;
			     to -= distance)
				of[to] = of[to - distance];
			of[to] = moved;
		}
}

static bool collect(struct addresses *addresses)
{
	const struct swz_node *node;
	uint32_t latest = swz_file->latest_code, unit;
	size_t count = 0;

	for (unit = latest; unit; unit = (uint32_t)node->outer_ticks) {
		node = swz_unit_at(unit);
		count++;
	}
	addresses->bytes = count * sizeof(*addresses->at);
	addresses->count = 0;
	if (!count)
		return false;
	addresses->at = swz_sys_mmap(NULL, addresses->bytes,
				     PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!addresses->at)
		return false;
	for (unit = latest; unit; unit = (uint32_t)node->outer_ticks) {
		node = swz_unit_at(unit);
		/* a call may be the last that there is of a function */
		if (node->call_site != SWZ_CALL_SITE_TAIL)
			addresses->at[addresses->count++] = node->call_site - 1;
	}
	sort(addresses->at, addresses->count);
	return true;
}

static bool is_wanted(const struct addresses *addresses, uint64_t start,
		      uint64_t size)
{
	size_t low;

	SWZ_PARTITION(low, addresses->count, addresses->at[low] < start);
	return low < addresses->count && addresses->at[low] - start < size;
}

/* A hexadecimal number, with or without 0x, and a blank. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
	const char *first;

	while (*at < end && **at == ' ')
		++*at;
	if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	*number = 0;
	for (first = *at; *at < end; ++*at) {
		unsigned digit = (unsigned)(**at - '0');

		if (digit > 9)
			digit = ((unsigned)**at | 0x20u) - 'a' + 10;
		if (digit > 15 || (digit < 10 && **at > '9'))
			break;
		*number = *number << 4 | digit;
	}
	return *at > first && *at < end && **at == ' ';
}

/* Moves the lines that are wanted to the beginning; returns their bytes. */
static size_t keep_lines(const struct addresses *addresses, char *text,
			 size_t size, uint32_t *lines)
{
	const char *at = text, *end = text + size;
	size_t kept = 0;

	while (at < end) {
		const char *number = at, *newline = at;
		uint64_t start, bytes;

		while (newline < end && *newline && *newline != '\n')
			newline++;
		if (newline == end)
			break;
		if (*newline == '\n' && take_number(&number, newline, &start) &&
		    take_number(&number, newline, &bytes) &&
		    is_wanted(addresses, start, bytes)) {
			size_t length = (size_t)(newline + 1 - at);

			memmove(text + kept, at, length);
			kept += length;
			++*lines;
		}
		at = newline + 1;
	}
	return kept;
}

static void write_path(char path[32])
{
	static const char before[] = "/tmp/perf-", behind[] = ".map";
	uint32_t pid = (uint32_t)SWZ_SYSCALL(SYS_getpid), digits = 1;
	char *at = path + sizeof(before) - 1;

	memcpy(path, before, sizeof(before) - 1);
	while (pid / digits >= 10)
		digits *= 10;
	for (; digits; digits /= 10)
		*at++ = (char)('0' + pid / digits % 10);
	memcpy(at, behind, sizeof(behind));
}

/* The process may have got the number of an earlier one, whose file that is. */
static bool is_ours(const struct stat *st)
{
	return (st->st_mode & S_IFMT) == S_IFREG && st->st_size > 0 &&
	       (uint64_t)st->st_size <= MOST_BYTES &&
	       (st->st_uid == 0 ||
		st->st_uid == (uid_t)SWZ_SYSCALL(SYS_geteuid)) &&
	       (uint64_t)st->st_mtim.tv_sec + 1 >=
		       swz_file->start_realtime_ns / NS_PER_SECOND;
}

static size_t read_fully(int fd, char *text, size_t size)
{
	size_t done = 0;
	long n;

	while (done < size &&
	       (n = SWZ_SYSCALL(SYS_read, fd, text + done, size - done)) > 0)
		done += (size_t)n;
	return done;
}

static void keep_from(int fd, const struct addresses *addresses, size_t size)
{
	char *text = swz_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct swz_chunk *chunk;
	uint32_t lines = 0;
	size_t kept;

	if (!text)
		return;
	kept = keep_lines(addresses, text, read_fully(fd, text, size), &lines);
	/* with a zero at the end */
	chunk = lines ? swz_chunk_take(swz_file, SWZ_CHUNK_CODE, kept + 1,
				       lines, 0)
		      : NULL;
	if (chunk) {
		memcpy(chunk + 1, text, kept);
		swz_chunk_publish(chunk);
	}
	swz_sys_munmap(text, size);
}

void swz_code_names_keep(void)
{
	struct addresses addresses;
	char path[32];
	struct stat st;
	long fd;

	if (!swz_file->latest_code)
		return;
	write_path(path);
	fd = SWZ_SYSCALL(SYS_open, path,
			 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 && is_ours(&st) &&
	    collect(&addresses)) {
		keep_from((int)fd, &addresses, (size_t)st.st_size);
		swz_sys_munmap(addresses.at, addresses.bytes);
	}
	SWZ_SYSCALL(SYS_close, fd);
}

/* ---------------------------------------------------------- names of spans */

/* A name is known by a hash of 64 bits. Who puts it into the table first is the
 * one that puts it into the profile; its id is known by then, so nobody waits
 * for that. */

#define SWZ_SPAN_NAME_BYTES 128u /* longer ones are cut */
/* Addresses where no code is, for functions that have none. */
#define SPAN_START 0xffffb00000000000ull
#define OTHER "[other spans]"
#define LAST (SWZ_MOST_SPANS - 1)

uint32_t swz_span_first_id;

/* By hash, open addressing; 0: not in use. */
static uint64_t hashes[SWZ_MOST_SPANS];

struct naming {
	const char *name;
	size_t bytes;
	uint32_t index;
	bool done;
};

/* FNV-1a, with the bits mixed as the table takes the low ones. */
static uint64_t hash_of(const char *name, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
	hash ^= hash >> 29;
	return hash ? hash : 1;
}

static size_t length_of(const char *name)
{
	size_t bytes = 0;

	while (bytes < SWZ_SPAN_NAME_BYTES && name[bytes])
		bytes++;
	if (bytes == SWZ_SPAN_NAME_BYTES)
		while (bytes && ((uint8_t)name[bytes] & 0xc0) == 0x80)
			bytes--;
	return bytes;
}

static bool put_function(uint32_t index)
{
	struct swz_chunk *chunk = swz_chunk_take(
		swz_file, SWZ_CHUNK_FUNCTIONS,
		sizeof(struct swz_function_record), 1, SWZ_SPAN_MODULE);

	if (!chunk)
		return false;
	*(struct swz_function_record *)(chunk +
					1) = (struct swz_function_record){
		.address = (uint32_t)SPAN_START + index,
		.size = 1,
		.id = swz_span_first_id + index};
	swz_chunk_publish(chunk);
	return true;
}

static bool put_name(uint32_t index, const char *name, size_t bytes)
{
	const struct swz_symbol_record symbol = {
		.address = SPAN_START + index,
		.size = 1,
		.name = sizeof(symbol),
	};
	struct swz_chunk *chunk = swz_chunk_take(swz_file, SWZ_CHUNK_SYMBOLS,
						 sizeof(symbol) + bytes + 1, 1,
						 SWZ_SPAN_MODULE);
	char *body;

	if (!chunk)
		return false;
	body = (char *)(chunk + 1);
	memcpy(body, &symbol, sizeof(symbol));
	memcpy(body + sizeof(symbol), name, bytes);
	swz_chunk_publish(chunk);
	return true;
}

static bool put_module(void)
{
	struct swz_chunk *chunk = swz_chunk_take(
		swz_file, SWZ_CHUNK_MODULE,
		sizeof(struct swz_module_record) + sizeof(SWZ_SPAN_MODULE_NAME),
		1, SWZ_SPAN_MODULE);

	if (!chunk)
		return false;
	*(struct swz_module_record *)(chunk + 1) = (struct swz_module_record){
		.start = SPAN_START,
		.end = SPAN_START + SWZ_MOST_SPANS,
		.first_function = swz_span_first_id,
	};
	memcpy((char *)(chunk + 1) + sizeof(struct swz_module_record),
	       SWZ_SPAN_MODULE_NAME, sizeof(SWZ_SPAN_MODULE_NAME));
	swz_chunk_publish(chunk);
	return true;
}

/* The first of all names brings the module with it. */
static void put(void *argument)
{
	static _Atomic bool has_module;
	struct naming *naming = argument;

	if (!has_module)
		has_module = put_module();
	naming->done = put_function(naming->index) &&
		       put_name(naming->index, naming->name, naming->bytes);
}

enum swz_status swz_span_names_begin(void)
{
	swz_span_first_id = swz_ids_take(SWZ_MOST_SPANS);
	return swz_span_first_id ? SWZ_OK : SWZ_E_NOMEM;
}

static uint32_t name(struct swz_thread *thread, uint32_t index,
		     const char *text, size_t bytes)
{
	struct naming naming = {text, bytes, index, false};

	swz_slowly(thread, put, &naming);
	if (naming.done)
		return swz_span_first_id + index;
	/* the next one may have more luck */
	__atomic_store_n(&hashes[index], 0, __ATOMIC_RELAXED);
	return 0;
}

uint32_t swz_span_id(struct swz_thread *thread, const char *text)
{
	size_t bytes = length_of(text);
	uint64_t hash = hash_of(text, bytes), none;
	uint32_t at = (uint32_t)hash % LAST;

	for (uint32_t i = 0; i < LAST; i++, at = at + 1 < LAST ? at + 1 : 0) {
		uint64_t there = __atomic_load_n(&hashes[at], __ATOMIC_RELAXED);

		if (there == hash)
			return swz_span_first_id + at;
		none = 0;
		if (!there && __atomic_compare_exchange_n(
				      &hashes[at], &none, hash, false,
				      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return name(thread, at, text, bytes);
		if (!there && none == hash)
			return swz_span_first_id + at;
	}
	none = 0;
	if (__atomic_compare_exchange_n(&hashes[LAST], &none, 1, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return name(thread, LAST, OTHER, sizeof(OTHER) - 1);
	return swz_span_first_id + LAST;
}

/* ------------------------------------------------------------------- marks */

/* A thread fills a chunk of its own. Room in it is taken by one
 * compare-and-exchange, so that a signal handler may come between, and a record
 * is complete once its time is stored. */

#define FIRST_BYTES 960u /* of a body; with its header 1 KiB */
#define BYTES 8128u
#define OUTSIDE_BYTES 960u

struct adding {
	struct swz_thread *thread;
	uint64_t bytes; /* of the record */
	struct swz_mark_record *record;
};

static struct swz_mark_record *take(struct swz_chunk *chunk, uint64_t bytes)
{
	uint64_t *used = &chunk->reserved[SWZ_MARKS_USED];
	uint64_t at = __atomic_load_n(used, __ATOMIC_RELAXED);

	do {
		if (bytes > chunk->bytes - sizeof(*chunk) - at)
			return NULL;
	} while (!__atomic_compare_exchange_n(used, &at, at + bytes, false,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return (void *)((char *)(chunk + 1) + at);
}

static void take_in_new_chunk(void *argument)
{
	struct adding *adding = argument;
	struct swz_thread_cold *cold = adding->thread->cold;
	uint64_t bytes = cold->marks ? BYTES : FIRST_BYTES;
	struct swz_chunk *chunk;

	if (bytes < adding->bytes)
		bytes = BYTES;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_MARKS, bytes, 0,
			       cold->index);
	if (!chunk)
		return;
	swz_chunk_publish(chunk);
	cold->marks = chunk;
	adding->record = take(chunk, adding->bytes);
}

static size_t cut(const char *text, size_t bytes)
{
	if (bytes <= SWZ_MARK_MOST_BYTES)
		return bytes;
	bytes = SWZ_MARK_MOST_BYTES;
	while (bytes && ((uint8_t)text[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

/* (Without it none can be made: nothing that this process needs.) */
void swz_marks_begin(struct swz_file_header *file)
{
	struct swz_chunk *chunk = swz_chunk_take(
		file, SWZ_CHUNK_MARKS, OUTSIDE_BYTES, 0, SWZ_MARKS_OUTSIDE);

	if (chunk)
		swz_chunk_publish(chunk);
}

void swz_marks_lose(void)
{
	__atomic_fetch_add(&swz_file->lost_marks, 1, __ATOMIC_RELAXED);
}

void swz_marks_add(struct swz_thread *thread, enum swz_mark_kind kind,
		   const char *text, size_t bytes, uint64_t ticks)
{
	size_t kept = cut(text, bytes);
	struct adding adding = {
		.thread = thread,
		.bytes = (sizeof(struct swz_mark_record) + kept + 7) &
			 -(uint64_t)8,
	};
	struct swz_mark_record *record = NULL;

	if (thread->cold->marks)
		record = take(thread->cold->marks, adding.bytes);
	if (!record) {
		swz_slowly(thread, take_in_new_chunk, &adding);
		record = adding.record;
	}
	if (!record) {
		swz_marks_lose();
		return;
	}
	record->node = (uint32_t)(thread->key >> 32);
	record->text_bytes = (uint16_t)kept;
	record->kind = (uint16_t)(kind | (kept < bytes ? SWZ_MARK_CUT : 0u));
	memcpy(record + 1, text, kept);
	/* release: who sees the time sees the rest */
	__atomic_store_n(&record->ticks, ticks, __ATOMIC_RELEASE);
	thread->record->last_ticks = ticks;
}
