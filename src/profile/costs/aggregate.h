#ifndef SWZ_PROFILE_COSTS_AGGREGATE_H
#define SWZ_PROFILE_COSTS_AGGREGATE_H

/* From context trees to a report. */

#include "profile/costs/report.h"
#include "profile/costs/tree.h"
#include "profile/names/catalog.h"

/* Adds a thread, and sets the tree's self_ns and below_ns. REPORT is
 * zero-initialised before the first; all threads of a report belong to bindings
 * of the same catalog. */
void swz_report_add(struct swz_report *report, struct swz_binding *binding,
		    struct swz_tree *tree);

#endif
