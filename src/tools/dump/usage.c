#include "tools/dump/usage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/dump/message.h"
#include "tools/dump/options.h"

/* clang-format off */
const char swz_dump_usage_text[] =
	"Usage: swizzle-dump [options] [FILE|DIR...]\n"
	"Convert swizzle profiles; several are merged. Default: the newest\n"
	"swizzle.out.* in the working directory.\n"
	"\n"
	"  -f, --format FORMAT    table (default on a terminal), callgrind (default\n"
	"                         elsewhere), tree, html, ...; 'help' lists them\n"
	"  -o, --output FILE      '-' is standard output. Default: callgrind writes\n"
	"                         callgrind.out.PID, most others standard output\n"
	"      --by KEY           table, text, csv, json: a row for each function,\n"
	"                         module, process, thread, file or line; rank: how\n"
	"                         functions differ between the ranks of a parallel\n"
	"                         program; KEY,thread KEY,process KEY,rank: a column\n"
	"                         for each thread, process or rank\n"
	"      --merge-into FILE  add the profiles to FILE, which becomes the sum of all\n"
	"                         that were ever added; each is added once\n"
	"      --thread-parts     one part (table, tree, ...) per thread\n"
	"      --separate-threads one file (or table) per thread\n"
	"      --push URL         send the profiles to a server: .../ingest (Pyroscope),\n"
	"                         .../writeraw (Parca), or others (OTLP, by default\n"
	"                         /v1development/profiles)\n"
	"      --process PROCESS  only the profiles of processes with this name, path or\n"
	"                         number (* ? []); may be repeated\n"
	"      --tid THREAD       only the threads with this id, or a name that\n"
	"                         matches (* ? []); may be repeated\n"
	"      --from TIME        trace: only from this time on: seconds since the start\n"
	"                         (0.25), or percent (25%)\n"
	"      --to TIME          trace: only up to this time\n"
	"      --since SNAPSHOT   only what happened after this snapshot (swizzle-ctl)\n"
	"      --no-compensate    do not subtract the cost of the hooks\n"
	"      --demangle=HOW     no, simple (default; without parameters) or full\n"
	"      --config FILE      which calls are shown, and how: see\n"
	"                         docs/config.md [~/.config/swizzle/config,\n"
	"                         then ./.swizzle]\n"
	"  -F, --filter PATTERN   only functions that match, and what they call; in\n"
	"                         tables only rows that match; tree: callers and\n"
	"                         callees of those that match\n"
	"  -N, --notrace PATTERN  not the functions that match, nor what they call\n"
	"  -H, --hide PATTERN     not the functions that match; what they call stays\n"
	"  -C, --caller PATTERN   only the functions that match, and the paths that\n"
	"                         lead to them\n"
	"                         (!PATTERN in these four takes away what matches)\n"
	"      --script           only functions of scripts; the time of the others is\n"
	"                         that of the script's function that called them\n"
	"  -t, --min-time TIME    events of a trace: no calls shorter than TIME\n"
	"                         (10us, 2ms), nor what they call\n"
	"  -D, --depth N          events of a trace, calls: only the first N levels\n"
	"      --max-depth N      the same\n"
	"      --sample-events N  events of a trace: one call of N, with the calls\n"
	"                         around it\n"
	"      --at TIME          calls: the stacks at this moment (as --from)\n"
	"      --blame            calls: for each error the call that returned it first,\n"
	"                         and the callers that handed it on\n"
	"      --calls-of PATTERN calls: the single calls of these functions, the\n"
	"                         longest first (-s start: the earliest), and how\n"
	"                         their times are spread\n"
	"      --file-per-invocation\n"
	"                         calls, calls-html: a file for each call of the\n"
	"                         functions of -F (at most -n, 1000) and an index, in\n"
	"                         the folder that -o names\n"
	"      --ring-clock CLOCK rings: clockwise is time (default), or calls: one\n"
	"                         tick for each\n"
	"      --ring-paths PATHS rings: colour by the callees (default) or by the\n"
	"                         arguments of a call\n"
	"  -n N                   tables, tree: at most N rows (0: all; table and\n"
	"                         --calls-of: 25); calls-html: calls (500000)\n"
	"  -s, --sort KEY         tables, tree: sort by self, incl, calls, name, min or\n"
	"                         max (--calls-of: incl or start)\n"
	"      --percent-limit P  leave out rows below P percent\n"
	"      --bottom-up        tree: each function with its callers\n"
	"      --embed            add the names and source lines that FILE needs to\n"
	"                         FILE, for other machines and later; an archive has\n"
	"                         them unless --no-embed is given\n"
	"      --debug-dir DIR    look for separate debug files in DIR, too; may be\n"
	"                         repeated\n"
	"      --symfs DIR        look for programs and libraries below DIR\n"
	"      --no-source        html: leave the text of source files out\n"
	"      --color=WHEN       auto (default: on a terminal, unless NO_COLOR is set),\n"
	"                         always or never\n"
	"      --no-pager         print long tables as they are, not through\n"
	"                         SWIZZLE_PAGER, PAGER or less\n"
	"      --diff OLD NEW     compare two profiles (files or directories)\n"
	"      --diff OLD... -- NEW...\n"
	"                         compare several runs of each, and tell changes from\n"
	"                         noise; for text (the default then), table, tree,\n"
	"                         csv, json, folded, callgrind, pprof, dot, html\n"
	"      --fail-above P     with --diff: status 1 if the total or a function has\n"
	"                         become slower by more than P percent, beyond the\n"
	"                         noise\n"
	"      --times SAMPLES    take the times from SAMPLES, a profile of the same\n"
	"                         command by swizzle-run -m sample; counts are\n"
	"                         those of FILE\n"
	"      --no-times         of a run with -m both: show the times that were\n"
	"                         recorded with the counts\n"
	"      --no-debuginfod    do not ask the servers in DEBUGINFOD_URLS for debug\n"
	"                         information\n"
	"  -q, --quiet            no warnings\n"
	"  -V, --version\n"
	"  -h, --help\n";
/* clang-format on */

_Noreturn void swz_dump_bad_usage(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	swz_dump_complain("%s\n" SWZ_TRY_HELP, text ? text : "no memory");
	exit(EXIT_USAGE);
}

_Noreturn void swz_dump_wrong_value(const char *as, const char *value,
				    const char *wanted)
{
	swz_dump_bad_usage("option %s: '%s' is not %s", as, value, wanted);
}

_Noreturn void swz_dump_unknown_word(const char *as, const char *what,
				     const char *value, swz_word_at *at)
{
	char advice[SWZ_ADVICE_BYTES];

	swz_word_advice(at, value, advice);
	swz_dump_bad_usage("option %s: unknown %s '%s'%s", as, what, value,
			   advice);
}

_Noreturn void swz_dump_finish_printing(void)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		swz_dump_complain("standard output: %s", strerror(errno));
		exit(EXIT_INPUT);
	}
	exit(EXIT_OK);
}
