#ifndef SWZ_RUNTIME_SUPPORT_CONFIG_H
#define SWZ_RUNTIME_SUPPORT_CONFIG_H

/* The configuration (SWIZZLE_*), the patterns in it, and the clock by which
 * all is measured. */

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/run_summary.h"

/* --- lists of patterns --------------------------------------------------- */

/* Lists of shell patterns (* ? [a-z], no special '/'), one a line; a leading
 * '!' excludes. A list that only excludes stands for all else. Pure. */

/* False if a pattern in the list is "!" alone, or has a '[' without a ']'.
 * Empty lines are no patterns. */
bool swz_patterns_are_valid(const char *list);

struct swz_pattern {
	const char *text; /* in the list, with its '!' */
	unsigned length;
	bool excludes;
};

/* The first pattern of the list, which begins behind it then. False: there is
 * none (also of a list of NULL). */
bool swz_patterns_next(const char **list, struct swz_pattern *pattern);

/* Patterns of a list that have matched anything: a bit for each, in their
 * order. Patterns behind the last bit are not noted. */
#define SWZ_PATTERNS_NOTED 512u
struct swz_pattern_hits {
	uint64_t bits[SWZ_PATTERNS_NOTED / 64];
};

/* True if it matches any of the texts, whatever it says of them. */
bool swz_pattern_matches(const struct swz_pattern *pattern,
			 const char *const *texts, unsigned count);

enum swz_pattern_found {
	SWZ_PATTERN_WANTS = 1,   /* one without a '!' matches */
	SWZ_PATTERN_EXCLUDES = 2 /* one with a '!' */
};

/* Finds the patterns of the list that match any of the texts, the names of one
 * thing: enum swz_pattern_found. Notes which do, unless HITS is NULL. */
unsigned swz_patterns_find(const char *list, const char *const *texts,
			   unsigned count, struct swz_pattern_hits *hits);

bool swz_patterns_any_positive(const char *list);

/* True if the list names a thing for whose names that was found. A list of
 * NULL: false. */
bool swz_patterns_decide(const char *list, unsigned found);

/* --- the configuration --------------------------------------------------- */

/* True if LD_PRELOAD names us. */
bool swz_is_preloaded(char **envp);

/* Divides a list as LD_PRELOAD has it (words between colons or spaces,
 * ld.so(8)). Words that name other libraries go to OTHERS, which may be the
 * list itself. The last word that names us goes to OURS (NULL: not wanted),
 * which is empty if none does. Each has room for all of the list. */
void swz_preload_split(const char *list, char *others, char *ours);

/* The configuration (SWZ_* <- SWIZZLE_*), read once at start. */

/* For tests: what all functions get that can. */
enum swz_test_tactic {
	SWZ_TEST_NONE,
	SWZ_TEST_PADDING,   /* short jumps into padding */
	SWZ_TEST_NEIGHBOUR, /* short jumps into bytes of a neighbour */
	SWZ_TEST_BRANCHES /* branches back to the beginning are led elsewhere */
};

/* At which call of which function something is to happen. */
struct swz_trigger {
	const char *pattern; /* NULL: none is given */
	uint64_t number;     /* from 1 */
};

/* --slow: calls that take longer than this are kept. */
#define SWZ_MOST_SLOW_RULES 7u
#define SWZ_MOST_KEEP 1000u
struct swz_slow_rule {
	uint64_t least_ns; /* 0: found while it runs, as */
	uint32_t share;    /* this part of all calls, of 100,000, is shorter */
};

struct swz_config {
	char output[4096];     /* absolute, with %p still in it */
	bool at_fixed_address; /* the program (not PIE), which has hooks */
	bool attached;         /* into a process that ran already: its code is
				* changed by the controller (base/control.h) */
	bool linked;           /* here for a program that was linked with us, or
				* loaded into one that ran already: it is not
				* profiled; nothing else is filled in */
	bool fresh;            /* started by swizzle-run just now: an older
				* file of the same name may be replaced */
	struct swz_run run;    /* to which this process belongs */
	bool summary;          /* say at its end what was recorded */
	const char *filter;    /* newline-separated patterns; NULL: none */
	const char *notrace;
	const char *hide;
	const char *module;
	const char *location;
	bool percentiles; /* histograms of call times are kept */
	bool percentiles_of_all;
	const char *percentiles_patterns; /* NULL: none, or of all */
	const char *arguments;            /* -A, one a line; NULL: none */
	const char *signatures; /* --args: base/signature_exchange.h; NULL */
	uint32_t string_bytes;  /* that are recorded of a text at most */
	uint32_t depth;         /* 0: no limit */
	uint32_t recursion;     /* how often a function is on a path */
	uint32_t min_size;      /* bytes; 0: no limit */
	uint64_t max_memory;    /* bytes */
	bool sampled;           /* --timing sampled */
	bool count;             /* -m count: calls alone, without times */
	bool first_calls;       /* -m cover: of these, each function's first;
				 * `count` is set, too */
	bool trace;             /* -m trace, and what goes with it: */
	bool ring;              /* keep the newest events */
	bool switches;          /* record context switches */
	bool flows;             /* record what wakes what */
	bool prints;            /* record what is printed */
	uint64_t max_size;      /* bytes of events */
	uint64_t min_time;      /* ns; shorter calls have no events */
	const char *slow; /* --slow: patterns, a line for each rule; NULL: none.
			   * They are `filter`, too. */
	struct swz_slow_rule slow_rules[SWZ_MOST_SLOW_RULES];
	uint32_t slow_keep;         /* calls of each rule */
	uint64_t progress_after_ms; /* for tests; see
				       src/runtime/support/message.h */
	bool follow;
	bool imports;       /* time calls through the GOT, too */
	bool imports_dlsym; /* and through what dlsym returns */
	bool off;           /* begin paused */
	bool off_native;    /* and leave the hooks to swizzle-ctl */
	struct swz_trigger start_at, stop_at;
	bool list;
	bool verbose;
	bool quiet;
	enum swz_test_tactic test_tactic;
	uint32_t test_worker_threads; /* threads that plan; 0: as is worth while
				       */
	uint32_t own_thunks; /* for tests; see src/runtime/hooks/thread_thunks.c
			      */
	uint32_t own_frames; /* the same; see src/runtime/hooks/thread_thunks.c
			      */
	bool cache;          /* plans, in a directory of the user's */
	const char *cache_home; /* XDG_CACHE_HOME */
	const char *home;
	int argc;
	char **argv;
	char **envp;
};

extern struct swz_config swz_config;

/* How many calls of --start-at and --stop-at this process has seen, those of
 * its parent before the fork included, and enum swz_trigger_flags. */
struct swz_trigger_state {
	uint64_t starts, stops;
	uint32_t flags;
};

extern struct swz_trigger_state swz_trigger_state;

static inline bool swz_config_has_triggers(void)
{
	return swz_config.start_at.pattern || swz_config.stop_at.pattern;
}

/* Returns NULL, or what is wrong (a sentence for the user). With AT_SECURE set
 * in the auxiliary vector: a sentence too, and nothing must be done. */
const char *swz_config_read(int argc, char **argv, char **envp);

/* Takes ourselves out of LD_PRELOAD (--no-follow): in place, in the
 * environment that the program will hand on. */
void swz_config_unfollow(void);

/* --- the clock ----------------------------------------------------------- */

/* The kernel's clocks. A start reads them a dozen times: until it ends that is
 * done in the vdso, without a system call. Later the program may have filters
 * that we know, or have unmapped what was there: then it is a system call. */

/* Looks for the vdso in the auxiliary vector, which lies behind the
 * environment on the stack of a program that begins. One thread. */
void swz_clock_begin_start(char **envp);
void swz_clock_end_start(void);

/* False: the kernel refuses, or is not to be asked any more. Async-signal-safe.
 */
bool swz_clock_read(clockid_t clock, struct timespec *now);

/* CLOCK_MONOTONIC in ns; 0: it cannot be read. */
uint64_t swz_clock_monotonic_ns(void);

#endif
