#include "control/sites.h"

#include <stdlib.h>
#include <string.h>

#include "control/interrupted.h"
#include "profile/support/memory.h"

#define PAGE UINT64_C(4096)

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

/* What lasts is the library's. */
static bool is_sound(const struct swz_control_site *s)
{
	return s->length && s->length <= sizeof(s->after) &&
	       s->phase < SWZ_PHASES &&
	       !(s->flags & (SWZ_SITE_GONE | SWZ_SITE_LASTS)) &&
	       s->address % PAGE + s->length <= PAGE;
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

void swz_sites_keep(struct swz_sites *sites, size_t *kept, size_t i)
{
	sites->list[*kept] = sites->list[i];
	sites->places[(*kept)++] = sites->places[i];
}

void swz_sites_leave_what_stays(struct swz_sites *sites)
{
	size_t kept = 0;

	for (size_t i = 0; i < sites->count; i++)
		if (!(sites->list[i].flags & SWZ_SITE_STAYS))
			swz_sites_keep(sites, &kept, i);
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
	size_t low = 0, high = sites->count;
	const struct swz_control_site *s;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sites->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
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

		if (look_at(&search, t->registers.rip))
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
