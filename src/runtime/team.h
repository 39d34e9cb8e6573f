#ifndef SWZ_RUNTIME_TEAM_H
#define SWZ_RUNTIME_TEAM_H

/* Threads that share the work of planning, on processors that the program's one
 * thread leaves idle. Only at the start, before anything of the program runs:
 * when a team has ended nothing is left of it. Its threads have no thread-local
 * storage and no signals. */

#include <stdint.h>

#define SWZ_MOST_MEMBERS 8u

/* Part number `part` of something, by member number `member`. What parts have
 * written is there when all have been done. */
typedef void swz_team_work(void *context, unsigned part, unsigned member);

/* Starts threads, if that is worth while for planning so many bytes of text,
 * and nothing speaks against it: there are other processors, and no seccomp
 * filter, which might kill for it, and nobody traces the process. */
void swz_team_begin(uint64_t text_bytes);

/* How many members there are, the caller included. */
unsigned swz_team_members(void);

/* Has all parts done, by all members or by the caller alone (number 0). Not
 * from within a part. */
void swz_team_run(swz_team_work *work, void *context, unsigned parts);

void swz_team_end(void);

#endif
