#ifndef SWZ_WATCH_JIT_FUNCTIONS_H
#define SWZ_WATCH_JIT_FUNCTIONS_H

/* The functions of an image that lie in no file. */

#include "watch/image.h"

/* That of a script, a file's path, which begins on that line. */
uint32_t swz_script_function(struct swz_image *image, const char *name,
			     const char *script, uint32_t line);

/* The function that an address in no file lay in at that time. Who makes code
 * may tell its name much later: until then each address is a function. */
uint32_t swz_jit_function(struct swz_image *image, uint64_t pc,
			  uint64_t time_ns);

/* Gives all functions the names that are known now; those without become one.
 * Nodes that are the same by that become one, too. */
void swz_jit_functions_settle(struct swz_image *image);

#endif
