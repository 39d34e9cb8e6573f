#ifndef SWZ_CONTROL_OUR_CODE_H
#define SWZ_CONTROL_OUR_CODE_H

/* Whether a thread executes code of the library's: hooks, thunks, trampolines.
 */

#include <stdbool.h>

#include "control/attached.h"

/* The code that the library has made, ->control.code_count of them; NULL: it
 * cannot be read. To be freed. */
struct swz_control_code *swz_our_code_read(const struct swz_attached *attached);

/* Whether a thread that is stopped does, or will when it returns from a
 * signal's handler. */
bool swz_is_in_us(const struct swz_attached *attached,
		  const struct swz_control_code *code,
		  const struct swz_stopped *thread);

/* While all threads are stopped: none does. Those that are in a hook are let
 * run until they have left it, as far as that is soon. */
bool swz_nobody_stays_in_us(const struct swz_attached *attached,
			    const struct swz_control_code *code,
			    struct swz_stop *stop);

#endif
