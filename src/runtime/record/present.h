#ifndef SWZ_RUNTIME_RECORD_PRESENT_H
#define SWZ_RUNTIME_RECORD_PRESENT_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the pages of [start, start + bytes), of which no byte has been used,
 * present and writable. False: there is no memory, or no room on the disk, for
 * them; to touch one would be a SIGBUS. Async-signal-safe. */
bool swz_make_present(char *start, uint64_t bytes);

#endif
