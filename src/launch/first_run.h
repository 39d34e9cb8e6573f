#ifndef SWZ_LAUNCH_FIRST_RUN_H
#define SWZ_LAUNCH_FIRST_RUN_H

/* `--mode both`: the command runs twice. The first run is a process of its own,
 * of which nothing is left in ours: no child, nothing in RUSAGE_CHILDREN. */

/* Dies if standard input can be read once only. */
void swz_first_run_check_input(void);

/* Has START executed in a new process, which executes the program and does not
 * return, waits for its end, and rewinds standard input. START calls
 * swz_first_run_executes() before the program. Signals that are sent to this
 * process meanwhile go on to the new one. Says how it has ended where that is
 * unusual. Exits as it did if START could not execute the program, or if the
 * user has ended it. */
void swz_first_run(void (*start)(void *), void *argument);
void swz_first_run_executes(void);

#endif
