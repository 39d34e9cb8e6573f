#ifndef SWZ_WATCH_IMAGE_H
#define SWZ_WATCH_IMAGE_H

/* The samples of one process while it ran one program: its code, its threads,
 * and a tree of the stacks of each. An exec begins another one. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/number_bytes.h"
#include "base/printable.h"
#include "util/memory.h"
#include "watch/code_file.h"
#include "watch/names/script_codes.h"
#include "watch/unwind/unwinder.h"

struct swz_script_reader;
struct swz_script_stack;

#define SWZ_NO_MODULE UINT32_MAX

struct swz_image_mapping {
	uint64_t start, end;
	uint32_t module; /* SWZ_NO_MODULE: memory without a file */
};

struct swz_image_module {
	struct swz_code_file *file;
	uint64_t load_bias;
	uint64_t start, end; /* run-time addresses */
};

struct swz_image_function {
	uint32_t module;  /* SWZ_NO_MODULE: made at run time */
	uint64_t address; /* ELF virtual address */
	uint64_t size;
	bool from_symbol;
	/* of what is in no file that says so itself */
	char *name;
	uint32_t script;  /* index of the image's; the first is none */
	uint32_t line;    /* of it; 0: not known */
	uint64_t seen_ns; /* the first sample of what has no name so far */
	bool pending;     /* it has no name so far */
	bool unused;      /* others took its place when they had names */
};

struct swz_stack_node {
	uint32_t parent;    /* index of its thread's nodes; [0] is the root */
	uint32_t function;  /* index of the image's, or SWZ_FUNCTION_* */
	uint64_t call_site; /* where a script calls: the line */
	uint64_t weight;    /* of its samples: what each stands for, together */
	uint32_t samples;   /* of the thread while it ran */
	uint32_t waits;     /* the same while it waited */
	bool is_hit; /* no call: the instruction of the parent's function, at
		      * call_site, that the samples hit */
};

/* Samples by themselves: see image_tree.c. */
struct swz_sample_stream {
	uint8_t *bytes;
	size_t size, capacity, count;
	struct swz_sample_packing state;
};

struct swz_image_thread {
	int32_t tid;
	char name[16];
	uint64_t start_ns;     /* CLOCK_MONOTONIC */
	uint64_t end_ns;       /* 0: it runs */
	uint64_t processor_ns; /* that it has used */
	bool processor_known;
	/* Time that it did not run because there was no processor for it. */
	uint64_t queued_ns, queued_from_ns;
	bool queue_known;
	uint64_t kernel_samples, samples, waits;
	uint64_t weight;     /* of all samples */
	uint64_t own_weight; /* of those that hit the profiler's code */
	/* While counting was stopped: of weight and waits. */
	uint64_t paused_weight, paused_waits;
	uint64_t lost; /* samples, as far as it is known whose they were */
	struct swz_stack_node *nodes;
	size_t node_count, node_capacity;
	/* A hash table of the nodes, but the root: 0 is a free slot. */
	uint32_t *children;
	size_t child_slots; /* 0 or a power of two */
	size_t fold_at;     /* nodes; 0: as many as are allowed */
	/* While it ran, and while it waited; NULL: none so far. */
	struct swz_sample_stream *times[2];
};

/* See hooked frames in image.c. */
struct swz_hooked_frames {
	uint64_t start, end;     /* where thunks are; 0: nowhere */
	struct swz_map by_thunk; /* return addresses that were read */
	uint64_t *returns;
	size_t count, capacity;
};

/* See counted_code.h. */
struct swz_counted_region {
	uint64_t start, end;
	uint64_t load_bias;                  /* of its functions' module */
	struct swz_trampoline_place *places; /* by head */
	uint32_t *sites;                     /* the same, ascending */
	size_t count;
};

struct swz_counted_code {
	const char *output; /* what the profile with the counts is called: may
			     * hold %p; NULL: nothing is counted */
	struct swz_counted_region *regions;
	size_t count, capacity;
	int fd;             /* of that profile; -1: not found so far */
	bool sure;          /* it is of this program */
	uint64_t at;        /* it has been read up to there */
	uint64_t failed_ns; /* when something was looked for in vain */
	/* When counting was stopped, as far as that was asked. */
	struct swz_pause {
		uint64_t from_ns, until_ns; /* UINT64_MAX: it is now */
	} * pauses;
	size_t pause_count, pause_capacity;
	uint64_t asked_ns; /* at that time; 0: never */
};

struct swz_image {
	int32_t pid, parent_pid;
	uint64_t process_start; /* as swz_process_start() */
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	bool by_fork;       /* not by exec: it runs what its parent ran */
	bool ran_before;    /* sampling began later (-p) */
	bool is_loading;    /* executed; none of its code was mapped so far */
	bool ended;         /* its last thread has, at end_ns */
	bool by_exec_ended; /* the process runs another program since end_ns */
	uint64_t end_ns;    /* 0: it runs */
	size_t live_threads;
	char *executable, *directory;
	char *arguments; /* each with its NUL */
	struct swz_labels labels;
	struct swz_labels context; /* what it publishes */
	uint64_t context_ns;       /* when that is looked for next */
	size_t argument_count, argument_bytes;
	struct swz_image_mapping *mappings; /* sorted, apart */
	size_t mapping_count, mapping_capacity;
	struct swz_image_module *modules;
	size_t module_count, module_capacity;
	struct swz_image_function *functions;
	size_t function_count, function_capacity;
	struct swz_map by_address; /* (module, address): functions */
	struct swz_map by_pc;      /* (pc, 0): functions, as maps are now */
	struct swz_image_thread **threads;
	size_t thread_count, thread_capacity;
	struct swz_map by_name;       /* (hash, which of those): functions */
	struct swz_map by_place;      /* (address, script): is taken */
	struct swz_map by_unnamed_pc; /* (pc, names that are known) */
	struct swz_map by_code; /* (a swz_script_code's number, 0): functions */
	size_t pending_count;
	char **scripts; /* paths; the first is NULL */
	size_t script_count, script_capacity;
	/* see script_frames.h */
	struct swz_script_reader *script; /* NULL: there is none so far */
	size_t modules_seen; /* so many have been looked into for it */
	uint32_t loop_module;
	uint64_t loop_address; /* ELF virtual address */
	uint64_t loop_part;    /* where more of that function is; 0: nowhere */
	uint64_t inner_loop_address; /* of what the loop is in; 0: itself */
	uint64_t unread_scripts; /* samples of it that have C functions only */
	struct swz_unwinder *unwinder;
	struct swz_hooked_frames hooked;
	struct swz_counted_code counted;
	struct swz_code_names *names; /* NULL: nobody has asked */
	uint64_t names_ns;            /* when it looked for new ones */
	uint64_t samples, waits, cut_stacks, broken_stacks, lost, missed;
	/* Samples in the profiler's code; while counting was stopped.
	 */
	uint64_t own_samples, paused_samples;
	bool keeps_moments; /* each sample is kept by itself, too ... */
	uint64_t untimed;   /* ... but for so many */
	/* perf_engine.c: it is an interpreter, whose frames are read while a
	 * thread is stopped, so often; 0: it is not. And whether that was found
	 * out; of others, how many samples it had when that was asked last, and
	 * how many of these in scripts. */
	uint64_t pause_period_ns;
	bool is_judged;
	uint64_t judged_samples, judged_scripts;
	uint64_t losses_seen;
	uint64_t left_ns; /* it was seen to run another program; or 0 */
	uint64_t mappings_made;
	/* Lost walks since /proc was read for one, and how many it is not read
	 * for. */
	unsigned walks_lost, walks_left;
	/* the file, once it was made; see watch/tasks.h */
	int fd;
	char *path;
};

struct swz_image *swz_image_create(int32_t pid, uint64_t now_ns);

/* The image of a child that was forked: it has its parent's code. */
struct swz_image *swz_image_fork(const struct swz_image *parent, int32_t pid,
				 uint64_t now_ns);
void swz_image_free(struct swz_image *image);

/* Reads executable, directory and arguments from /proc, as far as they are
 * there. */
void swz_image_describe(struct swz_image *image);

/* PATH was mapped as the first code of a program, which is its executable. What
 * /proc said when the program had been executed may be of another one, which
 * the process has executed since: its name and arguments are not known then. */
void swz_image_loaded(struct swz_image *image, const char *path);

/* Code was mapped. PATH as the process names it. */
void swz_image_map(struct swz_image *image, uint64_t start, uint64_t end,
		   uint64_t offset, const char *path, uint64_t inode);

/* Reads /proc/PID/maps. False: it cannot be read. */
bool swz_image_read_maps(struct swz_image *image);

/* True if the process runs another program by now, as far as that can be read.
 */
bool swz_image_is_left(const struct swz_image *image);

/* True if an address lies in memory that was seen to be mapped. */
bool swz_image_knows(const struct swz_image *image, uint64_t address);

bool swz_image_is_in_file(const struct swz_image *image, uint64_t address);

/* The function that had an address at that time. */
uint32_t swz_image_function_at(struct swz_image *image, uint64_t pc,
			       uint64_t time_ns);

/* Adds a thread; it lives as long as the image. */
struct swz_image_thread *swz_image_add_thread(struct swz_image *image,
					      int32_t tid, uint64_t now_ns);

uint32_t swz_image_add_function(struct swz_image *image,
				const struct swz_image_function *function);

/* Forgets the thread's samples and its processor time. */
void swz_image_restart_thread(struct swz_image_thread *thread, uint64_t now_ns);

/* The place that a sample hit, besides the stack. */
struct swz_sampled_hit {
	bool in_kernel;
	bool waiting;
	uint64_t weight; /* of a thread that runs, beside its other samples */
	uint64_t time_ns;
	uint32_t processor; /* its number + 1; 0: it is not known */
	/* The engine is not told of code that is mapped: /proc is read again
	 * where a walk is lost. */
	bool maps_may_be_old;
	const struct swz_script_stack *script; /* NULL: there is none */
};

/* True if it is one of libswizzle.so's own, which the process has mapped. */
bool swz_image_is_own_thread(const struct swz_image *image,
			     const struct swz_image_thread *thread);

/* Adds one sample: walks the stack, and counts it. REGISTERS NULL: the thread
 * has no user code any more. */
void swz_image_add(struct swz_image *image, struct swz_image_thread *thread,
		   const struct swz_registers *registers,
		   const struct swz_stack *stack,
		   const struct swz_sampled_hit *hit);

/* Makes room: stacks that had next to no samples are cut, where others of the
 * thread have very many. Their samples stay, and their innermost functions. No
 * number of a node holds any more. */
void swz_stack_fold(struct swz_image *image, struct swz_image_thread *thread);

/* The node below one for what hits an instruction of its function. */
uint32_t swz_stack_hit(struct swz_image_thread *thread, uint32_t parent,
		       uint64_t pc);

/* The node below one, which is added if it is new. */
uint32_t swz_stack_child(struct swz_image_thread *thread, uint32_t parent,
			 uint32_t function, uint64_t call_site);

/* The path by which a process's program, FILE, was called, as the process sees
 * it; perhaps relative to its directory. To be freed. NULL: not known any more.
 */
char *swz_process_called(int32_t pid, const char *file);

/* --- the time of each sample ---------------------------------------------- */

/* When each sample was taken. */

/* Keeps a sample of a node of the thread by itself. */
void swz_sample_times_add(struct swz_image *image,
			  struct swz_image_thread *thread, uint32_t node,
			  const struct swz_sampled_hit *hit);

/* Frees all that the thread has. */
void swz_sample_times_forget(struct swz_image_thread *thread);

/* Samples as a chunk SAMPLES has them. */
struct swz_sample_times {
	size_t count, bytes;
	uint64_t unit_ns, expected;
	uint8_t *stream; /* to be freed */
};

/* Packs those that were taken while the thread ran, or while it waited.
 * PERIOD_NS: between two of a running thread; 0: not known. */
void swz_sample_times_pack(struct swz_sample_times *times,
			   const struct swz_image_thread *thread, bool waiting,
			   uint64_t period_ns);

/* --- functions that lie in no file ---------------------------------------- */

/* The functions of an image that lie in no file. */

/* That of a script, a file's path, which begins on that line. */
uint32_t swz_script_function(struct swz_image *image, const char *name,
			     const char *script, uint32_t line);

/* The function that an address in no file lay in at that time. Who makes code
 * may tell its name much later: until then each address is a function. */
uint32_t swz_jit_function(struct swz_image *image, uint64_t pc,
			  uint64_t time_ns);

/* Gives all functions the names that are known now; those without become one.
 * Nodes that are the same by that become one, too. */
void swz_jit_functions_settle(struct swz_image *image);

/* --- counted code -------------------------------------------------------- */

/* Samples of a process whose calls are counted meanwhile (-m both). A function
 * begins in its trampoline there, which counts the call and then executes the
 * instructions that the jump has displaced (thunks/counting.h). The process's
 * own profile tells where these lie (SWZ_CHUNK_TRAMPOLINES), also when the
 * process has ended before its samples are read. */

enum swz_code_kind {
	SWZ_CODE_PROGRAM,  /* or what it has displaced */
	SWZ_CODE_COUNTING, /* what counts a function's calls, or leads there and
			    * back */
	SWZ_CODE_LIBRARY   /* libswizzle.so */
};

/* The code that the thread executes at registers->ip, which is IN_FILE: in
 * memory that a file is mapped to. A place in a trampoline becomes that of the
 * instruction itself, or of the next one that is the program's. */
enum swz_code_kind swz_counted_code_find(struct swz_image *image,
					 struct swz_registers *registers,
					 bool in_file);

/* True if counting was stopped at that time (swizzle-ctl stop, --off): what was
 * sampled then is in no figure, as what was called is in none. */
bool swz_counted_code_is_paused(struct swz_image *image, uint64_t time_ns);

/* Measures what a counted call costs, in a millisecond, for what all profiles
 * of a run have in common. */
struct swz_sample_run;
void swz_counted_code_measure(struct swz_sample_run *run);

/* Takes what the image that this one was forked from knows. */
void swz_counted_code_fork(struct swz_image *image,
			   const struct swz_image *parent);
void swz_counted_code_free(struct swz_image *image);

/* --- process context ----------------------------------------------------- */

/* A process describes itself by OpenTelemetry's process context
 * (OTEP 4719): service.name, service.version, ... */

/* Puts the attributes of a payload, the message ProcessContext of
 * opentelemetry-proto 1.11.0 or the Resource that drafts had in its place, into
 * LABELS. False: it is neither, or has none. */
bool swz_process_context_decode(const uint8_t *payload, size_t size,
				struct swz_labels *labels);

/* Sets LABELS to what a process publishes now. False: it publishes nothing, or
 * that cannot be read; then there are none. */
bool swz_process_context_read(int32_t pid, struct swz_labels *labels);

#endif
