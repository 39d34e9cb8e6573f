/* A copy ends with the first instruction behind which control does not go on
 * and to which, or behind which, nothing in the copy branches: as swz_relocate
 * writes it.
 *
 * What refers to the region itself is what the copies bring with them (branches
 * to one another, pushed return addresses), and to the words that it begins
 * with (the arena's bounds); all else is the module's. */

#include "thunks/fixups.h"

#include <string.h>

#include "thunks/encoding.h"
#include "thunks/relocate.h"
#include "thunks/trampoline.h"

struct walk {
	struct swz_fixups *fixups;
	struct swz_bytes region;
	struct swz_bytes site;
	uint32_t begin;
	uint32_t at;       /* of the instruction */
	uint32_t furthest; /* that a branch within the copy goes to */
	bool ended;
	enum swz_status status;
};

static int32_t read32(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void add(struct walk *w, uint32_t *list, uint32_t *count, uint32_t room,
		uint32_t at)
{
	if (*count == room) {
		w->status = SWZ_E_NOMEM;
		return;
	}
	list[(*count)++] = at;
}

static void add_absolute(struct walk *w, uint32_t at)
{
	add(w, w->fixups->absolute, &w->fixups->absolute_count,
	    w->fixups->absolute_room, at);
}

/* A branch (or a reference) to this offset of the region. */
static bool stays_inside(struct walk *w, int64_t target)
{
	if (target < 0 || (uint64_t)target >= w->region.size)
		return false;
	if ((uint64_t)target < sizeof(struct swz_hooks))
		return true;
	if (target < w->begin || target > w->begin + SWZ_RELOCATED_MAX)
		w->status = SWZ_E_FORMAT;
	else if ((uint32_t)target > w->furthest)
		w->furthest = (uint32_t)target;
	return true;
}

static void take_relative(struct walk *w, uint32_t at, uint32_t end)
{
	int64_t target = (int64_t)end + read32(w->region.data + at);

	if (!stays_inside(w, target))
		add(w, w->fixups->relative, &w->fixups->relative_count,
		    w->fixups->relative_room, at);
}

static void take_short(struct walk *w, uint32_t end)
{
	int64_t target = (int64_t)end + (int8_t)w->region.data[end - 1];

	if (!stays_inside(w, target))
		w->status = SWZ_E_FORMAT;
}

/* The beginning of what swz_write_return_address writes; its push of a 32-bit
 * address comes behind the lea. Returns the bytes to pass over. */
static uint32_t take_call(struct walk *w, uint32_t end)
{
	int32_t over = read32(w->region.data + end - 4);

	if (w->region.size - end < 14 || w->region.data[end] != 0xcc ||
	    (over != 1 && over != 9)) {
		w->status = SWZ_E_FORMAT;
		return 0;
	}
	if (over == 1)
		w->fixups->fixed = true;
	else
		add_absolute(w, end + 1);
	return (uint32_t)over;
}

/* A movabs is the program's own, or an address that lea had to be replaced
 * by. */
static void take_movabs(struct walk *w, uint32_t end)
{
	const uint8_t *insn = w->region.data + end - 10;

	for (size_t i = 0; i + 10 <= w->site.size; i++)
		if (memcmp(w->site.data + i, insn, 10) == 0)
			return;
	add_absolute(w, end - 8);
}

/* Returns how many bytes behind the instruction are none. */
static uint32_t take_one_byte(struct walk *w, const struct swz_encoding *e,
			      uint32_t end)
{
	uint8_t opcode = e->opcode;

	if (opcode == 0xe8)
		return take_call(w, end);
	if (opcode == 0xe9)
		take_relative(w, end - 4, end);
	else if ((opcode & 0xf0) == 0x70 || (opcode & 0xfc) == 0xe0 ||
		 opcode == 0xeb)
		take_short(w, end);
	else if ((opcode & 0xf8) == 0xb8 && e->rex_w)
		take_movabs(w, end);
	w->ended = opcode == 0xe9 || opcode == 0xeb || opcode == 0xc2 ||
		   opcode == 0xc3 ||
		   (opcode == 0xff && swz_modrm_reg(e->modrm) == 4);
	return 0;
}

static void take_instruction(struct walk *w)
{
	struct swz_bytes rest = {w->region.data + w->at,
				 w->region.size - w->at};
	struct swz_encoding e;
	uint32_t end, skip = 0;

	if (swz_encoding_read(rest, &e) != SWZ_OK ||
	    (unsigned)e.operands_at + e.immediate_bytes > rest.size) {
		w->status = SWZ_E_FORMAT;
		return;
	}
	end = w->at + e.operands_at + e.immediate_bytes;
	w->ended = false;
	if (swz_encoding_rip_relative(&e))
		take_relative(w, w->at + e.displacement_at, end);
	if (e.map == SWZ_MAP_ONE_BYTE)
		skip = take_one_byte(w, &e, end);
	else if (e.map == SWZ_MAP_0F && (e.opcode & 0xf0) == 0x80)
		take_relative(w, end - 4, end);
	w->at = end + skip;
}

enum swz_status swz_fixups_find(struct swz_fixups *fixups,
				struct swz_bytes region, uint32_t begin,
				struct swz_bytes site)
{
	struct walk w = {.fixups = fixups,
			 .region = region,
			 .site = site,
			 .begin = begin,
			 .at = begin};

	while (w.status == SWZ_OK && (!w.ended || w.at <= w.furthest)) {
		if (w.at >= region.size || w.at > begin + SWZ_RELOCATED_MAX)
			return SWZ_E_FORMAT;
		take_instruction(&w);
	}
	return w.status;
}

enum swz_status swz_fixups_apply_relative(uint8_t *region, const uint32_t *at,
					  uint32_t count, int64_t by)
{
	for (uint32_t i = 0; by && i < count; i++) {
		int64_t value = read32(region + at[i]) + by;
		int32_t low = (int32_t)value;

		if (value != low)
			return SWZ_E_RANGE;
		memcpy(region + at[i], &low, sizeof(low));
	}
	return SWZ_OK;
}

void swz_fixups_apply_absolute(uint8_t *region, const uint32_t *at,
			       uint32_t count, uint64_t by)
{
	for (uint32_t i = 0; by && i < count; i++) {
		uint64_t value;

		memcpy(&value, region + at[i], sizeof(value));
		value += by;
		memcpy(region + at[i], &value, sizeof(value));
	}
}
