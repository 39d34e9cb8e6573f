#ifndef SWZ_RUNTIME_SUPPORT_PRELOAD_H
#define SWZ_RUNTIME_SUPPORT_PRELOAD_H

#include <stdbool.h>

/* Whether LD_PRELOAD names us. */
bool swz_is_preloaded(char **envp);

/* Of a list as LD_PRELOAD has it (words between colons or spaces, ld.so(8)),
 * what names other libraries goes to OTHERS, which may be the list itself, and
 * the last word that names us to OURS (NULL: not wanted), which is empty if
 * none does. Each has room for all of the list. */
void swz_preload_split(const char *list, char *others, char *ours);

#endif
