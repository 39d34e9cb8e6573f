/* Tells valgrind about a stack of ours. It sees the program's stack pointer
 * change, and takes a change of less than 2 MiB for a stack that grows or
 * shrinks: what lies between is undefined to it then, or not to be accessed. Of
 * a thread that would be much, its descriptor for instance. A stack that it was
 * told about is another one. */

#ifndef SWZ_RUNTIME_HOOKS_STACK_REQUEST_H
#define SWZ_RUNTIME_HOOKS_STACK_REQUEST_H

#include <stdint.h>

#define SWZ_REQUEST_STACK_REGISTER 0x1501u
#define SWZ_REQUEST_DRD_THREAD_ID 0x44520000u /* 'D', 'R' and two zeros */

/* A client request of valgrind.h: a pointer to its words in %rax, and four
 * rotations of %rdi that come to nothing. Processors find in them and in the
 * exchange an effect on the flags, no more. Returns valgrind's answer, or 0. */
static inline uint64_t swz_client_request(uint64_t what, uintptr_t first,
					  uintptr_t second)
{
	const uint64_t words[6] = {what, first, second};
	uint64_t answer = 0;

	__asm__ volatile("rolq $3, %%rdi\n\t"
			 "rolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\t"
			 "rolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(answer)
			 : "a"(words)
			 : "cc", "memory");
	return answer;
}

/* LOW and TOP: the addresses between which the stack pointer will be, both
 * included. Not said to DRD, which would take the stack for the only one of the
 * thread that says so, and stop with an assertion when that ends. */
static inline void swz_stack_announce(const char *low, const char *top)
{
	if (swz_client_request(SWZ_REQUEST_DRD_THREAD_ID, 0, 0) == 0)
		swz_client_request(SWZ_REQUEST_STACK_REGISTER, (uintptr_t)low,
				   (uintptr_t)top);
}

#endif
