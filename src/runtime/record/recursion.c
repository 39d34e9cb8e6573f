#include "runtime/record/recursion.h"

#include <stdbool.h>

#include "runtime/record/chunks.h"
#include "runtime/record/context.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/sampling.h"
#include "runtime/support/config.h"

/* The address in code made at run time that this is the context of, or 0. What
 * is called from another address of such code is no recursion: the same
 * function of an interpreter runs all functions of a script. */
static uint64_t code_of(const struct swz_node *context)
{
	return context->function == SWZ_FUNCTION_CODE ? context->call_site : 0;
}

static bool is_same(const struct swz_node *node, uint32_t function,
		    uint64_t code)
{
	return node->function == function &&
	       code_of(swz_unit_at(node->parent)) == code;
}

/* The nearest context on the path that stands for the function, or 0; *times is
 * how often it is there, counted up to MOST. Above a folded context nothing is
 * known. */
static uint32_t on_path(uint64_t key, uint32_t function, uint32_t most,
			uint32_t *times)
{
	const struct swz_node *node = swz_context_node(key);
	uint64_t code = code_of(node);
	uint32_t nearest = 0;

	*times = 0;
	while (node->function != SWZ_FUNCTION_ROOT && node->parent) {
		if (is_same(node, function, code)) {
			if (!nearest)
				nearest = swz_unit_of(node);
			if (++*times == most)
				break;
		}
		if (node->open & SWZ_NODE_FOLDED)
			break;
		node = swz_unit_at(node->parent);
	}
	return nearest;
}

/* Most often it can be told at once that it is not on the path, since no
 * activation of the function is live. (Sampled ones are not counted, nor those
 * of what is no function.) */
static bool may_be_on_path(const struct swz_thread *thread, uint32_t function)
{
	return swz_sampling || function >= swz_ids_bound() ||
	       thread->open[function];
}

/* How many recursive contexts a function may have when another one is to come
 * below so many of its own. */
static uint32_t most_below(uint32_t times)
{
	uint32_t most = times < 32 ? SWZ_RECURSIVE_CONTEXTS >> (times - 1) : 0;

	return most > swz_config.recursion ? most : swz_config.recursion;
}

/* Recursion leaves half of the file for all else. */
static bool is_room(void)
{
	return swz_chunks_room() >
	       (swz_file->limit_bytes - swz_file->event_limit_bytes) / 2;
}

uint32_t swz_recursion_fold(struct swz_thread *thread, uint64_t key,
			    uint32_t function)
{
	uint32_t nearest, times, *made;

	if (!may_be_on_path(thread, function))
		return 0;
	nearest = on_path(key, function, swz_config.recursion, &times);
	if (!nearest)
		return 0;
	if (times == swz_config.recursion || function >= swz_ids_bound())
		return nearest;
	made = &thread->cold->recursive[function];
	if (*made >= most_below(times) || !is_room())
		return nearest;
	++*made;
	return 0;
}
