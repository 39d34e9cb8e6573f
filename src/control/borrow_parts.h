#ifndef SWZ_CONTROL_BORROW_PARTS_H
#define SWZ_CONTROL_BORROW_PARTS_H

/* What the files that borrow threads share. */

#include <stdbool.h>
#include <stdint.h>

#include "control/borrow.h"

/* Where struct swz_stub_data lies in the region. */
#define SWZ_REGION_DATA UINT64_C(4096)
/* How long a borrowed thread may take. */
#define SWZ_BORROW_RETURN_NS UINT64_C(30000000000)

extern const uint8_t swz_stub_call[], swz_stub_call_end[];

/* Has some thread make a system call, in the gap. What it does must show: until
 * IS_DONE says so. False: it does not, or ->problem. */
bool swz_borrow_system(struct swz_borrower *borrower, long number,
		       const uint64_t arguments[6],
		       bool (*is_done)(struct swz_borrower *));

#endif
