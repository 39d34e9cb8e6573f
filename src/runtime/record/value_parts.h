#ifndef SWZ_RUNTIME_RECORD_VALUE_PARTS_H
#define SWZ_RUNTIME_RECORD_VALUE_PARTS_H

/* The parts of arguments and results: read from registers and memory. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/values.h"

/* File descriptors, as values of calls (swizzle/values.h). The kernel is asked
 * each time: a descriptor may be closed and used again where no hook sees it,
 * so nothing is kept by its number. All are async-signal-safe. */

/* Sockets that a thread has met, by inode; zeros at the start. One that gives
 * way to another is met anew. */
struct swz_met_sockets {
	uint64_t inodes[64]; /* a power of two */
};

/* True if the value is a socket that has to be described: it was not met yet.
 * If it has a peer by now, it is met from now on, and *SOCKET is filled. */
bool swz_socket_is_new(struct swz_met_sockets *met,
		       const struct swz_file_value *value,
		       struct swz_socket_value *socket);

/* A record of values while it is put together: its parts are read from
 * registers, the stack and memory, one behind the other. Memory is read by way
 * of the kernel: what cannot be read is a mark in the record. All are
 * async-signal-safe. */

#define SWZ_MOST_PLACED 128u

/* A record that is put together. */
struct swz_recording {
	const uint64_t *slot;
	const uint64_t *kept; /* or NULL */
	uint64_t *keep;
	uint8_t *vectors, *x87;     /* or NULL */
	uint16_t *places;           /* of parts, in the bytes; or NULL */
	struct swz_file_value file; /* the latest of its; fd -1: none */
	/* The latest memory that was read: its address, where it lies in
	 * `bytes`, how much it is. */
	uint64_t object;
	size_t object_at, object_bytes;
	size_t used;
	_Alignas(8) uint8_t bytes[SWZ_MOST_VALUE_BYTES];
};

/* How many bytes from FROM on can be read, up to SIZE; they are copied. A page
 * that cannot be read ends it. */
size_t swz_recording_read(uint64_t from, void *to, size_t size);

/* A text that lies at FROM. If it ENDS it ends with a NUL byte, and LENGTH is
 * not looked at. */
void swz_recording_text(struct swz_recording *r, uint64_t from, uint64_t length,
			bool ends);

/* COUNT parts; where each one begins is in `places`, if there are any. */
void swz_recording_parts(struct swz_recording *r,
			 const struct swz_value_part *parts, unsigned count);

#endif
