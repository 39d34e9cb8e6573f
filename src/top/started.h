#ifndef SWZ_TOP_STARTED_H
#define SWZ_TOP_STARTED_H

/* The program that swizzle-top starts: its child. */

#include <stdbool.h>
#include <sys/types.h>

#include "top/program_output.h"

struct swz_top_started {
	pid_t pid; /* 0: none was started */
	int go;    /* closed: the program may begin; -1 */
	struct swz_program_output output;
	bool ended;
	int status; /* as exit statuses are: 128 and the signal */
};

/* Starts a process that waits before it executes PROGRAM. With HIDDEN the
 * screen has the terminal: what the program would write there goes to the file
 * OUTPUT (NULL: a temporary one), and the terminal is not its input. Dies
 * where the program cannot be had. */
void swz_top_start(struct swz_top_started *started, char **program, bool hidden,
		   const char *output);

/* Lets it execute the program. */
void swz_top_go(struct swz_top_started *started);

/* Notes its end, if it has ended. */
void swz_top_look(struct swz_top_started *started);

/* Waits until it has ended. SIGHUP, SIGINT and SIGTERM end swizzle-top
 * meanwhile. */
void swz_top_await(struct swz_top_started *started);

/* It never executed the program. */
void swz_top_give_up(struct swz_top_started *started);

#endif
