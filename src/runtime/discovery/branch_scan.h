#ifndef SWZ_RUNTIME_DISCOVERY_BRANCH_SCAN_H
#define SWZ_RUNTIME_DISCOVERY_BRANCH_SCAN_H

/* The state of a scan for branches, for scan_branches.c, which finds what looks
 * like one, and branch_hits.c, which says what follows from it. */

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/discovery/function.h"
#include "runtime/discovery/readers.h"
#include "runtime/discovery/scan_gaps.h"
#include "runtime/support/decoders.h"
#include "thunks/decoder.h"

struct swz_branch_scan {
	struct swz_module *module;
	const struct swz_decoders *decoders;
	struct swz_readers readers;
	bool may_extend;      /* in the first pass */
	atomic_bool extended; /* some site, in the first pass */
	/* each in passes of its own, until nothing is found: what may be in the
	 * way of a patch; what jumps to one that was found to lead to a reader
	 * of return addresses; callers of functions that read return addresses
	 * above their own */
	enum { SWZ_OBSTACLES, SWZ_JUMPERS, SWZ_CALLERS } looks_for;
	atomic_bool found; /* one by which there may be more of those */
	bool unmarks; /* what leads to marked bytes takes back their marks, and
		       * nothing else */
};

/* A part of a text that is being scanned. Of functions it changes those whose
 * code lies in it, but for one flag of others that is only ever set. */
struct swz_part_scan {
	struct swz_branch_scan *scan;
	struct swz_module *module;
	struct swz_decoder *decoder;
	const struct swz_range *text;
	/* where decoding of the function around the last hit has come to */
	struct swz_function *around;
	uint64_t decoded;
	bool lost;
	struct swz_gap gap; /* between functions, likewise */
};

/* The bytes that no branch may enter: all of the jump but its first byte, and
 * that too where it is not the function's own first. */
static inline uint64_t swz_site_start(const struct swz_function *f)
{
	return f->start + f->site + (f->site ? 0 : 1);
}

static inline uint64_t swz_site_end(const struct swz_function *f)
{
	unsigned bytes = f->displace > SWZ_JUMP_BYTES ? f->displace
						      : SWZ_JUMP_BYTES;

	return f->start + f->site + bytes;
}

static inline bool swz_site_has(const struct swz_function *f, uint64_t address)
{
	return address >= swz_site_start(f) && address < swz_site_end(f);
}

static inline bool swz_reads_return(const struct swz_function *f)
{
	return f->reads_own || f->status == SWZ_REFUSE_READS_RETURN_SLOT ||
	       f->status == SWZ_REFUSE_RETURNS_TWICE;
}

/* A part of a function that calls one that reads the function's return
 * address. */
static inline bool swz_is_read_piece(const struct swz_function *f)
{
	return f->is_piece && f->status == SWZ_REFUSE_CALLEE_READS;
}

/* At `pc` there may be a branch to `target`, which is marked. */
void swz_branch_hit(struct swz_part_scan *part, uint64_t pc, uint64_t target);

/* The same where that is the function's first byte, to which calls lead, too.
 */
void swz_branch_hit_start(struct swz_part_scan *part, uint64_t pc,
			  uint64_t target);

#endif
