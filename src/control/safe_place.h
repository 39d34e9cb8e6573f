#ifndef SWZ_CONTROL_SAFE_PLACE_H
#define SWZ_CONTROL_SAFE_PLACE_H

/* Where a thread may be borrowed to load a library: its stack leads neither
 * through the dynamic linker nor malloc, nor does it hold a lock of libc's; nor
 * has a signal interrupted it there. */

#include <stdbool.h>
#include <sys/user.h>

#include "control/target.h"

struct swz_safe_places;

struct swz_safe_places *swz_safe_places_of(const struct swz_target *target);
void swz_safe_places_free(struct swz_safe_places *places);

bool swz_place_is_safe(struct swz_safe_places *places,
		       const struct user_regs_struct *registers);

#endif
