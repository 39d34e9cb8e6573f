#ifndef SWZ_BASE_FILE_BOUND_H
#define SWZ_BASE_FILE_BOUND_H

/* Why a profile had no room for all that was to be in it. */

#include <stdint.h>

/* In a few words, as in "3 events not traced (ulimit -f)". FULL and FLAGS are a
 * file header's; OPTION is the bound where nothing else was in the way. */
const char *swz_file_bound(uint32_t full, uint32_t flags, const char *option);

#endif
