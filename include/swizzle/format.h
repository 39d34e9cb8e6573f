#ifndef SWIZZLE_FORMAT_H
#define SWIZZLE_FORMAT_H

/* The profile file, as the runtime maps it and the tools read it.
 *
 * Little-endian. A header page, then chunks back to back, each a multiple of
 * 64 bytes with a 64-byte header of its own. The file is written through a
 * shared mapping by a live process and may end at any moment: a chunk's header
 * is complete once its magic is set (it is stored last); bytes past
 * swz_file_header.used_bytes are meaningless, and the file may be longer
 * (sparse) than that. A node is addressed by its file offset divided by 64.
 * docs/file-format.md explains how costs are derived. */

#include <stdint.h>

/* --- why a function is not hooked ---------------------------------------- */

/* Why a function is not hooked. The value is stored in the profile
 * (struct swz_function_record.status), so values never change their meaning.
 * The second column is the name that users see. */
#define SWZ_REFUSALS(X) \
	X(SWZ_PATCHED, "patched") \
	X(SWZ_REFUSE_TOO_SHORT, "too short for a jump") \
	X(SWZ_REFUSE_BRANCH_INTO_SITE, "branch into the patch site") \
	X(SWZ_REFUSE_UNDECODABLE, "undecodable instruction") \
	X(SWZ_REFUSE_UNRELOCATABLE, "instruction that cannot be moved") \
	X(SWZ_REFUSE_READS_RETURN_SLOT, "reads its return address") \
	X(SWZ_REFUSE_TAIL_CALLS_READER, \
	  "tail-calls a function that reads its return address") \
	X(SWZ_REFUSE_RETURNS_TWICE, "returns twice") \
	X(SWZ_REFUSE_NO_STANDARD_FRAME, "no standard frame at entry") \
	X(SWZ_REFUSE_OVERLAPS, "overlaps another function") \
	X(SWZ_REFUSE_OUT_OF_REACH, "no trampoline memory within reach") \
	X(SWZ_REFUSE_FILTERED, "excluded by a filter") \
	X(SWZ_REFUSE_FOREIGN_RUNTIME, "runtime that looks code addresses up") \
	X(SWZ_REFUSE_UNWRITABLE, "code cannot be changed, or made executable") \
	X(SWZ_REFUSE_OWN_UNWINDER, "module with an unwinder of its own") \
	X(SWZ_REFUSE_WALKS_STACK, "walks the stack (patched, not recorded)") \
	X(SWZ_REFUSE_TEXT_RELOCATIONS, "module with text relocations") \
	X(SWZ_REFUSE_CALLEE_READS, \
	  "calls a function that reads its caller's return address") \
	X(SWZ_REFUSE_ADDRESS_TAKEN, "import whose address is taken") \
	X(SWZ_REFUSE_UNKNOWN_TARGET, "import that leads to something unknown") \
	X(SWZ_REFUSE_WRAPPED, \
	  "limits or replaces the process (patched, not recorded)") \
	X(SWZ_REFUSE_LIVE, "cannot be changed at once while it may run")

enum swz_refusal {
#define X(symbol, text) symbol,
	SWZ_REFUSALS(X)
#undef X
		SWZ_REFUSAL_COUNT
};

#define SWZ_REFUSAL_SLOTS 32 /* room in the file for reasons to come */

/* --- return thunks ------------------------------------------------------- */

/* The sampler finds real return addresses behind the thunks of another process
 * by this. The address that a hooked function finds as its return address lies
 * in the address range of libswizzle.so, SWZ_THUNK_T bytes behind the start of
 * a thunk's code. The real return address is in the thunk's data. See
 * docs/internals/thunks.md. */

#define SWZ_THUNK_CODE_BYTES 64u
#define SWZ_THUNK_T 6u
#define SWZ_THUNK_DATA_DISTANCE 0x100000u /* from the code to the data */
#define SWZ_THUNK_REAL_RETURN 8u          /* in the data */

/* --- the file ------------------------------------------------------------- */

#define SWZ_FILE_MAGIC "SWZPROF\n"    /* 8 bytes, no NUL */
#define SWZ_ARCHIVE_MAGIC "SWZARCH\n" /* what swizzle-dump packs it into */
#define SWZ_FILE_VERSION 5u
#define SWZ_FILE_BYTE_ORDER 0x01020304u
#define SWZ_HEADER_BYTES 4096u
#define SWZ_LEAST_FILE_BYTES 65536u /* that a writer must be allowed */
#define SWZ_UNIT_BYTES 64u
#define SWZ_CHUNK_MAGIC 0x4357535au

/* The name of libswizzle.so's own threads, so that their time is not the
 * program's. */
#define SWZ_OWN_THREAD_NAME "swizzle"

enum swz_file_flags {
	SWZ_FILE_FORKED = 1,   /* began by fork in a profiled process */
	SWZ_FILE_ENDED = 2,    /* an orderly exit, at end_ticks */
	SWZ_FILE_FOLDED = 4,   /* memory bound reached: contexts were folded */
	SWZ_FILE_FILTERED = 8, /* -F, -N or -D was in force */
	SWZ_FILE_SAMPLED = 16, /* --timing sampled: see struct swz_node */
	SWZ_FILE_TRACED = 256, /* -m trace: there are chunks of events */
	SWZ_FILE_RING = 512,   /* of the events, the newest only */
	SWZ_FILE_TOLD = 1024,  /* the process has printed the run's summary */
	SWZ_FILE_SWITCHES = 2048, /* --switches: the threads of which they were
				   * recorded have switches_from */
	SWZ_FILE_SAMPLES = 4096,  /* -m sample: nodes hold samples, not calls */
	SWZ_FILE_FLOWS = 8192,    /* --flows: values tell what woke what */
	SWZ_FILE_SHORT = 16384,   /* ulimit -f left less room than --max-memory
				   * and --max-size asked for */
	SWZ_FILE_COUNTS = 32768,  /* -m count: calls of call edges, without
				   * times: see struct swz_count_slot */
	SWZ_FILE_COVER = 65536,   /* -m cover, with COUNTS: first calls alone;
				   * a slot's `calls` is when (rdtsc) */
	SWZ_FILE_SLOW = 1 << 18,  /* --slow: of the events those of some calls
				   * alone: see struct swz_slow_record */
	SWZ_FILE_LISTED = 1 << 17, /* MERGED: of the functions those that were
				    * not called are there, too */
	SWZ_FILE_MERGED = 1 << 20  /* a sum of profiles: see struct swz_node */
};

struct swz_clock_sample {
	uint64_t ticks;        /* rdtsc */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC at the same moment */
};

/* In used_bytes, for some microseconds, while the process cuts its file. */
#define SWZ_USED_CLOSED (UINT64_C(1) << 63)

struct swz_file_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* SWZ_HEADER_BYTES */
	uint32_t byte_order;
	uint32_t flags;       /* enum swz_file_flags */
	uint64_t used_bytes;  /* header and chunks; grows atomically */
	uint64_t limit_bytes; /* the memory bound, also the mapping's size */
	int32_t pid;
	int32_t parent_pid;
	uint64_t start_ticks;
	uint64_t start_realtime_ns; /* since the epoch */
	uint64_t end_ticks;         /* of an orderly exit, of exec, or of a kill
				     * that was seen; 0: not known */
	/* [0] first thing at start, [1] at the end of our initialisation, [2]
	 * the latest (refreshed in slow paths; zero if never). ns per tick is
	 * taken from the two samples farthest apart. */
	struct swz_clock_sample clock[3];
	/* The cost of one hooked call, in 1/1024 ticks: inside the interval
	 * that it records, and outside of it (in its caller's). */
	uint64_t cost_inside;
	uint64_t cost_outside;
	uint64_t lost_calls;  /* passed unrecorded: no memory or thunk */
	uint64_t epoch_ticks; /* times in nodes count from here */
	uint64_t arena_start; /* return thunks: addresses in      */
	uint64_t arena_end;   /* [arena_start, arena_end)         */
	/* SWZ_FILE_SAMPLED: cost_inside and cost_outside are those of a call
	 * that is timed. */
	uint64_t cost_untimed; /* of one that is not, in 1/1024 ticks */
	/* SWZ_FILE_TRACED: of chunks of events so far, and at most; within
	 * used_bytes and limit_bytes. */
	uint64_t event_bytes;
	uint64_t event_limit_bytes;
	uint64_t min_ticks; /* shorter calls have no events; 0: all have */
	/* SWZ_FILE_SAMPLED: as cost_untimed, of SWZ_FUNCTION_LEAF. */
	uint64_t cost_leaf;
	/* When the process began, as in /proc/PID/stat (clock ticks since the
	 * system's start); with pid it names the writer. 0: not known. */
	uint64_t process_start;
	uint32_t full; /* enum swz_file_full */
	/* The process that swizzle-run became, and when it began, as above: the
	 * same in all profiles of one run. 0: not known. */
	int32_t root_pid;
	uint64_t root_start;
	/* SWZ_FILE_SAMPLES: how they were taken. */
	uint64_t sample_period_ns; /* of processor time; --event cycles: 0 */
	uint32_t sample_engine;    /* enum swz_sample_engine */
	uint32_t sample_flags;     /* enum swz_sample_flags */
	uint64_t samples;          /* that nodes have */
	uint64_t lost_samples;     /* taken, but there was no room for them */
	uint64_t missed_samples;   /* that were due and not taken */
	uint64_t cut_stacks;       /* of the samples: the copy of the stack
				    * ended before its outermost frame */
	uint64_t broken_stacks;    /* the same: a frame that nothing explains */
	uint64_t stack_bytes;      /* that were copied at most */
	/* -m both: the run of the same command whose calls were recorded: its
	 * root_pid and root_start. 0: there is none. */
	uint64_t counts_start;
	int32_t counts_pid;
	int32_t reserved;
	uint64_t unread_scripts; /* of the samples in an interpreter: the
				  * script's functions could not be read */
	uint64_t lost_marks;     /* and spans: there was no room for them */
	/* SWZ_FILE_MERGED: of so many, and of their threads. */
	uint64_t merged_profiles;
	uint64_t merged_threads;
	uint64_t lost_values; /* -A, --args: records for which there was no
			       * room */
	/* In a copy that was made while the process ran: rdtsc then. */
	uint64_t snapshot_ticks;
	/* The latest node of SWZ_FUNCTION_CODE that was made, file offset / 64;
	 * 0: there is none. */
	uint32_t latest_code;
	uint32_t reserved_too;
	/* SWZ_FILE_SAMPLES of a run whose calls were counted (-m both): samples
	 * that hit the profiler's library, which no node has, and the processor
	 * time that they stand for, which no thread has. What a call of an
	 * empty function costs, and what it costs more if it is counted, in
	 * 1/1024 ns; 0: not known. */
	uint64_t own_samples;
	uint64_t profiling_ns;
	uint32_t plain_call;
	uint32_t counted_call;
	/* --start-at and --stop-at: which call is meant (0: the option was not
	 * given), and how many there have been; enum swz_trigger_flags. Files
	 * before them have zeros here. */
	uint64_t start_at_number, start_at_calls;
	uint64_t stop_at_number, stop_at_calls;
	uint32_t trigger_flags;
	uint32_t reserved_last;
	/* SWZ_FILE_SAMPLES: samples in nodes that no chunk SAMPLES has, since
	 * the sampler kept no more. */
	uint64_t untimed_samples;
};

enum swz_trigger_flags {
	SWZ_TRIGGER_STARTED = 1, /* the call of --start-at came */
	SWZ_TRIGGER_STOPPED = 2, /* that of --stop-at */
	SWZ_TRIGGER_EARLY = 4    /* the same, before recording had started */
};

enum swz_request_state {
	SWZ_REQUEST_RECORD = 0,
	SWZ_REQUEST_PAUSE = 1, /* calls pass unrecorded */
	SWZ_REQUEST_DETACH = 2 /* the same for good: the profile is complete */
};

/* At SWZ_REQUEST_OFFSET of the file: what the hooks are asked to do. They look
 * at it at each call, so any process that may write the file can stop and start
 * recording while the program runs. */
#define SWZ_REQUEST_OFFSET 2048u
#define SWZ_REQUEST_VERSION 2u
struct swz_request {
	uint32_t version;       /* SWZ_REQUEST_VERSION */
	uint32_t paused;        /* enum swz_request_state */
	uint64_t changed_ticks; /* rdtsc, when that was changed last; 0: never.
				 * Stored before `paused` */
	uint64_t stopped_ticks; /* likewise, to anything but
				 * SWZ_REQUEST_RECORD; it stays */
	uint32_t native; /* 1: the hooks are out of the code (swizzle-ctl) */
	uint32_t ready; /* 1: all is planned, and the program's code runs. Until
			 * then `paused` is not to be changed */
};

enum swz_sample_engine {
	SWZ_ENGINE_PERF = 1, /* perf_event_open(2) */
	SWZ_ENGINE_PAUSE = 2 /* ptrace(2) */
};

enum swz_sample_flags {
	SWZ_SAMPLES_OF_KERNEL = 1, /* samples were taken in the kernel, too */
	SWZ_SAMPLES_OF_WAITING = 2 /* --wall: of threads that wait, too */
};

/* Why the file did not grow to what its bound allows. */
enum swz_file_full {
	SWZ_FULL_NOT = 0,
	SWZ_FULL_DISK = 1,  /* no room on the disk, or for the user on it */
	SWZ_FULL_LIMIT = 2, /* the process may write no longer file (ulimit -f)
			     */
	SWZ_FULL_NAME = 3,  /* the process cannot get at the file any more: it
			     * was removed, or belongs to another user now */
	SWZ_FULL_MEMORY = 4 /* there was no memory */
};

enum swz_chunk_type {
	SWZ_CHUNK_COMMAND = 1, /* exe path, cwd, then argv: count strings, each
				* with its NUL */
	SWZ_CHUNK_MODULE = 2,  /* struct swz_module_record, path with NUL */
	SWZ_CHUNK_FUNCTIONS = 3, /* count struct swz_function_record */
	SWZ_CHUNK_THREAD = 4,    /* struct swz_thread_record */
	SWZ_CHUNK_NODES = 5,     /* count struct swz_node slots */
	SWZ_CHUNK_UNWOUND = 6,   /* count struct swz_unwound_record slots */
	SWZ_CHUNK_PADDING = 16,  /* nothing */
	SWZ_CHUNK_EVENTS = 17,   /* pages of events: see SWZ_EVENT_PAGE */
	SWZ_CHUNK_PACKED = 18,   /* a stream of them: see SWZ_PACKED_STATE */
	SWZ_CHUNK_NAMES = 7,     /* uint32_t first id, then count strings, each
				  * with its NUL: by which names functions of
				  * consecutive ids were asked for (imports) */
	SWZ_CHUNK_SYMBOLS = 8,   /* count struct swz_symbol_record, then text */
	SWZ_CHUNK_LINES = 9,     /* count struct swz_line_record, then text */
	SWZ_CHUNK_LABELS = 12,   /* count strings, each with its NUL: a label's
				  * name, its value, and so on ("host", "rank",
				  * "ranks", "job"...) */
	SWZ_CHUNK_MERGED = 13,   /* count struct swz_merged_record */
	SWZ_CHUNK_RANKS = 14,    /* count struct swz_rank_record, then what
				  * SWZ_RANKS_FUNCTIONS says, then text */
	SWZ_CHUNK_RANK_COSTS = 15, /* of rank `owner`: count costs, packed */
	SWZ_CHUNK_SWITCHES = 19,   /* count struct swz_switch_record */
	SWZ_CHUNK_MARKS = 20,      /* swz_mark_record, see SWZ_MARKS_USED */
	/* arguments and results: see swizzle/values.h */
	SWZ_CHUNK_SIGNATURES = 21, /* what is recorded of which function */
	SWZ_CHUNK_VALUES = 22,     /* records of values */
	SWZ_CHUNK_SUMMARY = 25,    /* struct swz_value_summary */
	SWZ_CHUNK_TITLE = 24, /* what the process called itself last, in place
			       * of its arguments: a text with its NUL */
	SWZ_CHUNK_PACKED_FUNCTIONS = 26, /* uint32_t first id, then count
					  * records: base/number_bytes.h */
	SWZ_CHUNK_PACKED_NODES = 27, /* NODES of a process that has ended: count
				      * slots, see SWZ_PACKED_NODES_BYTES */
	SWZ_CHUNK_COUNTS = 28,       /* count struct swz_count_slot, then as
				      * many uint32_t: the function's id + 1 */
	SWZ_CHUNK_TRAMPOLINES = 29,  /* of module `owner`, with counts: where
				      * its functions' displaced instructions
				      * lie. uint64_t start of the memory, then
				      * count records:
				      * base/number_bytes.h */
	SWZ_CHUNK_LOOKS = 30,        /* count struct swz_look slots */
	SWZ_CHUNK_SAMPLES = 31,      /* of thread `owner`: when each of its
				      * samples was taken, see
				      * SWZ_SAMPLES_BYTES */
	SWZ_CHUNK_HISTOGRAM = 32,    /* of thread `owner`: count uint64_t, how
				      * many calls took so long: see
				      * SWZ_HISTOGRAM_FUNCTION */
	SWZ_CHUNK_HISTOGRAM_INDEX = 33, /* for the writer alone: where it finds
					 * those of a function */
	SWZ_CHUNK_SLOW = 34,            /* struct swz_slow_record */
	SWZ_CHUNK_TIMES = 35,           /* of thread `owner`: count uint64_t,
					 * calls that are in no HISTOGRAM yet:
					 * see SWZ_TIME_PENDING */
	SWZ_CHUNK_CODE = 23 /* names of SWZ_FUNCTION_CODE: text, lines as
			     * in a perf map ("START SIZE NAME", both
			     * numbers hexadecimal), then zeros. Of lines
			     * that hold an address the last counts */
};

struct swz_chunk {
	uint32_t magic; /* SWZ_CHUNK_MAGIC, stored last */
	uint32_t type;  /* enum swz_chunk_type; skip what is unknown */
	uint64_t bytes; /* with this header; a multiple of 64 */
	uint32_t count;
	uint32_t owner; /* THREAD, NODES, PACKED_NODES, UNWOUND, EVENTS, PACKED,
			 * SWITCHES, MARKS, VALUES, COUNTS, HISTOGRAM, TIMES:
			 * thread index;
			 * MODULE, FUNCTIONS, PACKED_FUNCTIONS, NAMES, SYMBOLS,
			 * LINES, SIGNATURES: module index; RANK_COSTS: the
			 * rank */
	uint64_t reserved[5];
};

/* A module that starts here or above lies in no file: it is a script, or code
 * that was made at run time. */
#define SWZ_NO_FILE_START 0xffffc00000000000ull
/* The functions of such a module lie in the first so many bytes, and behind
 * them there is one byte for each line of a script. */
#define SWZ_SCRIPT_LINES (1ull << 32)
#define SWZ_MOST_SCRIPT_LINES (1u << 24)
#define SWZ_NO_FILE_BYTES (SWZ_SCRIPT_LINES + SWZ_MOST_SCRIPT_LINES)
/* Stands in place of a path where no file says so. */
#define SWZ_CODE_MODULE_NAME "[jit]"
/* In no file: its index in a reader, which makes it of SWZ_FUNCTION_CODE, and
 * the first id of its functions. */
#define SWZ_CODE_MODULE 0xfffffff1u
#define SWZ_CODE_FIRST_ID 0xe0000000u
/* A function of it: all code whose name is not known. */
#define SWZ_CODE_UNNAMED "[code made at run time]"

/* A library that is unloaded and loaded again at the same place has one record;
 * at another place it gets another one, with functions of their own.
 *
 * All functions of a module lie less than 4 GiB above load_bias + the ELF
 * address of its first segment, which is what lets a function record do with
 * the low half of an address. */
struct swz_module_record {
	uint64_t load_bias; /* address = load_bias + ELF virtual address */
	uint64_t start;     /* mapped range [start, end) */
	uint64_t end;
	uint32_t first_function; /* id; ids are consecutive in a module */
	uint32_t function_count;
	uint32_t in_scope; /* 0: not to be hooked (-M, default scope) */
	uint32_t build_id_bytes;
	uint8_t build_id[32];
	uint32_t counts[SWZ_REFUSAL_SLOTS]; /* by enum swz_refusal */
	uint64_t load_ticks;   /* when it was first loaded; 0: at the start */
	uint64_t unload_ticks; /* when it was last unloaded; 0: it is loaded */
	uint32_t loads;        /* how often it was loaded at this place */
	uint32_t reserved;
};

struct swz_function_record {
	uint32_t address; /* ELF virtual address, low 32 bits */
	uint32_t size;    /* bytes; 0 unknown */
	uint16_t status;  /* enum swz_refusal */
	uint16_t flags;   /* enum swz_function_flags */
	uint32_t id;      /* what nodes refer to; first_function + index */
};

enum swz_function_flags {
	SWZ_FUNCTION_FROM_SYMBOL = 1, /* found by symbol only, no FDE */
	/* Not changed itself: calls from other modules are timed where they
	 * come through the caller's GOT (--imports). Such records are chunks
	 * of their own; their ids are not in the module's range, and counts[]
	 * does not count them. A function may have several, with an id each. */
	SWZ_FUNCTION_IMPORT = 2,
	SWZ_FUNCTION_LEAF = 4, /* it calls nothing: see cost_leaf */
	/* In no file, a reader's: SWZ_FUNCTION_CODE with a name. */
	SWZ_FUNCTION_AT_RUN_TIME = 16,
	SWZ_FUNCTION_BARE = 8 /* neither FDE nor symbol: found by what leads
			       * to it */
};

struct swz_thread_record {
	int32_t tid;
	uint32_t root; /* its root context: file offset / 64 */
	uint64_t start_ticks;
	uint64_t last_ticks; /* of the latest event; open frames end here */
	uint64_t end_ticks;  /* 0: not known to have ended */
	char name[16];       /* as prctl(PR_GET_NAME), NUL-padded */
	/* SWZ_FILE_TRACED: */
	uint64_t short_calls;   /* that min_ticks has left out */
	uint64_t untraced;      /* events for which there was no room */
	uint64_t untraced_from; /* since when; 0: never */
	/* Processor time (CLOCK_THREAD_CPUTIME_ID): at start_ticks, and as it
	 * was read last, at processor_ticks (rdtsc; 0: it is not known). */
	uint64_t processor_start_ns;
	uint64_t processor_ns;
	uint64_t processor_ticks;
	/* Context switches (SWZ_FILE_SWITCHES): known from .. until (rdtsc; 0:
	 * of this thread none were recorded), but for those that were lost. */
	uint64_t switches_from;
	uint64_t switches_until;
	uint64_t switches_lost; /* records of the kernel: two of them are a
				 * switch. Where its ring was full at the end:
				 * at least */
	uint64_t switches;      /* struct swz_switch_record that were written */
};

/* A time in which the thread did not run; in the order of time. */
struct swz_switch_record {
	uint64_t off_ticks; /* and SWZ_SWITCH_PREEMPTED */
	uint64_t on_ticks;  /* 0: it is not known to have run again */
};

/* It could have run: another one had the processor. Otherwise it waited. */
#define SWZ_SWITCH_PREEMPTED (UINT64_C(1) << 63)

/* A moment that the program has named, or in which recording was stopped or
 * started. A text follows, of text_bytes without a NUL; then up to 7 bytes
 * until the next record, at a multiple of 8. */
struct swz_mark_record {
	uint64_t ticks; /* rdtsc; stored last: 0 is not complete yet */
	uint32_t node;  /* the context that was current, file offset / 64 */
	uint16_t kind;  /* enum swz_mark_kind */
	uint16_t text_bytes;
};

enum swz_mark_kind {
	SWZ_MARK_TEXT = 1,           /* swizzle_mark() */
	SWZ_MARK_PAUSED = 2,         /* the thread: swizzle_pause() */
	SWZ_MARK_RESUMED = 3,        /* the thread: swizzle_resume() */
	SWZ_MARK_PROCESS_PAUSED = 4, /* the process */
	SWZ_MARK_PROCESS_RESUMED = 5,
	SWZ_MARK_SNAPSHOT = 6, /* the text is the file's name */
	SWZ_MARK_DETACHED = 7
};

/* swz_chunk.owner of marks that other processes have made: swizzle-ctl. The
 * profile has such a chunk from the start. */
#define SWZ_MARKS_OUTSIDE UINT32_MAX

/* Longer texts are cut, and SWZ_MARK_CUT is set in `kind`. */
#define SWZ_MARK_MOST_BYTES 1024u
#define SWZ_MARK_CUT 0x8000u

/* swz_chunk.reserved of SWZ_CHUNK_MARKS */
enum {
	SWZ_MARKS_USED = 0 /* bytes of the body that are given out to records */
};

/* Spans that the program has named are functions of a module of their own: its
 * index, and what stands in place of a path. */
#define SWZ_SPAN_MODULE 0xfffffff0u
#define SWZ_SPAN_MODULE_NAME "[span]"
/* The span of a time in which recording was paused. */
#define SWZ_SPAN_PAUSED "[paused]"

/* Events (SWZ_FILE_TRACED). A chunk of them begins at a multiple of
 * SWZ_EVENT_PAGE and is some such pages long; its header lies in the first. The
 * last eight bytes of a page are a time (rdtsc; 0: nothing is in this page).
 * The rest are events, eight bytes each, in the order in which they happened; 0
 * is none. A thread's chunks follow each other by those times. Its pages are
 * numbered; those before SWZ_EVENTS_KEPT - 1, or if that is 0, before the
 * number that its packed chunks have, are there in packed form and not valid
 * any more.
 *
 *     bits 0-2    enum swz_event_kind
 *     bits 3-31   ticks since the page's time
 *     bits 32-63  the node, file offset / 64 */
#define SWZ_EVENT_PAGE 4096u
#define SWZ_EVENT_KIND_MASK 7u
#define SWZ_EVENT_TICKS_SHIFT 3
#define SWZ_EVENT_TICKS_BITS 29
#define SWZ_EVENT_NODE_SHIFT 32
enum swz_event_kind {
	SWZ_EVENT_ENTER = 0,   /* a call */
	SWZ_EVENT_RETURN = 1,  /* its end */
	SWZ_EVENT_UNWIND = 2,  /* its end by an exception */
	SWZ_EVENT_SKIP = 3,    /* its end by longjmp or the like, noticed now */
	SWZ_EVENT_SUSPEND = 4, /* the stack is switched; the call goes on */
	SWZ_EVENT_RESUME = 5,  /* it goes on: counts no call */
	SWZ_EVENT_JUMP = 6 /* a call whose time is that of a call that goes on
			    * (tail calls in a circle) */
};

/* swz_chunk.reserved of SWZ_CHUNK_EVENTS */
enum {
	SWZ_EVENTS_FIRST = 0, /* the number of its first page */
	SWZ_EVENTS_KEPT = 1 /* pages from this number - 1 on stay as they are */
};

/* With --slow each chunk of EVENTS, VALUES and SWITCHES belongs to one call of
 * a function that is watched, and these of its reserved words say to which. */
enum {
	SWZ_CALL_STATE = 2, /* enum swz_call_state, rule << 8, number of the
			     * call << 16: the same in all of its chunks */
	SWZ_CALL_TICKS = 3, /* how long it took; while it is open, or where it
			     * was left by a kill, when it began (rdtsc) */
	SWZ_CALL_NEXT = 4   /* for the writer: the chunk before, in units */
};

enum swz_call_state {
	SWZ_CALL_OPEN = 0,     /* or at the end of the process */
	SWZ_CALL_SLOW = 1,     /* kept since it took longer than the rule's
				* least time */
	SWZ_CALL_ORDINARY = 2, /* kept for comparison: all others have the same
				* chance */
	SWZ_CALL_STATE_MASK = 3,
	SWZ_CALL_CUT = 4 /* no room for its later events */
};
#define SWZ_CALL_RULE_SHIFT 8
#define SWZ_CALL_NUMBER_SHIFT 16

/* How long calls took: base/time_bucket.h. Calls that are longer than what the
 * last bucket holds are in that. */
#define SWZ_SLOW_BUCKETS (43u * 64u)

/* A rule of --slow, and all outermost calls of the functions that match it. */
struct swz_slow_record {
	uint64_t least_ticks; /* calls that took longer are slow; 0: not known
			       * yet, as it is a percentile of too few */
	uint64_t least_ns;    /* the same as it was given; or 0, and */
	uint32_t share;       /* this part, of 100,000, is shorter */
	uint32_t keep;        /* so many slow ones are kept, the slowest, and as
			       * many ordinary ones */
	uint64_t calls;       /* that have ended, in the histogram */
	uint64_t slow;        /* of these */
	uint64_t unwatched;   /* not in it: the thread was amid another call */
	uint64_t cut;         /* kept without their later events */
	uint64_t reserved[9];
	uint64_t buckets[SWZ_SLOW_BUCKETS]; /* calls */
	char pattern[512];                  /* with its NUL */
};

/* Packed events: a time (8 bytes, rdtsc), then for each event a byte, and
 *
 *     up to SWZ_PACKED_MOST   it is as expected: ticks since the event before
 *                             (or the time)
 *     SWZ_PACKED_EXPECTED     the same; the ticks follow, 2 bytes
 *     SWZ_PACKED_RETURN       the event before with bit 0 of its word set, the
 *                             return of what it has entered: ticks, 2 bytes
 *     SWZ_PACKED_SPELLED      ticks, 2 bytes; node, 4 bytes; enum
 *                             swz_event_kind in the low bits of a byte (the
 *                             others have no meaning)
 *     SWZ_PACKED_FAR          no event, but ticks that come on top of those of
 *                             the next: 8 bytes, signed
 *
 * An event's word is node << 32 | kind. The latest SWZ_PACKED_HISTORY words of
 * the chunk, in a ring, tell which is expected: at first none; after one that
 * was expected the word that came after it, then; after another one (also if
 * it is spelled out, but is what was expected: then it was expected) what came
 * where the table of SWZ_PACKED_HASHES places has the hash of the last
 * SWZ_PACKED_HASHED words (0 before the first): h = 0, and for each word, the
 * oldest first, h = (h + word) * SWZ_PACKED_FACTOR modulo 2^64; its bits from
 * SWZ_PACKED_SHIFT on. Then, and after each SWZ_PACKED_INTERVAL-th word of the
 * chunk, the table gets the place of the next word there. All its places are 0
 * at the start. */
#define SWZ_PACKED_MOST 251u
#define SWZ_PACKED_EXPECTED 252u
#define SWZ_PACKED_RETURN 253u
#define SWZ_PACKED_SPELLED 254u
#define SWZ_PACKED_FAR 255u
#define SWZ_PACKED_HISTORY 8192u
#define SWZ_PACKED_HASHES 4096u
#define SWZ_PACKED_HASHED 4u
#define SWZ_PACKED_INTERVAL 16u
#define SWZ_PACKED_FACTOR 0x9e3779b97f4a7c15u
#define SWZ_PACKED_SHIFT 52

/* swz_chunk.reserved of SWZ_CHUNK_PACKED */
enum {
	/* Low half: bytes of the stream; upper half: the thread's pages of a
	 * lower number are in packed chunks. In one word, as both become true
	 * at once. */
	SWZ_PACKED_STATE = 0,
	SWZ_PACKED_FIRST = 1 /* 1 + the number of its first page */
};

/* swz_chunk.reserved of SWZ_CHUNK_SAMPLES: count samples, packed as
 * base/number_bytes.h has it. Their nodes are numbered from the thread's root
 * on, in the order of its chunk NODES. */
enum {
	SWZ_SAMPLES_BYTES = 0,    /* of the body, in use */
	SWZ_SAMPLES_START = 1,    /* ticks from which times count */
	SWZ_SAMPLES_UNIT = 2,     /* ticks of a unit of time */
	SWZ_SAMPLES_EXPECTED = 3, /* units between two samples, mostly */
	SWZ_SAMPLES_WAITING = 4   /* 1: taken while the thread waited */
};

/* swz_chunk.reserved of SWZ_CHUNK_PACKED_NODES: it is as long as a chunk of
 * NODES, so each node has the unit that it had there. The body begins with the
 * nodes in packed form (profile/file/scan.h); slots behind these are
 * unused, and what is behind these bytes is a hole in the file. */
enum { SWZ_PACKED_NODES_BYTES = 0 };

#define SWZ_FUNCTION_NONE 0u          /* an unused node slot */
#define SWZ_FUNCTION_ROOT 0xffffffffu /* a thread's root context */
/* Our own work in the midst of the program (patching a library that was
 * loaded): a hidden node without calls, whose time is nobody's. */
#define SWZ_FUNCTION_OURSELVES 0xfffffffeu
#define SWZ_CALL_SITE_TAIL 0u /* entered by a jump from its caller context */
/* SWZ_FILE_SAMPLED: this bit is set in the call site of a node that has long
 * calls of an edge, each with its own time. `context` is then the node of the
 * edge's other calls. (Not of folded nodes.) */
#define SWZ_CALL_SITE_LONG 0x8000000000000000u

/* SWZ_FILE_SAMPLES: the kernel; time that no sample stands for; the callers of
 * what a walk did not get beyond. */
#define SWZ_FUNCTION_KERNEL 0xfffffffcu
#define SWZ_FUNCTION_UNSAMPLED 0xfffffffbu
#define SWZ_FUNCTION_CALLERS 0xfffffffau
/* Below a function of a run whose calls were counted (-m both): samples that
 * hit what counts them. */
#define SWZ_FUNCTION_COUNTING 0xfffffff8u

/* Code that was made at run time and is not hooked, but has called what is. Its
 * node has neither calls nor time of its own. `call_site` is the return address
 * of a call that it has made, an address in that code; for
 * SWZ_CALL_SITE_TAIL the node is not to be shown. `max_ticks` is when it was
 * met first (rdtsc), `outer_ticks` the node of that kind that was made before,
 * file offset / 64, or 0. SWZ_CHUNK_CODE names it. */
#define SWZ_FUNCTION_CODE 0xfffffff9u

/* In no file: a reader's, for the time of which a trace holds no events. */
#define SWZ_FUNCTION_UNTRACED 0xfffffffdu

/* A time that is added to or subtracted from swz_node.ticks and outer_ticks is
 *     rdtsc - epoch_ticks + SWZ_TICKS_BIAS.
 * An activation that was entered and left has none of the bias in the sum, one
 * that is open has it missing, so bits 56 and up of
 *     ticks + open x (last_ticks - epoch_ticks + SWZ_TICKS_BIAS)
 * tell (as a signed number) by how many the count `open` is wrong, as it may be
 * when the process was killed, or a hook abandoned, between two instructions.
 * For outer_ticks they tell the number of open activations itself. */
#define SWZ_TICKS_BIAS (1ull << 56)

#define SWZ_MIN_IN_HISTOGRAM (1ull << 63)

/* The shortest activation's time; 0: none has ended. */
static inline uint64_t swz_node_least(uint64_t min_ticks)
{
	return min_ticks == UINT64_MAX ? 0 : min_ticks & ~SWZ_MIN_IN_HISTOGRAM;
}

/* swz_node.open: flags in the low byte, above it the number of activations that
 * have begun and not ended, modulo 2^24. */
#define SWZ_NODE_FLAGS_MASK 0xffu
#define SWZ_NODE_OPEN_SHIFT 8
enum swz_node_flags {
	SWZ_NODE_PASS = 1,   /* nothing beneath is recorded */
	SWZ_NODE_HIDDEN = 2, /* not to be shown: its time belongs to its parent
			      * context */
	SWZ_NODE_FOLDED = 4, /* the context is not the true one (memory
			      * bound): see below */
	SWZ_NODE_LEVEL = 0x30, /* sampled: log4 of the weight of the next call
				* that is timed, in units of 0x10 */
	SWZ_NODE_HIT = 64,     /* SWZ_FILE_SAMPLES, with HIDDEN: the samples of
				* the parent that hit the instruction at
				* call_site; among the parent's, too */
	SWZ_NODE_CYCLE = 128,  /* sampled: its calls are on a folded recursion
				* that leads through several contexts */
	SWZ_NODE_RESUMED = 8   /* activations came to it that had begun in
				* another context and were suspended with their
				* stack: it may count fewer calls than it has
				* times */
};

/* One call edge out of one context: the calls of `function` made from
 * `call_site` while context `parent` was current.
 *
 * Mostly the node is itself the context of what it calls (context == its own
 * offset / 64); a function may be on the path several times. Otherwise the call
 * is recursive and was folded: context is an ancestor of the same function, in
 * which it goes on. So contexts stay few, while counts of calls and edges stay
 * exact.
 *
 * ticks is the sum over all activations of (exit time - entry time), in TSC
 * ticks; the entry's time is subtracted when it happens, so an open activation
 * is missing its exit: see SWZ_TICKS_BIAS. The sums are modulo
 * 2^64: with many activations open (a recursion that is a million frames deep)
 * the stored value wraps around, and is right again once they are closed.
 * outer_ticks is the same for those activations only that were the function's
 * outermost in their thread; when one is open, outer_ticks is negative.
 *
 * In a file with SWZ_FILE_SAMPLED only some calls are timed, each with a
 * weight: it stands for so many calls, and is entered and left as if it were so
 * many activations at once (in ticks and open). Then ticks x calls / weight is
 * the estimate for all calls; nothing is known of the outermost ones, the
 * shortest or the longest.
 *
 * In a file with SWZ_FILE_SAMPLES a node is a context of its own, and `calls`
 * counts the samples that hit it itself. `ticks` is the time that these and
 * those below it stand for; `waiting_ticks` is the part of it in which the
 * thread waited. The root's time is that of the nodes below it: none is
 * outside.
 *
 * In a file with SWZ_FILE_MERGED a tick is a nanosecond, and what hooks took is
 * subtracted. `ticks` of a node that is a context of its own (the root is one)
 * is the time in that context itself, without what lies below; of another node
 * it is all. waiting_ticks is the part of that in which the thread waited.
 * Nothing is open, folded, or of the other root.
 *
 * A thread has two nodes of the function SWZ_FUNCTION_ROOT. Its root is the one
 * that swz_thread_record.root names (parent and context are itself). The other
 * is the fold root, with the flags FOLDED and HIDDEN, whose parent is the root.
 * Neither has calls or ticks.
 *
 * Edges that were recorded when there was no room in their own contexts are
 * FOLDED. The parent of such a node is one that stands for all contexts of the
 * caller: that one's function is the caller, its parent the fold root; it has
 * the flags FOLDED and HIDDEN, and no calls or ticks either. Where nothing is
 * known of the caller but the call site, the parent is the fold root itself. */
struct swz_node {
	uint32_t function; /* id, or one of SWZ_FUNCTION_* */
	uint32_t parent;
	uint64_t call_site; /* return address, or SWZ_CALL_SITE_TAIL */
	uint64_t calls;     /* entries; SWZ_FILE_SAMPLES: samples that hit it
			     * itself */
	int64_t ticks;
	union {
		int64_t outer_ticks;
		uint64_t weight;       /* sampled: of the timed calls */
		int64_t waiting_ticks; /* SWZ_FILE_SAMPLES */
	};
	union {
		/* 0 if no activation has ended. With the bit
		 * SWZ_MIN_IN_HISTOGRAM the function's calls are in a histogram,
		 * too; all bits are set then if none has ended. */
		uint64_t min_ticks;
		struct {
			uint8_t skip; /* sampled: calls to be let pass yet */
			int8_t score; /* sampled: see runtime/record/sampling.c
				       */
			uint16_t long_ones; /* sampled: of the timed calls
					     * that stood for others;
					     * as many as fit */
			uint32_t timed; /* sampled: calls that were timed; as
					 * many as fit */
		};
	};
	union {
		uint64_t max_ticks;
		uint64_t squares; /* sampled: sum of weight * (weight - 1) *
				   * (duration ** 2) / 16, as far as it fits */
	};
	uint32_t context;
	uint32_t open; /* activations begun and not ended, and flags */
};

/* One call edge of a thread in a file with SWZ_FILE_COUNTS: a slot of an
 * open-addressing hash table that the hooks look in. A slot whose function
 * (in the array behind the slots) is 0 is unused, or not complete yet.
 *
 *     key = call_site + (function id + 1) * SWZ_COUNT_FACTOR, modulo 2^64
 *
 * call_site is the return address at the function's entry; 0: not known. A
 * table that has become too small stays as it is, and a larger one follows: the
 * calls of an edge are the sum over all slots with its key. The caller is the
 * function that holds call_site - 1, or one that this has called, and that
 * ended in a jump to the callee. Threads have no nodes but their roots in such
 * a file.
 *
 * With SWZ_FILE_COVER a function has a slot for its first call only, or for one
 * in each of the threads that called it at the same moment. `calls` is the
 * moment (rdtsc), and of slots with one key the least counts. */
struct swz_count_slot {
	uint64_t key;
	uint64_t calls;
};
#define SWZ_COUNT_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* A look at a thread from outside: another process takes 100 a second. What it
 * has seen is added up here. A reader divides each context's time into running
 * and waiting in the proportion of these, so that the thread's waiting comes to
 * its wall-clock time without its processor time. In a sum of profiles
 * (SWZ_FILE_MERGED) `ns` is what the node waited itself. */
struct swz_look {
	uint32_t node; /* file offset / 64; stored last; 0: an unused slot */
	uint32_t kind; /* enum swz_look_kind */
	uint64_t ns;
};

enum swz_look_kind {
	/* It did not run, in this context: sum of the times between looks. */
	SWZ_LOOK_WAITED = 0,
	/* It ran, in this context or one that it had come to just then. */
	SWZ_LOOK_RAN = 1,
	/* It was blocked at a look and has had no processor until the next:
	 * what is not known of it is no more than what begins and ends. */
	SWZ_LOOK_BLOCKED = 2
};

/* How many of a node's activations were ended by an exception (or a forced
 * unwind: pthread_exit, pthread_cancel). A node is in one record of one chunk.
 */
struct swz_unwound_record {
	uint32_t node; /* file offset / 64; 0: an unused slot */
	uint32_t reserved;
	uint64_t count;
};

/* A profile that is in a sum. */
struct swz_merged_record {
	uint64_t host; /* FNV-1a of the label "host" */
	uint64_t process_start, start_realtime_ns; /* as in its header */
	uint32_t pid;
	uint32_t reserved;
};

/* Ranks of a parallel program of which processes are in a sum; each once. The
 * host is a text: its distance from the start of the chunk's body. 0: it is not
 * known. The body's last byte is 0. */
struct swz_rank_record {
	uint32_t rank;
	int32_t pid; /* the least of its processes, which was on that host */
	uint64_t processes;
	uint32_t host;
	uint32_t reserved;
};

/* swz_chunk.reserved of SWZ_CHUNK_RANKS */
enum {
	/* So many ids of functions (uint32_t) follow the records. Costs name a
	 * function by its place among these plus SWZ_RANK_SPECIAL, or what has
	 * an id of SWZ_FUNCTION_ROOT or below by how much it is below. */
	SWZ_RANKS_FUNCTIONS = 0,
	/* Then indices of threads (uint32_t): those of processes that have a
	 * rank. */
	SWZ_RANKS_THREADS = 1
};
#define SWZ_RANK_SPECIAL 16u

/* Embedded names: what a module's file and debug information said, for readers
 * that do not have them. A tool adds these chunks when the profile is complete
 * (swizzle-dump --embed). Texts are strings, each with its NUL, behind the
 * records; a record refers to one by its distance from the start of the chunk's
 * body. 0: there is none. The body's last byte is 0. */

/* A symbol that a function with calls lies in. Several may have one address:
 * the first is the name that is shown. */
struct swz_symbol_record {
	uint64_t address; /* ELF virtual address */
	uint64_t size;    /* bytes */
	uint32_t name;    /* text: as in the file (mangled) */
	uint32_t file;    /* text: the source file's name, of a static function
			   */
	uint32_t number;  /* of the symbols with this name and file, how many
			   * have lower addresses */
	uint32_t reserved;
};

/* The source of a function's first instruction, or of a call. */
struct swz_line_record {
	uint64_t address;    /* ELF virtual address: of the function, or of the
			      * last byte of the call's instruction */
	uint32_t file;       /* text: the source file's path */
	uint32_t line;       /* 1 to INT32_MAX */
	uint32_t inlined;    /* text: the innermost inlined function that holds
			      * the call (mangled) */
	uint32_t outer_line; /* where that was inlined into the function; 0: not
			      * known */
};

/* swz_chunk.reserved of SWZ_CHUNK_SYMBOLS */
enum {
	SWZ_SYMBOLS_LANGUAGES = 0 /* of the module, where symbols do not say so
				   * themselves: 1 Fortran, 2 Ada */
};

/* swz_chunk.reserved of SWZ_CHUNK_HISTOGRAM and its index. Counter i of a chunk
 * is of bucket 64 * block + i (base/time_bucket.h). Those of function 0 count
 * calls of any function, in a bucket of any block: there was no room. */
enum { SWZ_HISTOGRAM_FUNCTION = 0, SWZ_HISTOGRAM_BLOCK = 1 };
#define SWZ_HISTOGRAM_COUNTERS 64u
#define SWZ_HISTOGRAM_UNITS 64u /* of the index, one for each block */

/* A word of SWZ_CHUNK_TIMES is 0, or a call: the function's id << 32, this bit,
 * and the bucket. Behind them is a word with all bits set. */
#define SWZ_TIME_PENDING (1u << 16)
#define SWZ_PENDING_TIMES 119u

/* swz_chunk.reserved of SWZ_CHUNK_UNWOUND, for the writer */
enum {
	SWZ_UNWOUND_PREVIOUS =
		0, /* the thread's chunk before, in units; or 0 */
	SWZ_UNWOUND_USED = 1
};

#ifndef __cplusplus
_Static_assert(sizeof(struct swz_unwound_record) == 16, "unwound record");
_Static_assert(sizeof(struct swz_switch_record) == 16, "switch record");
_Static_assert(sizeof(struct swz_look) == 16, "look");
_Static_assert(sizeof(struct swz_count_slot) == 16, "count slot");
_Static_assert(sizeof(struct swz_merged_record) == 32, "merged record");
_Static_assert(sizeof(struct swz_rank_record) == 24, "rank record");
_Static_assert(sizeof(struct swz_symbol_record) == 32, "symbol record");
_Static_assert(sizeof(struct swz_line_record) == 24, "line record");
_Static_assert(sizeof(struct swz_chunk) == 64, "chunk header");
_Static_assert(sizeof(struct swz_node) == 64, "node");
_Static_assert(sizeof(struct swz_function_record) == 16, "function record");
_Static_assert(sizeof(struct swz_thread_record) == 128, "thread record");
_Static_assert(sizeof(struct swz_mark_record) == 16, "mark record");
_Static_assert(sizeof(struct swz_slow_record) % 64 == 0, "slow record");
_Static_assert(sizeof(struct swz_file_header) <= SWZ_REQUEST_OFFSET, "header");
_Static_assert(SWZ_REQUEST_OFFSET + sizeof(struct swz_request) <=
		       SWZ_HEADER_BYTES,
	       "request");
#endif

#endif
