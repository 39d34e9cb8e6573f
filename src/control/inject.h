#ifndef SWZ_CONTROL_INJECT_H
#define SWZ_CONTROL_INJECT_H

/* libswizzle.so in the process: found, loaded, called. */

#include <stdbool.h>
#include <stdint.h>

#include "control/attach.h"
#include "control/borrow.h"

/* libswizzle.so in the process: found, loaded, called. */

/* Where it is mapped, or NULL. */
const struct swz_target_mapping *swz_injected_mapping(
	const struct swz_target *target);

/* Finds what the library shares with us: ->control_at, ->control. False: it is
 * not there, or is of another version. */
bool swz_injected_find(struct swz_attached *attached);

/* True if the dynamic linker has loaded it at the program's start: then it
 * profiles from there on. */
bool swz_injected_was_preloaded(struct swz_attached *attached);

/* Loads it, unless it is there, and has it begin to plan. */
bool swz_injected_load(struct swz_attached *attached, const char *path,
		       char **environment);

/* Calls a function with two arguments on a borrowed thread; SAFE: see
 * swz_borrow_call. */
bool swz_injected_call(struct swz_attached *attached, uint64_t function,
		       uint64_t first, uint64_t second, bool safe,
		       uint64_t *result);

/* Likewise, once no thread of the library's own is there, from an earlier call.
 * False: the function has returned an error, too. */
bool swz_injected_call_when_free(struct swz_attached *attached,
				 uint64_t function, uint64_t argument,
				 bool safe);

#endif
