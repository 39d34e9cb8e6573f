#ifndef SWZ_RUNTIME_RECORD_ACTIVATION_H
#define SWZ_RUNTIME_RECORD_ACTIVATION_H

/* A node's activations: what is counted and added up when one begins and ends,
 * in the order in which the hooks do it (asm/x86_64/enter.S, exit.S). Times are
 * those of swz_now(), with what runtime/record/sampling.h puts into their low
 * bits. Async-signal-safe. */

#include <stdint.h>

#include "runtime/record/events.h"
#include "runtime/record/thread.h"

/* Counts a call whose time is that of an activation which goes on. */
void swz_activation_count(struct swz_thread *thread, struct swz_node *node);

/* Begins one; returns the callee's key. */
uint64_t swz_activation_enter(struct swz_thread *thread, struct swz_node *node,
			      uint64_t start);

/* The same for one that was entered, and counted, before. */
uint64_t swz_activation_resume(struct swz_thread *thread, struct swz_node *node,
			       uint64_t start);

/* Ends one; `how` is for the trace. */
void swz_activation_leave(struct swz_thread *thread, struct swz_node *node,
			  uint64_t start, uint64_t now,
			  enum swz_event_kind how);

#endif
