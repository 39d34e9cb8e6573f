/* Where T lies in a slot, R is put in its place. By way of the kernel, as the
 * stack may be protected by now, or gone. A T that was copied elsewhere
 * (continuations) stays, and its thunk with it.
 *
 * So does one that lies in a living stack besides: an unwinder that has read it
 * from the slot is about to ask the slot again (asm/x86_64/arena.S). */

#include "runtime/hooks/take_back.h"

#include <fcntl.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/record/frames.h"
#include "thunks/arena.h"

/* Words of a stack that are read at once. */
#define MOST_WORDS 512u
#define RED_ZONE 128u
/* Thunks of one thread that may be held besides; if there are more, all stay.
 */
#define MOST_HELD 64u
/* What lies further away is on another stack. */
#define MOST_STACK (1ull << 30)

struct held {
	const struct swz_thunk *thunks[MOST_HELD];
	uint32_t count;
	bool all;
	/* words that are a leader's T, as against slots where it lies: more,
	 * and one is held that may be any of its followers' */
	int64_t led;
};

static bool move_word(long call, int32_t pid, uint64_t *ours, uint64_t *at)
{
	struct iovec local = {ours, sizeof(*ours)};
	struct iovec remote = {at, sizeof(*at)};

	return SWZ_SYSCALL(call, pid, &local, 1, &remote, 1, 0) ==
	       sizeof(*ours);
}

/* ------------------------------------------------- what is held besides */

static uint64_t hexadecimal(const char *text)
{
	uint64_t value = 0;

	for (;; text++) {
		if (*text >= '0' && *text <= '9')
			value = value << 4 | (uint64_t)(*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			value = value << 4 | (uint64_t)(*text - 'a' + 10);
		else
			return value;
	}
}

/* Writes /proc/self/task/TID/syscall. */
static void name_file(char *to, uint32_t tid)
{
	static const char start[] = "/proc/self/task/", end[] = "/syscall";
	char digits[12];
	unsigned count = 0;

	for (unsigned i = 0; i + 1 < sizeof(start); i++)
		*to++ = start[i];
	do
		digits[count++] = (char)('0' + tid % 10);
	while (tid /= 10);
	while (count)
		*to++ = digits[--count];
	for (unsigned i = 0; i < sizeof(end); i++)
		*to++ = end[i];
}

/* Of a thread that stands still: the last but one of the words there (proc(5)).
 * 0: it is not told. */
static uint64_t stack_pointer(uint32_t tid)
{
	char path[64], text[256];
	long fd, bytes;

	name_file(path, tid);
	fd = SWZ_SYSCALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	bytes = SWZ_SYSCALL(SYS_read, (int)fd, text, sizeof(text) - 1);
	SWZ_SYSCALL(SYS_close, (int)fd);
	for (unsigned words = 0; bytes > 2; bytes--) {
		text[bytes] = '\0';
		if (text[bytes - 2] == '0' && text[bytes - 1] == 'x' &&
		    ++words == 2)
			return hexadecimal(text + bytes);
	}
	return 0;
}

static void note_held(struct held *held, const struct swz_thunk *thunk)
{
	for (uint32_t i = 0; i < held->count; i++)
		if (held->thunks[i] == thunk)
			return;
	if (held->count < MOST_HELD)
		held->thunks[held->count++] = thunk;
	else
		held->all = true;
}

/* The thread's thunk whose T a word is, or NULL. */
static const struct swz_thunk *thunk_of(const struct swz_thread_cold *cold,
					uint64_t word)
{
	const struct swz_thunk *thunk;

	if (!swz_arena_contains(word))
		return NULL;
	thunk = swz_arena_thunk_at(word);
	for (uint32_t b = 0; b < cold->block_count; b++) {
		const struct swz_thunk *first = swz_arena_block_thunks(
			cold->blocks[b]);

		if (thunk >= first && thunk < first + SWZ_BLOCK_THUNKS)
			return thunk;
	}
	return NULL;
}

static bool is_leaders(uint64_t word)
{
	return swz_arena_contains(word) &&
	       (word - (uintptr_t)swz_arena_start) %
			       (2ull * SWZ_UNIT_CODE_BYTES) <
		       SWZ_UNIT_CODE_BYTES &&
	       word % SWZ_THUNK_BYTES == SWZ_THUNK_AFTER_CALL &&
	       swz_thunk_leads(swz_arena_thunk_at(word));
}

/* How many live frames of followers have their slots there. */
static int64_t led_slots(const struct swz_thread_cold *cold, uint64_t from,
			 uint64_t to)
{
	int64_t count = 0;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);
		uint64_t alive = swz_block_alive(cold->blocks[b], NULL, true);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			count += alive >> i & 1 && swz_thunk_follows(&t[i]) &&
				 (uintptr_t)t[i].slot - from < to - from;
	}
	return count;
}

/* Looks at the stack from its end up to the outermost slot. */
static void look_for_held(struct held *held, const struct swz_thread_cold *cold,
			  int32_t pid, uint64_t from, uint64_t to)
{
	uint64_t words[MOST_WORDS];

	for (from &= ~7ull; from < to; from += sizeof(words)) {
		struct iovec local = {words, sizeof(words)};
		struct iovec remote = {(void *)(uintptr_t)from, sizeof(words)};
		long bytes;

		if (to - from < sizeof(words))
			local.iov_len = remote.iov_len = to - from;
		bytes = SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1,
				    &remote, 1, 0);
		for (long i = 0; i < bytes / 8; i++) {
			const struct swz_thunk *thunk = thunk_of(cold,
								 words[i]);

			if (thunk && (uint64_t)(uintptr_t)thunk->slot !=
					     from + 8 * (uint64_t)i)
				note_held(held, thunk);
			held->led += is_leaders(words[i]);
		}
		if (bytes != (long)remote.iov_len)
			return;
	}
}

static bool is_held(const struct held *held, const struct swz_thunk *thunk)
{
	for (uint32_t i = 0; i < held->count; i++)
		if (held->thunks[i] == thunk)
			return true;
	return held->all || (held->led > 0 && swz_thunk_follows(thunk));
}

/* ------------------------------------------------------------- all frames */

/* False: the frame is there, and its slot cannot be changed. */
static bool take_back(struct swz_thunk *thunk, int32_t pid)
{
	uint64_t word, real = thunk->return_address;

	if (!move_word(SYS_process_vm_readv, pid, &word, thunk->slot))
		return false;
	return word != swz_thunk_address(thunk) ||
	       move_word(SYS_process_vm_writev, pid, &real, thunk->slot);
}

/* The highest slot on the stack that a thread is on. */
static uint64_t outermost(const struct swz_thread_cold *cold, uint64_t from)
{
	uint64_t highest = 0;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		const struct swz_thunk *thunks = swz_arena_block_thunks(
			cold->blocks[b]);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++) {
			uint64_t slot = (uintptr_t)thunks[i].slot;

			if (slot > from && slot - from < MOST_STACK &&
			    slot > highest)
				highest = slot;
		}
	}
	return highest;
}

static void find_held(struct held *held, const struct swz_thread_cold *cold,
		      int32_t pid)
{
	uint64_t owner = cold->owner;
	uint64_t from = stack_pointer((uint32_t)owner);

	held->count = 0;
	held->led = 0;
	held->all = owner && !from && cold->block_count;
	if (owner && from) {
		uint64_t to = outermost(cold, from);

		from -= RED_ZONE;
		look_for_held(held, cold, pid, from, to);
		if (held->led)
			held->led -= led_slots(cold, from, to);
	}
}

static uint32_t take_back_block(uint32_t block, const struct held *held,
				int32_t pid)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);
	uint64_t alive = swz_block_alive(block, NULL, true);
	uint32_t left = 0;

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
		if (alive >> i & 1)
			left += is_held(held, &thunks[i]) ||
				!take_back(&thunks[i], pid);
	return left;
}

uint32_t swz_take_back_frames(void)
{
	const int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	const struct swz_thread_cold *cold;
	uint32_t left = 0;

	for (cold = swz_thread_first(); cold; cold = cold->next) {
		struct held held;

		find_held(&held, cold, pid);
		for (uint32_t b = 0; b < cold->block_count; b++)
			left += take_back_block(cold->blocks[b], &held, pid);
	}
	return left;
}
