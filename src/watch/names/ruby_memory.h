#ifndef SWZ_WATCH_NAMES_RUBY_MEMORY_H
#define SWZ_WATCH_NAMES_RUBY_MEMORY_H

/* Words and texts in the memory of a process that has Ruby in it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/names/script_codes.h"

struct swz_ruby_memory {
	swz_script_read *read;
	void *context;
	bool has_long_strings; /* since 3.2: no length in their flags */
};

/* Objects differ between versions in these. */
struct swz_ruby_layout {
	uint32_t class_path;     /* the name, in a class; 0: among variables */
	uint32_t class_attached; /* the same: whose own class it is */
	uint32_t class_of_one;   /* the flag of a class of one object alone */
	bool has_long_strings;
};

/* The kind of an object: its first word */
#define SWZ_RUBY_TYPE 0x1fu
#define SWZ_RUBY_CLASS 0x02u
#define SWZ_RUBY_MODULE 0x03u
#define SWZ_RUBY_STRING 0x05u
#define SWZ_RUBY_ARRAY 0x07u
#define SWZ_RUBY_INTERNAL 0x1au
#define SWZ_RUBY_INCLUDED 0x1cu /* a module, in the place of a class */
/* The flags whose meaning depends on the kind. */
#define SWZ_RUBY_FLAG(n) (1u << (12 + (n)))
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

/* --- classes and their names --------------------------------------------- */

/* The classes of methods. Before 3.2 a class has a table of its variables, and
 * its name is one of them, below a number that each process chooses: that of
 * Object, whose name is known. */

/* The class or module in which a method is defined, as its entry has it, which
 * may be an included module's stand-in or the class of one object. METHOD: what
 * a frame's variables say, the entry or what leads to it. 0: neither. */
uint64_t swz_ruby_class_of(const struct swz_ruby_memory *memory,
			   uint64_t method);

/* Returns the words before a method's name: `Foo::Bar#`, or `Foo::Bar.` for
 * methods of the class itself; to be freed. NULL: the class has
 * no name, it is that of an object which is no class, or it is Object, where
 * functions are that stand in no class. OBJECT_POINTER: where rb_cObject is. */
char *swz_ruby_class_name(const struct swz_ruby_memory *memory,
			  const struct swz_ruby_layout *layout,
			  uint64_t object_pointer, uint64_t class);

#endif
