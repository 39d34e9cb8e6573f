/* The dynamic linker calls _dl_debug_state, an empty function, whenever its
 * list of modules changes: with RT_ADD or RT_DELETE before, with RT_CONSISTENT
 * after (src/runtime/module/linker.c). At RT_CONSISTENT new modules are mapped,
 * but none of their code has run (glibc before 2.41 has not even relocated
 * them), and the linker holds its lock, so these events come one at a time, in
 * all namespaces.
 *
 * A module that was not there at the event before and is now, after RT_ADD, can
 * be executed by no thread and is patched. One that turns up otherwise is left
 * alone. */

#include "runtime/late.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/compat/find_object.h"
#include "runtime/compat/foreign.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/stack_request.h"
#include "runtime/hooks/unwind.h"
#include "runtime/imports/imports.h"
#include "runtime/loaded_hold.h"
#include "runtime/module/foreign_callers.h"
#include "runtime/module/linker.h"
#include "runtime/module/loaded.h"
#include "runtime/module/run_time_code.h"
#include "runtime/plan/capture.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/record.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/slow_stack.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch.h"
#include "thunks/trampoline.h"

#define STACK_BYTES (256u << 10)

/* r_debug_extended of glibc 2.35 and later */
struct namespace
{
	struct r_debug base;
	struct namespace *next;
};

void swz_linker_stub(void);
void swz_linker_event(void);
void (*swz_linker_state)(void) __attribute__((visibility("hidden")));

static struct namespace *first_namespace;
static uint32_t event;
static bool adding;
static bool missed;  /* an event: what is new then may have run already */
static int32_t busy; /* the process that is at an event, or 0 */
static char *stack_top;

/* ----------------------------------------------------------- namespaces */

static struct namespace *next_namespace(const struct namespace *n)
{
	return first_namespace->base.r_version >= 2 ? n->next : NULL;
}

/* Those that are there at the start are of auditing libraries, or the
 * program's. */
#define MOST_AUDITORS 16u
static const struct namespace *auditors[MOST_AUDITORS];

static bool is_auditor(const struct namespace *n)
{
	for (unsigned i = 0; i < MOST_AUDITORS && auditors[i]; i++)
		if (auditors[i] == n)
			return true;
	return false;
}

static void note_auditors(void)
{
	unsigned count = 0;

	for (const struct namespace *n = next_namespace(first_namespace);
	     n && count < MOST_AUDITORS; n = next_namespace(n))
		auditors[count++] = n;
}

static void leave(struct swz_loaded *l)
{
	struct swz_module_record *record = swz_loaded_record(l);

	if (record)
		record->unload_ticks = swz_ticks();
	swz_live_sites_gone(l->start, l->end, true);
	swz_unwinders_forget(l->start, l->end);
	swz_trampolines_show(&l->trampolines, false);
	if (l->own_unwinder)
		swz_forget_unwinder(l->start);
	atomic_store_explicit(&l->state, SWZ_LOADED_DORMANT,
			      memory_order_relaxed);
	l->map = NULL;
	if (l->recorded)
		swz_imports_leave(l->index);
	else
		swz_loaded_drop(l);
}

/* --------------------------------------------------------------- arrival */

/* An unwinder of its own that has come back is looked for anew in the file. */
static bool is_served(const struct swz_loaded *l, const struct swz_module *m)
{
	struct swz_module opened = *m;
	bool served;

	if (!l->own_unwinder)
		return true;
	swz_note_unwinder(l->start, l->end);
	served = swz_module_open(&opened) == SWZ_OK &&
		 swz_foreign_serve_unwinder(&opened);
	swz_module_close(&opened);
	return served;
}

static void revive(struct swz_loaded *l, const struct link_map *map,
		   struct swz_module *m)
{
	struct swz_module_record *record = swz_loaded_record(l);

	l->map = map;
	l->seen = event;
	swz_loaded_set_present(l);
	swz_run_time_code_forget();
	swz_foreign_callers_arrive(map);
	swz_unwinders_forget(l->start, l->end);
	if (record) {
		record->loads++;
		record->unload_ticks = 0;
	}
	if (is_served(l, m) && l->site_count) {
		swz_live_sites_gone(l->start, l->end, false);
		swz_loaded_patch_again(l, m);
	}
	if (l->recorded)
		swz_imports_return(map, m, l->index);
	swz_trampolines_show(&l->trampolines, true);
}

static void report(const struct swz_module *m)
{
	struct swz_line line;

	swz_line_start(&line);
	swz_line_string(&line, "swizzle: ");
	swz_line_number(&line, m->counts[SWZ_PATCHED]);
	swz_line_string(&line, " of ");
	swz_line_number(&line, m->hookable_count);
	swz_line_string(&line, " functions hooked in ");
	swz_line_string(&line, m->path);
	if (m->saved)
		swz_line_string(&line, ", by the plan cache");
	swz_line_write(&line);
}

/* What cannot be planned or recorded is left alone. */
static void hook(struct swz_loaded *l, struct swz_module *m)
{
	struct swz_plan_place place;

	if (m->text_count && m->path[0] == '/' && swz_plan_late(m) != SWZ_OK) {
		m->in_scope = false;
		m->function_count = m->hookable_count = 0;
	}
	if (swz_plan_reserve(m, swz_loaded_recorded, &place) != SWZ_OK ||
	    swz_capture_record(m, swz_loaded_recorded) != SWZ_OK) {
		swz_trampolines_close(&m->trampolines);
		return;
	}
	if (m->trampolines.start && swz_loaded_keep_sites(l, m)) {
		swz_plan_patch(m);
	}
	m->late = true;
	swz_plan_fill(m, &place);
	l->recorded = true;
	l->own_unwinder = m->own_unwinder;
	l->index = swz_loaded_recorded++;
	l->pid = swz_file->pid;
	l->record = (struct swz_module_record *)(place.module + 1);
	swz_imports_arrive(l->map, m, l->index);
	if (swz_config.verbose && m->in_scope)
		report(m);
}

/* `fresh`: nothing of it can have been executed yet. */
static void arrive(const struct link_map *map, bool fresh)
{
	struct swz_module m = {0};
	struct swz_loaded *l;
	uint64_t identity;

	if (fresh && swz_module_describe(&m, map)) {
		identity = swz_loaded_identity(&m);
		l = swz_loaded_find_dormant(&m, identity);
		if (l) {
			revive(l, map, &m);
			return;
		}
	} else {
		fresh = false;
	}
	l = swz_loaded_new();
	if (!l) {
		swz_loaded_out_of_date = true;
		return;
	}
	l->map = map;
	l->load_bias = map->l_addr;
	l->seen = event;
	if (fresh) {
		l->start = m.start;
		l->end = m.end;
		l->identity = identity;
		swz_unwinders_forget(m.start, m.end);
		hook(l, &m);
		swz_module_close(&m);
		swz_scratch_free_all();
	}
	swz_loaded_set_present(l);
	swz_run_time_code_forget();
	swz_foreign_callers_arrive(map);
}

/* ---------------------------------------------------------------- events */

/* A namespace's ld.so is the one that all share. */
static bool is_shared(const struct link_map *map)
{
	return map->l_addr == first_namespace->base.r_ldbase;
}

static void mark_present(void)
{
	for (struct namespace *n = first_namespace; n; n = next_namespace(n))
		for (const struct link_map *m = n->base.r_map; m;
		     m = m->l_next) {
			struct swz_loaded *l = swz_loaded_find(m);

			if (l)
				l->seen = event;
		}
}

static void take_changes(void *argument)
{
	bool fresh = *(bool *)argument;

	event++;
	swz_imports_forget();
	mark_present();
	for (struct swz_loaded *l = swz_loaded_next(NULL, SWZ_LOADED_PRESENT);
	     l; l = swz_loaded_next(l, SWZ_LOADED_PRESENT))
		if (l->seen != event)
			leave(l);
	for (struct namespace *n = first_namespace; n; n = next_namespace(n))
		for (const struct link_map *m = n->base.r_map;
		     m && !swz_loaded_out_of_date; m = m->l_next)
			if (!is_shared(m) && !swz_loaded_find(m))
				arrive(m, fresh && !is_auditor(n));
	swz_imports_bind();
	swz_loaded_limit_dormant();
	swz_scratch_free_all();
}

static bool is_consistent(void)
{
	bool consistent = true;

	for (struct namespace *n = first_namespace; n; n = next_namespace(n)) {
		if (n->base.r_state == RT_ADD)
			adding = true;
		if (n->base.r_state != RT_CONSISTENT)
			consistent = false;
	}
	return consistent;
}

/* A child that was forked while another thread was at an event: what is in the
 * list but unknown may be half done, and is left alone. */
static void leave_strangers(void)
{
	swz_scratch_abandon();
	busy = 0;
	for (struct namespace *n = first_namespace; n; n = next_namespace(n))
		for (const struct link_map *m = n->base.r_map;
		     m && !swz_loaded_out_of_date; m = m->l_next)
			if (!is_shared(m) && !swz_loaded_find(m))
				arrive(m, false);
}

/* Our time is nobody's: a node of its own below the current context. */
static void note_time(struct swz_thread *thread, uint64_t before)
{
	struct swz_node *node = swz_edge_find(thread, thread->key,
					      SWZ_FUNCTION_OURSELVES, 0);
	int64_t ticks;

	if (!node)
		node = swz_context_make(thread, thread->key,
					SWZ_FUNCTION_OURSELVES, 0);
	thread->record->last_ticks = swz_ticks();
	if (!node)
		return;
	ticks = (int64_t)(thread->record->last_ticks - before);
	swz_events_add(thread, node, SWZ_EVENT_RESUME, before - thread->epoch);
	swz_events_add(thread, node, SWZ_EVENT_SUSPEND, swz_now(thread));
	node->open |= SWZ_NODE_HIDDEN;
	node->ticks += ticks;
	if (!swz_sampling)
		node->outer_ticks += ticks;
}

/* On the program's stack, of which little is used. */
void swz_linker_event(void)
{
	uint64_t all = ~(uint64_t)0, signals, before = swz_ticks();
	struct swz_thread *thread;
	bool fresh;
	int32_t pid;

	if (swz_loaded_out_of_date || !swz_recording)
		return;
	/* what comes while it is detached stays native */
	if (__atomic_load_n(&swizzle_control.state, __ATOMIC_RELAXED) ==
	    SWZ_CONTROL_ENDING)
		return;
	if (!is_consistent()) {
		if (busy && busy != (int32_t)SWZ_SYSCALL(SYS_getpid))
			leave_strangers();
		return;
	}
	/* first of all a forked child gets its profile */
	thread = swz_current_thread();
	if (!swz_recording)
		return;
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &signals, 8);
	pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	fresh = adding && !missed;
	adding = false;
	if (busy == pid) { /* by no linker that we know */
		swz_loaded_out_of_date = true;
	} else if (swz_file->pid != pid || swz_system_calls_end) {
		/* a child without a profile, or one that shares its parent's
		 * memory; or what it takes to hook a library is given up */
		missed = true;
	} else {
		if (busy) {
			/* forked while another thread was at it */
			swz_scratch_abandon();
			fresh = false;
		}
		missed = false;
		busy = pid;
		swizzle_control.late_busy = 1;
		swz_call_on_stack(take_changes, &fresh, stack_top);
		swizzle_control.late_busy = 0;
		busy = 0;
		if (thread)
			note_time(thread, before);
	}
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, &signals, NULL, 8);
}

/* ----------------------------------------------------------------- start */

/* What the plan knows of a module of the start. */
static void note_range(struct swz_loaded *l, const struct swz_modules *modules)
{
	uint64_t dynamic = (uintptr_t)l->map->l_ld;

	for (unsigned i = 0; i < modules->count; i++) {
		const struct swz_module *m = &modules->of[i];

		if (dynamic >= m->start && dynamic < m->end) {
			l->start = m->start;
			l->end = m->end;
		}
	}
}

static void note_present(const struct swz_modules *modules)
{
	for (struct namespace *n = first_namespace; n; n = next_namespace(n))
		for (const struct link_map *m = n->base.r_map; m;
		     m = m->l_next) {
			struct swz_loaded *l = is_shared(m) ? NULL
							    : swz_loaded_new();

			if (!l)
				continue;
			l->map = m;
			l->load_bias = m->l_addr;
			note_range(l, modules);
			swz_loaded_set_present(l);
			swz_foreign_callers_arrive(m);
		}
}

static bool begin(const struct swz_modules *modules,
		  struct swz_linker_calls *calls)
{
	struct r_debug *debug = swz_linker_debug(modules);
	char *stack;

	first_namespace = (struct namespace *)debug;
	swz_loaded_recorded = modules->count;
	stack = swz_sys_mmap(
		NULL, STACK_BYTES + swz_loaded_bytes(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!stack)
		return false;
	stack_top = stack + STACK_BYTES;
	swz_loaded_begin(stack_top);
	if (swz_sys_mprotect(stack, 4096, PROT_NONE) != 0)
		return false;
	swz_stack_announce(stack, stack_top);
	swz_linker_state = (void (*)(void))(uintptr_t)debug->r_brk;
	note_auditors();
	if (!swz_config.attached)
		note_present(modules);
	return swz_linker_redirect(modules, debug, swz_linker_stub, calls);
}

bool swz_late_commit(const struct swz_modules *modules)
{
	if (swz_loaded_out_of_date)
		return true;
	if (!is_consistent()) {
		adding = false;
		return false;
	}
	note_present(modules);
	return true;
}

void swz_late_begin(const struct swz_modules *modules,
		    struct swz_linker_calls *calls)
{
	if (begin(modules, calls))
		return;
	swz_loaded_out_of_date = true;
	swz_say("libraries that are loaded later are not hooked: "
		"the dynamic linker is not as expected",
		NULL, NULL);
}
