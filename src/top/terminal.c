#include "top/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <unistd.h>

#include "launch/program.h"
#include "util/figures.h"

/* ncurses waits so long for what may follow Escape. */
#define ESCAPE_MS 25

static bool is_screen;
static bool may_stop; /* nobody told us to ignore Ctrl-Z */

static int terminal_or(int fd, bool elsewhere)
{
	if (isatty(fd))
		return fd;
	return elsewhere ? open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
}

static const char *check_kind(int fd)
{
	const char *name = getenv("TERM"), *move;
	int found;

	if (!name || !*name)
		return "TERM is not set, so the type of the terminal is not "
		       "known";
	if (setupterm(NULL, fd, &found) != OK)
		return "the terminal type in TERM is not known here";
	move = tigetstr("cup");
	if (!move || move == (char *)-1)
		return "terminals of the type in TERM have no screen";
	return NULL;
}

const char *swz_terminal_open(struct swz_terminal *t, bool elsewhere)
{
	const char *no_colour = getenv("NO_COLOR");

	*t = (struct swz_terminal){.signals = -1};
	t->output = terminal_or(STDOUT_FILENO, elsewhere);
	if (t->output < 0)
		return "standard output is not a terminal";
	t->input = terminal_or(STDIN_FILENO, true);
	if (t->input < 0)
		return "there is no terminal to read keys from";
	setlocale(LC_CTYPE, "");
	t->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	t->colour = !no_colour || !*no_colour;
	return check_kind(t->output);
}

static void block_signals(struct swz_terminal *t)
{
	static const int of_terminal[] = {SIGINT,  SIGQUIT,  SIGTERM, SIGHUP,
					  SIGTSTP, SIGWINCH, SIGCONT};
	struct sigaction action;
	sigset_t set;

	may_stop = sigaction(SIGTSTP, NULL, &action) == 0 &&
		   action.sa_handler != SIG_IGN;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(of_terminal) / sizeof(of_terminal[0]);
	     i++)
		sigaddset(&set, of_terminal[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	t->signals = signalfd(-1, &set, SFD_CLOEXEC);
}

/* endwin() is not meant for signal handlers; what it may do wrong is less than
 * a terminal without echo. */
static void die_of(int signal)
{
	swz_terminal_end();
	(void)raise(signal);
}

static void catch_faults(void)
{
	static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
				     SIGABRT, SIGALRM, SIGUSR1, SIGUSR2,
				     SIGPIPE, SIGXCPU, SIGXFSZ};
	struct sigaction action = {.sa_handler = die_of,
				   .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigaction(faults[i], &action, NULL);
}

/* Where white stands on black or the other way round is the user's choice. */
static void set_colours(struct swz_terminal *t)
{
	t->colour = t->colour && has_colors();
	if (!t->colour)
		return;
	start_color();
	use_default_colors();
	init_pair(SWZ_COLOUR_HOT, COLOR_RED, -1);
	init_pair(SWZ_COLOUR_WARM, COLOR_YELLOW, -1);
	init_pair(SWZ_COLOUR_GOOD, COLOR_GREEN, -1);
}

void swz_terminal_begin(struct swz_terminal *t)
{
	FILE *out = fdopen(fcntl(t->output, F_DUPFD_CLOEXEC, 3), "w");
	FILE *in = fdopen(fcntl(t->input, F_DUPFD_CLOEXEC, 3), "r");

	block_signals(t);
	if (!out || !in || !newterm(NULL, out, in))
		swz_die(SWZ_CANNOT_RUN, "cannot use the terminal: %s",
			strerror(errno));
	is_screen = true;
	atexit(swz_terminal_end);
	catch_faults();
	set_colours(t);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
}

static void read_size(const struct swz_terminal *t)
{
	struct winsize size;

	if (ioctl(t->output, TIOCGWINSZ, &size) == 0 && size.ws_row &&
	    size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

static void stop(void)
{
	sigset_t set;

	if (!may_stop)
		return;
	endwin();
	signal(SIGTSTP, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

enum swz_terminal_event swz_terminal_signal(struct swz_terminal *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != sizeof(info))
		return SWZ_TERMINAL_NOTHING;
	switch (info.ssi_signo) {
	case SIGTSTP:
		stop();
		read_size(t);
		return SWZ_TERMINAL_CHANGED;
	case SIGCONT: /* the shell may have set modes of its own */
		reset_prog_mode();
		read_size(t);
		return SWZ_TERMINAL_CHANGED;
	case SIGWINCH:
		read_size(t);
		return SWZ_TERMINAL_CHANGED;
	default:
		return SWZ_TERMINAL_LEAVE;
	}
}

int swz_terminal_key(void)
{
	return getch();
}

bool swz_terminal_is_resize(int key)
{
	return key == KEY_RESIZE;
}

void swz_terminal_redraw(void)
{
	clearok(curscr, TRUE);
}

void swz_terminal_disown(void)
{
	is_screen = false;
}

void swz_terminal_end(void)
{
	if (is_screen)
		endwin();
	is_screen = false;
}
