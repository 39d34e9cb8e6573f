/* The beginning of a profile: configuration, file, plan, patches, first thread,
 * in this order. It begins at a program's start, or in a process that ran
 * already (docs/attach.md). There a thread of our own plans, and the controller
 * patches. */

#include "runtime/recording.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/control.h"
#include "base/printable.h"
#include "base/resume_call.h"
#include "base/syscall.h"
#include "runtime/cache/plan_cache.h"
#include "runtime/compat/compat.h"
#include "runtime/discovery/filter.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "runtime/plan/plan.h"
#include "runtime/record/annotations.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "runtime/record/kept_calls.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "thunks/arena.h"
#include "thunks/trampoline.h"

/* --- the cost of a call --------------------------------------------------- */

#define CALLS 64
_Static_assert(CALLS <= SWZ_MOST_TIMED, "one that is not timed is no measure");
/* Rounds of calls by one trampoline, at one place of the stack. */
#define ROUNDS 10
#define PLACES 8
/* Not a part of a page: what is a multiple of a page apart is in each other's
 * way in caches. */
#define STACK_STEP 520
#define CONFIRMED 10
#define MOST_NS 1500000
/* Trials of calls without a hook, to see how fast the machine is now. */
#define TRIALS 16

__attribute__((noinline)) static void empty(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"); /* nop */
}

/* Kinds of measured calls: without a hook; of a node, timed or not; by the
 * hook of functions that call nothing. */
enum what { PLAIN, TIMED, UNTIMED, LEAF, KINDS };

/* Trampolines of the empty function. */
struct entry {
	const uint8_t *hooked, *leaf;
};

/* The least that CALLS calls have taken. Of the rounds that took nearly as
 * little: how many, and what the calls recorded as their own time. */
struct least {
	uint64_t ticks;
	uint64_t recorded;
	unsigned rounds;
};

static void note(struct least *least, uint64_t ticks, uint64_t recorded)
{
	if (ticks < least->ticks - least->ticks / 16)
		*least = (struct least){.ticks = ticks};
	if (ticks > least->ticks + least->ticks / 16)
		return;
	if (ticks < least->ticks)
		least->ticks = ticks;
	least->recorded += recorded;
	least->rounds++;
}

/* The calls' node, found among the root's children, and taken out again. */
static void forget(struct swz_thread *thread, struct swz_node *node)
{
	struct swz_thread_cold *cold = thread->cold;

	thread->links[swz_unit_of(node)].free = NULL; /* of this edge only */
	memset(node, 0, sizeof(*node));
	if (cold->next_node == node + 1)
		cold->next_node = node;
	swz_edge_forget_children(thread, cold->root);
}

static uint64_t ticks_of_calls(void (*volatile function)(void))
{
	uint64_t before = swz_ticks();

	for (int i = 0; i < CALLS; i++)
		function();
	return swz_ticks() - before;
}

/* There is one call site of the function, and so one edge: through a variable,
 * the compiler makes no copies of this. */
static uint64_t (*volatile measure)(void (*volatile)(void)) = ticks_of_calls;

/* Measures one round of each kind: a few microseconds in all. */
static void measure_round(struct least *least, struct swz_node *node,
			  void (*hooked)(void), void (*leaf)(void))
{
	int64_t sum;
	uint64_t ticks;

	note(&least[PLAIN], measure(empty), 0);
	if (swz_sampling)
		swz_sampling_set(node, CALLS);
	sum = node->ticks;
	ticks = measure(hooked);
	note(&least[TIMED], ticks, (uint64_t)(node->ticks - sum));
	if (!swz_sampling)
		return;
	swz_sampling_set(node, 0);
	note(&least[UNTIMED], measure(hooked), 0);
	note(&least[LEAF], measure(leaf), 0);
}

/* Processor time of this thread: time that it waits for a processor does not
 * count. */
static uint64_t processor_ns(void)
{
	struct timespec now;

	if (SWZ_SYSCALL(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		return UINT64_MAX;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool are_confirmed(const struct least *least)
{
	return least[PLAIN].rounds >= CONFIRMED &&
	       least[TIMED].rounds >= CONFIRMED &&
	       (!swz_sampling || (least[UNTIMED].rounds >= CONFIRMED &&
				  least[LEAF].rounds >= CONFIRMED));
}

/* By a trampoline, from a place of the stack. False: nothing is recorded. */
static bool measure_at(struct swz_thread *thread, struct least *least,
		       const struct entry *entry, size_t stack_bytes)
{
	void (*hooked)(void), (*leaf)(void);
	struct swz_node *node;

	__asm__ volatile("" : : "r"(__builtin_alloca(stack_bytes)));
	*(const void **)&hooked = entry->hooked;
	*(const void **)&leaf = entry->leaf;
	measure(hooked); /* makes the node */
	node = thread->cold->next_node - 1;
	if (node->function != swz_ids_spare() || !node->calls)
		return false;
	for (int round = 0; round < ROUNDS; round++)
		measure_round(least, node, hooked, leaf);
	forget(thread, node);
	if (swz_tracing)
		swz_events_restart(thread); /* there is room for so many */
	return true;
}

/* Per call, in 1/1024 ticks. */
static uint64_t cost_of(const struct least *least, enum what what)
{
	uint64_t ticks = least[what].ticks, plain = least[PLAIN].ticks;

	return ticks > plain ? (ticks - plain) * 1024 / CALLS : 0;
}

static struct swz_costs costs_of(const struct least *least)
{
	uint64_t both = cost_of(least, TIMED), inside;
	struct swz_costs costs = {.measured_ns = swz_sys_monotonic_ns(),
				  .confirmed = are_confirmed(least),
				  .plain = (uint32_t)least[PLAIN].ticks};

	inside = least[TIMED].recorded * 1024 / CALLS / least[TIMED].rounds;
	costs.inside = inside < both ? inside : both;
	costs.outside = both - costs.inside;
	if (swz_sampling) {
		costs.untimed = cost_of(least, UNTIMED);
		costs.leaf = cost_of(least, LEAF);
	}
	return costs;
}

/* Trampolines of the empty function, at different places. */
static unsigned make_entries(struct entry *entries)
{
	struct swz_decoder *decoder = swz_decoder_new(swz_scratch_alloc);
	struct swz_trampolines region;
	uint64_t address = (uintptr_t)&empty;
	struct swz_patch_site site = {
		.code = {(const uint8_t *)(uintptr_t)address, 16},
		.address = address,
		.wanted = SWZ_JUMP_BYTES,
		.function_id = swz_ids_spare(),
	};
	enum swz_refusal refusal;
	unsigned count = 0;
	uint8_t moved;

	if (!decoder ||
	    swz_trampolines_open(&region, address, address + 16, 2 * PLACES,
				 NULL, swz_hooks_choose()) != SWZ_OK)
		return 0;
	for (; count < PLACES; count++) {
		site.is_leaf = false;
		entries[count].hooked = swz_trampoline_write(
			&region, decoder, &site, &moved, &refusal);
		site.is_leaf = true;
		entries[count].leaf = swz_trampoline_write(
			&region, decoder, &site, &moved, &refusal);
		if (!entries[count].hooked || !entries[count].leaf)
			break;
	}
	return swz_trampolines_seal(&region) == SWZ_OK ? count : 0;
}

static void measure_costs(struct swz_costs *costs)
{
	struct swz_thread *thread = swz_thread_here();
	struct swz_node *root = swz_context_node(thread->key);
	struct entry entries[PLACES];
	struct least least[KINDS];
	uint32_t filtered = root->open & SWZ_NODE_PASS;
	unsigned count = make_entries(entries);
	uint64_t begin = processor_ns();

	for (int kind = 0; kind < KINDS; kind++)
		least[kind] = (struct least){.ticks = UINT64_MAX / 2};
	/* as beneath a function that is wanted */
	root->open &= ~filtered;
	do {
		for (unsigned i = 0; i < count; i++)
			if (!measure_at(thread, least, &entries[i],
					(size_t)i * STACK_STEP))
				count = 0;
	} while (count && !are_confirmed(least) &&
		 processor_ns() - begin < MOST_NS);
	root->open |= filtered;
	if (count)
		*costs = costs_of(least);
}

/* Half as fast, to twice as fast, as it was when these were measured. Under
 * valgrind, or an emulator, nothing is. */
static bool is_as_fast(const struct swz_costs *costs)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIALS; i++) {
		uint64_t ticks = measure(empty);

		if (ticks < least)
			least = ticks;
	}
	return least <= 2 * (uint64_t)costs->plain && 2 * least >= costs->plain;
}

/* Stores in the profile's header what a hooked call costs: COSTS, which, if
 * they are not known, or of a machine that was faster or slower than it is now
 * (an emulated one, say), are measured, by calls of an empty function of our
 * own through a real trampoline. These leave no trace in the profile. The
 * calling thread must be set up.
 * See docs/internals/calibration.md. */
static void calibrate(struct swz_costs *costs)
{
	if (!costs->measured_ns || !is_as_fast(costs))
		measure_costs(costs);
	swz_file->cost_inside = costs->inside;
	swz_file->cost_outside = costs->outside;
	swz_file->cost_untimed = costs->untimed;
	swz_file->cost_leaf = costs->leaf;
}

/* --- the course of a recording -------------------------------------------- */

/* ------------------------------------------------------ for the controller */

/* asm/x86_64/wrappers.S: three of 64 bytes, the last one somewhat longer */
void swz_landing_rax_pushed(void);

#define LANDING_BYTES 256

extern const char swz_hooks_start[], swz_hooks_end[];

void swz_control_describe(void)
{
	struct swz_control *c = &swizzle_control;

	c->thread_slot = swz_thread_offset_of(&swz_thread_self);
	c->paused_state_slot = swz_thread_offset_of(&swz_paused_state);
	c->count_slot = swz_thread_offset_of(&swz_count_place);
	c->nobody = (uintptr_t)&swz_nobody;
	c->paused = (uintptr_t)&swz_paused_process;
	c->file_offset = offsetof(struct swz_thread, file);
	c->resume = (uintptr_t)&swz_resume_call;
}

bool swz_control_begin_tables(void)
{
	if (!swz_live_sites_begin())
		return false;
	swz_live_sites_code(swz_hooks_start,
			    (uintptr_t)swz_hooks_end -
				    (uintptr_t)swz_hooks_start);
	swz_live_sites_code((const void *)&swz_landing_rax_pushed,
			    LANDING_BYTES);
	/* a thunk that is about to call goes to a trampoline */
	swz_live_sites_code(swz_arena_start,
			    (uintptr_t)swz_arena_end -
				    (uintptr_t)swz_arena_start);
	return true;
}

/* -------------------------------------------------- in a process that runs */

/* Two threads of our own come and go: one plans, and waits until the controller
 * has stopped all others and says so; the other closes the profile, likewise.
 * In between there is none. Neither waits for ever: where the controller's
 * heartbeat stops, nothing was patched, or everything is left as it is. */

#define LOOK_NS 200000

extern const char swz_image_start[];

static struct swz_modules attach_modules;

/* Ours: there is one at a time. */
static struct swz_own_thread worker SWZ_KEPT;

typedef void *open_library(const char *name, int flags);

typedef int close_library(void *handle);

/* ------------------------------------------------------------------ state */

static void set_state(enum swz_control_state state)
{
	/* release: matches the controller's reading of the rest */
	__atomic_store_n(&swizzle_control.state, state, __ATOMIC_RELEASE);
}

static enum swz_control_state get_state(void)
{
	return __atomic_load_n(&swizzle_control.state, __ATOMIC_ACQUIRE);
}

/* Until the controller says so. False: there is none any more. */
static bool wait_for(enum swz_control_state state)
{
	const struct timespec look = {0, LOOK_NS};
	uint64_t beat = 0, since = swz_sys_monotonic_ns();

	while (get_state() != state) {
		uint64_t now = swz_sys_monotonic_ns();
		uint64_t latest = __atomic_load_n(&swizzle_control.heartbeat,
						  __ATOMIC_RELAXED);

		if (latest != beat) {
			beat = latest;
			since = now;
		} else if (now - since > SWZ_CONTROL_PATIENCE_NS ||
			   get_state() == SWZ_CONTROL_ABANDONED) {
			return false;
		}
		SWZ_SYSCALL(SYS_nanosleep, &look, NULL);
	}
	return true;
}

/* All of our thread-local variables are within a page. */
static uint64_t storage_bytes(void)
{
	return (uint64_t)-swz_thread_offset_of(&swz_thread_self) + 4096;
}

static long start_worker(void (*function)(void))
{
	long error;

	swz_own_thread_free(&worker);
	error = swz_own_thread_start(&worker, function, storage_bytes());
	if (!error)
		swizzle_control.agent_tid = worker.tid;
	return error;
}

/* -------------------------------------------------------- modules, held */

/* So that none is unloaded while it is read. Those of the start are not. */
static void **held;
static uint32_t held_count;
static close_library *close_held;

/* False: it has gone, or is not to be held. */
static bool hold(const struct swz_module *m, open_library *open)
{
	void *handle = m->path[0] == '/'
			       ? open(m->link_name, RTLD_LAZY | RTLD_NOLOAD)
			       : NULL;

	/* the first member of struct link_map */
	if (handle && *(const uint64_t *)handle == m->load_bias) {
		held[held_count++] = handle;
		return true;
	}
	if (handle)
		close_held(handle);
	return false;
}

static enum swz_status hold_modules(const struct swz_attach_request *request)
{
	const unsigned count = attach_modules.count;
	bool linker_seen = false;
	open_library *open;

	memcpy(&open, &request->dlopen, sizeof(open));
	memcpy(&close_held, &request->dlclose, sizeof(close_held));
	attach_modules.count = held_count = 0;
	held = swz_sys_mmap(NULL, count * sizeof(*held) + 1,
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (!held)
		return SWZ_E_NOMEM;
	for (unsigned i = 0; i < count; i++) {
		const struct swz_module *m = &attach_modules.of[i];
		const bool is_us = m->load_bias == (uintptr_t)swz_image_start;

		if (!linker_seen || is_us || hold(m, open))
			attach_modules.of[attach_modules.count++] = *m;
		if (m->load_bias == swz_linker_debug(&attach_modules)->r_ldbase)
			linker_seen = true;
	}
	return SWZ_OK;
}

/* As swizzle_attach: lets the modules go. */
static long attach_release(void)
{
	while (held_count)
		close_held(held[--held_count]);
	return 0;
}

/* --------------------------------------------------------------- planning */

static uint32_t total(bool patched)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < attach_modules.count; i++)
		sum += patched ? attach_modules.of[i].counts[SWZ_PATCHED]
			       : attach_modules.of[i].hookable_count;
	return sum;
}

static void give_all_back(void)
{
	struct swz_control *c = &swizzle_control;

	c->site_count = c->code_count = 0;
	(void)swz_request_map(-1); /* in our own image: not the file's page */
	swz_reset(worker.memory);
}

static void fail(const char *problem)
{
	swz_say(problem, swz_file_path(), NULL);
	swz_recording = false;
	swz_file_discard();
	give_all_back();
	set_state(SWZ_CONTROL_FAILED);
}

/* The time until now was ours. */
static void begin_now(void)
{
	struct timespec now;

	swz_file->start_ticks = swz_ticks();
	SWZ_SYSCALL(SYS_clock_gettime, CLOCK_REALTIME, &now);
	swz_file->start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u +
				      (uint64_t)now.tv_nsec;
}

static void plan(void)
{
	struct swz_control *c = &swizzle_control;
	uint64_t began = swz_sys_monotonic_ns();
	const char *problem = "no memory for ";

	SWZ_SYSCALL(SYS_prctl, PR_SET_NAME, SWZ_OWN_THREAD_NAME);
	swz_thread_self = (struct swz_thread *)(uintptr_t)&swz_nobody;
	if (swz_control_begin_tables())
		problem = swz_recording_begin(&attach_modules);
	swz_workers_end();
	if (problem) {
		fail(problem);
		return;
	}
	memcpy(c->path, swz_file_path(), strlen(swz_file_path()) + 1);
	c->functions = total(false);
	c->hooked = total(true);
	c->planning_ns = swz_sys_monotonic_ns() - began;
	do {
		set_state(SWZ_CONTROL_PLANNED);
		if (!wait_for(SWZ_CONTROL_COMMIT)) {
			fail("nobody has waited for ");
			return;
		}
	} while (!swz_late_commit(&attach_modules));
	swz_scratch_free_all();
	begin_now();
	swz_thread_give_back_own();
	set_state(SWZ_CONTROL_COMMITTED);
}

__attribute__((visibility("default"))) long swizzle_attach(
	const struct swz_attach_request *request)
{
	struct swz_control *c = &swizzle_control;
	const char *problem;
	long error;

	if (get_state() != SWZ_CONTROL_IDLE &&
	    get_state() != SWZ_CONTROL_FAILED &&
	    get_state() != SWZ_CONTROL_ENDED)
		return -EALREADY;
	if (swz_own_thread_lives(&worker))
		return -EBUSY;
	if (!swz_reset_note())
		return -ENOMEM;
	swz_own_least = 1; /* all of it is given back at the end */
	c->finish = (uintptr_t)&swz_attach_finish;
	c->release = (uintptr_t)&attach_release;
	c->message_bytes = 0;
	c->frames_left = 0;
	c->controller_pid = request->controller_pid;
	c->controller_start = request->controller_start;
	c->handle = request->handle;
	c->region = request->region;
	c->region_bytes = request->region_bytes;
	swz_control_describe();
	swz_config.linked = false;
	swz_config.attached = true;
	set_state(SWZ_CONTROL_PLANNING);
	problem = swz_config_read((int)request->argument_count,
				  (char **)(uintptr_t)request->arguments,
				  (char **)(uintptr_t)request->environment);
	if (problem) {
		swz_say(problem, NULL, NULL);
		set_state(SWZ_CONTROL_FAILED);
		return 0;
	}
	swz_own_add((uintptr_t)swz_image_start,
		    (uintptr_t)swz_arena_end - (uintptr_t)swz_image_start);
	swz_thread_set_main_stack((const void *)(uintptr_t)request->main_stack);
	error = swz_modules_list(&attach_modules) == SWZ_OK &&
				hold_modules(request) == SWZ_OK
			? start_worker(plan)
			: -ENOMEM;
	if (error) {
		swz_say("no thread can be started", NULL, NULL);
		set_state(SWZ_CONTROL_FAILED);
	}
	return 0;
}

/* ---------------------------------------------------------------- closing */

static void finish(void)
{
	struct swz_control *c = &swizzle_control;

	SWZ_SYSCALL(SYS_prctl, PR_SET_NAME, SWZ_OWN_THREAD_NAME);
	if (!wait_for(SWZ_CONTROL_FINISHING))
		return;
	swz_thread_self = (struct swz_thread *)(uintptr_t)&swz_nobody;
	c->frames_left = swz_restore_return_addresses();
	if (swz_recording && swz_file_is_ours()) {
		swz_thread_note_ended();
		swz_recording = false;
		swz_file_finish();
	}
	swz_recording = false;
	/* (what was there from the start leads to more than frames) */
	if (swz_config.attached)
		give_all_back();
	else
		swz_lasting_sites_restore();
	set_state(SWZ_CONTROL_ENDED);
}

long swz_attach_finish(void)
{
	return swz_own_thread_lives(&worker) ? -EBUSY : start_worker(finish);
}

/* ---------------------------------------------- the beginning of a profile */

/* The beginning of a profile, at a program's start and when a process is
 * joined that ran already: the file, the plan, its first thread. */

/* Path of the file that was executed, which is the first module's. */
static size_t put_program(char *to, size_t room,
			  const struct swz_module *program)
{
	const char *path = program->path;
	size_t length = strlen(path);

	if (path[0] != '/' || length >= room)
		return swz_program_file(to, room, program->segments);
	memcpy(to, path, length + 1);
	return length;
}

static enum swz_status record_command(const struct swz_modules *modules)
{
	struct swz_chunk *chunk;
	char *text = swz_scratch_alloc(2 * 4096 + 16);
	uint64_t bytes;
	uint32_t count = 2;
	long n;
	char *to;

	if (!text)
		return SWZ_E_NOMEM;
	to = text + put_program(text, 4096, &modules->of[0]) + 1;
	n = SWZ_SYSCALL(SYS_getcwd, to, 4096);
	to += n > 0 ? n : 1;
	bytes = (uint64_t)(to - text);
	for (int i = 0; i < swz_config.argc; i++, count++)
		bytes += strlen(swz_config.argv[i]) + 1;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_COMMAND, bytes, count, 0);
	if (!chunk)
		return SWZ_E_NOMEM;
	memcpy(chunk + 1, text, (size_t)(to - text));
	to = (char *)(chunk + 1) + (to - text);
	for (int i = 0; i < swz_config.argc; i++) {
		size_t length = strlen(swz_config.argv[i]) + 1;

		memcpy(to, swz_config.argv[i], length);
		to += length;
	}
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

/* Records the labels, if there is room for them. */
static void record_labels(const struct swz_modules *modules)
{
	struct swz_labels *labels = swz_scratch_alloc(sizeof(*labels));
	struct swz_chunk *chunk;

	if (!labels)
		return;
	swz_labels_read(labels, swz_config.envp);
	swz_labels_add_called(labels, swz_program_called(modules->of[0].path),
			      modules->of[0].path);
	chunk = labels->strings
			? swz_chunk_take(swz_file, SWZ_CHUNK_LABELS,
					 labels->bytes, labels->strings, 0)
			: NULL;
	if (!chunk)
		return;
	memcpy(chunk + 1, labels->text, labels->bytes);
	swz_chunk_publish(chunk);
}

static void report(const struct swz_modules *modules, uint64_t began_ns)
{
	uint32_t functions = 0, patched = 0;
	struct swz_line line;

	for (unsigned i = 0; i < modules->count; i++) {
		functions += modules->of[i].hookable_count;
		patched += modules->of[i].counts[SWZ_PATCHED];
	}
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: ");
	swz_line_number(&line, patched);
	swz_line_string(&line, " of ");
	swz_line_number(&line, functions);
	swz_line_string(&line, " functions hooked; profile ");
	swz_line_string(&line, swz_file_path());
	swz_line_write(&line);
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: ready after ");
	swz_line_number(&line, (swz_sys_monotonic_ns() - began_ns) / 1000000);
	swz_line_string(&line, " ms, threads that planned: ");
	swz_line_number(&line, swz_workers_members());
	swz_line_write(&line);
	swz_cache_report();
}

/* The first calls find it out. */
static void begin_paused(struct swz_thread *thread)
{
	uint64_t ticks = thread->record->start_ticks;

	if (swz_request_set(SWZ_REQUEST_PAUSE, ticks))
		swz_marks_add(thread, SWZ_MARK_PROCESS_PAUSED, "", 0, ticks);
}

const char *swz_recording_begin(struct swz_modules *modules)
{
	uint64_t began_ns = swz_config.verbose ? swz_sys_monotonic_ns() : 0;
	struct swz_thread *thread;
	struct swz_start_record facts;
	const char *problem;

	if (swz_file_create(&problem) != SWZ_OK)
		return problem;
	swizzle_control.file = (uintptr_t)swz_file;
	if (!swz_limits_leave_room())
		return "too little address space (ulimit -v, -d) for ";
	if (!swz_thread_access_shorten())
		return "the hooks may not be executed, no profile ";
	swz_file_sample_clock(0);
	if (swz_config.sampled)
		swz_sampling_begin();
	if (swz_config.count)
		swz_file->flags |= SWZ_FILE_COUNTS;
	if (swz_config.first_calls)
		swz_file->flags |= SWZ_FILE_COVER;
	if (swz_config.trace)
		swz_events_begin();
	if (swz_config.switches)
		swz_wrapped_expect(); /* _exit: when the last ones are read */
	swz_hooks_begin();
	problem = swz_signatures_read();
	if (problem)
		return problem;
	if (swz_plan_make(modules) != SWZ_OK ||
	    swz_signatures_begin() != SWZ_OK || swz_summaries_begin() != SWZ_OK)
		return "no memory to plan for ";
	if (swz_ids_filtered)
		swz_file->flags |= SWZ_FILE_FILTERED;
	if (swz_span_names_begin() != SWZ_OK)
		return "too many functions for ";
	if (!swz_config.attached)
		swz_thread_set_main_stack(swz_config.envp);
	swz_thread_set_functions(swz_ids_bound());
	if (!swz_thread_forks_show())
		return "forked children cannot be known here, no profile ";
	swz_marks_begin(swz_file);
	thread = record_command(modules) == SWZ_OK ? swz_thread_begin() : NULL;
	if (!swz_config.attached)
		swz_title_begin(swz_config.argc, swz_config.argv,
				swz_config.envp);
	record_labels(modules);
	if (!thread)
		return "no room in the profile ";
	swz_start_record_find(&facts);
	swz_recording = true;
	if (!swz_config.count)
		calibrate(&facts.costs);
	swz_plan_apply(modules);
	if (swz_plan_obstacle(modules))
		swz_say("no function is hooked: ", swz_plan_obstacle(modules),
			NULL);
	if (swz_plan_record(modules) != SWZ_OK)
		return "no room in the profile ";
	if (swz_config.fresh && !swz_plan_obstacle(modules))
		swz_filter_tell(modules);
	swz_file_sample_clock(1);
	if (swz_config.trace)
		swz_events_set_min_time(thread);
	if (swz_config.verbose)
		report(modules, began_ns);
	swz_late_begin(modules, &facts.calls);
	swz_start_record_keep(&facts);
	for (unsigned i = 0; i < modules->count; i++)
		swz_module_close(&modules->of[i]);
	if (swz_config.slow)
		swz_watched_calls_begin(thread);
	else if (swz_config.trace)
		swz_events_restart(thread);
	/* the program's time begins now */
	thread->record->start_ticks = swz_ticks();
	thread->record->last_ticks = thread->record->start_ticks;
	swz_processor_time_begin(thread->record);
	swz_request()->native = swz_live_sites_are_native();
	if (swz_config.off)
		begin_paused(thread);
	/* release: what it begins with */
	__atomic_store_n(&swz_request()->ready, 1, __ATOMIC_RELEASE);
	return NULL;
}
