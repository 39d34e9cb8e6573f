#ifndef SWZ_TOP_KEYS_H
#define SWZ_TOP_KEYS_H

/* The keys of swizzle-top's screen. */

enum swz_command {
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
	SWZ_KEY_FREEZE,
	SWZ_KEY_DELAY,
	SWZ_KEY_REDRAW,
	SWZ_KEY_KILL,
	SWZ_KEY_HELP,
	SWZ_KEY_LEAVE
};

/* What a key of ncurses does. */
enum swz_command swz_key_command(int key);

/* The list of them, ended by NULL. */
const char *const *swz_key_help(void);

#endif
