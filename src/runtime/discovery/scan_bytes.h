#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_BYTES_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_BYTES_H

/* The search of scan_branches.c for bytes that look like a branch to a marked
 * byte. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/module/module.h"

/* A piece of a text that is searched for itself, by any thread. What the first
 * search finds out is noted, so that it can be made again with other marks in a
 * tenth of the time. */
struct swz_byte_part {
	uint64_t begin, end; /* where branches may be; their targets may be
			      * anywhere */
	/* of the search: offsets that long branches, jumps and calls apart,
	 * lead to, and how many there are before each block of the part; and
	 * where addresses are loaded, and what leads to other texts is */
	uint32_t *targets[2];
	uint32_t *before[2];
	uint32_t *others;
	uint32_t other_count;
	bool searched;
	bool noted; /* all of it */
};

/* One text. */
struct swz_byte_scan {
	const uint8_t *code;
	uint64_t size;
	bool stores; /* jumps through memory are to be looked at, too */
	/* Looks at what may be a branch to a marked byte, at this offset. */
	void (*look)(void *context, uint64_t at);
	/* True if something may lead to another text; an offset from here.
	 * NULL: there is none. */
	bool (*leads_on)(void *context, uint64_t to);
	/* Looks at a load of an address. True: again the next time. */
	bool (*look_at_load)(void *context, uint64_t at);
	/* bitmaps, a bit for each byte: what a branch may lead to that
	 * matters; and what a jump may, but no call */
	uint8_t *marks;
	uint8_t *starts;
	struct swz_byte_digest *digest;
	struct swz_byte_part *parts;
	unsigned part_count;
};

/* Prepares all but what is given: code, size and the parts' ends (one begins
 * where the one before ends); for the search the functions, too. In scratch
 * memory that is reused. */
enum swz_status swz_byte_scan_init(struct swz_byte_scan *scan) SWZ_MUST_CHECK;

/* Takes back all marks. */
void swz_byte_scan_clear(struct swz_byte_scan *scan);

/* To be called when the marks are set, before the parts are searched. */
void swz_byte_scan_prepare(struct swz_byte_scan *scan);

/* Branches whose offset has one byte come first, then all others, in order of
 * what they lead to and of where they are. The same one may come twice.
 * Meanwhile marks may be taken back. */
void swz_byte_scan_part(const struct swz_byte_scan *scan,
			struct swz_byte_part *part, void *context);

/* True if a branch with an offset of one byte begins like that. */
static inline bool swz_is_short_branch(uint8_t op)
{
	return (op & 0xf0) == 0x70 || op == 0xeb || (op & 0xfc) == 0xe0;
}

/* Two bitmaps of a module's text, a bit for each byte, with which the scans are
 * asked what leads where. */

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
