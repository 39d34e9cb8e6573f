#ifndef SWZ_TOOLS_DUMP_EVENTS_H
#define SWZ_TOOLS_DUMP_EVENTS_H

/* Formats that show the events of traces. */

#include <stdbool.h>

#include "tools/dump/input.h"

/* A format that has both shows a trace's events, unless something is asked for
 * that is about sums. */
bool swz_dump_writes_events(const struct swz_dump_input *input,
			    const struct swz_dump_options *options);

/* Says of which times of the threads that are asked for there are no events,
 * where that is of any importance for the output. */
void swz_dump_warn_untraced(const struct swz_dump_input *input,
			    const struct swz_dump_options *options);

/* Writes them; the catalog is resolved. Returns an exit status. */
int swz_dump_write_events(const struct swz_dump_input *input,
			  const struct swz_catalog *catalog,
			  const struct swz_dump_options *options);

#endif
