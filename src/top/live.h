#ifndef SWZ_TOP_LIVE_H
#define SWZ_TOP_LIVE_H

/* The figures of the processes that swizzle-top watches, of the last round and
 * of all rounds. They come from profiles: of samples, each of which says what
 * came after the one before; or those of libswizzle.so, which say all since the
 * process began and are read again and again. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
