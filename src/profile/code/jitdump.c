#include "profile/code/jitdump.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "profile/code/shown_code_name.h"

#define MAGIC 0x4a695444u
#define ARCH_TIMESTAMP 1u
#define MOST_NAME 4096u
#define MOST_NAMES (1u << 31)

enum { CODE_LOAD, CODE_MOVE };

struct header {
	uint32_t magic, version, total_size, machine, padding, pid;
	uint64_t timestamp, flags;
};

struct prefix {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct load {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
	/* the name with its NUL, and the code */
};

struct move {
	struct prefix prefix;
	uint32_t pid, tid;
	uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

static void keep_name(struct swz_jitdump *dump, uint64_t index,
		      const char *name, size_t length)
{
	if (dump->name_bytes + length + 1 > MOST_NAMES)
		return;
	if (dump->name_capacity - dump->name_bytes <= length) {
		dump->name_capacity += dump->name_capacity / 2 + length + 4096;
		dump->names = swz_reallocate(dump->names, dump->name_capacity,
					     1);
	}
	*swz_map_at(&dump->by_index, index, 0) = (uint32_t)dump->name_bytes;
	memcpy(dump->names + dump->name_bytes, name, length);
	dump->names[dump->name_bytes + length] = '\0';
	dump->name_bytes += length + 1;
}

static void take_load(struct swz_jitdump *dump, struct swz_code_ranges *ranges,
		      const uint8_t *bytes, size_t size)
{
	struct load load;
	const char *name = (const char *)bytes + sizeof(load);
	size_t length;

	if (size < sizeof(load))
		return;
	memcpy(&load, bytes, sizeof(load));
	length = strnlen(name, size - sizeof(load));
	swz_add_code(ranges, load.code_addr, load.code_size,
		     dump->no_times ? 0 : load.prefix.timestamp, name, length);
	keep_name(dump, load.code_index, name, length);
}

static void take_move(struct swz_jitdump *dump, struct swz_code_ranges *ranges,
		      const uint8_t *bytes, size_t size)
{
	struct move move;
	uint32_t name;

	if (size < sizeof(move))
		return;
	memcpy(&move, bytes, sizeof(move));
	name = swz_map_get(&dump->by_index, move.code_index, 0);
	if (name == SWZ_MAP_NONE)
		return;
	swz_add_code(ranges, move.new_code_addr, move.code_size,
		     dump->no_times ? 0 : move.prefix.timestamp,
		     dump->names + name, strlen(dump->names + name));
}

static uint64_t take_header(struct swz_jitdump *dump, const uint8_t *bytes,
			    size_t size)
{
	struct header header;

	if (size < sizeof(header))
		return 0;
	memcpy(&header, bytes, sizeof(header));
	dump->begun = true;
	dump->damaged = header.magic != MAGIC ||
			header.total_size < sizeof(header);
	dump->no_times = (header.flags & ARCH_TIMESTAMP) != 0;
	return header.total_size;
}

/* So much of a record is looked at: the code behind the name is not. */
static size_t wanted_of(const struct prefix *prefix)
{
	size_t most = prefix->id == CODE_LOAD ? sizeof(struct load) + MOST_NAME
		      : prefix->id == CODE_MOVE ? sizeof(struct move)
						: sizeof(*prefix);

	return prefix->total_size < most ? prefix->total_size : most;
}

uint64_t swz_jitdump_read(struct swz_jitdump *dump,
			  struct swz_code_ranges *ranges, const uint8_t *bytes,
			  size_t size)
{
	uint64_t done = 0;

	if (!dump->begun)
		done = take_header(dump, bytes, size);
	if (dump->damaged)
		return size;
	while (dump->begun && done <= size &&
	       size - done >= sizeof(struct prefix)) {
		struct prefix prefix;
		size_t wanted;

		memcpy(&prefix, bytes + done, sizeof(prefix));
		wanted = wanted_of(&prefix);
		if (wanted < sizeof(prefix)) {
			dump->damaged = true;
			return size;
		}
		if (size - done < wanted)
			break;
		if (prefix.id == CODE_LOAD)
			take_load(dump, ranges, bytes + done, wanted);
		else if (prefix.id == CODE_MOVE)
			take_move(dump, ranges, bytes + done, wanted);
		done += prefix.total_size;
	}
	return done;
}

void swz_jitdump_free(struct swz_jitdump *dump)
{
	swz_map_free(&dump->by_index);
	free(dump->names);
	*dump = (struct swz_jitdump){0};
}
