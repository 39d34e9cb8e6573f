/* swizzle-top: where a program spends its time, while it runs. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/attach.h"
#include "launch/program.h"
#include "options/command_line.h"
#include "top/screen.h"
#include "top/session.h"
#include "util/output.h"

/* The terminal may not be ours if the program runs on. */
static void say_what_stays(struct swz_top_session *session)
{
	struct swz_top_started *started = &session->started;

	if (started->pid && !started->ended)
		swz_complain("%s runs on as process %d (to end it: kill %d)",
			     session->command, (int)started->pid,
			     (int)started->pid);
	swz_program_output_show(&started->output, started->ended);
}

static bool print(struct swz_top_session *session,
		  const struct swz_top_options *options)
{
	if (swz_top_wants_list(options) ? swz_top_batch_list(options)
					: swz_top_batch(session))
		return true;
	swz_complain("standard output: %s", strerror(errno));
	return false;
}

int main(int argc, char **argv)
{
	struct swz_top_options options;
	struct swz_top_session session = {.pid = 0};
	struct swz_terminal terminal;
	const char *problem = NULL;
	int status = EXIT_SUCCESS;

	if (argc < 1)
		return 2;
	swz_keep_standard_descriptors(O_CLOEXEC);
	swz_pause_calls_mend();
	options = swz_top_options_read(argv);
	if (!options.batch)
		problem = swz_terminal_open(&terminal,
					    *options.program != NULL);
	if (problem)
		swz_die(2,
			"no screen: %s. To print without one: swizzle-top -b",
			problem);
	if (!swz_top_wants_list(&options))
		swz_top_session_begin(&session, &options, !options.batch);
	if (!options.batch)
		swz_top_screen(&session, &options, &terminal);
	else if (!print(&session, &options))
		status = EXIT_FAILURE;
	if (session.sampler.problem[0]) {
		swz_complain("%s", session.sampler.problem);
		status = EXIT_FAILURE;
	}
	/* it may be about to end, where the sampler knows that first */
	if (!status && session.ended)
		swz_top_await(&session.started);
	if (!options.batch)
		say_what_stays(&session);
	if (!status && session.started.ended)
		status = session.started.status;
	swz_top_session_end(&session);
	return status;
}
