#ifndef SWZ_WATCH_PROCESS_LABELS_H
#define SWZ_WATCH_PROCESS_LABELS_H

/* The labels of another process, from the environment that it was given; and
 * what swizzle-run was told to show (--caller). */

#include <stdint.h>

#include "base/labels.h"

/* Where its environment may not be read only the host is known. */
void swz_process_labels(int32_t pid, struct swz_labels *labels);

#endif
