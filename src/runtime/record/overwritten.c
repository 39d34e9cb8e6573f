/* All is read by way of the kernel, as the text may not be there any more. What
 * cannot be read is not counted: nobody can call it. */

#include "runtime/record/overwritten.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/record/file.h"
#include "runtime/record/thread.h"
#include "thunks/region.h"
#include "thunks/trampoline.h"

#define PAGE 4096u
#define WINDOW_BYTES (4 * PAGE)
/* endbr64 or a signature, and a jump */
#define MOST_BYTES (8 + SWZ_JUMP_BYTES)
/* A second or so, in ticks. */
#define LEAST_BETWEEN (UINT64_C(1) << 31)
#define MOST_SHARE 256

enum { JMP = 0xe9, JMP_SHORT = 0xeb, INT3 = 0xcc };

static atomic_bool busy;
static _Atomic uint64_t next_look; /* 0: not known */

/* What was read of the text, and where it began. One thread at a time. */
static struct {
	uint8_t bytes[WINDOW_BYTES];
	uint64_t start, end;
} window;

static uint64_t read_memory(uint64_t address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes};
	struct iovec remote = {(void *)(uintptr_t)address, bytes};
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	long got = SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1, &remote, 1,
			       0);

	return got > 0 ? (uint64_t)got : 0;
}

/* The bytes there, or NULL. They come in the order of their addresses. */
static const uint8_t *bytes_at(uint64_t address)
{
	if (address < window.start || address + MOST_BYTES > window.end) {
		window.start = address & -(uint64_t)PAGE;
		window.end = window.start + read_memory(window.start,
							window.bytes,
							WINDOW_BYTES);
	}
	return address + MOST_BYTES <= window.end
		       ? window.bytes + (address - window.start)
		       : NULL;
}

/* Whether what lies there is the trampoline of the function. Of regions that
 * are known it can be read directly. */
static bool is_trampoline_of(uint64_t address, uint32_t id)
{
	static struct swz_region latest;
	uint64_t at = address + SWZ_TRAMPOLINE_BODY - sizeof(id);
	uint32_t found;

	if ((address < (uintptr_t)latest.start ||
	     address - (uintptr_t)latest.start >= latest.bytes) &&
	    !swz_region_at(address, &latest))
		latest = (struct swz_region){.bytes = 0};
	if (latest.bytes)
		memcpy(&found, (const void *)(uintptr_t)at, sizeof(found));
	else if (read_memory(at, &found, sizeof(found)) != sizeof(found))
		return false;
	return found == id;
}

static bool is_jump_to(const uint8_t *code, uint64_t address, uint32_t id)
{
	int32_t distance;

	/* a debugger's breakpoint: what it took away is executed all the same
	 */
	if (code[0] != JMP && code[0] != INT3)
		return false;
	memcpy(&distance, code + 1, sizeof(distance));
	return is_trampoline_of(
		address + SWZ_JUMP_BYTES + (uint64_t)(int64_t)distance, id);
}

/* Whether a call of it comes to its trampoline. */
static bool is_intact(const uint8_t *code, uint64_t address, uint32_t id)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t island[SWZ_JUMP_BYTES];

	if (memcmp(code, endbr64, sizeof(endbr64)) == 0) {
		code += sizeof(endbr64);
		address += sizeof(endbr64);
	}
	if (code[0] != JMP_SHORT)
		return is_jump_to(code, address, id);
	/* to an island, or over a signature */
	address += SWZ_SHORT_JUMP_BYTES + (uint64_t)(int64_t)(int8_t)code[1];
	return read_memory(address, island, sizeof(island)) == sizeof(island) &&
	       is_jump_to(island, address, id);
}

/* A record has the low half of an address that lies above the module's first.
 */
static uint64_t address_of(const struct swz_module_record *m, uint32_t low)
{
	uint64_t first = m->start - m->load_bias;

	return m->load_bias + first + (uint32_t)(low - (uint32_t)first);
}

static uint32_t count_in(const struct swz_chunk *chunk,
			 const struct swz_module_record *m)
{
	const struct swz_function_record *f =
		(const struct swz_function_record *)(chunk + 1);
	uint32_t count = 0;

	for (uint32_t i = 0; i < chunk->count; i++, f++) {
		uint64_t address = address_of(m, f->address);
		const uint8_t *code;

		if (f->status != SWZ_PATCHED || f->flags & SWZ_FUNCTION_IMPORT)
			continue;
		code = bytes_at(address);
		count += code && !is_intact(code, address, f->id);
	}
	return count;
}

/* What was found of a module stays with it when it is unloaded. */
static uint32_t look_at_module(const struct swz_chunk *chunk,
			       struct swz_module_record *m)
{
	if (chunk->count && m->function_count == chunk->count &&
	    !m->unload_ticks) {
		uint32_t count = count_in(chunk, m);

		if (!m->unload_ticks)
			m->overwritten = count;
	}
	return m->overwritten;
}

static uint32_t find(void)
{
	uint64_t used = swz_file_used(), at = SWZ_HEADER_BYTES;
	struct swz_module_record *m = NULL;
	uint32_t owner = 0, all = 0;

	window.start = window.end = 0;
	while (at + sizeof(struct swz_chunk) <= used) {
		struct swz_chunk *c = (struct swz_chunk *)((char *)swz_file +
							   at);

		/* acquire: matches the release in swz_chunk_publish */
		if (__atomic_load_n(&c->magic, __ATOMIC_ACQUIRE) !=
			    SWZ_CHUNK_MAGIC ||
		    !c->bytes)
			break;
		if (c->type == SWZ_CHUNK_MODULE) {
			m = (struct swz_module_record *)(c + 1);
			owner = c->owner;
		}
		if (c->type == SWZ_CHUNK_FUNCTIONS && m && c->owner == owner)
			all += look_at_module(c, m);
		at += c->bytes;
	}
	return all;
}

uint32_t swz_overwritten_find(void)
{
	uint32_t count;

	if (atomic_exchange_explicit(&busy, true, memory_order_acquire))
		return 0;
	count = find();
	atomic_store_explicit(&busy, false, memory_order_release);
	return count;
}

void swz_overwritten_look(void)
{
	uint64_t next = atomic_load_explicit(&next_look, memory_order_relaxed);
	uint64_t now = swz_ticks(), took;

	if (!next)
		next = swz_file->start_ticks + LEAST_BETWEEN;
	if (now < next)
		return;
	(void)swz_overwritten_find();
	took = swz_ticks() - now;
	if (took < LEAST_BETWEEN / MOST_SHARE)
		took = LEAST_BETWEEN / MOST_SHARE;
	atomic_store_explicit(&next_look, now + MOST_SHARE * took,
			      memory_order_relaxed);
}
