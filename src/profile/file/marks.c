#include "profile/file/marks.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

/* Records follow each other; one that is not complete hides those behind it,
 * as its length is not known. */
void swz_scan_marks(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	uint64_t used = chunk->reserved[SWZ_MARKS_USED];
	struct swz_mark_record record;
	size_t at, bytes;

	if (used > size) {
		profile->damage.bad_chunks++;
		used = size;
	}
	for (at = 0; used - at >= sizeof(record); at += bytes) {
		memcpy(&record, body + at, sizeof(record));
		if (!record.ticks)
			return;
		bytes = (sizeof(record) + record.text_bytes + 7) & ~(size_t)7;
		if (record.text_bytes > SWZ_MARK_MOST_BYTES ||
		    bytes > used - at) {
			profile->damage.bad_chunks++;
			return;
		}
		swz_grow(&profile->marks, &scan->mark_capacity,
			 profile->mark_count, sizeof(*profile->marks));
		profile->marks[profile->mark_count++] =
			(struct swz_profile_mark){
				.owner = chunk->owner,
				.node = record.node,
				.kind = record.kind & (SWZ_MARK_CUT - 1u),
				.cut = record.kind & SWZ_MARK_CUT,
				.ticks = record.ticks,
				.text = (const char *)body + at +
					sizeof(record),
				.text_bytes = record.text_bytes,
			};
	}
}

static int compare_marks(const void *left, const void *right)
{
	const struct swz_profile_mark *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->text < b->text ? -1 : a->text > b->text;
}

void swz_marks_index(struct swz_profile *profile)
{
	if (profile->mark_count > 1)
		qsort(profile->marks, profile->mark_count,
		      sizeof(*profile->marks), compare_marks);
}

char *swz_mark_text(const struct swz_profile_mark *mark)
{
	switch (mark->kind) {
	case SWZ_MARK_PAUSED:
		return swz_duplicate("[paused: this thread]");
	case SWZ_MARK_RESUMED:
		return swz_duplicate("[resumed: this thread]");
	case SWZ_MARK_PROCESS_PAUSED:
		return swz_duplicate("[paused]");
	case SWZ_MARK_PROCESS_RESUMED:
		return swz_duplicate("[resumed]");
	case SWZ_MARK_SNAPSHOT:
		return swz_print("[snapshot: %.*s]", (int)mark->text_bytes,
				 mark->text);
	case SWZ_MARK_DETACHED:
		return swz_duplicate("[detached]");
	default:
		return swz_print("%.*s%s", (int)mark->text_bytes, mark->text,
				 mark->cut ? "..." : "");
	}
}

const struct swz_profile_thread *swz_mark_thread(
	const struct swz_profile *profile, const struct swz_profile_mark *mark)
{
	uint32_t at = swz_profile_thread_by_index(profile, mark->owner);

	return at == SWZ_INDEX_NONE ? NULL : &profile->threads[at];
}
