#ifndef SWZ_PROFILE_FLOWS_FIND_H
#define SWZ_PROFILE_FLOWS_FIND_H

#include "profile/flows/flows.h"

/* Finds the flows between processes; NULL: none was recorded with --flows.
 * COUNT profiles, which must outlive the result. */
struct swz_flows *swz_flows_find(struct swz_profile *const *profiles,
				 size_t count);

#endif
