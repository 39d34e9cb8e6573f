#ifndef SWZ_TESTS_RUNTIME_THREAD_H
#define SWZ_TESTS_RUNTIME_THREAD_H

/* A thread as the runtime has it, in a profile that is plain memory: for unit
 * tests of src/runtime/hooks and src/runtime/record. Defines swz_file, the
 * arena and what else the sources under test find there. */

#include <stdint.h>

#include "runtime/record/thread.h"

enum {
	RUNTIME_UNITS = 4096, /* of the profile */
	RUNTIME_FUNCTIONS = 64
};

struct runtime_thread {
	struct swz_thread hot;
	struct swz_thread_cold cold;
	struct swz_thread_record record;
	struct swz_links links[RUNTIME_UNITS];
	uint32_t open[RUNTIME_FUNCTIONS];
	uint32_t blocks[64];
};

/* Empties the profile, and begins a thread whose context is its root. */
void runtime_begin(struct runtime_thread *thread);

/* A new node in the profile, of a context of its own. `parent`: a unit. */
struct swz_node *runtime_node(uint32_t function, uint32_t parent,
			      uint64_t call_site);

/* Makes the thunk the thread's latest: live, for a call of the node's edge at
 * that time, by a function that returns to `slot`. */
void runtime_enter(struct runtime_thread *thread, struct swz_thunk *thunk,
		   struct swz_node *node, uint64_t start, uint64_t *slot);

#endif
