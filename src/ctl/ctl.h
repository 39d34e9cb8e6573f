#ifndef SWZ_CTL_CTL_H
#define SWZ_CTL_CTL_H

/* The parts of swizzle-ctl. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options/command_line.h"
#include "swizzle/format.h"

/* --- the command line ----------------------------------------------------- */

enum swz_ctl_command {
	SWZ_CTL_LIST,
	SWZ_CTL_STATUS,
	SWZ_CTL_START,
	SWZ_CTL_STOP,
	SWZ_CTL_SNAPSHOT,
	SWZ_CTL_MARK,
	SWZ_CTL_DETACH
};

struct swz_ctl_options {
	enum swz_ctl_command command;
	const char *argument; /* of snapshot and mark */
	bool all;             /* processes of the user's */
	bool json;
	bool verbose;
	const char **names; /* NULL at the end */
	int32_t *trees;     /* 0 at the end: processes with what they started */
	int32_t *pids;      /* 0 at the end */
	uint64_t for_ns;    /* 0: not given */
	uint64_t every_ns;
};

/* Says what is wrong and exits, as it does for --help and --version. */
struct swz_ctl_options swz_ctl_options_read(char **argv);

extern const struct swz_option_table swz_ctl_option_table;

/* --- the processes that are meant ----------------------------------------- */

struct swz_ctl_process {
	int32_t pid, parent;
	char name[16];
	char *profile; /* its path; NULL: it is not profiled */
};

struct swz_ctl_processes {
	struct swz_ctl_process *list; /* profiled ones, by pid */
	size_t count, capacity;
	bool missing; /* some that were asked for are not there, or not
		       * profiled: that was said */
};

/* Finds those that the options name: the user's, or for root everybody's. To be
 * freed. */
void swz_ctl_processes_find(struct swz_ctl_processes *found,
			    const struct swz_ctl_options *options);
void swz_ctl_processes_free(struct swz_ctl_processes *found);

/* --- a profile that is being written ------------------------------------- */

/* The profile of a process that runs, opened by another one: it reads what is
 * there, changes the request (struct swz_request) and adds marks. */

struct swz_live_profile {
	const char *path;
	int fd;
	uint8_t *page;                  /* the header's, mapped */
	struct swz_file_header *header; /* in it */
	struct swz_request *request;    /* in it */
	char problem[256];
};

/* False: ->problem says why. To be closed if it is true. */
bool swz_live_open(struct swz_live_profile *profile,
		   const struct swz_ctl_process *process);
/* True if the program has begun. Before that its functions are being planned,
 * and nothing may be asked of it. Waits for that, NS at most. */
bool swz_live_wait_ready(struct swz_live_profile *profile,
			 const struct swz_ctl_process *process, uint64_t ns);

void swz_live_close(struct swz_live_profile *profile);

enum swz_request_state swz_live_state(const struct swz_live_profile *profile);

/* Asks for a state, and marks that. Returns whether it is another one than
 * before; of two who ask at once that is true for one. What is detached stays
 * so. */
bool swz_live_set(struct swz_live_profile *profile,
		  enum swz_request_state state);

/* Marks this moment. False: there is no room, ->problem says so. */
bool swz_live_mark(struct swz_live_profile *profile, enum swz_mark_kind kind,
		   const char *text);

/* This moment, as profiles have it (rdtsc). */
uint64_t swz_live_ticks(void);

/* --- hooks --------------------------------------------------------------- */

/* The hooks in a process's code: out of it while recording is stopped. That
 * takes ptrace(2); where it is not permitted they stay, and heed the request.
 */

/* Says for people what was done (-v); "": nothing was to be done. */
#define SWZ_CTL_TOLD_BYTES 512u

/* Before recording is started: they are put back, if they were taken out.
 * False: it cannot be done, and profile->problem says why. */
bool swz_ctl_hook(struct swz_live_profile *profile, int32_t pid,
		  char told[SWZ_CTL_TOLD_BYTES]);

/* When recording is stopped: takes them out, if that is possible; for good when
 * the profile is detached. */
void swz_ctl_unhook(struct swz_live_profile *profile, int32_t pid,
		    bool detached, char told[SWZ_CTL_TOLD_BYTES]);

/* --- snapshots ----------------------------------------------------------- */

/* A copy of a profile that is being written, as a profile of its own. */

/* Writes that of a process to PATH, where it appears complete or not at all.
 * False: ->problem. */
bool swz_snapshot_write(struct swz_live_profile *profile, int32_t pid,
			const char *path);

/* --- periods ------------------------------------------------------------- */

/* start --for TIME [--every TIME]. */

/* From here on SIGINT, SIGTERM and SIGHUP only end a wait. */
void swz_periods_begin(void);

/* Waits until NS after the last call of swz_periods_begin(), or until a signal.
 * False: a signal came, also before. */
bool swz_periods_wait(uint64_t ns);

/* --- status -------------------------------------------------------------- */

/* Facts that list and status print. */

void swz_ctl_report_begin(FILE *stream, const struct swz_ctl_options *options);
void swz_ctl_report(FILE *stream, const struct swz_ctl_options *options,
		    const struct swz_ctl_process *process,
		    const struct swz_live_profile *profile, bool first);
void swz_ctl_report_end(FILE *stream, const struct swz_ctl_options *options);

#endif
