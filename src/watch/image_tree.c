/* The lists that an image is made of: functions, threads and their nodes. */

#include "swizzle/format.h"
#include "util/memory.h"
#include "watch/image.h"
#include "watch/sample_times.h"

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
