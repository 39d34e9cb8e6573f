/* Libraries that come and go while the program runs.
 * See docs/internals/late-libraries.md. */

#include "runtime/recording.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/compat/compat.h"
#include "runtime/discovery/function.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/hooks/unwind.h"
#include "runtime/imports/imports.h"
#include "runtime/module/code_owners.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "runtime/plan/plan.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/trampoline.h"

/* ----------------------------------------------------- what a module holds */

/* A module that was loaded later holds its record in the profile, its
 * trampolines, and the jumps that were written into it. Used in events of the
 * dynamic linker only. */
/* The function of an id never gets another trampoline: thunks and their edges
 * hold on to both. So a library that is unloaded leaves its trampolines and ids
 * to itself: loaded again with the same text at the same place, it gets the
 * same jumps, and nothing is planned or recorded anew. Of these dormant ones a
 * certain number is kept. When one is given up its ids are dead, and since they
 * are, nothing leads to its trampolines: they are unmapped. */

#define MOST_DORMANT 1024u
#define MOST_DORMANT_BYTES (64u << 20)

/* A jump: where it was written and where it leads; both from the start of
 * their module or region. */
struct swz_loaded_site {
	uint32_t at;
	uint32_t trampoline;
	int16_t island;
	bool keeps_opcode;
	bool stays; /* SWZ_SITE_STAYS */
};

static size_t sites_bytes(const struct swz_loaded *l)
{
	return (l->site_count * sizeof(*l->sites) + 4095) & ~(size_t)4095;
}

static void loaded_drop_file(struct swz_loaded *l)
{
	if (l->file.size)
		swz_sys_munmap((void *)(uintptr_t)l->file.data, l->file.size);
	l->file = (struct swz_bytes){0};
}

/* Forgets it, trampolines and all; and the dormant ones that have been so the
 * longest, if there are too many. */
static void loaded_drop(struct swz_loaded *l)
{
	loaded_drop_file(l);
	if (l->recorded)
		swz_imports_drop(l->index);
	swz_live_sites_gone(
		(uintptr_t)l->trampolines.start,
		(uintptr_t)l->trampolines.start + l->trampolines.bytes, true);
	swz_trampolines_close(&l->trampolines);
	if (l->sites)
		swz_sys_munmap(l->sites, sites_bytes(l));
	memset(l, 0, sizeof(*l));
}

static void loaded_limit_dormant(void)
{
	for (;;) {
		struct swz_loaded *oldest = NULL;
		size_t count = 0, bytes = 0;

		for (struct swz_loaded *l =
			     swz_loaded_next(NULL, SWZ_LOADED_DORMANT);
		     l; l = swz_loaded_next(l, SWZ_LOADED_DORMANT)) {
			count++;
			bytes += l->trampolines.bytes + sites_bytes(l);
			if (!oldest || l->seen < oldest->seen)
				oldest = l;
		}
		if (count <= MOST_DORMANT && bytes <= MOST_DORMANT_BYTES)
			return;
		loaded_drop(oldest);
	}
}

/* Its record in this process's profile (a forked child's is a copy, elsewhere
 * in its file), or NULL. */
static struct swz_module_record *loaded_record(struct swz_loaded *l)
{
	uint64_t at = SWZ_HEADER_BYTES;

	if (!l->recorded || l->file_start == swz_file->start_ticks)
		return l->recorded ? l->record : NULL;
	l->file_start = swz_file->start_ticks;
	l->record = NULL;
	while (!l->record && at < swz_file_used()) {
		struct swz_chunk *c = (struct swz_chunk *)((char *)swz_file +
							   at);

		if (c->magic != SWZ_CHUNK_MAGIC) {
			at += SWZ_UNIT_BYTES;
			continue;
		}
		if (c->type == SWZ_CHUNK_MODULE && c->owner == l->index)
			l->record = (struct swz_module_record *)(c + 1);
		at += c->bytes;
	}
	return l->record;
}

/* ----------------------------------------------------------------- names */

#define MOST_FILE_BYTES ((size_t)256 << 20)

/* Takes over the mapping of the module's file, which may be removed while it is
 * loaded. */
static void loaded_keep_file(struct swz_loaded *l, struct swz_module *m)
{
	if (!l->site_count || m->file.file.size > MOST_FILE_BYTES)
		return;
	l->file = m->file.file;
	l->file_identity = m->identity;
	memset(&m->file, 0, sizeof(m->file));
	if (l->file.size)
		SWZ_SYSCALL(SYS_madvise, l->file.data, l->file.size,
			    MADV_DONTNEED);
}

/* (one that was written over has other symbols now) */
static bool is_removed(const struct swz_loaded *l, const char *path)
{
	struct swz_file_identity now;

	return !swz_file_identify(path, &now) ||
	       now.device != l->file_identity.device ||
	       now.inode != l->file_identity.inode;
}

static bool is_function(const struct swz_elf_symbol *s)
{
	return (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) &&
	       s->section != SHN_UNDEF && s->name[0];
}

static bool open_symbols(struct swz_elf_symbols *it, const struct swz_elf *elf)
{
	return swz_elf_symbols_open(it, elf, SHT_SYMTAB) == SWZ_OK ||
	       swz_elf_symbols_open(it, elf, SHT_DYNSYM) == SWZ_OK;
}

static void write_symbols(const struct swz_elf *elf, uint32_t index)
{
	struct swz_symbol_record *records;
	struct swz_elf_symbols it;
	struct swz_elf_symbol s;
	struct swz_chunk *chunk;
	uint64_t count = 0, text = 0, at;

	if (!open_symbols(&it, elf))
		return;
	while (swz_elf_symbols_next(&it, &s))
		if (is_function(&s)) {
			count++;
			text += strlen(s.name) + 1;
		}
	at = count * sizeof(*records);
	if (!count || at + text > UINT32_MAX || !open_symbols(&it, elf))
		return;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_SYMBOLS, at + text + 1,
			       (uint32_t)count, index);
	if (!chunk)
		return;
	records = (struct swz_symbol_record *)(void *)(chunk + 1);
	while (swz_elf_symbols_next(&it, &s)) {
		size_t length = strlen(s.name) + 1;

		if (!is_function(&s))
			continue;
		*records++ = (struct swz_symbol_record){.address = s.value,
							.size = s.size,
							.name = (uint32_t)at};
		memcpy((char *)(chunk + 1) + at, s.name, length);
		at += length;
	}
	swz_chunk_publish(chunk);
}

static bool copy_own(void *to, struct swz_bytes from)
{
	const struct iovec local = {to, from.size};
	const struct iovec remote = {(void *)(uintptr_t)from.data, from.size};

	long self = SWZ_SYSCALL(SYS_getpid);

	return SWZ_SYSCALL(SYS_process_vm_readv, self, &local, 1, &remote, 1,
			   0) == (long)from.size;
}

/* If the file was removed or replaced since, writes its symbols into the
 * profile: nobody will find them otherwise. Once. A copy of the file is read:
 * who looks into a mapping that somebody cuts off gets SIGBUS, but the kernel
 * does not. */
static void loaded_keep_names(struct swz_loaded *l)
{
	struct swz_module_record *record = l->file.size ? loaded_record(l)
							: NULL;
	struct swz_bytes copy = {NULL, l->file.size};
	struct swz_elf elf;
	void *room;

	if (!record || !is_removed(l, (const char *)(record + 1)))
		return;
	room = swz_sys_mmap(NULL, copy.size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!room)
		return;
	copy.data = room;
	if (copy_own(room, l->file) && swz_elf_open(&elf, copy) == SWZ_OK)
		write_symbols(&elf, l->index);
	swz_sys_munmap(room, copy.size);
	loaded_drop_file(l);
}

/* ----------------------------------------------------------------- jumps */

static bool has_site(const struct swz_function *f)
{
	return !f->is_piece && f->trampoline;
}

/* Takes the module's trampolines over, and notes where their jumps belong.
 * False: there is no memory for that, and they must not be written. */
static bool loaded_keep_sites(struct swz_loaded *l, const struct swz_module *m)
{
	uint32_t count = m->inner_site_count;

	l->trampolines = m->trampolines;
	for (uint32_t i = 0; i < m->function_count; i++)
		count += has_site(&m->functions[i]);
	if (!count)
		return true;
	l->site_count = count;
	l->sites = swz_sys_mmap(NULL, sites_bytes(l), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!l->sites) {
		l->site_count = 0;
		return false;
	}
	for (uint32_t i = m->function_count; i-- > 0;) {
		const struct swz_function *f = &m->functions[i];

		if (!has_site(f))
			continue;
		l->sites[--count].at = (uint32_t)(m->load_bias + f->start +
						  f->site - m->start);
		l->sites[count].island = f->island;
		l->sites[count].stays = f->wrapper || swz_site_lasts(m, f);
		l->sites[count].trampoline = (uint32_t)(f->trampoline -
							m->trampolines.start);
	}
	while (count-- > 0) {
		const struct swz_inner_site *s = &m->inner_sites[count];

		l->sites[count].at = (uint32_t)(m->load_bias + s->at -
						m->start);
		l->sites[count].trampoline = s->copy;
		l->sites[count].keeps_opcode = s->keeps_opcode;
		l->sites[count].stays =
			swz_inner_site_stays(s, swz_function_at(m, s->at)) ||
			swz_inner_site_lasts(m, s, swz_function_at(m, s->at));
	}
	return true;
}

static void write_site(const struct swz_loaded *l,
		       const struct swz_loaded_site *s)
{
	uint8_t *at = (uint8_t *)(l->start + s->at);
	const uint8_t *to = l->trampolines.start + s->trampoline;

	if (s->keeps_opcode)
		swz_patch_lead(at, to);
	else
		swz_patch_write(at, s->island, to);
}

/* Writes the same jumps again; the text has its protection back in any case. */
static void loaded_patch_again(const struct swz_loaded *l,
			       const struct swz_module *m)
{
	unsigned n = 0;

	while (n < m->text_count && swz_text_unlock(m, &m->text[n]))
		n++;
	if (n == m->text_count)
		for (uint32_t i = 0; i < l->site_count; i++)
			if (l->sites[i].stays || !swz_live_sites_are_native())
				write_site(l, &l->sites[i]);
	while (n--)
		swz_text_lock(m, &m->text[n]);
}

/* -------------------------------------------- events of the dynamic linker */

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

/* Namespaces that are there at the start: those of auditing libraries, or the
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
	struct swz_module_record *record = loaded_record(l);

	if (record)
		record->unload_ticks = swz_ticks();
	loaded_keep_names(l);
	loaded_drop_file(l);
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
		loaded_drop(l);
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
	struct swz_module_record *record = loaded_record(l);

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
		loaded_patch_again(l, m);
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

/* Plans and patches a module. One that cannot be planned or recorded is left
 * alone. */
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
	if (m->trampolines.start && loaded_keep_sites(l, m)) {
		swz_plan_patch(m);
		loaded_keep_file(l, m);
	}
	m->late = true;
	swz_plan_fill(m, swz_loaded_recorded, &place);
	l->recorded = true;
	l->own_unwinder = m->own_unwinder;
	l->index = swz_loaded_recorded++;
	l->file_start = swz_file->start_ticks;
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
	loaded_limit_dormant();
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
	} else if (!swz_file_is_ours() || swz_system_calls_end) {
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
			swz_note_own_time(thread, before);
	}
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, &signals, NULL, 8);
}

void swz_late_end(void)
{
	const int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);

	if (!first_namespace || busy)
		return;
	busy = pid; /* an event of another thread gives up */
	for (struct swz_loaded *l = swz_loaded_next(NULL, SWZ_LOADED_PRESENT);
	     l; l = swz_loaded_next(l, SWZ_LOADED_PRESENT))
		loaded_keep_names(l);
	busy = 0;
}

/* ----------------------------------------------------------------- start */

/* Notes the range of a module that the plan of the start knows. */
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
