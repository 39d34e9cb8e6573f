#ifndef SWZ_BASE_LABELS_H
#define SWZ_BASE_LABELS_H

/* Where a process belongs among others like it: what its environment says about
 * that when it starts. SWZ_CHUNK_LABELS of its profile has it. */

#include <stddef.h>
#include <stdint.h>

#define SWZ_LABELS_BYTES 2048u

/* Patterns, one a line: only paths that lead to these are to be shown. */
#define SWZ_LABEL_CALLER "caller"

struct swz_labels {
	uint32_t strings; /* two for each label: its name, its value */
	size_t bytes;
	char text[SWZ_LABELS_BYTES]; /* each with its NUL */
};

/* Reads them from ENVIRONMENT, which ends with NULL. What has no room is left
 * out. Allocates nothing. */
void swz_labels_read(struct swz_labels *labels, char *const *environment);

#endif
