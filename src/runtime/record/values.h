#ifndef SWZ_RUNTIME_RECORD_VALUES_H
#define SWZ_RUNTIME_RECORD_VALUES_H

/* Arguments and results of calls, as they are recorded. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/basics.h"
#include "base/signature_exchange.h"
#include "runtime/record/thread.h"
#include "swizzle/format.h"
#include "swizzle/values.h"

/* --- what is recorded of which function ---------------------------------- */

/* The arguments and results that are recorded, of which functions. */

/* The functions of libc whose calls tell what woke what (--flows), and what is
 * recorded of each. They are hooked where they begin, in libc itself: so calls
 * from any library are seen, also those of libc's own (fwrite calls write). */

/* The number of the function with that name, or -1. */
int swz_flow_function_find(const char *name);

/* Signatures: what is recorded of a function's arguments and result. Read from
 * the options at start, then looked up by function id at each of its calls.
 * Nothing here changes while the hooks use it, but that ids of later libraries
 * are added. */

struct swz_captured {
	const struct swz_value_part *parts;
	uint16_t entry_parts, return_parts; /* those of the return behind */
	bool entry_vectors, return_vectors; /* some are in vector registers */
	bool return_x87;
	const struct swz_signature_module *module; /* NULL: of -A */
	uint32_t number; /* from 0, in the order of the options */
	uint32_t check_count;
	const struct swz_value_check *checks; /* whether a call is recorded */
	const char *text;                     /* that these refer to */
};

/* The patterns of -A, one a line, or NULL: number N of them belongs to
 * swz_captured number N. */
extern const char *swz_signature_patterns;

/* --args: what is recorded of a module's functions. */
struct swz_signature_module;

/* Asks the server for a module's; waits for the answer. NULL: nothing is to be
 * recorded of it by --args. What is returned stays. */
const struct swz_signature_module *swz_signatures_ask(
	const struct swz_exchange_module *module);

/* The signature of the function at an ELF address of the module, which may be
 * NULL: a number, or -1. */
int64_t swz_signature_at(const struct swz_signature_module *module,
			 uint64_t address);

/* Marks (struct swz_value_mark) of the function at an ELF address. */
uint32_t swz_signature_marks_at(const struct swz_signature_module *module,
				uint64_t address);

/* From now on the function has these marks. */
void swz_signatures_mark(uint32_t function, uint32_t bits);

/* The marks that the function has. Async-signal-safe. */
uint32_t swz_signature_marks_of(uint32_t function);

/* Why --args has found nothing in any module until now; NULL: it has, or is
 * not wanted. */
const char *swz_signatures_lack(void);

/* The number of what --flows or --prints records of libc's function NAME
 * (above); -1: nothing. */
int64_t swz_signature_of_libc(const char *name);

/* True if anything is to be recorded of any function. */
bool swz_signatures_are_wanted(void);

/* Reads the options. Before modules are planned. Returns NULL, or what is wrong
 * (a sentence for the user). */
const char *swz_signatures_read(void);

/* Makes the table of ids: once those of the start are known. */
enum swz_status swz_signatures_begin(void) SWZ_MUST_CHECK;

/* From now on the function's calls are looked up as those of this number of
 * -A, or of its module.
 * Returns false where there is no room for its id. */
bool swz_signatures_set(uint32_t function, uint32_t number,
			const struct swz_signature_module *module);

/* True if any function has values recorded. */
extern bool swz_capturing;

/* NULL: nothing is recorded of the function. Async-signal-safe. */
const struct swz_captured *swz_signature_of(uint32_t function);

/* The kind (enum swz_type_kind) of a part's type. Async-signal-safe. */
unsigned swz_signature_kind(const struct swz_captured *c, unsigned part);

/* True if it is one of -A. */
bool swz_signature_is_item(uint32_t number);

/* Writes the signatures of a module's functions: COUNT pairs of an id and a
 * number, of which the first ITEMS are of -A. SWZ_E_NOMEM: the profile is full.
 */
enum swz_status swz_signatures_record(const uint32_t (*pairs)[2],
				      uint32_t items, uint32_t count,
				      const struct swz_signature_module *of,
				      uint32_t module) SWZ_MUST_CHECK;

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
