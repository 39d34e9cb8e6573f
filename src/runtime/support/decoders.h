#ifndef SWZ_RUNTIME_SUPPORT_DECODERS_H
#define SWZ_RUNTIME_SUPPORT_DECODERS_H

#include <stdbool.h>

#include "runtime/support/worker_threads.h"
#include "thunks/relocate.h"

/* One for each worker thread. */
struct swz_decoders {
	struct swz_decoder *of[SWZ_MOST_MEMBERS];
};

/* In scratch memory. False: there is none. */
bool swz_decoders_new(struct swz_decoders *decoders) SWZ_MUST_CHECK;

#endif
