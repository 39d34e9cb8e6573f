#ifndef SWZ_PROFILE_FILE_RECORDS_H
#define SWZ_PROFILE_FILE_RECORDS_H

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

/* A mark's name: its text, or what it says of recording. To be freed. */
char *swz_mark_text(const struct swz_profile_mark *mark);

/* True if it is of the whole process. */
static inline bool swz_mark_is_of_process(const struct swz_profile_mark *mark)
{
	return mark->owner == SWZ_MARKS_OUTSIDE ||
	       mark->kind == SWZ_MARK_PROCESS_PAUSED ||
	       mark->kind == SWZ_MARK_PROCESS_RESUMED;
}

/* The thread that it is of; NULL: it is not known, or of the process. */
const struct swz_profile_thread *swz_mark_thread(
	const struct swz_profile *profile, const struct swz_profile_mark *mark);

/* --- embedded names ------------------------------------------------------ */

/* The chunks of embedded names (SWZ_CHUNK_SYMBOLS, SWZ_CHUNK_LINES), for
 * scan.c. */

/* Collect the records of a chunk, whose body has SIZE bytes. What is not as the
 * format says is left out, and counted once for the chunk. Modules are those of
 * chunks until swz_embedded_index(). */
void swz_scan_symbols(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size);
void swz_scan_lines(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size);

/* Refers the records to profile->modules, which are sorted. Those of no module
 * are left out. */
void swz_embedded_index(struct swz_profile *profile);

/* --- counts of call edges ------------------------------------------------ */

/* Counts of call edges (SWZ_CHUNK_COUNTS). For readers they are nodes: a folded
 * one for each edge with a caller, and one below the thread's root where the
 * place of the call lies in no function of the profile. They have no place in
 * the file: their units lie behind its end. */

/* Notes a chunk whose body begins at OFFSET and has SIZE bytes. */
void swz_scan_counts(struct swz_scan *scan, const struct swz_chunk *chunk,
		     size_t offset, size_t size);

/* Makes the nodes, and their spans. Functions and threads are sorted. */
void swz_counts_index(struct swz_scan *scan);

#endif
