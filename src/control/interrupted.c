/* The kernel's frame begins with the address that the handler returns to,
 * libc's `mov $15, %rax; syscall`. Then comes the ucontext_t (rt_sigframe in
 * arch/x86/include/asm/sigframe.h). Other words of the stack prove nothing:
 * what hooks have left there lies in frames that came later, too. */

#include "control/interrupted.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "profile/support/memory.h"
#include "watch/proc_task.h"

#define MOST_BYTES (UINT64_C(1) << 20)
#define MOST_RETURNS 8u
#define MOST_CODE (UINT64_C(64) << 20) /* libc has 2 MiB */

#define CALL_AT 7u /* in the code */

static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* Where libc has that. */
static struct {
	int32_t pid;
	uint64_t libc; /* where that is mapped */
	uint64_t at[MOST_RETURNS];
	size_t count;
} returns;

static void find_in(const struct swz_target *t,
		    const struct swz_target_mapping *m)
{
	size_t bytes = m->end - m->start;
	uint8_t *text, *at;

	if (bytes > MOST_CODE)
		return;
	at = text = swz_allocate(1, bytes);
	if (swz_target_read(t, m->start, text, bytes))
		while (returns.count < MOST_RETURNS &&
		       (at = memmem(at, (size_t)(text + bytes - at), code,
				    sizeof(code))) != NULL) {
			returns.at[returns.count++] = m->start +
						      (uint64_t)(at - text);
			at++;
		}
	free(text);
}

static bool is_of_libc(const struct swz_target_mapping *m)
{
	const char *base = strrchr(m->path, '/');

	return m->executable && base &&
	       (!strncmp(base, "/libc.so", 8) || !strncmp(base, "/libc-", 6) ||
		!strncmp(base, "/libpthread", 11));
}

/* (Its code may be mapped in several pieces.) */
static void find_returns(const struct swz_target *t)
{
	bool found = false;

	for (size_t i = 0; i < t->mapping_count; i++) {
		const struct swz_target_mapping *m = &t->mappings[i];

		if (!is_of_libc(m))
			continue;
		if (!found && returns.pid == t->pid && returns.libc == m->start)
			return;
		if (!found) {
			returns.count = 0;
			returns.pid = t->pid;
			returns.libc = m->start;
		}
		found = true;
		find_in(t, m);
	}
}

static bool is_return(uint64_t word)
{
	for (size_t i = 0; i < returns.count; i++)
		if (returns.at[i] == word)
			return true;
	return false;
}

/* Whether a handler has returned, and the system call that ends it is still to
 * be made: its frame lies just below the stack pointer then. */
static bool is_returning(uint64_t ip)
{
	return is_return(ip) || is_return(ip - CALL_AT);
}

/* The stack's end, as far as it is known: what was mapped behind it may be gone
 * by now. */
static uint64_t end_of(const struct swz_target *t, uint64_t stack)
{
	const struct swz_target_mapping *m = swz_target_mapping_at(t, stack);

	return m && m->end < stack + MOST_BYTES ? m->end : stack + MOST_BYTES;
}

/* What is behind the frame's first word. The same word is in what sigaction(2)
 * was given, and may have been left on the stack: a frame has a code segment,
 * too, the thread's own. */
static bool read_frame(const struct swz_target *t,
		       const struct user_regs_struct *r, uint64_t frame,
		       uint64_t *address)
{
	gregset_t registers;

	if (!swz_target_read(t, frame + offsetof(ucontext_t, uc_mcontext.gregs),
			     registers, sizeof(registers)) ||
	    (uint16_t)registers[REG_CSGSFS] != (uint16_t)r->cs)
		return false;
	*address = (uint64_t)registers[REG_RIP];
	return true;
}

void swz_interrupted_each(const struct swz_target *t,
			  const struct user_regs_struct *r,
			  bool (*visit)(void *context, uint64_t address),
			  void *context)
{
	static uint64_t words[8192];
	uint64_t at = r->rsp & -8ull, end = end_of(t, r->rsp);
	size_t bytes, wanted;

	find_returns(t);
	if (!returns.count)
		return;
	if (is_returning(r->rip))
		at -= 8;
	do {
		wanted = end - at < sizeof(words) ? end - at : sizeof(words);
		bytes = swz_proc_memory(t->pid, at, words, wanted);
		for (size_t i = 0; i < bytes / 8; i++) {
			uint64_t address;

			if (!is_return(words[i]) ||
			    !read_frame(t, r, at + 8 * i + 8, &address))
				continue;
			if (!visit(context, address))
				return;
		}
		at += bytes;
	} while (bytes == wanted && at < end);
}
