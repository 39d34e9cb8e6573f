
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/basics.h"
#include "base/control.h"
#include "control/target.h"
#include "util/memory.h"
#include "watch/proc_task.h"

/* ------------------------------------------------------- the list of sites */

/* ------------------------------------------------------------- the table */

struct sorted {
	struct swz_control_site site;
	uint32_t place;
};

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	return (x->site.address > y->site.address) -
	       (x->site.address < y->site.address);
}

/* Sites that last are the library's. */
static bool is_sound(const struct swz_control_site *s)
{
	return s->length && s->length <= sizeof(s->after) &&
	       s->phase < SWZ_PHASES &&
	       !(s->flags & (SWZ_SITE_GONE | SWZ_SITE_LASTS)) &&
	       s->address % SWZ_PAGE + s->length <= SWZ_PAGE;
}

bool swz_sites_read(struct swz_sites *sites, const struct swz_target *t,
		    const struct swz_control *c)
{
	size_t count = c->site_count, kept = 0;
	struct swz_control_site *table;
	struct sorted *all;

	*sites = (struct swz_sites){
		.target = t, .table = c->sites, .changes = c->site_changes};
	if (count > SWZ_CONTROL_MOST_SITES)
		return false;
	table = swz_allocate(count + 1, sizeof(*table));
	if (!swz_target_read(t, c->sites, table, count * sizeof(*table))) {
		free(table);
		return false;
	}
	all = swz_allocate(count + 1, sizeof(*all));
	for (size_t i = 0; i < count; i++)
		if (is_sound(&table[i]))
			all[kept++] = (struct sorted){table[i], (uint32_t)i};
	qsort(all, kept, sizeof(*all), compare);
	sites->list = table;
	sites->places = swz_allocate(count + 1, sizeof(*sites->places));
	for (size_t i = 0; i < kept; i++) {
		sites->list[i] = all[i].site;
		sites->places[i] = all[i].place;
	}
	sites->count = kept;
	free(all);
	return true;
}

void swz_sites_free(struct swz_sites *sites)
{
	free(sites->list);
	free(sites->places);
	*sites = (struct swz_sites){0};
}

/* Puts the site number I where *KEPT is, and counts that up: the list is made
 * shorter in place. */
static void sites_keep(struct swz_sites *sites, size_t *kept, size_t i)
{
	sites->list[*kept] = sites->list[i];
	sites->places[(*kept)++] = sites->places[i];
}

void swz_sites_leave_what_stays(struct swz_sites *sites)
{
	size_t kept = 0;

	for (size_t i = 0; i < sites->count; i++)
		if (!(sites->list[i].flags & SWZ_SITE_STAYS))
			sites_keep(sites, &kept, i);
	sites->count = kept;
}

/* ----------------------------------------------------------- the threads */

static bool is_there(const struct swz_sites *sites,
		     const struct swz_control_site *s, const uint8_t *bytes)
{
	uint8_t there[sizeof(s->after)];

	return swz_target_read(sites->target, s->address, there, s->length) &&
	       memcmp(there, bytes, s->length) == 0;
}

/* The site within which an address lies, where no thread may be when it is
 * written: behind its beginning, or at that, too, if other code leads there. */
static size_t site_around(const struct swz_sites *sites, uint64_t address)
{
	size_t low;
	const struct swz_control_site *s;

	SWZ_PARTITION(low, sites->count, sites->list[low].address <= address);
	if (!low)
		return SIZE_MAX;
	s = &sites->list[low - 1];
	if (address - s->address >= s->length ||
	    (address == s->address && s->phase != SWZ_PHASE_ISLAND))
		return SIZE_MAX;
	return low - 1;
}

static void skip_function(struct swz_sites *sites, uint32_t function)
{
	for (size_t i = 0; i < sites->count; i++) {
		struct swz_control_site *s = &sites->list[i];

		if (s->flags & SWZ_SITE_SKIPPED ||
		    (s->function != function && s->host != function))
			continue;
		s->flags |= SWZ_SITE_SKIPPED;
		(void)swz_target_write(sites->target,
				       sites->table +
					       sites->places[i] * sizeof(*s),
				       s, sizeof(*s));
		if (s->function != function)
			skip_function(sites, s->function);
	}
}

struct search {
	struct swz_sites *sites;
	bool skip, free;
};

/* False: enough was seen. */
static bool look_at(void *context, uint64_t address)
{
	struct search *search = context;
	struct swz_sites *sites = search->sites;
	size_t i;

	if (address < sites->list[0].address ||
	    address > sites->list[sites->count - 1].address + 8)
		return true;
	i = site_around(sites, address);
	if (i == SIZE_MAX || sites->list[i].flags & SWZ_SITE_SKIPPED)
		return true;
	if (!search->skip) {
		search->free = false;
		return false;
	}
	sites->skipped++;
	skip_function(sites, sites->list[i].function);
	return true;
}

void swz_sites_skip_again(struct swz_sites *sites)
{
	for (size_t i = 0; i < sites->count; i++)
		sites->list[i].flags &= (uint8_t)~SWZ_SITE_SKIPPED;
	for (size_t i = 0; i < sites->count; i++)
		if (sites->list[i].flags & SWZ_SITE_ONCE &&
		    is_there(sites, &sites->list[i], sites->list[i].before))
			skip_function(sites, sites->list[i].function);
}

size_t swz_sites_left_out(const struct swz_sites *sites)
{
	size_t count = 0;

	for (size_t i = 0; i < sites->count; i++)
		count += sites->list[i].flags & SWZ_SITE_SKIPPED &&
			 (sites->list[i].phase == SWZ_PHASE_JUMP ||
			  sites->list[i].phase == SWZ_PHASE_SHORT);
	return count;
}

bool swz_sites_are_free(struct swz_sites *sites, struct swz_stop *stop,
			bool skip)
{
	bool all_free = true;

	for (size_t i = 0; sites->count && i < stop->count; i++) {
		struct search search = {sites, skip, true};
		struct swz_stopped *t = &stop->threads[i];
		const struct user_regs_struct r = swz_stop_origin(stop, t);

		/* a system call may be made again, from two bytes before */
		if (look_at(&search, r.rip) &&
		    ((int64_t)r.orig_rax < 0 || look_at(&search, r.rip - 2)))
			swz_interrupted_each(sites->target, &t->registers,
					     look_at, &search);
		t->astray = !search.free;
		all_free = all_free && search.free;
	}
	return all_free;
}

void swz_sites_leave_islands(const struct swz_sites *sites,
			     struct swz_stop *stop)
{
	for (size_t i = 0; sites->count && i < stop->count; i++) {
		struct swz_stopped *t = &stop->threads[i];
		size_t at = site_around(sites, t->registers.rip);
		const struct swz_control_site *s;
		int32_t distance;

		if (at == SIZE_MAX)
			continue;
		s = &sites->list[at];
		if (t->registers.rip != s->address ||
		    s->phase != SWZ_PHASE_ISLAND ||
		    !is_there(sites, s, s->after))
			continue;
		memcpy(&distance, s->after + 1, sizeof(distance));
		t->registers.rip = s->address + 5 + (uint64_t)(int64_t)distance;
		t->changed = true;
	}
}

/* ---------------------------------------------------- writing page by page */

/* Sites are written page by page, in the order of their phases. */

void swz_sites_copy_pages(const struct swz_sites *sites)
{
	uint64_t done = 0;

	for (size_t i = 0; i < sites->count; i++) {
		uint64_t page = swz_page_down(sites->list[i].address);
		uint8_t byte;

		if (page == done)
			continue;
		done = page;
		if (swz_target_read(sites->target, page, &byte, 1))
			(void)swz_target_write(sites->target, page, &byte, 1);
	}
}

/* Neighbouring pages are read, and written, by one call. */
#define RUN_PAGES 16u

struct run {
	uint64_t start;    /* of the first page */
	size_t first, end; /* sites */
	bool there, changed[RUN_PAGES];
	uint8_t bytes[RUN_PAGES * SWZ_PAGE];
};

static uint64_t page_of(const struct swz_control_site *s)
{
	return swz_page_down(s->address);
}

static bool belongs(const struct swz_control_site *s, unsigned phase)
{
	return phase == SWZ_PHASES || s->phase == phase;
}

static bool is_put(const struct swz_control_site *s, unsigned phase, bool patch)
{
	return s->phase == phase && !(patch && s->flags & SWZ_SITE_SKIPPED);
}

/* Sites from the first one on, in so many adjoining pages at most. */
static bool read_run(const struct swz_sites *sites, unsigned phase,
		     struct run *run, unsigned pages)
{
	uint64_t end = run->start;
	size_t i = run->first;

	for (; i < sites->count; i++) {
		uint64_t page = page_of(&sites->list[i]);

		if (!belongs(&sites->list[i], phase))
			continue;
		if (page > end || page - run->start >= pages * SWZ_PAGE)
			break;
		end = page + SWZ_PAGE;
	}
	run->end = i;
	return swz_target_read(sites->target, run->start, run->bytes,
			       end - run->start);
}

/* The next sites of a phase; SWZ_PHASES: of all. False: there are none. */
static bool next_run(const struct swz_sites *sites, size_t from, unsigned phase,
		     struct run *run)
{
	while (from < sites->count && !belongs(&sites->list[from], phase))
		from++;
	if (from >= sites->count)
		return false;
	run->first = from;
	run->start = page_of(&sites->list[from]);
	memset(run->changed, 0, sizeof(run->changed));
	run->there = read_run(sites, phase, run, RUN_PAGES) ||
		     read_run(sites, phase, run, 1);
	return true;
}

/* False: a page that has changed cannot be written. */
static bool write_run(const struct swz_sites *sites, const struct run *run)
{
	for (size_t i = 0; i < RUN_PAGES; i++) {
		size_t first = i;

		while (i < RUN_PAGES && run->changed[i])
			i++;
		if (i > first &&
		    !swz_target_write(sites->target,
				      run->start + first * SWZ_PAGE,
				      run->bytes + first * SWZ_PAGE,
				      (i - first) * SWZ_PAGE))
			return false;
	}
	return true;
}

/* True if the site holds these bytes. Others are somebody else's. */
static bool holds(const struct run *run, const struct swz_control_site *s,
		  const uint8_t *bytes)
{
	return run->there && memcmp(run->bytes + (s->address - run->start),
				    bytes, s->length) == 0;
}

static void put(struct run *run, const struct swz_control_site *s, bool patch)
{
	if (!holds(run, s, patch ? s->before : s->after))
		return;
	memcpy(run->bytes + (s->address - run->start),
	       patch ? s->after : s->before, s->length);
	run->changed[(s->address - run->start) / SWZ_PAGE] = true;
}

/* Sites of a phase, until it is time. (Pages that are unmapped by now have
 * nothing to be restored.) */
static bool write_phase(const struct swz_sites *sites, unsigned phase,
			bool patch, size_t *index, uint64_t until_ns)
{
	static struct run run;

	while (next_run(sites, *index, phase, &run)) {
		if (swz_watch_now() > until_ns) {
			*index = run.first;
			return true;
		}
		for (size_t i = run.first; i < run.end; i++) {
			const struct swz_control_site *s = &sites->list[i];

			if (is_put(s, phase, patch))
				put(&run, s, patch);
		}
		if (!write_run(sites, &run))
			return false;
		*index = run.end;
	}
	*index = SIZE_MAX;
	return true;
}

static bool write_phases(const struct swz_sites *sites, const uint8_t *phases,
			 unsigned count, bool patch,
			 struct swz_sites_place *place, uint64_t until_ns)
{
	while (place->step < count) {
		unsigned phase = phases[place->step];

		if (!write_phase(sites, phase, patch, &place->index,
				 phase == SWZ_PHASE_LINKER ? UINT64_MAX
							   : until_ns))
			return false;
		if (place->index != SIZE_MAX)
			break;
		place->index = 0;
		place->step++;
	}
	return true;
}

static const uint8_t upwards[] = {SWZ_PHASE_LINKER, SWZ_PHASE_INNER,
				  SWZ_PHASE_JUMP, SWZ_PHASE_ISLAND,
				  SWZ_PHASE_SHORT};

static const uint8_t beginnings[] = {SWZ_PHASE_SHORT, SWZ_PHASE_ISLAND,
				     SWZ_PHASE_JUMP};

static const uint8_t downwards[] = {SWZ_PHASE_SHORT, SWZ_PHASE_ISLAND,
				    SWZ_PHASE_JUMP, SWZ_PHASE_INNER,
				    SWZ_PHASE_LINKER};

bool swz_sites_write(const struct swz_sites *sites,
		     struct swz_sites_place *place, uint64_t until_ns)
{
	return write_phases(sites, upwards, sizeof(upwards), true, place,
			    until_ns);
}

bool swz_sites_are_written(const struct swz_sites_place *place)
{
	return place->step == sizeof(upwards);
}

bool swz_sites_restore(const struct swz_sites *sites,
		       struct swz_sites_place *place, uint64_t until_ns)
{
	return write_phases(sites, beginnings, sizeof(beginnings), false, place,
			    until_ns);
}

bool swz_sites_are_restored(const struct swz_sites_place *place)
{
	return place->step == sizeof(beginnings);
}

bool swz_sites_restore_rest(const struct swz_sites *sites)
{
	struct swz_sites_place place = {0};

	return write_phases(sites, downwards, sizeof(downwards), false, &place,
			    UINT64_MAX);
}

void swz_sites_keep_written(struct swz_sites *sites)
{
	static struct run run;
	size_t kept = 0, from = 0;

	while (next_run(sites, from, SWZ_PHASES, &run)) {
		for (size_t i = run.first; i < run.end; i++)
			if (holds(&run, &sites->list[i], sites->list[i].after))
				sites_keep(sites, &kept, i);
		from = run.end;
	}
	sites->count = kept;
}
