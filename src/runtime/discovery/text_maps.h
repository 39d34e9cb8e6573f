#ifndef SWZ_RUNTIME_DISCOVERY_TEXT_MAPS_H
#define SWZ_RUNTIME_DISCOVERY_TEXT_MAPS_H

/* Two bitmaps of a module's text, a bit for each byte, with which the scans are
 * asked what leads where. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/module/module.h"

enum swz_text_map { SWZ_TEXT_MARKS, SWZ_TEXT_STARTS };

/* Makes both, all clear, in scratch memory that is reused. */
enum swz_status swz_text_maps_clear(struct swz_module *m) SWZ_MUST_CHECK;

void swz_text_mark(const struct swz_module *m, enum swz_text_map map,
		   uint64_t address);
void swz_text_unmark(const struct swz_module *m, enum swz_text_map map,
		     uint64_t address);
bool swz_text_is_marked(const struct swz_module *m, enum swz_text_map map,
			uint64_t address);

#endif
