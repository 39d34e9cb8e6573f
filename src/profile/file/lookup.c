/* A profile's bytes, its clock, and look-ups of nodes, functions and modules by
 * number and by address. Addresses are those of the process: modules may have
 * come and gone. */

#include "base/basics.h"
#include "profile/file/scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/printable.h"
#include "profile/file/reader.h"
#include "util/memory.h"

/* --- by number and by address -------------------------------------------- */

const struct swz_node *swz_profile_node(const struct swz_profile *profile,
					uint32_t unit)
{
	if (profile->made_nodes && unit >= profile->made_unit)
		return &profile->made_nodes[unit - profile->made_unit];
	return (const struct swz_node *)(const void *)(profile->data +
						       (size_t)unit *
							       SWZ_UNIT_BYTES);
}

uint32_t swz_profile_module_by_index(const struct swz_profile *profile,
				     uint32_t index)
{
	return SWZ_SEARCH(profile->modules, profile->module_count, index,
			  index);
}

uint32_t swz_profile_thread_by_index(const struct swz_profile *profile,
				     uint32_t index)
{
	return SWZ_SEARCH(profile->threads, profile->thread_count, index,
			  index);
}

bool swz_thread_has_node(const struct swz_profile_thread *thread, uint32_t unit)
{
	size_t low;

	SWZ_PARTITION(low, thread->span_count, thread->spans[low].unit <= unit);
	return low && unit - thread->spans[low - 1].unit <
			      thread->spans[low - 1].count;
}

uint32_t swz_profile_function_by_id(const struct swz_profile *profile,
				    uint32_t id)
{
	const struct swz_profile_function *functions = profile->functions;
	size_t count = profile->function_count;

	/* ids are dense as a rule: try the place where it would be then */
	if (count && id >= functions[0].id && id - functions[0].id < count &&
	    functions[id - functions[0].id].id == id)
		return id - functions[0].id;
	return SWZ_SEARCH(functions, count, id, id);
}

static uint64_t run_time_address(const struct swz_profile *profile,
				 uint32_t index)
{
	const struct swz_profile_function *function =
		&profile->functions[index];

	if (function->module == SWZ_INDEX_NONE)
		return 0;
	return profile->modules[function->module].record.load_bias +
	       function->address;
}

static int compare_addresses(const void *left, const void *right, void *context)
{
	const uint32_t *a = left, *b = right;
	uint64_t first = run_time_address(context, *a);
	uint64_t second = run_time_address(context, *b);

	if (first != second)
		return first < second ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void sort_addresses(struct swz_profile *profile)
{
	size_t i;

	profile->by_address = swz_allocate(profile->function_count,
					   sizeof(*profile->by_address));
	for (i = 0; i < profile->function_count; i++)
		profile->by_address[i] = (uint32_t)i;
	if (profile->function_count > 1)
		qsort_r(profile->by_address, profile->function_count,
			sizeof(*profile->by_address), compare_addresses,
			profile);
}

bool swz_profile_module_holds(const struct swz_profile *profile, uint32_t index,
			      uint64_t address)
{
	const struct swz_module_record *record =
		&profile->modules[index].record;

	return address >= record->start && address < record->end;
}

bool swz_profile_same_module(const struct swz_profile_module *a,
			     const struct swz_profile_module *b)
{
	return strcmp(a->path, b->path) == 0 &&
	       a->record.build_id_bytes == b->record.build_id_bytes &&
	       memcmp(a->record.build_id, b->record.build_id,
		      a->record.build_id_bytes) == 0;
}

bool swz_profile_repeats_module(const struct swz_profile *profile, size_t index)
{
	size_t i;

	for (i = 0; i < index; i++)
		if (swz_profile_same_module(&profile->modules[i],
					    &profile->modules[index]))
			return true;
	return false;
}

uint32_t swz_profile_module_at(const struct swz_profile *profile,
			       uint64_t address)
{
	uint32_t found = SWZ_INDEX_NONE;
	uint32_t i;

	for (i = 0; i < profile->module_count; i++) {
		const struct swz_profile_module *module = &profile->modules[i];

		if (!swz_profile_module_holds(profile, i, address))
			continue;
		if (found != SWZ_INDEX_NONE &&
		    (module->record.load_bias !=
			     profile->modules[found].record.load_bias ||
		     !swz_profile_same_module(module,
					      &profile->modules[found])))
			return SWZ_INDEX_NONE;
		found = i;
	}
	return found;
}

/* How far the function reaches that starts at START, and before the one that is
 * NEXT in the order of addresses. */
static uint64_t end_of(const struct swz_profile *profile, size_t next,
		       uint64_t start)
{
	uint64_t end = start +
		       profile->functions[profile->by_address[next - 1]].size;

	if (next < profile->function_count &&
	    run_time_address(profile, profile->by_address[next]) < end)
		end = run_time_address(profile, profile->by_address[next]);
	return end;
}

uint32_t swz_profile_function_at(struct swz_profile *profile, uint64_t address)
{
	size_t low;
	uint32_t found;
	uint64_t start;

	if (address >= profile->found_last.start &&
	    address < profile->found_last.end)
		return profile->found_last.function;
	if (swz_profile_module_at(profile, address) == SWZ_INDEX_NONE)
		return SWZ_INDEX_NONE;
	if (!profile->by_address)
		sort_addresses(profile);
	SWZ_PARTITION(low, profile->function_count,
		      run_time_address(profile, profile->by_address[low]) <=
			      address);
	if (low == 0)
		return SWZ_INDEX_NONE;
	found = profile->by_address[low - 1];
	start = run_time_address(profile, found);
	if (profile->functions[found].module == SWZ_INDEX_NONE)
		return SWZ_INDEX_NONE;
	if (profile->functions[found].size &&
	    address - start >= profile->functions[found].size)
		return SWZ_INDEX_NONE;
	profile->found_last.start = start;
	profile->found_last.end = end_of(profile, low, start);
	profile->found_last.function = found;
	return found;
}

const char *swz_profile_label(const struct swz_profile *profile,
			      const char *name)
{
	size_t i;

	for (i = 0; i < profile->label_count; i++)
		if (strcmp(profile->labels[2 * i], name) == 0)
			return profile->labels[2 * i + 1];
	return NULL;
}

const char *swz_profile_called(const struct swz_profile *profile,
			       const char *path)
{
	const size_t prefix = strlen(SWZ_LABEL_CALLED);
	const char *called;
	size_t i;

	if (!(profile->header.flags & SWZ_FILE_MERGED)) {
		if (strcmp(path, profile->executable) != 0)
			return NULL;
		called = swz_profile_label(profile, SWZ_LABEL_CALLED);
		return called ? called : "";
	}
	for (i = 0; i < profile->label_count; i++) {
		const char *name = profile->labels[2 * i];

		if (strncmp(name, SWZ_LABEL_CALLED " ", prefix + 1) == 0 &&
		    strcmp(name + prefix + 1, path) == 0)
			return profile->labels[2 * i + 1];
	}
	return NULL;
}

uint32_t swz_profile_rank(const struct swz_profile *profile)
{
	const char *text = swz_profile_label(profile, "rank");
	uint32_t rank = 0;

	if (!text || !*text || strlen(text) > 9)
		return SWZ_INDEX_NONE;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return SWZ_INDEX_NONE;
		rank = rank * 10 + (uint32_t)(*text - '0');
	}
	return rank;
}

/* --- the clock ----------------------------------------------------------- */

/* The header's samples of the clock say how fast it is: the two that are
 * farthest apart, the most exactly. But what lies between them may be more than
 * the program: a machine that is suspended stops CLOCK_MONOTONIC and not the
 * TSC, a virtual one that is stopped or moved either of them, and a child in a
 * time namespace of its own has another CLOCK_MONOTONIC. The two of the start
 * know nothing of that. Samples that say what no clock can be are not believed.
 */

/* No clock runs slower than 10 MHz or faster than 100 GHz. */
#define MAX_NS_PER_TICK 100u
#define MAX_TICKS_PER_NS 100u

/* A sample may be off by so much, if its thread had to wait amid it. */
#define SAMPLE_ERROR_NS 20000u
/* CLOCK_MONOTONIC is adjusted, by much less. */
#define EVEN_WITHIN 100u

struct rate {
	uint64_t ticks;
	uint64_t ns;
};

static bool usable_sample(const struct swz_clock_sample *sample)
{
	return sample->ticks != 0 && sample->monotonic_ns != 0;
}

/* Zeros, if the two are of no use. */
static struct rate rate_between(const struct swz_clock_sample *from,
				const struct swz_clock_sample *to)
{
	if (!usable_sample(from) || !usable_sample(to) ||
	    to->ticks <= from->ticks || to->monotonic_ns <= from->monotonic_ns)
		return (struct rate){0};
	return (struct rate){
		.ticks = to->ticks - from->ticks,
		.ns = to->monotonic_ns - from->monotonic_ns,
	};
}

static bool is_a_clock(const struct rate *rate)
{
	return rate->ticks && rate->ns / MAX_NS_PER_TICK <= rate->ticks &&
	       rate->ticks / MAX_TICKS_PER_NS <= rate->ns;
}

/* True if what the clock did over all fits the rate that it had at the start.
 */
static bool is_even(const struct rate *start, const struct rate *all)
{
	double expected = (double)all->ticks * (double)start->ns /
			  (double)start->ticks;
	double off = (double)all->ns - expected;
	double error = expected / EVEN_WITHIN +
		       SAMPLE_ERROR_NS * (1 + expected / (double)start->ns);

	return off < error && -off < error;
}

void swz_profile_calibrate(struct swz_profile *profile)
{
	const struct swz_clock_sample *clock = profile->header.clock;
	struct rate start = rate_between(&clock[0], &clock[1]), rate = {0};
	bool start_is_known = is_a_clock(&start);

	profile->clock_uneven = false;
	for (size_t i = 0; i < 3; i++) {
		for (size_t j = 0; j < 3; j++) {
			struct rate other = rate_between(&clock[i], &clock[j]);

			if (start_is_known && other.ticks &&
			    !is_even(&start, &other))
				profile->clock_uneven = true;
			if (other.ticks > rate.ticks && is_a_clock(&other))
				rate = other;
		}
	}
	if (profile->clock_uneven)
		rate = start;
	profile->clock_known = rate.ticks != 0;
	profile->clock_ticks = profile->clock_known ? rate.ticks : 1;
	profile->clock_ns = profile->clock_known ? rate.ns : 1;
}

bool swz_profile_end_known(const struct swz_profile *profile)
{
	return profile->header.flags & (SWZ_FILE_ENDED | SWZ_FILE_MERGED) ||
	       profile->header.end_ticks || profile->written;
}

uint64_t swz_profile_duration_ticks(const struct swz_profile *profile)
{
	uint64_t last = profile->header.start_ticks;
	size_t i;

	if (profile->header.end_ticks > last)
		last = profile->header.end_ticks;
	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].last_ticks > last)
			last = profile->threads[i].last_ticks;
	last -= profile->header.start_ticks;
	return last > SWZ_MAX_TICKS ? 0 : last;
}

int64_t swz_profile_ns(const struct swz_profile *profile, int64_t ticks)
{
	return swz_scale(ticks, profile->clock_ns, profile->clock_ticks);
}

/* --- bytes --------------------------------------------------------------- */

/* The used part of a file is copied into memory, all but packed events, so that
 * a process that still writes to it, or cuts it off, cannot pull checked bytes
 * from under us. */

ssize_t swz_read_fully(int fd, uint8_t *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, data + done, size - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

size_t swz_profile_loaded(const struct swz_profile *profile, uint64_t offset,
			  void *to, size_t size)
{
	if (offset >= profile->size)
		return 0;
	if (size > profile->size - offset)
		size = (size_t)(profile->size - offset);
	memcpy(to, profile->data + offset, size);
	return size;
}

size_t swz_profile_bytes(const struct swz_profile *profile, uint64_t offset,
			 void *to, size_t size)
{
	ssize_t got;

	if (profile->fd < 0)
		return swz_profile_loaded(profile, offset, to, size);
	if (offset >= profile->size)
		return 0;
	if (size > profile->size - offset)
		size = (size_t)(profile->size - offset);
	got = swz_read_fully(profile->fd, to, size, offset);
	return got < 0 ? 0 : (size_t)got;
}

/* Chunks are small as a rule; but what follows something that is skipped may be
 * skipped, too. */
#define LOAD_AT_LEAST ((uint64_t)64 << 10)
#define LOAD_BEHIND_SKIPPED SWZ_PAGE

bool swz_load(struct swz_loading *from, uint64_t end)
{
	uint64_t least = from->skipping ? LOAD_BEHIND_SKIPPED : LOAD_AT_LEAST;
	uint64_t size;
	ssize_t got;

	if (end <= from->have)
		return true;
	size = end - from->have;
	if (size < least)
		size = least;
	if (size > from->size - from->have)
		size = from->size - from->have;
	got = swz_read_fully(from->fd, from->data + from->have, size,
			     from->have);
	if (got < 0)
		return false;
	from->have += (uint64_t)got;
	from->skipping = false;
	if ((uint64_t)got < size)
		from->size = from->have;
	return true;
}

/* Where something is skipped more will be, and a large page takes what is not
 * wanted, too. */
static void use_small_pages(struct swz_loading *from)
{
	uint64_t first = swz_page_up(from->have);

	if (!from->in_small_pages && first < from->size)
		(void)madvise(from->data + first, from->size - first,
			      MADV_NOHUGEPAGE);
	from->in_small_pages = true;
}

void swz_load_skip(struct swz_loading *from, uint64_t start, uint64_t end)
{
	uint64_t first = swz_page_up(start);
	uint64_t last = end < from->have ? end : from->have;

	last = swz_page_down(last);
	if (first < last)
		(void)madvise(from->data + first, last - first, MADV_DONTNEED);
	use_small_pages(from);
	if (from->have < end)
		from->have = end;
	from->skipping = true;
}

uint64_t swz_load_past_hole(struct swz_loading *from, uint64_t offset)
{
	off_t data;
	uint64_t next;

	if (offset < from->have || offset >= from->size)
		return offset;
	data = lseek(from->fd, (off_t)offset, SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return offset;
	next = data < 0 ? from->size : swz_page_down((uint64_t)data);
	if (next > from->size)
		next = from->size;
	if (next <= offset)
		return offset;
	swz_load_skip(from, offset, next);
	return next;
}
