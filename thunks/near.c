/* One pass over /proc/self/maps (where there is none, see below), which lists
 * mappings in order of address: each gap between two is a candidate, its best
 * placement the one closest to the range. A gap below a growing stack is left
 * alone for some way. The gaps are remembered, since a program has many
 * modules, and reading the file for each took longer than all else for the
 * small ones. What has become of them meanwhile is seen when one is asked for.
 */

#include <stdbool.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/maps.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define SMALL_BYTES (32u << 10) /* all of it will be used */
#define REACH 0x7fff0000ull     /* a bit less than 2 GiB */
#define LOWEST 0x10000ull
#define STACK_ROOM (256ull << 20)
#define HEAP_ROOM (256ull << 20) /* the program break grows upwards */
#define HIGHEST 0x7ffffffff000ull

struct search {
	uint64_t start, end, bytes;
	uint64_t best, best_distance;
};

static void consider(struct search *s, uint64_t low, uint64_t high)
{
	uint64_t at, distance, first, last;

	if (low < LOWEST)
		low = LOWEST;
	if (high < low || high - low < s->bytes)
		return;
	/* above: as low as it goes; below: as high; between two segments */
	at = low >= s->end ? low : high - s->bytes;
	first = at < s->start ? at : s->start;
	last = at + s->bytes > s->end ? at + s->bytes : s->end;
	distance = last - first;
	if (distance > REACH || (s->best && distance >= s->best_distance))
		return;
	s->best = at;
	s->best_distance = distance;
}

/* If there are more, none is remembered. */
#define MOST_GAPS 512u

static struct gap {
	uint64_t low, high;
} gaps[MOST_GAPS];
static unsigned gap_count;

static void add_gap(uint64_t low, uint64_t high)
{
	if (high <= low || high - low < 4096)
		return;
	if (gap_count < MOST_GAPS)
		gaps[gap_count] = (struct gap){low, high};
	if (gap_count <= MOST_GAPS)
		gap_count++;
}

/* The heap will grow from its end upwards. Before the first brk that is in no
 * mapping of its own: the kernel lets it begin some random way behind the
 * program, or right there (setarch -R). */
static void offer(struct search *s, uint64_t low, uint64_t high,
		  uint64_t heap_end)
{
	if (heap_end >= low && heap_end < high) {
		add_gap(low, heap_end);
		consider(s, low, heap_end);
		low = heap_end + HEAP_ROOM;
	}
	add_gap(low, high);
	consider(s, low, high);
}

static bool find_hole(struct search *s, bool *listed)
{
	struct swz_maps maps;
	struct swz_mapping line;
	uint64_t low = LOWEST, heap_end = swz_heap_end();

	s->best = 0;
	gap_count = 0;
	*listed = true;
	if (!swz_maps_open(&maps)) {
		*listed = false;
		return false;
	}
	while (swz_maps_next(&maps, &line) && line.low < HIGHEST) {
		uint64_t high = line.low;

		if (line.is_stack)
			high = high > STACK_ROOM ? high - STACK_ROOM : 0;
		offer(s, low, high, heap_end);
		low = line.high;
	}
	offer(s, low, HIGHEST, heap_end);
	swz_maps_close(&maps);
	if (gap_count > MOST_GAPS)
		gap_count = 0;
	return s->best != 0;
}

static bool find_remembered(struct search *s)
{
	s->best = 0;
	for (unsigned i = 0; i < gap_count; i++)
		consider(s, gaps[i].low, gaps[i].high);
	return s->best != 0;
}

/* It is taken at one of its ends. */
static void take_from_gap(uint64_t low, uint64_t high)
{
	for (unsigned i = 0; i < gap_count; i++) {
		if (gaps[i].low == low)
			gaps[i].low = high;
		else if (gaps[i].high == high)
			gaps[i].high = low;
	}
}

static void *map_at(uint64_t start, uint64_t bytes)
{
	void *hole = (void *)(uintptr_t)start;
	int populate = bytes <= SMALL_BYTES ? MAP_POPULATE : 0;
	void *at = swz_sys_mmap(hole, bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
					MAP_FIXED_NOREPLACE | populate,
				-1, 0);

	if (at && at != hole) { /* before Linux 4.17: where there was room */
		swz_sys_munmap(at, bytes);
		at = NULL;
	}
	if (at)
		take_from_gap(start, start + bytes);
	return at;
}

/* ------------------------------------------------ without a list of mappings
 */

/* In a chroot without /proc what is free is tried out, in both directions: by
 * small steps at first, as modules often have a hole between them. */
#define SMALL_STEP (64ull << 10)
#define SMALL_STEPS 64u
#define LARGE_STEP (2ull << 20)

/* Where the first stack was. It and the heap grow. */
static uint64_t stack;

static bool may_grow_to(uint64_t low, uint64_t high)
{
	uint64_t heap = swz_heap_end();

	return (low < stack + STACK_ROOM && high > stack - STACK_ROOM) ||
	       (low < heap + HEAP_ROOM && high > heap);
}

static void *try_at(const struct search *s, uint64_t at)
{
	uint64_t first = at < s->start ? at : s->start;
	uint64_t last = at + s->bytes > s->end ? at + s->bytes : s->end;

	if (at < LOWEST || at + s->bytes > HIGHEST || last - first > REACH ||
	    may_grow_to(at, at + s->bytes))
		return NULL;
	return map_at(at, s->bytes);
}

static void *try_around(const struct search *s)
{
	uint64_t above = (s->end + 4095) & ~(uint64_t)4095;
	uint64_t below = (s->start & ~(uint64_t)4095) - s->bytes;
	uint64_t distance = 0;

	if (!stack)
		stack = (uintptr_t)__builtin_frame_address(0);
	for (unsigned i = 0; distance < REACH; i++) {
		void *memory = try_at(s, above + distance);

		if (!memory && below > distance)
			memory = try_at(s, below - distance);
		if (memory)
			return memory;
		distance += i < SMALL_STEPS ? SMALL_STEP : LARGE_STEP;
	}
	return NULL;
}

/* Right below the range there is room as a rule, which is as close as it gets:
 * no list is needed to find that out. A stack above comes to the range first; a
 * heap below would come to what is put there. */
static void *map_below(const struct search *s)
{
	uint64_t high = s->start & ~(uint64_t)4095, low = high - s->bytes;
	uint64_t heap = swz_heap_end();

	if (high < LOWEST + s->bytes || s->end - low > REACH ||
	    (low < heap + HEAP_ROOM && high > heap))
		return NULL;
	return map_at(low, s->bytes);
}

/* Another thread may take a hole before we do. */
#define MOST_ATTEMPTS 16

/* A program at a fixed address (ET_EXEC) may map files at fixed addresses, over
 * what is there: an emulator does, and a loader of another format. The pages
 * beside the program are the likeliest, and round addresses. So its trampolines
 * lie where nobody can know it, at random. No other module is below 4 GiB.
 *
 * The kernel lets the heap begin up to 1 GiB behind such a program (Linux 6.18;
 * 32 MiB in older ones: arch_randomize_brk). The heap never gets to the room
 * before it, however little that is. If they do not fit there (setarch -R),
 * they lie below the program; if not there either, as high as they reach. */
#define FIXED_BELOW (UINT64_C(4) << 30)
#define BESIDE UINT64_C(0x10000)
#define TOP_BYTES (UINT64_C(64) << 20) /* to choose in */

/* The heap may be in the way, or another piece of trampolines: the next attempt
 * is made before it. */
static void *map_within(const struct search *s, uint64_t low, uint64_t high)
{
	uint64_t random = __builtin_ia32_rdtsc();

	if (high > s->start + REACH)
		high = s->start + REACH;
	for (int i = 0; i < MOST_ATTEMPTS && high >= low + s->bytes; i++) {
		uint64_t at;
		void *memory;

		/* MMIX's generator: its upper bits are the better ones */
		random = random * 6364136223846793005u + 1442695040888963407u;
		at = low + (random >> 32) %
				   ((high - s->bytes - low) / 4096 + 1) * 4096;
		memory = map_at(at, s->bytes);
		if (memory)
			return memory;
		high = at + s->bytes - 4096;
	}
	return NULL;
}

static void *map_before_heap(const struct search *s, uint64_t heap)
{
	uint64_t low = (s->end + 4095) & -4096ull;

	/* a heap below never gets past the range */
	return map_within(s, low, heap < low ? UINT64_MAX : heap);
}

/* Not in the lowest quarter, which programs of other systems (DOS) take. */
static void *map_far_below(const struct search *s, uint64_t heap)
{
	uint64_t low = s->start / 4 & -4096ull;

	if (heap < s->start || s->start < LOWEST + BESIDE)
		return NULL;
	if (low < LOWEST)
		low = LOWEST;
	if (low + REACH < s->end)
		low = ((s->end + 4095) & -4096ull) - REACH;
	return map_within(s, low, (s->start & -4096ull) - BESIDE);
}

static void *map_at_top(const struct search *s, uint64_t heap)
{
	uint64_t high = (s->start & -4096ull) + REACH, low;

	if (high < s->end + s->bytes + TOP_BYTES)
		return NULL;
	low = high - s->bytes - TOP_BYTES;
	if (heap < high && low < heap + HEAP_ROOM)
		low = heap + HEAP_ROOM;
	return map_within(s, low, high);
}

static void *map_apart(const struct search *s)
{
	uint64_t heap = swz_heap_end();
	void *memory = map_before_heap(s, heap);

	if (!memory)
		memory = map_far_below(s, heap);
	return memory ? memory : map_at_top(s, heap);
}

void *swz_near_map(uint64_t start, uint64_t end, size_t bytes)
{
	struct search s = {.start = start,
			   .end = end,
			   .bytes = (bytes + 4095) & ~(uint64_t)4095};

	void *at = end < FIXED_BELOW ? map_apart(&s) : NULL;
	bool listed = true;

	if (!at && find_remembered(&s))
		at = map_at(s.best, s.bytes);
	if (!at)
		at = map_below(&s);
	for (int i = 0; !at && i < MOST_ATTEMPTS && find_hole(&s, &listed); i++)
		at = map_at(s.best, s.bytes);
	return listed ? at : try_around(&s);
}

void swz_near_unmap(void *memory, size_t bytes)
{
	uint64_t low = (uintptr_t)memory;

	swz_sys_munmap(memory, bytes);
	for (unsigned i = 0; i < gap_count; i++)
		if (gaps[i].low == low + bytes)
			gaps[i].low = low;
}
