#include "launch/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "launch/environment.h"
#include "launch/options.h"
#include "launch/program.h"
#include "options/duration.h"
#include "options/words.h"

#define MOST_PAUSES 1000u /* --engine pause: each stops all threads */
#define LEAST_STACK 512u
#define MOST_PID 4194304u

bool swz_sampling_wanted(void)
{
	return strcmp(swz_environment_get("SWIZZLE_MODE"), "sample") == 0;
}

bool swz_both_wanted(void)
{
	return strcmp(swz_environment_get("SWIZZLE_MODE"), "both") == 0;
}

static bool is_set(const char *variable)
{
	const char *value = swz_environment_get(variable);

	return *value && strcmp(value, "0") != 0;
}

/* 0 where nothing is set. */
static uint64_t number(const char *variable, const char *option, uint64_t least,
		       uint64_t most, const char *of)
{
	const char *text = swz_environment_get(variable);
	uint64_t value = 0;
	size_t digits = strspn(text, "0123456789");

	if (!*text)
		return 0;
	if (digits && digits < 12)
		value = strtoull(text, NULL, 10);
	if (text[digits] || value < least || value > most)
		swz_die(SWZ_WRONG_USAGE,
			"option %s: '%s' is not a number from %llu to %llu%s",
			option, text, (unsigned long long)least,
			(unsigned long long)most, of);
	return value;
}

static const char *engine_at(size_t index)
{
	static const char *const words[] = {"perf", "pause"};

	return index < 2 ? words[index] : NULL;
}

static const char *event_at(size_t index)
{
	static const char *const words[] = {"cpu-clock", "task-clock",
					    "cycles"};

	return index < 3 ? words[index] : NULL;
}

/* Its place in the list; -1 where nothing is set. */
static int word(const char *variable, swz_word_at *at, const char *what)
{
	const char *text = swz_environment_get(variable);
	char advice[SWZ_ADVICE_BYTES];
	int found;

	if (!*text)
		return -1;
	found = swz_word_is(at, text, strlen(text));
	if (found >= 0)
		return found;
	swz_word_advice(at, text, advice);
	swz_die(SWZ_WRONG_USAGE, "unknown %s '%s'%s", what, text, advice);
}

static enum swz_sample_engine engine(void)
{
	int found = word("SWIZZLE_ENGINE", engine_at, "engine");

	return found < 0 ? 0 : found == 0 ? SWZ_ENGINE_PERF : SWZ_ENGINE_PAUSE;
}

static const char *event(void)
{
	int found = word("SWIZZLE_EVENT", event_at, "event");

	return event_at(found < 0 ? 0 : (size_t)found);
}

static uint64_t duration(void)
{
	const char *text = swz_environment_get("SWIZZLE_FOR");
	uint64_t ns = swz_duration(text);

	if (*text && !ns)
		swz_die(SWZ_WRONG_USAGE,
			"option --for: '%s' is not a time "
			"(" SWZ_DURATION_EXAMPLES ")",
			text);
	return ns;
}

struct swz_sampling swz_sampling_read(void)
{
	struct swz_sampling s = {
		.engine = engine(),
		.event = event(),
		.wall = is_set("SWIZZLE_WALL"),
		.follow = strcmp(swz_environment_get("SWIZZLE_FOLLOW"), "0") !=
			  0,
		.quiet = is_set("SWIZZLE_QUIET"),
		.verbose = is_set("SWIZZLE_VERBOSE"),
		.summary = strcmp(swz_environment_get("SWIZZLE_SUMMARY"),
				  "0") != 0,
		.for_ns = duration(),
	};

	s.rate = number("SWIZZLE_RATE", "-r", 1,
			s.engine == SWZ_ENGINE_PAUSE ? MOST_PAUSES
						     : SWZ_MOST_RATE,
			" (samples a second)");
	s.stack_bytes = (uint32_t)number("SWIZZLE_STACK_BYTES", "--stack-bytes",
					 LEAST_STACK, SWZ_MOST_STACK_BYTES,
					 "") &
			~7u;
	s.pid = (int32_t)number("SWIZZLE_PID", "-p", 1, MOST_PID,
				" (a process)");
	return s;
}
