#ifndef SWZ_WATCH_PROCESS_CONTEXT_H
#define SWZ_WATCH_PROCESS_CONTEXT_H

/* What a process publishes about itself by OpenTelemetry's process context
 * (OTEP 4719): service.name, service.version, ... */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/printable.h"

/* Puts the attributes of a payload, the message ProcessContext of
 * opentelemetry-proto 1.11.0 or the Resource that drafts had in its place, into
 * LABELS. False: it is neither, or has none. */
bool swz_process_context_decode(const uint8_t *payload, size_t size,
				struct swz_labels *labels);

/* Sets LABELS to what a process publishes now. False: it publishes nothing, or
 * that cannot be read; then there are none. */
bool swz_process_context_read(int32_t pid, struct swz_labels *labels);

#endif
