/* A sample is a node and a moment. The figures of a range of time are those of
 * the whole run, divided by samples: a node's own time is shared by its samples
 * evenly, so that ranges side by side add up to the whole. */

#include "profile/file/records.h"

#include <stdlib.h>
#include <string.h>

#include "base/number_bytes.h"
#include "util/memory.h"

/* How deep a stack may be: more means a damaged file. */
#define MOST_DEPTH (1u << 20)

/* So many times what is expected between two samples is a time without any. */
#define LONG_GAP 3u

bool swz_profile_has_samples(const struct swz_profile *profile)
{
	return profile->sample_chunk_count != 0;
}

bool swz_profiles_have_samples(struct swz_profile *const *profiles,
			       size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const struct swz_file_header *header = &profiles[i]->header;

		if (swz_profile_has_samples(profiles[i]))
			any = true;
		else if (!(header->flags & SWZ_FILE_SAMPLES) ||
			 header->flags & SWZ_FILE_MERGED || header->samples)
			return false;
	}
	return any;
}

static uint32_t root_of(const struct swz_profile_thread *thread)
{
	return thread->record.root;
}

/* Reads a chunk's samples behind *COUNT others. */
static void read_chunk(const struct swz_profile *profile,
		       const struct swz_profile_thread *thread,
		       const struct swz_sample_chunk *chunk,
		       struct swz_profile_sample **samples, size_t *count,
		       size_t *capacity)
{
	struct swz_sample_packing *before = swz_allocate(1, sizeof(*before));
	uint8_t *stream = swz_allocate(chunk->bytes + 1, 1);
	const uint8_t *at = stream;
	const uint8_t *limit = stream +
			       swz_profile_loaded(profile, chunk->offset,
						  stream, chunk->bytes);
	struct swz_packed_sample s;

	before->expected = chunk->expected;
	for (uint64_t i = 0; i < chunk->count; i++) {
		uint64_t ticks;
		uint32_t unit;

		if (!swz_sample_unpack(&at, limit, before, &s))
			break;
		unit = root_of(thread) + s.node;
		if (!s.node || unit < s.node ||
		    !swz_thread_has_node(thread, unit))
			continue;
		ticks = chunk->start_ticks + s.time * chunk->unit_ticks;
		/* (a first one may come before its thread was told of) */
		if (ticks < thread->record.start_ticks)
			ticks = thread->record.start_ticks;
		if (ticks > thread->last_ticks)
			ticks = thread->last_ticks;
		swz_grow(samples, capacity, *count, sizeof(**samples));
		(*samples)[(*count)++] = (struct swz_profile_sample){
			.ticks = ticks,
			.node = unit,
			.processor = s.processor,
			.waiting = chunk->waiting,
		};
	}
	free(stream);
	free(before);
}

static int by_time(const void *left, const void *right)
{
	const struct swz_profile_sample *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

struct swz_profile_sample *swz_samples_read(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread, size_t *count)
{
	struct swz_profile_sample *samples = NULL;
	size_t capacity = 0, i;

	*count = 0;
	for (i = 0; i < profile->sample_chunk_count; i++)
		if (profile->sample_chunks[i].owner == thread->index)
			read_chunk(profile, thread, &profile->sample_chunks[i],
				   &samples, count, &capacity);
	if (profile->samples_to) {
		size_t all = *count;

		for (i = *count = 0; i < all; i++)
			if (samples[i].ticks >= profile->samples_from &&
			    samples[i].ticks < profile->samples_to)
				samples[(*count)++] = samples[i];
	}
	if (*count > 1)
		qsort(samples, *count, sizeof(*samples), by_time);
	return samples;
}

uint32_t swz_sample_context(const struct swz_profile *profile,
			    const struct swz_profile_sample *sample)
{
	const struct swz_node *node = swz_profile_node(profile, sample->node);

	return node->open & SWZ_NODE_HIT ? node->parent : sample->node;
}

/* --- spans of time ------------------------------------------------------- */

struct swz_sample_spans {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	struct swz_profile_sample *samples;
	size_t count, next;
	uint64_t expected[2]; /* ticks between samples: running, waiting */
	/* what is open, and what is to be: units, the outermost first */
	uint32_t *open, *path;
	size_t depth, length, open_capacity, path_capacity;
	size_t shared;  /* so many of these are the same */
	uint64_t now;   /* when it is to be so */
	uint64_t until; /* nothing is known after this; 0: the next follows */
};

uint64_t swz_samples_apart(const struct swz_profile *profile,
			   const struct swz_profile_thread *thread,
			   bool waiting)
{
	size_t i;

	for (i = 0; i < profile->sample_chunk_count; i++) {
		const struct swz_sample_chunk *c = &profile->sample_chunks[i];

		if (c->owner == thread->index && c->waiting == waiting &&
		    c->expected < UINT32_MAX && c->unit_ticks < UINT32_MAX)
			return c->expected * c->unit_ticks;
	}
	return 0;
}

struct swz_sample_spans *swz_sample_spans_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	struct swz_sample_spans *spans;
	size_t count;
	struct swz_profile_sample *samples = swz_samples_read(profile, thread,
							      &count);

	if (!count) {
		free(samples);
		return NULL;
	}
	spans = swz_allocate(1, sizeof(*spans));
	spans->profile = profile;
	spans->thread = thread;
	spans->samples = samples;
	spans->count = count;
	spans->expected[0] = swz_samples_apart(profile, thread, false);
	spans->expected[1] = swz_samples_apart(profile, thread, true);
	return spans;
}

void swz_sample_spans_close(struct swz_sample_spans *spans)
{
	if (!spans)
		return;
	free(spans->samples);
	free(spans->open);
	free(spans->path);
	free(spans);
}

/* The path to a unit; parents come before their children. */
static void find_path(struct swz_sample_spans *spans, uint32_t unit)
{
	size_t length = 0, i;

	while (unit != root_of(spans->thread) && length < MOST_DEPTH) {
		const struct swz_node *node;

		if (!swz_thread_has_node(spans->thread, unit))
			break;
		node = swz_profile_node(spans->profile, unit);
		swz_grow(&spans->path, &spans->path_capacity, length,
			 sizeof(*spans->path));
		spans->path[length++] = unit;
		if (node->parent >= unit)
			break;
		unit = node->parent;
	}
	for (i = 0; i < length / 2; i++) {
		uint32_t other = spans->path[length - 1 - i];

		spans->path[length - 1 - i] = spans->path[i];
		spans->path[i] = other;
	}
	spans->length = length;
}

static void compare(struct swz_sample_spans *spans)
{
	size_t i = 0;

	while (i < spans->depth && i < spans->length &&
	       spans->open[i] == spans->path[i])
		i++;
	spans->shared = i;
}

uint64_t swz_sample_end(const struct swz_profile_sample *samples, size_t count,
			size_t i, uint64_t apart, uint64_t last)
{
	uint64_t ticks = samples[i].ticks, end = ticks + apart;

	if (end < ticks || end > last)
		end = last;
	if (i + 1 < count && (samples[i + 1].ticks <= end ||
			      samples[i + 1].ticks - ticks <= LONG_GAP * apart))
		end = samples[i + 1].ticks;
	return end;
}

/* False: all is told. */
static bool go_on(struct swz_sample_spans *spans)
{
	const struct swz_profile_sample *sample = spans->samples + spans->next;
	uint64_t end;

	if (spans->until) {
		spans->now = spans->until;
		spans->until = 0;
		spans->length = 0;
		compare(spans);
		return true;
	}
	if (spans->next == spans->count)
		return false;
	spans->next++;
	spans->now = sample->ticks;
	find_path(spans, swz_sample_context(spans->profile, sample));
	compare(spans);
	end = swz_sample_end(spans->samples, spans->count, spans->next - 1,
			     spans->expected[sample->waiting],
			     spans->thread->last_ticks);
	if (spans->next == spans->count || end < sample[1].ticks)
		spans->until = end;
	return true;
}

bool swz_sample_spans_next(struct swz_sample_spans *spans, uint32_t *node,
			   bool *begins, uint64_t *ticks)
{
	while (spans->depth == spans->shared && spans->depth == spans->length)
		if (!go_on(spans))
			return false;
	*begins = spans->depth == spans->shared;
	*ticks = spans->now;
	if (!*begins) {
		*node = spans->open[--spans->depth];
		return true;
	}
	swz_grow(&spans->open, &spans->open_capacity, spans->depth,
		 sizeof(*spans->open));
	*node = spans->path[spans->depth];
	spans->open[spans->depth++] = *node;
	spans->shared = spans->depth;
	return true;
}

/* --- shares: what each sample stands for ---------------------------------- */

/* A node without what is below it. */
struct share {
	int64_t running, waiting; /* ticks */
	uint64_t calls;
	uint64_t all[2], kept[2]; /* samples while it ran, and waited */
	bool used;                /* it has any that is kept, or below it */
};

static bool has_parent(const struct swz_node_span *span, uint32_t i,
		       const struct swz_node *node)
{
	return i && node->parent >= span->unit && node->parent < span->unit + i;
}

/* Parents come before their children. */
static void find_own(const struct swz_profile *profile,
		     const struct swz_node_span *span, struct share *shares)
{
	uint32_t i;

	for (i = 0; i < span->count; i++) {
		const struct swz_node *n = swz_profile_node(profile,
							    span->unit + i);
		uint64_t waiting = (uint64_t)n->waiting_ticks;
		uint64_t running = (uint64_t)n->ticks - waiting;
		struct share *s = &shares[i], *parent;

		s->running = (int64_t)((uint64_t)s->running + running);
		s->waiting = (int64_t)((uint64_t)s->waiting + waiting);
		s->calls += n->calls;
		if (!has_parent(span, i, n))
			continue;
		parent = &shares[n->parent - span->unit];
		parent->running = (int64_t)((uint64_t)parent->running -
					    running);
		parent->waiting = (int64_t)((uint64_t)parent->waiting -
					    waiting);
		if (n->open & SWZ_NODE_HIT)
			parent->calls -= n->calls;
	}
}

/* (those that no chunk has stand for their part of the time) */
static void count_untimed(const struct swz_node_span *span,
			  struct share *shares)
{
	uint32_t i;

	for (i = 0; i < span->count; i++)
		if (shares[i].all[0] < shares[i].calls)
			shares[i].all[0] = shares[i].calls;
}

static bool is_in_span(const struct swz_node_span *span,
		       const struct swz_profile_sample *sample)
{
	return sample->node >= span->unit &&
	       sample->node - span->unit < span->count;
}

struct swz_sample_share *swz_sample_shares(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread,
	const struct swz_profile_sample *samples, size_t sample_count,
	size_t *count)
{
	struct swz_sample_share *found = NULL;
	size_t capacity = 0, i, j;

	*count = 0;
	for (i = 0; i < thread->span_count; i++) {
		const struct swz_node_span *span = &thread->spans[i];
		struct share *shares = swz_allocate(span->count + 1u,
						    sizeof(*shares));

		for (j = 0; j < sample_count; j++) {
			const struct swz_profile_sample *s = &samples[j];

			if (is_in_span(span, s))
				shares[s->node - span->unit].all[s->waiting]++;
		}
		find_own(profile, span, shares);
		for (j = 0; j < span->count; j++)
			shares[j].used = shares[j].all[0] || shares[j].all[1];
		count_untimed(span, shares);
		for (j = 0; j < span->count; j++) {
			const struct share *s = &shares[j];

			if (!s->used)
				continue;
			swz_grow(&found, &capacity, *count, sizeof(*found));
			found[(*count)++] = (struct swz_sample_share){
				.node = span->unit + (uint32_t)j,
				.running_ticks = s->running,
				.waiting_ticks = s->waiting,
				.running = s->all[0],
				.waiting = s->all[1],
			};
		}
		free(shares);
	}
	return found;
}

/* --- a range of time ----------------------------------------------------- */

static struct swz_node *node_at(struct swz_profile *profile, uint32_t unit)
{
	return (struct swz_node *)(void *)(profile->data +
					   (uint64_t)unit * SWZ_UNIT_BYTES);
}

static int64_t part(int64_t ns, uint64_t kept, uint64_t all)
{
	return all ? (int64_t)((__int128)ns * (int64_t)kept / (int64_t)all) : 0;
}

/* Each node's own part is cut down, and put together again. */
static void keep_span(struct swz_profile *profile,
		      const struct swz_node_span *span, struct share *shares)
{
	uint32_t i;

	find_own(profile, span, shares);
	count_untimed(span, shares);
	for (i = 0; i < span->count; i++) {
		struct swz_node *n = node_at(profile, span->unit + i);
		struct share *s = &shares[i];

		/* (a running thread's samples have a part of its waiting: for
		 * a processor) */
		n->waiting_ticks =
			s->all[1] ? part(s->waiting, s->kept[1], s->all[1])
				  : part(s->waiting, s->kept[0], s->all[0]);
		n->ticks = (int64_t)((uint64_t)n->waiting_ticks +
				     (uint64_t)part(s->running, s->kept[0],
						    s->all[0]));
		n->calls = s->kept[0];
		s->used = s->kept[0] || s->kept[1];
	}
	for (i = span->count; i-- > 1;) {
		struct swz_node *n = node_at(profile, span->unit + i), *parent;

		if (!has_parent(span, i, n))
			continue;
		parent = node_at(profile, n->parent);
		shares[n->parent - span->unit].used |= shares[i].used;
		if (!shares[i].used) {
			n->function = SWZ_FUNCTION_NONE;
			continue;
		}
		parent->ticks = (int64_t)((uint64_t)parent->ticks +
					  (uint64_t)n->ticks);
		parent->waiting_ticks =
			(int64_t)((uint64_t)parent->waiting_ticks +
				  (uint64_t)n->waiting_ticks);
		if (n->open & SWZ_NODE_HIT)
			parent->calls += n->calls;
	}
}

/* Returns how many samples are kept. */
static uint64_t keep_of_thread(struct swz_profile *profile,
			       const struct swz_profile_thread *thread,
			       uint64_t from, uint64_t to)
{
	size_t count, i, j;
	struct swz_profile_sample *samples = swz_samples_read(profile, thread,
							      &count);
	uint64_t kept = 0;

	for (i = 0; i < thread->span_count; i++) {
		const struct swz_node_span *span = &thread->spans[i];
		struct share *shares = swz_allocate(span->count + 1u,
						    sizeof(*shares));

		for (j = 0; j < count; j++) {
			const struct swz_profile_sample *s = &samples[j];
			struct share *share;

			if (!is_in_span(span, s))
				continue;
			share = &shares[s->node - span->unit];
			share->all[s->waiting]++;
			if (s->ticks < from || s->ticks >= to)
				continue;
			share->kept[s->waiting]++;
			kept += !s->waiting;
		}
		keep_span(profile, span, shares);
		free(shares);
	}
	free(samples);
	return kept;
}

static void shorten(struct swz_profile_thread *thread, uint64_t from,
		    uint64_t to)
{
	struct swz_thread_record *r = &thread->record;

	if (r->start_ticks < from)
		r->start_ticks = from < thread->last_ticks ? from
							   : thread->last_ticks;
	if (thread->last_ticks > to) {
		thread->last_ticks = to > r->start_ticks ? to : r->start_ticks;
		r->end_ticks = 0;
	}
}

static int64_t running_ticks(struct swz_profile *profile,
			     const struct swz_profile_thread *thread)
{
	const struct swz_node *root;

	if (!swz_thread_has_node(thread, root_of(thread)))
		return 0;
	root = swz_profile_node(profile, root_of(thread));
	return root->ticks > root->waiting_ticks
		       ? root->ticks - root->waiting_ticks
		       : 0;
}

void swz_samples_keep_range(struct swz_profile *profile, uint64_t from,
			    uint64_t to)
{
	uint64_t samples = 0;
	size_t i;

	profile->origin_ticks = 0;
	for (i = 0; i < profile->thread_count; i++)
		if (!profile->origin_ticks ||
		    profile->threads[i].record.start_ticks <
			    profile->origin_ticks)
			profile->origin_ticks =
				profile->threads[i].record.start_ticks;
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];

		samples += keep_of_thread(profile, thread, from, to);
		shorten(thread, from, to);
		/* the processor time that the samples stand for */
		if (thread->record.processor_ticks) {
			thread->record.processor_start_ns = 0;
			thread->record.processor_ns = (uint64_t)running_ticks(
				profile, thread);
			thread->record.processor_ticks = thread->last_ticks;
		}
	}
	profile->samples_from = from;
	profile->samples_to = to;
	if (from > profile->header.start_ticks)
		profile->header.start_ticks = from;
	if (profile->header.end_ticks > to)
		profile->header.end_ticks = to;
	profile->header.samples = samples;
	profile->header.own_samples = profile->header.profiling_ns = 0;
}
