#ifndef SWZ_RUNTIME_RECORD_CODE_NAMES_H
#define SWZ_RUNTIME_RECORD_CODE_NAMES_H

/* Code made at run time that has called (SWZ_FUNCTION_CODE), and its names. */

#include "swizzle/format.h"

/* Notes a node of such code, which is not published yet. Lock free,
 * async-signal-safe. */
void swz_code_note(struct swz_node *node);

/* Copies what /tmp/perf-PID.map says of such code into the profile, since that
 * file may soon be gone. At the process's end. */
void swz_code_names_keep(void);

#endif
