#ifndef SWZ_RUNTIME_HOOKS_HOOK_CHOICE_H
#define SWZ_RUNTIME_HOOKS_HOOK_CHOICE_H

#include "thunks/trampoline.h"

/* Decides where return thunks go. When the mode is known, and none is made. */
void swz_hooks_begin(void);

/* The entry hooks that trampolines lead to, by the mode and by whether there
 * are filters. When both are known. */
const struct swz_hooks *swz_hooks_choose(void);

#endif
