#ifndef SWZ_PROFILE_FORMATS_PAGE_HTML_BLOCKS_H
#define SWZ_PROFILE_FORMATS_PAGE_HTML_BLOCKS_H

/* The page's blocks of data besides a thread's functions, contexts and events.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/costs/trace.h"
#include "profile/file/reader.h"
#include "profile/file/values.h"
#include "profile/formats/common/section.h"
#include "profile/names/catalog.h"

#define SWZ_HTML_LEVEL 6 /* of compression */

/* --- a block: deflated, in base64 ----------------------------------------- */

/* A block of data inside of an HTML page: bytes, deflated (zlib's format) and
 * in base64, in a <script> element that no browser runs. What it holds can
 * therefore never be taken for markup. Memory is bounded: everything is written
 * as it comes. Errors of the stream are left to its owner. */

struct swz_page_block;

/* Writes a part of a page as src/html/page.S has it. */
void swz_page_frame(FILE *stream, const char *start, const char *end);

/* Begins a block in STREAM. NAME consists of letters, digits and spaces.
 * LEVEL is zlib's, 1 to 9. */
struct swz_page_block *swz_page_block_begin(FILE *stream, const char *name,
					    int level);

/* Bytes that were put into it so far, before compression. */
uint64_t swz_page_block_size(const struct swz_page_block *block);

void swz_page_block_bytes(struct swz_page_block *block, const void *bytes,
			  size_t size);

/* An unsigned number in LEB128; what is negative is taken for 0. */
void swz_page_block_number(struct swz_page_block *block, uint64_t value);
void swz_page_block_time(struct swz_page_block *block, int64_t value);

/* SIZE bytes of TEXT and a NUL, with '?' for what is not shown
 * (base/printable.h) except characters of KEPT. */
void swz_page_block_shown(struct swz_page_block *block, const char *text,
			  size_t size, const char *kept);

/* The same of a text up to its NUL ... */
void swz_page_block_text(struct swz_page_block *block, const char *text);

/* ... and of a line, which keeps its tabs and loses the CR at its end. */
void swz_page_block_line(struct swz_page_block *block, const char *text,
			 size_t size);

/* Writes what is left, and frees the block. Returns the bytes of base64. */
uint64_t swz_page_block_end(struct swz_page_block *block);

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

/* --- sources -------------------------------------------------------------- */

/* The source of functions in a page (docs/html.md). Which lines are of interest
 * is gathered section by section; the files are read at the end, those first
 * whose functions took most time, until a page has as much text as it may. */

struct swz_html_sources;

struct swz_html_sources *swz_html_sources_begin(void);

/* The functions of a section, and where they call others. */
void swz_html_sources_add(struct swz_html_sources *sources,
			  const struct swz_section *section);

/* Writes the block "sources", without text where it is not WANTED, and frees
 * SOURCES. CATALOG is that of the sections. */
void swz_html_sources_end(struct swz_html_sources *sources, FILE *stream,
			  const struct swz_catalog *catalog, bool wanted);

/* --- calls ---------------------------------------------------------------- */

/* Calls that have a band of their own in the page's timeline: those that print
 * lines, and those that the configuration gives one (docs/html.md). */

/* The names of all bands of a page. The first one is that of printed lines. */
struct swz_html_band_names {
	const char **names; /* of the rules */
	size_t count, capacity;
};
void swz_html_band_names_free(struct swz_html_band_names *names);

/* --- values -------------------------------------------------------------- */

/* Arguments and results of a trace's calls, as the page has them: in blocks of
 * their own, of which it reads those that it is asked for (docs/html.md). */

/* Bytes of a page that values may have. */
#define SWZ_HTML_VALUE_BYTES ((uint64_t)64 << 20)

/* --- calls --------------------------------------------------------------- */

/* The page has more of a trace's calls than their events: arguments and
 * results, and the bands of the timeline. */

/* Calls of which the page has less than there is. */
struct swz_html_cut {
	uint64_t values; /* begins and ends, whose values had no room */
	uint64_t banded; /* calls that are missing in bands */
};

/* Writes that of the section's thread, which has this NUMBER in the page, and
 * contexts by unit; nothing where there is none. Bytes of values are taken from
 * *ROOM. */
struct swz_html_cut swz_html_put_calls(FILE *stream, size_t number,
				       uint64_t *room,
				       struct swz_html_band_names *bands,
				       const struct swz_section *section);

/* --- the events of a trace ------------------------------------------------ */

/* The events of a trace, and samples, as the page has them (docs/html.md). */

struct swz_html_index;
struct swz_html_levels;

/* --- levels: a trace from afar ------------------------------------------- */

/* A trace from afar: its activations with those merged that are narrower than a
 * pixel, for some sizes of pixels. A page draws these where the events
 * themselves would be too many (docs/html.md). */

/* Flags of an activation. */
enum swz_html_flag {
	SWZ_HTML_NO_CALL = 1, /* it counts no call */
	SWZ_HTML_UNWOUND = 2,
	SWZ_HTML_CUT = 4, /* it is longer than what is known of it */
	/* (8: a level has several in one) */
	SWZ_HTML_ERROR = 16 /* its result is an error */
};

struct swz_html_activation {
	uint64_t start, end; /* ticks */
	uint32_t context;
	unsigned int flags;
	uint64_t calls; /* made in it, directly or not */
};

/* For a thread that was there from START to END. */
struct swz_html_levels *swz_html_levels_begin(uint64_t start, uint64_t end);

/* An activation with ROW others around it. Those of a row come in the order of
 * time. */
void swz_html_levels_add(struct swz_html_levels *levels, uint64_t row,
			 const struct swz_html_activation *activation);

/* Writes the block NAME to STREAM, unless that is NULL, in ticks since ORIGIN;
 * frees LEVELS. */
void swz_html_levels_end(struct swz_html_levels *levels, FILE *stream,
			 const char *name, uint64_t origin);

/* --- the index of blocks ------------------------------------------------- */

/* An index makes each block of a trace's events readable by itself: it says
 * when it begins, and which activations are open then, whole, with their ends
 * (docs/html.md). */

struct swz_html_index *swz_html_index_begin(void);

/* A block begins at TICKS, with so many ACTIVATIONS behind it. Of those that
 * were open at the block before the outermost KEPT still are. */
void swz_html_index_block(struct swz_html_index *index, uint64_t ticks,
			  uint64_t activations, uint64_t kept);

/* Opens one more activation there. Returns its number, by which it is ended. */
uint32_t swz_html_index_open(struct swz_html_index *index);

/* Ends the activation of that number. */
void swz_html_index_close(struct swz_html_index *index, uint32_t number,
			  const struct swz_html_activation *activation);

/* Writes the block NAME to STREAM, unless that is NULL, in ticks since ORIGIN;
 * frees INDEX. ACTIVATIONS is how many there are. */
void swz_html_index_end(struct swz_html_index *index, FILE *stream,
			const char *name, uint64_t origin,
			uint64_t activations);

/* --- events -------------------------------------------------------------- */

/* The amounts that were written of a thread. */
struct swz_html_events {
	uint64_t events;
	uint64_t activations;
	uint64_t deepest;        /* activations that were open at once */
	uint64_t untraced;       /* events that the trace had no room for */
	uint64_t short_calls;    /* that it has left out */
	uint64_t untraced_calls; /* of which there are no events */
	int64_t untraced_ns;     /* the time of which there are none */
	int64_t untraced_own_ns; /* of this, work of ours */
};

/* Bytes of a page that events may have. */
#define SWZ_HTML_EVENT_BYTES ((uint64_t)256 << 20)

/* Writes blocks "events NUMBER 0", "events NUMBER 1", ... with the events of
 * the section's thread, whose contexts are by unit; and if there are more than
 * a few of them "levels NUMBER" and "index NUMBER". Bytes of events are taken
 * from *ROOM; when that is used up the other blocks of events are left out. */
void swz_html_put_events(FILE *stream, size_t number, uint64_t *room,
			 const struct swz_section *section,
			 struct swz_html_events *written);

/* Writes the block "failed NUMBER", if any call failed: of contexts how many
 * calls were ended by an exception, and how many returned an error, of which
 * ERRORS has the number by context; NULL: that is not known. */
void swz_html_put_failed(FILE *stream, size_t number,
			 const struct swz_contexts *contexts,
			 const uint64_t *errors);

/* --- samples -------------------------------------------------------------- */

/* Writes the block "samples NUMBER": when each sample with a time was taken of
 * the section's thread, whose contexts are by unit, and what it stands for. */
void swz_html_put_samples(FILE *stream, size_t number,
			  const struct swz_section *section);

/* --- the page of calls --------------------------------------------------- */

/* -f calls-html: calls as a page; and --file-per-invocation: a file for each
 * call of a function. */

#define SWZ_CALLS_OF_PAGE 500000u /* at most, unless asked for */
#define SWZ_INVOCATIONS 1000u     /* files, the same */

void swz_write_calls_html(FILE *stream, struct swz_trace *trace);

struct swz_invocations {
	uint64_t calls; /* the outermost that are shown */
	uint64_t files; /* that were written, but for the index */
};

/* Writes into the folder DIRECTORY, which is there, a file for each of the
 * outermost calls and an index of them. Where that fails, trace->failure says
 * why. */
struct swz_invocations swz_write_invocations_html(const char *directory,
						  struct swz_trace *trace);
struct swz_invocations swz_write_invocations_text(const char *directory,
						  struct swz_trace *trace);

#endif
