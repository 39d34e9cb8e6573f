/* Where a thread has stopped: whether a library may be loaded there, what of it
 * a signal has interrupted, and which system call is made again. The places are
 * those of a child that stops itself (int3). */

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/resume_call.h"
#include "control/attach.h"
#include "control/target.h"
#include "tests/unit/run_suite.h"
#include "watch/proc_task.h"

/* ------------------------------------------------------------- its places */

__attribute__((noinline)) static void stop_here(void)
{
	__asm__ volatile("int3");
}

static int compare(const void *a, const void *b)
{
	stop_here();
	return *(const char *)a - *(const char *)b;
}

/* libc calls us, and holds nothing then. */
static void in_a_comparison(void)
{
	char text[] = "ba";

	qsort(text, 2, 1, compare);
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info;
	(void)size;
	(void)context;
	stop_here();
	return 1;
}

/* The dynamic linker's lock is held. */
static void in_a_list_of_modules(void)
{
	dl_iterate_phdr(visit, NULL);
}

static void handle(int number)
{
	(void)number;
	stop_here();
}

/* What a handler interrupts is not known: raise is libc's. */
static void in_a_handler_amid_libc(void)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
}

/* A place of ours that a signal interrupts: a fault. */
static void step_over(int number, siginfo_t *info, void *context)
{
	ucontext_t *place = context;

	(void)number;
	(void)info;
	stop_here();
	place->uc_mcontext.gregs[REG_RIP] += 2; /* ud2 */
}

void place_of_the_fault(void);

__attribute__((noinline)) static void in_a_handler_amid_us(void)
{
	struct sigaction action = {.sa_sigaction = step_over,
				   .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &action, NULL);
	__asm__ volatile(".globl place_of_the_fault\n"
			 "place_of_the_fault: ud2");
}

/* -------------------------------------------------------------- the child */

static pid_t child;
static struct swz_target target;
static struct swz_safe_places *places;
static struct user_regs_struct registers;

/* Up to its first SIGTRAP. */
static void lead_to(void (*place)(void))
{
	int status;

	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		place();
		_exit(0);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
	       WSTOPSIG(status) != SIGTRAP)
		ptrace(PTRACE_CONT, child, NULL,
		       (void *)(intptr_t)WSTOPSIG(status));
	ck_assert(WIFSTOPPED(status));
	ptrace(PTRACE_GETREGS, child, NULL, &registers);
	ck_assert(swz_target_open(&target, child));
	ck_assert(swz_target_read_mappings(&target));
	places = swz_safe_places_of(&target);
}

static void end(void)
{
	int status;

	swz_safe_places_free(places);
	swz_target_close(&target);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

static const struct {
	const char *name;
	void (*place)(void);
	bool safe;
} cases[] = {
	{"the program's own code", stop_here, true},
	{"called by libc", in_a_comparison, true},
	{"the dynamic linker's lock is held", in_a_list_of_modules, false},
	{"a handler, amid the program", in_a_handler_amid_us, true},
};

START_TEST(a_library_may_be_loaded)
{
	lead_to(cases[_i].place);
	ck_assert_msg(swz_place_is_safe(places, &registers) == cases[_i].safe,
		      "%s", cases[_i].name);
	end();
}
END_TEST

/* Amid libc, but in a system call: it has no lock then. Not so a nanosecond
 * later, says its instruction pointer. */
START_TEST(a_system_call_of_libc_is_safe_and_the_rest_is_not)
{
	uint64_t after_call;

	lead_to(in_a_handler_amid_libc);
	ck_assert(swz_place_is_safe(places, &registers));
	registers.orig_rax = UINT64_MAX;
	after_call = swz_target_symbol(&target, "qsort");
	ck_assert_uint_ne(after_call, 0);
	registers.rip = after_call;
	ck_assert(!swz_place_is_safe(places, &registers));
	end();
}
END_TEST

struct seen {
	uint64_t addresses[8];
	unsigned count;
};

static bool note(void *context, uint64_t address)
{
	struct seen *seen = context;

	seen->addresses[seen->count++] = address;
	return seen->count < 8;
}

START_TEST(finds_what_a_signal_has_interrupted)
{
	struct seen seen = {.count = 0};

	lead_to(in_a_handler_amid_us);
	swz_interrupted_each(&target, &registers, note, &seen);
	ck_assert_uint_eq(seen.count, 1);
	ck_assert_uint_eq(seen.addresses[0], (uintptr_t)&place_of_the_fault);
	end();
}
END_TEST

/* The handler's last instruction has taken the frame's first word off the
 * stack.
 */
START_TEST(finds_it_when_the_handler_has_returned)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
				       0,    0,    0x0f, 0x05};
	uint8_t there[sizeof(code)] = {0};
	struct seen seen = {.count = 0};
	unsigned steps = 0, found = 0;
	int status;

	lead_to(in_a_handler_amid_us);
	for (; steps < 100000 && found < 2; steps++) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFSTOPPED(status));
		ptrace(PTRACE_GETREGS, child, NULL, &registers);
		ck_assert(swz_target_read(&target, registers.rip, there,
					  sizeof(there)));
		if (found == 0 && memcmp(there, code, sizeof(code)) != 0)
			continue;
		seen.count = 0;
		swz_interrupted_each(&target, &registers, note, &seen);
		ck_assert_uint_eq(seen.count, 1);
		/* the handler has moved it past the fault */
		ck_assert_uint_eq(seen.addresses[0],
				  (uintptr_t)&place_of_the_fault + 2);
		found++;
	}
	ck_assert_uint_eq(found, 2);
	end();
}
END_TEST

START_TEST(finds_nothing_where_no_signal_came)
{
	struct seen seen = {.count = 0};

	lead_to(in_a_comparison);
	swz_interrupted_each(&target, &registers, note, &seen);
	ck_assert_uint_eq(seen.count, 0);
	end();
}
END_TEST

/* It goes on in the library when the handler returns, whatever that does now.
 */
START_TEST(who_has_interrupted_the_library_is_in_it)
{
	const struct swz_control_code none = {0, 0};
	struct swz_attached attached = {.problem = ""};
	struct swz_stopped thread = {.stopped = true};
	uint64_t place = (uintptr_t)&place_of_the_fault;

	lead_to(in_a_handler_amid_us);
	attached.target = target;
	thread.registers = registers;
	thread.registers.rip = swz_target_symbol(&target, "qsort");
	ck_assert(!swz_is_in_us(&attached, &none, &thread));
	for (size_t i = 0; i < target.mapping_count; i++) {
		struct swz_target_mapping *m = &target.mappings[i];

		if (place < m->start || place >= m->end)
			continue;
		free(m->path);
		m->path = strdup("/lib/libswizzle.so.0");
	}
	ck_assert(swz_is_in_us(&attached, &none, &thread));
	end();
}
END_TEST

/* ------------------------------------------------------------ system calls */

START_TEST(what_the_stop_has_interrupted_is_made_again)
{
	static const struct {
		int64_t result;
		bool again;
		uint64_t number;
	} calls[] = {
		{-512, true, SYS_read}, /* ERESTARTSYS */
		{-513, true, SYS_read}, /* ERESTARTNOINTR */
		{-514, true, SYS_read}, /* ERESTARTNOHAND */
		{-516, true, 219},      /* ERESTART_RESTARTBLOCK */
		{-EINTR, true, SYS_read}, {-EAGAIN, false, 0}, {17, false, 0},
	};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct user_regs_struct r = {.orig_rax = SYS_read,
					     .rax = (uint64_t)calls[i].result,
					     .rip = 0x1002,
					     .rdi = 5};
		struct user_regs_struct again;

		ck_assert_int_eq(swz_call_makes_again(&r, &again),
				 calls[i].again);
		if (!calls[i].again)
			continue;
		ck_assert_uint_eq(again.rax, calls[i].number);
		ck_assert_uint_eq(again.rip, 0x1000);
		ck_assert_uint_eq(again.rdi, 5);
		ck_assert_int_lt((int64_t)again.orig_rax, 0);
		/* not in a system call, the same number means nothing */
		r.orig_rax = UINT64_MAX;
		ck_assert(!swz_call_makes_again(&r, &again));
	}
}
END_TEST

/* The kernel has freed the descriptor before it waits for what close writes: it
 * may be another file's by now. */
START_TEST(a_close_that_was_interrupted_is_not_made_again)
{
	struct user_regs_struct r = {.orig_rax = SYS_close,
				     .rax = (uint64_t)-EINTR,
				     .rip = 0x1002,
				     .rdi = 5};
	struct user_regs_struct again;

	ck_assert(!swz_call_makes_again(&r, &again));
	/* (one that has not begun) */
	r.rax = (uint64_t)-512;
	ck_assert(swz_call_makes_again(&r, &again));
}
END_TEST

/* ----------------------------------------- what a stop has cut short goes on
 */

#define CODE (uintptr_t) swz_stub_resume

static uint64_t stack_words[1024];

/* This process's own thread, stopped in a call of NUMBER. */
static struct user_regs_struct in_call(uint64_t number, int64_t result)
{
	return (struct user_regs_struct){
		.orig_rax = number,
		.rax = (uint64_t)result,
		.rip = 0x1002,
		.eflags = 0x246,
		.rsp = (uintptr_t)(stack_words + 1000)};
}

static bool resumes_at(uint64_t first, uint64_t second,
		       const struct user_regs_struct *r,
		       struct user_regs_struct *again)
{
	const struct swz_cut_call cut = {
		.pid = getpid(), .tid = getpid(), .code = {first, second}};

	return swz_call_resume(&cut, r, again);
}

static bool resumes(const struct user_regs_struct *r,
		    struct user_regs_struct *again)
{
	return resumes_at(CODE, 0, r, again);
}

START_TEST(the_kernel_makes_a_call_again_that_ended_for_the_stop)
{
	static const struct {
		uint64_t number;
		int64_t result;
		bool again;
	} calls[] = {
		{SYS_epoll_wait, -EINTR, true}, {SYS_semop, -EINTR, true},
		{SYS_read, -512, false}, /* the kernel's own */
		{SYS_nanosleep, -516, false},   {SYS_close, -EINTR, false},
		{SYS_epoll_wait, 1, false},     {SYS_read, -EAGAIN, false},
		{UINT64_MAX, -EINTR, false},
	};

	for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct user_regs_struct r = in_call(calls[i].number,
						    calls[i].result);
		struct user_regs_struct again = r;

		ck_assert_int_eq(resumes(&r, &again), calls[i].again);
		if (calls[i].again) {
			r.rax = SWZ_CALL_ANEW;
			ck_assert_mem_eq(&again, &r, sizeof(r));
		}
	}
}
END_TEST

START_TEST(a_part_is_followed_by_the_rest)
{
	struct user_regs_struct r = in_call(SYS_write, 100), again, twice;
	const uint64_t *frame;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	r.rdi = (unsigned)pipes[1];
	r.rsi = 0x5000;
	r.rdx = 1000;
	ck_assert(resumes(&r, &again));
	ck_assert_uint_eq(again.rip, CODE + RESUME_REST + 2);
	ck_assert_uint_eq(again.orig_rax, SYS_write);
	ck_assert_uint_eq(again.rax, SWZ_CALL_ANEW);
	ck_assert_uint_eq(again.rsi, 0x5064);
	ck_assert_uint_eq(again.rdx, 900);
	frame = (const uint64_t *)(uintptr_t)again.rsp;
	ck_assert_uint_eq(frame[RESUME_SUM / 8], 100);
	ck_assert_uint_eq(frame[RESUME_RSI / 8], 0x5000);
	ck_assert_uint_eq(frame[RESUME_RDX / 8], 1000);
	ck_assert_uint_eq(frame[RESUME_FLAGS / 8], 0x246);
	ck_assert_uint_eq(frame[RESUME_STACK / 8], r.rsp - 136);
	ck_assert_uint_eq(*(uint64_t *)(uintptr_t)(r.rsp - 136), 0x1002);
	/* and once more, in the rest: the same frame */
	again.rax = 50;
	ck_assert(resumes(&again, &twice));
	ck_assert_uint_eq(twice.rsp, again.rsp);
	ck_assert_uint_eq(twice.rip, again.rip);
	ck_assert_uint_eq(twice.rsi, 0x5096);
	ck_assert_uint_eq(twice.rdx, 850);
	ck_assert_uint_eq(frame[RESUME_SUM / 8], 150);
	/* all is done */
	again.rax = 900;
	ck_assert(!resumes(&again, &twice));
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

/* Another program has been executed since, or the code was taken away. */
START_TEST(a_call_is_led_to_no_other_code)
{
	static const uint8_t zeros[RESUME_BYTES];
	struct user_regs_struct r = in_call(SYS_epoll_pwait2, -EINTR), again;
	const struct timespec limit = {1, 0};
	const uint64_t nowhere = 0x3000, empty = (uintptr_t)zeros;

	r.r10 = (uintptr_t)&limit;
	ck_assert(resumes_at(nowhere, 0, &r, &again));
	ck_assert_uint_eq(again.rip, r.rip);
	ck_assert_uint_eq(again.r10, r.r10);
	ck_assert(resumes_at(nowhere, empty, &r, &again));
	ck_assert_uint_eq(again.rip, r.rip);
	ck_assert(resumes_at(nowhere, CODE, &r, &again));
	ck_assert_uint_eq(again.rip, CODE + RESUME_REST + 2);
}
END_TEST

/* The number of the call is no result: write would have written 1 byte. */
START_TEST(a_call_that_is_about_to_be_made_again_is_no_part)
{
	static const uint8_t code[] = {0x0f, 0x05, 0x90, 0x90};
	struct user_regs_struct r = in_call(SYS_write, SYS_write), again;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	r.rdi = (unsigned)pipes[1];
	r.rdx = 1000;
	r.rip = (uintptr_t)code;
	ck_assert(!resumes(&r, &again));
	r.rax = SYS_restart_syscall;
	ck_assert(!resumes(&r, &again));
	/* behind it, 1 is how much was written */
	r.rax = 1;
	r.rip += 2;
	ck_assert(resumes(&r, &again));
	ck_assert_uint_eq(again.rdx, 999);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

START_TEST(a_part_of_vectors_is_followed_by_the_rest)
{
	struct iovec v[3] = {{(void *)0x5000, 60},
			     {(void *)0x6000, 60},
			     {(void *)0x7000, 60}};
	struct user_regs_struct r = in_call(SYS_writev, 70), again;
	const struct iovec *rest;
	int pipes[2];

	ck_assert_int_eq(pipe(pipes), 0);
	r.rdi = (unsigned)pipes[1];
	r.rsi = (uintptr_t)v;
	r.rdx = 3;
	ck_assert(resumes(&r, &again));
	ck_assert_uint_eq(again.rdx, 2);
	rest = (const struct iovec *)(uintptr_t)again.rsi;
	ck_assert_ptr_eq(rest[0].iov_base, (void *)0x600a);
	ck_assert_uint_eq(rest[0].iov_len, 50);
	ck_assert_ptr_eq(rest[1].iov_base, (void *)0x7000);
	/* it lies between the frame and the address to go to */
	ck_assert_uint_ge(again.rsi, again.rsp + RESUME_STACK + 8);
	ck_assert_uint_le(again.rsi + 2 * sizeof(*v), r.rsp - 136);
	close(pipes[0]);
	close(pipes[1]);
}
END_TEST

/* A file's end, a full disk, what does not wait: none is for a stop. */
START_TEST(what_is_short_by_itself_stays_short)
{
	struct user_regs_struct r = in_call(SYS_write, 100), again;
	FILE *file = tmpfile();
	int pipes[2], sockets[2];

	ck_assert_int_eq(pipe2(pipes, O_NONBLOCK), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	r.rdx = 1000;
	r.rdi = (unsigned)fileno(file);
	ck_assert(!resumes(&r, &again));
	r.rdi = (unsigned)pipes[1];
	ck_assert(!resumes(&r, &again));
	r.rdi = UINT32_MAX;
	ck_assert(!resumes(&r, &again));
	r.orig_rax = SYS_recvfrom;
	r.rdi = (unsigned)sockets[0];
	ck_assert(!resumes(&r, &again));
	r.r10 = MSG_WAITALL | MSG_PEEK;
	ck_assert(!resumes(&r, &again));
	r.r10 = MSG_WAITALL;
	ck_assert(resumes(&r, &again));
	fclose(file);
	for (int i = 0; i < 2; i++) {
		close(pipes[i]);
		close(sockets[i]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control/places");
	TCase *all = tcase_create("places");

	tcase_add_loop_test(all, a_library_may_be_loaded, 0,
			    sizeof(cases) / sizeof(*cases));
	tcase_add_test(all, a_system_call_of_libc_is_safe_and_the_rest_is_not);
	tcase_add_test(all, finds_what_a_signal_has_interrupted);
	tcase_add_test(all, finds_it_when_the_handler_has_returned);
	tcase_add_test(all, finds_nothing_where_no_signal_came);
	tcase_add_test(all, who_has_interrupted_the_library_is_in_it);
	tcase_add_test(all, what_the_stop_has_interrupted_is_made_again);
	tcase_add_test(all, a_close_that_was_interrupted_is_not_made_again);
	tcase_add_test(all,
		       the_kernel_makes_a_call_again_that_ended_for_the_stop);
	tcase_add_test(all, a_part_is_followed_by_the_rest);
	tcase_add_test(all, a_call_is_led_to_no_other_code);
	tcase_add_test(all, a_call_that_is_about_to_be_made_again_is_no_part);
	tcase_add_test(all, a_part_of_vectors_is_followed_by_the_rest);
	tcase_add_test(all, what_is_short_by_itself_stays_short);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
