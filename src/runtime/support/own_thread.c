/* Thread-local storage as glibc and its linker lay it out (variant II of Ulrich
 * Drepper's "ELF Handling For Thread-Local Storage"): the control block begins
 * at the thread pointer, with its own address at 0 and at 16, and the variables
 * of modules that are there from the start lie below it, at the same distance
 * in all threads. Ours are among those (-ftls-model=initial-exec). So zeros
 * around a pointer of our own will do; variables of others are never read. */

#include "runtime/support/own_thread.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"

#define PAGE UINT64_C(4096)
#define BELOW (UINT64_C(64) << 10) /* of the thread pointer */
#define ABOVE (UINT64_C(16) << 10)

struct control_block {
	void *self;
	void *vector;
	void *thread;
	uint64_t rest[2];
	uint64_t stack_guard, pointer_guard;
};

static long clone_thread(char *stack_top, struct swz_own_thread *thread,
			 struct control_block *block, void (*function)(void))
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		     CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
		     CLONE_CHILD_CLEARTID | CLONE_SETTLS | CLONE_UNTRACED;
	register long r10 __asm__("r10") = (long)&thread->alive;
	register long r8 __asm__("r8") = (long)block;
	long result;

	__asm__ volatile(
		"syscall\n\t"
		"test %%rax, %%rax\n\t"
		"jnz 1f\n\t"
		"xor %%ebp, %%ebp\n\t"
		"call *%[function]\n\t"
		"xor %%edi, %%edi\n\t"
		"mov %[exit], %%eax\n\t"
		"syscall\n"
		"1:"
		: "=a"(result)
		: "a"(SYS_clone), "D"(flags), "S"(stack_top),
		  "d"(&thread->alive), "r"(r10),
		  "r"(r8), [function] "r"(function), [exit] "i"(SYS_exit)
		: "rcx", "r11", "memory");
	return result;
}

long swz_own_thread_start(struct swz_own_thread *thread, void (*function)(void))
{
	const struct control_block *here = __builtin_thread_pointer();
	struct control_block *block;
	char *memory;
	long tid;

	memory = swz_sys_mmap(
		NULL, SWZ_OWN_THREAD_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!memory)
		return -ENOMEM;
	if (swz_sys_mprotect(memory, PAGE, PROT_NONE) != 0) {
		swz_sys_munmap(memory, SWZ_OWN_THREAD_BYTES);
		return -ENOMEM;
	}
	block = (struct control_block *)(void *)(memory + SWZ_OWN_THREAD_BYTES -
						 ABOVE);
	block->self = block->thread = block;
	block->stack_guard = here->stack_guard;
	block->pointer_guard = here->pointer_guard;
	thread->memory = memory;
	tid = clone_thread((char *)block - BELOW - 64, thread, block, function);
	if (tid < 0) {
		swz_sys_munmap(memory, SWZ_OWN_THREAD_BYTES);
		thread->memory = NULL;
		return tid;
	}
	thread->tid = (int32_t)tid;
	thread->pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	return 0;
}

bool swz_own_thread_lives(const struct swz_own_thread *thread)
{
	/* acquire: the kernel clears it when the thread is off its stack */
	return atomic_load_explicit(&thread->alive, memory_order_acquire) &&
	       thread->pid == (int32_t)SWZ_SYSCALL(SYS_getpid);
}

void swz_own_thread_free(struct swz_own_thread *thread)
{
	if (thread->memory)
		swz_sys_munmap(thread->memory, SWZ_OWN_THREAD_BYTES);
	thread->memory = NULL;
}
