#ifndef SWZ_RUNTIME_DISCOVERY_GAP_DOUBTS_H
#define SWZ_RUNTIME_DISCOVERY_GAP_DOUBTS_H

/* What lies between functions may look like a branch into a patch site and be
 * data: hand-written code has its constants there. It is, if nothing from
 * outside leads to any of it as to code, and something that comes before is
 * read. */

#include <stdatomic.h>

#include "runtime/discovery/function.h"
#include "runtime/discovery/references.h"
#include "thunks/relocate.h"

#define SWZ_MOST_DOUBTS 256u
#define SWZ_MOST_DOUBTED_LOADS 256u

struct swz_doubt {
	uint64_t pc;                  /* of what may be a branch */
	struct swz_function *entered; /* by it */
	struct swz_range gap;         /* that it lies in */
	uint64_t read;                /* the first that is read there */
	bool is_code;                 /* something leads there */
};

/* The address of something in such a gap is taken. */
struct swz_doubted_load {
	uint64_t pc, to;
};

/* Zeros at first. */
struct swz_doubts {
	atomic_uint count, load_count; /* may be more than there is room for */
	struct swz_doubt of[SWZ_MOST_DOUBTS];
	struct swz_doubted_load loads[SWZ_MOST_DOUBTED_LOADS];
};

/* Notes one, by any thread. False: there is no room. */
bool swz_doubt_note(struct swz_doubts *doubts, uint64_t pc,
		    struct swz_function *entered);

/* Marks, in SWZ_TEXT_MARKS, the gaps of those whose functions nothing else
 * enters. False: there are none. */
bool swz_doubts_mark(struct swz_doubts *doubts, struct swz_module *module);

/* Whether both addresses are in one of these gaps: then one is no reason to
 * take the other for code. */
bool swz_doubts_share_gap(const struct swz_doubts *doubts, uint64_t a,
			  uint64_t b);

/* Notes a load of an address in one, by any thread. False: there is no room. */
bool swz_doubted_load_note(struct swz_doubts *doubts, uint64_t pc, uint64_t to);

/* Settles them, when the marks have been taken back of what something from
 * outside leads to: functions that may be entered are said to be. */
void swz_doubts_settle(struct swz_doubts *doubts, struct swz_module *module,
		       struct swz_decoder *decoder);

#endif
