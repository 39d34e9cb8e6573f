#ifndef SWZ_TESTS_STACKS_CAPTURE_H
#define SWZ_TESTS_STACKS_CAPTURE_H

/* Runs a program, stops its threads and children at random moments, and gives
 * registers, stack and mappings. */

#include <sys/types.h>

#include "tests/stacks/truth.h"

struct captured {
	pid_t tid;
	struct swz_registers registers;
	struct swz_stack stack; /* its read function reads the process */
	const struct truth_mapping *mappings;
	size_t mapping_count;
	const bool *executable; /* of each mapping */
	bool maps_changed;      /* since the sample before */
};

/* Calls TAKE for at most MOST samples; the process stands still meanwhile.
 * STACK_BYTES of the stack are copied at most. What the program prints is lost,
 * but not its complaints. It is ended when there are enough. Returns how many
 * were taken. */
size_t capture(char **command, size_t most, size_t stack_bytes,
	       unsigned interval_us,
	       void (*take)(void *context, const struct captured *sample),
	       void *context);

#endif
