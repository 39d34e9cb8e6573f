#ifndef SWZ_PROFILE_FORMATS_CALLS_LIVE_H
#define SWZ_PROFILE_FORMATS_CALLS_LIVE_H

/* --follow: the calls of traces that are being recorded, of all their threads
 * in the order of time. */

#include <stdbool.h>
#include <stdio.h>

#include "profile/costs/trace.h"

struct swz_live;

/* TRACE has the options, and gets its origin from the first profile; its
 * catalog is CATALOG. All of them, and CONFIG, must outlive it. */
struct swz_live *swz_live_new(FILE *stream, struct swz_trace *trace,
			      struct swz_catalog *catalog,
			      const struct swz_config_file *config);
void swz_live_free(struct swz_live *live);

/* One more profile to be followed. */
void swz_live_add(struct swz_live *live, const char *path);

/* Writes what has happened since the last time. LAST: nothing more will be
 * written to the profiles. */
void swz_live_read(struct swz_live *live, bool last);

/* True if a profile is being written. */
bool swz_live_goes_on(const struct swz_live *live);

/* How many profiles were found; NAME: one of the others, REASON: why (not a
 * trace, damaged), or NULL. */
size_t swz_live_found(const struct swz_live *live, const char **name,
		      const char **reason);

#endif
