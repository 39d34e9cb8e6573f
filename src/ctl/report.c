#include "ctl/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/hooks.h"
#include "profile/support/output.h"
#include "top/processes.h"

static const char *state_of(const struct swz_live_profile *profile)
{
	if (!profile->request->ready)
		return "starting";
	switch (swz_live_state(profile)) {
	case SWZ_REQUEST_PAUSE:
		return "stopped";
	case SWZ_REQUEST_DETACH:
		return "detached";
	default:
		return "recording";
	}
}

static const char *mode_of(const struct swz_file_header *header)
{
	return header->flags & SWZ_FILE_TRACED ? "trace" : "profile";
}

/* By the header's samples of the clock; 0: not known. */
static double ticks_per_second(const struct swz_file_header *header)
{
	const struct swz_clock_sample *from = &header->clock[0];
	const struct swz_clock_sample *to = &header->clock[1];

	if (header->clock[2].ticks > to->ticks)
		to = &header->clock[2];
	if (to->ticks <= from->ticks || to->monotonic_ns <= from->monotonic_ns)
		return 0;
	return (double)(to->ticks - from->ticks) * 1e9 /
	       (double)(to->monotonic_ns - from->monotonic_ns);
}

/* For how long it has been so. */
static double seconds_since(const struct swz_live_profile *profile,
			    uint64_t ticks)
{
	double rate = ticks_per_second(profile->header);
	uint64_t now = swz_live_ticks();

	if (!ticks)
		ticks = profile->header->start_ticks;
	return rate > 0 && now > ticks ? (double)(now - ticks) / rate : 0;
}

static double in_state(const struct swz_live_profile *profile)
{
	return seconds_since(profile, profile->request->changed_ticks);
}

void swz_ctl_report_begin(FILE *stream, const struct swz_ctl_options *options)
{
	if (options->json)
		putc('[', stream);
	else if (options->command == SWZ_CTL_LIST)
		fprintf(stream, "%8s %-9s %10s %-7s %15s  %-15s  %s\n", "pid",
			"state", "since, s", "mode", "calls", "name",
			"profile");
}

void swz_ctl_report_end(FILE *stream, const struct swz_ctl_options *options)
{
	if (options->json)
		fputs("\n]\n", stream);
}

static const char *hooks_word(enum swz_ctl_hooks hooks)
{
	switch (hooks) {
	case SWZ_CTL_HOOKED:
		return "in place";
	case SWZ_CTL_NATIVE:
		return "out";
	default:
		return "partly";
	}
}

static const char *hooks_text(enum swz_ctl_hooks hooks,
			      enum swz_request_state state)
{
	bool stopped = state != SWZ_REQUEST_RECORD;

	switch (hooks) {
	case SWZ_CTL_HOOKED:
		return stopped ? "in place: a call costs about 4 ns"
			       : "in place";
	case SWZ_CTL_NATIVE:
		return stopped ? "out of the code: calls are native"
			       : "out of the code: start it by swizzle-ctl";
	default:
		return "partly in place: start or stop it again";
	}
}

static void put_json(FILE *stream, const struct swz_ctl_process *process,
		     const struct swz_live_profile *profile, bool first)
{
	const struct swz_file_header *header = profile->header;
	struct swz_live_counts counts = swz_live_count(profile);
	char *command = swz_top_process_command(process->pid);
	struct swz_ctl_hooks_state hooks = swz_ctl_hooks_of(profile,
							    process->pid);

	fprintf(stream, "%s\n{\"pid\":%" PRId32 ",\"parent\":%" PRId32,
		first ? "" : ",", process->pid, process->parent);
	fputs(",\"name\":", stream);
	swz_put_json(stream, process->name);
	fputs(",\"command\":", stream);
	swz_put_json(stream, command);
	fputs(",\"profile\":", stream);
	swz_put_json(stream, profile->path);
	fprintf(stream,
		",\"mode\":\"%s\",\"state\":\"%s\",\"stateSeconds\":%.3f"
		",\"seconds\":%.3f,\"calls\":%" PRIu64 ",\"lostCalls\":%" PRIu64
		",\"threads\":%" PRIu64 ",\"bytes\":%" PRIu64
		",\"limitBytes\":%" PRIu64
		",\"hooks\":\"%s\",\"leftOut\":%" PRIu32 ",\"lasting\":%" PRIu32
		"}",
		mode_of(header), state_of(profile), in_state(profile),
		seconds_since(profile, 0), counts.calls, header->lost_calls,
		counts.threads, swz_live_used(profile), header->limit_bytes,
		hooks_word(hooks.hooks), hooks.left_out, hooks.lasting);
	free(command);
}

static void put_row(FILE *stream, const struct swz_ctl_process *process,
		    const struct swz_live_profile *profile)
{
	fprintf(stream, "%8" PRId32 " %-9s %10.1f %-7s %15" PRIu64 "  ",
		process->pid, state_of(profile), in_state(profile),
		mode_of(profile->header), swz_live_count(profile).calls);
	swz_put_text(stream, process->name);
	fprintf(stream, "%*s", (int)(17 - strlen(process->name)), "");
	swz_put_text(stream, profile->path);
	putc('\n', stream);
}

static void put_status(FILE *stream, const struct swz_ctl_process *process,
		       const struct swz_live_profile *profile, bool first)
{
	const struct swz_file_header *header = profile->header;
	enum swz_request_state state = swz_live_state(profile);
	struct swz_live_counts counts = swz_live_count(profile);
	char *command = swz_top_process_command(process->pid);
	struct swz_ctl_hooks_state hooks = swz_ctl_hooks_of(profile,
							    process->pid);

	fprintf(stream, "%spid: %" PRId32 "\ncommand: ", first ? "" : "\n",
		process->pid);
	swz_put_text(stream, command);
	fputs("\nprofile: ", stream);
	swz_put_text(stream, profile->path);
	fprintf(stream, "\nmode: %s\nstate: %s for %.1f s\n", mode_of(header),
		state_of(profile), in_state(profile));
	fprintf(stream, "hooks: %s\n", hooks_text(hooks.hooks, state));
	if (hooks.hooks == SWZ_CTL_NATIVE && hooks.lasting)
		fprintf(stream,
			"jumps that stay, and lead past their hooks: %" PRIu32
			"\n",
			hooks.lasting);
	if (hooks.left_out)
		fprintf(stream,
			"functions left out since it was started again: "
			"%" PRIu32 "\n",
			hooks.left_out);
	fprintf(stream,
		"profiled for: %.1f s\ncalls: %" PRIu64 "\nlost calls: %" PRIu64
		"\nthreads: %" PRIu64 "\nused: %" PRIu64 " of %" PRIu64
		" bytes\n",
		seconds_since(profile, 0), counts.calls, header->lost_calls,
		counts.threads, swz_live_used(profile), header->limit_bytes);
	free(command);
}

void swz_ctl_report(FILE *stream, const struct swz_ctl_options *options,
		    const struct swz_ctl_process *process,
		    const struct swz_live_profile *profile, bool first)
{
	if (options->json)
		put_json(stream, process, profile, first);
	else if (options->command == SWZ_CTL_LIST)
		put_row(stream, process, profile);
	else
		put_status(stream, process, profile, first);
}
