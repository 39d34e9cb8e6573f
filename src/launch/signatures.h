#ifndef SWZ_LAUNCH_SIGNATURES_H
#define SWZ_LAUNCH_SIGNATURES_H

/* --args: has swizzle-dump read the debug information of the program at PATH
 * for the functions that match the option's patterns, and leaves what it finds
 * open for libswizzle.so, which closes it. Dies where there is nothing. ARGV0
 * is our own name. */
void swz_signatures_prepare(const char *path, const char *argv0);

#endif
