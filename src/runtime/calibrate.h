#ifndef SWZ_RUNTIME_CALIBRATE_H
#define SWZ_RUNTIME_CALIBRATE_H

/* Measures what a hooked call costs, by calling an empty function of our own
 * through a real trampoline, and stores it in the profile's header. The calls
 * leave no trace in the profile. The calling thread must be set up. */
void swz_calibrate(void);

#endif
