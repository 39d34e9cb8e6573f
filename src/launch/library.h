#ifndef SWZ_LAUNCH_LIBRARY_H
#define SWZ_LAUNCH_LIBRARY_H

/* The files installed with swizzle-run (libswizzle.so, swizzle-dump), and what
 * they are told in the environment. */

#include <stdbool.h>
#include <sys/types.h>

/* Its path; `argument` is what swizzle-run was called by. Dies if it is not
 * there, or cannot be named in LD_PRELOAD. */
const char *swz_library_find(const char *argument);

/* The path of swizzle-dump, in the same folder. */
char *swz_dump_find(const char *argument);

/* Makes the dynamic linker load it, before what it is to load already. Returns
 * whether it was among that. */
bool swz_library_preload(const char *library);

/* --off: where swizzle-ctl will not be permitted to trace the program, its
 * functions must be hooked from the start, and the library is told so
 * (SWIZZLE_OFF=hooked). To be called by what the program will be. */
void swz_off_prepare(void);

/* --config: what of the configuration file is for recording. */

/* Reads the file of --config, or those that there are, and adds what they leave
 * out to the environment's patterns. Dies where a file is wrong. */
void swz_configuration_apply(void);

/* --args: starts swizzle-dump beside the process ROOT, which reads debug
 * information for libswizzle.so (swizzle/signature_exchange.h), and says in the
 * environment where. Where it would become a child of the program, there are
 * the functions of the program at PATH alone. Nothing without --args. Dies
 * where that does not go. ARGV0 is our own name. */
void swz_signatures_prepare(const char *path, const char *argv0, pid_t root);

#endif
