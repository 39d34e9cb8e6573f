#ifndef SWZ_RUNTIME_MODULE_LOADED_H
#define SWZ_RUNTIME_MODULE_LOADED_H

/* The modules that are there, in all namespaces, and the dormant ones: what has
 * been unloaded and may come back. Changed by one thread at a time, in events
 * of the dynamic linker (late.h). */

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"
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

/* What comes and goes is not known, or not any more. */
extern bool swz_loaded_out_of_date;

/* The number of modules that the profile has been told of: all indices are
 * less. */
extern uint32_t swz_loaded_recorded;

/* The table: what memory it needs, and where that is, all zero, for good. */
size_t swz_loaded_bytes(void);
void swz_loaded_begin(void *room);

/* A free place, all zero, which counts when it is set present. NULL: none. */
struct swz_loaded *swz_loaded_new(void);
void swz_loaded_set_present(struct swz_loaded *l);

/* The one that is present, or NULL. */
struct swz_loaded *swz_loaded_find(const struct link_map *map);

/* Those of one state, one after the other, from NULL to NULL. */
struct swz_loaded *swz_loaded_next(struct swz_loaded *after,
				   enum swz_loaded_state state);

/* The module that an address is in, in any namespace; *end is its end. NULL:
 * none. Takes no lock; async-signal-safe. False: this is not known here. */
bool swz_loaded_map_at(uint64_t address, const struct link_map **map,
		       uint64_t *end);

/* By this a module is known again when it comes back. */
uint64_t swz_loaded_identity(const struct swz_module *module);
struct swz_loaded *swz_loaded_find_dormant(const struct swz_module *module,
					   uint64_t identity);

#endif
