/* --imports=dlsym: calls through pointers.
 *
 * What a module of the start imports, and what is timed, gets one stub more,
 * which jumps to the function itself. Where a module in scope calls dlsym, its
 * GOT entry leads to a wrapper (asm/x86_64/wrap_dlsym.S), which returns that
 * stub in place of the function, always the same one.
 *
 * A stub is another pointer than the function's. So functions whose address any
 * module of the start has by another way, as data, keep the pointer they have:
 * the program may compare them. */

#include "runtime/imports/plan.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/hooks/hook_choice.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch.h"
#include "thunks/near.h"

/* -------------------------------------------------------- asking for them */

void swz_wrap_dlsym(void);
uint64_t swz_pointer_of(uint64_t function);

bool swz_import_asks(const struct swz_import *i)
{
	return swz_config.imports_dlsym && i->target &&
	       i->status == SWZ_PATCHED &&
	       i->target->status == SWZ_REFUSE_READS_RETURN_SLOT &&
	       (strcmp(i->target->name, "dlsym") == 0 ||
		strcmp(i->target->name, "dlvsym") == 0);
}

/* What an unwinder takes it for that comes back to this `ret`, as it were: it
 * goes by the byte before, in the midst of a call. With a CFA of rsp + 8 that
 * frame's return address is the next word, which leads to the wrapper. With
 * rsp + 16 it is the one above, the caller's; no register may be taken for
 * restored from the other. */
static bool is_understood(const struct swz_fde *fde, const uint8_t *code,
			  uint64_t at)
{
	static const uint8_t drop[] = {0x48, 0x83, 0xc4, 8}; /* add to rsp */
	struct swz_cfi_row row = {0};

	if (!swz_cfi_row_at(fde, fde->start + at - 1, &row) ||
	    row.cfa_base != SWZ_CFA_RSP || !row.return_at_cfa_minus_8)
		return false;
	return row.cfa_offset == 8 ||
	       (row.cfa_offset == 16 &&
		memcmp(code + at - sizeof(drop), drop, sizeof(drop)) == 0);
}

/* Not where a jump to a trampoline may come to lie, or an island (islands.c):
 * endbr64 and the 15 bytes behind it. */
#define FIRST_RETURN 19u

static const uint8_t *return_in(const struct swz_party *p,
				const struct swz_fde *fde)
{
	const struct swz_range range = {fde->start, fde->start + fde->size};
	const uint8_t *code = swz_party_code(p, &range);

	for (uint64_t at = 0; code && at < fde->size;) {
		struct swz_bytes rest = {code + at, fde->size - at};
		struct swz_insn insn;

		if (swz_decode(swz_import_decoder, rest, fde->start + at,
			       &insn) != SWZ_OK)
			return NULL;
		if (at >= FIRST_RETURN && code[at] == 0xc3 &&
		    is_understood(fde, code, at))
			return swz_module_bytes(p->module, fde->start + at);
		at += insn.length;
	}
	return NULL;
}

/* Functions that are looked at: nearly any will do. */
#define MOST_FUNCTIONS 1000u
#define MOST_BYTES 512u

static const uint8_t *find_return(const struct swz_party *p)
{
	const struct swz_module *m = p->module;
	const uint8_t *found = NULL;
	struct swz_fde_iterator it;
	unsigned left = MOST_FUNCTIONS;
	struct swz_fde fde;

	swz_fde_begin(&it, &m->eh_frame);
	while (!found && left && swz_fde_next(&it, &fde)) {
		if (fde.size <= FIRST_RETURN || fde.size > MOST_BYTES ||
		    fde.signal_frame ||
		    !swz_module_is_text(m, fde.start, (unsigned)fde.size))
			continue;
		left--;
		found = return_in(p, &fde);
	}
	return found;
}

bool swz_dlsym_way_find(struct swz_party *p, struct swz_dlsym_way *way)
{
	way->start = p->start;
	way->end = p->end;
	way->return_at = find_return(p);
	way->wrapper.entry = swz_wrap_dlsym;
	way->wrapper.data = way;
	return way->return_at != NULL;
}

/* ------------------------------------------------------- what is answered */

/* Written before the program runs, and never again. */
static struct pointer {
	uint64_t function;
	uint64_t stub;
} * pointer_table;
static uint64_t mask;

static struct pointer *place_of(uint64_t function)
{
	uint64_t at = (function * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	for (;; at++) {
		struct pointer *p = &pointer_table[at & mask];

		if (!p->function || p->function == function)
			return p;
	}
}

/* Called by the wrapper: what it is to return in place of that. */
uint64_t swz_pointer_of(uint64_t function)
{
	const struct pointer *p = pointer_table ? place_of(function) : NULL;

	return p && p->stub ? p->stub : function;
}

/* Of an IFUNC what it has been bound to; 0: that is not known. */
static uint64_t address_of(const struct swz_import *i)
{
	if (!swz_import_is_timed(i) || i->target->owner != NOBODY ||
	    i->target->is_taken)
		return 0;
	if (!i->target->is_ifunc)
		return i->target->address;
	return i->lazy ? 0 : *i->slot;
}

static void note_taken(void)
{
	for (const struct swz_import *i = swz_imports; i; i = i->next)
		if (i->target && i->status == SWZ_REFUSE_ADDRESS_TAKEN)
			i->target->is_taken = true;
}

static enum swz_status write_stubs(struct swz_trampolines *region,
				   uint64_t *words)
{
	for (const struct swz_import *i = swz_imports; i; i = i->next) {
		uint64_t address = address_of(i);
		struct pointer *p = address ? place_of(address) : NULL;

		if (!p || p->function)
			continue;
		*words = address;
		p->function = address;
		p->stub = (uintptr_t)swz_trampoline_write_jump(
			region, i->target->id, words++);
	}
	return swz_trampolines_seal(region);
}

static void forget(void)
{
	swz_sys_munmap(pointer_table, (mask + 1) * sizeof(*pointer_table));
	pointer_table = NULL;
}

void swz_pointers_write(void)
{
	const struct swz_party *first = &swz_parties[0];
	struct swz_trampolines region;
	uint64_t count = 0, room = 256;
	uint64_t *words;
	size_t bytes;

	note_taken();
	for (const struct swz_import *i = swz_imports; i; i = i->next)
		count += address_of(i) != 0;
	while (room < 2 * count)
		room *= 2;
	if (!count || !first->map)
		return;
	pointer_table = swz_sys_mmap(NULL, room * sizeof(*pointer_table),
				     PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!pointer_table)
		return;
	mask = room - 1;
	if (swz_trampolines_open(
		    &region, first->near.start, first->near.end,
		    (uint32_t)count,
		    swz_scratch_alloc(swz_unwind_table_bytes((uint32_t)count)),
		    swz_hooks_choose()) != SWZ_OK) {
		forget();
		return;
	}
	bytes = (count * sizeof(*words) + 4095) & ~(size_t)4095;
	words = swz_near_map((uintptr_t)region.start,
			     (uintptr_t)region.start + region.bytes, bytes);
	if (!words || write_stubs(&region, words) != SWZ_OK) {
		if (words)
			swz_near_unmap(words, bytes);
		swz_trampolines_close(&region);
		forget();
		return;
	}
	swz_sys_mprotect(words, bytes, PROT_READ);
	swz_sys_mprotect(pointer_table, room * sizeof(*pointer_table),
			 PROT_READ);
}
