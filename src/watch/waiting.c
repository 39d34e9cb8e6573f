/* The kernel tells where a thread waits: its stack pointer and the instruction
 * behind the system call. The other registers are not known: a frame that needs
 * %rbp cannot be left, and such stacks count as cut. */

#include "watch/waiting.h"

#include <stdlib.h>

#include "watch/clock.h"
#include "watch/proc_task.h"
#include "watch/script_frames.h"
#include "watch/stack_copy.h"

#define EVERY_NS 10000000u
/* Of thousands of threads: rests so many times as long as it took. */
#define MOST_LOAD 4u

static void sample_task(struct swz_watch *watch, const struct swz_task *task,
			uint64_t now)
{
	struct swz_registers registers = {0}, again = {0};
	struct swz_hit hit = {.waiting = true, .time_ns = now};
	struct swz_stack stack;
	int32_t pid = task->image->pid;

	if (!swz_proc_task_waits(pid, task->tid, &registers.ip, &registers.sp))
		return;
	/* (where threads that run are named, too) */
	if (watch->run.engine == SWZ_ENGINE_PAUSE)
		hit.script = swz_script_frames_read(task->image, 0,
						    registers.sp);
	swz_stack_copy(task->tid, registers.sp, 0, watch->run.stack_bytes,
		       &stack);
	/* it has gone on meanwhile: what was read is not of one moment */
	if (hit.script &&
	    (!swz_proc_task_waits(pid, task->tid, &again.ip, &again.sp) ||
	     again.sp != registers.sp || again.ip != registers.ip))
		return;
	swz_image_add(task->image, task->thread, &registers, &stack, &hit);
}

uint64_t swz_waiting_sample(struct swz_watch *watch)
{
	uint64_t now = swz_watch_now(), took;

	for (size_t i = 0; i < watch->tasks.count; i++) {
		const struct swz_task *task = &watch->tasks.items[i];

		if (task->live && !task->image->end_ns)
			sample_task(watch, task, now);
	}
	took = swz_watch_now() - now;
	/* half to one and a half of that, so that nobody keeps in step */
	return now + EVERY_NS / 2 + (uint64_t)random() % EVERY_NS +
	       MOST_LOAD * took;
}
