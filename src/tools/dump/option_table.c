#include "tools/dump/option_table.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/words.h"
#include "tools/dump/message.h"
#include "tools/dump/options.h"
#include "tools/dump/usage.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct option swz_dump_long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"thread-parts", no_argument, NULL, OPTION_THREAD_PARTS},
	{"separate-threads", no_argument, NULL, OPTION_SEPARATE_THREADS},
	{"no-compensate", no_argument, NULL, OPTION_NO_COMPENSATE},
	{"demangle", required_argument, NULL, OPTION_DEMANGLE},
	{"percent-limit", required_argument, NULL, OPTION_PERCENT_LIMIT},
	{"filter", required_argument, NULL, 'F'},
	{"caller", required_argument, NULL, 'C'},
	{"notrace", required_argument, NULL, 'N'},
	{"hide", required_argument, NULL, 'H'},
	{"bottom-up", no_argument, NULL, OPTION_BOTTOM_UP},
	{"tid", required_argument, NULL, OPTION_TID},
	{"from", required_argument, NULL, OPTION_FROM},
	{"since", required_argument, NULL, OPTION_SINCE},
	{"to", required_argument, NULL, OPTION_TO},
	{"min-time", required_argument, NULL, 't'},
	{"depth", required_argument, NULL, 'D'},
	{"max-depth", required_argument, NULL, 'D'},
	{"sample-events", required_argument, NULL, OPTION_SAMPLE_EVENTS},
	{"at", required_argument, NULL, OPTION_AT},
	{"blame", no_argument, NULL, OPTION_BLAME},
	{"calls-of", required_argument, NULL, OPTION_CALLS_OF},
	{"file-per-invocation", no_argument, NULL, OPTION_APART},
	{"ring-clock", required_argument, NULL, OPTION_RING_CLOCK},
	{"ring-paths", required_argument, NULL, OPTION_RING_PATHS},
	{"diff", required_argument, NULL, OPTION_DIFF},
	{"embed", no_argument, NULL, OPTION_EMBED},
	{"no-embed", no_argument, NULL, OPTION_NO_EMBED},
	{"debug-dir", required_argument, NULL, OPTION_DEBUG_DIR},
	{"symfs", required_argument, NULL, OPTION_SYMFS},
	{"by", required_argument, NULL, OPTION_BY},
	{"merge-into", required_argument, NULL, OPTION_MERGE_INTO},
	{"process", required_argument, NULL, OPTION_PROCESS},
	{"push", required_argument, NULL, OPTION_PUSH},
	{"times", required_argument, NULL, OPTION_TIMES},
	{"no-times", no_argument, NULL, OPTION_NO_TIMES},
	{"script", no_argument, NULL, OPTION_SCRIPT},
	{"config", required_argument, NULL, OPTION_CONFIG},
	{"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
	{"no-debuginfod", no_argument, NULL, OPTION_NO_DEBUGINFOD},
	{"color", optional_argument, NULL, OPTION_COLOUR},
	{"no-pager", no_argument, NULL, OPTION_NO_PAGER},
	{"no-source", no_argument, NULL, OPTION_NO_SOURCE},
	{"sort", required_argument, NULL, 's'},
	{"quiet", no_argument, NULL, 'q'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0}};

static const char *option_at(size_t index)
{
	return index < COUNT(swz_dump_long_options)
		       ? swz_dump_long_options[index].name
		       : NULL;
}

/* Whether getopt_long means a long option by VALUE; letters that are unknown
 * are none's. */
static bool is_of_long_option(int value)
{
	size_t i;

	for (i = 0; swz_dump_long_options[i].name; i++)
		if (swz_dump_long_options[i].val == value)
			return true;
	return false;
}

_Noreturn void swz_dump_bad_option(int found, const char *argument)
{
	const char *problem = found == ':' ? "needs a value" : "takes no value";
	char text[SWZ_ADVICE_BYTES];
	int option;

	if (found == '?' && optopt && !is_of_long_option(optopt)) {
		snprintf(text, sizeof(text), "unknown option -%c", optopt);
	} else if (!optopt) {
		swz_option_complaint(option_at, argument, text);
	} else if (strncmp(argument, "--", 2) == 0) {
		option = swz_word_find(option_at, argument + 2,
				       strcspn(argument + 2, "="));
		snprintf(text, sizeof(text), "option --%s %s",
			 swz_dump_long_options[option].name, problem);
	} else {
		snprintf(text, sizeof(text), "option -%c %s", optopt, problem);
	}
	swz_dump_complain("%s\n" SWZ_TRY_HELP, text);
	exit(EXIT_USAGE);
}

unsigned int swz_dump_format_option(int option)
{
	switch (option) {
	case 'n':
		return SWZ_TAKES_ROWS;
	case 's':
		return SWZ_TAKES_SORT;
	case OPTION_PERCENT_LIMIT:
		return SWZ_TAKES_LIMIT;
	case OPTION_BOTTOM_UP:
		return SWZ_TAKES_BOTTOM_UP;
	case OPTION_NO_SOURCE:
		return SWZ_TAKES_SOURCE;
	case OPTION_TID:
		return GIVEN_TID;
	case OPTION_FROM:
	case OPTION_TO:
		return GIVEN_RANGE;
	case OPTION_THREAD_PARTS:
		return GIVEN_THREAD_PARTS;
	case OPTION_SEPARATE_THREADS:
		return GIVEN_SEPARATE_THREADS;
	case OPTION_NO_COMPENSATE:
		return GIVEN_NO_COMPENSATE;
	case OPTION_DEMANGLE:
		return GIVEN_DEMANGLE;
	case OPTION_EMBED:
		return GIVEN_EMBED;
	case OPTION_NO_EMBED:
		return GIVEN_NO_EMBED;
	case OPTION_DEBUG_DIR:
		return GIVEN_DEBUG_DIR;
	case OPTION_SYMFS:
		return GIVEN_SYMFS;
	case OPTION_BY:
		return GIVEN_BY;
	case 'D':
		return GIVEN_DEPTH;
	case 't':
	case OPTION_SAMPLE_EVENTS:
		return GIVEN_LIMITS;
	case OPTION_AT:
		return SWZ_TAKES_CALLS;
	case OPTION_BLAME:
		return GIVEN_BLAME;
	case OPTION_CALLS_OF:
		return GIVEN_CALLS_OF;
	case OPTION_RING_CLOCK:
	case OPTION_RING_PATHS:
		return SWZ_TAKES_RINGS;
	default:
		return 0;
	}
}
