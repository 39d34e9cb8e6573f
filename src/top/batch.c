#include "top/batch.h"

#include <errno.h>
#include <locale.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "top/back_traces.h"
#include "top/process_list.h"
#include "watch/clock.h"

/* Waits until FD can be read or it is UNTIL_NS. False: the user wants the end.
 */
static bool wait_for(int fd, int ending, uint64_t until_ns)
{
	struct pollfd fds[] = {{ending, POLLIN, 0}, {fd, POLLIN, 0}};

	for (;;) {
		uint64_t now = swz_watch_now();
		int ms = 0;

		if (fd >= 0)
			ms = -1;
		else if (now < until_ns)
			ms = (int)((until_ns - now + 999999) / 1000000);
		else
			return true;
		if (poll(fds, 2, ms) < 0 && errno != EINTR)
			return false;
		if (fds[0].revents)
			return false;
		if (fds[1].revents)
			return true;
	}
}

static struct swz_style find_style(void)
{
	struct swz_style style = {.width = 0};
	struct winsize size;

	setlocale(LC_CTYPE, "");
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (isatty(STDOUT_FILENO) &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}

/* The last round may be shorter, when all that was watched has ended. */
#define LOOK_NS 20000000u

static bool wait_for_round(struct swz_top_session *s, int ending,
			   uint64_t until_ns)
{
	for (;;) {
		uint64_t now = swz_watch_now();
		uint64_t next = now + LOOK_NS < until_ns ? now + LOOK_NS
							 : until_ns;

		if (!wait_for(-1, ending, next))
			return false;
		swz_top_session_look(s);
		if (next == until_ns || swz_top_session_has_ended(s))
			return true;
	}
}

static int open_ending(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

bool swz_top_batch_list(const struct swz_top_options *options)
{
	const struct swz_style style = find_style();
	uint64_t rounds = options->rounds ? options->rounds : 1;
	struct swz_process_list list = {0};
	int ending = open_ending();
	bool good = true;

	swz_process_list_read(&list);
	for (uint64_t i = 0; good && i < rounds; i++) {
		if (!wait_for(-1, ending, list.read_ns + options->delay_ns))
			break;
		swz_process_list_read(&list);
		swz_process_list_print(stdout, &list, &style);
		good = fflush(stdout) == 0 && !ferror(stdout);
	}
	swz_process_list_free(&list);
	return good;
}

bool swz_top_batch(struct swz_top_session *s)
{
	const struct swz_back_trace_options options = {s->options.min_percent,
						       s->options.back_percent};
	const struct swz_style style = find_style();
	int ending = open_ending();
	bool going = true;
	uint64_t next;

	if (s->sampler.why_pause)
		fprintf(stderr,
			"swizzle: sampling by pauses (--engine pause): %s\n",
			s->sampler.why_pause);
	/* exact counts: the first round is more than what there was before */
	if (!s->live.samples)
		swz_top_session_take(s);
	next = swz_watch_now();
	for (uint64_t i = 0; going && (!i || !s->ended); i++) {
		int fd;

		if (s->options.rounds && i >= s->options.rounds)
			break;
		next += s->options.delay_ns;
		going = wait_for_round(s, ending, next);
		fd = swz_top_session_ask(s);
		if (fd >= 0)
			going &= wait_for(fd, ending, 0);
		swz_top_session_take(s);
		swz_back_traces_print(stdout, &s->live, &options, &style);
		if (fflush(stdout) != 0 || ferror(stdout))
			return false;
	}
	return true;
}
