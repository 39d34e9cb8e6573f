/* A profile grows while it is read: chunks that are there stay as they are, and
 * one that is being made has no magic yet. What it says is checked, as the
 * profiled program can write there. */

#include "watch/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/basics.h"
#include "swizzle/format.h"
#include "thunks/counting.h"
#include "thunks/trampoline.h"
#include "util/memory.h"
#include "watch/proc_task.h"
#include "watch/tasks.h"

#define LOOK_AGAIN_NS 5000000u
/* The sampler's clock and the program's start are not read at once. */
#define CLOCKS_APART_NS 10000000u
#define MOST_NAMES 1000u
#define LAST_BYTES 192u /* the most that a region's last trampoline has */
#define MOST_CHUNK_BYTES (256u << 20)

/* ---------------------------------------------------------- the profile */

/* True if the process has the file in its memory. An overlay's files may have
 * another device there, or another inode. */
static bool is_mapped(const struct swz_image *image, int fd)
{
	char *path = swz_print("/proc/%d/maps", (int)image->pid);
	FILE *maps = fopen(path, "re");
	unsigned long inode;
	char *line = NULL;
	size_t room = 0;
	struct stat st;
	bool found = false;

	free(path);
	if (!maps)
		return false;
	if (fstat(fd, &st) == 0)
		while (!found && getline(&line, &room, maps) > 0)
			found = sscanf(line, "%*x-%*x %*s %*x %*s %lu",
				       &inode) == 1 &&
				inode == st.st_ino;
	free(line);
	fclose(maps);
	return found;
}

/* It names its process, which may have run another program before this one, or
 * does so by now. The profile of that is not in its memory any more, or not
 * yet. By time it cannot be told for sure: a shell lives for a millisecond
 * until it executes the program, and the pause engine sees late that another
 * one is run. So of those that may be it the latest is taken. *BEGAN is 0 for
 * what is it without doubt. */
static bool is_of(const struct swz_image *image,
		  const struct swz_file_header *h, int fd, uint64_t *began)
{
	*began = 0;
	if (memcmp(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic)) != 0 ||
	    h->version != SWZ_FILE_VERSION || !(h->flags & SWZ_FILE_COUNTS) ||
	    h->pid != image->pid || h->process_start != image->process_start)
		return false;
	if (image->by_fork || image->ran_before)
		return true;
	if (is_mapped(image, fd))
		return true;
	*began = h->clock[0].monotonic_ns;
	return *began + CLOCKS_APART_NS >= image->start_ns &&
	       (!image->end_ns || *began <= image->end_ns + CLOCKS_APART_NS);
}

struct candidate {
	int fd; /* -1: none so far */
	uint64_t began;
	bool sure;
};

static void look_at(struct candidate *best, const struct swz_image *image,
		    const char *path, bool *there)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct swz_file_header header;
	uint64_t began;

	*there = fd >= 0;
	if (fd < 0)
		return;
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    !is_of(image, &header, fd, &began) ||
	    (began && began < best->began)) {
		close(fd);
		return;
	}
	if (best->fd >= 0)
		close(best->fd);
	*best = (struct candidate){fd, began, began == 0};
}

static void take(struct swz_counted_code *c, const struct candidate *best)
{
	struct stat now, before;

	if (c->fd >= 0 && fstat(c->fd, &before) == 0 &&
	    fstat(best->fd, &now) == 0 && now.st_ino == before.st_ino) {
		close(best->fd);
		c->sure |= best->sure;
		return;
	}
	if (c->fd >= 0)
		close(c->fd);
	c->fd = best->fd;
	c->sure = best->sure;
	c->at = SWZ_HEADER_BYTES;
}

/* As the library names it: NAME, NAME.PID where many processes have one name,
 * and with a number where that is taken. */
static bool find_profile(struct swz_image *image)
{
	const char *output = image->counted.output;
	const char *slash = strrchr(output, '/');
	const char *mark = strstr(slash ? slash : output, "%p");
	char *base = mark ? swz_print("%.*s%d%s", (int)(mark - output), output,
				      (int)image->pid, mark + 2)
			  : swz_duplicate(output);
	struct candidate best = {.fd = -1};
	bool there;

	look_at(&best, image, base, &there);
	if (!best.sure && !mark) {
		free(base);
		base = swz_print("%s.%d", output, (int)image->pid);
		look_at(&best, image, base, &there);
	}
	for (unsigned i = 1; !best.sure && there && i < MOST_NAMES; i++) {
		char *path = swz_print("%s.%u", base, i);

		look_at(&best, image, path, &there);
		free(path);
	}
	free(base);
	if (best.fd >= 0)
		take(&image->counted, &best);
	return best.fd >= 0;
}

/* One that may be another's is found again: the right one may be there now. */
static bool has_profile(struct swz_image *image)
{
	const struct swz_counted_code *c = &image->counted;

	if (c->fd < 0 || !c->sure)
		(void)find_profile(image);
	return c->fd >= 0;
}

/* -------------------------------------------------------------- regions */

static int by_head(const void *left, const void *right)
{
	const struct swz_trampoline_place *a = left, *b = right;

	return a->head < b->head ? -1 : a->head > b->head;
}

static int by_site(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void free_region(struct swz_counted_region *region)
{
	free(region->places);
	free(region->sites);
}

static void sort_region(struct swz_counted_region *region)
{
	size_t count = region->count;

	qsort(region->places, count, sizeof(*region->places), by_head);
	region->sites = swz_allocate(count + 1, sizeof(*region->sites));
	for (size_t i = 0; i < count; i++)
		region->sites[i] = region->places[i].site;
	qsort(region->sites, count, sizeof(*region->sites), by_site);
}

static void put_region(struct swz_counted_code *c,
		       const struct swz_counted_region *region)
{
	size_t kept = 0;

	/* libraries that were there have been unloaded */
	for (size_t i = 0; i < c->count; i++)
		if (region->start < c->regions[i].end &&
		    c->regions[i].start < region->end)
			free_region(&c->regions[i]);
		else
			c->regions[kept++] = c->regions[i];
	c->count = kept;
	swz_grow(&c->regions, &c->capacity, c->count, sizeof(*c->regions));
	c->regions[c->count++] = *region;
}

static bool module_of(const struct swz_counted_code *c, uint32_t owner,
		      uint64_t *load_bias);

static void read_region(struct swz_counted_code *c,
			const struct swz_chunk *chunk, const uint8_t *body,
			size_t size)
{
	struct swz_trampoline_place place = {0};
	struct swz_counted_region region = {0};
	const uint8_t *at = body + sizeof(region.start);

	if (size < sizeof(region.start) || chunk->count > size ||
	    !module_of(c, chunk->owner, &region.load_bias))
		return;
	memcpy(&region.start, body, sizeof(region.start));
	region.places = swz_allocate(chunk->count + 1u, sizeof(place));
	while (region.count < chunk->count &&
	       swz_trampoline_unpack(&at, body + size, &place))
		region.places[region.count++] = place;
	sort_region(&region);
	if (region.count)
		region.end = region.start +
			     region.places[region.count - 1].head + LAST_BYTES;
	if (region.end > region.start)
		put_region(c, &region);
	else
		free_region(&region);
}

static bool read_chunk(const struct swz_counted_code *c, uint64_t at,
		       struct swz_chunk *chunk)
{
	return pread(c->fd, chunk, sizeof(*chunk), (off_t)at) ==
		       sizeof(*chunk) &&
	       chunk->magic == SWZ_CHUNK_MAGIC &&
	       chunk->bytes >= sizeof(*chunk) &&
	       chunk->bytes % SWZ_UNIT_BYTES == 0;
}

/* A module's record comes before its trampolines. */
static bool module_of(const struct swz_counted_code *c, uint32_t owner,
		      uint64_t *load_bias)
{
	struct swz_module_record record;
	struct swz_chunk chunk;
	uint64_t at = SWZ_HEADER_BYTES;
	bool found = false;

	while (read_chunk(c, at, &chunk)) {
		if (chunk.type == SWZ_CHUNK_MODULE && chunk.owner == owner &&
		    pread(c->fd, &record, sizeof(record),
			  (off_t)(at + sizeof(chunk))) == sizeof(record)) {
			*load_bias = record.load_bias;
			found = true;
		}
		at += chunk.bytes;
	}
	return found;
}

/* Reads what has come since. */
static bool read_on(struct swz_counted_code *c)
{
	size_t before = c->count;
	struct swz_chunk chunk;

	while (read_chunk(c, c->at, &chunk)) {
		size_t size = chunk.bytes - sizeof(chunk);
		uint8_t *body;

		if (chunk.type == SWZ_CHUNK_TRAMPOLINES &&
		    size <= MOST_CHUNK_BYTES) {
			body = swz_allocate(size + 1, 1);
			if (pread(c->fd, body, size,
				  (off_t)(c->at + sizeof(chunk))) ==
			    (ssize_t)size)
				read_region(c, &chunk, body, size);
			free(body);
		}
		c->at += chunk.bytes;
	}
	return c->count > before;
}

/* --------------------------------------------------------------- places */

static const struct swz_counted_region *region_at(
	const struct swz_counted_code *c, uint64_t pc)
{
	for (size_t i = 0; i < c->count; i++)
		if (pc >= c->regions[i].start && pc < c->regions[i].end)
			return &c->regions[i];
	return NULL;
}

static const struct swz_counted_region *find_region(struct swz_image *image,
						    uint64_t pc)
{
	struct swz_counted_code *c = &image->counted;
	const struct swz_counted_region *region = region_at(c, pc);
	uint64_t now;

	if (region)
		return region;
	now = swz_watch_now();
	if (now - c->failed_ns < LOOK_AGAIN_NS)
		return NULL;
	if (has_profile(image) && read_on(c))
		region = region_at(c, pc);
	if (!region)
		c->failed_ns = now;
	return region;
}

static const struct swz_trampoline_place *place_at(
	const struct swz_counted_region *region, uint64_t pc)
{
	size_t low;

	SWZ_PARTITION(low, region->count,
		      region->start + region->places[low].head <= pc);
	return low ? &region->places[low - 1] : NULL;
}

/* The jump that a function begins with. */
static bool is_site(const struct swz_counted_code *c, uint64_t pc)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct swz_counted_region *region = &c->regions[i];
		uint64_t address = pc - region->load_bias;
		uint32_t site = (uint32_t)address;

		if (address == site &&
		    bsearch(&site, region->sites, region->count, sizeof(site),
			    by_site))
			return true;
	}
	return false;
}

/* The head's first instruction is a push. */
#define PUSHED_FROM 1u
#define PUSHED_UNTIL SWZ_TRAMPOLINE_BODY

static enum swz_code_kind find_in_trampoline(
	const struct swz_counted_region *region, struct swz_registers *r)
{
	const struct swz_trampoline_place *place = place_at(region, r->ip);
	uint64_t behind = place ? r->ip - region->start - place->head : 0;

	if (!place)
		return SWZ_CODE_LIBRARY;
	r->ip = region->load_bias + place->site;
	if (behind < place->copies) {
		if (behind >= PUSHED_FROM && behind < PUSHED_UNTIL)
			r->sp += sizeof(uint64_t);
		return SWZ_CODE_COUNTING;
	}
	behind -= place->copies;
	if (place->goes_back && behind >= place->moved) {
		r->ip += place->moved;
		return SWZ_CODE_COUNTING;
	}
	if (behind >= place->moved)
		behind = place->moved ? place->moved - 1u : 0;
	r->ip += behind;
	return SWZ_CODE_PROGRAM;
}

enum swz_code_kind swz_counted_code_find(struct swz_image *image,
					 struct swz_registers *registers,
					 bool in_file)
{
	const struct swz_counted_region *region;
	uint64_t pc = registers->ip;

	if (!image->counted.output)
		return SWZ_CODE_PROGRAM;
	if (pc >= image->hooked.start && pc < image->hooked.end)
		return SWZ_CODE_LIBRARY;
	if (in_file)
		return is_site(&image->counted, pc) ? SWZ_CODE_COUNTING
						    : SWZ_CODE_PROGRAM;
	region = find_region(image, pc);
	return region ? find_in_trampoline(region, registers)
		      : SWZ_CODE_PROGRAM;
}

/* -------------------------------------------------------------- pauses */

/* The last sample in the engine's buffer is not older than that. */
#define OLDEST_HIT_NS 2000000000u

/* When a tick of the program's clock was, by the profile's first moment and
 * this one. */
static uint64_t ns_of(const struct swz_clock_sample *first, uint64_t ticks,
		      uint64_t now_ns, uint64_t now_ticks)
{
	double rate;

	if (now_ticks <= first->ticks || now_ns <= first->monotonic_ns ||
	    ticks >= now_ticks)
		return now_ns;
	rate = (double)(now_ns - first->monotonic_ns) /
	       (double)(now_ticks - first->ticks);
	rate *= (double)(now_ticks - ticks);
	return rate < (double)now_ns ? now_ns - (uint64_t)rate : 0;
}

static void note_pause(struct swz_counted_code *c, uint64_t from_ns,
		       uint64_t until_ns)
{
	struct swz_pause *last = c->pause_count ? &c->pauses[c->pause_count - 1]
						: NULL;

	if (last && last->until_ns == UINT64_MAX) {
		last->until_ns = until_ns;
		return;
	}
	if (last && last->until_ns + OLDEST_HIT_NS < c->asked_ns)
		c->pause_count = 0;
	swz_grow(&c->pauses, &c->pause_capacity, c->pause_count,
		 sizeof(*c->pauses));
	c->pauses[c->pause_count++] = (struct swz_pause){from_ns, until_ns};
}

/* The times are stored before the state. One that is changed twice between two
 * samples has one pause at most that goes unseen. */
static void ask_for_pause(struct swz_counted_code *c, uint64_t now_ns)
{
	uint64_t now_ticks = __builtin_ia32_rdtsc(), changed, stopped;
	struct swz_file_header header;
	struct swz_request request;
	bool was = c->pause_count &&
		   c->pauses[c->pause_count - 1].until_ns == UINT64_MAX;

	if (pread(c->fd, &request, sizeof(request), SWZ_REQUEST_OFFSET) !=
		    sizeof(request) ||
	    pread(c->fd, &header, sizeof(header), 0) != sizeof(header))
		return;
	changed = ns_of(&header.clock[0], request.changed_ticks, now_ns,
			now_ticks);
	stopped = ns_of(&header.clock[0], request.stopped_ticks, now_ns,
			now_ticks);
	if (request.paused != SWZ_REQUEST_RECORD) {
		if (!was)
			note_pause(c, changed, UINT64_MAX);
	} else if (was) {
		note_pause(c, stopped, changed);
	} else if (request.stopped_ticks && stopped > c->asked_ns) {
		note_pause(c, stopped, changed);
	}
	c->asked_ns = now_ns;
}

bool swz_counted_code_is_paused(struct swz_image *image, uint64_t time_ns)
{
	struct swz_counted_code *c = &image->counted;
	uint64_t now;

	if (!c->output)
		return false;
	if (time_ns >= c->asked_ns) {
		now = swz_watch_now();
		if (c->fd < 0 && now - c->failed_ns >= LOOK_AGAIN_NS &&
		    !find_profile(image))
			c->failed_ns = now;
		if (c->fd >= 0)
			ask_for_pause(c, now);
	}
	for (size_t i = c->pause_count; i-- > 0;)
		if (time_ns >= c->pauses[i].from_ns &&
		    time_ns < c->pauses[i].until_ns)
			return true;
	return false;
}

/* ------------------------------------------------------------- its cost */

/* A function that does nothing, and a loop that calls it, both twice: once with
 * a jump to its trampoline. The table has one slot, which is that of the only
 * call. */
#define PLAIN_AT 0u
#define HOOKED_AT 512u
#define LOOP_AT 64u /* from the function */
#define TRAMPOLINE_AT 128u
#define CALLS 4096u
#define ROUNDS 40u

static __thread struct {
	void *base;
	uint64_t mask;
} access_here;

/* 32 bits from behind them. */
static void put_distance(uint8_t *at, const uint8_t *target)
{
	int32_t distance = (int32_t)(target - (at + sizeof(distance)));

	memcpy(at, &distance, sizeof(distance));
}

/* Returns what the function returns to. */
static const uint8_t *write_function(uint8_t *function)
{
	static const uint8_t empty[] = {0x0f, 0x1f, 0x44, 0, 0, 0xc3};
	/* call function; dec %rdi; jnz to the call; ret */
	static const uint8_t loop[] = {0xe8, 0,    0,    0,    0,   0x48,
				       0xff, 0xcf, 0x75, 0xf6, 0xc3};

	memcpy(function, empty, sizeof(empty));
	memcpy(function + LOOP_AT, loop, sizeof(loop));
	put_distance(function + LOOP_AT + 1, function);
	return function + LOOP_AT + 5;
}

/* FACTOR lies a page before the code. */
static void hook_function(uint8_t *function, const uint64_t *factor)
{
	uint8_t *entry = function + TRAMPOLINE_AT + SWZ_COUNT_HEAD;
	uint8_t *copies = entry + swz_count_bytes(SWZ_COUNT_KEEPING_FLAGS);
	struct swz_count_access access;
	const uint8_t *thread;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	access.base = (int32_t)((const uint8_t *)&access_here.base - thread);
	access.mask = (int32_t)((const uint8_t *)&access_here.mask - thread);
	swz_count_write(entry, SWZ_COUNT_KEEPING_FLAGS, factor, &access);
	memcpy(copies, function, SWZ_JUMP_BYTES);
	copies[SWZ_JUMP_BYTES] = 0xe9;
	put_distance(copies + SWZ_JUMP_BYTES + 1, function + SWZ_JUMP_BYTES);
	function[0] = 0xe9;
	put_distance(function + 1, entry);
}

/* The least time of a call, in 1/1024 ns. */
static uint64_t least_time(const uint8_t *function)
{
	void (*loop)(uint64_t count);
	uint64_t least = UINT64_MAX;

	*(const void **)&loop = function + LOOP_AT;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t start = swz_watch_now(), ns;

		loop(CALLS);
		ns = swz_watch_now() - start;
		least = ns < least ? ns : least;
	}
	return least * 1024 / CALLS;
}

void swz_counted_code_measure(struct swz_sample_run *run)
{
	uint8_t *memory = mmap(NULL, 2 * SWZ_PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *factor = (uint64_t *)(void *)memory, plain, counted;
	struct swz_count_slot slots[2] = {{0}};
	uint8_t *code = memory + SWZ_PAGE;

	if (memory == MAP_FAILED)
		return;
	*factor = SWZ_COUNT_FACTOR;
	write_function(code + PLAIN_AT);
	slots[0].key = (uintptr_t)write_function(code + HOOKED_AT) + *factor;
	hook_function(code + HOOKED_AT, factor);
	access_here.base = slots;
	if (mprotect(code, SWZ_PAGE, PROT_READ | PROT_EXEC) == 0) {
		plain = least_time(code + PLAIN_AT);
		counted = least_time(code + HOOKED_AT);
		run->plain_call = (uint32_t)plain;
		run->counted_call = counted > plain
					    ? (uint32_t)(counted - plain)
					    : 1;
	}
	access_here.base = NULL;
	munmap(memory, 2 * SWZ_PAGE);
}

/* --------------------------------------------------------------- life */

void swz_counted_code_fork(struct swz_image *image,
			   const struct swz_image *parent)
{
	const struct swz_counted_code *from = &parent->counted;
	struct swz_counted_code *to = &image->counted;

	to->output = from->output;
	for (size_t i = 0; i < from->count; i++) {
		struct swz_counted_region region = from->regions[i];
		size_t bytes = region.count * sizeof(*region.places);

		region.places = swz_allocate(region.count + 1,
					     sizeof(*region.places));
		memcpy(region.places, from->regions[i].places, bytes);
		sort_region(&region);
		put_region(to, &region);
	}
}

void swz_counted_code_free(struct swz_image *image)
{
	struct swz_counted_code *c = &image->counted;

	for (size_t i = 0; i < c->count; i++)
		free_region(&c->regions[i]);
	free(c->regions);
	free(c->pauses);
	if (c->fd >= 0)
		close(c->fd);
}
