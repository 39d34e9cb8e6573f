/* Programs that walk their own stack find the program's frames, not ours:
 * walkers are wrapped so that thunks are passed over, and unwinders that ask
 * for the tables of an address in our trampolines get them. */

#include "runtime/compat/compat.h"

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/unwind.h"
#include "runtime/module/loaded.h"
#include "runtime/record/values.h"
#include "runtime/support/live_sites.h"
#include "swizzle.h"
#include "thunks/arena.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

/* --------------------------------------------------------- wrapped walkers */

/* The unwinder goes on from a thunk's frame to the real caller by itself
 * (asm/x86_64/arena.S); what is left to do is not to show the frame. The
 * wrappers call the real function and are, as callers of it, passed over
 * likewise. */

/* asm/x86_64/wrappers.S: save what an ordinary function might leave alone, then
 * go to the function of C below with the data and the real function as third
 * and fourth argument, and the caller as fifth. */
void swz_wrap_backtrace(void);
void swz_wrap_step(void);
void swz_wrap_addresses(void);

enum { URC_NO_REASON = 0 };

typedef int visitor(void *context, void *argument);

typedef uint64_t get_ip(void *context);

typedef int get_register(void *cursor, int number, uint64_t *value);

/* A wrapper's data. */
struct walker {
	struct swz_wrapper wrapper;
	uint64_t start, end; /* of its module */
	const void *helper;  /* a get_ip or a get_register */
	int ip_number;
};

extern const char swz_text_start[], swz_text_end[];

static bool is_ours(uint64_t ip)
{
	return swz_arena_contains(ip) ||
	       ip - (uintptr_t)swz_text_start <
		       (uintptr_t)swz_text_end - (uintptr_t)swz_text_start;
}

/* ------------------------------------------------- at the program's call */

struct shown {
	visitor *visit;
	void *argument;
	const struct walker *walker;
};

static int show(void *context, void *data)
{
	const struct shown *s = data;
	get_ip *ip_of;

	*(const void **)&ip_of = swz_unhooked(s->walker->helper);
	if (is_ours(ip_of(context)))
		return URC_NO_REASON;
	return s->visit(context, s->argument);
}

int swz_walk_backtrace(visitor *visit, void *argument, const struct walker *w,
		       int (*real)(visitor *visit, void *argument));

int swz_walk_backtrace(visitor *visit, void *argument, const struct walker *w,
		       int (*real)(visitor *visit, void *argument))
{
	struct shown shown = {visit, argument, w};
	int result;

	swz_landing_walk(__builtin_frame_address(0));
	result = real(show, &shown);
	swz_landing_walk(NULL);
	return result;
}

int swz_walk_step(void *cursor, uint64_t unused, const struct walker *w,
		  int (*real)(void *cursor), uint64_t caller);

int swz_walk_step(void *cursor, uint64_t unused, const struct walker *w,
		  int (*real)(void *cursor), uint64_t caller)
{
	int result = real(cursor);
	get_register *value_of;
	uint64_t ip;

	(void)unused;
	*(const void **)&value_of = swz_unhooked(w->helper);
	/* the unwinder's own steps are to be single ones */
	if (swizzle_resolve_return_address(caller) - w->start <
	    w->end - w->start)
		return result;
	while (result > 0 && value_of(cursor, w->ip_number, &ip) == 0 &&
	       is_ours(ip))
		result = real(cursor);
	return result;
}

/* One frame of ours for each of the program's at most, and the wrapper's. */
enum { MOST_ADDRESSES = 2048 };

int swz_walk_addresses(void **addresses, int room, const struct walker *w,
		       int (*real)(void **addresses, int room));

int swz_walk_addresses(void **addresses, int room, const struct walker *w,
		       int (*real)(void **addresses, int room))
{
	int most = MOST_ADDRESSES, count, kept = 0;
	void **all;

	(void)w;
	if (room <= 0)
		return real(addresses, room);
	if (room < MOST_ADDRESSES / 2 - 4)
		most = 2 * room + 4;
	/* no more of the stack than that: it may be a signal stack */
	all = __builtin_alloca((size_t)most * sizeof(*all));
	count = real(all, most);
	for (int i = 0; i < count && kept < room; i++)
		if (!is_ours((uintptr_t)all[i]))
			addresses[kept++] = all[i];
	return count < 0 ? count : kept;
}

/* A personality routine tells the unwinder where to land. */
void swz_walk_set_ip(void *context, uint64_t ip, const struct walker *w,
		     void (*real)(void *context, uint64_t ip));

void swz_walk_set_ip(void *context, uint64_t ip, const struct walker *w,
		     void (*real)(void *context, uint64_t ip))
{
	struct swz_unwinder room;
	const struct swz_unwinder *unwinder = swz_unwinder_of(w->start, &room);
	get_ip *cfa_of;
	int is_before = 0;

	*(const void **)&cfa_of = swz_unhooked(w->helper);
	/* it has put it there before (Itanium C++ ABI 2.5.3) */
	if (swz_capturing && unwinder && unwinder->get_gr)
		swz_landing_exception(
			(const void *)(uintptr_t)unwinder->get_gr(context, 0));
	if (unwinder)
		ip = swz_landing_prepare(
			(const uint64_t *)(uintptr_t)cfa_of(context),
			unwinder->get_ip(context, &is_before), ip);
	real(context, ip);
}

/* ----------------------------------------------------------- at planning */

/* Trampolines hold its address. Of a library that is loaded again and again
 * each has its own, as it has its functions. */
static struct walker *new_walker(void)
{
	static struct walker *next;
	static size_t left;

	if (!left) {
		next = swz_sys_mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!next)
			return NULL;
		left = 4096 / sizeof(*next);
	}
	left--;
	return next++;
}

static const struct {
	const char *name;
	const char *helper; /* what gives the instruction pointer */
	void (*entry)(void);
	int ip_number; /* of unw_get_reg: nongnu's, LLVM's */
} known_walkers[] = {
	{"_Unwind_Backtrace", "_Unwind_GetIP", swz_wrap_backtrace, 0},
	{"_ULx86_64_step", "_ULx86_64_get_reg", swz_wrap_step, 16},
	{"_Ux86_64_step", "_Ux86_64_get_reg", swz_wrap_step, 16},
	{"unw_backtrace", "_ULx86_64_get_reg", swz_wrap_addresses, 16},
	{"unw_step", "unw_get_reg", swz_wrap_step, -1},
	{"_Unwind_SetIP", "_Unwind_GetCFA", swz_wrap_set_ip, 0},
	{NULL, NULL, swz_wrap_reader, 0}, /* see function.h */
};

#define KNOWN (sizeof(known_walkers) / sizeof(*known_walkers))
#define READER (KNOWN - 1)

static unsigned known_by(const char *name)
{
	unsigned i = 0;

	if (swz_is_wrapped_reader_name(name))
		return READER;
	/* as most symbols do not */
	if (name[0] != 'u' && (name[0] != '_' || name[1] != 'U'))
		return KNOWN;
	while (i < READER && strcmp(name, known_walkers[i].name) != 0)
		i++;
	return i == READER ? KNOWN : i;
}

/* True if it looks at its return address: another function of that name that
 * takes its place may not. */
static bool reads(struct swz_module *m, const struct swz_function *f,
		  const char *name, struct swz_decoder *decoder)
{
	struct swz_function alone = *f;

	/* those of unwinders have no unwind table, as a rule */
	if (swz_function_returns_twice(name) || strstr(name, "getcontext"))
		return true;
	alone.status = SWZ_PATCHED;
	swz_scan_return_slot(m, &alone, decoder);
	return alone.reads_own || alone.status == SWZ_REFUSE_READS_RETURN_SLOT;
}

static void add(struct swz_module *m, unsigned which,
		const struct swz_elf_symbol *s, struct swz_decoder *decoder)
{
	struct swz_function *f = swz_function_at(m, s->value);
	struct swz_elf_symbol helper = {0};
	struct walker *w;

	if (!f || f->start != s->value || f->is_piece || f->wrapper ||
	    !(which == READER
		      ? reads(m, f, s->name, decoder)
		      : swz_module_symbol(m, known_walkers[which].helper,
					  &helper)))
		return;
	if (which == READER) {
		f->reads_own = true; /* to what jumps to it */
		f->status = SWZ_PATCHED;
	}
	w = new_walker();
	if (!w) {
		swz_function_refuse(f, SWZ_REFUSE_OUT_OF_REACH);
		return;
	}
	w->wrapper.entry = known_walkers[which].entry;
	w->wrapper.data = w;
	w->start = m->start;
	w->end = m->end;
	w->ip_number = known_walkers[which].ip_number;
	w->helper = swz_module_bytes(m, helper.value);
	f->wrapper = &w->wrapper;
}

/* By all symbols, since a function may have several names. */
static bool each_symbol(struct swz_module *m, bool marks,
			struct swz_decoder *decoder)
{
	static const uint32_t tables[] = {SHT_DYNSYM, SHT_SYMTAB};
	bool any = false;

	for (unsigned t = 0; m->file.file.size && t < 2; t++) {
		struct swz_elf_symbols it;
		struct swz_elf_symbol symbol;

		if (swz_elf_symbols_open(&it, &m->file, tables[t]) != SWZ_OK)
			continue;
		while (swz_elf_symbols_next(&it, &symbol)) {
			unsigned which = KNOWN;

			if (symbol.value && symbol.section != SHN_UNDEF)
				which = known_by(symbol.name);
			if (which == KNOWN)
				continue;
			any |= which != READER;
			if (marks)
				add(m, which, &symbol, decoder);
		}
	}
	return any;
}

bool swz_stack_walkers_are_in(struct swz_module *m)
{
	return each_symbol(m, false, NULL);
}

void swz_stack_walkers_mark(struct swz_module *m, struct swz_decoder *decoder)
{
	each_symbol(m, true, decoder);
}

/* --------------------------------------------------------- the plan cache */

bool swz_stack_walkers_save(const struct swz_module *m,
			    const struct swz_wrapper *wrapper,
			    struct swz_saved_wrapper *saved)
{
	const struct walker *w = wrapper->data;

	saved->kind = SWZ_SAVED_WALKER;
	saved->helper = (uintptr_t)w->helper - m->load_bias;
	for (unsigned i = 0; i < KNOWN; i++) {
		saved->which = (uint16_t)i;
		if (known_walkers[i].entry == wrapper->entry &&
		    known_walkers[i].ip_number == w->ip_number)
			return true;
	}
	return false;
}

const struct swz_wrapper *swz_stack_walkers_restore(
	const struct swz_module *m, const struct swz_saved_wrapper *saved)
{
	struct walker *w;

	if (saved->which >= KNOWN || saved->helper >= m->end - m->load_bias)
		return NULL;
	w = new_walker();
	if (!w)
		return NULL;
	w->wrapper.entry = known_walkers[saved->which].entry;
	w->wrapper.data = w;
	w->start = m->start;
	w->end = m->end;
	w->ip_number = known_walkers[saved->which].ip_number;
	w->helper = swz_module_bytes(m, saved->helper);
	return &w->wrapper;
}

/* ---------------------------------------------------- tables for unwinders */

/* Where unwinders look for the unwind information of an address: libgcc's asks
 * _dl_find_object (glibc 2.35), all others and older ones dl_iterate_phdr.
 * Being preloaded, we stand before both, and add what the dynamic linker does
 * not know: regions of trampolines. All else is answered by the real ones.
 *
 * A program that lists its modules by dl_iterate_phdr should see those that it
 * has, so regions are shown only to callers in modules that hold an unwinder.
 */

#define PUBLIC __attribute__((visibility("default")))

/* struct dl_find_object of <dlfcn.h>, which older headers lack */
struct found_object {
	unsigned long long flags;
	void *map_start;
	void *map_end;
	struct link_map *link_map;
	void *unwind_header;
	unsigned long long reserved[7];
};

typedef int find_function(void *address, struct found_object *result);

/* by another name, for <dlfcn.h> may declare it with its own struct */
PUBLIC int find_object(void *address,
		       struct found_object *result) __asm__("_dl_find_object");

int find_object(void *address, struct found_object *result)
{
	static _Atomic(void *) known; /* the real one, once it is looked up */
	find_function *find;
	struct swz_region region;
	void *function;

	if (!swz_live_sites_none_yet())
		swz_landing_begin((uintptr_t)address);
	if (!swz_live_sites_none_yet() &&
	    swz_region_at((uintptr_t)address, &region)) {
		uint64_t end;

		*result = (struct found_object){
			.map_start = (void *)(uintptr_t)region.start,
			.map_end = (void *)(uintptr_t)(region.start +
						       region.bytes),
			.link_map = (struct link_map *)(uintptr_t)swz_map_at(
				(uintptr_t)&find_object, &end),
			.unwind_header =
				(void *)(uintptr_t)region.unwind_header,
		};
		return 0;
	}
	function = atomic_load_explicit(&known, memory_order_relaxed);
	if (!function) {
		function = swz_next_symbol("_dl_find_object");
		atomic_store_explicit(&known, function, memory_order_relaxed);
	}
	*(void **)&find = function;
	return find ? find(address, result) : -1;
}

/* --------------------------------------------------------- dl_iterate_phdr */

/* Modules whose unwinder is their own and exports nothing. A place is in use
 * while `end` is not 0. */
#define MOST_OWN 64u

static struct {
	uint64_t start;
	_Atomic uint64_t end;
} own[MOST_OWN];

void swz_note_unwinder(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < MOST_OWN; i++) {
		if (atomic_load_explicit(&own[i].end, memory_order_relaxed))
			continue;
		own[i].start = start;
		/* release: matches the acquire in has_own */
		atomic_store_explicit(&own[i].end, end, memory_order_release);
		return;
	}
}

void swz_forget_unwinder(uint64_t start)
{
	for (unsigned i = 0; i < MOST_OWN; i++)
		if (own[i].start == start)
			atomic_store_explicit(&own[i].end, 0,
					      memory_order_relaxed);
}

static bool has_own(uint64_t address)
{
	for (unsigned i = 0; i < MOST_OWN; i++)
		if (address < atomic_load_explicit(&own[i].end,
						   memory_order_acquire) &&
		    address >= own[i].start)
			return true;
	return false;
}

static bool is_unwinder(uint64_t caller)
{
	static const char *const exports[] = {"_Unwind_Backtrace",
					      "_Unwind_RaiseException",
					      "_ULx86_64_step", "unw_step"};
	uint64_t end;
	const struct link_map *map = swz_map_at(caller, &end);

	for (unsigned i = 0; map && i < sizeof(exports) / sizeof(*exports); i++)
		if (swz_map_symbol(map, exports[i]))
			return true;
	return has_own(caller);
}

struct visit {
	swz_phdr_visitor *visit;
	void *data;
	size_t size; /* of the dl_phdr_info that this libc gives */
	unsigned long long adds, subs;
};

static int pass_on(struct dl_phdr_info *info, size_t size, void *data)
{
	struct visit *v = data;

	v->size = size;
	v->adds = info->dlpi_adds;
	v->subs = info->dlpi_subs;
	return v->visit(info, size, v->data);
}

static int show_region(const struct visit *v, const struct swz_region *region)
{
	ElfW(Phdr) segments[2] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_filesz = region->bytes,
		 .p_memsz = region->bytes,
		 .p_align = 4096},
		{.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_align = 4},
	};
	struct dl_phdr_info info = {
		.dlpi_addr = (uintptr_t)region->start,
		.dlpi_name = "[swizzle]",
		.dlpi_phdr = segments,
		.dlpi_phnum = 2,
		.dlpi_adds = v->adds,
		.dlpi_subs = v->subs,
	};

	segments[1].p_vaddr = (ElfW(Addr))(region->unwind_header -
					   region->start);
	segments[1].p_memsz = region->bytes - segments[1].p_vaddr;
	segments[1].p_filesz = segments[1].p_memsz;
	return v->visit(&info, v->size, v->data);
}

PUBLIC int dl_iterate_phdr(swz_phdr_visitor *visit, void *data)
{
	struct visit v = {.visit = visit, .data = data};
	struct swz_region region;
	unsigned at = 0;
	int result;

	if (!is_unwinder(swizzle_resolve_return_address(
		    (uintptr_t)__builtin_return_address(0))))
		return swz_next_iterate_phdr(visit, data);
	result = swz_next_iterate_phdr(pass_on, &v);
	while (result == 0 && v.size && swz_region_next(&at, &region))
		result = show_region(&v, &region);
	return result;
}
