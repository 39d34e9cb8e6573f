/* The unwinder goes on from a thunk's frame to the real caller by itself
 * (asm/x86_64/arena.S); what is left to do is not to show the frame. The
 * wrappers call the real function and are, as callers of it, passed over
 * likewise. */

#include "runtime/compat/stack_walkers.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/hooks/landing.h"
#include "runtime/hooks/unwind.h"
#include "runtime/record/signatures.h"
#include "swizzle.h"
#include "thunks/arena.h"
#include "thunks/trampoline.h"
#include "thunks/unhooked.h"

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

/* What the wrappers need to know. */
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
	const struct swz_unwinder *unwinder = swz_unwinder_of(w->start);
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
} known[] = {
	{"_Unwind_Backtrace", "_Unwind_GetIP", swz_wrap_backtrace, 0},
	{"_ULx86_64_step", "_ULx86_64_get_reg", swz_wrap_step, 16},
	{"_Ux86_64_step", "_Ux86_64_get_reg", swz_wrap_step, 16},
	{"unw_backtrace", "_ULx86_64_get_reg", swz_wrap_addresses, 16},
	{"unw_step", "unw_get_reg", swz_wrap_step, -1},
	{"_Unwind_SetIP", "_Unwind_GetCFA", swz_wrap_set_ip, 0},
};
#define KNOWN (sizeof(known) / sizeof(*known))

static unsigned known_by(const char *name)
{
	unsigned i = 0;

	/* as most symbols do not */
	if (name[0] != 'u' && (name[0] != '_' || name[1] != 'U'))
		return KNOWN;
	while (i < KNOWN && strcmp(name, known[i].name) != 0)
		i++;
	return i;
}

static void add(struct swz_module *m, unsigned which, uint64_t address)
{
	struct swz_function *f = swz_function_at(m, address);
	struct swz_elf_symbol helper;
	struct walker *w;

	if (!f || f->start != address || f->is_piece || f->wrapper ||
	    !swz_module_symbol(m, known[which].helper, &helper))
		return;
	w = new_walker();
	if (!w) {
		swz_function_refuse(f, SWZ_REFUSE_OUT_OF_REACH);
		return;
	}
	w->wrapper.entry = known[which].entry;
	w->wrapper.data = w;
	w->start = m->start;
	w->end = m->end;
	w->ip_number = known[which].ip_number;
	w->helper = swz_module_bytes(m, helper.value);
	f->wrapper = &w->wrapper;
}

/* By all symbols, since a function may have several names. */
static bool each_symbol(struct swz_module *m,
			void (*found)(struct swz_module *m, unsigned which,
				      uint64_t address))
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
			any = true;
			if (found)
				found(m, which, symbol.value);
		}
	}
	return any;
}

bool swz_stack_walkers_are_in(struct swz_module *m)
{
	return each_symbol(m, NULL);
}

void swz_stack_walkers_mark(struct swz_module *m)
{
	each_symbol(m, add);
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
		if (known[i].entry == wrapper->entry &&
		    known[i].ip_number == w->ip_number)
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
	w->wrapper.entry = known[saved->which].entry;
	w->wrapper.data = w;
	w->start = m->start;
	w->end = m->end;
	w->ip_number = known[saved->which].ip_number;
	w->helper = swz_module_bytes(m, saved->helper);
	return &w->wrapper;
}
