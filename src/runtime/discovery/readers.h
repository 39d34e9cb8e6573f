#ifndef SWZ_RUNTIME_DISCOVERY_READERS_H
#define SWZ_RUNTIME_DISCOVERY_READERS_H

/* Functions of other modules that look at their return address, and how a
 * module gets to them. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"

#define SWZ_MAX_READERS 64

struct swz_readers {
	uint64_t slots[SWZ_MAX_READERS]; /* GOT entries */
	unsigned slot_count;
	uint64_t stubs[2 * SWZ_MAX_READERS]; /* their PLT entries */
	unsigned stub_count;
};

/* Whether the name is that of a function of libc, or of an unwinder, that looks
 * at its return address, or returns twice. */
bool swz_is_reader_name(const char *name);

/* Fills in the GOT entries. */
void swz_readers_find(struct swz_readers *readers,
		      const struct swz_module *module);

/* Fills in the PLT entries that jump through these, and marks them in
 * SWZ_TEXT_MARKS. */
void swz_readers_mark_stubs(struct swz_readers *readers,
			    const struct swz_module *module);

bool swz_is_reader_slot(const struct swz_readers *readers, uint64_t address);
bool swz_is_reader_stub(const struct swz_readers *readers, uint64_t address);

#endif
