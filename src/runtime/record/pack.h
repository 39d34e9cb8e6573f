#ifndef SWZ_RUNTIME_RECORD_PACK_H
#define SWZ_RUNTIME_RECORD_PACK_H

/* Packs the events that a thread has recorded, some pages at a time, while they
 * are in the cache yet: mostly to an eighth of their bytes, which would cost
 * the kernel's making of pages of a file and the disk's time, much more than
 * packing. How: swizzle/format.h. */

#include <stdint.h>

#include "swizzle/format.h"

struct swz_packer;

enum swz_packing {
	SWZ_PACKING_DONE, /* all of the chunk is packed, and may be reused */
	SWZ_PACKING_HELD, /* from some page on it has to stay as it is: an
			   * event is yet to be written */
	SWZ_PACKING_FULL /* there is no room; all pages are valid as they are */
};

/* Memory for the thread that calls it; NULL if it is refused. */
struct swz_packer *swz_packer_new(void);

/* For another thread, or in another file. */
void swz_packer_restart(struct swz_packer *packer);

/* In a forked child: what it was filling is the parent's. */
void swz_packer_forget(struct swz_packer *packer);

/* Packs a chunk of events of the thread `owner`, the one after that of the last
 * call. Signals must be blocked. Whoever is killed in the midst of it leaves a
 * file from which each event is read once. */
enum swz_packing swz_pack(struct swz_packer *packer, struct swz_chunk *events,
			  uint32_t owner);

#endif
