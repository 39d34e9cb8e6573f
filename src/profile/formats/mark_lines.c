#include "profile/formats/mark_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/file/events.h"
#include "profile/file/marks.h"
#include "profile/support/output.h"

struct listing {
	FILE *stream;
	const char *prefix;
	size_t most;
	size_t count;
};

static bool is_shown_thread(const struct swz_section *section,
			    const struct swz_profile *profile,
			    const struct swz_profile_mark *mark)
{
	const struct swz_profile_thread *thread;

	if (section->thread)
		return mark->owner == section->thread->index;
	thread = swz_mark_thread(profile, mark);
	return !thread || !section->threads ||
	       swz_thread_is_chosen(section->threads, thread);
}

static bool is_in(const struct swz_section *section,
		  const struct swz_profile *profile,
		  const struct swz_profile_mark *mark)
{
	if (!swz_mark_is_of_process(mark) &&
	    !is_shown_thread(section, profile, mark))
		return false;
	return !section->range || (mark->ticks >= section->range->from &&
				   mark->ticks < section->range->to);
}

static void put_mark(struct listing *list, const struct swz_profile *profile,
		     const struct swz_profile_mark *mark)
{
	const struct swz_profile_thread *thread = swz_mark_thread(profile,
								  mark);
	int64_t ns = swz_events_ns(profile, mark->ticks);
	char *text;

	if (!list->count)
		fprintf(list->stream, "%smarks: seconds, thread, text\n",
			list->prefix);
	if (list->count++ >= list->most && list->most)
		return;
	text = swz_mark_text(mark);
	fprintf(list->stream, "%s%s%" PRId64 ".%09" PRId64 "  ", list->prefix,
		ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000000000,
		(ns < 0 ? -ns : ns) % 1000000000);
	if (swz_mark_is_of_process(mark))
		fputs("all", list->stream);
	else
		fprintf(list->stream, "%" PRId32,
			thread ? thread->record.tid : 0);
	fputs("  ", list->stream);
	swz_put_text(list->stream, text);
	putc('\n', list->stream);
	free(text);
}

static void put_end(const struct listing *list)
{
	if (list->most && list->count > list->most)
		fprintf(list->stream, "%s... %zu more: -f info\n", list->prefix,
			list->count - list->most);
}

void swz_put_marks(FILE *stream, const struct swz_section *section,
		   const char *prefix, size_t most)
{
	struct listing list = {stream, prefix, most, 0};
	size_t i, j;

	for (i = 0; i < section->profile_count; i++) {
		const struct swz_profile *profile = section->profiles[i];

		for (j = 0; j < profile->mark_count; j++)
			if (is_in(section, profile, &profile->marks[j]))
				put_mark(&list, profile, &profile->marks[j]);
	}
	put_end(&list);
}

void swz_put_marks_of(FILE *stream, const struct swz_profile *profile)
{
	struct listing list = {stream, "", 0, 0};
	size_t i;

	if (profile->mark_count)
		putc('\n', stream);
	for (i = 0; i < profile->mark_count; i++)
		put_mark(&list, profile, &profile->marks[i]);
	if (profile->header.lost_marks)
		fprintf(stream, "lost marks and spans: %" PRIu64 "\n",
			profile->header.lost_marks);
}
