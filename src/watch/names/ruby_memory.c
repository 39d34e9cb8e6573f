#include "watch/names/ruby_memory.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

/* struct RString */
enum {
	STRING_INSIDE = 16, /* of short ones */
	STRING_LENGTH = 16,
	STRING_TEXT = 24,
	STRING_BYTES = 40
};
#define STRING_IS_LONG (1u << 13)
#define STRING_SHIFT 14u

#define MOST_TEXT 1024u

bool swz_ruby_bytes(const struct swz_ruby_memory *memory, uint64_t address,
		    void *into, size_t size)
{
	return address &&
	       memory->read(memory->context, address, into, size) == size;
}

bool swz_ruby_word(const struct swz_ruby_memory *memory, uint64_t address,
		   uint64_t *word)
{
	return swz_ruby_bytes(memory, address, word, sizeof(*word));
}

/* How many bytes the character has; 0: it is none of UTF-8. */
static size_t character(const uint8_t *text, size_t left)
{
	size_t size = text[0] < 0x80   ? 1
		      : text[0] < 0xc2 ? 0
		      : text[0] < 0xe0 ? 2
		      : text[0] < 0xf0 ? 3
		      : text[0] < 0xf5 ? 4
				       : 0;

	if (size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

static void make_plain(uint8_t *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t size = character(text + i, length - i);

		if (size == 0 || text[i] < ' ' || text[i] == 0x7f) {
			text[i] = '?';
			size = 1;
		}
		i += size;
	}
}

char *swz_ruby_text(const struct swz_ruby_memory *memory, uint64_t object)
{
	uint8_t head[STRING_BYTES], *text;
	uint64_t flags, length, from;

	if (!swz_ruby_bytes(memory, object, head, sizeof(head)))
		return NULL;
	flags = swz_script_word(head, 0);
	if ((flags & SWZ_RUBY_TYPE) != SWZ_RUBY_STRING)
		return NULL;
	if (flags & STRING_IS_LONG) {
		length = swz_script_word(head, STRING_LENGTH);
		from = swz_script_word(head, STRING_TEXT);
	} else if (memory->has_long_strings) {
		length = swz_script_word(head, STRING_LENGTH);
		from = object + STRING_TEXT;
	} else {
		length = flags >> STRING_SHIFT & 0x1f;
		from = object + STRING_INSIDE;
	}
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	text = swz_allocate((size_t)length + 1, 1);
	if (!swz_ruby_bytes(memory, from, text, (size_t)length)) {
		free(text);
		return NULL;
	}
	make_plain(text, (size_t)length);
	return (char *)text;
}

/* --- classes and their names --------------------------------------------- */

enum {
	WORD = 8,
	/* rb_method_entry_t */
	METHOD_CLASS = 8,
	METHOD_BYTES = 16,
	/* struct vm_svar, which begins as long */
	SPECIALS_METHOD = 8,
	/* struct RBasic, struct RClass */
	OBJECT_CLASS = 8,
	CLASS_MORE = 24,
	CLASS_BYTES = 32,
	/* rb_classext_t */
	MORE_VARIABLES = 8,
	/* struct st_table: entries from the first to behind the last in use */
	TABLE_FIRST = 32,
	TABLE_END = 40,
	TABLE_ENTRIES = 48,
	TABLE_BYTES = 56,
	/* st_table_entry */
	ENTRY_KEY = 8,
	ENTRY_VALUE = 16,
	ENTRY_BYTES = 24
};

#define METHOD_KIND SWZ_RUBY_INTERNAL_KIND(6u)
#define SPECIALS_KIND SWZ_RUBY_INTERNAL_KIND(2u) /* $~ and $_ of a method */

#define MOST_VARIABLES 256u

struct variables {
	uint8_t entries[MOST_VARIABLES * ENTRY_BYTES];
	size_t count;
};

uint64_t swz_ruby_class_of(const struct swz_ruby_memory *memory,
			   uint64_t method)
{
	uint8_t entry[METHOD_BYTES];

	if (!swz_ruby_bytes(memory, method, entry, sizeof(entry)))
		return 0;
	if ((swz_script_word(entry, 0) & SWZ_RUBY_KIND) == SPECIALS_KIND &&
	    !swz_ruby_bytes(memory, swz_script_word(entry, SPECIALS_METHOD),
			    entry, sizeof(entry)))
		return 0;
	if ((swz_script_word(entry, 0) & SWZ_RUBY_KIND) != METHOD_KIND)
		return 0;
	return swz_script_word(entry, METHOD_CLASS);
}

/* Reads the first variables of a class: its name is among them. */
static bool read_variables(const struct swz_ruby_memory *memory,
			   const uint8_t *class, struct variables *variables)
{
	uint8_t table[TABLE_BYTES];
	uint64_t address, first, count;

	if (!swz_ruby_word(memory,
			   swz_script_word(class, CLASS_MORE) + MORE_VARIABLES,
			   &address) ||
	    !swz_ruby_bytes(memory, address, table, sizeof(table)))
		return false;
	first = swz_script_word(table, TABLE_FIRST);
	count = swz_script_word(table, TABLE_END) - first;
	if (first > UINT32_MAX || count > UINT32_MAX)
		return false;
	variables->count = count < MOST_VARIABLES ? (size_t)count
						  : MOST_VARIABLES;
	return swz_ruby_bytes(
		memory,
		swz_script_word(table, TABLE_ENTRIES) + first * ENTRY_BYTES,
		variables->entries, variables->count * ENTRY_BYTES);
}

static uint64_t key_at(const struct variables *variables, size_t i)
{
	return swz_script_word(variables->entries, i * ENTRY_BYTES + ENTRY_KEY);
}

static uint64_t value_at(const struct variables *variables, size_t i)
{
	return swz_script_word(variables->entries,
			       i * ENTRY_BYTES + ENTRY_VALUE);
}

/* The number below which names are kept; 0: it is not found. */
static uint64_t name_key(const struct swz_ruby_memory *memory, uint64_t object)
{
	uint8_t class[CLASS_BYTES];
	struct variables variables;
	uint64_t key = 0;

	if (!swz_ruby_bytes(memory, object, class, sizeof(class)) ||
	    !read_variables(memory, class, &variables))
		return 0;
	for (size_t i = 0; i < variables.count && !key; i++) {
		char *text = swz_ruby_text(memory, value_at(&variables, i));

		if (text && strcmp(text, "Object") == 0)
			key = key_at(&variables, i);
		free(text);
	}
	return key;
}

/* The class whose own class that is, which is known by that; 0: it is another
 * object's. */
static uint64_t only_class(const struct swz_ruby_memory *memory,
			   uint64_t address, const uint8_t *class)
{
	struct variables variables;

	if (!read_variables(memory, class, &variables))
		return 0;
	for (size_t i = 0; i < variables.count; i++) {
		uint64_t value = value_at(&variables, i);
		uint8_t object[2 * WORD];
		uint64_t type;

		if (value % WORD ||
		    !swz_ruby_bytes(memory, value, object, sizeof(object)))
			continue;
		type = swz_script_word(object, 0) & SWZ_RUBY_TYPE;
		if ((type == SWZ_RUBY_CLASS || type == SWZ_RUBY_MODULE) &&
		    swz_script_word(object, OBJECT_CLASS) == address)
			return value;
	}
	return 0;
}

static char *read_name(const struct swz_ruby_memory *memory, uint64_t key,
		       const uint8_t *class, const char *mark)
{
	struct variables variables;
	char *name = NULL, *all;

	if (!key || !read_variables(memory, class, &variables))
		return NULL;
	for (size_t i = 0; i < variables.count && !name; i++)
		if (key_at(&variables, i) == key)
			name = swz_ruby_text(memory, value_at(&variables, i));
	all = name && *name ? swz_print("%s%s", name, mark) : NULL;
	free(name);
	return all;
}

/* Where the class itself says how it is called. */
static char *read_own_name(const struct swz_ruby_memory *memory,
			   uint64_t address, const char *mark)
{
	uint64_t text;
	char *name = swz_ruby_word(memory, address, &text)
			     ? swz_ruby_text(memory, text)
			     : NULL;
	char *all = name && *name ? swz_print("%s%s", name, mark) : NULL;

	free(name);
	return all;
}

static uint64_t attached_class(const struct swz_ruby_memory *memory,
			       const struct swz_ruby_layout *layout,
			       uint64_t address, const uint8_t *class)
{
	uint8_t object[2 * WORD];
	uint64_t value, type;

	if (!layout->class_attached)
		return only_class(memory, address, class);
	if (!swz_ruby_word(memory, address + layout->class_attached, &value) ||
	    !swz_ruby_bytes(memory, value, object, sizeof(object)))
		return 0;
	type = swz_script_word(object, 0) & SWZ_RUBY_TYPE;
	return type == SWZ_RUBY_CLASS || type == SWZ_RUBY_MODULE ? value : 0;
}

char *swz_ruby_class_name(const struct swz_ruby_memory *memory,
			  const struct swz_ruby_layout *layout,
			  uint64_t object_pointer, uint64_t class)
{
	uint8_t bytes[CLASS_BYTES];
	const char *mark = "#";
	uint64_t object;

	if (!swz_ruby_word(memory, object_pointer, &object) ||
	    !swz_ruby_bytes(memory, class, bytes, sizeof(bytes)))
		return NULL;
	if ((swz_script_word(bytes, 0) & SWZ_RUBY_TYPE) == SWZ_RUBY_INCLUDED) {
		class = swz_script_word(bytes, OBJECT_CLASS);
		if (!swz_ruby_bytes(memory, class, bytes, sizeof(bytes)))
			return NULL;
	}
	if (class == object)
		return NULL;
	if ((swz_script_word(bytes, 0) &
	     (SWZ_RUBY_TYPE | layout->class_of_one)) ==
	    (SWZ_RUBY_CLASS | layout->class_of_one)) {
		mark = ".";
		class = attached_class(memory, layout, class, bytes);
		if (!swz_ruby_bytes(memory, class, bytes, sizeof(bytes)))
			return NULL;
	}
	if (layout->class_path)
		return read_own_name(memory, class + layout->class_path, mark);
	return read_name(memory, name_key(memory, object), bytes, mark);
}
