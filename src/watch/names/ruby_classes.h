#ifndef SWZ_WATCH_NAMES_RUBY_CLASSES_H
#define SWZ_WATCH_NAMES_RUBY_CLASSES_H

/* The classes of methods. Before 3.2 a class has a table of its variables, and
 * its name is one of them, below a number that each process chooses: that of
 * Object, whose name is known. */

#include "watch/names/ruby_memory.h"

/* The class or module in which a method is defined, as its entry has it, which
 * may be an included module's stand-in or the class of one object. METHOD: what
 * a frame's variables say, the entry or what leads to it. 0: neither. */
uint64_t swz_ruby_class_of(const struct swz_ruby_memory *memory,
			   uint64_t method);

/* What comes before the name of a method of the class: `Foo::Bar#`, or
 * `Foo::Bar.` for methods of the class itself; to be freed. NULL: the class has
 * no name, it is that of an object which is no class, or it is Object, where
 * functions are that stand in no class. OBJECT_POINTER: where rb_cObject is. */
char *swz_ruby_class_name(const struct swz_ruby_memory *memory,
			  const struct swz_ruby_layout *layout,
			  uint64_t object_pointer, uint64_t class);

#endif
