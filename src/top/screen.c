/* One loop waits for keys, signals, the sampler and the next round. Nothing in
 * it blocks but the reading of profiles. */

#include "top/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile/support/memory.h"
#include "top/columns.h"
#include "top/keys.h"
#include "top/options.h"
#include "top/page.h"
#include "top/paint.h"
#include "watch/clock.h"

/* The first figures are there sooner than those of a whole round. */
#define FIRST_ROUNDS 2
#define FIRST_NS 200000000u
/* So often a program that was just started is looked at: whether it has a
 * profile now, and whether it has ended. */
#define LOOK_NS 100000000u
/* Reading may take this part of a processor: rounds become longer else. */
#define MOST_READING 4

struct screen {
	struct swz_top_session *session;
	struct swz_terminal *terminal;
	struct swz_page page;
	struct swz_painting painting;
	char **output; /* the lines that the page shows */
	bool frozen, leaves, told_end;
	uint64_t rounds, next_ns;
	bool asked; /* the sampler; its answer is not there yet */
	enum swz_command prompt;
	char input[SWZ_FILTER_BYTES];
	char message[160];
};

/* --------------------------------------------------------------- drawing */

static const char *const *lines_of(struct screen *s)
{
	if (s->page.kind == SWZ_PAGE_HELP)
		return swz_key_help();
	if (s->page.kind != SWZ_PAGE_OUTPUT)
		return NULL;
	free(s->output);
	s->output = swz_program_output_lines(&s->session->started.output);
	return (const char *const *)s->output;
}

static void draw(struct screen *s)
{
	s->painting.session = s->session;
	s->painting.terminal = s->terminal;
	s->painting.page = &s->page;
	s->painting.frozen = s->frozen;
	s->painting.prompt = s->prompt == SWZ_KEY_FILTER ? "Only rows with: "
			     : s->prompt == SWZ_KEY_DELAY
				     ? "Seconds of a round (0.1 to 86400): "
				     : NULL;
	s->painting.input = s->input;
	s->painting.message = s->message;
	swz_paint(&s->painting);
}

static void fill(struct screen *s)
{
	swz_page_fill(&s->page, &s->session->live, lines_of(s));
	draw(s);
}

/* ---------------------------------------------------------------- rounds */

/* The figures begin anew: functions have other numbers then. */
static void look(struct screen *s)
{
	bool samples = s->session->live.samples;

	swz_top_session_look(s->session);
	if (samples == s->session->live.samples)
		return;
	s->asked = false;
	s->rounds = 0;
	s->page.row_count = 0;
	swz_page_show(&s->page, SWZ_PAGE_FUNCTIONS);
}

static uint64_t round_ns(const struct screen *s)
{
	uint64_t delay = s->session->options.delay_ns;

	return s->rounds < FIRST_ROUNDS && delay > FIRST_NS ? FIRST_NS : delay;
}

/* The last round may be short, so all that was is shown. */
static void tell_end(struct screen *s)
{
	const struct swz_top_started *started = &s->session->started;

	if (s->told_end || (started->pid && !started->ended))
		return;
	s->told_end = true;
	s->page.whole = true;
	if (started->pid)
		snprintf(s->message, sizeof(s->message),
			 "The program has ended with status %d. q leaves",
			 started->status);
	else
		snprintf(s->message, sizeof(s->message),
			 "Process %d has ended. q leaves",
			 (int)s->session->pid);
}

static uint64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void take(struct screen *s)
{
	uint64_t began = swz_watch_now(), used = processor_ns(), least;

	s->asked = false;
	swz_top_session_take(s->session);
	used = processor_ns() - used;
	s->rounds++;
	s->next_ns = began + round_ns(s);
	least = swz_watch_now() + used * (MOST_READING - 1);
	if (s->next_ns < least)
		s->next_ns = least;
	if (s->session->ended)
		tell_end(s);
	fill(s);
	if (s->session->options.rounds &&
	    s->rounds >= s->session->options.rounds + FIRST_ROUNDS)
		s->leaves = true;
}

static void begin_round(struct screen *s)
{
	bool samples = s->session->live.samples;
	int answer = swz_top_session_ask(s->session);

	if (samples != s->session->live.samples) {
		s->rounds = 0;
		s->page.row_count = 0;
		swz_page_show(&s->page, SWZ_PAGE_FUNCTIONS);
	}
	if (answer < 0)
		take(s);
	else
		s->asked = true;
}

/* ---------------------------------------------------------------- prompts */

static void begin_prompt(struct screen *s, enum swz_command prompt)
{
	s->prompt = prompt;
	s->input[0] = '\0';
	if (prompt == SWZ_KEY_FILTER)
		memcpy(s->input, s->page.filter, sizeof(s->input));
}

static void end_prompt(struct screen *s)
{
	uint64_t delay_ns;

	if (s->prompt == SWZ_KEY_DELAY && s->input[0]) {
		if (!swz_top_delay(s->input, &delay_ns)) {
			snprintf(s->message, sizeof(s->message),
				 "'%s' is not a time from 0.1 to 86400 seconds",
				 s->input);
		} else {
			s->session->options.delay_ns = delay_ns;
			s->next_ns = swz_watch_now() + delay_ns;
		}
	}
	s->prompt = SWZ_KEY_UNKNOWN;
}

static void erase_character(char *text)
{
	size_t end = strlen(text);

	while (end && ((unsigned char)text[--end] & 0xc0) == 0x80)
		;
	text[end] = '\0';
}

static void type(struct screen *s, int key)
{
	enum swz_command command = swz_key_command(key);
	size_t length = strlen(s->input);

	if (command == SWZ_KEY_ENTER) {
		end_prompt(s);
		return;
	}
	if (command == SWZ_KEY_BACK && key == 27) {
		if (s->prompt == SWZ_KEY_FILTER)
			s->page.filter[0] = '\0';
		s->prompt = SWZ_KEY_UNKNOWN;
		return;
	}
	if (command == SWZ_KEY_BACK)
		erase_character(s->input);
	else if (key >= ' ' && key < 256 && length + 1 < sizeof(s->input))
		s->input[length] = (char)key, s->input[length + 1] = '\0';
	if (s->prompt == SWZ_KEY_FILTER)
		memcpy(s->page.filter, s->input, sizeof(s->page.filter));
}

/* ------------------------------------------------------------------- keys */

static void show_output(struct screen *s)
{
	if (s->session->started.output.path)
		swz_page_show(&s->page, SWZ_PAGE_OUTPUT);
	else
		snprintf(s->message, sizeof(s->message), "%s",
			 s->session->started.pid
				 ? "The program does not write to the terminal"
				 : "The output of a process that was not "
				   "started here is not known");
}

static void move(struct screen *s, enum swz_command command)
{
	int64_t page = (int64_t)swz_paint_rows();
	int64_t all = (int64_t)s->page.row_count;

	swz_page_move(&s->page, command == SWZ_KEY_UP          ? -1
				: command == SWZ_KEY_DOWN      ? 1
				: command == SWZ_KEY_PAGE_UP   ? -page
				: command == SWZ_KEY_PAGE_DOWN ? page
				: command == SWZ_KEY_FIRST     ? -all
							       : all);
}

static void obey(struct screen *s, enum swz_command command)
{
	switch (command) {
	case SWZ_KEY_UP:
	case SWZ_KEY_DOWN:
	case SWZ_KEY_PAGE_UP:
	case SWZ_KEY_PAGE_DOWN:
	case SWZ_KEY_FIRST:
	case SWZ_KEY_LAST:
		move(s, command);
		break;
	case SWZ_KEY_ENTER:
		(void)swz_page_enter(&s->page);
		break;
	case SWZ_KEY_OPEN:
	case SWZ_KEY_CLOSE:
		swz_page_fold(&s->page, command == SWZ_KEY_OPEN);
		break;
	case SWZ_KEY_BACK:
		swz_page_back(&s->page);
		break;
	case SWZ_KEY_FUNCTIONS:
		swz_page_show(&s->page, SWZ_PAGE_FUNCTIONS);
		break;
	case SWZ_KEY_THREADS:
		swz_page_show(&s->page, SWZ_PAGE_THREADS);
		break;
	case SWZ_KEY_MODULES:
		swz_page_show(&s->page, SWZ_PAGE_MODULES);
		break;
	case SWZ_KEY_HELP:
		swz_page_show(&s->page, SWZ_PAGE_HELP);
		break;
	case SWZ_KEY_OUTPUT:
		show_output(s);
		break;
	case SWZ_KEY_FILTER:
	case SWZ_KEY_DELAY:
		begin_prompt(s, command);
		break;
	case SWZ_KEY_SORT_LEFT:
	case SWZ_KEY_SORT_RIGHT:
		swz_columns_sort_next(&s->page, &s->session->live,
				      command == SWZ_KEY_SORT_LEFT ? -1 : 1);
		break;
	case SWZ_KEY_REVERSE:
		s->page.reversed[s->page.kind] ^= true;
		break;
	case SWZ_KEY_WHOLE:
		s->page.whole = !s->page.whole;
		break;
	case SWZ_KEY_FREEZE:
		s->frozen = !s->frozen;
		break;
	case SWZ_KEY_KILL:
		snprintf(s->message, sizeof(s->message),
			 "swizzle-top sends no signals. In a shell: kill %d",
			 (int)s->session->pid);
		break;
	case SWZ_KEY_LEAVE:
		s->leaves = true;
		break;
	case SWZ_KEY_REDRAW:
		swz_terminal_redraw();
		break;
	case SWZ_KEY_UNKNOWN:
		snprintf(s->message, sizeof(s->message), "? lists the keys");
	}
}

static void read_keys(struct screen *s)
{
	int key;
	bool any = false;

	while ((key = swz_terminal_key()) >= 0) {
		if (swz_terminal_is_resize(key))
			continue;
		any = true;
		s->message[0] = '\0';
		if (s->prompt)
			type(s, key);
		else
			obey(s, swz_key_command(key));
	}
	if (any && !s->leaves)
		fill(s);
}

/* ----------------------------------------------------------------- the loop */

static int wait_ms(const struct screen *s)
{
	uint64_t now = swz_watch_now(), next = s->next_ns;
	bool looks = s->session->started.pid && !s->told_end;

	if (s->frozen || s->session->ended || s->asked)
		next = UINT64_MAX;
	if (looks && next > now + LOOK_NS)
		next = now + LOOK_NS;
	if (next == UINT64_MAX)
		return -1;
	return next > now ? (int)((next - now + 999999) / 1000000) : 0;
}

static void step(struct screen *s)
{
	struct pollfd fds[] = {
		{s->terminal->signals, POLLIN, 0},
		{s->terminal->input, POLLIN, 0},
		{s->asked ? s->session->sampler.answer : -1, POLLIN, 0},
	};

	if (poll(fds, 3, wait_ms(s)) < 0 && errno != EINTR) {
		s->leaves = true;
		return;
	}
	if (fds[0].revents) {
		enum swz_terminal_event event = swz_terminal_signal(
			s->terminal);

		s->leaves |= event == SWZ_TERMINAL_LEAVE;
		if (event == SWZ_TERMINAL_CHANGED)
			fill(s);
	}
	if (fds[1].revents & POLLIN)
		read_keys(s);
	else if (fds[1].revents)
		s->leaves = true; /* the terminal is gone */
	if (s->leaves)
		return;
	if (fds[2].revents)
		take(s);
	if (!s->asked && s->session->started.pid)
		look(s);
	if (s->session->ended && !s->told_end) {
		tell_end(s);
		fill(s);
	}
	if (!s->frozen && !s->asked && !s->session->ended &&
	    swz_watch_now() >= s->next_ns)
		begin_round(s);
}

void swz_top_screen(struct swz_top_session *session,
		    struct swz_terminal *terminal)
{
	struct screen s = {.session = session, .terminal = terminal};

	swz_page_begin(&s.page);
	swz_terminal_begin(terminal);
	s.next_ns = swz_watch_now() + (session->live.samples ? FIRST_NS : 0);
	fill(&s);
	while (!s.leaves)
		step(&s);
	swz_terminal_end();
	swz_page_free(&s.page);
	free(s.output);
}
