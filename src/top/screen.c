#include "top/screen.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "top/page.h"
#include "top/session.h"
#include "util/memory.h"
#include "watch/proc_task.h"

/* --- keys ---------------------------------------------------------------- */

#define CONTROL(letter) ((letter)&0x1f)
#define ESCAPE 27

static const struct {
	int key;
	enum swz_top_command command;
} known[] = {
	{KEY_UP, SWZ_KEY_UP},
	{KEY_DOWN, SWZ_KEY_DOWN},
	{KEY_PPAGE, SWZ_KEY_PAGE_UP},
	{KEY_NPAGE, SWZ_KEY_PAGE_DOWN},
	{KEY_HOME, SWZ_KEY_FIRST},
	{KEY_END, SWZ_KEY_LAST},
	{'\r', SWZ_KEY_ENTER},
	{'\n', SWZ_KEY_ENTER},
	{KEY_ENTER, SWZ_KEY_ENTER},
	{KEY_RIGHT, SWZ_KEY_OPEN},
	{'+', SWZ_KEY_OPEN},
	{KEY_LEFT, SWZ_KEY_CLOSE},
	{'-', SWZ_KEY_CLOSE},
	{ESCAPE, SWZ_KEY_BACK},
	{KEY_BACKSPACE, SWZ_KEY_BACK},
	{127, SWZ_KEY_BACK},
	{'\b', SWZ_KEY_BACK},
	{'f', SWZ_KEY_FUNCTIONS},
	{'t', SWZ_KEY_THREADS},
	{'m', SWZ_KEY_MODULES},
	{'o', SWZ_KEY_OUTPUT},
	{'/', SWZ_KEY_FILTER},
	{KEY_F(3), SWZ_KEY_FILTER},
	{KEY_F(4), SWZ_KEY_FILTER},
	{'<', SWZ_KEY_SORT_LEFT},
	{'>', SWZ_KEY_SORT_RIGHT},
	{KEY_F(6), SWZ_KEY_SORT_RIGHT},
	{'r', SWZ_KEY_REVERSE},
	{'R', SWZ_KEY_REVERSE},
	{'a', SWZ_KEY_WHOLE},
	{'s', SWZ_KEY_SCRIPT},
	{'p', SWZ_KEY_FREEZE},
	{' ', SWZ_KEY_FREEZE},
	{'d', SWZ_KEY_DELAY},
	{'s', SWZ_KEY_DELAY},
	{CONTROL('L'), SWZ_KEY_REDRAW},
	{'k', SWZ_KEY_KILL},
	{KEY_F(9), SWZ_KEY_KILL},
	{'?', SWZ_KEY_HELP},
	{'h', SWZ_KEY_HELP},
	{KEY_F(1), SWZ_KEY_HELP},
	{'q', SWZ_KEY_LEAVE},
	{KEY_F(10), SWZ_KEY_LEAVE},
};

/* The command of a key of ncurses. */
static enum swz_top_command key_command(int key)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].key == key)
			return known[i].command;
	return SWZ_KEY_UNKNOWN;
}

/* The list of them, ended by NULL. */
static const char *const *key_help(void)
{
	static const char *const help[] = {
		"Up Down     select a row; the selection follows it",
		"PgUp PgDn   a screen of rows",
		"Home End    first, last row",
		("Enter       callers, callees; functions of a module, thread; "
		 "watch a process"),
		"Right Left  open, close the selected part of a tree",
		"Esc         back; from functions to the list of processes",
		"f t m       functions, threads, modules",
		"o           the last lines that the program has written",
		"/           show only rows with a text in them; Esc: all",
		"< >         sort by another column",
		"r           sort the other way round",
		"a           figures since the beginning, or of the last round",
		"s           functions of scripts alone, or all",
		"p Space     freeze the screen; the program goes on",
		"d           length of a round, in seconds",
		"Ctrl-L      redraw the screen",
		"?           this list",
		"q           leave; the program goes on",
		NULL,
	};

	return help;
}

/* --- the screen ---------------------------------------------------------- */

/* One loop waits for keys, signals, the sampler and the next round. Nothing in
 * it blocks but the reading of profiles, and the start of a sampler.
 *
 * Either a session is watched, or a list of processes is shown, of which one
 * can be chosen; then Esc leads back to the list. */

/* The first figures are there sooner than those of a whole round. */
#define FIRST_ROUNDS 2
#define FIRST_NS 200000000u
/* So often a program that was just started is looked at: whether it has a
 * profile now, and whether it has ended. */
#define LOOK_NS 100000000u
/* Reading may take this part of a processor: rounds become longer else. */
#define MOST_READING 4

struct screen {
	struct swz_top_session *session; /* NULL: the list is shown */
	struct swz_top_session *room;    /* for that which is chosen */
	bool has_list;
	struct swz_process_list list;
	struct swz_live list_live; /* the times of its readings */
	struct swz_top_options options;
	struct swz_terminal *terminal;
	struct swz_page page;
	struct swz_painting painting;
	char **output; /* the lines that the page shows */
	bool frozen, leaves, told_end;
	uint64_t rounds, next_ns;
	bool asked; /* the sampler; its answer is not there yet */
	enum swz_top_command prompt;
	char input[SWZ_FILTER_BYTES];
	char message[160];
};

/* --------------------------------------------------------------- drawing */

static const char *const *lines_of(struct screen *s)
{
	if (s->page.kind == SWZ_PAGE_HELP)
		return key_help();
	if (s->page.kind != SWZ_PAGE_OUTPUT || !s->session)
		return NULL;
	free(s->output);
	s->output = swz_program_output_lines(&s->session->started.output);
	return (const char *const *)s->output;
}

static void draw(struct screen *s)
{
	s->painting.session = s->session;
	s->painting.list = &s->list;
	s->painting.has_list = s->has_list;
	s->painting.live = s->session ? &s->session->live : &s->list_live;
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

static void fill_rows(struct screen *s)
{
	if (s->page.kind == SWZ_PAGE_PROCESSES)
		swz_page_fill_processes(&s->page, &s->list, &s->list_live);
	else
		swz_page_fill(&s->page,
			      s->session ? &s->session->live : &s->list_live,
			      lines_of(s));
}

static void fill(struct screen *s)
{
	fill_rows(s);
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
	uint64_t delay = s->options.delay_ns;

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
			 "Process %d has ended. q leaves%s",
			 (int)s->session->pid,
			 s->has_list ? ", Esc shows the others" : "");
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
	if (s->options.rounds && s->rounds >= s->options.rounds + FIRST_ROUNDS)
		s->leaves = true;
}

static void read_list(struct screen *s)
{
	uint64_t began = swz_watch_now();

	swz_process_list_read(&s->list);
	s->rounds++;
	s->next_ns = began + round_ns(s);
	fill(s);
	if (s->options.rounds && s->rounds >= s->options.rounds + FIRST_ROUNDS)
		s->leaves = true;
}

static void begin_round(struct screen *s)
{
	bool samples;
	int answer;

	if (!s->session) {
		read_list(s);
		return;
	}
	samples = s->session->live.samples;
	answer = swz_top_session_ask(s->session);

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

/* ----------------------------------------------------- the list, and back */

static void begin_rounds(struct screen *s)
{
	s->asked = s->frozen = s->told_end = s->page.whole = false;
	s->rounds = 0;
	s->page.row_count = 0;
	s->next_ns = swz_watch_now();
	if (s->session && s->session->live.samples)
		s->next_ns += FIRST_NS;
}

static void show_list(struct screen *s)
{
	swz_page_show(&s->page, SWZ_PAGE_PROCESSES);
	begin_rounds(s);
}

/* The process that was watched is selected. */
static void go_back_to_list(struct screen *s)
{
	uint64_t key = (uint64_t)(uint32_t)s->session->pid;

	swz_top_session_end(s->session);
	*s->room = (struct swz_top_session){.options = s->options};
	s->session = NULL;
	show_list(s);
	s->page.follows = true;
	s->page.key = key;
}

static void choose(struct screen *s)
{
	char *problem;
	int status;

	if (s->page.cursor >= s->page.row_count)
		return;
	s->options.sampling.pid = s->page.rows[s->page.cursor].pid;
	if (!swz_top_session_watch(s->room, &s->options, &status, &problem)) {
		snprintf(s->message, sizeof(s->message), "%s", problem);
		free(problem);
		return;
	}
	s->session = s->room;
	swz_page_show(&s->page, SWZ_PAGE_FUNCTIONS);
	begin_rounds(s);
}

/* The functions of the selected thread, or of all again. */
static void restrict_to(struct screen *s, int32_t pid, int32_t tid)
{
	swz_top_session_only(s->session, pid, tid);
	s->frozen = false;
	s->rounds = 0;
	if (!s->asked)
		s->next_ns = swz_watch_now() + FIRST_NS;
}

static void choose_thread(struct screen *s)
{
	const struct swz_row *row = &s->page.rows[s->page.cursor];

	if (s->page.cursor >= s->page.row_count)
		return;
	if (s->session->ended) {
		snprintf(s->message, sizeof(s->message),
			 "The program has ended: there are no new figures of "
			 "its threads");
		return;
	}
	restrict_to(s, row->pid, row->tid);
	swz_page_show(&s->page, SWZ_PAGE_FUNCTIONS);
}

static void go_back_to_threads(struct screen *s)
{
	uint64_t key = swz_page_key_of_thread(s->session->live.only_pid,
					      s->session->live.only_tid);

	restrict_to(s, 0, 0);
	swz_page_show(&s->page, SWZ_PAGE_THREADS);
	s->page.follows = true;
	s->page.key = key;
}

/* Nothing is left that Esc takes back within the session. */
static bool is_first_page(const struct screen *s)
{
	return s->page.kind == SWZ_PAGE_FUNCTIONS && !s->page.filter[0] &&
	       !s->page.module;
}

static void go_back(struct screen *s)
{
	if (s->session && s->session->live.only_tid && !s->session->ended &&
	    is_first_page(s))
		go_back_to_threads(s);
	else if (s->session && s->has_list && is_first_page(s))
		go_back_to_list(s);
	else if (s->session || s->page.filter[0])
		swz_page_back(&s->page);
	else
		swz_page_show(&s->page, SWZ_PAGE_PROCESSES);
}

static void show(struct screen *s, enum swz_page_kind kind)
{
	if (s->session || kind == SWZ_PAGE_HELP)
		swz_page_show(&s->page, kind);
	else
		snprintf(s->message, sizeof(s->message),
			 "Choose a process first: Enter");
}

/* ---------------------------------------------------------------- prompts */

static void begin_prompt(struct screen *s, enum swz_top_command prompt)
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
			s->options.delay_ns = delay_ns;
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
	enum swz_top_command command = key_command(key);
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
	if (!s->session || s->session->started.output.path)
		show(s, SWZ_PAGE_OUTPUT);
	else
		snprintf(s->message, sizeof(s->message), "%s",
			 s->session->started.pid
				 ? "The program does not write to the terminal"
				 : "The output of a process that was not "
				   "started here is not known");
}

static void move_by_key(struct screen *s, enum swz_top_command command)
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

static void toggle_script(struct screen *s)
{
	if (!s->session)
		return;
	swz_top_session_script(s->session);
	snprintf(s->message, sizeof(s->message), "%s",
		 s->session->live.script ? "Functions of scripts alone"
					 : "All functions");
}

static int32_t selected_pid(const struct screen *s)
{
	if (s->session)
		return s->session->pid;
	return s->page.cursor < s->page.row_count
		       ? s->page.rows[s->page.cursor].pid
		       : 0;
}

static void obey(struct screen *s, enum swz_top_command command)
{
	switch (command) {
	case SWZ_KEY_UP:
	case SWZ_KEY_DOWN:
	case SWZ_KEY_PAGE_UP:
	case SWZ_KEY_PAGE_DOWN:
	case SWZ_KEY_FIRST:
	case SWZ_KEY_LAST:
		move_by_key(s, command);
		break;
	case SWZ_KEY_ENTER:
		if (s->page.kind == SWZ_PAGE_PROCESSES)
			choose(s);
		else if (s->page.kind == SWZ_PAGE_THREADS)
			choose_thread(s);
		else
			(void)swz_page_enter(&s->page);
		break;
	case SWZ_KEY_OPEN:
	case SWZ_KEY_CLOSE:
		swz_page_fold(&s->page, command == SWZ_KEY_OPEN);
		break;
	case SWZ_KEY_BACK:
		go_back(s);
		break;
	case SWZ_KEY_FUNCTIONS:
		show(s, SWZ_PAGE_FUNCTIONS);
		break;
	case SWZ_KEY_THREADS:
		show(s, SWZ_PAGE_THREADS);
		break;
	case SWZ_KEY_MODULES:
		show(s, SWZ_PAGE_MODULES);
		break;
	case SWZ_KEY_HELP:
		show(s, SWZ_PAGE_HELP);
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
		swz_columns_sort_next(&s->page,
				      s->session ? &s->session->live
						 : &s->list_live,
				      command == SWZ_KEY_SORT_LEFT ? -1 : 1);
		break;
	case SWZ_KEY_REVERSE:
		s->page.reversed[s->page.kind] ^= true;
		break;
	case SWZ_KEY_WHOLE:
		s->page.whole = !s->page.whole;
		break;
	case SWZ_KEY_SCRIPT:
		toggle_script(s);
		break;
	case SWZ_KEY_FREEZE:
		s->frozen = !s->frozen;
		break;
	case SWZ_KEY_KILL:
		snprintf(s->message, sizeof(s->message),
			 "swizzle-top sends no signals. In a shell: kill %d",
			 (int)selected_pid(s));
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

static bool moves_cursor(enum swz_top_command command)
{
	return command == SWZ_KEY_UP || command == SWZ_KEY_DOWN ||
	       command == SWZ_KEY_PAGE_UP || command == SWZ_KEY_PAGE_DOWN ||
	       command == SWZ_KEY_FIRST || command == SWZ_KEY_LAST;
}

static bool uses_rows(enum swz_top_command command)
{
	return moves_cursor(command) || command == SWZ_KEY_ENTER ||
	       command == SWZ_KEY_OPEN || command == SWZ_KEY_CLOSE ||
	       command == SWZ_KEY_KILL;
}

/* Many keys may be there at once, before any of them was drawn. A key that goes
 * by the rows finds those that the keys before it made. */
static void read_keys(struct screen *s)
{
	int key;
	enum swz_top_command command;
	bool any = false, stale = false;

	while ((key = swz_terminal_key()) >= 0) {
		if (swz_terminal_is_resize(key))
			continue;
		any = true;
		s->message[0] = '\0';
		if (s->prompt) {
			type(s, key);
			stale = true;
			continue;
		}
		command = key_command(key);
		if (stale && uses_rows(command))
			fill_rows(s);
		obey(s, command);
		stale = !moves_cursor(command);
	}
	if (any && !s->leaves)
		fill(s);
}

/* ----------------------------------------------------------------- the loop */

static bool was_started(const struct screen *s)
{
	return s->session && s->session->started.pid;
}

static bool has_ended(const struct screen *s)
{
	return s->session && s->session->ended;
}

static int wait_ms(const struct screen *s)
{
	uint64_t now = swz_watch_now(), next = s->next_ns;
	bool looks = was_started(s) && !s->told_end;

	if (s->frozen || has_ended(s) || s->asked)
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
	if (!s->asked && was_started(s))
		look(s);
	if (has_ended(s) && !s->told_end) {
		tell_end(s);
		fill(s);
	}
	if (!s->frozen && !s->asked && !has_ended(s) &&
	    swz_watch_now() >= s->next_ns)
		begin_round(s);
}

void swz_top_screen(struct swz_top_session *session,
		    const struct swz_top_options *options,
		    struct swz_terminal *terminal)
{
	struct screen s = {.room = session,
			   .options = *options,
			   .has_list = swz_top_wants_list(options),
			   .terminal = terminal};

	swz_live_begin(&s.list_live, true, false, swz_watch_now());
	swz_page_begin(&s.page);
	swz_terminal_begin(terminal);
	if (s.has_list) {
		show_list(&s);
	} else {
		s.session = session;
		begin_rounds(&s);
	}
	fill(&s);
	while (!s.leaves)
		step(&s);
	swz_terminal_end();
	swz_page_free(&s.page);
	swz_process_list_free(&s.list);
	swz_live_free(&s.list_live);
	free(s.output);
}
