#ifndef SWZ_RUNTIME_LOADED_H
#define SWZ_RUNTIME_LOADED_H

/* The modules that are there, in all namespaces, and the dormant ones: what has
 * been unloaded and may come back. Changed by one thread at a time, in events
 * of the dynamic linker (late.h). */

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/module.h"
#include "swizzle/format.h"

enum swz_loaded_state {
	SWZ_LOADED_FREE,
	SWZ_LOADED_PRESENT,
	SWZ_LOADED_DORMANT
};

struct swz_loaded {
	_Atomic enum swz_loaded_state state; /* stored last, with release */
	const struct link_map *map;
	uint64_t load_bias;
	uint64_t start, end;
	uint64_t identity; /* of file and text */
	uint32_t seen;     /* at which event */
	uint32_t index;    /* in the profile */
	bool recorded;
	bool own_unwinder;
	struct swz_trampolines trampolines;
	struct swz_loaded_site *sites; /* where jumps were written */
	uint32_t site_count;
	/* in the profile of process `pid` */
	int32_t pid;
	struct swz_module_record *record;
};

/* Makes the table. False: there is no memory. */
bool swz_loaded_begin(void) SWZ_MUST_CHECK;

/* A free place, all zero, which counts when it is set present. NULL: none. */
struct swz_loaded *swz_loaded_new(void);
void swz_loaded_set_present(struct swz_loaded *l);

/* The one that is present, or NULL. */
struct swz_loaded *swz_loaded_find(const struct link_map *map);

/* Those that are present, one after the other, from NULL to NULL. */
struct swz_loaded *swz_loaded_next(struct swz_loaded *after);

/* See swz_late_map_at. */
bool swz_loaded_map_at(uint64_t address, const struct link_map **map,
		       uint64_t *end);

/* By this a module is known again when it comes back. */
uint64_t swz_loaded_identity(const struct swz_module *module);
struct swz_loaded *swz_loaded_find_dormant(const struct swz_module *module,
					   uint64_t identity);

/* Its record in this process's profile (a forked child's is a copy, elsewhere
 * in its file), or NULL. */
struct swz_module_record *swz_loaded_record(struct swz_loaded *l);

/* Takes the module's trampolines over, and notes where their jumps belong.
 * False: there is no memory for that, and they must not be written. */
bool swz_loaded_keep_sites(struct swz_loaded *l,
			   const struct swz_module *module) SWZ_MUST_CHECK;

/* Writes the same jumps again; the text has its protection back in any case. */
void swz_loaded_patch_again(const struct swz_loaded *l,
			    const struct swz_module *module);

/* Forgets it, trampolines and all; and the dormant ones that have been so the
 * longest, if there are too many. */
void swz_loaded_drop(struct swz_loaded *l);
void swz_loaded_limit_dormant(void);

#endif
