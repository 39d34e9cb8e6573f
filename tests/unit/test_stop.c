/* All threads of another process stand while it is stopped: also those that
 * come while others go. */

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/target.h"
#include "tests/unit/run_suite.h"
#include "watch/proc_task.h"

#define STOPS 1500
#define LOOK_NS 300000

/* Shared with the child. */
static _Atomic unsigned long *steps;

static pthread_attr_t attributes;

/* Makes the next one, and ends: there are one or two at any time. */
static void *link_of_chain(void *nothing)
{
	pthread_t next;

	++*steps;
	while (pthread_create(&next, &attributes, link_of_chain, NULL))
		;
	return nothing;
}

_Noreturn static void make_chain(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, 65536);
	link_of_chain(NULL);
	for (;;)
		pause();
}

struct look {
	struct swz_stop stop;
	pid_t child;
	enum swz_stop_result result;
	unsigned long before, after;
};

static void look(void *context)
{
	struct look *l = context;

	l->result = swz_stop_all(&l->stop, l->child, 0);
	if (l->result != SWZ_STOP_DONE)
		return;
	l->before = *steps;
	swz_watch_rest(LOOK_NS);
	l->after = *steps;
	(void)swz_stop_end(&l->stop);
}

START_TEST(threads_that_make_the_next_and_end_are_all_stopped)
{
	struct look l = {.result = SWZ_STOP_DONE};
	unsigned stopped = 0;
	pid_t child;
	int status;

	steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (child == 0)
		make_chain();
	while (!*steps)
		swz_watch_rest(1000000);
	l.child = child;
	for (unsigned i = 0; i < STOPS; i++) {
		swz_stop_session(look, &l);
		/* (they may come too fast for a machine that has much to do) */
		ck_assert(l.result == SWZ_STOP_DONE ||
			  l.result == SWZ_STOP_LATE);
		if (l.result != SWZ_STOP_DONE)
			continue;
		ck_assert_uint_eq(l.after, l.before);
		stopped++;
	}
	ck_assert_uint_ge(stopped, 1);
	swz_stop_free(&l.stop);
	kill(child, SIGKILL);
	while (waitpid(child, &status, 0) == child && !WIFSIGNALED(status))
		;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control/stop");
	TCase *all = tcase_create("stop");

	tcase_set_timeout(all, 60);
	tcase_add_test(all, threads_that_make_the_next_and_end_are_all_stopped);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
