/* An initial-exec access is two loads, of which the second waits for the first
 *
 *     48 8b 05+8r rel32     mov swz_thread_self@gottpoff(%rip), %r
 *     64 48 8b 00+9r        mov %fs:(%r), %r
 *
 * and all else in a hook waits for them: 5 cycles, of which a processor on
 * which rdtsc is serializing hides none. With the distance itself in the
 * instruction, for which there is no dynamic relocation, it is one:
 *
 *     64 48 8b 04+8r 25 disp32     mov %fs:disp32, %r
 *     66 90                        nop
 */

#include "runtime/hooks/thread_access.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/module/text.h"
#include "runtime/record/thread.h"

#define PAGE ((size_t)4096)
#define ACCESS_BYTES 11
#define FS_PREFIX 0x64

/* From the linker script: the hooks have pages of their own. */
extern char __ehdr_start[], swz_hooks_start[], swz_hooks_end[];
/* Distances from themselves to the accesses (GET_THREAD in
 * asm/x86_64/macros.h). */
extern const int32_t swz_thread_accesses_start[], swz_thread_accesses_end[];

/* Of what the linker puts one symbol before, and one behind. */
static size_t bytes_between(const void *start, const void *end)
{
	return (uintptr_t)end - (uintptr_t)start;
}

static void shorten(uint8_t *access, int32_t distance)
{
	uint8_t reg = (access[2] >> 3) & 7;
	uint8_t code[ACCESS_BYTES] = {
		FS_PREFIX, 0x48, 0x8b, (uint8_t)(0x04 | reg << 3),
		0x25,      0,    0,    0,
		0,         0x66, 0x90,
	};

	memcpy(code + 5, &distance, sizeof(distance));
	memcpy(access, code, sizeof(code));
}

bool swz_thread_access_shorten(void)
{
	size_t bytes = bytes_between(swz_hooks_start, swz_hooks_end);
	size_t count = bytes_between(swz_thread_accesses_start,
				     swz_thread_accesses_end) /
		       sizeof(swz_thread_accesses_start[0]);
	const char *self = (const char *)&swz_thread_self;
	const char *pointer = __builtin_thread_pointer();
	int32_t distance;

	/* gcc 16 takes a distance of 32 bits from a GOT entry with a load of 32
	 * bits, for which the assembler (binutils 2.47) knows no relocation */
	__asm__("" : "+r"(self));
	distance = (int32_t)(self - pointer);
	/* done before a reset: somebody may be executing it */
	if (count && ((const uint8_t *)swz_thread_accesses_start +
		      swz_thread_accesses_start[0])[0] == FS_PREFIX)
		return true;
	if (!swz_page_may_be_executed(__ehdr_start) ||
	    swz_sys_mprotect(swz_hooks_start, bytes, PROT_READ | PROT_WRITE))
		return true;
	SWZ_SYSCALL(SYS_madvise, swz_hooks_start, bytes, MADV_POPULATE_WRITE);
	for (size_t i = 0; i < count; i++) {
		const int32_t *from = &swz_thread_accesses_start[i];

		shorten((uint8_t *)(uintptr_t)from + *from, distance);
	}
	/* twice: memory may have been short */
	return !swz_sys_mprotect(swz_hooks_start, bytes,
				 PROT_READ | PROT_EXEC) ||
	       !swz_sys_mprotect(swz_hooks_start, bytes, PROT_READ | PROT_EXEC);
}
