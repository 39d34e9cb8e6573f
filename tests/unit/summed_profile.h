#ifndef SWZ_TESTS_SUMMED_PROFILE_H
#define SWZ_TESTS_SUMMED_PROFILE_H

/* A profile that a test makes up call by call, and what its costs add up to.
 * One tick is one ns; its first thread lives from tick 1000 to tick 2000, and a
 * hook takes 10 ns within what it measures and 4 outside. Functions 1 to 4 are
 * those of the module "prog". Contexts are numbered from the thread's root,
 * which is 0. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/costs/report.h"
#include "tests/unit/profile_builder.h"

#define SITE 0x401010 /* in function 1 */

/* Of a node: N activations that have not ended, and what one that began at TICK
 * has in the node's time until then. */
#define OPEN(n) ((uint32_t)(n) << SWZ_NODE_OPEN_SHIFT)
#define ENTRY(tick) (-(int64_t)((tick) + SWZ_TICKS_BIAS))

struct summed_profile {
	struct profile_builder builder;
	struct swz_profile *profile; /* from sum_up() on, like those below */
	struct swz_catalog catalog;
	struct swz_binding binding;
	struct swz_report report;
	uint32_t root; /* the unit of the first thread's root */
};

extern struct summed_profile sum;

/* Fixtures, around each test. */
void sum_begin(void);
void sum_end(void);

/* Calls from SITE that have all ended; TICKS and OUTER as stored. */
void sum_call(uint32_t node, uint32_t parent, uint32_t context,
	      uint32_t function, uint64_t calls, int64_t ticks, int64_t outer);
/* Valid until something is added. */
struct swz_node *sum_node(uint32_t index);

/* Adds up; checks on the way that the contexts have the same calls and times as
 * the functions, and that these are the total. COMPENSATE: less the cost of
 * hooks. */
void sum_up(bool compensate);

/* Of the function with an id, 0 for the time outside of all. */
uint32_t sum_index(uint32_t id); /* in the catalog */
struct swz_report_function sum_costs(uint32_t id);
/* All zeros where there is none. */
struct swz_report_edge sum_edge(uint32_t caller, uint32_t callee);

/* ns, of all functions */
int64_t sum_of_self(void);

#endif
