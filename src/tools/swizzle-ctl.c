/* swizzle-ctl: stops and starts recording in programs that run under
 * swizzle-run, and takes snapshots and marks. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "ctl/ctl.h"
#include "options/command_line.h"

#define START_NS UINT64_C(60000000000) /* while a program is being planned */

static void say(const struct swz_ctl_process *process, const char *what)
{
	swz_complain("%d (%s): %s", (int)process->pid, process->name, what);
}

/* %p stands for the pid; of several processes each has a file of its own. */
static char *snapshot_path(const char *given, int32_t pid, bool several)
{
	const char *slash = strrchr(given, '/');
	const char *mark = strstr(slash ? slash : given, "%p");

	if (mark)
		return swz_print("%.*s%d%s", (int)(mark - given), given,
				 (int)pid, mark + 2);
	return several ? swz_print("%s.%d", given, (int)pid)
		       : swz_duplicate(given);
}

static bool take_snapshot(struct swz_live_profile *profile,
			  const struct swz_ctl_process *process,
			  const char *given, bool several)
{
	char *path = snapshot_path(given, process->pid, several);
	const char *slash = strrchr(path, '/');
	bool done = swz_snapshot_write(profile, process->pid, path);

	if (done)
		(void)swz_live_mark(profile, SWZ_MARK_SNAPSHOT,
				    slash ? slash + 1 : path);
	else
		say(process, profile->problem);
	free(path);
	return done;
}

static bool set(struct swz_live_profile *profile,
		const struct swz_ctl_process *process,
		enum swz_request_state state, bool verbose)
{
	enum swz_request_state old = swz_live_state(profile);
	char told[SWZ_CTL_TOLD_BYTES] = "";

	if (old == SWZ_REQUEST_DETACH && state != SWZ_REQUEST_DETACH) {
		say(process, "was detached: its profile is complete");
		return false;
	}
	if (state == SWZ_REQUEST_RECORD &&
	    !swz_ctl_hook(profile, process->pid, told)) {
		say(process, profile->problem);
		return false;
	}
	if (swz_live_set(profile, state) && state == SWZ_REQUEST_DETACH) {
		profile->header->end_ticks = swz_live_ticks();
		__atomic_fetch_or(&profile->header->flags, SWZ_FILE_ENDED,
				  __ATOMIC_RELEASE);
	}
	/* where that is not possible, the hooks heed the request */
	if (state != SWZ_REQUEST_RECORD)
		swz_ctl_unhook(profile, process->pid,
			       state == SWZ_REQUEST_DETACH, told);
	if (verbose && *told)
		say(process, told);
	return true;
}

/* False: it could not be done. */
static bool act(const struct swz_ctl_options *options,
		const struct swz_ctl_process *process, bool first, bool several)
{
	struct swz_live_profile profile;
	bool done = true;

	if (!swz_live_open(&profile, process)) {
		say(process, profile.problem);
		return false;
	}
	if (options->command != SWZ_CTL_LIST &&
	    options->command != SWZ_CTL_STATUS &&
	    !swz_live_wait_ready(&profile, process, START_NS)) {
		say(process, profile.problem);
		swz_live_close(&profile);
		return false;
	}
	switch (options->command) {
	case SWZ_CTL_LIST:
	case SWZ_CTL_STATUS:
		swz_ctl_report(stdout, options, process, &profile, first);
		break;
	case SWZ_CTL_START:
		done = set(&profile, process, SWZ_REQUEST_RECORD,
			   options->verbose);
		break;
	case SWZ_CTL_STOP:
		done = set(&profile, process, SWZ_REQUEST_PAUSE,
			   options->verbose);
		break;
	case SWZ_CTL_DETACH:
		done = set(&profile, process, SWZ_REQUEST_DETACH,
			   options->verbose);
		break;
	case SWZ_CTL_SNAPSHOT:
		done = take_snapshot(&profile, process, options->argument,
				     several);
		break;
	case SWZ_CTL_MARK:
		done = swz_live_mark(&profile, SWZ_MARK_TEXT,
				     options->argument);
		if (!done)
			say(process, profile.problem);
		break;
	}
	swz_live_close(&profile);
	return done;
}

/* Acts on all that are meant. *COUNT: how many there are. */
static bool act_on_all(const struct swz_ctl_options *options, size_t *count)
{
	struct swz_ctl_processes found;
	bool done = true, first = true;

	swz_ctl_processes_find(&found, options);
	for (size_t i = 0; i < found.count; i++) {
		done &= act(options, &found.list[i], first, found.count > 1);
		first = false;
	}
	done &= !found.missing;
	*count = found.count;
	swz_ctl_processes_free(&found);
	return done;
}

/* Until a signal comes, or nobody is there any more; or once. */
static bool act_in_periods(struct swz_ctl_options *options)
{
	struct swz_ctl_options stop = *options;
	bool done = true, goes_on = true;
	size_t count = 0;

	stop.command = SWZ_CTL_STOP;
	swz_periods_begin();
	for (uint64_t at = 0; goes_on; at += options->every_ns) {
		size_t left;

		done &= act_on_all(options, &count);
		if (!count)
			break;
		goes_on = swz_periods_wait(at + options->for_ns);
		done &= act_on_all(&stop, &left);
		if (!options->every_ns || !left)
			break;
		goes_on = goes_on && swz_periods_wait(at + options->every_ns);
	}
	return done && count;
}

int main(int argc, char **argv)
{
	struct swz_ctl_options options;
	bool reports, done;
	size_t count = 0;

	if (argc < 1)
		return 2;
	swz_keep_standard_descriptors(O_CLOEXEC);
	options = swz_ctl_options_read(argv);
	reports = options.command == SWZ_CTL_LIST ||
		  options.command == SWZ_CTL_STATUS;
	if (options.for_ns)
		return act_in_periods(&options) ? EXIT_SUCCESS : EXIT_FAILURE;
	if (reports)
		swz_ctl_report_begin(stdout, &options);
	done = act_on_all(&options, &count);
	if (reports)
		swz_ctl_report_end(stdout, &options);
	if (!count && options.command != SWZ_CTL_LIST && done) {
		fputs("swizzle: no process of yours is profiled\n", stderr);
		done = false;
	}
	if (fflush(stdout) != 0) {
		fprintf(stderr, "swizzle: standard output: %s\n",
			strerror(errno));
		done = false;
	}
	return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
