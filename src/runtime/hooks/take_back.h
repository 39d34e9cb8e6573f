#ifndef SWZ_RUNTIME_HOOKS_TAKE_BACK_H
#define SWZ_RUNTIME_HOOKS_TAKE_BACK_H

/* The end of recording in a process that goes on, while no thread runs, none
 * is in a hook, and no site is patched any more. */

#include <stdint.h>

/* Puts the real return addresses back where thunks' addresses lie. Returns how
 * many frames are left that could not be reached: they return by way of their
 * thunks. */
uint32_t swz_take_back_frames(void);

#endif
