#ifndef SWZ_TOP_PAINT_H
#define SWZ_TOP_PAINT_H

/* Draws swizzle-top's screen. */

#include "top/page.h"
#include "top/session.h"
#include "top/terminal.h"

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

#endif
