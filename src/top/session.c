/* Exact counts are shown if the first process has a profile: then only the
 * profiles of its run count, since samples and calls do not add up. A program
 * that is started gets its profile a moment after its start (swizzle-top
 * swizzle-run PROGRAM), so it is looked for again and again. */

#include "top/session.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/process_start.h"
#include "launch/program.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"
#include "top/processes.h"
#include "watch/clock.h"
#include "watch/proc_task.h"
#include "watch/process_check.h"

/* Each thread has one for each processor, which the kernel makes one by one: in
 * a second some 40,000. */
#define MANY_COUNTERS 100000u

static void count(void *context, int32_t tid)
{
	(void)tid;
	++*(size_t *)context;
}

static void warn_of_threads(const struct swz_top_session *s)
{
	char path[64], threads[SWZ_FIGURE_BYTES];
	size_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	swz_proc_numbers(path, count, &found);
	if (found * (size_t)get_nprocs_conf() > MANY_COUNTERS)
		fprintf(stderr,
			"swizzle: process %d has %s threads: it takes a while "
			"until all are sampled\n",
			(int)s->pid, swz_figure_count(threads, found));
}

/* False: *problem says why not, *status is what swizzle-top ends with then. */
static bool use_samples(struct swz_top_session *s, int *status, char **problem)
{
	s->options.sampling.pid = s->pid;
	if (swz_top_sampler_start(&s->sampler, &s->options.sampling,
				  s->started.pid != 0))
		return true;
	if (!s->started.pid && !swz_process_runs(s->pid)) {
		*status = 2;
		*problem = swz_print("-p %d: the process has ended",
				     (int)s->pid);
	} else {
		*status = SWZ_CANNOT_RUN;
		*problem = swz_print("cannot sample process %d: %s",
				     (int)s->pid, s->sampler.problem);
	}
	return false;
}

static bool find_profile(struct swz_top_session *s)
{
	if (s->options.only_samples)
		return false;
	s->profile = swz_top_profile_of(s->pid);
	if (s->profile && swz_top_profile_header(s->profile, &s->run))
		return true;
	free(s->profile);
	s->profile = NULL;
	return false;
}

static void zero(struct swz_top_session *s,
		 const struct swz_top_options *options)
{
	*s = (struct swz_top_session){.options = *options,
				      .pid = options->sampling.pid};
	s->sampler.ask = s->sampler.answer = -1;
}

static void start_program(struct swz_top_session *s, bool screen)
{
	char *problem;
	int status;

	swz_top_start(&s->started, s->options.program, screen,
		      s->options.output);
	s->pid = s->started.pid;
	swz_live_begin(&s->live, true, swz_watch_now());
	if (!use_samples(s, &status, &problem)) {
		swz_top_give_up(&s->started);
		swz_die(status, "%s", problem);
	}
	swz_top_go(&s->started);
	s->command = swz_duplicate(*s->options.program);
}

bool swz_top_session_watch(struct swz_top_session *s,
			   const struct swz_top_options *options, int *status,
			   char **problem)
{
	bool exact;

	zero(s, options);
	*problem = swz_process_refused(s->pid, "swizzle-top");
	if (!*problem)
		*problem = swz_process_program_refused(s->pid);
	if (*problem) {
		*status = swz_process_runs(s->pid) ? SWZ_CANNOT_RUN : 2;
		return false;
	}
	exact = find_profile(s);
	swz_live_begin(&s->live, !exact, swz_watch_now());
	if (!exact && !use_samples(s, status, problem)) {
		swz_top_session_end(s);
		zero(s, options);
		return false;
	}
	s->command = swz_top_process_command(s->pid);
	return true;
}

void swz_top_session_begin(struct swz_top_session *s,
			   const struct swz_top_options *options, bool screen)
{
	char *problem;
	int status;

	zero(s, options);
	if (!s->pid) {
		start_program(s, screen);
		return;
	}
	warn_of_threads(s);
	if (!swz_top_session_watch(s, options, &status, &problem))
		swz_die(status, "%s", problem);
}

/* ------------------------------------------------------------- exact counts */

static void add_source(struct swz_top_session *s, const char *path,
		       const struct swz_file_header *header)
{
	swz_grow(&s->sources, &s->source_capacity, s->source_count,
		 sizeof(*s->sources));
	s->sources[s->source_count++] = (struct swz_live_source){
		.pid = (int32_t)header->pid,
		.path = swz_duplicate(path),
		.process_start = header->process_start};
}

/* Profiles of one run lie in one folder, also those of processes that were too
 * short to be seen. */
static void look_at(void *context, const char *path)
{
	struct swz_top_session *s = context;
	const char *kept = swz_intern(&s->paths, path);
	uint32_t *seen = swz_map_at(&s->seen, (uintptr_t)kept, 0);
	struct swz_file_header header = {.magic = {0}};
	bool is_one;

	if (*seen != SWZ_MAP_NONE)
		return;
	is_one = swz_top_profile_header(path, &header);
	if (header.magic[0]) /* else it may become one */
		*seen = 0;
	if (!is_one)
		return;
	if (s->options.sampling.follow
		    ? header.root_pid == s->run.root_pid &&
			      header.root_start == s->run.root_start
		    : header.pid == s->run.pid)
		add_source(s, path, &header);
}

void swz_top_session_only(struct swz_top_session *s, int32_t pid, int32_t tid)
{
	swz_live_only(&s->live, pid, tid);
	for (size_t i = 0; i < s->source_count; i++)
		swz_live_source_restart(&s->sources[i]);
	s->restarted = true;
}

static bool goes_on(const struct swz_live_source *source)
{
	return swz_process_start(source->pid) == source->process_start &&
	       swz_process_runs(source->pid);
}

static void read_profiles(struct swz_top_session *s)
{
	bool earlier = s->restarted || (s->live.round == 1 && !s->started.pid);
	size_t kept = 0;

	s->restarted = false;
	swz_top_profiles_beside(s->profile, look_at, s);
	for (size_t i = 0; i < s->source_count; i++) {
		/* what it wrote until its end is read after its end */
		bool ended = !goes_on(&s->sources[i]);

		swz_live_add_exact(&s->live, &s->sources[i], earlier);
		if (ended)
			swz_live_source_free(&s->sources[i]);
		else
			s->sources[kept++] = s->sources[i];
	}
	s->source_count = kept;
	s->ended = !kept && !swz_process_runs(s->pid);
}

static void switch_to_exact(struct swz_top_session *s)
{
	uint64_t began_ns = s->live.round_ns;

	swz_top_sampler_end(&s->sampler);
	swz_live_free(&s->live);
	swz_live_begin(&s->live, false, began_ns);
}

void swz_top_session_look(struct swz_top_session *s)
{
	if (s->live.samples && s->started.pid && find_profile(s))
		switch_to_exact(s);
	swz_top_look(&s->started);
}

/* ------------------------------------------------------------- rounds */

static void take(void *context, const char *path)
{
	swz_live_add_samples(context, path);
}

int swz_top_session_ask(struct swz_top_session *s)
{
	swz_top_session_look(s);
	if (!s->live.samples)
		return -1;
	swz_top_sampler_ask(&s->sampler);
	return s->sampler.ended ? -1 : s->sampler.answer;
}

/* A program that was started may have executed another one. */
static void read_command(struct swz_top_session *s)
{
	char *command;

	if (!s->started.pid || !swz_process_runs(s->pid))
		return;
	command = swz_top_process_command(s->pid);
	if (*command) {
		free(s->command);
		s->command = command;
	} else {
		free(command);
	}
}

void swz_top_session_take(struct swz_top_session *s)
{
	read_command(s);
	swz_live_begin_round(&s->live);
	if (s->live.samples) {
		swz_top_sampler_wait(&s->sampler);
		swz_top_sampler_take(&s->sampler, take, &s->live);
		s->ended = s->sampler.ended;
	} else {
		read_profiles(s);
	}
	swz_live_end_round(&s->live, swz_watch_now());
	swz_top_look(&s->started);
}

bool swz_top_session_has_ended(const struct swz_top_session *s)
{
	struct pollfd fd = {s->sampler.answer, POLLIN, 0};

	if (s->live.samples)
		return s->sampler.ended ||
		       (poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP);
	for (size_t i = 0; i < s->source_count; i++)
		if (goes_on(&s->sources[i]))
			return false;
	return !swz_process_runs(s->pid);
}

void swz_top_session_end(struct swz_top_session *s)
{
	if (s->live.samples)
		swz_top_sampler_end(&s->sampler);
	for (size_t i = 0; i < s->source_count; i++)
		swz_live_source_free(&s->sources[i]);
	free(s->sources);
	free(s->profile);
	swz_map_free(&s->seen);
	swz_intern_free(&s->paths);
	free(s->command);
	swz_live_free(&s->live);
}
