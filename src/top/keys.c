#include "top/keys.h"

#include <curses.h>

#define CONTROL(letter) ((letter)&0x1f)
#define ESCAPE 27

static const struct {
	int key;
	enum swz_command command;
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

enum swz_command swz_key_command(int key)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].key == key)
			return known[i].command;
	return SWZ_KEY_UNKNOWN;
}

const char *const *swz_key_help(void)
{
	static const char *const help[] = {
		"Up Down     select a row; the selection follows it",
		"PgUp PgDn   a screen of rows",
		"Home End    first, last row",
		"Enter       callers, callees; functions of a module, thread; "
		"watch a process",
		"Right Left  open, close the selected part of a tree",
		"Esc         back; from functions to the list of processes",
		"f t m       functions, threads, modules",
		"o           the last lines that the program has written",
		"/           show only rows with a text in them; Esc: all",
		"< >         sort by another column",
		"r           sort the other way round",
		"a           figures since the beginning, or of the last round",
		"p Space     freeze the screen; the program goes on",
		"d           length of a round, in seconds",
		"Ctrl-L      redraw the screen",
		"?           this list",
		"q           leave; the program goes on",
		NULL,
	};

	return help;
}
