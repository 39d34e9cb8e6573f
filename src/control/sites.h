#ifndef SWZ_CONTROL_SITES_H
#define SWZ_CONTROL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/control.h"
#include "control/stop.h"
#include "control/target.h"

/* Patching and unpatching code of a process of which all threads are stopped.
 *
 *	swz_sites_read(&sites, &target, &control);
 *	swz_sites_copy_pages(&sites);		while it runs
 *	swz_stop_all(&stop, ...);
 *	swz_sites_are_free(&sites, &stop, false);
 *	swz_sites_write(&sites, &place, until_ns);	... and go on later
 *	swz_stop_end(&stop);
 *
 * Each page is written at once, in the order of the sites' phases. So threads
 * may run on in between, and who is killed leaves a process that runs right:
 * with some functions patched. Doing the same again, or undoing it, makes it
 * whole. */

struct swz_sites {
	const struct swz_target *target;
	struct swz_control_site *list; /* sorted by address */
	uint32_t *places;              /* where in the target's table each is */
	size_t count;
	uint64_t table;   /* the target's */
	uint64_t changes; /* of that, when it was read */
	size_t skipped;   /* functions in which a thread stood */
};

/* How far the sites are written, or restored. */
struct swz_sites_place {
	unsigned step; /* phases that are done */
	size_t index;  /* in the list, of the next one */
};

/* False: there is no memory of the target where they should be. */
bool swz_sites_read(struct swz_sites *sites, const struct swz_target *target,
		    const struct swz_control *control);
void swz_sites_free(struct swz_sites *sites);

/* Writes the bytes that are there: the kernel makes the process's own copies of
 * the pages, which takes most of the time of patching. */
void swz_sites_copy_pages(const struct swz_sites *sites);

/* True if no thread stands within a site, or will come back there from a
 * signal's handler. Marks those that do (swz_stop_move). With SKIP it leaves
 * such functions out and returns true. */
bool swz_sites_are_free(struct swz_sites *sites, struct swz_stop *stop,
			bool skip);

/* Before sites are restored: leads threads that stand at the beginning of an
 * island on to where it leads. */
void swz_sites_leave_islands(const struct swz_sites *sites,
			     struct swz_stop *stop);

/* Writes what is to be there, from *PLACE on (at first zeros), until the clock
 * says UNTIL_NS; what belongs to the dynamic linker in any case. False: memory
 * could not be written. */
bool swz_sites_write(const struct swz_sites *sites,
		     struct swz_sites_place *place, uint64_t until_ns);
bool swz_sites_are_written(const struct swz_sites_place *place);

/* Writes what was there before, where nobody else has written, of the sites at
 * functions' beginnings. Threads run on with the others as long as a frame may
 * be hooked: what a function reads of its own return address, inner sites have
 * made right. */
bool swz_sites_restore(const struct swz_sites *sites,
		       struct swz_sites_place *place, uint64_t until_ns);
bool swz_sites_are_restored(const struct swz_sites_place *place);

/* While it runs: leaves in the list what swz_sites_restore leaves, and what has
 * been patched since. */
void swz_sites_keep_written(struct swz_sites *sites);

/* Takes what stays while recording is stopped out of the list. */
void swz_sites_leave_what_stays(struct swz_sites *sites);

/* Before they are written again: what was left out the last time is not, but
 * for functions that hold a call and have been restored. */
void swz_sites_skip_again(struct swz_sites *sites);

/* How many functions are left out. */
size_t swz_sites_left_out(const struct swz_sites *sites);

/* Restores all that is in the list. */
bool swz_sites_restore_rest(const struct swz_sites *sites);

#endif
