/* The lists that an image is made of: functions, threads and their nodes. */

#include <stdlib.h>
#include <string.h>

#include "base/number_bytes.h"
#include "profile/file/code_files.h"
#include "swizzle/format.h"
#include "util/memory.h"
#include "watch/image.h"
#include "watch/proc_task.h"

/* --- the time of each sample ---------------------------------------------- */

/* Each sample is 16 bytes until the file is written, and one or two there. A
 * run of many hours has more than anybody looks at: of all processes together
 * so many are kept, and what comes later has its place in the tree alone. The
 * file says how many those are. */

#define MOST_MOMENTS (UINT64_C(8) << 20) /* 128 MB */

/* Where nothing is known: between two looks at threads that wait. */
#define USUAL_NS UINT64_C(10000000)

/* A period has at least so many units, and less than twice as many. */
#define LEAST_UNITS UINT64_C(32)

static uint64_t kept;

void swz_sample_times_add(struct swz_image *image,
			  struct swz_image_thread *thread, uint32_t node,
			  const struct swz_sampled_hit *hit)
{
	if (kept == MOST_MOMENTS) {
		image->untimed++;
		return;
	}
	kept++;
	swz_grow(&thread->moments, &thread->moment_capacity,
		 thread->moment_count, sizeof(*thread->moments));
	thread->moments[thread->moment_count++] = (struct swz_sample_moment){
		.time_ns = hit->time_ns,
		.node = node,
		.processor = hit->processor & 0x7fffffffu,
		.waiting = hit->waiting,
	};
}

void swz_sample_times_forget(struct swz_image_thread *thread)
{
	kept -= thread->moment_count;
	free(thread->moments);
	thread->moments = NULL;
	thread->moment_count = thread->moment_capacity = 0;
}

void swz_sample_times_pack(struct swz_sample_times *times,
			   const struct swz_image_thread *thread, bool waiting,
			   uint64_t period_ns)
{
	struct swz_sample_packing *before = swz_allocate(1, sizeof(*before));
	uint64_t usual_ns = waiting || !period_ns ? USUAL_NS : period_ns;
	size_t capacity = 0;

	*times = (struct swz_sample_times){.unit_ns = 1};
	while (usual_ns / times->unit_ns >= 2 * LEAST_UNITS)
		times->unit_ns *= 2;
	times->expected = before->expected = usual_ns / times->unit_ns;
	for (size_t i = 0; i < thread->moment_count; i++) {
		const struct swz_sample_moment *m = &thread->moments[i];
		int64_t since = (int64_t)(m->time_ns - thread->start_ns);

		if (m->waiting != waiting)
			continue;
		swz_grow(&times->stream, &capacity,
			 times->bytes + SWZ_PACKED_SAMPLE_BYTES, 1);
		/* (one may come before the thread was told of) */
		times->bytes += swz_sample_pack(
			times->stream + times->bytes, before,
			&(struct swz_packed_sample){
				.time = (uint64_t)(since /
						   (int64_t)times->unit_ns),
				.node = m->node,
				.processor = m->processor,
			});
		times->count++;
	}
	free(before);
}

uint32_t swz_image_add_function(struct swz_image *image,
				const struct swz_image_function *function)
{
	swz_grow(&image->functions, &image->function_capacity,
		 image->function_count, sizeof(*image->functions));
	image->functions[image->function_count] = *function;
	return (uint32_t)image->function_count++;
}

struct swz_image_thread *swz_image_add_thread(struct swz_image *image,
					      int32_t tid, uint64_t now_ns)
{
	struct swz_image_thread *thread = swz_allocate(1, sizeof(*thread));

	thread->tid = tid;
	thread->start_ns = now_ns;
	swz_grow(&thread->nodes, &thread->node_capacity, 0,
		 sizeof(*thread->nodes));
	thread->nodes[0] = (struct swz_stack_node){
		.function = SWZ_FUNCTION_ROOT};
	thread->node_count = 1;
	swz_grow(&image->threads, &image->thread_capacity, image->thread_count,
		 sizeof(struct swz_image_thread *));
	image->threads[image->thread_count++] = thread;
	return thread;
}

void swz_image_restart_thread(struct swz_image_thread *thread, uint64_t now_ns)
{
	swz_map_free(&thread->children);
	swz_sample_times_forget(thread);
	thread->node_count = 1;
	thread->nodes[0] = (struct swz_stack_node){
		.function = SWZ_FUNCTION_ROOT};
	thread->kernel_samples = thread->samples = thread->waits = 0;
	thread->weight = thread->own_weight = thread->lost = 0;
	thread->paused_weight = thread->paused_waits = 0;
	thread->processor_ns = 0;
	thread->queue_known = false;
	thread->queued_ns = 0;
	thread->start_ns = now_ns;
}

/* In the key of a hit, which is apart from a call that returns to there. There
 * are not as many functions. */
#define HIT 0x80000000u

static uint32_t child(struct swz_image_thread *thread,
		      const struct swz_stack_node *node)
{
	uint32_t *found = swz_map_at(&thread->children,
				     (uint64_t)node->parent << 32 |
					     node->function |
					     (node->is_hit ? HIT : 0),
				     node->call_site);

	if (*found != SWZ_MAP_NONE)
		return *found;
	*found = (uint32_t)thread->node_count;
	swz_grow(&thread->nodes, &thread->node_capacity, thread->node_count,
		 sizeof(*thread->nodes));
	thread->nodes[thread->node_count] = *node;
	return (uint32_t)thread->node_count++;
}

uint32_t swz_stack_child(struct swz_image_thread *thread, uint32_t parent,
			 uint32_t function, uint64_t call_site)
{
	return child(thread, &(struct swz_stack_node){.parent = parent,
						      .function = function,
						      .call_site = call_site});
}

uint32_t swz_stack_hit(struct swz_image_thread *thread, uint32_t parent,
		       uint64_t pc)
{
	return child(thread, &(struct swz_stack_node){
				     .parent = parent,
				     .function = thread->nodes[parent].function,
				     .call_site = pc,
				     .is_hit = true});
}

/* --- functions that lie in no file ---------------------------------------- */

/* So long one address is taken for one function. */
#define PENDING_NS 10000000u

static uint32_t place_for(struct swz_image *image, const char *name,
			  uint32_t script, uint32_t line)
{
	uint32_t place = swz_code_place(name, line);

	for (;; place++) {
		uint32_t *taken = swz_map_at(&image->by_place, place, script);

		if (*taken == SWZ_MAP_NONE) {
			*taken = 1;
			return place;
		}
	}
}

/* Finds the function of a name, script and line, of which there is one. */
static uint32_t function_of(struct swz_image *image, const char *name,
			    uint32_t script, uint32_t line)
{
	uint64_t hash = swz_code_hash(name);

	for (uint64_t i = 0;; i++) {
		uint32_t *index = swz_map_at(&image->by_name, hash,
					     i ^ (uint64_t)script << 48 ^
						     (uint64_t)line << 16);
		const struct swz_image_function *found;

		if (*index == SWZ_MAP_NONE)
			return *index = swz_image_add_function(
				       image,
				       &(struct swz_image_function){
					       .module = SWZ_NO_MODULE,
					       .address = place_for(image, name,
								    script,
								    line),
					       .script = script,
					       .line = line,
					       .name = swz_duplicate(name)});
		found = &image->functions[*index];
		if (found->script == script && found->line == line &&
		    strcmp(found->name, name) == 0)
			return *index;
	}
}

/* There is one function of a name. */
static uint32_t named_function(struct swz_image *image, const char *name)
{
	return function_of(image, name, 0, 0);
}

static uint32_t script_of(struct swz_image *image, const char *path)
{
	/* the one that was asked for before, mostly */
	for (size_t i = image->script_count; i-- > 1;)
		if (strcmp(image->scripts[i], path) == 0)
			return (uint32_t)i;
	if (!image->script_count)
		image->script_count = 1; /* no script */
	swz_grow(&image->scripts, &image->script_capacity, image->script_count,
		 sizeof(*image->scripts));
	image->scripts[0] = NULL;
	image->scripts[image->script_count] = swz_duplicate(path);
	return (uint32_t)image->script_count++;
}

uint32_t swz_script_function(struct swz_image *image, const char *name,
			     const char *script, uint32_t line)
{
	return function_of(image, name, script_of(image, script), line);
}

static void refresh(struct swz_image *image, uint64_t time_ns)
{
	if (!image->names)
		image->names = swz_code_names_open(image->pid,
						   image->process_start);
	if (time_ns < image->names_ns)
		return; /* it was in the file when that was read, or is not yet
			 */
	image->names_ns = swz_watch_now();
	swz_code_names_refresh(image->names, image->names_ns);
}

static uint32_t pending_function(struct swz_image *image, uint64_t pc,
				 uint64_t time_ns)
{
	/* what is hit when more is known may be something else; and so may
	 * what is hit later, where names will have times */
	uint64_t when = swz_code_names_have_times(image->names)
				? time_ns / PENDING_NS
				: 0;
	uint32_t *index = swz_map_at(&image->by_unnamed_pc, pc,
				     swz_code_names_count(image->names) |
					     when << 32);

	if (*index == SWZ_MAP_NONE) {
		*index = swz_image_add_function(
			image,
			&(struct swz_image_function){.module = SWZ_NO_MODULE,
						     .address = pc,
						     .seen_ns = time_ns,
						     .pending = true});
		image->pending_count++;
	}
	return *index;
}

uint32_t swz_jit_function(struct swz_image *image, uint64_t pc,
			  uint64_t time_ns)
{
	const char *name;

	refresh(image, time_ns);
	name = swz_code_names_find(image->names, pc, time_ns);
	return name ? named_function(image, name)
		    : pending_function(image, pc, time_ns);
}

/* ------------------------------------------------------------- settling */

static void rebuild(struct swz_image_thread *thread, const uint32_t *settled)
{
	struct swz_stack_node *old = thread->nodes;
	size_t count = thread->node_count;
	uint32_t *places = swz_allocate(count, sizeof(*places));

	places[0] = 0;
	thread->nodes = NULL;
	thread->node_capacity = 0;
	swz_map_free(&thread->children);
	swz_grow(&thread->nodes, &thread->node_capacity, 0, sizeof(*old));
	thread->nodes[0] = old[0];
	thread->node_count = 1;
	/* parents come before their children */
	for (size_t i = 1; i < count; i++) {
		uint32_t function = old[i].function;
		struct swz_stack_node *node;

		if (function < SWZ_FUNCTION_COUNTING)
			function = settled[function];
		places[i] =
			old[i].is_hit
				? swz_stack_hit(thread, places[old[i].parent],
						old[i].call_site)
				: swz_stack_child(thread, places[old[i].parent],
						  function, old[i].call_site);
		node = &thread->nodes[places[i]];
		node->samples += old[i].samples;
		node->weight += old[i].weight;
		node->waits += old[i].waits;
	}
	for (size_t i = 0; i < thread->moment_count; i++)
		thread->moments[i].node = places[thread->moments[i].node];
	free(places);
	free(old);
}

void swz_jit_functions_settle(struct swz_image *image)
{
	size_t count = image->function_count;
	uint32_t *settled;

	if (!image->pending_count)
		return;
	swz_code_names_refresh(image->names, swz_watch_now());
	settled = swz_allocate(count, sizeof(*settled));
	for (size_t i = 0; i < count; i++) {
		const struct swz_image_function f = image->functions[i];
		const char *name;

		settled[i] = (uint32_t)i;
		if (!f.pending)
			continue;
		name = swz_code_names_find(image->names, f.address, f.seen_ns);
		settled[i] = named_function(image,
					    name ? name : SWZ_CODE_UNNAMED);
	}
	for (size_t i = 0; i < image->thread_count; i++)
		rebuild(image->threads[i], settled);
	free(settled);
	/* their places stay, unused */
	swz_map_free(&image->by_unnamed_pc);
	image->pending_count = 0;
	for (size_t i = 0; i < count; i++)
		if (image->functions[i].pending)
			image->functions[i].unused = true;
	for (size_t i = 0; i < count; i++)
		image->functions[i].pending = false;
}
