#ifndef SWZ_PROFILE_FILE_INDEX_H
#define SWZ_PROFILE_FILE_INDEX_H

/* What the records of a profile mean together. */

#include "profile/file/scan.h"

/* Sorts the records, drops those that are there twice, gives each thread its
 * nodes and events, and each function its module and name. */
void swz_profile_index(struct swz_scan *scan);

#endif
