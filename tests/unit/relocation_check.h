#ifndef SWZ_TESTS_RELOCATION_CHECK_H
#define SWZ_TESTS_RELOCATION_CHECK_H

/* A second opinion on swz_relocate, for inputs that nobody wrote an answer
 * for: decodes original and copy side by side. */

#include "thunks/relocate.h"

/* Returns what is wrong with an accepted relocation, or NULL. */
const char *relocation_fault(struct swz_decoder *decoder, struct swz_bytes code,
			     uint64_t from, unsigned wanted, uint64_t to,
			     const uint8_t *out,
			     const struct swz_relocation *relocation);

#endif
