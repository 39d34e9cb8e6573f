#ifndef SWZ_TOP_TERMINAL_H
#define SWZ_TOP_TERMINAL_H

/* The terminal, as a screen of swizzle-top (ncurses). Signals that concern it
 * are blocked and read from a descriptor, so nothing is interrupted by them.
 * However the process ends, but by SIGKILL, the terminal is as it was. */

#include <stdbool.h>

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

#endif
