#ifndef SWZ_PROFILE_FORMATS_HTML_RANKS_H
#define SWZ_PROFILE_FORMATS_HTML_RANKS_H

/* What the ranks of a parallel program have spent in each function, for the
 * page's heat map. Profiles of single processes need no such block: there each
 * thread has a rank. Sums of profiles do. */

#include "profile/formats/formats.h"

/* So many times are in a page at the most: functions times ranks. */
#define SWZ_HTML_RANK_CELLS ((size_t)4 << 20)

/* Writes the block "ranks INDEX" for a section of one thread, if its profile is
 * a sum with ranks and the thread is of these, unless a view leaves something
 * out (what moves from one function to another is not known of a rank). *ROOM
 * is how many times there may be still. Returns of how many functions there are
 * none for want of it: those with the least self time. */
size_t swz_html_put_ranks(FILE *stream, size_t index,
			  const struct swz_section *section, size_t *room);

#endif
