#ifndef SWZ_RUNTIME_RECORD_VALUE_CHECKS_H
#define SWZ_RUNTIME_RECORD_VALUE_CHECKS_H

/* Conditions of calls (`only_show_if`) that are decided when a call is about to
 * be entered. Async-signal-safe. */

#include <stdbool.h>

#include "runtime/record/recording.h"
#include "runtime/record/signatures.h"
#include "runtime/record/thread.h"

/* R has the parts of the entry, with their places. What cannot be decided, as
 * it could not be read, holds. */
bool swz_value_check_holds(const struct swz_value_check *check,
			   const struct swz_captured *c,
			   const struct swz_thread *thread,
			   const struct swz_recording *r);

#endif
