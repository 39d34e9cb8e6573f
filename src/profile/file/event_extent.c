#include "profile/file/event_extent.h"

#include "profile/file/event_words.h"
#include "profile/support/arith.h"

bool swz_events_stopped(const struct swz_profile_thread *thread)
{
	return thread->record.untraced_from && thread->record.untraced;
}

static uint64_t count_calls(const struct swz_profile *profile,
			    const struct swz_profile_thread *thread)
{
	uint64_t calls = 0;
	size_t i;
	uint32_t j;

	for (i = 0; i < thread->span_count; i++)
		for (j = 0; j < thread->spans[i].count; j++) {
			const struct swz_node *node = swz_profile_node(
				profile, thread->spans[i].unit + j);

			if (node->function != SWZ_FUNCTION_NONE)
				calls = swz_add_count(calls, node->calls);
		}
	return calls;
}

/* A thread's older events were overwritten if its first page is not there any
 * more. */
static bool begins_late(const struct swz_profile *profile,
			const struct swz_profile_thread *thread)
{
	if (!(profile->header.flags & SWZ_FILE_RING))
		return false;
	return thread->event_chunk_count ? !thread->event_chunks[0].is_first
					 : count_calls(profile, thread) != 0;
}

static uint64_t clamp(const struct swz_profile_thread *thread, uint64_t ticks)
{
	if (ticks < thread->record.start_ticks)
		return thread->record.start_ticks;
	return ticks > thread->last_ticks ? thread->last_ticks : ticks;
}

/* The thread's last moment if it has none. */
static uint64_t first_event(const struct swz_profile *profile,
			    const struct swz_profile_thread *thread)
{
	struct swz_event_words *words = swz_event_words_open(profile, thread);
	struct swz_event_word word = {.ticks = thread->last_ticks};

	(void)swz_event_words_next(words, &word);
	swz_event_words_close(words);
	return clamp(thread, word.ticks);
}

/* The thread's start if it has none. Times may go back a little: the latest of
 * its last chunk that has any. */
static uint64_t last_event(const struct swz_profile *profile,
			   const struct swz_profile_thread *thread)
{
	uint64_t last = 0;
	size_t i;

	for (i = thread->event_chunk_count; i-- > 0 && !last;) {
		struct swz_profile_thread part = *thread;
		struct swz_event_words *words;
		struct swz_event_word word;

		part.event_chunks += i;
		part.event_chunk_count = 1;
		words = swz_event_words_open(profile, &part);
		while (swz_event_words_next(words, &word))
			if (word.ticks > last)
				last = word.ticks;
		swz_event_words_close(words);
	}
	return clamp(thread, last);
}

struct swz_event_extent swz_event_extent(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	struct swz_event_extent extent = {thread->record.start_ticks,
					  thread->last_ticks};

	if (begins_late(profile, thread))
		extent.from = first_event(profile, thread);
	if (swz_events_stopped(thread))
		extent.to = last_event(profile, thread);
	/* nothing is there, or the file contradicts itself */
	if (extent.to < extent.from)
		extent.from = extent.to = thread->last_ticks;
	return extent;
}

bool swz_event_extent_is_partial(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread)
{
	struct swz_event_extent extent = swz_event_extent(profile, thread);

	return extent.from > thread->record.start_ticks ||
	       extent.to < thread->last_ticks;
}
