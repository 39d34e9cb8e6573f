#ifndef SWZ_TOP_SCREEN_H
#define SWZ_TOP_SCREEN_H

/* swizzle-top's screen: the terminal, what is drawn on it, and its keys. */

#include <stdbool.h>

#include "top/page.h"
#include "top/session.h"

/* --- the terminal -------------------------------------------------------- */

/* The terminal, as a screen of swizzle-top (ncurses). Signals that concern it
 * are blocked and read from a descriptor, so nothing is interrupted by them.
 * However the process ends, but by SIGKILL, the terminal is as it was. */

enum swz_terminal_event {
	SWZ_TERMINAL_NOTHING,
	SWZ_TERMINAL_CHANGED, /* its size, or what is on it: to be drawn anew */
	SWZ_TERMINAL_LEAVE    /* the user wants the end, or the terminal is gone
			       */
};

struct swz_terminal {
	int output, input; /* descriptors */
	int signals;       /* can be read when there is one */
	bool colour, utf8;
};

/* Finds it: standard output and input. ELSEWHERE: what is on these may be the
 * business of a program, so where one is no terminal /dev/tty is taken.
 * NULL: it can be a screen. Otherwise why not. */
const char *swz_terminal_open(struct swz_terminal *terminal, bool elsewhere);

/* Becomes a screen. Processes that are started later have those signals
 * blocked. Dies where it cannot. */
void swz_terminal_begin(struct swz_terminal *terminal);

/* Reads one signal, and does what is to be done for it: stops where the user
 * wants that, and is there again afterwards. */
enum swz_terminal_event swz_terminal_signal(struct swz_terminal *terminal);

/* A key, as ncurses has them; -1: none is there. */
int swz_terminal_key(void);
/* True if it is no key but ncurses' note that the size has changed. */
bool swz_terminal_is_resize(int key);

/* The next drawing is whole, as something else may have written on the screen.
 */
void swz_terminal_redraw(void);

/* It is another process's business now: to be called after a fork. */
void swz_terminal_disown(void);

/* It is as it was. Can be called at any time, and again. */
void swz_terminal_end(void);

/* --- drawing -------------------------------------------------------------- */

/* Draws swizzle-top's screen. */

struct swz_painting {
	const struct swz_terminal *terminal;
	const struct swz_top_session *session; /* NULL: none is watched */
	const struct swz_process_list *list;   /* then: what could be */
	const struct swz_live *live;           /* of the one or the other */
	const struct swz_page *page;
	bool has_list; /* Esc leads there */
	bool frozen;
	const char *prompt;  /* NULL: none; else what is asked for */
	const char *input;   /* as far as it was typed */
	const char *message; /* of the last key; "": none */
	size_t first;        /* the row at the top */
};

/* How many rows there is room for. */
size_t swz_paint_rows(void);

/* Draws all; sets painting->first so that the selected row is seen. */
void swz_paint(struct swz_painting *painting);

/* --- keys ---------------------------------------------------------------- */

enum swz_top_command {
	SWZ_KEY_UNKNOWN,
	SWZ_KEY_UP,
	SWZ_KEY_DOWN,
	SWZ_KEY_PAGE_UP,
	SWZ_KEY_PAGE_DOWN,
	SWZ_KEY_FIRST,
	SWZ_KEY_LAST,
	SWZ_KEY_ENTER,
	SWZ_KEY_OPEN,
	SWZ_KEY_CLOSE,
	SWZ_KEY_BACK,
	SWZ_KEY_FUNCTIONS,
	SWZ_KEY_THREADS,
	SWZ_KEY_MODULES,
	SWZ_KEY_OUTPUT,
	SWZ_KEY_FILTER,
	SWZ_KEY_SORT_LEFT,
	SWZ_KEY_SORT_RIGHT,
	SWZ_KEY_REVERSE,
	SWZ_KEY_WHOLE,
	SWZ_KEY_SCRIPT,
	SWZ_KEY_FREEZE,
	SWZ_KEY_DELAY,
	SWZ_KEY_REDRAW,
	SWZ_KEY_KILL,
	SWZ_KEY_HELP,
	SWZ_KEY_LEAVE
};

/* --- the screen ---------------------------------------------------------- */

/* swizzle-top without -b. */

/* Shows round by round until the user leaves, or so many rounds are over. What
 * has ended stays on the screen. The terminal was opened. Where OPTIONS want
 * the list, the session was not begun, and is that of the process chosen last,
 * or zeroed. */
void swz_top_screen(struct swz_top_session *session,
		    const struct swz_top_options *options,
		    struct swz_terminal *terminal);

/* --- without a screen ----------------------------------------------------- */

/* swizzle-top -b. */

/* Prints round by round until all has ended, or so many rounds are over, or the
 * user wants it to end (SIGINT, SIGTERM, SIGHUP). False: standard output could
 * not be written. */
bool swz_top_batch(struct swz_top_session *session);

/* Prints the list of processes, once or options->rounds times, each after a
 * time of options->delay_ns, which the shares are of. The same is returned. */
bool swz_top_batch_list(const struct swz_top_options *options);

#endif
