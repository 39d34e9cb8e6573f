/* Where a thread has stopped: whether a library may be loaded there, what of it
 * a signal has interrupted, and which system call is made again. The places are
 * those of a child that stops itself (int3). */

#include <check.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "control/interrupted.h"
#include "control/our_code.h"
#include "control/safe_place.h"
#include "tests/unit/run_suite.h"
#include "watch/interrupted_call.h"

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

__attribute__((noinline, noclone)) static void in_a_handler_amid_us(void)
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
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
