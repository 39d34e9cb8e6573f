#include "watch/unwind/signal_frame.h"

enum {
	LONG_MOVE = 7,
	SHORT_MOVE = 5,
	/* in struct ucontext, which rsp points to when the handler has
	 * returned: the registers r8, r9, ... rip (the kernel's struct sigcontext) */
	SAVED_REGISTERS = 40
};

static bool is_call_at(bool (*read)(void *context, uint64_t address, void *into,
				    size_t size),
		       void *context, uint64_t address, size_t move)
{
	/* mov $15, %rax or %eax; syscall */
	static const uint8_t with_long[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
					    0,    0,    0x0f, 0x05};
	static const uint8_t with_short[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	const uint8_t *wanted = move == LONG_MOVE ? with_long : with_short;
	uint8_t code[sizeof(with_long)];
	size_t size = move + 2;

	return read(context, address, code, size) &&
	       memcmp(code, wanted, size) == 0;
}

bool swz_is_signal_return(bool (*read)(void *context, uint64_t address,
				       void *into, size_t size),
			  void *context, uint64_t pc)
{
	static const size_t moves[] = {LONG_MOVE, SHORT_MOVE};
	size_t i;

	for (i = 0; i < 2; i++)
		if (is_call_at(read, context, pc + 1, moves[i]) ||
		    is_call_at(read, context, pc, moves[i]) ||
		    is_call_at(read, context, pc - moves[i], moves[i]))
			return true;
	return false;
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
