/* Samples say how a thread's time is divided, the kernel how much it is.
 *
 * Where samples are taken in the kernel, too, all of them stand for the same
 * time. Where they are not, each stands for a period, and what is left of the
 * processor time is the kernel's, but for the last period, which had not ended
 * with the thread and is half over on average. A thread that was hit by none,
 * as it did not run for long enough, has its time in `[not sampled]`. */

#include "watch/thread_time.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "swizzle/format.h"

/* Without a hit: below this nobody knows, above it was the kernel. */
#define FEW_PERIODS 5u

/* Of TOTAL the share that PART of ALL has. */
static uint64_t share(uint64_t total, uint64_t part, uint64_t all)
{
	return all ? (uint64_t)((unsigned __int128)total * part / all) : 0;
}

struct division {
	uint64_t running_ns; /* that samples of a running thread stand for */
	uint64_t kernel_ns, unsampled_ns;
	uint64_t waiting_ns, unsampled_waiting_ns;
};

static void divide_processor(struct division *d,
			     const struct swz_sample_run *run,
			     const struct swz_image_thread *t,
			     uint64_t processor_ns)
{
	uint64_t sampled_ns = (t->samples + t->lost) * run->period_ns;

	if (run->flags & SWZ_SAMPLES_OF_KERNEL || !run->period_ns) {
		if (t->samples)
			d->running_ns = processor_ns;
		else
			d->unsampled_ns = processor_ns;
	} else if (!t->samples) {
		if (processor_ns < FEW_PERIODS * run->period_ns)
			d->unsampled_ns = processor_ns;
		else
			d->kernel_ns = processor_ns;
	} else if (processor_ns >= sampled_ns + run->period_ns) {
		d->kernel_ns = processor_ns - sampled_ns - run->period_ns / 2;
		d->running_ns = processor_ns - d->kernel_ns;
	} else {
		d->running_ns = processor_ns;
	}
	if (!t->weight) {
		d->unsampled_ns += d->running_ns;
		d->running_ns = 0;
	}
}

static void divide(struct division *d, const struct swz_sample_run *run,
		   const struct swz_image_thread *t, uint64_t processor_ns,
		   uint64_t wall_ns)
{
	*d = (struct division){0};
	divide_processor(d, run, t, processor_ns);
	if (run->flags & SWZ_SAMPLES_OF_WAITING && wall_ns > processor_ns) {
		if (t->waits)
			d->waiting_ns = wall_ns - processor_ns;
		else
			d->unsampled_waiting_ns = wall_ns - processor_ns;
	}
}

/* Running sums are rounded down, so that all add up. */
static void spread(struct swz_thread_time *time,
		   const struct swz_image_thread *t, const struct division *d)
{
	uint64_t weight = 0, waits = 0;

	for (size_t i = 0; i < t->node_count; i++) {
		const struct swz_stack_node *node = &t->nodes[i];
		uint64_t before = share(d->running_ns, weight, t->weight);
		uint64_t waited = share(d->waiting_ns, waits, t->waits);

		weight += node->weight;
		waits += node->waits;
		time->waiting_ns[i] = share(d->waiting_ns, waits, t->waits) -
				      waited;
		time->total_ns[i] = share(d->running_ns, weight, t->weight) -
				    before + time->waiting_ns[i];
	}
}

static void add_row(struct swz_thread_time *time, uint32_t function,
		    uint64_t ns, uint64_t waiting_ns)
{
	if (!ns && !waiting_ns)
		return;
	for (size_t i = 1; i < time->count; i++)
		if (time->nodes[i].function == function &&
		    !time->nodes[i].parent) {
			time->total_ns[i] += ns + waiting_ns;
			time->waiting_ns[i] += waiting_ns;
			return;
		}
	time->nodes[time->count] = (struct swz_stack_node){
		.function = function};
	time->total_ns[time->count] = ns + waiting_ns;
	time->waiting_ns[time->count] = waiting_ns;
	time->count++;
}

void swz_thread_time(struct swz_thread_time *time,
		     const struct swz_sample_run *run,
		     const struct swz_image_thread *t, uint64_t end_ns)
{
	uint64_t processor_ns = t->processor_known
					? t->processor_ns
					: t->samples * run->period_ns;
	struct division d;

	time->processor_ns = processor_ns;
	time->nodes = swz_allocate(t->node_count + 2, sizeof(*time->nodes));
	memcpy(time->nodes, t->nodes, t->node_count * sizeof(*time->nodes));
	time->count = t->node_count;
	time->total_ns = swz_allocate(t->node_count + 2, sizeof(uint64_t));
	time->waiting_ns = swz_allocate(t->node_count + 2, sizeof(uint64_t));
	divide(&d, run, t, processor_ns,
	       end_ns > t->start_ns ? end_ns - t->start_ns : 0);
	spread(time, t, &d);
	add_row(time, SWZ_FUNCTION_KERNEL, d.kernel_ns, 0);
	add_row(time, SWZ_FUNCTION_UNSAMPLED, d.unsampled_ns,
		d.unsampled_waiting_ns);
	/* parents come before their children */
	for (size_t i = time->count; i-- > 1;) {
		uint32_t parent = time->nodes[i].parent;

		time->total_ns[parent] += time->total_ns[i];
		time->waiting_ns[parent] += time->waiting_ns[i];
	}
}

void swz_thread_time_free(struct swz_thread_time *time)
{
	free(time->nodes);
	free(time->total_ns);
	free(time->waiting_ns);
}
