#include "thunks/trampoline.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/near.h"

#define HOOKS_BYTES ((unsigned)sizeof(struct swz_hooks))
#define HEAD_BYTES ((unsigned)SWZ_TRAMPOLINE_BODY) /* push, lea, jmp, id */
#define HOOK_AT 10u
#define TYPICAL_BYTES 64u
#define WRAPPING ((unsigned)SWZ_TRAMPOLINE_WRAPPING)

/* Displacements in one trampoline; in each of many. */
#define MOST_OUTWARD (1u + SWZ_MOST_OUTWARD)
#define TYPICAL_OUTWARD 4u

/* Bytes to reserve for this many functions. */
static size_t room_for(uint32_t functions)
{
	return HOOKS_BYTES + (size_t)functions * TYPICAL_BYTES +
	       2 * (size_t)SWZ_RELOCATED_MAX +
	       swz_unwind_table_bytes(functions);
}

enum swz_status swz_trampolines_open(struct swz_trampolines *region,
				     uint64_t start, uint64_t end,
				     uint32_t functions, void *scratch,
				     const struct swz_hooks *hooks)
{
	memset(region, 0, sizeof(*region));
	region->bytes = (room_for(functions) + 4095) & ~(size_t)4095;
	region->start = swz_near_map(start, end, region->bytes);
	if (!region->start)
		return SWZ_E_NOMEM;
	memcpy(region->start, hooks, sizeof(*hooks));
	region->used = HOOKS_BYTES;
	swz_unwind_table_begin(&region->unwind, scratch, functions);
	return SWZ_OK;
}

/* Where trampolines number `first` and on may begin. */
static size_t place_of(uint32_t first)
{
	return HOOKS_BYTES + (size_t)first * TYPICAL_BYTES;
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
		.begin = place_of(first),
		.used = place_of(first),
		.bytes = place_of(first + functions),
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
	region->used += part->used - begin;
	return down;
}

/* Whether the processor keeps a second stack of return addresses (CET): a
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

void swz_trampoline_capture(uint8_t *trampoline)
{
	const uint8_t *any = trampoline + HOOK_AT + 4, *hook;
	int32_t distance;

	memcpy(&distance, trampoline + HOOK_AT, sizeof(distance));
	hook = any + distance + offsetof(struct swz_hooks, captured);
	put32(trampoline + HOOK_AT, hook - any);
}

const uint8_t *swz_trampoline_switch(const uint8_t *trampoline,
				     const uint8_t *region,
				     uint8_t past[SWZ_TRAMPOLINE_SWITCH_BYTES])
{
	const uint8_t *at = trampoline + HOOK_AT;

	put32(past, region + offsetof(struct swz_hooks, past) - (at + 4));
	return at;
}

/* What comes behind the trampolines. */
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
			 const struct swz_relocation *relocation)
{
	uint32_t head = (uint32_t)part->used;
	uint32_t copies = head + HEAD_BYTES + prefix;

	part->outward[part->outward_count++] = head + HOOK_AT;
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

const uint8_t *swz_trampoline_copy_of(const struct swz_trampolines *region,
				      struct swz_decoder *decoder,
				      const struct swz_patch_site *site,
				      const uint8_t *trampoline,
				      unsigned offset)
{
	const uint8_t *copies = trampoline + HEAD_BYTES +
				(site->wrapper ? WRAPPING : 0);
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
	unsigned prefix = site->wrapper ? WRAPPING : 0;
	uint8_t *body = at + HEAD_BYTES, *copies = body + prefix;
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
	write_head(region, at, site->function_id, site->is_leaf);
	if (site->wrapper)
		swz_trampoline_wrap(body, site->wrapper);
	*moved = relocation.call_steps[0]
			 ? relocation.insns[relocation.insn_count - 1].from
			 : relocation.displaced_bytes;
	code.bytes = HEAD_BYTES + prefix + relocation.written;
	swz_unwind_table_add(&region->unwind, &code);
	if (region->is_part)
		note_outward(region, prefix, &relocation);
	take(region, code.bytes);
	return at;
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
	uint8_t *at = write_jump(region, HEAD_BYTES, 0, target);

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
	region->code_bytes = region->used;
	swz_unwind_table_add_islands(&region->unwind, region->islands,
				     region->island_count, SWZ_ISLAND_BYTES);
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
		swz_sys_munmap(region->start, region->bytes);
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
