/* A region of trampolines is filled from its beginning on, and its end is cut
 * off when it is sealed. Others find regions without a lock: unwinders by any
 * address in one, the controller by a function's first bytes. */

#include "thunks/trampoline.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "image/eh_frame.h"
#include "thunks/maps.h"
#include "thunks/counting.h"
#include "thunks/relocate.h"
#include "thunks/unwind_table.h"

/* --- regions ------------------------------------------------------------- */

/* Bytes of an island's jump that unwinders are told of: a thread may be found
 * at its first byte only. The others may be what comes before the return
 * address of a call that was displaced from there, and that frame is the
 * neighbour's. */
#define ISLAND_BYTES 1

#define MOST_REGIONS 4096u

/* The contents of a place are valid if its version is even, and was the same
 * before and after it was read: places are used again, and half of one region
 * with half of another would hold addresses that neither has. `start` is NULL
 * where there is none. */
static struct place {
	_Atomic(const uint8_t *) start;
	_Atomic size_t bytes;
	_Atomic(const uint8_t *) unwind_header;
	_Atomic(const int32_t *) islands;
	_Atomic uint32_t island_count;
	_Atomic unsigned version;
} places[MOST_REGIONS] __attribute__((section(".bss.large")));
static _Atomic unsigned count; /* all behind are free */

#define SET(what, value) \
	atomic_store_explicit(&(what), (value), memory_order_relaxed)
#define GET(what) atomic_load_explicit(&(what), memory_order_relaxed)

static void put(struct place *p, const struct swz_region *region)
{
	unsigned version = GET(p->version);

	SET(p->version, version + 1);
	/* not before that; matches the fence in get */
	atomic_thread_fence(memory_order_release);
	SET(p->start, region->start);
	SET(p->bytes, region->bytes);
	SET(p->unwind_header, region->unwind_header);
	SET(p->islands, region->islands);
	SET(p->island_count, region->island_count);
	/* release: matches the acquire in get */
	atomic_store_explicit(&p->version, version + 2, memory_order_release);
}

/* One that is being changed is nobody's: its module has not come, or is gone.
 * (A fork may leave it so.) */
static bool get(const struct place *p, struct swz_region *found)
{
	for (;;) {
		unsigned version = atomic_load_explicit(&p->version,
							memory_order_acquire);

		found->start = GET(p->start);
		if (version & 1 || !found->start)
			return false;
		found->bytes = GET(p->bytes);
		found->unwind_header = GET(p->unwind_header);
		found->islands = GET(p->islands);
		found->island_count = GET(p->island_count);
		/* matches the fence in put */
		atomic_thread_fence(memory_order_acquire);
		if (GET(p->version) == version)
			return true;
	}
}

bool swz_region_add(const struct swz_region *region)
{
	unsigned n = GET(count), i = 0;

	while (i < n && GET(places[i].start))
		i++;
	if (i == MOST_REGIONS)
		return false;
	put(&places[i], region);
	if (i == n)
		SET(count, n + 1);
	return true;
}

void swz_region_remove(const uint8_t *start)
{
	static const struct swz_region none;
	unsigned n = GET(count);

	for (unsigned i = 0; i < n; i++)
		if (GET(places[i].start) == start)
			put(&places[i], &none);
	while (n && !GET(places[n - 1].start))
		n--;
	SET(count, n);
}

bool swz_region_next(unsigned *at, struct swz_region *found)
{
	unsigned n = GET(count);

	while (*at < n)
		if (get(&places[(*at)++], found))
			return true;
	return false;
}

static bool is_on_island(uint64_t address, struct swz_region *region)
{
	int64_t distance = (int64_t)(address - (uintptr_t)region->start);
	uint32_t low;

	SWZ_PARTITION(low, region->island_count,
		      region->islands[low] <= distance);
	if (!low || distance - region->islands[low - 1] >= ISLAND_BYTES)
		return false;
	region->start += region->islands[low - 1];
	region->bytes = ISLAND_BYTES;
	return true;
}

bool swz_region_at(uint64_t address, struct swz_region *found)
{
	unsigned at = 0;

	while (swz_region_next(&at, found))
		if (address - (uintptr_t)found->start < found->bytes ||
		    is_on_island(address, found))
			return true;
	return false;
}

/* --- trampolines --------------------------------------------------------- */

#define HOOKS_BYTES ((unsigned)sizeof(struct swz_hooks))
#define HEAD_BYTES ((unsigned)SWZ_TRAMPOLINE_BODY) /* push, lea, jmp, id */
#define HOOK_AT 10u
#define TYPICAL_BYTES 64u
#define TYPICAL_COUNTING_BYTES 144u
#define WRAPPING ((unsigned)SWZ_TRAMPOLINE_WRAPPING)
#define COUNTING_MOST (SWZ_COUNT_HEAD + 80u)

/* Displacements in one trampoline; in each of many. */
#define MOST_OUTWARD (2u + SWZ_MOST_OUTWARD)
#define TYPICAL_OUTWARD 5u

static size_t typical_bytes(bool counts)
{
	return counts ? TYPICAL_COUNTING_BYTES : TYPICAL_BYTES;
}

/* Bytes to reserve for this many functions. */
static size_t room_for(uint32_t functions, bool counts)
{
	return HOOKS_BYTES + (size_t)functions * typical_bytes(counts) +
	       2 * (size_t)SWZ_RELOCATED_MAX +
	       swz_unwind_table_bytes(functions);
}

static const struct swz_hooks *hooks_of(const uint8_t *region)
{
	return (const struct swz_hooks *)(const void *)region;
}

static bool counts(const struct swz_trampolines *region)
{
	return hooks_of(region->start)->counts;
}

bool swz_trampolines_map(struct swz_trampolines *region, uint64_t start,
			 uint64_t end, size_t bytes, uint32_t factors)
{
	size_t below = ((size_t)factors * sizeof(uint64_t) + 4095) &
		       ~(size_t)4095;
	uint8_t *memory = swz_near_map(start, end, below + bytes);

	if (!memory)
		return false;
	if (below && SWZ_SYSCALL(SYS_madvise, memory, below, MADV_WIPEONFORK)) {
		swz_near_unmap(memory, below + bytes);
		return false;
	}
	region->start = memory + below;
	region->bytes = bytes;
	region->factor_bytes = below;
	region->factor_count = 1;
	region->factor_room = (uint32_t)(below / sizeof(uint64_t));
	return true;
}

static const uint64_t *factor_at(const uint8_t *region, uint32_t number)
{
	return (const uint64_t *)(const void *)region - 1 - number;
}

enum swz_status swz_trampolines_open(struct swz_trampolines *region,
				     uint64_t start, uint64_t end,
				     uint32_t functions, void *scratch,
				     const struct swz_hooks *hooks)
{
	memset(region, 0, sizeof(*region));
	if (!swz_trampolines_map(region, start, end,
				 (room_for(functions, hooks->counts) + 4095) &
					 ~(size_t)4095,
				 hooks->counts ? functions + 1 : 0))
		return SWZ_E_NOMEM;
	memcpy(region->start, hooks, sizeof(*hooks));
	region->used = HOOKS_BYTES;
	swz_unwind_table_begin(&region->unwind, scratch, functions);
	return SWZ_OK;
}

/* Where trampolines number `first` and on may begin. */
static size_t place_of(const struct swz_trampolines *region, uint32_t first)
{
	return HOOKS_BYTES + (size_t)first * typical_bytes(counts(region));
}

static uint32_t outward_room(uint32_t functions)
{
	return functions * TYPICAL_OUTWARD + MOST_OUTWARD;
}

size_t swz_trampolines_part_bytes(uint32_t functions)
{
	return outward_room(functions) * sizeof(uint32_t);
}

void swz_trampolines_divide(const struct swz_trampolines *region,
			    struct swz_trampolines *part, uint32_t first,
			    uint32_t functions, void *scratch)
{
	*part = (struct swz_trampolines){
		.start = region->start,
		.begin = place_of(region, first),
		.used = place_of(region, first),
		.bytes = place_of(region, first + functions),
		.factor_count = 1 + first,
		.factor_room = 1 + first + functions,
		.is_part = true,
		.outward = scratch,
		.outward_room = scratch ? outward_room(functions) : 0,
	};
	swz_unwind_table_divide(&region->unwind, &part->unwind, first,
				functions);
}

static void put32(uint8_t *at, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(at, &v, sizeof(v));
}

/* A displacement grows by what its instruction comes to lie lower. */
static void move_down(uint8_t *to, uint32_t begin, uint32_t end,
		      const struct swz_trampolines *part)
{
	uint32_t down = (uint32_t)(part->start + begin - to);

	memmove(to, part->start + begin, end - begin);
	for (uint32_t i = 0; i < part->outward_count; i++) {
		uint8_t *at = part->start + part->outward[i] - down;
		int32_t value;

		memcpy(&value, at, sizeof(value));
		put32(at, (int64_t)value + down);
	}
}

uint32_t swz_trampolines_join(struct swz_trampolines *region,
			      const struct swz_trampolines *part)
{
	uint32_t begin = (uint32_t)part->begin;
	uint32_t down = begin - (uint32_t)region->used;

	if (down)
		move_down(region->start + region->used, begin,
			  (uint32_t)part->used, part);
	swz_unwind_table_join(&region->unwind, &part->unwind, down);
	if (part->factor_count > region->factor_count)
		region->factor_count = part->factor_count;
	region->used += part->used - begin;
	return down;
}

/* True if the processor keeps a second stack of return addresses (CET): a
 * displaced call, made of a push and a jump, would not agree with it. rdsspq
 * does nothing where there is none. */
bool swz_has_shadow_stack(void)
{
	uint64_t pointer = 0;

	__asm__ volatile("rdsspq %0" : "+r"(pointer));
	return pointer != 0;
}

/* lea behind(%rip), %rax; movabs $data, %r10; jmp *0(%rip); entry */
void swz_trampoline_wrap(uint8_t *at, const struct swz_wrapper *wrapper)
{
	uint64_t data = (uintptr_t)wrapper->data;
	uint64_t entry = (uintptr_t)wrapper->entry;

	at[0] = 0x48, at[1] = 0x8d, at[2] = 0x05, put32(at + 3, WRAPPING - 7);
	at[7] = 0x49, at[8] = 0xba, memcpy(at + 9, &data, 8);
	at[17] = 0xff, at[18] = 0x25, put32(at + 19, 0);
	memcpy(at + 23, &entry, 8);
}

static void write_head(const struct swz_trampolines *region, uint8_t *at,
		       uint32_t function_id, bool is_leaf)
{
	const uint8_t *hook = region->start;

	if (is_leaf)
		hook += offsetof(struct swz_hooks, leaf);
	at[0] = 0x50;
	at[1] = 0x48, at[2] = 0x8d, at[3] = 0x05, put32(at + 4, HEAD_BYTES - 8);
	at[8] = 0xff, at[9] = 0x25, put32(at + HOOK_AT, hook - (at + 14));
	memcpy(at + 14, &function_id, sizeof(function_id));
}

void swz_trampoline_capture(uint8_t *trampoline, const uint8_t *region)
{
	const uint8_t *hook = region + offsetof(struct swz_hooks, captured);

	put32(trampoline + HOOK_AT, hook - (trampoline + HOOK_AT + 4));
}

const uint8_t *swz_trampoline_switch(const uint8_t *trampoline,
				     const uint8_t *region,
				     uint8_t past[SWZ_TRAMPOLINE_SWITCH_BYTES])
{
	const uint8_t *at = trampoline + HOOK_AT;

	if (hooks_of(region)->counts) {
		at = trampoline +
		     swz_count_factor_at(swz_count_form(trampoline));
		put32(past, (const uint8_t *)factor_at(region, 0) - (at + 4));
		return at;
	}
	put32(past, region + offsetof(struct swz_hooks, past) - (at + 4));
	return at;
}

/* Bytes behind the trampolines. */
static size_t tables_bytes(const struct swz_trampolines *region)
{
	return swz_unwind_table_bytes(region->unwind.count) +
	       (size_t)region->island_count *
		       (SWZ_UNWIND_ISLAND_BYTES + sizeof(*region->islands));
}

void swz_trampolines_hold_islands(struct swz_trampolines *region,
				  int32_t *scratch, uint32_t room)
{
	region->islands = scratch;
	region->island_room = room;
}

bool swz_trampolines_add_island(struct swz_trampolines *region, uint64_t at)
{
	int32_t distance = (int32_t)(int64_t)(at - (uintptr_t)region->start);
	uint32_t i = region->island_count;

	if (i == region->island_room ||
	    region->bytes - region->used < tables_bytes(region) +
						   SWZ_UNWIND_ISLAND_BYTES +
						   sizeof(*region->islands))
		return false;
	for (; i && region->islands[i - 1] > distance; i--)
		region->islands[i] = region->islands[i - 1];
	region->islands[i] = distance;
	region->island_count++;
	return true;
}

static bool has_room_for_one(const struct swz_trampolines *region)
{
	size_t bytes = HEAD_BYTES + WRAPPING + SWZ_RELOCATED_MAX;

	if (counts(region)) {
		bytes += COUNTING_MOST;
		if (region->factor_count == region->factor_room)
			return false;
	}
	if (region->is_part)
		return region->bytes - region->used >= bytes &&
		       region->outward_room - region->outward_count >=
			       MOST_OUTWARD;
	return region->bytes - region->used >= bytes + tables_bytes(region);
}

/* So that it fits in where the part comes to lie, too. */
static bool may_move_down(const struct swz_trampolines *part,
			  const uint8_t *copies,
			  const struct swz_relocation *relocation)
{
	for (unsigned i = 0; i < relocation->outward_count; i++) {
		int32_t value;

		memcpy(&value, copies + relocation->outward[i], sizeof(value));
		if (value > INT32_MAX - (int64_t)part->bytes)
			return false;
	}
	return true;
}

static void note_outward(struct swz_trampolines *part, unsigned prefix,
			 const struct swz_relocation *relocation,
			 uint32_t factor_at)
{
	uint32_t head = (uint32_t)part->used;
	uint32_t copies = head + HEAD_BYTES + prefix;

	part->outward[part->outward_count++] = head + HOOK_AT;
	if (factor_at)
		part->outward[part->outward_count++] = head + factor_at;
	for (unsigned i = 0; i < relocation->outward_count; i++)
		part->outward[part->outward_count++] = copies +
						       relocation->outward[i];
}

static uint64_t arena_bounds(const struct swz_trampolines *region)
{
	return (uintptr_t)region->start + offsetof(struct swz_hooks, arena);
}

/* All that has been written lies behind. */
static void take(struct swz_trampolines *region, size_t bytes)
{
	region->used = (region->used + bytes + 15) & ~(size_t)15;
}

/* Its code, but for what leads to the copies: as it is, or is to be, at `at`.
 */
static enum swz_status relocate(const struct swz_trampolines *region,
				struct swz_decoder *decoder,
				const struct swz_patch_site *site,
				const uint8_t *at,
				uint8_t out[SWZ_RELOCATED_MAX],
				struct swz_relocation *relocation)
{
	struct swz_slot_loads loads = {
		.count = site->load_count,
		.keep_flags = site->loads_keep_flags,
		.arena = arena_bounds(region),
	};

	if (loads.count)
		memcpy(loads.at, site->loads, loads.count);
	return swz_relocate(decoder, site->code, site->address, site->wanted,
			    (uintptr_t)at, out, SWZ_RELOCATED_MAX, &loads,
			    relocation);
}

static bool is_counted(const struct swz_trampolines *region,
		       const struct swz_patch_site *site)
{
	return counts(region) && !site->wrapper;
}

static enum swz_counting counting_of(const struct swz_trampolines *region,
				     const struct swz_patch_site *site)
{
	bool free = swz_flags_are_free(site->code, 0);

	if (hooks_of(region->start)->first_only)
		return free ? SWZ_COUNT_FIRST_FREE_FLAGS : SWZ_COUNT_FIRST;
	return free ? SWZ_COUNT_FREE_FLAGS : SWZ_COUNT_KEEPING_FLAGS;
}

/* Bytes between the head and the copies. */
static unsigned prefix_of(const struct swz_trampolines *region,
			  const struct swz_patch_site *site)
{
	if (is_counted(region, site))
		return SWZ_COUNT_HEAD - HEAD_BYTES +
		       swz_count_bytes(counting_of(region, site));
	return site->wrapper ? WRAPPING : 0;
}

/* Writes head and counting code at HEAD, and returns where the jump goes. */
static uint8_t *write_counting(struct swz_trampolines *region, uint8_t *head,
			       uint32_t function_id, enum swz_counting form)
{
	uint8_t *entry = head + SWZ_COUNT_HEAD;

	write_head(region, head, function_id, false);
	swz_count_write(entry, form,
			factor_at(region->start, region->factor_count++),
			&hooks_of(region->start)->access);
	return entry;
}

const uint8_t *swz_trampoline_copy_of(const struct swz_trampolines *region,
				      struct swz_decoder *decoder,
				      const struct swz_patch_site *site,
				      const uint8_t *trampoline,
				      unsigned offset)
{
	const uint8_t *copies = is_counted(region, site)
					? swz_count_copies(trampoline)
					: trampoline + HEAD_BYTES +
						  (site->wrapper ? WRAPPING
								 : 0);
	struct swz_relocation relocation = {0};
	uint8_t again[SWZ_RELOCATED_MAX];

	if (relocate(region, decoder, site, copies, again, &relocation) !=
		    SWZ_OK ||
	    relocation.refusal != SWZ_PATCHED)
		return NULL;
	for (unsigned i = 0; i < relocation.insn_count; i++)
		if (relocation.insns[i].from == offset)
			return copies + relocation.insns[i].to;
	return NULL;
}

/* A displaced call pushes where a shadow stack does not see it. */
static bool may_push(const struct swz_relocation *r)
{
	return !r->call_steps[0] || !swz_has_shadow_stack();
}

const uint8_t *swz_trampoline_write(struct swz_trampolines *region,
				    struct swz_decoder *decoder,
				    const struct swz_patch_site *site,
				    uint8_t *moved, enum swz_refusal *refusal)
{
	uint8_t *at = region->start + region->used;
	bool counted = is_counted(region, site);
	unsigned prefix = prefix_of(region, site), factor_place = 0;
	uint8_t *body = at + HEAD_BYTES, *copies = body + prefix, *entry = at;
	struct swz_relocation relocation = {0};
	struct swz_moved_code code = {
		.fde = site->fde,
		.site = site->fde_address,
		.trampoline = (uint32_t)region->used,
		.head = HEAD_BYTES,
		.prefix = prefix,
		.relocation = &relocation,
	};

	*refusal = SWZ_REFUSE_OUT_OF_REACH;
	if (!has_room_for_one(region) ||
	    relocate(region, decoder, site, copies, copies, &relocation) !=
		    SWZ_OK)
		return NULL;
	if (region->is_part && !may_move_down(region, copies, &relocation))
		return NULL;
	*refusal = relocation.refusal;
	if (relocation.refusal == SWZ_PATCHED && !may_push(&relocation))
		*refusal = SWZ_REFUSE_UNRELOCATABLE;
	if (*refusal != SWZ_PATCHED)
		return NULL;
	if (counted) {
		enum swz_counting form = counting_of(region, site);

		entry = write_counting(region, at, site->function_id, form);
		factor_place = SWZ_COUNT_HEAD + swz_count_factor_at(form);
	} else {
		write_head(region, at, site->function_id, site->is_leaf);
	}
	if (site->wrapper)
		swz_trampoline_wrap(body, site->wrapper);
	*moved = relocation.call_steps[0]
			 ? relocation.insns[relocation.insn_count - 1].from
			 : relocation.displaced_bytes;
	code.bytes = HEAD_BYTES + prefix + relocation.written;
	swz_unwind_table_add(&region->unwind, &code);
	if (region->is_part)
		note_outward(region, prefix, &relocation, factor_place);
	take(region, code.bytes);
	return entry;
}

const uint8_t *swz_trampoline_write_load(struct swz_trampolines *region,
					 struct swz_decoder *decoder,
					 const struct swz_patch_site *site)
{
	const struct swz_slot_loads loads = {
		.count = 1,
		.keep_flags = site->loads_keep_flags,
		.at = {0},
		.arena = arena_bounds(region),
	};
	uint8_t *at = region->start + region->used;
	struct swz_unwind_table unwind = region->unwind;
	struct swz_relocation relocation = {0};
	struct swz_moved_code code = {
		.fde = site->fde,
		.site = site->fde_address,
		.trampoline = (uint32_t)region->used,
		.relocation = &relocation,
	};

	if (!has_room_for_one(region) ||
	    swz_relocate(decoder, site->code, site->address, site->wanted,
			 (uintptr_t)at, at, SWZ_RELOCATED_MAX, &loads,
			 &relocation) != SWZ_OK ||
	    relocation.refusal != SWZ_PATCHED || !may_push(&relocation))
		return NULL;
	code.bytes = relocation.written;
	if (!swz_unwind_table_add(&region->unwind, &code)) {
		region->unwind = unwind;
		return NULL;
	}
	take(region, code.bytes);
	return at;
}

/* A jump to what lies at `target`, with room for head and prefix before it. */
static uint8_t *write_jump(struct swz_trampolines *region, unsigned head,
			   unsigned prefix, const uint64_t *target)
{
	/* CFA = rsp + 8, return address at CFA - 8, all along */
	static const uint8_t program[] = {0x0c, 7, 8, 0x90, 1};
	const struct swz_fde fde = {
		.return_column = 16,
		.code_align = 1,
		.data_align = -8,
		.cie_program = {program, sizeof(program)},
	};
	const struct swz_relocation relocation = {0};
	uint8_t *at = region->start + region->used;
	uint8_t *jump = at + head + prefix;
	struct swz_moved_code code = {
		.fde = &fde,
		.trampoline = (uint32_t)region->used,
		.bytes = head + prefix + 6,
		.head = head,
		.prefix = prefix,
		.relocation = &relocation,
	};
	int64_t distance = (const uint8_t *)target - (jump + 6);

	if (region->bytes - region->used <
		    code.bytes +
			    swz_unwind_table_bytes(region->unwind.count + 1) ||
	    distance != (int32_t)distance)
		return NULL;
	jump[0] = 0xff, jump[1] = 0x25, put32(jump + 2, distance);
	swz_unwind_table_add(&region->unwind, &code);
	take(region, code.bytes);
	return at;
}

const uint8_t *swz_trampoline_write_jump(struct swz_trampolines *region,
					 uint32_t function_id,
					 const uint64_t *target)
{
	bool counted = counts(region);
	enum swz_counting form = hooks_of(region->start)->first_only
					 ? SWZ_COUNT_FIRST
					 : SWZ_COUNT_KEEPING_FLAGS;
	unsigned prefix = SWZ_COUNT_HEAD - HEAD_BYTES + swz_count_bytes(form);
	uint8_t *at;

	if (counted && region->factor_count == region->factor_room)
		return NULL;
	at = write_jump(region, HEAD_BYTES, counted ? prefix : 0, target);
	if (at && counted)
		return write_counting(region, at, function_id, form);
	if (at)
		write_head(region, at, function_id, false);
	return at;
}

const uint8_t *swz_trampoline_write_wrapper(struct swz_trampolines *region,
					    const struct swz_wrapper *wrapper,
					    const uint64_t *target)
{
	uint8_t *at = write_jump(region, 0, WRAPPING, target);

	if (at)
		swz_trampoline_wrap(at, wrapper);
	return at;
}

enum swz_status swz_trampolines_seal(struct swz_trampolines *region)
{
	struct swz_region *sealed = &region->sealed;
	size_t keep;

	sealed->start = region->start;
	((struct swz_hooks *)(void *)region->start)->factor_bytes =
		(uint32_t)region->factor_bytes;
	region->code_bytes = region->used;
	swz_unwind_table_add_islands(&region->unwind, region->islands,
				     region->island_count, ISLAND_BYTES);
	region->used += swz_unwind_table_finish(
		&region->unwind, region->start + region->used, region->start,
		&sealed->unwind_header);
	region->used = (region->used + 3) & ~(size_t)3;
	sealed->islands = (int32_t *)(void *)(region->start + region->used);
	sealed->island_count = region->island_count;
	if (region->island_count)
		memcpy(region->start + region->used, region->islands,
		       region->island_count * sizeof(*region->islands));
	region->islands = NULL;
	region->used += region->island_count * sizeof(*region->islands);
	keep = (region->used + 4095) & ~(size_t)4095;
	if (keep < region->bytes)
		swz_near_unmap(region->start + keep, region->bytes - keep);
	region->bytes = keep;
	if (swz_sys_mprotect(region->start, keep, PROT_READ | PROT_EXEC) != 0)
		return SWZ_E_SYSTEM;
	sealed->bytes = keep;
	swz_trampolines_show(region, true);
	return SWZ_OK;
}

void swz_trampolines_show(const struct swz_trampolines *region, bool shown)
{
	const struct swz_region *sealed = &region->sealed;

	if (!sealed->bytes || !sealed->unwind_header)
		return;
	if (shown)
		swz_region_add(sealed);
	else
		swz_region_remove(sealed->start);
}

void swz_trampolines_close(struct swz_trampolines *region)
{
	if (region->start) {
		swz_trampolines_show(region, false);
		swz_sys_munmap(region->start - region->factor_bytes,
			       region->factor_bytes + region->bytes);
	}
	memset(region, 0, sizeof(*region));
}

void swz_patch_write(uint8_t *site, int island, const uint8_t *trampoline)
{
	uint8_t *at = site + island;

	at[0] = 0xe9;
	put32(at + 1, trampoline - (at + SWZ_JUMP_BYTES));
	if (!island)
		return;
	site[0] = 0xeb;
	site[1] = (uint8_t)(island - SWZ_SHORT_JUMP_BYTES);
}

void swz_patch_lead(uint8_t *at, const uint8_t *target)
{
	put32(at + 1, target - (at + SWZ_JUMP_BYTES));
}

/* --- functions behind trampolines ---------------------------------------- */

/* A thread may be stopped between any two of its instructions, and find other
 * bytes then: so a jump is read by one instruction. It lies in one page, as
 * what spans two is not changed while the program runs (base/control.h). */

#define WORD_BYTES 8u
#define JUMP 0xe9
#define SHORT_JUMP 0xeb

static bool is_trampoline(const uint8_t *code)
{
	static const uint8_t lea[] = {0x50, 0x48, 0x8d, 0x05, 0x0a,
				      0,    0,    0,    0xff, 0x25};

	return memcmp(code, lea, sizeof(lea)) == 0;
}

static unsigned jump_bytes(uint64_t code)
{
	switch (code & 0xff) {
	case JUMP:
		return SWZ_JUMP_BYTES;
	case SHORT_JUMP:
		return SWZ_SHORT_JUMP_BYTES;
	default:
		return 0;
	}
}

/* The first bytes there, as many as a jump has, and nothing of the next page
 * unless the jump has. */
static uint64_t read_jump(const uint8_t *code)
{
	unsigned at = (uintptr_t)code % SWZ_PAGE, before = 0;
	uint64_t word;

	if (at > SWZ_PAGE - WORD_BYTES)
		before = at + WORD_BYTES - (unsigned)SWZ_PAGE;
	__asm__ volatile(
		"movq %1, %0"
		: "=r"(word)
		: "m"(*(const uint64_t(*))(const void *)(code - before)));
	word >>= 8 * before;
	if (before + jump_bytes(word) > WORD_BYTES)
		memcpy(&word, code, jump_bytes(word));
	return word;
}

/* Where a function's first instruction jumps to, or NULL. */
static const uint8_t *jumps_to(const uint8_t *code)
{
	uint64_t jump;

	if (!code)
		return NULL;
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e)
		code += 4; /* endbr64 */
	jump = read_jump(code);
	if ((jump & 0xff) == SHORT_JUMP) {
		code += SWZ_SHORT_JUMP_BYTES + (int8_t)(jump >> 8);
		jump = read_jump(code);
	}
	if ((jump & 0xff) != JUMP)
		return NULL;
	return code + SWZ_JUMP_BYTES + (int32_t)(jump >> 8);
}

/* With -m count the jump goes to code that saves registers first. */
static bool is_counting(const uint8_t *code)
{
	static const uint8_t begin[] = {0x48, 0x89, 0x44, 0x24, 0xf0};
	static const uint8_t first[] = {0x48, 0x85, 0x25};

	return (memcmp(code, begin, sizeof(begin)) == 0 ||
		memcmp(code, first, sizeof(first)) == 0) &&
	       is_trampoline(code - SWZ_COUNT_HEAD);
}

const void *swz_unhooked(const void *function)
{
	const uint8_t *to = jumps_to(function);

	if (to && is_counting(to))
		return swz_count_copies(to);
	return to && is_trampoline(to) ? to + SWZ_TRAMPOLINE_BODY : function;
}

const void *swz_unwrapped(const void *function, void (*entry)(void))
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x05};
	const uint8_t *to = jumps_to(function);
	uint64_t leads_to;

	if (!to || memcmp(to, lea, sizeof(lea)) != 0)
		return NULL;
	memcpy(&leads_to, to + SWZ_TRAMPOLINE_WRAPPING - sizeof(leads_to),
	       sizeof(leads_to));
	return leads_to == (uintptr_t)entry ? to + SWZ_TRAMPOLINE_WRAPPING
					    : NULL;
}
