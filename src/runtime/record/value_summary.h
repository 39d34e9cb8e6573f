#ifndef SWZ_RUNTIME_RECORD_VALUE_SUMMARY_H
#define SWZ_RUNTIME_RECORD_VALUE_SUMMARY_H

/* Profile mode: of the arguments and results of each context the last ones, and
 * the smallest and largest of their numbers (struct swz_value_summary). A
 * summary is a chunk of its own, which only the context's thread writes to. All
 * are async-signal-safe. */

#include <stddef.h>

#include "runtime/record/signatures.h"
#include "runtime/record/thread.h"

/* Before the first thread begins, once the signatures are known. */
enum swz_status swz_summaries_begin(void) SWZ_MUST_CHECK;

/* What a record of the moment would hold: BYTES, with PLACES[i] where part i of
 * the moment begins. */
struct swz_value_bytes_of {
	const uint8_t *bytes;
	size_t size;
	const uint16_t *places;
	unsigned count; /* parts */
};

void swz_summary_put(struct swz_thread *thread, const struct swz_captured *c,
		     uint32_t node, enum swz_value_moment moment,
		     const struct swz_value_bytes_of *of);

#endif
