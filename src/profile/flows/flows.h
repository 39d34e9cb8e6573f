#ifndef SWZ_PROFILE_FLOWS_FLOWS_H
#define SWZ_PROFILE_FLOWS_FLOWS_H

/* The calls that flows are made of, as the traces have them; and the parts that
 * match them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory.h"
#include "profile/file/reader.h"

/* --- flows and their order ----------------------------------------------- */

/* A flow says what woke what in the traces of one or of several processes
 * (--flows): from a write to the read that took it, from an unlock to the lock
 * that waited for it, from a thread's creation to its start, and so on. What is
 * not certain is no flow: it is counted. See docs/flows.md. */

/* A moment in a thread. */
struct swz_flow_end {
	uint32_t process;     /* index of its profile */
	uint32_t thread;      /* into that one's threads */
	uint64_t ticks;       /* rdtsc */
	const char *function; /* the function of libc: "write"; or what begins
			       * or ends there: "thread", "process", "exec" */
};

struct swz_flow {
	struct swz_flow_end from, to; /* from is not later than to */
};

enum swz_flow_doubt {
	SWZ_FLOW_OUTSIDE, /* the other end was not recorded */
	SWZ_FLOW_ORDER,   /* calls overlap, so it may be one or the other */
	SWZ_FLOW_LOST,    /* not all calls were recorded */
	SWZ_FLOW_DOUBTS
};

/* A place in the list of a thread's ends of flows. */
struct swz_flow_place {
	uint32_t process, thread;
	uint64_t ticks;
	uint32_t flow;
	bool is_to;
};

struct swz_flows {
	struct swz_flow *of; /* in no order */
	size_t count, capacity;
	struct swz_flow_place *places; /* by thread, then time */
	uint64_t doubts[SWZ_FLOW_DOUBTS];
};

void swz_flows_free(struct swz_flows *flows); /* NULL is fine */

/* The order of places. */
int swz_flow_places_compare(const void *left, const void *right);

/* The flows of one thread, in the order of time. */
struct swz_flow_reader {
	const struct swz_flows *flows;
	size_t next, end;
};

/* Begins with what happens from FROM on. FLOWS may be NULL: then there are
 * none. */
void swz_flow_reader_begin(struct swz_flow_reader *reader,
			   const struct swz_flows *flows, size_t process,
			   size_t thread, uint64_t from);

/* The next end that is not later than UNTIL; NULL: there is none. *END is the
 * end in this thread, *OTHER the other one. */
const struct swz_flow *swz_flow_reader_next(struct swz_flow_reader *reader,
					    uint64_t until, bool *is_to);

/* Says what is not certain, as a sentence for people; NULL: nothing is. To be
 * freed. */
char *swz_flows_doubts(const struct swz_flows *flows);

/* --- calls --------------------------------------------------------------- */

enum swz_flow_call_kind {
	SWZ_CALL_CREATE,          /* key: pthread_t */
	SWZ_CALL_JOIN,            /* key: pthread_t */
	SWZ_CALL_FORK,            /* result: pid */
	SWZ_CALL_SPAWN,           /* key: pid */
	SWZ_CALL_EXEC,            /* key: pid; of a moment */
	SWZ_CALL_WAIT,            /* key: pid */
	SWZ_CALL_PIPE,            /* made; key and other: its ends */
	SWZ_CALL_PAIR,            /* the same of sockets */
	SWZ_CALL_ACCEPT,          /* key: the new socket */
	SWZ_CALL_CONNECT,         /* key: the socket */
	SWZ_CALL_RECEIVE,         /* key: a file; other: flags; result: bytes */
	SWZ_CALL_SEND,            /* the same */
	SWZ_CALL_RECEIVE_SEVERAL, /* result: messages */
	SWZ_CALL_SEND_SEVERAL,
	SWZ_CALL_SPLICE, /* key: from, other: to */
	SWZ_CALL_TEE,
	SWZ_CALL_OTHER_DATA, /* key: a file whose bytes are not counted */
	SWZ_CALL_LOCK,       /* key: the mutex */
	SWZ_CALL_UNLOCK,
	SWZ_CALL_SHARED,    /* key: 1: locks may be of several processes */
	SWZ_CALL_COND_WAIT, /* key: the condition; other: the mutex */
	SWZ_CALL_COND_WAKE, /* key: the condition; one waiter */
	SWZ_CALL_COND_WAKE_ALL,
	SWZ_CALL_SEM_INIT, /* key: the semaphore; other: its value, and if it
			    * is shared SWZ_SEM_SHARED */
	SWZ_CALL_SEM_POST,
	SWZ_CALL_SEM_WAIT,
	SWZ_CALL_HANDLER,     /* key: signal; other: the function's address */
	SWZ_CALL_KILL,        /* key: pid; other: signal */
	SWZ_CALL_KILL_TID,    /* key: tid */
	SWZ_CALL_KILL_THREAD, /* key: pthread_t */
	SWZ_CALL_KINDS
};

#define SWZ_SEM_SHARED (UINT64_C(1) << 32)

struct swz_flow_call {
	uint8_t kind;    /* enum swz_flow_call_kind */
	bool ended;      /* it has returned, with `result` */
	bool has_cause;  /* while matching */
	bool is_doubted; /* the same */
	uint32_t process, thread;
	uint32_t number;     /* of its function's name: flow_call_name() */
	uint64_t begin, end; /* rdtsc; end: UINT64_MAX if it did not return */
	uint64_t key, other;
	int64_t result;
};

/* A pipe, or a socket. */
struct swz_flow_file {
	uint64_t inode;
	uint32_t peer; /* a pipe: itself; SWZ_INDEX_NONE: not known */
	uint16_t type; /* SOCK_*; 0: a pipe, or not known */
	bool is_socket;
	bool born;      /* it was made, or connected, while it was recorded */
	bool uncounted; /* bytes went through it that were not counted */
	uint64_t since; /* ticks: when it was seen first */
	uint8_t addresses[36]; /* own, peer: 16 bytes and a port */
	bool has_addresses;
};

struct swz_flow_thread {
	uint32_t process, thread;
	uint64_t self; /* pthread_t */
	uint64_t start, last;
};

struct swz_flow_calls {
	struct swz_profile *const *profiles;
	size_t profile_count;
	struct swz_flow_call *of; /* by thread, in no order */
	size_t count, capacity;
	struct swz_flow_file *files;
	size_t file_count, file_capacity;
	struct swz_map by_inode;         /* into files */
	struct swz_flow_thread *threads; /* sorted by process, self, start */
	size_t thread_count, thread_capacity;
	bool *lost; /* by process: not all its calls were recorded */
	bool any_lost;
};

void swz_flow_calls_read(struct swz_flow_calls *calls,
			 struct swz_profile *const *profiles, size_t count);
void swz_flow_calls_free(struct swz_flow_calls *calls);

/* Pointers to the calls of some kinds (bits), sorted by process unless
 * ALL_PROCESSES, then by key, then by begin. To be freed. */
#define SWZ_CALLS(kind) (UINT64_C(1) << SWZ_CALL_##kind)
struct swz_flow_call **swz_flow_calls_of(const struct swz_flow_calls *calls,
					 uint64_t kinds, bool all_processes,
					 size_t *count);

/* Adds a flow from a call's begin to another one's end. */
void swz_flow_between(struct swz_flows *flows, const struct swz_flow_call *from,
		      const struct swz_flow_call *to);
void swz_flow_add(struct swz_flows *flows, struct swz_flow_end from,
		  struct swz_flow_end to);

/* The end of a flow at a call's begin, or where it returns. */
struct swz_flow_end swz_flow_at_begin(const struct swz_flow_call *call);
struct swz_flow_end swz_flow_at_end(const struct swz_flow_call *call);

/* Matches data that goes in at one side and comes out at the other, in its
 * order: what was sent and received, sorted by begin, that returned something
 * above 0. INITIAL units are there at first. Adds a flow for each pair of which
 * it is certain, or counts it; ONLY_WAITERS: only to calls that began earlier.
 */
void swz_flow_stream(struct swz_flows *flows, struct swz_flow_call **sent,
		     size_t sent_count, struct swz_flow_call **received,
		     size_t received_count, uint64_t initial, bool messages,
		     bool only_waiters);

/* The parts. */
void swz_flow_match_data(struct swz_flows *flows, struct swz_flow_calls *calls);
void swz_flow_match_locks(struct swz_flows *flows,
			  struct swz_flow_calls *calls);
void swz_flow_match_conditions(struct swz_flows *flows,
			       struct swz_flow_calls *calls);
/* --- find ---------------------------------------------------------------- */

/* Finds the flows between processes; NULL: none was recorded with --flows.
 * COUNT profiles, which must outlive the result. */
struct swz_flows *swz_flows_find(struct swz_profile *const *profiles,
				 size_t count);

#endif
