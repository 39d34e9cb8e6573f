#ifndef SWZ_WATCH_NAMES_RUBY_MEMORY_H
#define SWZ_WATCH_NAMES_RUBY_MEMORY_H

/* Words and texts in the memory of a process that has Ruby 3.1 in it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/names/script_frame.h"

struct swz_ruby_memory {
	swz_script_read *read;
	void *context;
	bool has_long_strings; /* since 3.2: no length in their flags */
};

/* What differs in objects since 3.3. */
struct swz_ruby_layout {
	uint32_t class_path;     /* the name, in a class; 0: among variables */
	uint32_t class_attached; /* the same: whose own class it is */
	bool has_long_strings;
};

/* What kind of object: its first word */
#define SWZ_RUBY_TYPE 0x1fu
#define SWZ_RUBY_CLASS 0x02u
#define SWZ_RUBY_MODULE 0x03u
#define SWZ_RUBY_STRING 0x05u
#define SWZ_RUBY_ARRAY 0x07u
#define SWZ_RUBY_INTERNAL 0x1au
#define SWZ_RUBY_INCLUDED 0x1cu /* a module, in the place of a class */
/* of internal ones */
#define SWZ_RUBY_KIND (0xf000u | SWZ_RUBY_TYPE)
#define SWZ_RUBY_INTERNAL_KIND(n) ((n) << 12 | SWZ_RUBY_INTERNAL)

/* False: not all of it can be read. */
bool swz_ruby_bytes(const struct swz_ruby_memory *memory, uint64_t address,
		    void *into, size_t size);
bool swz_ruby_word(const struct swz_ruby_memory *memory, uint64_t address,
		   uint64_t *word);

/* A String as UTF-8, the first 1024 bytes of it; to be freed. NULL: it is none.
 */
char *swz_ruby_text(const struct swz_ruby_memory *memory, uint64_t object);

#endif
