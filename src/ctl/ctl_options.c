#include "ctl/ctl.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/program.h"
#include "options/command_line.h"
#include "util/memory.h"

#define bad_usage(...) swz_wrong_usage("swizzle-ctl", __VA_ARGS__)

#define MOST_PID 4194304

/* clang-format off */
static const char before[] =
	"Usage: swizzle-ctl [OPTION]... COMMAND [PROCESS]...\n"
	"Stops and starts recording in programs that run under swizzle-run, and copies\n"
	"what they have recorded so far.\n"
	"\n"
	"  list                  the profiled processes [all of yours]\n"
	"  status                more about each\n"
	"  start                 record\n"
	"  stop                  stop recording: calls then cost what they do natively\n"
	"  snapshot FILE         write the profile so far to FILE, and go on;\n"
	"                        %p stands for the pid\n"
	"  mark TEXT             mark this moment in the profile\n"
	"  detach                end recording for good: the profile is complete\n"
	"\n"
	"A PROCESS is a pid, the name of a program, or all.\n"
	"\n";

static const char after[] =
	"\n"
	"Exit status: 0; 1 if something could not be done for some process, or there is\n"
	"none; 2 for wrong usage.\n";

/* clang-format on */

enum option { NAME, TREE, ALL, FOR, EVERY, JSON, VERBOSE };

static const struct {
	const char *name;
	const char *argument; /* NULL: it takes none */
} commands[] = {
	[SWZ_CTL_LIST] = {"list", NULL},
	[SWZ_CTL_STATUS] = {"status", NULL},
	[SWZ_CTL_START] = {"start", NULL},
	[SWZ_CTL_STOP] = {"stop", NULL},
	[SWZ_CTL_SNAPSHOT] = {"snapshot", "a file"},
	[SWZ_CTL_MARK] = {"mark", "a text"},
	[SWZ_CTL_DETACH] = {"detach", NULL},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* The command line as far as it was read. */
struct reading {
	struct swz_ctl_options options;
	bool has_command;
	size_t name_count, name_room;
	size_t tree_count, tree_room;
	size_t pid_count, pid_room;
};

/* ---------------------------------------------------------------- values */

static int32_t read_pid(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	long value = digits && digits < 10 && !text[digits] ? atol(text) : 0;

	return value > 0 && value <= MOST_PID ? (int32_t)value : 0;
}

static void add_pid(int32_t **pids, size_t *room, size_t *count, int32_t pid)
{
	swz_grow(pids, room, *count + 1, sizeof(**pids));
	(*pids)[(*count)++] = pid;
	(*pids)[*count] = 0;
}

static void add_name(struct reading *r, const char *name)
{
	swz_grow(&r->options.names, &r->name_room, r->name_count + 1,
		 sizeof(*r->options.names));
	r->options.names[r->name_count++] = name;
	r->options.names[r->name_count] = NULL;
}

static uint64_t read_time(const char *as, const char *text)
{
	uint64_t ns = swz_duration(text);

	if (!ns)
		bad_usage("option %s: '%s' is not a time "
			  "(" SWZ_DURATION_EXAMPLES ")",
			  as, text);
	return ns;
}

/* --------------------------------------------------------------- options */

static const char *command_at(size_t index)
{
	return index < COMMANDS ? commands[index].name : NULL;
}

static void take(void *context, const struct swz_option *option, const char *as,
		 const char *value)
{
	struct reading *r = context;
	struct swz_ctl_options *o = &r->options;
	int32_t pid;

	switch ((enum option)option->id) {
	case NAME:
		if (!*value)
			bad_usage("option %s: the name is empty", as);
		add_name(r, value);
		break;
	case TREE:
		pid = read_pid(value);
		if (!pid)
			bad_usage("option %s: '%s' is not a number from 1 to "
				  "%d (a process)",
				  as, value, MOST_PID);
		add_pid(&o->trees, &r->tree_room, &r->tree_count, pid);
		break;
	case ALL:
		o->all = true;
		break;
	case FOR:
		o->for_ns = read_time(as, value);
		break;
	case EVERY:
		o->every_ns = read_time(as, value);
		break;
	case JSON:
		o->json = true;
		break;
	case VERBOSE:
		o->verbose = true;
		break;
	}
}

/* ---------------------------------------------------------------- words */

/* Returns how many words it is: its argument may look like an option. */
static int read_command(struct reading *r, char **words)
{
	const char *word = words[0];
	int found = swz_word_find(command_at, word, strlen(word));
	char advice[SWZ_ADVICE_BYTES];

	if (found == SWZ_WORD_AMBIGUOUS) {
		swz_word_beginnings(command_at, word, advice);
		bad_usage("command '%s' could be several: %s", word, advice);
	}
	if (found < 0) {
		swz_word_advice(command_at, word, advice);
		bad_usage("unknown command '%s'%s", word, advice);
	}
	r->options.command = (enum swz_ctl_command)found;
	r->has_command = true;
	if (!commands[found].argument)
		return 1;
	if (!words[1] || !*words[1])
		bad_usage("%s needs %s", commands[found].name,
			  commands[found].argument);
	r->options.argument = words[1];
	return 2;
}

static void read_process(struct reading *r, const char *word)
{
	int32_t pid = read_pid(word);

	if (pid)
		add_pid(&r->options.pids, &r->pid_room, &r->pid_count, pid);
	else if (strcmp(word, "all") == 0)
		r->options.all = true;
	else if (!*word || word[strspn(word, "0123456789")] == '\0')
		bad_usage("'%s' is not a number from 1 to %d (a process)", word,
			  MOST_PID);
	else
		add_name(r, word);
}

static void check(const struct reading *r)
{
	const struct swz_ctl_options *o = &r->options;
	const char *name;

	if (!r->has_command)
		bad_usage("no command given: list, status, start, stop, "
			  "snapshot, mark, detach");
	name = commands[o->command].name;
	if (o->json && o->command != SWZ_CTL_LIST &&
	    o->command != SWZ_CTL_STATUS)
		bad_usage("option --json is for list and status, not for %s",
			  name);
	if ((o->for_ns || o->every_ns) && o->command != SWZ_CTL_START)
		bad_usage("options --for and --every are for start, not for %s",
			  name);
	if (o->every_ns && !o->for_ns)
		bad_usage("option --every needs --for: how long each time");
	if (o->every_ns && o->every_ns <= o->for_ns)
		bad_usage("option --every: less than --for; it counts from "
			  "start to start");
	if (!o->all && !r->name_count && !r->tree_count && !r->pid_count)
		bad_usage("%s: of which processes? A pid, a name, --tree PID "
			  "or --all",
			  name);
}

static int read_word(void *context, char **words)
{
	struct reading *r = context;

	if (!r->has_command)
		return read_command(r, words);
	read_process(r, words[0]);
	return 1;
}

static const struct swz_option known[] = {
	{.name = "name",
	 .value = "NAME",
	 .repeats = true,
	 .id = NAME,
	 .offer = "names",
	 .help = "processes of this name"},
	{.letter = 'n', .value = "NAME", .id = NAME, .renamed = "--name"},
	{.name = "tree",
	 .value = "PID",
	 .repeats = true,
	 .offer = "pids",
	 .id = TREE,
	 .help = "this process and those that it has started"},
	{.name = "all", .id = ALL, .help = "all of yours"},
	{.name = "for",
	 .value = "TIME",
	 .id = FOR,
	 .help = "start: stop again after this time| (500ms, 10s, 2m)"},
	{.name = "every",
	 .value = "TIME",
	 .id = EVERY,
	 .help = "start --for: start again each TIME|, until ^C"},
	{.name = "json", .id = JSON, .help = "list, status: for programs"},
	{.name = "verbose",
	 .letter = 'v',
	 .id = VERBOSE,
	 .help = "start, stop, detach: say how long threads were stopped|"},
	SWZ_OPTIONS_OF_ALL};

const struct swz_option_table swz_ctl_option_table = {
	.tool = "swizzle-ctl",
	.before = before,
	.after = after,
	.options = known,
	.column = 24,
	.kind = SWZ_WORDS_COMMAND,
	.commands = command_at,
	.take = take,
	.word = read_word,
};

struct swz_ctl_options swz_ctl_options_read(char **argv)
{
	static const char *no_names[1];
	static int32_t no_pids[1];
	struct reading r = {.has_command = false};

	swz_options_parse(&swz_ctl_option_table, argv, &r);
	if (r.has_command && r.options.command == SWZ_CTL_LIST &&
	    !r.name_count && !r.tree_count && !r.pid_count)
		r.options.all = true;
	check(&r);
	if (!r.options.names)
		r.options.names = no_names;
	if (!r.options.trees)
		r.options.trees = no_pids;
	if (!r.options.pids)
		r.options.pids = no_pids;
	return r.options;
}
