#ifndef SWZ_PROFILE_COSTS_HITS_H
#define SWZ_PROFILE_COSTS_HITS_H

/* Of samples: which places of a function they hit. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/costs/tree.h"
#include "profile/names/catalog.h"
#include "profile/support/map.h"

struct swz_hit {
	uint32_t function; /* of the catalog */
	uint32_t place;    /* of the catalog, known */
	uint64_t samples;
	int64_t self_ns; /* of the function's */
	int64_t self_waiting_ns;
};

struct swz_hits {
	bool wanted; /* to be set before anything is added, or nothing is */
	struct swz_hit *items;
	size_t count, capacity;
	struct swz_map index; /* (function, place) */
};

/* Whether a node is what hit the function of CALLER, its parent, itself. */
bool swz_hits_are_of(const struct swz_tree *tree,
		     const struct swz_tree_node *node);

/* The place that such a node's samples hit. */
uint32_t swz_hits_place(struct swz_binding *binding,
			const struct swz_tree_node *node);

/* Adds those of a thread that was added to the report. */
void swz_hits_add(struct swz_hits *hits, struct swz_binding *binding,
		  const struct swz_tree *tree);

/* Sorts them by function and place. */
void swz_hits_sort(struct swz_hits *hits);

void swz_hits_free(struct swz_hits *hits);

#endif
