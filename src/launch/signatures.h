#ifndef SWZ_LAUNCH_SIGNATURES_H
#define SWZ_LAUNCH_SIGNATURES_H

#include <sys/types.h>

/* --args: starts swizzle-dump beside the process ROOT, which reads debug
 * information for libswizzle.so (swizzle/signature_exchange.h), and says in the
 * environment where. Where it would become a child of the program, there are
 * the functions of the program at PATH alone. Nothing without --args. Dies
 * where that does not go. ARGV0 is our own name. */
void swz_signatures_prepare(const char *path, const char *argv0, pid_t root);

#endif
