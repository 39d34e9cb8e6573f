#ifndef SWZ_TOP_LIVE_H
#define SWZ_TOP_LIVE_H

/* The figures of the processes that swizzle-top watches, of the last round and
 * of all rounds. They come from profiles: of samples, each of which says what
 * came after the one before; or those of libswizzle.so, which say all since the
 * process began and are read again and again. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "swizzle/format.h"
#include "util/figures.h"
#include "util/memory.h"
#include "profile/costs/contexts.h"
#include "profile/names/catalog.h"

struct swz_live_function {
	uint64_t calls; /* samples: that hit the function itself */
	int64_t self_ns;
	int64_t inclusive_ns;
};

struct swz_live_figures {
	struct swz_live_function *functions; /* by the catalog's index */
	size_t function_count;
	struct swz_contexts contexts; /* inclusive_ns is set */
	int64_t total_ns;             /* of all self times */
	uint64_t calls;               /* or samples */
	/* of samples */
	uint64_t lost, missed;
	uint64_t cut; /* stacks that were not walked to their end */
	uint64_t wall_ns;
};

struct swz_live_thread {
	int32_t pid, tid;
	char name[17];
	bool has_name;    /* of the kernel; else the profile's */
	uint64_t seen;    /* in which round */
	uint64_t calls;   /* in it; or samples */
	uint64_t used_ns; /* processor time in it */
	uint64_t total_calls, total_used_ns;
	uint64_t known_calls, known_used_ns; /* exact: as they were read last */
	bool known;
};

struct swz_live {
	struct swz_catalog catalog;
	bool samples;       /* else exact counts */
	bool script;        /* functions of scripts alone */
	bool offsets;       /* see swz_live_begin() */
	bool without_times; /* of these: some profile has no times (-m count) */
	struct swz_live_figures recent, total;
	int32_t only_pid, only_tid; /* they are of this thread; 0: of all */
	struct swz_live_thread *threads;
	size_t thread_count, thread_capacity;
	struct swz_map by_tid; /* (pid, tid): threads */
	uint64_t round;        /* counts them, from 1 */
	uint64_t round_ns;     /* CLOCK_MONOTONIC: the end of the last */
	size_t processes, live_threads; /* in this round */
	struct swz_map process_rounds;  /* (pid, 0): when it was seen last */
	char *damaged; /* a profile that could not be read, and why; NULL */
	struct swz_intern names; /* of functions in no file */
	struct swz_map name_numbers;
};

/* A process: what its profile said when it was read last. */
struct swz_live_source {
	int32_t pid;
	uint64_t process_start;
	char *path;
	bool known;
	struct swz_live_function *functions; /* by the catalog's index */
	size_t function_count;
	struct swz_contexts contexts;
};

/* OFFSETS: contexts are told apart by the offsets of calls in their callers,
 * and have those that samples hit below them. */
void swz_live_begin(struct swz_live *live, bool samples, bool offsets,
		    uint64_t now_ns);
void swz_live_free(struct swz_live *live);

/* A round begins: nothing is recent any more. */
void swz_live_begin_round(struct swz_live *live);

/* From now on figures are of that thread alone; 0, 0: of all. They begin anew.
 */
void swz_live_only(struct swz_live *live, int32_t pid, int32_t tid);

/* Adds a profile of samples. */
void swz_live_add_samples(struct swz_live *live, const char *path);

/* Reads a process's profile again, and adds what is new in it. EARLIER: it
 * began before swizzle-top did, so what is there at first is not recent. */
void swz_live_add_exact(struct swz_live *live, struct swz_live_source *source,
			bool earlier);
/* Forgets what it said. */
void swz_live_source_restart(struct swz_live_source *source);
void swz_live_source_free(struct swz_live_source *source);

/* All of the round was added: sums are made, and names looked up. */
void swz_live_end_round(struct swz_live *live, uint64_t now_ns);

/* The name of a function, and its module's or "-". */
const char *swz_live_name(const struct swz_live *live, uint32_t function);
const char *swz_live_module(const struct swz_live *live, uint32_t function);

/* --- which processes there are ------------------------------------------- */

/* The profile of calls that a process writes now: its path, to be freed. NULL:
 * it writes none, or one that cannot be got at. */
char *swz_top_profile_of(int32_t pid);

/* The header of a profile of calls. False: the file is none. */
bool swz_top_profile_header(const char *path, struct swz_file_header *header);

/* True if a profile is of a run that is counted and sampled (--mode both): its
 * calls have no times before the samples are written, at its end. */
bool swz_top_is_sampled(const char *profile);

/* Calls VISIT for each file in the folder of a profile. */
void swz_top_profiles_beside(const char *profile,
			     void (*visit)(void *context, const char *path),
			     void *context);

/* The command line of a process, with blanks between its words; its name where
 * there is none. To be freed. */
char *swz_top_process_command(int32_t pid);

/* --- the list of processes ----------------------------------------------- */

/* The user's processes, of which one can be chosen to be watched; for root all.
 * The kernel's own threads, what has ended and this process are left out. */

struct swz_top_process {
	int32_t pid;
	uint64_t start;     /* as swz_process_start() */
	uint64_t used_ns;   /* processor time, since it began */
	uint64_t recent_ns; /* since the reading before, or since it began */
	char *command;
	const char *watch; /* "exact", "samples"; "no": it is not permitted */
};

struct swz_process_list {
	struct swz_top_process *items; /* by pid */
	size_t count, capacity;
	uint64_t read_ns; /* CLOCK_MONOTONIC; 0: it was not read */
	uint64_t wall_ns; /* between the last two readings */
};

/* Reads /proc. The list begins zeroed. */
void swz_process_list_read(struct swz_process_list *list);
void swz_process_list_free(struct swz_process_list *list);

/* As a table, those with the largest share first. */
void swz_process_list_print(FILE *stream, const struct swz_process_list *list,
			    const struct swz_style *style);

#endif
