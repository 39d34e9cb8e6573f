#ifndef SWZ_TOP_SESSION_H
#define SWZ_TOP_SESSION_H

/* The program's output goes to a file while the screen has the terminal: a file
 * of the user's choice or a temporary one. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/run_options.h"
#include "options/command_line.h"
#include "swizzle/format.h"
#include "top/live.h"

/* --- the command line --------------------------------------------------------
 */

/* swizzle-top's command line. */

struct swz_top_options {
	bool batch;
	uint64_t delay_ns;
	uint64_t rounds;           /* 0: without end */
	unsigned int min_percent;  /* of all hits */
	unsigned int back_percent; /* of a function's hits */
	bool offsets;              /* of calls in back traces */
	bool only_samples;
	bool event_given;
	bool script;                  /* functions of scripts alone */
	struct swz_sampling sampling; /* pid 0: there is a program, or a list
				       * of processes is to be shown */
	const char *output;           /* of the program: a file; NULL */
	char **program;
};

/* Says what is wrong and exits, as it does for --help and --version. */
struct swz_top_options swz_top_options_read(char **argv);

extern const struct swz_option_table swz_top_option_table;

/* Neither a program nor a process was named. */
bool swz_top_wants_list(const struct swz_top_options *options);

/* "2", "0.5", ".25" seconds. False: it is none of those, or out of range. */
bool swz_top_delay(const char *text, uint64_t *ns);

/* --- the process that takes samples --------------------------------------- */

/* The process that takes samples for swizzle-top. Names are looked up by
 * another one than samples are taken by, so that none is lost meanwhile.
 *
 * Samples come as profiles in a folder of their own: whoever asks for them gets
 * those of the time since it asked before. */

struct swz_top_sampler {
	pid_t pid;       /* 0: there is none */
	int ask, answer; /* pipes; -1 */
	char *folder;
	bool ended;        /* all that it samples has; or it has itself */
	char *why_pause;   /* NULL, or why it does not use perf */
	char problem[512]; /* what went wrong; "": nothing */
};

/* --- output of the program ----------------------------------------------- */

struct swz_program_output {
	char *path; /* NULL: the program does not write to the terminal */
	bool temporary;
};

/* The last lines in it, ended by NULL; to be freed as one. */
char **swz_program_output_lines(const struct swz_program_output *output);

/* The screen is gone. A temporary file whose program has ended is shown and
 * removed, unless it is long; of any other one it is said where it is. */
void swz_program_output_show(struct swz_program_output *output, bool ended);

/* --- a program that was started ------------------------------------------ */

/* The program that swizzle-top starts: its child. */

struct swz_top_started {
	pid_t pid; /* 0: none was started */
	int go;    /* closed: the program may begin; -1 */
	struct swz_program_output output;
	bool ended;
	int status; /* as exit statuses are: 128 and the signal */
};

/* Waits until it has ended. SIGHUP, SIGINT and SIGTERM end swizzle-top
 * meanwhile. */
void swz_top_await(struct swz_top_started *started);

/* --- a session ----------------------------------------------------------- */

/* A session is what swizzle-top watches, from begin to end. It decides whether
 * samples are taken or profiles are read, and fills the figures round by round.
 * */

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

/* Functions of scripts alone, or all of them again: figures begin anew. */
void swz_top_session_script(struct swz_top_session *s);

/* True if all that is watched has ended, as far as that can be seen between
 * rounds. */
bool swz_top_session_has_ended(const struct swz_top_session *session);

/* Leaves; what runs goes on. */
void swz_top_session_end(struct swz_top_session *session);

#endif
