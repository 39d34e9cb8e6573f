#ifndef SWZ_PROFILE_FORMATS_CALLS_PAGE_H
#define SWZ_PROFILE_FORMATS_CALLS_PAGE_H

/* Calls as a page for a browser (src/html/calls.html), with blocks of data
 * (page_block.h) in its midst:
 *
 * "calls N": of thread N. Records, each a number, the ns since the one before
 * (the first: since time 0) times 4, plus its kind:
 *   0 a call begins: its function times 2, plus 1 if it began before what is
 *     shown; a text: its arguments
 *   1 the innermost ends: flags (SWZ_PAGE_*), two texts, its result and what
 *     its arguments point at then; by the flags another text, who returned the
 *     error first, how the object differs, and the number of calls in it that
 *     are not in the page
 *   2 a text: what woke the thread
 * "functions": JSON, a list. "about": JSON. */

#include "profile/formats/calls_walk.h"
#include "profile/formats/page_block.h"
#include "profile/support/map.h"

enum {
	SWZ_PAGE_EXCEPTIONAL = 1,
	SWZ_PAGE_FIRST = 2,  /* the error is new; the text says so */
	SWZ_PAGE_ORIGIN = 4, /* it is not; the text says whose it was */
	SWZ_PAGE_INSIDE = 8, /* calls were left out */
	SWZ_PAGE_UNLIKE = 32 /* how the object differs from that of the last
			      * call that succeeded */
};

/* Functions that records refer to, numbered as they come. */
struct swz_page_functions {
	struct swz_map numbers; /* by the catalog's */
	FILE *json;
	char *text;
	size_t size;
	uint32_t count;
};
void swz_page_functions_begin(struct swz_page_functions *functions);
uint32_t swz_page_function(struct swz_page_functions *functions,
			   const struct swz_trace *trace, uint32_t function);
/* Writes the block, and frees. */
void swz_page_functions_end(struct swz_page_functions *functions, FILE *stream);

struct swz_calls_page {
	struct swz_calls_sink sink;
	struct swz_page_functions functions;
	struct swz_page_block *block; /* of the thread; or NULL */
	FILE *threads;                /* JSON */
	char *threads_text;
	size_t threads_size;
	unsigned int thread_count;
	int64_t last_ns;
	uint64_t most;          /* calls that are written; 0: any number */
	uint64_t calls, errors; /* that were */
	uint64_t cut;           /* were not, as there were that many */
	size_t skipped;         /* the innermost so many that are open */
	uint64_t *cut_before;   /* `cut` when each that is open began */
	size_t cut_capacity;
};

/* What a page says besides. */
struct swz_calls_about {
	uint64_t left_out; /* calls that are not in it, but for `cut` */
	uint64_t all;      /* calls there are */
	int64_t least_ns;  /* shorter calls were left out ... */
	bool for_room;     /* ... as they would be too many; not as asked for */
	uint64_t number;   /* of the invocation that the page is of; 0: none */
	uint64_t nested;   /* calls of its function in it */
};

/* Writes what comes before the data. */
void swz_calls_page_begin(struct swz_calls_page *page, FILE *stream,
			  uint64_t most);
/* Writes the end. */
void swz_calls_page_end(struct swz_calls_page *page,
			const struct swz_trace *trace,
			const struct swz_calls_about *about);

/* A block with a JSON text; both are freed. */
void swz_page_json(FILE *stream, const char *name, char *text, size_t size);

/* What comes before, and after, the data of such a page. */
void swz_calls_frame_head(FILE *stream);
void swz_calls_frame_tail(FILE *stream);

/* "process 1, thread 2 (name) of app": a JSON object. */
void swz_page_thread(FILE *json, const struct swz_calls_walk *w);

#endif
