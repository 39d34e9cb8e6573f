#ifndef SWZ_THUNKS_UNHOOKED_H
#define SWZ_THUNKS_UNHOOKED_H

/* From a function, as its code is now, to the way past its hook. The controller
 * may take the hook out or put it in at any moment, while it has stopped all
 * threads (base/control.h): what is returned was right then, and leads on, but
 * it may be the function itself, which is hooked by now. */

/* The way past a function's hook, if it has one: its relocated prologue. NULL
 * for NULL. */
const void *swz_unhooked(const void *function);

/* What a function that leads to this wrapper does behind it; NULL: it does not
 * lead there. */
const void *swz_unwrapped(const void *function, void (*entry)(void));

#endif
