#ifndef SWZ_CONTROL_REQUEST_H
#define SWZ_CONTROL_REQUEST_H

/* What the library gets to know, put into the target's memory. */

#include <stdbool.h>
#include <stdint.h>

#include "control/borrow.h"

/* Writes texts into the region. False: they are too long, or it cannot be
 * written. *library is where the library's path is; *request where the request
 * is, of which dlopen, dlclose and handle are still to be filled in. */
bool swz_request_write(const struct swz_borrower *borrower,
		       const char *library_path, char **environment,
		       uint64_t *library, uint64_t *request);

#endif
