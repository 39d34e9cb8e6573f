/* --follow: reads the traces again and again, less often the longer a reading
 * takes. The names of profiles that swizzle-run finds come on standard input,
 * whose end is that of the run. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/formats/calls/calls.h"
#include "tools/dump/reports.h"
#include "util/memory.h"

#define LEAST_REST_NS UINT64_C(50000000)
/* At most a fifth of a processor goes into reading what is there. */
#define REST_PER_WORK 4u

struct names {
	bool given; /* standard input has names; ... */
	bool ended; /* ... and has come to its end */
	struct swz_text line;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_names(struct names *names, struct swz_live *live)
{
	char buffer[4096];
	ssize_t got;
	ssize_t i;

	got = read(STDIN_FILENO, buffer, sizeof(buffer));
	names->ended |= got == 0 ||
			(got < 0 && errno != EINTR && errno != EAGAIN);
	for (i = 0; i < got; i++) {
		if (buffer[i] != '\n') {
			swz_text_add(&names->line, &buffer[i], 1);
			continue;
		}
		if (names->line.size)
			swz_live_add(live, names->line.text);
		swz_text_clear(&names->line);
	}
}

/* Until the time is over; sooner, if a name comes, or there will be none. */
static void rest(struct names *names, struct swz_live *live, uint64_t ns)
{
	struct timespec time = {(time_t)(ns / 1000000000),
				(long)(ns % 1000000000)};
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	if (!names->given)
		nanosleep(&time, NULL);
	else if (ppoll(&input, 1, &time, NULL) > 0)
		take_names(names, live);
}

/* Whoever reads it may have seen enough: that is no failure. */
static void follow(struct swz_live *live, struct names *names, FILE *stream)
{
	bool last = false;

	while (!ferror(stream) && !last &&
	       (names->given || swz_live_goes_on(live))) {
		uint64_t begun = now_ns(), took;

		last = names->ended;
		swz_live_read(live, last);
		took = now_ns() - begun;
		if (!last && (names->given || swz_live_goes_on(live)))
			rest(names, live,
			     took * REST_PER_WORK > LEAST_REST_NS
				     ? took * REST_PER_WORK
				     : LEAST_REST_NS);
	}
}

/* (A profile without a call may be gone before it is read.) */
static int tell(const struct swz_live *live, const struct names *names)
{
	const char *name, *reason;
	size_t found = swz_live_found(live, &name, &reason);

	if (name && !names->given)
		swz_dump_complain("%s: %s", name, reason);
	return found || !name || names->given ? EXIT_OK : EXIT_INPUT;
}

int swz_dump_follow(const struct swz_dump_options *options)
{
	struct swz_catalog_options catalog_options = swz_dump_catalog_options(
		options);
	struct swz_trace trace = {
		.threads = &options->threads,
		.range = {0, UINT64_MAX},
		.origin = UINT64_MAX,
		.view = &options->view,
		.calls = &options->calls,
	};
	struct names names = {0};
	struct swz_catalog catalog;
	struct swz_live *live;
	FILE *stream = stdout;
	int status;
	size_t i;

	if (options->output && strcmp(options->output, "-") != 0) {
		stream = fopen(options->output, "we");
		if (!stream)
			return swz_dump_write_failed(options->output);
	}
	swz_catalog_begin(&catalog, &catalog_options);
	trace.catalog = &catalog;
	trace.choice.rules.rules = options->view.rules;
	live = swz_live_new(stream, &trace, &catalog, &options->config);
	for (i = 0; i < options->argument_count; i++)
		if (strcmp(options->arguments[i], "-") == 0)
			names.given = true;
		else
			swz_live_add(live, options->arguments[i]);
	/* who interrupts the program wants to see its last calls */
	if (names.given) {
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	follow(live, &names, stream);
	status = tell(live, &names);
	swz_live_free(live);
	swz_catalog_free(&catalog);
	swz_text_free(&names.line);
	if (stream != stdout && fclose(stream) != 0)
		status = swz_dump_write_failed(options->output);
	return status;
}
