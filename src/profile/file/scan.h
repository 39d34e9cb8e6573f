#ifndef SWZ_PROFILE_FILE_SCAN_H
#define SWZ_PROFILE_FILE_SCAN_H

/* The records of a profile file: one pass over its chunks. */

#include <stdbool.h>

#include "profile/file/load.h"
#include "profile/file/reader.h"

/* What is being read, and the room that there is in its arrays. */
struct swz_scan {
	struct swz_profile *profile;
	struct swz_loading *from; /* what loads it as it is wanted; NULL: all
				   * is there */
	size_t module_capacity;
	size_t function_capacity;
	size_t thread_capacity;
	size_t span_capacity;
	size_t unwound_capacity;
	size_t event_chunk_capacity;
	size_t switch_capacity;
	size_t mark_capacity;
	size_t value_chunk_capacity;
	size_t signature_capacity;
	size_t summary_capacity;
	size_t signature_set_capacity;
	size_t symbol_capacity;
	size_t line_capacity;
	struct swz_scan_name {
		uint32_t id;
		const char *text;
	} * names; /* of functions; in the order of the file, to be freed */
	size_t name_count;
	size_t name_capacity;
	struct swz_scan_costs *costs; /* of ranks: see ranks.c */
	size_t cost_count;
	size_t cost_capacity;
};

/* Collects the records of all chunks in scan->profile->data, in the order of
 * the file. False: it cannot be loaded, errno says why. */
bool swz_scan_chunks(struct swz_scan *scan);

#endif
