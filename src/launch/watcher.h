#ifndef SWZ_LAUNCH_WATCHER_H
#define SWZ_LAUNCH_WATCHER_H

/* A process prints the line that ends a run where the program could not: it was
 * killed, or executed what is not profiled. Then it sees to the profiles. The
 * watcher is no child of the program, is in a session of its own, and has one
 * descriptor besides standard error. */

#include "base/run_summary.h"

/* Starts it for the caller's process, which is about to execute the program, if
 * it can be had without the program noticing. Where standard error is a pipe or
 * a socket the watcher prints nothing: who reads there would wait for it.
 * Changes *RUN and the words of ARGV, in the watcher only, which calls
 * `afterwards` last, with the least priority. */
void swz_watcher_start(struct swz_run *run, char **argv,
		       void (*afterwards)(const struct swz_run *run));

#endif
