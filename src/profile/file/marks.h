#ifndef SWZ_PROFILE_FILE_MARKS_H
#define SWZ_PROFILE_FILE_MARKS_H

/* Moments that have a name (struct swz_mark_record): what the program has
 * marked, and when recording was paused and resumed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"
#include "profile/file/scan.h"

/* Reads a chunk of them. */
void swz_scan_marks(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size);

/* Sorts them by time. For swz_profile_index(). */
void swz_marks_index(struct swz_profile *profile);

/* What a mark is called: its text, or what it says of recording. To be freed.
 */
char *swz_mark_text(const struct swz_profile_mark *mark);

/* Whether it is of the whole process. */
static inline bool swz_mark_is_of_process(const struct swz_profile_mark *mark)
{
	return mark->owner == SWZ_MARKS_OUTSIDE ||
	       mark->kind == SWZ_MARK_PROCESS_PAUSED ||
	       mark->kind == SWZ_MARK_PROCESS_RESUMED;
}

/* The thread that it is of; NULL: it is not known, or of the process. */
const struct swz_profile_thread *swz_mark_thread(
	const struct swz_profile *profile, const struct swz_profile_mark *mark);

#endif
