#include "launch/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "launch/program.h"
#include "launch/run_options.h"
#include "options/command_line.h"

#define MOST_PAUSES 1000u /* --engine pause: each stops all threads */

static bool is_set(const char *variable)
{
	const char *value = swz_environment_get(variable);

	return *value && strcmp(value, "0") != 0;
}

/* Values were checked when the options were read. 0: nothing is set. */
static uint64_t number(const char *variable)
{
	return strtoull(swz_environment_get(variable), NULL, 10);
}

static enum swz_sample_engine engine(void)
{
	const char *text = swz_environment_get("SWIZZLE_ENGINE");

	return !*text                      ? 0
	       : strcmp(text, "perf") == 0 ? SWZ_ENGINE_PERF
					   : SWZ_ENGINE_PAUSE;
}

static const char *event(void)
{
	const char *text = swz_environment_get("SWIZZLE_EVENT");

	return *text ? text : swz_event_at(0);
}

static void check_pauses(uint64_t rate)
{
	if (rate > MOST_PAUSES)
		swz_wrong_usage("swizzle-run",
				"%s: '%llu' is not a number from 1 to %u "
				"(samples a second) with --engine pause",
				swz_options_name("SWIZZLE_RATE"),
				(unsigned long long)rate, MOST_PAUSES);
}

struct swz_sampling swz_sampling_read(void)
{
	struct swz_sampling s = {
		.engine = engine(),
		.event = event(),
		.wall = strcmp(swz_environment_get("SWIZZLE_WALL"), "0") != 0,
		.follow = strcmp(swz_environment_get("SWIZZLE_FOLLOW"), "0") !=
			  0,
		.quiet = is_set("SWIZZLE_QUIET"),
		.verbose = is_set("SWIZZLE_VERBOSE"),
		.summary = strcmp(swz_environment_get("SWIZZLE_SUMMARY"),
				  "0") != 0,
		.for_ns = swz_duration(swz_environment_get("SWIZZLE_FOR")),
		.rate = number("SWIZZLE_RATE"),
		.stack_bytes = (uint32_t)number("SWIZZLE_STACK_BYTES") & ~7u,
		.pid = (int32_t)number("SWIZZLE_PID"),
	};

	if (s.engine == SWZ_ENGINE_PAUSE)
		check_pauses(s.rate);
	return s;
}
