#ifndef SWZ_RUNTIME_RECORD_FILE_MAPPING_H
#define SWZ_RUNTIME_RECORD_FILE_MAPPING_H

/* Where the profile is (runtime/record/file.h has the rest of it). */

#include "swizzle/format.h"

/* What one entry of the second level of page tables maps; a multiple of it lies
 * at a multiple of it. */
#define SWZ_HUGE_PAGE (2ul << 20)

/* The mapping; NULL while there is none. Its address never changes, also in a
 * forked child's own file. */
extern struct swz_file_header *swz_file;

#endif
