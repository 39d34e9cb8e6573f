#ifndef SWZ_PROFILE_CODE_JITDUMP_H
#define SWZ_PROFILE_CODE_JITDUMP_H

/* Jitdump files: records of code that was made or moved, with times
 * (tools/perf/Documentation/jitdump-specification.txt in Linux). */

#include "profile/support/map.h"
#include "profile/code/code_ranges.h"

/* Zero-initialise it. */
struct swz_jitdump {
	bool begun, damaged;
	bool no_times;           /* they are not of CLOCK_MONOTONIC */
	struct swz_map by_index; /* of code: where its name is in `names` */
	char *names;
	size_t name_bytes, name_capacity;
};

/* Adds what whole records at BYTES say, which continue those that were read
 * before. Returns how many bytes it is done with; may be more than SIZE, as the
 * code itself does not matter. */
uint64_t swz_jitdump_read(struct swz_jitdump *dump,
			  struct swz_code_ranges *ranges, const uint8_t *bytes,
			  size_t size);

void swz_jitdump_free(struct swz_jitdump *dump);

#endif
