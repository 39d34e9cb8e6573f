#ifndef SWZ_CONTROL_CHECK_MACHINE_H
#define SWZ_CONTROL_CHECK_MACHINE_H

/* swizzle-run --check: what works on this machine, what does not and why, and
 * the command that would change it, on standard output. LIBRARY: the path of
 * libswizzle.so. Returns the exit status: 0, or 1 if something does not work.
 */
int swz_check_machine(const char *library);

#endif
