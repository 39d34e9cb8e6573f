/* The dynamic linker calls _dl_debug_state, an empty function, whenever its
 * list of modules changes: with RT_ADD or RT_DELETE before, with RT_CONSISTENT
 * after (src/runtime/linker.c). At RT_CONSISTENT new modules are mapped, but
 * none of their code has run (glibc before 2.41 has not even relocated them),
 * and the linker holds its lock, so these events come one at a time, in all
 * namespaces.
 *
 * A module that was not there at the event before and is now, after RT_ADD, can
 * be executed by no thread and is patched. One that turns up otherwise is left
 * alone.
 *
 * The function of an id never gets another trampoline: thunks and their edges
 * hold on to both. So a library that is unloaded leaves its trampolines and ids
 * to itself: loaded again with the same text at the same place, it gets the
 * same jumps, and nothing is planned or recorded anew. Of these dormant ones a
 * certain number is kept. When one is given up its ids are dead, and since they
 * are, nothing leads to its trampolines: they are unmapped. */

#include "runtime/late.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "base/syscall.h"
#include "runtime/config.h"
#include "runtime/context.h"
#include "runtime/edge_table.h"
#include "runtime/events.h"
#include "runtime/file.h"
#include "runtime/find_object.h"
#include "runtime/foreign.h"
#include "runtime/function.h"
#include "runtime/hooks.h"
#include "runtime/imports.h"
#include "runtime/linker.h"
#include "runtime/message.h"
#include "runtime/plan_record.h"
#include "runtime/sampling.h"
#include "runtime/scratch.h"
#include "runtime/text.h"
#include "runtime/thread.h"
#include "thunks/region.h"
#include "thunks/unwind.h"

#define MOST_MODULES (1u << 16)
#define MOST_DORMANT 1024u
#define MOST_DORMANT_BYTES (64u << 20)
#define STACK_BYTES (256u << 10)

/* Where a jump was written and where to; both from the start of their module
 * or region. */
struct site {
	uint32_t at;
	uint32_t trampoline;
	int32_t island;
};

enum state { FREE, PRESENT, DORMANT };

struct entry {
	_Atomic enum state state; /* stored last, with release */
	const struct link_map *map;
	uint64_t load_bias;
	uint64_t start, end;
	uint64_t identity; /* of file and text */
	uint32_t seen;     /* at which event */
	uint32_t index;    /* in the profile */
	bool recorded;
	bool own_unwinder;
	struct swz_trampolines trampolines;
	struct site *sites;
	uint32_t site_count;
	/* in the profile of process `pid` */
	int32_t pid;
	struct swz_module_record *record;
};

/* r_debug_extended of glibc 2.35 and later */
struct namespace
{
	struct r_debug base;
	struct namespace *next;
};

void swz_linker_stub(void);
void swz_linker_event(void);
void (*swz_linker_state)(void) __attribute__((visibility("hidden")));

static struct entry *entries; /* room for MOST_MODULES */
static _Atomic uint32_t entry_count;
static uint32_t module_count; /* recorded */
static struct namespace *first_namespace;
static uint32_t event;
static bool adding;
static bool missed; /* an event: what is new then may have run already */
static bool off;
static int32_t busy; /* the process that is at an event, or 0 */
static char *stack_top;

uint32_t swz_late_modules(void)
{
	return module_count;
}

bool swz_late_map_at(uint64_t address, const struct link_map **map,
		     uint64_t *end)
{
	uint32_t count = atomic_load_explicit(&entry_count,
					      memory_order_acquire);

	*map = NULL;
	if (off || !count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct entry *e = &entries[i];

		if (atomic_load_explicit(&e->state, memory_order_acquire) !=
			    PRESENT ||
		    address < e->start || address >= e->end)
			continue;
		*map = e->map;
		*end = e->end;
		break;
	}
	return true;
}

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

/* -------------------------------------------------------------- entries */

static struct entry *find(const struct link_map *map)
{
	for (uint32_t i = 0; i < entry_count; i++)
		if (entries[i].state == PRESENT && entries[i].map == map &&
		    entries[i].load_bias == map->l_addr)
			return &entries[i];
	return NULL;
}

static void set_present(struct entry *e)
{
	/* release: matches the acquire in swz_late_map_at */
	atomic_store_explicit(&e->state, PRESENT, memory_order_release);
	if (e == &entries[entry_count])
		atomic_store_explicit(&entry_count, entry_count + 1,
				      memory_order_release);
}

/* A free place, which counts when it is set present. */
static struct entry *new_entry(void)
{
	for (uint32_t i = 0; i < entry_count; i++)
		if (entries[i].state == FREE)
			return &entries[i];
	return entry_count < MOST_MODULES ? &entries[entry_count] : NULL;
}

static size_t sites_bytes(const struct entry *e)
{
	return (e->site_count * sizeof(*e->sites) + 4095) & ~(size_t)4095;
}

static void drop(struct entry *e)
{
	if (e->recorded)
		swz_imports_drop(e->index);
	swz_trampolines_close(&e->trampolines);
	if (e->sites)
		swz_sys_munmap(e->sites, sites_bytes(e));
	memset(e, 0, sizeof(*e));
}

/* Gives up the dormant modules that have been so the longest. */
static void limit_dormant(void)
{
	for (;;) {
		struct entry *oldest = NULL;
		size_t count = 0, bytes = 0;

		for (uint32_t i = 0; i < entry_count; i++) {
			struct entry *e = &entries[i];

			if (e->state != DORMANT)
				continue;
			count++;
			bytes += e->trampolines.bytes + sites_bytes(e);
			if (!oldest || e->seen < oldest->seen)
				oldest = e;
		}
		if (count <= MOST_DORMANT && bytes <= MOST_DORMANT_BYTES)
			return;
		drop(oldest);
	}
}

/* The module's record in this process's profile (a forked child's is a copy,
 * elsewhere in its file), or NULL. */
static struct swz_module_record *record_of(struct entry *e)
{
	uint64_t at = SWZ_HEADER_BYTES;

	if (!e->recorded || e->pid == swz_file->pid)
		return e->recorded ? e->record : NULL;
	e->pid = swz_file->pid;
	e->record = NULL;
	while (!e->record && at < swz_file->used_bytes) {
		struct swz_chunk *c = (struct swz_chunk *)((char *)swz_file +
							   at);

		if (c->magic != SWZ_CHUNK_MAGIC) {
			at += SWZ_UNIT_BYTES;
			continue;
		}
		if (c->type == SWZ_CHUNK_MODULE && c->owner == e->index)
			e->record = (struct swz_module_record *)(c + 1);
		at += c->bytes;
	}
	return e->record;
}

static void leave(struct entry *e)
{
	struct swz_module_record *record = record_of(e);

	if (record)
		record->unload_ticks = swz_ticks();
	swz_unwinders_forget(e->start, e->end);
	swz_region_show_islands(e->trampolines.start, false);
	if (e->own_unwinder)
		swz_forget_unwinder(e->start);
	atomic_store_explicit(&e->state, DORMANT, memory_order_relaxed);
	e->map = NULL;
	if (e->recorded)
		swz_imports_leave(e->index);
	else
		drop(e);
}

/* ------------------------------------------------------------- identity */

static uint64_t identity_of(const struct swz_module *m)
{
	struct swz_bytes path = {(const uint8_t *)m->path, strlen(m->path)};
	uint64_t hash = swz_hash(m->in_scope, path);

	return swz_module_text_hash(m, swz_hash(hash, m->build_id));
}

static struct entry *find_dormant(const struct swz_module *m, uint64_t identity)
{
	for (uint32_t i = 0; i < entry_count; i++)
		if (entries[i].state == DORMANT &&
		    entries[i].identity == identity &&
		    entries[i].load_bias == m->load_bias)
			return &entries[i];
	return NULL;
}

/* --------------------------------------------------------------- arrival */

/* The same jumps; the text has its protection back in any case. */
static void patch_again(const struct entry *e, const struct swz_module *m)
{
	unsigned n = 0;

	while (n < m->text_count && swz_text_unlock(m, &m->text[n]))
		n++;
	if (n == m->text_count)
		for (uint32_t i = 0; i < e->site_count; i++)
			swz_patch_write((uint8_t *)(e->start + e->sites[i].at),
					e->sites[i].island,
					e->trampolines.start +
						e->sites[i].trampoline);
	while (n--)
		swz_text_lock(m, &m->text[n]);
}

static void revive(struct entry *e, const struct link_map *map,
		   struct swz_module *m)
{
	struct swz_module_record *record = record_of(e);

	e->map = map;
	e->seen = event;
	set_present(e);
	swz_foreign_arrive(map);
	swz_unwinders_forget(e->start, e->end);
	if (e->own_unwinder)
		swz_note_unwinder(e->start, e->end);
	if (record) {
		record->loads++;
		record->unload_ticks = 0;
	}
	if (e->site_count)
		patch_again(e, m);
	if (e->recorded)
		swz_imports_return(map, m, e->index);
	swz_region_show_islands(e->trampolines.start, true);
}

static bool has_site(const struct swz_function *f)
{
	return !f->is_piece && f->trampoline;
}

static bool keep_sites(struct entry *e, const struct swz_module *m)
{
	uint32_t count = 0;

	e->trampolines = m->trampolines;
	for (uint32_t i = 0; i < m->function_count; i++)
		count += has_site(&m->functions[i]);
	if (!count)
		return true;
	e->site_count = count;
	e->sites = swz_sys_mmap(NULL, sites_bytes(e), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!e->sites) {
		e->site_count = 0;
		return false;
	}
	for (uint32_t i = m->function_count; i-- > 0;) {
		const struct swz_function *f = &m->functions[i];

		if (!has_site(f))
			continue;
		e->sites[--count].at = (uint32_t)(m->load_bias + f->start +
						  f->site - m->start);
		e->sites[count].island = f->island;
		e->sites[count].trampoline = (uint32_t)(f->trampoline -
							m->trampolines.start);
	}
	return true;
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
	swz_line_write(&line, 2);
}

/* What cannot be planned or recorded is left alone. */
static void hook(struct entry *e, struct swz_module *m)
{
	struct swz_plan_place place;

	if (m->text_count && m->path[0] == '/' && swz_plan_late(m) != SWZ_OK) {
		m->in_scope = false;
		m->function_count = m->hookable_count = 0;
	}
	if (swz_plan_reserve(m, module_count, &place) != SWZ_OK) {
		swz_trampolines_close(&m->trampolines);
		return;
	}
	if (m->trampolines.start && keep_sites(e, m))
		swz_plan_patch(m);
	m->late = true;
	swz_plan_fill(m, &place);
	e->recorded = true;
	e->own_unwinder = m->own_unwinder;
	e->index = module_count++;
	e->pid = swz_file->pid;
	e->record = (struct swz_module_record *)(place.module + 1);
	swz_imports_arrive(e->map, m, e->index);
	if (swz_config.verbose && m->in_scope)
		report(m);
}

/* `fresh`: nothing of it can have been executed yet. */
static void arrive(const struct link_map *map, bool fresh)
{
	struct swz_module m = {0};
	struct entry *e;
	uint64_t identity;

	if (fresh && swz_module_describe(&m, map)) {
		identity = identity_of(&m);
		e = find_dormant(&m, identity);
		if (e) {
			revive(e, map, &m);
			return;
		}
	} else {
		fresh = false;
	}
	e = new_entry();
	if (!e) {
		off = true;
		return;
	}
	e->map = map;
	e->load_bias = map->l_addr;
	e->seen = event;
	if (fresh) {
		e->start = m.start;
		e->end = m.end;
		e->identity = identity;
		swz_unwinders_forget(m.start, m.end);
		hook(e, &m);
		swz_module_close(&m);
		swz_scratch_free_all();
	}
	set_present(e);
	swz_foreign_arrive(map);
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
			struct entry *e = find(m);

			if (e)
				e->seen = event;
		}
}

static void take_changes(void *argument)
{
	bool fresh = *(bool *)argument;

	event++;
	swz_imports_forget();
	mark_present();
	for (uint32_t i = 0; i < entry_count; i++)
		if (entries[i].state == PRESENT && entries[i].seen != event)
			leave(&entries[i]);
	for (struct namespace *n = first_namespace; n; n = next_namespace(n))
		for (const struct link_map *m = n->base.r_map; m && !off;
		     m = m->l_next)
			if (!is_shared(m) && !find(m))
				arrive(m, fresh && !is_auditor(n));
	swz_imports_bind();
	limit_dormant();
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
		for (const struct link_map *m = n->base.r_map; m && !off;
		     m = m->l_next)
			if (!is_shared(m) && !find(m))
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

	if (off || !swz_recording)
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
		off = true;
	} else if (swz_file->pid != pid) {
		/* a child without a profile, or one that shares its parent's
		 * memory */
		missed = true;
	} else {
		if (busy) {
			/* forked while another thread was at it */
			swz_scratch_abandon();
			fresh = false;
		}
		missed = false;
		busy = pid;
		swz_call_on_stack(take_changes, &fresh, stack_top);
		busy = 0;
		if (thread)
			note_time(thread, before);
	}
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, &signals, NULL, 8);
}

/* ----------------------------------------------------------------- start */

/* What the plan knows of a module of the start. */
static void note_range(struct entry *e, const struct swz_plan *plan)
{
	uint64_t dynamic = (uintptr_t)e->map->l_ld;

	for (unsigned i = 0; i < plan->module_count; i++) {
		const struct swz_module *m = &plan->modules[i];

		if (dynamic >= m->start && dynamic < m->end) {
			e->start = m->start;
			e->end = m->end;
		}
	}
}

static void note_present(const struct swz_plan *plan)
{
	for (struct namespace *n = first_namespace; n; n = next_namespace(n))
		for (const struct link_map *m = n->base.r_map; m;
		     m = m->l_next) {
			struct entry *e = is_shared(m) ? NULL : new_entry();

			if (!e)
				continue;
			e->map = m;
			e->load_bias = m->l_addr;
			note_range(e, plan);
			set_present(e);
			swz_foreign_arrive(m);
		}
}

static bool begin(const struct swz_plan *plan)
{
	struct r_debug *debug = swz_linker_debug(plan);
	char *stack;

	first_namespace = (struct namespace *)debug;
	module_count = plan->module_count;
	entries = swz_sys_mmap(
		NULL, MOST_MODULES * sizeof(*entries), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	stack = swz_sys_mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);
	if (!entries || !stack || swz_sys_mprotect(stack, 4096, PROT_NONE) != 0)
		return false;
	stack_top = stack + STACK_BYTES;
	swz_linker_state = (void (*)(void))(uintptr_t)debug->r_brk;
	note_auditors();
	note_present(plan);
	return swz_linker_redirect(plan, debug, swz_linker_stub);
}

void swz_late_begin(const struct swz_plan *plan)
{
	if (begin(plan))
		return;
	off = true;
	swz_say("libraries that are loaded later are not hooked: "
		"the dynamic linker is not as expected",
		NULL, NULL);
}
