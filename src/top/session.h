#ifndef SWZ_TOP_SESSION_H
#define SWZ_TOP_SESSION_H

/* What swizzle-top watches, from its begin to its end: it decides whether
 * samples are taken or profiles are read, and fills the figures round by round.
 */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "top/live.h"
#include "top/options.h"
#include "top/sampler_process.h"
#include "top/started.h"

struct swz_top_session {
	struct swz_top_options options;
	struct swz_top_started started;
	int32_t pid; /* the first process */
	char *command;
	struct swz_live live;
	struct swz_top_sampler sampler;  /* live.samples */
	struct swz_live_source *sources; /* of exact counts */
	size_t source_count, source_capacity;
	char *profile; /* of the first process; NULL: samples are taken */
	struct swz_file_header run; /* of that: which run it belongs to */
	struct swz_intern paths;    /* of files that were looked at */
	struct swz_map seen;
	bool ended;     /* all that was watched has */
	bool restarted; /* profiles are read anew: what is in them is not recent
			 */
};

/* Starts the program, or looks at the process. Exits with a message if nothing
 * can be watched. */
void swz_top_session_begin(struct swz_top_session *session,
			   const struct swz_top_options *options, bool screen);

/* The same of process options->sampling.pid. False: *problem says why it cannot
 * be watched, to be freed; *status is what swizzle-top ends with then. */
bool swz_top_session_watch(struct swz_top_session *session,
			   const struct swz_top_options *options, int *status,
			   char **problem);

/* To be called often: notes that the program has ended, or is profiled. */
void swz_top_session_look(struct swz_top_session *session);

/* A round, in two steps: after the first it takes a moment until the second
 * can be done without waiting: until the descriptor that is returned can be
 * read; -1: now. */
int swz_top_session_ask(struct swz_top_session *session);
void swz_top_session_take(struct swz_top_session *session);

/* Figures of that thread alone from now on; 0, 0: of all again. */
void swz_top_session_only(struct swz_top_session *session, int32_t pid,
			  int32_t tid);

/* Whether all that is watched has ended, as far as that can be seen between
 * rounds. */
bool swz_top_session_has_ended(const struct swz_top_session *session);

/* Leaves; what runs goes on. */
void swz_top_session_end(struct swz_top_session *session);

#endif
