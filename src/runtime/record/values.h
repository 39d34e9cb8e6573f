#ifndef SWZ_RUNTIME_RECORD_VALUES_H
#define SWZ_RUNTIME_RECORD_VALUES_H

/* Arguments and results of calls, as they are recorded. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/record/thread.h"
#include "runtime/record/value_signatures.h"
#include "swizzle/values.h"

/* --- parts of values ------------------------------------------------------ */

/* The parts of arguments and results: read from registers and memory. */

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

/* Profile mode: of the arguments and results of each context the last ones, and
 * the smallest and largest of their numbers (struct swz_value_summary). A
 * summary is a chunk of its own, which only the context's thread writes to. All
 * are async-signal-safe. */

/* Before the first thread begins, once the signatures are known. */
enum swz_status swz_summaries_begin(void) SWZ_MUST_CHECK;

/* Arguments and results, as records beside the events of their calls (see
 * swizzle/values.h). Room is taken by a compare-and-exchange, as with events;
 * a record is marked whole when it is. Memory of the program is read by way of
 * the kernel: a bad pointer is a byte in the record, and nothing else.
 * Async-signal-safe. */

/* Registers in a hook: SLOT holds the return address; rax, rcx, rdx, rsi, rdi,
 * r8 and r9 lie below it in this order; vector and x87 registers are as in the
 * program. */

/* True if the checks of a call that is about to be entered hold, as far as
 * they can be decided: what cannot be read does. */
bool swz_values_hold(struct swz_thread *thread, const struct swz_captured *c,
		     const uint64_t *slot);

/* A call of the node has begun at TICKS (rdtsc). OWNER tells the activation:
 * its end has the same. */
void swz_values_enter(struct swz_thread *thread, const struct swz_captured *c,
		      uint32_t node, uint64_t ticks, const void *owner,
		      const uint64_t *slot);

/* It has returned. */
void swz_values_return(struct swz_thread *thread, const struct swz_captured *c,
		       uint32_t node, uint64_t ticks, const void *owner,
		       const uint64_t *slot);

/* An exception has ended it: with its header there, if it is one of C++. */
void swz_values_exception(struct swz_thread *thread, uint32_t node,
			  uint64_t ticks, const void *exception);

/* --flows: the calling thread, of which THREAD is a new state with a record and
 * a root, says which pthread_t it is. */
void swz_values_note_thread(struct swz_thread *thread);

/* The calling thread is about to execute a program; after vfork the state is
 * that of the parent's thread. */
void swz_values_note_exec(struct swz_thread *thread);

/* A thread's state begins anew, also in a forked child: what it had is not
 * its own. */
void swz_values_forget(struct swz_thread_cold *cold);

/* The thread's record is a new one's; its chunk is full as it is. */
void swz_values_begin_thread(struct swz_thread_cold *cold);

#endif
