#include "watch/unwind/signal_frame.h"

/* In struct ucontext, which rsp points to when the handler has returned: the
 * registers r8, r9, ... rip (the kernel's struct sigcontext). */
enum { SAVED_REGISTERS = 40 };

/* mov $15,%rax or %eax; syscall */
static const uint8_t long_call[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
				    0,    0,    0x0f, 0x05};
static const uint8_t short_call[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

bool swz_is_signal_return(const uint8_t *code)
{
	/* at the first instruction, or at the second */
	return !memcmp(code, long_call, sizeof(long_call)) ||
	       !memcmp(code - 7, long_call, sizeof(long_call)) ||
	       !memcmp(code, short_call, sizeof(short_call)) ||
	       !memcmp(code - 5, short_call, sizeof(short_call));
}

enum swz_step swz_step_signal(struct swz_registers *registers,
			      const struct swz_stack *stack)
{
	static const uint8_t order[] = {SWZ_R8,  SWZ_R9,  SWZ_R10, SWZ_R11,
					SWZ_R12, SWZ_R13, SWZ_R14, SWZ_R15,
					SWZ_DI,  SWZ_SI,  SWZ_BP,  SWZ_BX,
					SWZ_DX,  SWZ_AX,  SWZ_CX,  SWZ_SP};
	uint64_t at = registers->sp + SAVED_REGISTERS;
	struct swz_registers saved;
	enum swz_step step;
	size_t i;

	for (i = 0; i < sizeof(order); i++, at += sizeof(uint64_t)) {
		step = swz_stack_load(stack, at, &saved.general[order[i]]);
		if (step != SWZ_STEP_DONE)
			return step;
	}
	step = swz_stack_load(stack, at, &saved.ip);
	if (step == SWZ_STEP_DONE)
		*registers = saved;
	return step;
}
