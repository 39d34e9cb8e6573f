/* The configuration: SWIZZLE_* variables, read once before anything is planned.
 * Texts stay where they are, in the environment that the program was started
 * with. */

#include "runtime/support/config.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "swizzle/values.h"
#include "base/printable.h"
#include "base/run_summary.h"
#include "base/syscall.h"

/* -------------------------------------------------------------- LD_PRELOAD */

static size_t length_of_word(const char *word)
{
	size_t length = 0;

	while (word[length] && word[length] != ':' && word[length] != ' ')
		length++;
	return length;
}

bool swz_is_preloaded(char **envp)
{
	static const char name[] = "LD_PRELOAD=";

	for (; *envp; envp++)
		if (strncmp(*envp, name, sizeof(name) - 1) == 0)
			return strstr(*envp, "libswizzle.so");
	return false;
}

void swz_preload_split(const char *list, char *others, char *ours)
{
	char *end = others, separator = '\0';

	if (ours)
		*ours = '\0';
	while (*list) {
		size_t length = length_of_word(list);
		char *word = end == others ? end : end + 1;
		char behind = list[length];

		memmove(word, list, length);
		word[length] = '\0';
		if (!strstr(word, "libswizzle.so")) {
			if (word != end)
				*end = separator;
			end = word + length;
		} else if (ours) {
			memcpy(ours, word, length + 1);
		}
		separator = behind;
		list += length + (behind != '\0');
	}
	*end = '\0';
}

/* --------------------------------------------------------------- SWIZZLE_* */

#define DEFAULT_MAX_MEMORY (256ull << 20)
#define LEAST_MEMORY (1ull << 20)
#define DEFAULT_MAX_SIZE (4ull << 30)
#define SLOW_MAX_SIZE (48ull << 20)
#define DEFAULT_KEEP 20u
#define DEFAULT_RECURSION 16u
#define OWN_THUNKS 2048u
#define OWN_FRAMES 16u
#define MOST_TIME 1000000000000ull /* ns */

struct swz_config swz_config;
struct swz_trigger_state swz_trigger_state;

/* The value of NAME=value in the environment, or NULL. */
static char *variable(const char *name)
{
	size_t length = strlen(name);

	for (char **e = swz_config.envp; e && *e; e++)
		if (memcmp(*e, name, length) == 0 && (*e)[length] == '=')
			return *e + length + 1;
	return NULL;
}

static const char *text(const char *name)
{
	const char *value = variable(name);

	return value && *value ? value : NULL;
}

static bool flag(const char *name, bool otherwise)
{
	const char *value = text(name);

	return value ? !(value[0] == '0' && !value[1]) : otherwise;
}

#define FLAG(name) \
	{ \
		"SWIZZLE_" name, "SWIZZLE_" name ": neither 1 nor 0" \
	}

/* Whoever writes "no" means something, and would get its opposite. */
static const char *wrong_flag(void)
{
	static const char *const flags[][2] = {
		FLAG("QUIET"),    FLAG("VERBOSE"), FLAG("LIST"), FLAG("FOLLOW"),
		FLAG("CACHE"),    FLAG("SUMMARY"), FLAG("RING"), FLAG("FLOWS"),
		FLAG("SWITCHES"), FLAG("PRINTS"),
	};
	const char *off = text("SWIZZLE_OFF");

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const char *value = text(flags[i][0]);

		if (value && ((*value != '0' && *value != '1') || value[1]))
			return flags[i][1];
	}
	if (off && strcmp(off, "0") != 0 && strcmp(off, "1") != 0 &&
	    strcmp(off, "hooked") != 0)
		return "SWIZZLE_OFF: neither 1, 0 nor hooked";
	return NULL;
}

/* Decimal with an optional K, M or G. */
static bool number(const char *name, uint64_t otherwise, uint64_t *result)
{
	const char *s = text(name);
	uint64_t value = 0;
	unsigned shift = 0;

	*result = otherwise;
	if (!s)
		return true;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (value > UINT64_MAX / 100)
			return false;
		value = value * 10 + (uint64_t)(*s - '0');
	}
	switch (*s) {
	case 'G':
	case 'g':
		shift += 10; /* fall through */
	case 'M':
	case 'm':
		shift += 10; /* fall through */
	case 'K':
	case 'k':
		shift += 10;
		s++;
	}
	if (value > UINT64_MAX >> shift)
		return false;
	*result = value << shift;
	return !*s;
}

/* A time: decimal with an optional ns, us, ms or s. In ns. */
static bool time_of(const char *s, uint64_t *result)
{
	static const struct {
		char text[3];
		uint32_t ns;
	} units[] = {{"", 1},
		     {"ns", 1},
		     {"us", 1000},
		     {"ms", 1000000},
		     {"s", 1000000000}};
	uint64_t value = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++) {
		value = value * 10 + (uint64_t)(*s - '0');
		if (value > MOST_TIME)
			return false;
	}
	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(s, units[i].text) != 0)
			continue;
		*result = value * units[i].ns;
		return value <= MOST_TIME / units[i].ns;
	}
	return false;
}

static bool time_span(const char *name, uint64_t *result)
{
	const char *s = text(name);

	*result = 0;
	return !s || time_of(s, result);
}

/* For libraries that come later: by then the program may have written its title
 * over its environment. */
static const char *kept(const char *string)
{
	size_t bytes = strlen(string) + 1;
	char *copy = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return copy ? memcpy(copy, string, bytes) : string;
}

/* Takes the place of the signatures from the environment. A descriptor of our
 * own is good once: a program that this one executes has others of that
 * number. */
static const char *take_place(const char *name)
{
	static char copy[64];
	char *value = variable(name);

	if (!value || !*value || strlen(value) >= sizeof(copy))
		return NULL;
	memcpy(copy, value, strlen(value) + 1);
	if (value[0] == '0' && value[1] == ' ')
		*value = '\0';
	return copy;
}

/* FUNCTION#NUMBER: the number is cut off, where the environment has it no more
 * than here: programs that are executed read it anew. */
static bool trigger(const char *name, struct swz_trigger *trigger)
{
	static char copies[2][512];
	char *copy = trigger == &swz_config.start_at ? copies[0] : copies[1];
	const char *value = text(name);
	size_t length, digits = 0;

	swz_trigger_state = (struct swz_trigger_state){.flags = 0};
	*trigger = (struct swz_trigger){.number = 1};
	if (!value)
		return true;
	length = strlen(value);
	if (length >= sizeof(copies[0]))
		return false;
	memcpy(copy, value, length + 1);
	while (digits < length && copy[length - digits - 1] >= '0' &&
	       copy[length - digits - 1] <= '9')
		digits++;
	if (digits && digits < 19 && digits < length &&
	    copy[length - digits - 1] == '#') {
		trigger->number = 0;
		for (size_t i = length - digits; i < length; i++)
			trigger->number = trigger->number * 10 +
					  (uint64_t)(copy[i] - '0');
		copy[length - digits - 1] = '\0';
	}
	trigger->pattern = copy;
	return *copy && trigger->number && swz_patterns_are_valid(copy);
}

/* A percentile: 50, 99.9 and the like, of 100,000. 0: it is none. */
static uint32_t share_of(const char *s)
{
	uint32_t share = 0, unit = 1000;
	bool behind_point = false;

	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !behind_point); s++) {
		if (*s == '.') {
			behind_point = true;
			continue;
		}
		if (behind_point && unit == 1)
			return 0;
		unit /= behind_point ? 10 : 1;
		share = behind_point ? share + (uint32_t)(*s - '0') * unit
				     : share * 10 + (uint32_t)(*s - '0') * unit;
		if (share >= 100000)
			return 0;
	}
	return *s ? 0 : share;
}

/* FUNCTION:TIME or FUNCTION:pNN, where C++ names have colons of their own: what
 * is behind the last one is cut off. */
static bool slow_rule(char *line, struct swz_slow_rule *rule)
{
	char *colon = strrchr(line, ':');

	if (!colon || colon == line || *line == '!')
		return false;
	*colon++ = '\0';
	*rule = (struct swz_slow_rule){0, 0};
	if (*colon == 'p')
		rule->share = share_of(colon + 1);
	else if (!time_of(colon, &rule->least_ns))
		return false;
	return rule->share || rule->least_ns;
}

static const char *read_slow(struct swz_config *c)
{
	static const char wrong[] =
		"SWIZZLE_SLOW: not FUNCTION:TIME or FUNCTION:p99, up to seven";
	static char patterns[2048];
	const char *given = text("SWIZZLE_SLOW");
	char line[512], *to = patterns;
	unsigned count = 0;
	uint64_t keep;

	if (!number("SWIZZLE_KEEP", DEFAULT_KEEP, &keep) || !keep ||
	    keep > SWZ_MOST_KEEP)
		return "SWIZZLE_KEEP: not a number of calls from 1 to 1000";
	c->slow_keep = (uint32_t)keep;
	if (!given)
		return NULL;
	if (c->filter)
		return "SWIZZLE_SLOW: it records what its functions call, and "
		       "does not go with -F";
	if (c->ring)
		return "SWIZZLE_SLOW: its room is bounded as it is; it does "
		       "not go with --ring";
	while (*given) {
		size_t length = 0;

		while (given[length] && given[length] != '\n')
			length++;
		if (length >= sizeof(line) || count == SWZ_MOST_SLOW_RULES ||
		    to + length + 1 > patterns + sizeof(patterns))
			return wrong;
		memcpy(line, given, length);
		line[length] = '\0';
		if (!slow_rule(line, &c->slow_rules[count++]))
			return wrong;
		if (to != patterns)
			*to++ = '\n';
		memcpy(to, line, strlen(line) + 1);
		to += strlen(line);
		given += length + (given[length] != '\0');
	}
	if (!swz_patterns_are_valid(patterns))
		return wrong;
	c->slow = c->filter = patterns;
	return NULL;
}

static const char *read_trace(struct swz_config *c)
{
	const char *problem;

	c->ring = flag("SWIZZLE_RING", false);
	problem = read_slow(c);
	if (problem)
		return problem;
	if (!number("SWIZZLE_MAX_SIZE",
		    c->slow ? SLOW_MAX_SIZE : DEFAULT_MAX_SIZE, &c->max_size) ||
	    c->max_size < LEAST_MEMORY || c->max_size > 64ull << 30)
		return "SWIZZLE_MAX_SIZE: not a size from 1M to 64G";
	c->max_size &= -(uint64_t)4096;
	if (!time_span("SWIZZLE_MIN_TIME", &c->min_time))
		return "SWIZZLE_MIN_TIME: not a time up to 1000s";
	c->switches = flag("SWIZZLE_SWITCHES", false);
	c->flows = flag("SWIZZLE_FLOWS", false);
	c->prints = flag("SWIZZLE_PRINTS", false);
	if (c->sampled)
		return "SWIZZLE_TIMING: a trace has exact times";
	return NULL;
}

static const char *read_values(struct swz_config *c)
{
	uint64_t bytes;

	if (!number("SWIZZLE_STRING_BYTES", SWZ_USUAL_STRING_BYTES, &bytes) ||
	    bytes > SWZ_MOST_STRING_BYTES)
		return "SWIZZLE_STRING_BYTES: not a number up to 2048";
	c->string_bytes = (uint32_t)bytes;
	c->arguments = text("SWIZZLE_ARGUMENTS");
	c->signatures = take_place("SWIZZLE_SIGNATURES");
	if (c->sampled && (c->arguments || c->signatures))
		return "SWIZZLE_TIMING: arguments are recorded of calls that "
		       "are all timed";
	if (c->arguments)
		c->arguments = kept(c->arguments);
	return NULL;
}

static bool secure_mode(char **envp)
{
	const Elf64_auxv_t *aux;

	while (*envp)
		envp++;
	for (aux = (const Elf64_auxv_t *)(envp + 1); aux->a_type; aux++)
		if (aux->a_type == AT_SECURE)
			return aux->a_un.a_val != 0;
	return false;
}

static const char *without_value(const struct swz_output_name_problem *what,
				 bool is_unset)
{
	static const char head[] = "SWIZZLE_OUTPUT: %q{";
	const char *tail = is_unset ? "}: the variable is not set"
				    : "}: the variable is empty";
	static char message[160];
	size_t length = what->length < 80 ? what->length : 80;
	char *to = message + sizeof(head) - 1;

	memcpy(message, head, sizeof(head) - 1);
	memcpy(to, what->variable, length);
	memcpy(to + length, tail, strlen(tail) + 1);
	return message;
}

/* Without swizzle-run, which does it for all processes of a run: *TO gets
 * PATTERN with %h and %q{VARIABLE} replaced. Returns what is wrong, or NULL. */
static const char *expand_output(const char *pattern, char *to, size_t room)
{
	struct swz_output_name_problem what;
	enum swz_output_name_status status;

	if (text("SWIZZLE_TREE")) {
		if (strlen(pattern) >= room)
			return "SWIZZLE_OUTPUT: path too long";
		memcpy(to, pattern, strlen(pattern) + 1);
		return NULL;
	}
	status = swz_output_name_expand(pattern, swz_config.envp, to, room,
					&what);
	switch (status) {
	case SWZ_OUTPUT_NAME_FINE:
		return NULL;
	case SWZ_OUTPUT_NAME_UNSET:
	case SWZ_OUTPUT_NAME_EMPTY:
		return without_value(&what, status == SWZ_OUTPUT_NAME_UNSET);
	case SWZ_OUTPUT_NAME_UNCLOSED:
		return "SWIZZLE_OUTPUT: %q is not followed by {VARIABLE}";
	case SWZ_OUTPUT_NAME_HOST:
		return "SWIZZLE_OUTPUT: %h: this host has no name";
	default:
		return "SWIZZLE_OUTPUT: path too long";
	}
}

/* output = the pattern made absolute, with a file name at its end. Returns what
 * is wrong with it, or NULL. */
static const char *set_output(const char *pattern)
{
	static const char name[] = "swizzle.out.%p";
	static const char no_path[] = "SWIZZLE_OUTPUT: path too long, or no "
				      "working directory";
	char *out = swz_config.output;
	size_t room = sizeof(swz_config.output) - 24, used = 0, length;
	char expanded[sizeof(swz_config.output)];
	const char *problem = expand_output(pattern ? pattern : name, expanded,
					    sizeof(expanded));

	if (problem)
		return problem;
	pattern = expanded;
	if (pattern[0] != '/') {
		long r = SWZ_SYSCALL(SYS_getcwd, out, room);

		if (r <= 0 || out[0] != '/')
			return no_path;
		used = (size_t)r - 1;
		if (used > 1)
			out[used++] = '/';
	}
	length = strlen(pattern);
	if (used + length + sizeof(name) > room)
		return no_path;
	memcpy(out + used, pattern, length + 1);
	used += length;
	if (strncmp(out, "/dev/", 5) == 0 && !strchr(out + 5, '/'))
		return "SWIZZLE_OUTPUT: no profile is written to /dev";
	if (out[used - 1] == '/') {
		SWZ_SYSCALL(SYS_mkdir, out, 0777);
		memcpy(out + used, name, sizeof(name));
	}
	return NULL;
}

static bool patterns(const char *name, const char **list)
{
	const char *value = text(name);

	*list = value ? kept(value) : NULL;
	return !value || swz_patterns_are_valid(value);
}

#define BAD_PATTERN ": a pattern is empty, or its [ has no ]"

static const char *read_patterns(struct swz_config *c)
{
	if (!patterns("SWIZZLE_FILTER", &c->filter))
		return "SWIZZLE_FILTER" BAD_PATTERN;
	if (!patterns("SWIZZLE_NOTRACE", &c->notrace))
		return "SWIZZLE_NOTRACE" BAD_PATTERN;
	if (!patterns("SWIZZLE_HIDE", &c->hide))
		return "SWIZZLE_HIDE" BAD_PATTERN;
	if (!patterns("SWIZZLE_MODULE", &c->module))
		return "SWIZZLE_MODULE" BAD_PATTERN;
	if (!patterns("SWIZZLE_LOCATION", &c->location))
		return "SWIZZLE_LOCATION" BAD_PATTERN;
	if (!patterns("SWIZZLE_PERCENTILES", &c->percentiles_patterns))
		return "SWIZZLE_PERCENTILES" BAD_PATTERN;
	c->percentiles = c->percentiles_patterns != NULL;
	c->percentiles_of_all = c->percentiles &&
				strcmp(c->percentiles_patterns, "*") == 0;
	if (c->percentiles_of_all)
		c->percentiles_patterns = NULL;
	return NULL;
}

static enum swz_test_tactic test_tactic(const char *name)
{
	if (name && strcmp(name, "padding") == 0)
		return SWZ_TEST_PADDING;
	if (name && strcmp(name, "neighbour") == 0)
		return SWZ_TEST_NEIGHBOUR;
	if (name && strcmp(name, "branches") == 0)
		return SWZ_TEST_BRANCHES;
	return SWZ_TEST_NONE;
}

/* Reads variables that are for tests only. A wrong value counts as not given.
 */
static void read_of_tests(struct swz_config *c)
{
	uint64_t own, workers, frames;

	if (!number("SWIZZLE_PROGRESS_AFTER", 1000, &c->progress_after_ms) ||
	    c->progress_after_ms > UINT32_MAX)
		c->progress_after_ms = 1000;
	c->test_tactic = test_tactic(text("SWIZZLE_TEST_TACTIC"));
	if (!number("SWIZZLE_TEST_WORKERS", 0, &workers) ||
	    workers > UINT32_MAX)
		workers = 0;
	c->test_worker_threads = (uint32_t)workers;
	if (!number("SWIZZLE_TEST_OWN_THUNKS", OWN_THUNKS, &own) ||
	    own > UINT32_MAX)
		own = OWN_THUNKS;
	c->own_thunks = (uint32_t)own;
	if (!number("SWIZZLE_TEST_OWN_FRAMES", OWN_FRAMES, &frames) ||
	    frames > UINT32_MAX)
		frames = OWN_FRAMES;
	c->own_frames = (uint32_t)frames;
}

/* "PID START SHOWN DEVICE INODE" or that with " 1", as swizzle-run writes it.
 */
static void read_run(struct swz_run *run)
{
	const char *s = text("SWIZZLE_TREE");
	uint64_t numbers[6] = {0};

	run->output = swz_config.output;
	for (unsigned i = 0; s && i < 6; i++, s += *s == ' ')
		for (; *s >= '0' && *s <= '9'; s++)
			numbers[i] = numbers[i] * 10 + (uint64_t)(*s - '0');
	if (!s || *s || numbers[0] > INT32_MAX)
		return;
	run->root_pid = (int32_t)numbers[0];
	run->root_start = numbers[1];
	run->messages_device = numbers[3];
	run->messages_inode = numbers[4];
	run->shown = (uint32_t)numbers[2];
	run->sampled = numbers[5];
}

/* Within the folder's name. */
static void check_shown(struct swz_run *run)
{
	if (run->shown > strrchr(run->output, '/') + 1 - run->output)
		run->shown = 0;
}

const char *swz_config_read(int argc, char **argv, char **envp)
{
	struct swz_config *c = &swz_config;
	const char *mode, *timing, *imports, *off, *problem;
	uint64_t depth, size;
	char *fresh;

	c->argc = argc;
	c->argv = argv;
	c->envp = envp;
	read_run(&c->run); /* first: it has where messages go */
	if (secure_mode(envp))
		return "privileged program: not profiled";
	problem = wrong_flag();
	if (problem)
		return problem;
	c->quiet = flag("SWIZZLE_QUIET", false);
	c->verbose = flag("SWIZZLE_VERBOSE", false);
	c->list = flag("SWIZZLE_LIST", false);
	c->imports = flag("SWIZZLE_IMPORTS", false);
	imports = text("SWIZZLE_IMPORTS");
	c->imports_dlsym = imports && strcmp(imports, "dlsym") == 0;
	if (c->imports && !c->imports_dlsym && strcmp(imports, "1") != 0)
		return "SWIZZLE_IMPORTS: neither '1' nor 'dlsym'";
	c->off = flag("SWIZZLE_OFF", false);
	if (!trigger("SWIZZLE_START_AT", &c->start_at))
		return "SWIZZLE_START_AT: not FUNCTION or FUNCTION#NUMBER";
	if (!trigger("SWIZZLE_STOP_AT", &c->stop_at))
		return "SWIZZLE_STOP_AT: not FUNCTION or FUNCTION#NUMBER";
	off = text("SWIZZLE_OFF");
	c->off_native = c->off && !swz_config_has_triggers() &&
			strcmp(off, "hooked") != 0;
	c->off |= c->start_at.pattern != NULL;
	c->follow = flag("SWIZZLE_FOLLOW", true);
	c->cache = flag("SWIZZLE_CACHE", true);
	c->cache_home = text("XDG_CACHE_HOME");
	c->home = text("HOME");
	problem = read_patterns(c);
	if (problem)
		return problem;
	if (!number("SWIZZLE_MIN_SIZE", 0, &size) || size > UINT32_MAX)
		return "SWIZZLE_MIN_SIZE: not a number of bytes";
	c->min_size = (uint32_t)size;
	read_of_tests(c);
	mode = text("SWIZZLE_MODE");
	if (mode && strcmp(mode, "profile") != 0 &&
	    strcmp(mode, "trace") != 0 && strcmp(mode, "count") != 0 &&
	    strcmp(mode, "cover") != 0)
		return "SWIZZLE_MODE: not 'profile', 'trace', 'count' or "
		       "'cover' "
		       "(swizzle-run has more modes)";
	c->trace = mode && *mode == 't';
	c->count = mode && *mode == 'c';
	c->first_calls = c->count && mode[2] == 'v';
	timing = text("SWIZZLE_TIMING");
	if (timing && strcmp(timing, "exact") != 0 &&
	    strcmp(timing, "sampled") != 0)
		return "SWIZZLE_TIMING: neither 'exact' nor 'sampled'";
	c->sampled = timing && *timing == 's';
	if (c->percentiles && (c->count || c->sampled))
		return "SWIZZLE_PERCENTILES: each call's time is not known "
		       "with SWIZZLE_MODE=count or cover, nor with "
		       "SWIZZLE_TIMING=sampled";
	problem = c->trace ? read_trace(c) : NULL;
	if (!c->trace && text("SWIZZLE_SLOW"))
		return "SWIZZLE_SLOW: for SWIZZLE_MODE=trace";
	if (!problem)
		problem = read_values(c);
	if (problem)
		return problem;
	if (!number("SWIZZLE_DEPTH", 0, &depth) || depth > 1u << 20)
		return "SWIZZLE_DEPTH: not a number of calls";
	c->depth = (uint32_t)depth;
	if (!number("SWIZZLE_RECURSION", DEFAULT_RECURSION, &depth) || !depth ||
	    depth > 1u << 20)
		return "SWIZZLE_RECURSION: not a number of calls";
	c->recursion = (uint32_t)depth;
	if (!number("SWIZZLE_MAX_MEMORY", DEFAULT_MAX_MEMORY, &c->max_memory) ||
	    c->max_memory < LEAST_MEMORY || c->max_memory > 64ull << 30)
		return "SWIZZLE_MAX_MEMORY: not a size from 1M to 64G";
	c->max_memory &= -(uint64_t)4096;
	problem = set_output(text("SWIZZLE_OUTPUT"));
	if (problem)
		return problem;
	check_shown(&c->run);
	c->run.only_used = c->module != NULL;
	c->summary = flag("SWIZZLE_SUMMARY", true) && !c->quiet;
	fresh = variable("SWIZZLE_FRESH");
	if (fresh && *fresh == '1') {
		c->fresh = true;
		*fresh = '0'; /* a program that this one executes is not */
	}
	return NULL;
}

void swz_config_unfollow(void)
{
	char *list = variable("LD_PRELOAD");

	if (list)
		swz_preload_split(list, list, NULL);
}
