#ifndef SWZ_RUNTIME_RECORD_FILE_VALUES_H
#define SWZ_RUNTIME_RECORD_FILE_VALUES_H

/* What file descriptors stand for, as values of calls (swizzle/values.h). The
 * kernel is asked each time: a descriptor may be closed and used again where no
 * hook sees it, so nothing is kept by its number. All are async-signal-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/values.h"

/* fstat of the descriptor; of one that is not open all is 0 but its number. */
void swz_file_value_read(int32_t fd, struct swz_file_value *value);

/* Sockets that a thread has met, by inode; zeros at the start. One that gives
 * way to another is met anew. */
struct swz_met_sockets {
	uint64_t inodes[64]; /* a power of two */
};

/* Whether the value is a socket that has to be described: it was not met yet.
 * If it has a peer by now, it is met from now on, and *SOCKET is filled. */
bool swz_socket_is_new(struct swz_met_sockets *met,
		       const struct swz_file_value *value,
		       struct swz_socket_value *socket);

#endif
