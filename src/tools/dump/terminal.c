#include "tools/dump/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL_WIDTH 80
#define MOST_WIDTH 10000

bool swz_terminal_is_output(void)
{
	return isatty(STDOUT_FILENO);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* What the user has exported counts for a pipe, too: less shows it. 0: not
 * known. */
static unsigned int exported_width(void)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	return width > 0 && width <= MOST_WIDTH ? (unsigned int)width : 0;
}

static unsigned int terminal_width(void)
{
	struct winsize size;

	if (exported_width())
		return exported_width();
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return USUAL_WIDTH;
}

static bool has_colours(void)
{
	const char *term = getenv("TERM");

	return !is_set("NO_COLOR") && term && *term &&
	       strcmp(term, "dumb") != 0;
}

struct swz_style swz_terminal_style(enum swz_colour_when colour, bool terminal)
{
	struct swz_style style = {0};

	setlocale(LC_CTYPE, "");
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (terminal)
		style.width = terminal_width();
	else if (colour == SWZ_COLOUR_ALWAYS)
		style.width = exported_width();
	style.colour = colour == SWZ_COLOUR_ALWAYS ||
		       (colour == SWZ_COLOUR_AUTO && terminal && has_colours());
	return style;
}
