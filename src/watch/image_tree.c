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

/* Samples are packed as they come, in units that are finer than a file's: three
 * to five bytes each. A run of many hours has more than anybody looks at: of
 * all processes together so many are kept, and what comes later has its place
 * in the tree alone. The file says how many those are. */

#define MOST_MOMENTS (UINT64_C(8) << 20) /* 40 MB */
#define UNIT_SHIFT 8u                    /* 256 ns */

/* The time between two looks at threads that wait, if it is not known. */
#define USUAL_NS UINT64_C(10000000)

/* The same of threads that run. */
#define USUAL_RUNNING_NS UINT64_C(1000000)

/* A period has at least so many units, and less than twice as many. */
#define LEAST_UNITS UINT64_C(32)

static uint64_t kept;

static void add_to_stream(struct swz_sample_stream *stream,
			  const struct swz_packed_sample *sample)
{
	swz_grow(&stream->bytes, &stream->capacity,
		 stream->size + SWZ_PACKED_SAMPLE_BYTES, 1);
	stream->size += swz_sample_pack(stream->bytes + stream->size,
					&stream->state, sample);
	stream->count++;
}

static struct swz_sample_stream *begin_stream(bool waiting)
{
	struct swz_sample_stream *stream = swz_allocate(1, sizeof(*stream));

	stream->state.expected = (waiting ? USUAL_NS : USUAL_RUNNING_NS) >>
				 UNIT_SHIFT;
	return stream;
}

static void end_stream(struct swz_sample_stream *stream)
{
	if (stream)
		free(stream->bytes);
	free(stream);
}

void swz_sample_times_add(struct swz_image *image,
			  struct swz_image_thread *thread, uint32_t node,
			  const struct swz_sampled_hit *hit)
{
	struct swz_sample_stream **stream = &thread->times[hit->waiting];

	if (kept == MOST_MOMENTS) {
		image->untimed++;
		return;
	}
	kept++;
	if (!*stream)
		*stream = begin_stream(hit->waiting);
	add_to_stream(*stream, &(struct swz_packed_sample){
				       .time = hit->time_ns >> UNIT_SHIFT,
				       .node = node,
				       .processor = hit->processor});
}

void swz_sample_times_forget(struct swz_image_thread *thread)
{
	for (int waiting = 0; waiting < 2; waiting++) {
		if (thread->times[waiting])
			kept -= thread->times[waiting]->count;
		end_stream(thread->times[waiting]);
		thread->times[waiting] = NULL;
	}
}

/* The nodes have other numbers now. */
static void move_times(struct swz_image_thread *thread, const uint32_t *places)
{
	for (int waiting = 0; waiting < 2; waiting++) {
		struct swz_sample_stream *old = thread->times[waiting];
		struct swz_sample_packing state = {0};
		struct swz_packed_sample sample;
		const uint8_t *at = old ? old->bytes : NULL;

		if (!old)
			continue;
		thread->times[waiting] = begin_stream(waiting);
		state.expected = thread->times[waiting]->state.expected;
		while (swz_sample_unpack(&at, old->bytes + old->size, &state,
					 &sample)) {
			sample.node = places[sample.node];
			add_to_stream(thread->times[waiting], &sample);
		}
		end_stream(old);
	}
}

void swz_sample_times_pack(struct swz_sample_times *times,
			   const struct swz_image_thread *thread, bool waiting,
			   uint64_t period_ns)
{
	const struct swz_sample_stream *from = thread->times[waiting];
	struct swz_sample_packing *before = swz_allocate(1, sizeof(*before));
	struct swz_sample_packing state = {0};
	struct swz_packed_sample sample;
	uint64_t usual_ns = waiting || !period_ns ? USUAL_NS : period_ns;
	const uint8_t *at = from ? from->bytes : NULL;
	size_t capacity = 0;

	*times = (struct swz_sample_times){.unit_ns = 1};
	while (usual_ns / times->unit_ns >= 2 * LEAST_UNITS)
		times->unit_ns *= 2;
	times->expected = before->expected = usual_ns / times->unit_ns;
	state.expected = (waiting ? USUAL_NS : USUAL_RUNNING_NS) >> UNIT_SHIFT;
	while (from && swz_sample_unpack(&at, from->bytes + from->size, &state,
					 &sample)) {
		int64_t since = (int64_t)((sample.time << UNIT_SHIFT) -
					  thread->start_ns);

		swz_grow(&times->stream, &capacity,
			 times->bytes + SWZ_PACKED_SAMPLE_BYTES, 1);
		/* (one may come before the thread was told of) */
		sample.time = (uint64_t)(since / (int64_t)times->unit_ns);
		times->bytes += swz_sample_pack(times->stream + times->bytes,
						before, &sample);
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

/* --- nodes --------------------------------------------------------------- */

/* Forgets all nodes but the root. */
static void stack_forget(struct swz_image_thread *thread)
{
	free(thread->children);
	thread->children = NULL;
	thread->child_slots = 0;
	thread->fold_at = 0;
	thread->node_count = 1;
	thread->nodes[0] = (struct swz_stack_node){
		.function = SWZ_FUNCTION_ROOT};
}

void swz_image_restart_thread(struct swz_image_thread *thread, uint64_t now_ns)
{
	swz_sample_times_forget(thread);
	stack_forget(thread);
	thread->kernel_samples = thread->samples = thread->waits = 0;
	thread->weight = thread->own_weight = thread->lost = 0;
	thread->paused_weight = thread->paused_waits = 0;
	thread->processor_ns = 0;
	thread->queue_known = false;
	thread->queued_ns = 0;
	thread->start_ns = now_ns;
}

static uint64_t hash_of(const struct swz_stack_node *node)
{
	uint64_t hash = ((uint64_t)node->parent << 32 | node->function) *
			UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ node->call_site ^ node->is_hit) *
	       UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 31;
}

/* The slot of a node, or the free one where it is to be. */
static uint32_t *slot_of(struct swz_image_thread *thread,
			 const struct swz_stack_node *node)
{
	size_t mask = thread->child_slots - 1, i = hash_of(node) & mask;

	for (;; i = (i + 1) & mask) {
		const struct swz_stack_node *there =
			&thread->nodes[thread->children[i]];

		if (!thread->children[i] ||
		    (there->parent == node->parent &&
		     there->function == node->function &&
		     there->call_site == node->call_site &&
		     there->is_hit == node->is_hit))
			return &thread->children[i];
	}
}

/* At most two thirds are used. */
static void grow_children(struct swz_image_thread *thread)
{
	if (3 * thread->node_count < 2 * thread->child_slots)
		return;
	free(thread->children);
	thread->child_slots = thread->child_slots ? 2 * thread->child_slots
						  : 16;
	thread->children = swz_allocate(thread->child_slots,
					sizeof(*thread->children));
	for (size_t i = 1; i < thread->node_count; i++)
		*slot_of(thread, &thread->nodes[i]) = (uint32_t)i;
}

static uint32_t child(struct swz_image_thread *thread,
		      const struct swz_stack_node *node)
{
	uint32_t *found;

	grow_children(thread);
	found = slot_of(thread, node);
	if (*found)
		/* cppcheck-suppress identicalInnerCondition */
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

/* A program that makes ever new code has so many functions by name; all others
 * are one. */
#define MOST_NAMED 32768u
#define OTHERS "[another function]"

static uint32_t add_named(struct swz_image *image, const char *name,
			  uint32_t script, uint32_t line)
{
	return swz_image_add_function(
		image, &(struct swz_image_function){
			       .module = SWZ_NO_MODULE,
			       .address = place_for(image, name, script, line),
			       .script = script,
			       .line = line,
			       .name = swz_duplicate(name)});
}

/* Finds the function of a name, script and line, of which there is one. */
static uint32_t function_of(struct swz_image *image, const char *name,
			    uint32_t script, uint32_t line)
{
	uint64_t hash = swz_code_hash(name);

	for (uint64_t i = 0;; i++) {
		uint64_t key = i ^ (uint64_t)script << 48 ^
			       (uint64_t)line << 16;
		uint32_t index = swz_map_get(&image->by_name, hash, key);
		const struct swz_image_function *found;

		if (index == SWZ_MAP_NONE &&
		    image->by_name.count >= MOST_NAMED &&
		    strcmp(name, OTHERS) != 0)
			return function_of(image, OTHERS, 0, 0);
		if (index == SWZ_MAP_NONE) {
			index = add_named(image, name, script, line);
			*swz_map_at(&image->by_name, hash, key) = index;
			return index;
		}
		found = &image->functions[index];
		if (found->script == script && found->line == line &&
		    strcmp(found->name, name) == 0)
			return index;
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

/* Makes all nodes anew. PLACE says where a node is now, of which it knows where
 * its parent is; what two have is put together. */
static void rebuild(struct swz_image_thread *thread, const void *context,
		    uint32_t (*place)(struct swz_image_thread *thread,
				      const void *context, size_t i,
				      const struct swz_stack_node *old,
				      const uint32_t *places))
{
	struct swz_stack_node *old = thread->nodes;
	size_t count = thread->node_count;
	uint32_t *places = swz_allocate(count, sizeof(*places));

	places[0] = 0;
	thread->nodes = NULL;
	thread->node_capacity = 0;
	swz_grow(&thread->nodes, &thread->node_capacity, 0, sizeof(*old));
	stack_forget(thread);
	thread->nodes[0] = old[0];
	/* parents come before their children */
	for (size_t i = 1; i < count; i++) {
		struct swz_stack_node *node;

		places[i] = place(thread, context, i, old, places);
		node = &thread->nodes[places[i]];
		node->samples += old[i].samples;
		node->weight += old[i].weight;
		node->waits += old[i].waits;
	}
	move_times(thread, places);
	free(places);
	free(old);
}

static uint32_t settled_place(struct swz_image_thread *thread,
			      const void *context, size_t i,
			      const struct swz_stack_node *old,
			      const uint32_t *places)
{
	const uint32_t *settled = context;
	uint32_t parent = places[old[i].parent], function = old[i].function;

	if (old[i].is_hit)
		return swz_stack_hit(thread, parent, old[i].call_site);
	if (function < SWZ_FUNCTION_COUNTING)
		function = settled[function];
	return swz_stack_child(thread, parent, function, old[i].call_site);
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
		rebuild(image->threads[i], settled, settled_place);
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

/* --------------------------------------------------------------- folding */

/* So many nodes are kept of a thread with very many samples, and so many of
 * any: stacks of a deep recursion that branches have thousands of nodes each.
 */
#define MANY_SAMPLES 100000u
#define SOME_NODES (1u << 17)
#define MOST_NODES (1u << 20)

struct folding {
	uint32_t *samples; /* of a node, with what is below it */
	uint32_t few;      /* so many are not worth a node */
};

/* A node that is cut keeps its function, below the last caller that is kept. */
static uint32_t folded_place(struct swz_image_thread *thread,
			     const void *context, size_t i,
			     const struct swz_stack_node *old,
			     const uint32_t *places)
{
	const struct folding *folding = context;
	const struct swz_stack_node *node = &old[i];
	uint32_t parent = places[node->parent];
	bool in_cut = folding->samples[node->parent] <= folding->few;

	if (folding->samples[i] > folding->few)
		return node->is_hit
			       ? swz_stack_hit(thread, parent, node->call_site)
			       : swz_stack_child(thread, parent, node->function,
						 node->call_site);
	if (thread->nodes[parent].function != SWZ_FUNCTION_CALLERS)
		parent = in_cut ? thread->nodes[parent].parent
				: swz_stack_child(thread, parent,
						  SWZ_FUNCTION_CALLERS, 0);
	if (node->function == SWZ_FUNCTION_CALLERS ||
	    (!node->samples && !node->waits))
		return parent;
	return swz_stack_child(thread, parent, node->function, 0);
}

/* How many samples lose callers. */
static uint64_t count_cut(const struct swz_image_thread *thread,
			  const struct folding *folding)
{
	uint64_t count = 0;

	for (size_t i = 1; i < thread->node_count; i++) {
		const struct swz_stack_node *node = &thread->nodes[i];

		if (folding->samples[i] <= folding->few &&
		    folding->samples[node->parent] > folding->few &&
		    node->function != SWZ_FUNCTION_CALLERS &&
		    thread->nodes[node->parent].function !=
			    SWZ_FUNCTION_CALLERS)
			count += folding->samples[i];
	}
	return count;
}

static uint32_t most_nodes(const struct swz_image_thread *thread)
{
	return thread->samples + thread->waits < MANY_SAMPLES ? MOST_NODES
							      : SOME_NODES;
}

void swz_stack_fold(struct swz_image *image, struct swz_image_thread *thread)
{
	size_t limit = thread->fold_at ? thread->fold_at : most_nodes(thread);
	struct folding folding = {.few = 1};

	if (thread->node_count < limit)
		return;
	folding.samples = swz_allocate(thread->node_count,
				       sizeof(*folding.samples));
	for (size_t i = thread->node_count; i-- > 1;) {
		folding.samples[i] += thread->nodes[i].samples +
				      thread->nodes[i].waits;
		folding.samples[thread->nodes[i].parent] += folding.samples[i];
	}
	if (folding.few < (thread->samples + thread->waits) / MANY_SAMPLES)
		folding.few = (uint32_t)((thread->samples + thread->waits) /
					 MANY_SAMPLES);
	image->cut_stacks += count_cut(thread, &folding);
	rebuild(thread, &folding, folded_place);
	free(folding.samples);
	thread->fold_at = thread->node_count + thread->node_count / 2;
	if (thread->fold_at < most_nodes(thread))
		thread->fold_at = most_nodes(thread);
}
