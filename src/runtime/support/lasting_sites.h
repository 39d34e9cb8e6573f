#ifndef SWZ_RUNTIME_SUPPORT_LASTING_SITES_H
#define SWZ_RUNTIME_SUPPORT_LASTING_SITES_H

/* Restores the sites that last (SWZ_SITE_LASTS), when nothing is hooked any
 * more and no other is about to change code. Counts in swizzle_control.lasting
 * the jumps that it has to leave: they lead past their hooks. */
void swz_lasting_sites_restore(void);

#endif
