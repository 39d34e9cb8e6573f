#ifndef SWZ_LAUNCH_OFF_H
#define SWZ_LAUNCH_OFF_H

/* --off: where swizzle-ctl will not be permitted to trace the program, its
 * functions must be hooked from the start, and the library is told so
 * (SWIZZLE_OFF=hooked). To be called by what the program will be. */
void swz_off_prepare(void);

#endif
