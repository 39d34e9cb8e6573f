/* Sites are written page by page, in the order of their phases. */

#include "control/sites.h"

#include <string.h>

#include "watch/clock.h"

#define PAGE UINT64_C(4096)

void swz_sites_copy_pages(const struct swz_sites *sites)
{
	uint64_t done = 0;

	for (size_t i = 0; i < sites->count; i++) {
		uint64_t page = sites->list[i].address & -PAGE;
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
	uint8_t bytes[RUN_PAGES * PAGE];
};

static uint64_t page_of(const struct swz_control_site *s)
{
	return s->address & -PAGE;
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
		if (page > end || page - run->start >= pages * PAGE)
			break;
		end = page + PAGE;
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
		    !swz_target_write(sites->target, run->start + first * PAGE,
				      run->bytes + first * PAGE,
				      (i - first) * PAGE))
			return false;
	}
	return true;
}

/* Whether the bytes are those: else they are another's. */
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
	run->changed[(s->address - run->start) / PAGE] = true;
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
				swz_sites_keep(sites, &kept, i);
		from = run.end;
	}
	sites->count = kept;
}
