#ifndef SWZ_TOP_BATCH_H
#define SWZ_TOP_BATCH_H

/* swizzle-top -b. */

#include "top/session.h"

/* Prints round by round until all has ended, or so many rounds are over, or the
 * user wants it to end (SIGINT, SIGTERM, SIGHUP). False: standard output could
 * not be written. */
bool swz_top_batch(struct swz_top_session *session);

/* Prints the list of processes, once or options->rounds times, each after a
 * time of options->delay_ns, which the shares are of. The same is returned. */
bool swz_top_batch_list(const struct swz_top_options *options);

#endif
