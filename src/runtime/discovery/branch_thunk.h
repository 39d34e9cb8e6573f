#ifndef SWZ_RUNTIME_DISCOVERY_BRANCH_THUNK_H
#define SWZ_RUNTIME_DISCOVERY_BRANCH_THUNK_H

#include <stdbool.h>

#include "image/elf_view.h"

/* Whether the code is an indirect branch, or a return, in the form that leaves
 * the processor nothing to foresee (a retpoline, __x86_indirect_thunk_rax).
 * Pure.
 */
bool swz_is_branch_thunk(struct swz_bytes code);

#endif
