#ifndef SWZ_PROFILE_FORMATS_PAGE_HTML_BLOCKS_H
#define SWZ_PROFILE_FORMATS_PAGE_HTML_BLOCKS_H

/* The page's blocks of data besides a thread's functions, contexts and events.
 */

#include <stddef.h>
#include <stdio.h>

#include "profile/file/reader.h"
#include "profile/formats/common/section.h"
#include "profile/formats/page/page_block.h"
#include "profile/names/catalog.h"

#define SWZ_HTML_LEVEL 6 /* of compression */

/* --- names --------------------------------------------------------------- */

/* Writes the names of modules, functions and places: the strings first, into
 * one block, then what refers to them. */
void swz_html_put_catalog(FILE *stream, const struct swz_catalog *catalog);

/* --- ranks --------------------------------------------------------------- */

/* The page's heat map shows what the ranks of a parallel program have spent in
 * each function. Profiles of single processes need no such block: there each
 * thread has a rank. Sums of profiles do. */

/* So many times are in a page at the most: functions times ranks. */
#define SWZ_HTML_RANK_CELLS ((size_t)4 << 20)

/* Writes the block "ranks INDEX" for a section of one thread, if its profile is
 * a sum with ranks and the thread is of these, unless a view leaves something
 * out (what moves from one function to another is not known of a rank). *ROOM
 * is how many times there may be still. Returns of how many functions there are
 * none for want of it: those with the least self time. */
size_t swz_html_put_ranks(FILE *stream, size_t index,
			  const struct swz_section *section, size_t *room);

/* --- comparisons --------------------------------------------------------- */

/* The old figures of a comparison. */

/* True if a function has a row: it appears on either side. */
bool swz_html_has_row(const struct swz_section *section, size_t function);

/* The old side of the rows, edges and contexts of a thread, in the order in
 * which their block has them. src/html/diff.js reads it. */
void swz_html_put_old(struct swz_page_block *block,
		      const struct swz_section *section);

/* --- flows --------------------------------------------------------------- */

/* The page shows what woke what (--flows). */

/* A thread of the page, in the order of their numbers. */
struct swz_html_flow_thread {
	size_t profile;                          /* of the page's */
	const struct swz_profile_thread *thread; /* NULL: of no thread */
};

/* Writes the block "flows" if there are any. Returns what was not certain, for
 * people, to be freed; NULL: nothing. */
char *swz_html_put_flows(FILE *stream,
			 const struct swz_html_flow_thread *threads,
			 size_t thread_count,
			 struct swz_profile *const *profiles,
			 size_t profile_count);

/* --- last values --------------------------------------------------------- */

/* Writes the block "last NUMBER" of a section whose profile is no trace: the
 * last arguments and results of its contexts, which are by unit, and their
 * extremes (docs/html.md). Nothing where there are none. */
void swz_html_put_last(FILE *stream, size_t number,
		       const struct swz_section *section);

/* --- waiting ------------------------------------------------------------- */

/* Waiting in the page. */

/* Writes the block "waiting NUMBER", if waiting is known: of each row of the
 * functions of "thread NUMBER", in their order, what of its self and inclusive
 * time was waiting. And "off NUMBER", if context switches are known: the times
 * in which the section's thread did not run. */
void swz_html_put_waiting(FILE *stream, size_t number,
			  const struct swz_section *section);

/* --- settings ------------------------------------------------------------ */

/* Writes the block "settings": of each function that the configuration gives a
 * prefix or a colour its number since the one before, both texts ("": none).
 * Nothing where there is none. VIEW may be NULL. */
void swz_html_put_settings(FILE *stream, const struct swz_view *view,
			   const struct swz_catalog *catalog);

#endif
