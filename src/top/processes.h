#ifndef SWZ_TOP_PROCESSES_H
#define SWZ_TOP_PROCESSES_H

/* Processes, and the profiles that libswizzle.so writes in them. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* The profile of calls that a process writes now: its path, to be freed. NULL:
 * it writes none, or one that cannot be got at. */
char *swz_top_profile_of(int32_t pid);

/* The header of a profile of calls. False: the file is none. */
bool swz_top_profile_header(const char *path, struct swz_file_header *header);

/* Calls VISIT for each file in the folder of a profile. */
void swz_top_profiles_beside(const char *profile,
			     void (*visit)(void *context, const char *path),
			     void *context);

/* The command line of a process, with blanks between its words; its name where
 * there is none. To be freed. */
char *swz_top_process_command(int32_t pid);

#endif
