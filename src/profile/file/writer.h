#ifndef SWZ_PROFILE_FILE_WRITER_H
#define SWZ_PROFILE_FILE_WRITER_H

#include <stdbool.h>

#include "swizzle/format.h"

/* Whether a process is writing the file behind FD. Its lock on the file says
 * so, or its number and start in the header. */
bool swz_has_writer(int fd, const struct swz_file_header *header);

/* A sampler writes the profile when the process has ended: waits until that is
 * done, some seconds at most. Returns whether there was something to wait for.
 */
bool swz_wait_for_sampler(const char *path);

/* Why the file did not grow to its bound, as a sentence without its end: "the
 * disk was full". NULL: it could. */
const char *swz_full_reason(const struct swz_file_header *header);

#endif
