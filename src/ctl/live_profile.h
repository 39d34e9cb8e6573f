#ifndef SWZ_CTL_LIVE_PROFILE_H
#define SWZ_CTL_LIVE_PROFILE_H

/* The profile of a process that runs, opened by another one: it reads what is
 * there, changes the request (struct swz_request) and adds marks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/processes.h"
#include "swizzle/format.h"

struct swz_live_profile {
	const char *path;
	int fd;
	uint8_t *page;                  /* the header's, mapped */
	struct swz_file_header *header; /* in it */
	struct swz_request *request;    /* in it */
	char problem[256];
};

/* False: ->problem says why. To be closed if it is true. */
bool swz_live_open(struct swz_live_profile *profile,
		   const struct swz_ctl_process *process);
/* Whether the program has begun: before, its functions are being planned, and
 * nothing may be asked of it. Waits for that, NS at most. */
bool swz_live_wait_ready(struct swz_live_profile *profile,
			 const struct swz_ctl_process *process, uint64_t ns);

void swz_live_close(struct swz_live_profile *profile);

enum swz_request_state swz_live_state(const struct swz_live_profile *profile);

/* Asks for a state, and marks that. Returns whether it is another one than
 * before; of two who ask at once that is true for one. What is detached stays
 * so. */
bool swz_live_set(struct swz_live_profile *profile,
		  enum swz_request_state state);

/* Marks this moment. False: there is no room, ->problem says so. */
bool swz_live_mark(struct swz_live_profile *profile, enum swz_mark_kind kind,
		   const char *text);

/* Calls and threads so far. */
struct swz_live_counts {
	uint64_t calls;
	uint64_t threads;
};
struct swz_live_counts swz_live_count(const struct swz_live_profile *profile);

/* Calls VISIT for each chunk that is complete, with its offset. */
typedef void swz_live_visitor(void *context, const struct swz_chunk *chunk,
			      uint64_t offset);
void swz_live_chunks(const struct swz_live_profile *profile, uint64_t end,
		     swz_live_visitor *visit, void *context);

/* Bytes that are in use. */
uint64_t swz_live_used(const struct swz_live_profile *profile);

/* This moment, as profiles have it (rdtsc). */
uint64_t swz_live_ticks(void);

#endif
