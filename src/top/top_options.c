#include "top/session.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/program.h"
#include "launch/run_options.h"
#include "options/command_line.h"

#define bad_usage(...) swz_wrong_usage("swizzle-top", __VA_ARGS__)

#define MOST_RATE 20000u
#define MOST_PAUSES 1000u
#define MOST_PID 4194304u
#define MOST_DELAY_MS 86400000u
#define LEAST_DELAY_MS 100u
#define MOST_ROUNDS 1000000000u

/* clang-format off */
static const char before[] =
	"Usage: swizzle-top [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       swizzle-top [OPTION]... -p PID\n"
	"       swizzle-top [OPTION]...      choose one of the processes that run\n"
	"Shows where a program spends its time while it runs. It takes samples; of a\n"
	"program that runs under swizzle-run it shows exact counts and times.\n"
	"\n";

static const char examples[] =
	"Examples:\n"
	"  swizzle-top                              choose a process, and watch it\n"
	"  swizzle-top ./app input                  a program from its start\n"
	"  swizzle-top -b --rounds 3 -p 4242        three rounds, as text\n";

static const char after[] =
	"\n"
	"Keys: ? lists them. q leaves; what is watched goes on.\n"
	"Exit status: 0, or the program's own if it has ended; 126 if it cannot be\n"
	"watched or executed, 127 if it was not found, 2 for wrong usage.\n";

/* clang-format on */

enum option {
	PID,
	BATCH,
	DELAY,
	OUTPUT,
	ROUNDS,
	MIN_PERCENT,
	BACK_PERCENT,
	OFFSETS,
	RATE,
	ENGINE,
	EVENT,
	SAMPLES,
	SCRIPT,
	FOLLOW,
	NO_FOLLOW
};

static uint64_t number(const char *as, const char *text, uint64_t least,
		       uint64_t most, const char *of)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value = 0;

	if (digits && digits < 12)
		value = strtoull(text, NULL, 10);
	if (!digits || digits >= 12 || text[digits] || value < least ||
	    value > most)
		bad_usage("option %s: '%s' is not a number from %llu to "
			  "%llu%s",
			  as, text, (unsigned long long)least,
			  (unsigned long long)most, of);
	return value;
}

bool swz_top_delay(const char *text, uint64_t *ns)
{
	const char *dot = strchrnul(text, '.');
	size_t digits = strspn(text, "0123456789");
	uint64_t ms = 0, scale = 100;

	if (text[strspn(text, "0123456789.")]) { /* with a unit */
		*ns = swz_duration(text);
		ms = *ns / 1000000;
		return ms >= LEAST_DELAY_MS && ms <= MOST_DELAY_MS;
	}

	if (digits >= 6 || text + digits != dot)
		return false;
	ms = 1000 * strtoull(text, NULL, 10);
	for (const char *s = dot + (*dot == '.'); *s; s++, scale /= 10) {
		if (*s < '0' || *s > '9')
			return false;
		ms += scale * (uint64_t)(*s - '0');
	}
	*ns = ms * 1000000;
	return ms >= LEAST_DELAY_MS && ms <= MOST_DELAY_MS;
}

static uint64_t delay(const char *as, const char *text)
{
	uint64_t ns;

	if (!swz_top_delay(text, &ns))
		bad_usage("option %s: '%s' is not a time from 100ms to 24h", as,
			  text);
	return ns;
}

static const char *engine_at(size_t index)
{
	static const char *const words[] = {"perf", "pause"};

	return index < 2 ? words[index] : NULL;
}

static enum swz_sample_engine engine(const char *as, const char *text)
{
	int found = swz_word_is(engine_at, text, strlen(text));
	char advice[SWZ_ADVICE_BYTES];

	if (found >= 0)
		return found == 0 ? SWZ_ENGINE_PERF : SWZ_ENGINE_PAUSE;
	swz_word_advice(engine_at, text, advice);
	bad_usage("option %s: unknown engine '%s'%s", as, text, advice);
}

static const char *event(const char *as, const char *text)
{
	int found = swz_word_is(swz_event_at, text, strlen(text));
	char advice[SWZ_ADVICE_BYTES];

	if (found >= 0)
		return swz_event_at((size_t)found);
	swz_word_advice(swz_event_at, text, advice);
	bad_usage("option %s: unknown event '%s'%s", as, text, advice);
}

static void take(void *context, const struct swz_option *option, const char *as,
		 const char *value)
{
	struct swz_top_options *o = context;

	switch ((enum option)option->id) {
	case PID:
		o->sampling.pid = (int32_t)number(as, value, 1, MOST_PID,
						  " (a process)");
		break;
	case BATCH:
		o->batch = true;
		break;
	case DELAY:
		o->delay_ns = delay(as, value);
		break;
	case OUTPUT:
		if (!*value)
			bad_usage("option %s: the file name is empty", as);
		o->output = value;
		break;
	case ROUNDS:
		o->rounds = number(as, value, 1, MOST_ROUNDS, "");
		break;
	case MIN_PERCENT:
		o->min_percent = (unsigned int)number(as, value, 0, 100, "");
		break;
	case BACK_PERCENT:
		o->back_percent = (unsigned int)number(as, value, 0, 100, "");
		break;
	case OFFSETS:
		o->offsets = true;
		break;
	case RATE:
		o->sampling.rate = number(as, value, 1, MOST_RATE,
					  " (samples a second)");
		break;
	case ENGINE:
		o->sampling.engine = engine(as, value);
		break;
	case EVENT:
		o->sampling.event = event(as, value);
		o->event_given = true;
		break;
	case SAMPLES:
		o->only_samples = true;
		break;
	case SCRIPT:
		o->script = true;
		break;
	case FOLLOW:
	case NO_FOLLOW:
		o->sampling.follow = option->id == FOLLOW;
		break;
	}
}

static const struct swz_option known[] = {
	{.name = "pid",
	 .letter = 'p',
	 .value = "PID",
	 .offer = "pids",
	 .id = PID,
	 .help = "watch a process that runs already"},
	{.name = "batch",
	 .letter = 'b',
	 .id = BATCH,
	 .help = "print the most frequent back traces, no screen|; without "
		 "a program: print the list of processes once"},
	{.name = "delay",
	 .letter = 'd',
	 .value = "TIME",
	 .id = DELAY,
	 .help = "length of a round|, 500ms or 2s [1s; -b: 5s, a list 1s]"},
	{.name = "output",
	 .letter = 'o',
	 .value = "FILE",
	 .offer = "files",
	 .id = OUTPUT,
	 .help = "the program's output goes to FILE| [a temporary file "
		 "that is shown at the end]"},
	{.name = "rounds",
	 .value = "N",
	 .id = ROUNDS,
	 .help = "end after N rounds| [when the program ends]"},
	{.letter = 'n', .value = "N", .id = ROUNDS, .renamed = "--rounds"},
	{.name = "percent-limit",
	 .value = "P",
	 .id = MIN_PERCENT,
	 .help = "-b: functions with at least P % of the hits| [10]"},
	{.name = "min-percent",
	 .value = "P",
	 .id = MIN_PERCENT,
	 .renamed = "--percent-limit"},
	{.name = "backtrace-percent",
	 .value = "N",
	 .id = BACK_PERCENT,
	 .help = "-b: back traces with at least N % of their function's "
		 "hits [15]",
	 .brief = "-b: back traces with at least N % of their function"},
	{.name = "offsets",
	 .id = OFFSETS,
	 .help = "-b: frames with the place in the function, its size and "
		 "module|: main+0xe8/0x470 [app]",
	 .brief = "-b: frames with offset, size and module"},
	{.name = "rate",
	 .letter = 'r',
	 .value = "HZ",
	 .id = RATE,
	 .help = "samples a second of processor time|, 1 to 20000 [1000; 100 "
		 "with --engine pause]"},
	{.name = "engine",
	 .value = "ENGINE",
	 .id = ENGINE,
	 .words = engine_at,
	 .help = "perf, the kernel takes samples; pause, the threads are "
		 "stopped for each [perf, if permitted]",
	 .brief = "who takes the samples"},
	{.name = "event",
	 .value = "EVENT",
	 .id = EVENT,
	 .words = swz_event_at,
	 .help = "what the kernel counts between two samples|: cpu-clock, "
		 "task-clock or cycles [cpu-clock]"},
	{.name = "samples",
	 .id = SAMPLES,
	 .help = "take samples even if it runs under swizzle-run"},
	{.name = "script",
	 .id = SCRIPT,
	 .help = "the functions of scripts alone|, with the time of what "
		 "they call (key s)"},
	{.name = "follow",
	 .id = FOLLOW,
	 .help = "child processes, too| [default]"},
	{.name = "no-follow", .id = NO_FOLLOW, .help = "not child processes"},
	SWZ_OPTIONS_OF_ALL};

const struct swz_option_table swz_top_option_table = {
	.tool = "swizzle-top",
	.before = before,
	.examples = examples,
	.after = after,
	.options = known,
	.column = 27,
	.kind = SWZ_WORDS_PROGRAM,
	.take = take,
};

static void check(const struct swz_top_options *o, bool percents)
{
	if (*o->program && o->sampling.pid)
		bad_usage("option -p: either a process or a program, not both");
	if (percents && !o->batch)
		bad_usage("options --percent-limit and --backtrace-percent are "
			  "for -b only");
	if (o->offsets && !o->batch)
		bad_usage("option --offsets is for -b only");
	if (o->output && (o->batch || !*o->program))
		bad_usage("option -o is for a program that is started, "
			  "without -b");
	if (o->sampling.engine == SWZ_ENGINE_PAUSE && o->event_given)
		bad_usage("option --event is for --engine perf");
	if (o->sampling.engine == SWZ_ENGINE_PAUSE &&
	    o->sampling.rate > MOST_PAUSES)
		bad_usage("option -r: '%llu' is not a number from 1 to %u "
			  "(samples a second) with --engine pause",
			  (unsigned long long)o->sampling.rate, MOST_PAUSES);
}

bool swz_top_wants_list(const struct swz_top_options *options)
{
	return !*options->program && !options->sampling.pid;
}

struct swz_top_options swz_top_options_read(char **argv)
{
	enum { NOT_GIVEN = 101 };
	struct swz_top_options o = {
		.min_percent = NOT_GIVEN,
		.back_percent = NOT_GIVEN,
		.sampling = {.event = swz_event_at(0), .follow = true},
	};

	o.program = swz_options_parse(&swz_top_option_table, argv, &o);
	check(&o, o.min_percent != NOT_GIVEN || o.back_percent != NOT_GIVEN);
	if (o.min_percent == NOT_GIVEN)
		o.min_percent = 10;
	if (o.back_percent == NOT_GIVEN)
		o.back_percent = 15;
	if (!o.delay_ns)
		o.delay_ns = o.batch && !swz_top_wants_list(&o) ? 5000000000u
								: 1000000000u;
	return o;
}
