#ifndef SWZ_PROFILE_FILE_READER_H
#define SWZ_PROFILE_FILE_READER_H

/* Reads a profile file into memory and checks it. The file is hostile: it may
 * be cut off, damaged, forged, or still being written. Whatever is not
 * consistent is left out and counted in swz_damage; what remains can be used
 * without further checks, except the nodes (see call_tree.h). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "base/basics.h"

struct swz_code_ranges;
struct swz_profile_signature;
struct swz_signature_set;
struct swz_summed_ranks;

#define SWZ_INDEX_NONE UINT32_MAX

struct swz_code_ranges;
struct swz_profile_signature;
struct swz_signature_set;
/* Damage of a file that could be read nevertheless. */
struct swz_damage {
	uint64_t missing_bytes; /* said to be used, but past the file's end */
	uint64_t skipped_bytes; /* not part of any valid chunk */
	uint32_t bad_chunks;    /* recognised, but their content is wrong */
	uint64_t stray_nodes;   /* nodes of a thread that has no record */
};

struct swz_profile_module {
	uint32_t index; /* swz_chunk.owner */
	const char *path;
	struct swz_module_record record;
};

struct swz_profile_function {
	uint32_t id;
	uint32_t module;  /* into modules, or SWZ_INDEX_NONE */
	uint64_t address; /* ELF virtual address */
	uint32_t size;
	uint16_t status;  /* enum swz_refusal */
	uint16_t flags;   /* enum swz_function_flags */
	const char *name; /* as the program asked for it; NULL: not known */
};

/* Embedded names. Texts are in the file's bytes; NULL: there is none. */
struct swz_profile_symbol {
	uint32_t module; /* into modules */
	uint32_t number; /* these as in struct swz_symbol_record */
	uint64_t address;
	uint64_t size;
	const char *name; /* not NULL */
	const char *file;
	uint32_t languages;
};

struct swz_profile_line {
	uint32_t module; /* into modules */
	int line;        /* these as in struct swz_line_record */
	uint64_t address;
	const char *file; /* not NULL */
	const char *inlined;
	int outer_line;
};

/* A run of node slots, in the order of the file. */
struct swz_node_span {
	uint32_t owner;
	uint32_t unit; /* file offset / 64 of the first */
	uint32_t count;
};

/* A function's first call (SWZ_FILE_COVER). */
struct swz_profile_first_call {
	uint32_t function;  /* id */
	uint32_t thread;    /* into threads */
	uint64_t call_site; /* a return address; 0: not known */
	uint64_t ticks;     /* rdtsc */
};

/* Activations of a node that an exception has ended. */
struct swz_profile_unwound {
	uint32_t owner; /* the thread's index */
	uint32_t node;  /* file offset / 64 */
	uint64_t count;
};

/* A time in which a thread did not run. */
struct swz_profile_switch {
	uint32_t owner;     /* the thread's index */
	bool preempted;     /* SWZ_SWITCH_PREEMPTED */
	uint64_t off_ticks; /* less than on_ticks in what a thread has */
	uint64_t on_ticks;
};

/* Where a thread was seen to wait. */
struct swz_profile_look {
	uint32_t node; /* file offset / 64 */
	uint32_t kind; /* enum swz_look_kind */
	uint64_t ns;
};

/* How many calls of a function took so long in a thread (--percentiles). */
struct swz_profile_times {
	uint32_t owner;    /* the thread's index */
	uint32_t function; /* id; 0: of any, there was no room */
	uint32_t bucket;   /* base/time_bucket.h; of ticks */
	uint64_t calls;    /* not 0 */
};

/* A moment that has a name: see profile/file/records.h. */
struct swz_profile_mark {
	uint32_t owner;   /* the thread's index */
	uint32_t node;    /* file offset / 64; may be none of the file's */
	uint32_t kind;    /* enum swz_mark_kind, or one that is not known */
	bool cut;         /* the text was longer */
	uint64_t ticks;   /* rdtsc */
	const char *text; /* in the file's bytes, without a NUL */
	size_t text_bytes;
};

/* The part of a chunk of events that is valid and lies within the file. */
struct swz_event_chunk {
	uint32_t owner;
	bool packed;        /* a stream, not pages */
	uint64_t offset;    /* in the file: of a page, or in the stream */
	uint64_t bytes;     /* from there on */
	uint64_t ticks;     /* of the first page; or from where ticks count */
	size_t first_event; /* in the first page */
	uint64_t number;    /* of the first page; packed: of the first that is
			     * not packed with it */
	uint64_t kept;      /* pages: SWZ_EVENTS_KEPT */
	bool is_first;      /* it holds the thread's first page, number 0 */
	uint64_t call, call_ticks; /* SWZ_FILE_SLOW: SWZ_CALL_STATE, _TICKS */
};

/* SWZ_FILE_SLOW: a call whose events are kept. */
struct swz_kept_call {
	uint64_t number;           /* of all that were watched, from 1 */
	uint32_t owner;            /* the thread's index */
	uint32_t rule;             /* into slow_rules, or not there */
	enum swz_call_state state; /* without SWZ_CALL_CUT */
	bool cut;                  /* its later events are not there */
	uint64_t from;             /* ticks: no event of it is earlier */
	uint64_t ticks; /* it took; 0: it is open, or was when the process
			 * ended */
};

/* A chunk of values (see values.h). */
struct swz_value_chunk {
	uint32_t owner;  /* the thread's index */
	uint64_t number; /* in the order of the thread's */
	uint64_t offset; /* in the file: of its first record */
	uint64_t bytes;
};

/* When samples of a thread were taken; see records.h. */
struct swz_sample_chunk {
	uint32_t owner;                             /* the thread's index */
	bool waiting;                               /* it waited then */
	uint64_t start_ticks, unit_ticks, expected; /* as in the file */
	uint64_t count;
	uint64_t offset; /* in the file: of the first */
	uint64_t bytes;
};

struct swz_profile_thread {
	uint32_t index; /* swz_chunk.owner */
	struct swz_thread_record record;
	char name[sizeof(((struct swz_thread_record *)0)->name) + 1];
	uint64_t last_ticks; /* when frames still open are taken to end; not
			      * before record.start_ticks */
	const struct swz_node_span *spans;
	size_t span_count;
	const struct swz_profile_unwound *unwound;
	size_t unwound_count;
	const struct swz_event_chunk *event_chunks; /* in the order of time */
	size_t event_chunk_count;
	const struct swz_profile_switch *switches; /* in the order of time */
	size_t switch_count;
	const struct swz_profile_times *times; /* by function, then bucket */
	size_t times_count;
	uint64_t switches_overwritten;              /* --ring */
	const struct swz_value_chunk *value_chunks; /* in their order */
	size_t value_chunk_count;
};

struct swz_profile {
	char *name;    /* the file's, for messages */
	uint8_t *data; /* the file, with holes where packed events are */
	size_t size;   /* bytes that are there and in use */
	bool mapped;   /* data is a mapping, of mapped_bytes */
	size_t mapped_bytes;
	int fd; /* where those are read from; -1: they are in data */
	struct swz_file_header header;
	uint64_t origin_ticks; /* from which seconds count; 0: the first
				* thread's begin */
	/* samples with times count from here to there; 0: all do */
	uint64_t samples_from, samples_to;
	bool written;           /* by a process that runs, while it was read */
	const char *executable; /* "" where it is unknown; so with cwd */
	const char *cwd;
	const char **arguments;
	size_t argument_count;
	const char **labels; /* name, value, name, value, ... */
	size_t label_count;  /* of such pairs; each name is there once */
	struct swz_profile_module *modules; /* sorted by index */
	size_t module_count;
	struct swz_profile_function *functions; /* sorted by id, unique */
	size_t function_count;
	uint32_t *by_address; /* into functions, by run-time address; see
			       * swz_profile_function_at() */
	struct {
		uint64_t start, end;
		uint32_t function;
	} found_last;                       /* of these; end 0: none */
	struct swz_profile_thread *threads; /* sorted by index */
	size_t thread_count;
	struct swz_node_span *spans; /* sorted by owner, then unit */
	size_t span_count;
	/* SWZ_FILE_COUNTS: nodes that stand for counted edges, behind the
	 * file's last unit. */
	struct swz_node *made_nodes;
	size_t made_node_count;
	size_t made_unit; /* of the first */
	/* SWZ_FILE_COVER: in the order of time. A function may have several,
	 * of threads that called it at the same moment. */
	struct swz_profile_first_call *first_calls;
	size_t first_call_count;
	struct swz_profile_unwound *unwound; /* sorted by owner, then node */
	size_t unwound_count;
	struct swz_event_chunk *event_chunks; /* sorted by owner, then ticks */
	size_t event_chunk_count;
	struct swz_slow_record *slow_rules; /* --slow, in their order */
	size_t slow_rule_count;
	struct swz_kept_call *kept_calls; /* sorted by owner, then time */
	size_t kept_call_count;
	struct swz_profile_switch *switches; /* sorted by owner, then time */
	size_t switch_count;
	struct swz_profile_look *looks;
	size_t look_count;
	struct swz_profile_times *times; /* sorted by owner, function, bucket */
	size_t times_count;
	struct swz_sample_chunk *sample_chunks; /* in the order of the file */
	size_t sample_chunk_count;
	struct swz_profile_mark *marks; /* sorted by time */
	size_t mark_count;
	struct swz_value_chunk *value_chunks; /* sorted by owner, then number */
	size_t value_chunk_count;
	struct swz_profile_summary *summaries; /* sorted by node */
	size_t summary_count;
	struct swz_profile_signature *signatures; /* sorted by function */
	size_t signature_count;
	struct swz_signature_set **signature_sets; /* which those are of */
	size_t signature_set_count;
	struct swz_profile_symbol *symbols; /* in the order of the file */
	size_t symbol_count;
	struct swz_profile_line *lines; /* in the order of the file */
	size_t line_count;
	struct swz_code_ranges *code; /* names of code made at run time; NULL:
				       * there is none */
	uint32_t named_code_nodes;    /* of SWZ_FUNCTION_CODE that are shown */
	uint32_t unnamed_code_nodes;
	uint32_t code_functions; /* the last of the symbols are theirs */
	bool code_from_files;    /* the names: the profile has none */
	struct swz_merged_record *sources; /* SWZ_FILE_MERGED: what it is of */
	size_t source_count;
	struct swz_summed_ranks *ranks; /* of these; NULL: none has one */
	bool archived;                  /* it was in an archive */
	uint8_t *added;     /* chunks that an archive of it gets, too */
	size_t added_bytes; /* a multiple of 64 */
	/* ns = ticks * clock_ns / clock_ticks. 1 to 1 where the file's clock
	 * samples are of no use: clock_known is false then. */
	uint64_t clock_ns;
	uint64_t clock_ticks;
	bool clock_known;
	bool clock_uneven; /* they tell the rate at the start only: later the
			    * TSC or CLOCK_MONOTONIC went on without the other
			    */
	uint64_t folded_calls;     /* recorded in a folded context; saturates */
	uint64_t folded_recursion; /* recursive calls that go on in a context
				    * further up; saturates */
	struct swz_damage damage;
};

struct swz_error {
	char text[512]; /* without file name, prefix or newline */
};

/* Reads the file at PATH. On success *out is the caller's to free. On failure
 * *error says why: SWZ_E_SYSTEM unreadable, SWZ_E_NOTFOUND empty,
 * SWZ_E_FORMAT no profile or damaged beyond use, SWZ_E_UNSUPPORTED a version
 * or byte order that is not known. */
enum swz_status swz_profile_read(const char *path, struct swz_profile **out,
				 struct swz_error *error) SWZ_MUST_CHECK;

/* The same for bytes in memory, which are copied. NAME is for messages. */
enum swz_status swz_profile_parse(const char *name, const void *bytes,
				  size_t size, struct swz_profile **out,
				  struct swz_error *error) SWZ_MUST_CHECK;

void swz_profile_free(struct swz_profile *profile); /* NULL is fine */

/* True if something was lost: the file holds less than its header claims. */
bool swz_profile_damaged(const struct swz_profile *profile);

/* The node slot at a unit (file offset / 64) that lies within a span. */
const struct swz_node *swz_profile_node(const struct swz_profile *profile,
					uint32_t unit);

/* Copies bytes of the file, events included; returns how many there were. */
size_t swz_profile_bytes(const struct swz_profile *profile, uint64_t offset,
			 void *to, size_t size);

/* The same of what was there when it was read: all but packed events. */
size_t swz_profile_loaded(const struct swz_profile *profile, uint64_t offset,
			  void *to, size_t size);

/* How the program at PATH was called where it was executed: "" by its own name,
 * or by several; NULL: it was not executed in the profile. */
const char *swz_profile_called(const struct swz_profile *profile,
			       const char *path);

/* The value of a label (SWZ_CHUNK_LABELS), or NULL. */
const char *swz_profile_label(const struct swz_profile *profile,
			      const char *name);

/* The process's rank among those of a parallel program; SWZ_INDEX_NONE if it
 * has none. */
uint32_t swz_profile_rank(const struct swz_profile *profile);

/* Where the module with that index in its chunks is; SWZ_INDEX_NONE if there is
 * none. */
uint32_t swz_profile_module_by_index(const struct swz_profile *profile,
				     uint32_t index);

/* The same of a thread. */
uint32_t swz_profile_thread_by_index(const struct swz_profile *profile,
				     uint32_t index);

/* True if one of the thread's spans has the node slot at a unit. */
bool swz_thread_has_node(const struct swz_profile_thread *thread,
			 uint32_t unit);

/* Index of a function id, or SWZ_INDEX_NONE. */
uint32_t swz_profile_function_by_id(const struct swz_profile *profile,
				    uint32_t id);

/* Index of the function that holds a run-time address, or SWZ_INDEX_NONE, also
 * where modules that came and went had that address one after the other. The
 * first call sorts the functions (so it is not thread safe). */
uint32_t swz_profile_function_at(struct swz_profile *profile, uint64_t address);

/* Index of the module that holds a run-time address; SWZ_INDEX_NONE where there
 * is none, or where different ones had that address one after the other. */
uint32_t swz_profile_module_at(const struct swz_profile *profile,
			       uint64_t address);

/* True if it is no module but stands for code that was made at run time
 * (SWZ_FUNCTION_CODE), or also for the spans that the program has named. */
static inline bool swz_module_is_code(const struct swz_profile_module *module)
{
	return module->index == SWZ_CODE_MODULE;
}

static inline bool swz_module_is_no_file(
	const struct swz_profile_module *module)
{
	return module->index == SWZ_SPAN_MODULE || swz_module_is_code(module);
}

/* True if a module's range holds a run-time address. */
bool swz_profile_module_holds(const struct swz_profile *profile, uint32_t index,
			      uint64_t address);

/* True if two modules are the same file, perhaps at different addresses. */
bool swz_profile_same_module(const struct swz_profile_module *a,
			     const struct swz_profile_module *b);

/* True if the module is the same file as one before it: a file that was loaded
 * at several places is listed once, as its first. */
bool swz_profile_repeats_module(const struct swz_profile *profile,
				size_t index);

/* The wall-clock time from the first thread's start to the latest event. */
uint64_t swz_profile_duration_ticks(const struct swz_profile *profile);

/* False if the process was killed, or left by _exit, and nobody noted when: its
 * duration is a lower bound then. What still runs has lasted until now. */
bool swz_profile_end_known(const struct swz_profile *profile);

/* Ticks to ns, rounded down; saturates. */
int64_t swz_profile_ns(const struct swz_profile *profile, int64_t ticks);

#endif
