#include "execute.h"

/* The code ends by jumping to a stub of the room, which notes its number in
 * memory and jumps to execute_leave: nothing but memory changes on the way, so
 * the state that is stored is the state that the code left. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

_Static_assert(offsetof(struct machine_state, registers) == 2752, "see asm");
_Static_assert(offsetof(struct machine_state, flags) == 2880, "see asm");

void execute_enter(struct machine_state *state, const void *entry);
void execute_leave(void);

/* clang-format off */
__asm__(
"	.text\n"
"	.globl	execute_enter\n"
"	.type	execute_enter, @function\n"
"execute_enter:\n"
"	push	%rbx\n"
"	push	%rbp\n"
"	push	%r12\n"
"	push	%r13\n"
"	push	%r14\n"
"	push	%r15\n"
"	mov	%rsp, execute_stack(%rip)\n"
"	mov	%rdi, execute_state(%rip)\n"
"	mov	%rsi, execute_entry(%rip)\n"
"	mov	$0xe7, %eax		# x87, SSE, AVX, AVX-512\n"
"	xor	%edx, %edx\n"
"	xrstor64 (%rdi)\n"
"	pushq	2880(%rdi)\n"
"	popfq\n"
"	mov	2752(%rdi), %rax\n"
"	mov	2760(%rdi), %rcx\n"
"	mov	2768(%rdi), %rdx\n"
"	mov	2776(%rdi), %rbx\n"
"	mov	2784(%rdi), %rsp\n"
"	mov	2792(%rdi), %rbp\n"
"	mov	2800(%rdi), %rsi\n"
"	mov	2816(%rdi), %r8\n"
"	mov	2824(%rdi), %r9\n"
"	mov	2832(%rdi), %r10\n"
"	mov	2840(%rdi), %r11\n"
"	mov	2848(%rdi), %r12\n"
"	mov	2856(%rdi), %r13\n"
"	mov	2864(%rdi), %r14\n"
"	mov	2872(%rdi), %r15\n"
"	mov	2808(%rdi), %rdi\n"
"	jmp	*execute_entry(%rip)\n"
"	.size	execute_enter, . - execute_enter\n"
"	.globl	execute_leave\n"
"	.type	execute_leave, @function\n"
"execute_leave:\n"
"	mov	%rax, execute_entry(%rip)\n"
"	mov	execute_state(%rip), %rax\n"
"	mov	%rcx, 2760(%rax)\n"
"	mov	%rdx, 2768(%rax)\n"
"	mov	%rbx, 2776(%rax)\n"
"	mov	%rsp, 2784(%rax)\n"
"	mov	%rbp, 2792(%rax)\n"
"	mov	%rsi, 2800(%rax)\n"
"	mov	%rdi, 2808(%rax)\n"
"	mov	%r8, 2816(%rax)\n"
"	mov	%r9, 2824(%rax)\n"
"	mov	%r10, 2832(%rax)\n"
"	mov	%r11, 2840(%rax)\n"
"	mov	%r12, 2848(%rax)\n"
"	mov	%r13, 2856(%rax)\n"
"	mov	%r14, 2864(%rax)\n"
"	mov	%r15, 2872(%rax)\n"
"	mov	execute_stack(%rip), %rsp\n"
"	pushfq\n"
"	popq	2880(%rax)\n"
"	cld\n"
"	mov	%rax, %rdi\n"
"	mov	execute_entry(%rip), %rax\n"
"	mov	%rax, 2752(%rdi)\n"
"	mov	$0xe7, %eax\n"
"	xor	%edx, %edx\n"
"	xsave64	(%rdi)\n"
"	fninit\n"
"	pop	%r15\n"
"	pop	%r14\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbp\n"
"	pop	%rbx\n"
"	ret\n"
"	.size	execute_leave, . - execute_leave\n"
"	.local	execute_stack, execute_state, execute_entry\n"
"	.comm	execute_stack, 8, 8\n"
"	.comm	execute_state, 8, 8\n"
"	.comm	execute_entry, 8, 8\n"
);
/* clang-format on */

enum {
	ROOM_ENDED_AT = 0x2800, /* offset of the number that a stub notes */
	ROOM_NOTED = 48,        /* in data: the return address of the callee */
	ROOM_JUMP_TARGET = 64,
	ROOM_CALL_TARGET = 72
};

bool room_open(struct room *room, uint64_t base)
{
	void *wanted = (void *)(uintptr_t)base;

	room->base = mmap(
		wanted, ROOM_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (room->base != wanted) {
		if (room->base != MAP_FAILED)
			munmap(room->base, ROOM_BYTES);
		return false;
	}
	room->code = room->base + ROOM_CODE;
	room->data = room->code + ROOM_DATA;
	return true;
}

void room_close(struct room *room)
{
	munmap(room->base, ROOM_BYTES);
}

/* movb $number, ended_at(%rip); jmp *0f(%rip); 0: .quad execute_leave */
static void put_end(struct room *room, uint8_t *at, uint8_t number)
{
	uint8_t stub[] = {0xc6, 0x05, 0, 0, 0, 0, number,
			  0xff, 0x25, 0, 0, 0, 0};
	void (*leave)(void) = execute_leave;
	int32_t distance = (int32_t)(room->base + ROOM_ENDED_AT - (at + 7));

	memcpy(stub + 2, &distance, sizeof(distance));
	memcpy(at, stub, sizeof(stub));
	memcpy(at + sizeof(stub), &leave, sizeof(leave));
}

/* mov (%rsp),%rax; mov %rax, noted(%rip); ret */
static void put_callee(struct room *room)
{
	uint8_t callee[] = {0x48, 0x8b, 0x04, 0x24, 0x48, 0x89,
			    0x05, 0,    0,    0,    0,    0xc3};
	uint8_t *at = room->code + ROOM_CALLEE;
	int32_t distance = (int32_t)(room->data + ROOM_NOTED - (at + 11));

	memcpy(callee + 7, &distance, sizeof(distance));
	memcpy(at, callee, sizeof(callee));
}

static uint64_t scramble(uint64_t value)
{
	value ^= value >> 31;
	value *= UINT64_C(0x9e3779b97f4a7c15);
	return value ^ value >> 29;
}

void room_furnish(struct room *room, const uint8_t *code, size_t size,
		  size_t at_least, uint64_t seed)
{
	uint8_t *end = room->code + (size > at_least ? size : at_least);
	uint64_t jump_target = (uintptr_t)room->code + ROOM_FAR;
	uint64_t call_target = (uintptr_t)room->code + ROOM_CALLEE;
	size_t i;

	memset(room->base, 0xcc, ROOM_BYTES);
	for (i = 0; i < 32; i++) {
		uint64_t value = scramble(seed + i + 1);

		memcpy(room->data + 8 * i, &value, sizeof(value));
	}
	memcpy(room->data + ROOM_JUMP_TARGET, &jump_target, 8);
	memcpy(room->data + ROOM_CALL_TARGET, &call_target, 8);
	put_callee(room);
	put_end(room, room->code + ROOM_BACK, 3);
	put_end(room, room->code + ROOM_FAR, 2);
	put_end(room, room->code + ROOM_SHORT, 1);
	memcpy(room->code, code, size);
	put_end(room, end, 0);
}

unsigned room_run(struct room *room, const void *entry,
		  struct machine_state *state)
{
	room->base[ROOM_ENDED_AT] = 0xff;
	execute_enter(state, entry);
	return room->base[ROOM_ENDED_AT];
}

/* ------------------------------------------------------------------ guard */

static struct execute_fault *volatile guarded;
const uint8_t *execute_watch;

#define TRAP_NT_AC UINT64_C(0x44100)

/* Of what faulted. */
static uint64_t stack_pointer;

/* Goes on at execute_leave, which stores all registers as they are, but for the
 * stack pointer: that may be no address, to which not every virtual machine
 * returns from a signal. */
static void note_fault(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	if (!guarded) { /* a fault of the test's own */
		dprintf(2, "signal %d at %#llx, of the test itself\n", signal,
			c->uc_mcontext.gregs[REG_RIP]);
		if (execute_watch)
			for (unsigned i = 0; i < 24; i++)
				dprintf(2, " %02x", execute_watch[i]);
		dprintf(2, "\n");
		_exit(98);
	}
	guarded->signal = signal;
	guarded->at = (uint64_t)c->uc_mcontext.gregs[REG_RIP];
	guarded->address = signal == SIGVTALRM
				   ? 0
				   : (uint64_t)(uintptr_t)info->si_addr;
	guarded = NULL;
	stack_pointer = (uint64_t)c->uc_mcontext.gregs[REG_RSP];
	c->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&stack_pointer;
	c->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_NT_AC;
	c->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)execute_leave;
}

extern const char __executable_start[], etext[];

static volatile sig_atomic_t alarms; /* in this run */

/* An alarm counts in the guarded code only, not on the way to it; and the first
 * one may come at any time. */
static void note_alarm(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	const char *at = (const char *)(uintptr_t)c->uc_mcontext.gregs[REG_RIP];

	if (guarded && (at < __executable_start || at >= etext) && alarms++ > 0)
		note_fault(signal, info, context);
}

static void install_guard(void)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	static const struct itimerval tenth = {{0, 100000}, {0, 100000}};
	static _Alignas(64) char stack[64 << 10];
	struct sigaction action = {.sa_sigaction = note_fault,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	static pid_t installed;

	if (installed == getpid())
		return;
	installed = getpid();
	sigfillset(&action.sa_mask);
	if (sigaltstack(&alternate, NULL) != 0)
		abort();
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	action.sa_sigaction = note_alarm;
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &tenth, NULL);
}

unsigned room_run_guarded(struct room *room, const void *entry,
			  struct machine_state *state,
			  struct execute_fault *fault)
{
	install_guard();
	memset(fault, 0, sizeof(*fault));
	room->base[ROOM_ENDED_AT] = ROOM_FAULT;
	alarms = 0;
	guarded = fault;
	execute_enter(state, entry);
	guarded = NULL;
	if (fault->signal)
		state->registers[RSP] = stack_pointer;
	return room->base[ROOM_ENDED_AT];
}
