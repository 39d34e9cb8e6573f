/* A sample's stack: the frames of the machine, the functions of a script that
 * run in them or take their place, and the node of the thread's tree that it
 * hits. */

#include "swizzle/format.h"
#include "watch/image.h"
#include "watch/script_frames.h"
#include "watch/unwind/unwind_row.h"
#include "watch/unwind/unwinder.h"

static uint32_t add_rows(struct swz_image_thread *thread, uint32_t node,
			 const struct swz_stack_row *rows, size_t count)
{
	for (size_t i = count; i-- > 0;)
		node = swz_stack_child(thread, node, rows[i].function,
				       rows[i].call_site);
	return node;
}

/* Takes the profiler's functions out of a stack, which stand between the
 * program's and what these call. */
static size_t leave_out_ours(const struct swz_image *image, uint64_t *pcs,
			     uint64_t *frame_pointers, size_t count)
{
	size_t kept = 0;

	if (!image->counted.output)
		return count;
	for (size_t i = 0; i < count; i++)
		if (pcs[i] < image->hooked.start ||
		    pcs[i] >= image->hooked.end) {
			frame_pointers[kept] = frame_pointers[i];
			pcs[kept++] = pcs[i];
		}
	return kept;
}

static bool load_word(const void *stack, uint64_t address, uint64_t *word)
{
	return swz_stack_load(stack, address, word) == SWZ_STEP_DONE;
}

/* The most frames of a stack. A thread with MANY_NODES has its stacks cut
 * sooner: each sample of a deep recursion that branches may need as many nodes
 * as it has frames. */
#define MOST_FRAMES 8192u
#define MANY_NODES (1u << 20)

/* With functions that a compiler has put into others. */
#define ROWS ((size_t)2 * MOST_FRAMES)

/* One stack, from the innermost frame on. */
struct walked {
	const uint64_t *pcs, *frame_pointers;
	size_t count;
	const struct swz_registers *registers;
	const struct swz_stack *stack;
	struct swz_stack_row *rows;
	size_t kept;
	uint32_t *line; /* that the innermost function executes, of a script */
};

/* A return address may be the first of the next function. */
static uint64_t pc_of(const struct walked *w, size_t i)
{
	return i ? w->pcs[i] - 1 : w->pcs[i];
}

static void keep(struct walked *w, uint32_t function, uint64_t call_site)
{
	if (w->kept < ROWS)
		w->rows[w->kept++] = (struct swz_stack_row){function,
							    call_site};
}

/* The functions of a script that run in a frame of the machine. */
static void keep_functions(const struct swz_image *image, struct walked *w,
			   size_t i,
			   const struct swz_placed_function *functions,
			   size_t count)
{
	/* code that has no frame of its own is a part of it */
	while (swz_script_frames_are_shared(image) && w->kept && i &&
	       w->frame_pointers[i - 1] == w->frame_pointers[i] &&
	       w->rows[w->kept - 1].call_site == w->pcs[i])
		w->kept--;
	for (size_t j = 0; j < count; j++) {
		if (w->kept)
			w->rows[w->kept - 1].call_site = functions[j].line;
		else
			*w->line = functions[j].line;
		keep(w, functions[j].function,
		     i + 1 < w->count ? w->pcs[i + 1] : 0);
	}
}

static size_t functions_of(struct swz_image *image, const struct walked *w,
			   size_t i, struct swz_placed_function *functions)
{
	const struct swz_script_place place = {
		.pc = pc_of(w, i),
		.frame_pointer = w->frame_pointers[i],
		.is_innermost = !i,
		.innermost_register = i ? 0 : w->registers->r13,
		.registers = w->frame_pointers[i] == w->frame_pointers[0]
				     ? w->registers->general
				     : NULL,
		.load = load_word,
		.stack = w->stack};

	return place.frame_pointer
		       ? swz_script_frame_functions(image, &place, functions)
		       : 0;
}

/* Code that functions of a script call, for them: not if another one does. */
static bool is_helper(struct swz_image *image, const struct walked *w, size_t i)
{
	return w->frame_pointers[i] && i + 1 < w->count &&
	       swz_script_frame_is_helper(image, pc_of(w, i));
}

static void keep_frames(struct swz_image *image, struct walked *w,
			uint64_t time_ns)
{
	struct swz_placed_function functions[SWZ_MOST_INLINED];
	bool is_first_helper = false;

	for (size_t i = 0; i < w->count; i++) {
		size_t count = functions_of(image, w, i, functions);

		if (is_first_helper && !count)
			keep(w,
			     swz_image_function_at(image, pc_of(w, 0), time_ns),
			     w->pcs[1]);
		is_first_helper = !i && !count && is_helper(image, w, i);
		if (is_first_helper)
			continue;
		if (count)
			keep_functions(image, w, i, functions, count);
		else if (w->kept && is_helper(image, w, i))
			w->rows[w->kept - 1].call_site = w->pcs[i + 1];
		else
			keep(w,
			     swz_image_function_at(image, pc_of(w, i), time_ns),
			     i + 1 < w->count ? w->pcs[i + 1] : 0);
	}
}

/* Reads /proc after a walk was lost; true if more code is mapped than was
 * known. Stacks that are lost for another reason make this ever rarer. */
static bool learns_of_mappings(struct swz_image *image)
{
	const uint64_t before = image->mappings_made;
	const unsigned most_left = 255;

	if (image->walks_lost++ < image->walks_left)
		return false;
	swz_image_read_maps(image);
	image->walks_lost = 0;
	if (image->walks_left < most_left)
		image->walks_left = 2 * image->walks_left + 1;
	if (image->mappings_made == before)
		return false;
	image->walks_left = 0;
	return true;
}

static uint32_t add_frames(struct swz_image *image,
			   struct swz_image_thread *thread,
			   const struct swz_registers *registers,
			   const struct swz_stack *stack,
			   const struct swz_sampled_hit *hit, uint32_t *line)
{
	static uint64_t pcs[MOST_FRAMES], frame_pointers[MOST_FRAMES];
	static struct swz_stack_row rows[ROWS], with_script[ROWS];
	enum swz_walk_end end = SWZ_WALK_LOST;
	struct walked walked = {.pcs = pcs,
				.frame_pointers = frame_pointers,
				.registers = registers,
				.stack = stack,
				.rows = rows,
				.line = line};
	uint32_t node = 0;
	size_t count;

	swz_script_frames_begin(image);
	do
		count = swz_unwinder_walk_frames(
			image->unwinder, registers, stack, pcs, frame_pointers,
			thread->node_count < MANY_NODES ? MOST_FRAMES
							: SWZ_MOST_FRAMES,
			&end);
	while (end == SWZ_WALK_LOST && hit->maps_may_be_old &&
	       learns_of_mappings(image));
	count = leave_out_ours(image, pcs, frame_pointers, count);
	if (!count)
		return 0; /* a thread of the profiler's */
	if (end == SWZ_WALK_LOST)
		image->broken_stacks++;
	else if (end != SWZ_WALK_ROOT)
		image->cut_stacks++;
	if (end != SWZ_WALK_ROOT)
		node = swz_stack_child(thread, node, SWZ_FUNCTION_CALLERS, 0);
	walked.count = count;
	keep_frames(image, &walked, hit->time_ns);
	if (!hit->script)
		return add_rows(thread, node, rows, walked.kept);
	count = swz_script_frames_put(image, hit->script, rows, walked.kept,
				      end == SWZ_WALK_ROOT, with_script, ROWS,
				      line);
	return add_rows(thread, node, with_script, count);
}

/* Where in the function it was hit may be asked for. */
static bool has_source(const struct swz_image *image,
		       const struct swz_stack_node *node)
{
	return node->function < image->function_count &&
	       image->functions[node->function].module != SWZ_NO_MODULE;
}

/* Counts and times are of the same time. */
static void add_paused(struct swz_image *image, struct swz_image_thread *thread,
		       const struct swz_sampled_hit *hit)
{
	if (hit->waiting) {
		thread->paused_waits++;
		thread->waits++;
		return;
	}
	thread->paused_weight += hit->weight;
	thread->weight += hit->weight;
	thread->samples++;
	thread->kernel_samples += hit->in_kernel;
	image->paused_samples++;
	image->samples++;
}

/* The profiler's time is not the program's. */
static void add_own(struct swz_image *image, struct swz_image_thread *thread,
		    const struct swz_sampled_hit *hit)
{
	thread->own_weight += hit->weight;
	thread->weight += hit->weight;
	thread->samples++;
	thread->kernel_samples += hit->in_kernel;
	image->own_samples++;
	image->samples++;
}

bool swz_image_is_own_thread(const struct swz_image *image,
			     const struct swz_image_thread *thread)
{
	return image->hooked.end && strncmp(thread->name, SWZ_OWN_THREAD_NAME,
					    sizeof(thread->name)) == 0;
}

/* A process publishes its context when it has started, and again when that
 * changes: it is looked for ever more seldom. */
#define FIRST_LOOK_NS UINT64_C(20000000)
#define LAST_LOOK_NS UINT64_C(60000000000)

static void look_for_context(struct swz_image *image, uint64_t time_ns)
{
	uint64_t age_ns = time_ns > image->start_ns ? time_ns - image->start_ns
						    : 0;

	if (time_ns < image->context_ns)
		return;
	(void)swz_process_context_read(image->pid, &image->context);
	if (age_ns < FIRST_LOOK_NS)
		age_ns = FIRST_LOOK_NS;
	image->context_ns = time_ns +
			    (age_ns < LAST_LOOK_NS ? age_ns : LAST_LOOK_NS);
}

void swz_image_add(struct swz_image *image, struct swz_image_thread *thread,
		   const struct swz_registers *registers,
		   const struct swz_stack *stack,
		   const struct swz_sampled_hit *hit)
{
	enum swz_code_kind kind = SWZ_CODE_PROGRAM;
	struct swz_registers at = {0};
	uint32_t node = 0, line = 0;

	look_for_context(image, hit->time_ns);
	swz_stack_fold(image, thread);
	if (swz_counted_code_is_paused(image, hit->time_ns)) {
		add_paused(image, thread, hit);
		return;
	}
	/* execve() goes on in the kernel when the old program's code is gone */
	if (registers && hit->in_kernel &&
	    !swz_image_knows(image, registers->ip))
		registers = NULL;
	if (registers) {
		at = *registers;
		kind = swz_counted_code_find(
			image, &at, swz_image_is_in_file(image, at.ip));
	}
	if (swz_image_is_own_thread(image, thread)) {
		if (!hit->waiting)
			add_own(image, thread, hit);
		return;
	}
	if (kind == SWZ_CODE_LIBRARY && !hit->waiting) {
		add_own(image, thread, hit);
		return;
	}
	if (hit->script && hit->script->sp > at.sp)
		at.sp = hit->script->sp;
	if (registers)
		node = add_frames(image, thread, &at, stack, hit, &line);
	if (kind == SWZ_CODE_COUNTING && !hit->waiting)
		node = swz_stack_child(thread, node, SWZ_FUNCTION_COUNTING, 0);
	else if (hit->in_kernel || !node)
		node = swz_stack_child(thread, node, SWZ_FUNCTION_KERNEL,
				       line ? line : at.ip);
	else if (line)
		node = swz_stack_hit(thread, node, line);
	else if (has_source(image, &thread->nodes[node]))
		node = swz_stack_hit(thread, node, at.ip);
	if (image->keeps_moments)
		swz_sample_times_add(image, thread, node, hit);
	if (hit->waiting) {
		thread->nodes[node].waits++;
		thread->waits++;
		image->waits++;
	} else {
		thread->nodes[node].samples++;
		thread->nodes[node].weight += hit->weight;
		thread->samples++;
		thread->weight += hit->weight;
		thread->kernel_samples += hit->in_kernel || !registers;
		image->samples++;
	}
}
