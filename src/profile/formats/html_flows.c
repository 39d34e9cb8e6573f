/* The block has the names of the functions that flows begin and end in, then
 * the flows: for either end the thread's number in the page, ticks since its
 * profile's origin, and the name's number. */

#include "profile/formats/html_flows.h"

#include <string.h>

#include "profile/file/events.h"
#include "profile/flows/find.h"
#include "profile/formats/page_block.h"
#include "profile/support/map.h"
#include "profile/support/memory.h"

#define LEVEL 6 /* of compression */
/* More than anybody looks at, and as many as a browser holds with ease. */
#define MOST_FLOWS 500000u
#define MOST_NAMES 128u

struct names {
	const char *of[MOST_NAMES]; /* of a list of fixed names */
	size_t count;
};

static size_t name_number(struct names *names, const char *name)
{
	size_t i = 0;

	while (i < names->count && strcmp(names->of[i], name) != 0)
		i++;
	if (i == names->count && i < MOST_NAMES)
		names->of[names->count++] = name;
	return i;
}

static void put_end(struct swz_page_block *block, struct names *names,
		    uint32_t number, const struct swz_profile *profile,
		    const struct swz_flow_end *end)
{
	uint64_t origin = swz_profile_origin(profile);

	swz_page_block_number(block, number);
	swz_page_block_number(block,
			      end->ticks > origin ? end->ticks - origin : 0);
	swz_page_block_number(block, name_number(names, end->function));
}

static void put_block(FILE *stream, const struct swz_flows *flows,
		      const struct swz_map *numbers,
		      struct swz_profile *const *profiles)
{
	struct swz_page_block *block = swz_page_block_begin(stream, "flows",
							    LEVEL);
	struct names names = {.count = 0};
	size_t i, count = 0;

	for (i = 0; i < flows->count; i++) {
		name_number(&names, flows->of[i].from.function);
		name_number(&names, flows->of[i].to.function);
	}
	swz_page_block_number(block, names.count);
	for (i = 0; i < names.count; i++)
		swz_page_block_text(block, names.of[i]);
	for (i = 0; i < flows->count && count < MOST_FLOWS; i++) {
		const struct swz_flow *f = &flows->of[i];
		uint32_t from = swz_map_get(numbers, f->from.process,
					    f->from.thread);
		uint32_t to = swz_map_get(numbers, f->to.process, f->to.thread);

		if (from == SWZ_MAP_NONE || to == SWZ_MAP_NONE)
			continue;
		put_end(block, &names, from, profiles[f->from.process],
			&f->from);
		put_end(block, &names, to, profiles[f->to.process], &f->to);
		count++;
	}
	swz_page_block_end(block);
}

char *swz_html_put_flows(FILE *stream,
			 const struct swz_html_flow_thread *threads,
			 size_t thread_count,
			 struct swz_profile *const *profiles,
			 size_t profile_count)
{
	struct swz_flows *flows = swz_flows_find(profiles, profile_count);
	struct swz_map numbers = {0};
	char *doubts;
	size_t i;

	if (!flows)
		return NULL;
	for (i = 0; i < thread_count; i++)
		if (threads[i].thread)
			*swz_map_at(
				&numbers, threads[i].profile,
				(uint64_t)(threads[i].thread -
					   profiles[threads[i].profile]
						   ->threads)) = (uint32_t)i;
	put_block(stream, flows, &numbers, profiles);
	doubts = swz_flows_doubts(flows);
	if (!doubts && flows->count > MOST_FLOWS)
		doubts = swz_print("%u of %zu flows are in this page",
				   MOST_FLOWS, flows->count);
	swz_map_free(&numbers);
	swz_flows_free(flows);
	return doubts;
}
