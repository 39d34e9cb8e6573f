#include "watch/names/python_memory.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

#define MOST_TEXT 1024u
#define HEAD_BYTES 128u

/* Bits of a str's state. */
enum { KIND_SHIFT = 2, KIND_MASK = 7, IS_COMPACT = 1 << 5, IS_ASCII = 1 << 6 };

bool swz_python_bytes(const struct swz_python_memory *memory, uint64_t address,
		      void *into, size_t size)
{
	return address &&
	       memory->read(memory->context, address, into, size) == size;
}

bool swz_python_word(const struct swz_python_memory *memory, uint64_t address,
		     uint64_t *word)
{
	return swz_python_bytes(memory, address, word, sizeof(*word));
}

/* The address of an object's type; 0: it cannot be read. */
static uint64_t python_type_of(const struct swz_python_memory *memory,
			       uint64_t object)
{
	uint64_t type;

	return object && swz_python_word(memory,
					 object + memory->layout.object_type,
					 &type)
		       ? type
		       : 0;
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x20 || c == 0x7f)
		c = '?';
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static uint32_t character(const uint8_t *text, size_t i, size_t width)
{
	uint32_t c = 0;

	memcpy(&c, text + i * width, width);
	return c;
}

char *swz_python_text(const struct swz_python_memory *memory, uint64_t object)
{
	const struct swz_python_layout *l = &memory->layout;
	uint8_t head[HEAD_BYTES], text[4 * MOST_TEXT];
	size_t width, length, used = 0;
	uint32_t state;
	char *copy;

	if (!swz_python_bytes(memory, object, head, l->str_bytes) ||
	    swz_script_word(head, l->object_type) !=
		    memory->types[SWZ_TYPE_STR])
		return NULL;
	state = swz_script_half(head, l->str_state);
	width = state >> KIND_SHIFT & KIND_MASK;
	length = swz_script_word(head, l->str_length);
	if (!(state & IS_COMPACT) || (width != 1 && width != 2 && width != 4))
		return NULL;
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	/* (between them: its length and a pointer, and before 3.12 one more
	 * length) */
	if (!swz_python_bytes(memory,
			      object + l->str_bytes +
				      (state & IS_ASCII ? 0 : l->str_more),
			      text, length * width))
		return NULL;
	copy = swz_allocate(4 * length + 1, 1);
	for (size_t i = 0; i < length; i++)
		used += put_utf8(copy + used, character(text, i, width));
	return copy;
}

/* --- tasks --------------------------------------------------------------- */

/* An event loop runs a callback, the method of a C object that has the task:
 * the task's first step, or its wake-up. The task has the coroutine, and a
 * future has as a callback the wake-up of the task that awaits it. Between
 * the two may be a closure with another future (gather, wait, shield), or the
 * method of a TaskGroup.
 *
 * Where a task has its coroutine, and a coroutine its frame, differs between
 * versions. They are found by the types of what is there. What is before it is
 * the same in all: FutureObj_HEAD in CPython, Handle.__slots__
 * of asyncio.events. */

#define MOST_TASKS 16u      /* that await each other */
#define MOST_COROUTINES 64u /* of one task */
#define MOST_BASES 4u
#define MOST_ITEMS 8u /* of a tuple */
#define MOST_CALLBACKS 8u
#define WORD ((size_t)8)
#define TAGS 7ull /* lowest bits of an object's address, since 3.14 */

/* Behind an object's head. */
enum {
	HANDLE_CALLBACK = 8, /* slots are in the order of their names */
	METHOD_SELF = 8,     /* of Python's and of C's methods */
	FUTURE_CALLBACK = 8,
	FUTURE_CALLBACKS = 24,
	LIST_LENGTH = 0,
	LIST_ITEMS = 8,
	TUPLE_ITEMS = 8,
	FUTURE_BYTES = 56,
	TUPLE_LENGTH = 0,
	TYPE_NAME = 8,
	TYPE_BASE = 240,
	FUNCTION_BYTES = 96,
	TASK_BYTES = 256,
	COROUTINE_BYTES = 160,
	GROUP_BYTES = 160
};

enum kind { IS_OTHER, IS_FUTURE, IS_TASK };

struct search {
	struct swz_python_tasks *tasks;
	const struct swz_python_memory *memory;
	struct swz_python_link *links;
	size_t most, count;
};

static uint32_t head_of(const struct swz_python_memory *memory)
{
	return memory->layout.object_type + WORD;
}

static bool read_field(const struct swz_python_memory *memory, uint64_t object,
		       uint32_t at, uint64_t *word)
{
	return object &&
	       swz_python_word(memory, object + head_of(memory) + at, word);
}

static bool is_of(const struct swz_python_memory *memory, uint64_t object,
		  enum swz_python_type type)
{
	return memory->types[type] &&
	       python_type_of(memory, object) == memory->types[type];
}

static bool has_name(const struct swz_python_memory *memory, uint64_t type,
		     const char *name)
{
	char text[32] = "";
	uint64_t at;

	if (!read_field(memory, type, TYPE_NAME, &at) || !at)
		return false;
	(void)memory->read(memory->context, at, text, sizeof(text) - 1);
	return strcmp(text, name) == 0;
}

/* A class of a program may be made of them. */
static enum kind kind_of(const struct swz_python_memory *memory,
			 uint64_t object)
{
	uint64_t type = python_type_of(memory, object);

	for (unsigned i = 0; type && i < MOST_BASES; i++) {
		if (has_name(memory, type, "_asyncio.Task"))
			return IS_TASK;
		if (has_name(memory, type, "_asyncio.Future"))
			return IS_FUTURE;
		if (!read_field(memory, type, TYPE_BASE, &type))
			break;
	}
	return IS_OTHER;
}

/* ----------------------------------------------------------- coroutines */

static bool is_coroutine(const struct swz_python_memory *memory,
			 uint64_t object)
{
	uint64_t type = python_type_of(memory, object);

	return type && (type == memory->types[SWZ_TYPE_COROUTINE] ||
			type == memory->types[SWZ_TYPE_GENERATOR] ||
			type == memory->types[SWZ_TYPE_ASYNC_GENERATOR]);
}

/* Since 3.11 the frame is a part of the coroutine, and has the address of its
 * code at its place. */
static uint32_t frame_in(const struct swz_python_memory *memory,
			 uint64_t coroutine)
{
	uint32_t code_at = memory->layout.frame_code;
	uint8_t bytes[COROUTINE_BYTES];
	uint64_t from = coroutine + head_of(memory);

	if (!swz_python_bytes(memory, from, bytes, sizeof(bytes)))
		return 0;
	/* (the first may be the code of 3.11's coroutine itself) */
	for (uint32_t at = WORD + code_at; at + WORD <= sizeof(bytes);
	     at += WORD)
		if (is_of(memory, swz_script_word(bytes, at) & ~TAGS,
			  SWZ_TYPE_CODE))
			return head_of(memory) + at - code_at;
	return 0;
}

/* The frame of a coroutine; 0: it has none. */
static uint64_t frame_of(struct search *s, uint64_t coroutine)
{
	const struct swz_python_memory *memory = s->memory;
	uint64_t frame = 0;

	if (memory->layout.frames == SWZ_FRAME_IS_OBJECT)
		return read_field(memory, coroutine, 0, &frame) ? frame : 0;
	if (!s->tasks->coroutine_frame)
		s->tasks->coroutine_frame = frame_in(memory, coroutine);
	return s->tasks->coroutine_frame ? coroutine + s->tasks->coroutine_frame
					 : 0;
}

/* Where the values of a suspended frame end; 0: not known. */
static uint64_t top_of(const struct swz_python_memory *memory, uint64_t frame)
{
	const struct swz_python_layout *l = &memory->layout;
	uint64_t word, values;

	if (l->top == SWZ_TOP_UNKNOWN ||
	    !swz_python_word(memory, frame + l->frame_top, &word))
		return 0;
	switch (l->top) {
	case SWZ_TOP_IS_POINTER:
		return word;
	case SWZ_TOP_IS_DEPTH:
		return swz_python_word(memory, frame + l->frame_top - 2 * WORD,
				       &values)
			       ? values + WORD * (word & UINT32_MAX)
			       : 0;
	case SWZ_TOP_IS_INDEX:
		return frame + l->frame_variables + WORD * (word & UINT32_MAX);
	case SWZ_TOP_UNKNOWN:
	default:
		return 0;
	}
}

/* The coroutine that an object is, or is for: one of a method that an
 * asynchronous generator has made, or of its __await__. 0: none. */
static uint64_t coroutine_of(const struct swz_python_memory *memory,
			     uint64_t object)
{
	uint64_t within;

	if (is_coroutine(memory, object))
		return object;
	return read_field(memory, object, 0, &within) &&
			       is_coroutine(memory, within)
		       ? within
		       : 0;
}

/* The coroutine that a suspended one awaits; 0: it is none. The value is the
 * last one of its stack, in 3.15 the last but one. */
static uint64_t awaited_by(const struct swz_python_memory *memory,
			   uint64_t frame)
{
	uint64_t top = top_of(memory, frame), values[2], found;

	if (top < sizeof(values) ||
	    !swz_python_bytes(memory, top - sizeof(values), values,
			      sizeof(values)))
		return 0;
	found = coroutine_of(memory, values[1] & ~TAGS);
	return found ? found : coroutine_of(memory, values[0] & ~TAGS);
}

/* ---------------------------------------------------------------- tasks */

/* The coroutine of a task; its name is behind it. */
static bool read_task(struct search *s, uint64_t task, uint64_t *coroutine,
		      uint64_t *name)
{
	const struct swz_python_memory *memory = s->memory;
	uint64_t from = task + head_of(memory);
	uint8_t bytes[TASK_BYTES];
	uint32_t at = s->tasks->coroutine;

	if (!swz_python_bytes(memory, from, bytes, sizeof(bytes)))
		return false;
	for (at = at ? at : FUTURE_BYTES; at + 2 * WORD <= sizeof(bytes);
	     at += WORD) {
		*coroutine = swz_script_word(bytes, at);
		*name = swz_script_word(bytes, at + WORD);
		if (is_coroutine(memory, *coroutine) &&
		    (is_of(memory, *name, SWZ_TYPE_STR) ||
		     is_of(memory, *name, SWZ_TYPE_INT))) {
			s->tasks->coroutine = at;
			return true;
		}
		if (s->tasks->coroutine)
			break;
	}
	return false;
}

/* Names that asyncio gives itself, Task-1 and so on, say nothing. */
static bool is_number(const char *name)
{
	return strncmp(name, "Task-", 5) == 0 && name[5] &&
	       name[5 + strspn(name + 5, "0123456789")] == 0;
}

static const struct swz_script_code *code_called(struct swz_python_tasks *tasks,
						 const char *name)
{
	size_t i = 0;

	while (i < tasks->count && strcmp(tasks->codes[i].name, name) != 0)
		i++;
	if (i == tasks->count) {
		if (i == SWZ_MOST_TASK_NAMES)
			return &tasks->codes[i - 1];
		if (i == SWZ_MOST_TASK_NAMES - 1)
			name = "[task, another name]";
		tasks->codes[tasks->count++] = (struct swz_script_code){
			.name = swz_duplicate(name),
			.file = swz_duplicate(SWZ_TASK_FILE)};
	}
	return &tasks->codes[i];
}

static const struct swz_script_code *code_of_task(struct search *s,
						  uint64_t name)
{
	char *text = swz_python_text(s->memory, name);
	char *shown = text && *text && !is_number(text)
			      ? swz_print("[task %s]", text)
			      : swz_duplicate("[task]");
	const struct swz_script_code *code = code_called(s->tasks, shown);

	free(text);
	free(shown);
	return code;
}

/* The task that a C object is for, such as a method of the task: one of its
 * first two words. 0: it is for none. */
static uint64_t task_of_method(const struct swz_python_memory *memory,
			       uint64_t object)
{
	uint64_t word;

	for (uint32_t at = 0; at <= METHOD_SELF; at += WORD)
		if (read_field(memory, object, at, &word) &&
		    kind_of(memory, word) == IS_TASK)
			return word;
	return 0;
}

/* The callbacks of a future, MOST_CALLBACKS at most: the first, and others in
 * a list of tuples. Returns how many. */
static size_t callbacks_of(const struct swz_python_memory *memory,
			   uint64_t future, uint64_t *callbacks)
{
	uint64_t list, length, items, tuples[MOST_CALLBACKS], pair[2];
	size_t count = 0, n;

	if (read_field(memory, future, FUTURE_CALLBACK, &callbacks[0]) &&
	    callbacks[0])
		count++;
	if (!read_field(memory, future, FUTURE_CALLBACKS, &list) ||
	    !read_field(memory, list, LIST_LENGTH, &length) ||
	    !read_field(memory, list, LIST_ITEMS, &items) || !items)
		return count;
	n = length < MOST_CALLBACKS ? (size_t)length : MOST_CALLBACKS;
	n = memory->read(memory->context, items, tuples, n * WORD) / WORD;
	for (size_t i = 0; i < n && count < MOST_CALLBACKS; i++)
		/* (3.14 has a hash before the first) */
		if (is_of(memory, tuples[i], SWZ_TYPE_TUPLE) &&
		    swz_python_bytes(memory,
				     tuples[i] + head_of(memory) + TUPLE_ITEMS,
				     pair, sizeof(pair)))
			callbacks[count++] = python_type_of(memory, pair[0])
						     ? pair[0]
						     : pair[1];
	return count;
}

/* The task that awaits a future itself, as both say. */
static uint64_t task_awaiting(const struct search *s, uint64_t future)
{
	uint64_t callbacks[MOST_CALLBACKS], task, awaited;
	size_t count = callbacks_of(s->memory, future, callbacks);

	for (size_t i = 0; i < count; i++) {
		task = task_of_method(s->memory, callbacks[i]);
		/* (what it awaits is before its coroutine) */
		if (task &&
		    read_field(s->memory, task,
			       s->tasks->coroutine - (uint32_t)WORD,
			       &awaited) &&
		    awaited == future)
			return task;
	}
	return 0;
}

/* In the words of an object, or in those of a tuple there, a future that a task
 * awaits. Cells of a closure are looked into. */
static uint64_t task_of_items(const struct search *s, const uint8_t *words,
			      size_t size)
{
	const struct swz_python_memory *memory = s->memory;
	uint64_t task;

	for (size_t at = 0; at + WORD <= size; at += WORD) {
		uint64_t item = swz_script_word(words, at);

		if (is_of(memory, item, SWZ_TYPE_CELL) &&
		    !read_field(memory, item, 0, &item))
			continue;
		if (kind_of(memory, item) != IS_FUTURE)
			continue;
		task = task_awaiting(s, item);
		if (task)
			return task;
	}
	return 0;
}

static uint64_t task_of_tuple(const struct search *s, uint64_t tuple)
{
	/* (3.14 has a hash before the first) */
	const struct swz_python_memory *memory = s->memory;
	uint8_t words[(MOST_ITEMS + 2) * WORD];
	uint64_t length;
	size_t size;

	if (!read_field(memory, tuple, TUPLE_LENGTH, &length) || !length)
		return 0;
	size = (length < MOST_ITEMS ? length : MOST_ITEMS) * WORD + 2 * WORD;
	size = memory->read(memory->context, tuple + head_of(memory), words,
			    size);
	return task_of_items(s, words, size);
}

/* The task that waits where a function is a future's callback: a closure, or
 * what functools.partial has made. */
static uint64_t task_of_function(const struct search *s, uint64_t function)
{
	const struct swz_python_memory *memory = s->memory;
	uint8_t words[FUNCTION_BYTES];
	size_t size = memory->read(memory->context, function + head_of(memory),
				   words, sizeof(words));
	uint64_t task = 0;

	for (size_t at = 0; !task && at + WORD <= size; at += WORD)
		if (is_of(memory, swz_script_word(words, at), SWZ_TYPE_TUPLE))
			task = task_of_tuple(s, swz_script_word(words, at));
	return task;
}

/* The only task among the attributes of a TaskGroup is the one that it is of.
 * They lie behind the object since 3.13, before that elsewhere: in 3.12 where
 * the word three before it points, less one, in 3.11 the one four before it. */
static uint64_t task_of_group(const struct swz_python_memory *memory,
			      uint64_t group)
{
	uint64_t places[3] = {group + head_of(memory), 0, 0};
	uint8_t words[GROUP_BYTES];

	if (swz_python_word(memory, group - 3 * WORD, &places[1]))
		places[1] += places[1] & 1;
	(void)swz_python_word(memory, group - 4 * WORD, &places[2]);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		size_t size = places[i] && places[i] % WORD == 0
				      ? memory->read(memory->context, places[i],
						     words, sizeof(words))
				      : 0;

		for (size_t at = 0; at + WORD <= size; at += WORD)
			if (kind_of(memory, swz_script_word(words, at)) ==
			    IS_TASK)
				return swz_script_word(words, at);
	}
	return 0;
}

/* The task that awaits the one with that callback. */
static uint64_t task_behind(const struct search *s, uint64_t callback)
{
	const struct swz_python_memory *memory = s->memory;
	uint64_t self;

	if (!is_of(memory, callback, SWZ_TYPE_METHOD))
		return task_of_function(s, callback);
	return read_field(memory, callback, METHOD_SELF, &self) &&
			       has_name(memory, python_type_of(memory, self),
					"TaskGroup")
		       ? task_of_group(memory, self)
		       : 0;
}

/* The task that awaits another one; 0: none does. */
static uint64_t waiter_of(const struct search *s, uint64_t task)
{
	uint64_t callbacks[MOST_CALLBACKS], found = task_awaiting(s, task);
	size_t count = found ? 0 : callbacks_of(s->memory, task, callbacks);

	for (size_t i = 0; !found && i < count; i++)
		found = task_behind(s, callbacks[i]);
	return found;
}

/* ---------------------------------------------------------------- chain */

static void add_link(struct search *s, const struct swz_script_code *task,
		     uint64_t frame)
{
	if (s->count < s->most)
		s->links[s->count++] = (struct swz_python_link){task, frame};
}

/* The coroutines of a task that waits, the innermost first, and the task. */
static bool add_waiter(struct search *s, uint64_t task)
{
	uint64_t frames[MOST_COROUTINES], coroutine, name;
	size_t count = 0;

	if (!read_task(s, task, &coroutine, &name))
		return false;
	while (coroutine && count < MOST_COROUTINES) {
		frames[count] = frame_of(s, coroutine);
		if (!frames[count])
			break;
		coroutine = awaited_by(s->memory, frames[count++]);
	}
	while (count)
		add_link(s, NULL, frames[--count]);
	add_link(s, code_of_task(s, name), 0);
	return true;
}

size_t swz_python_tasks_chain(struct swz_python_tasks *tasks,
			      const struct swz_python_memory *memory,
			      uint64_t handle, uint64_t frame,
			      struct swz_python_link *links, size_t most)
{
	struct search s = {tasks, memory, links, most, 0};
	uint64_t callback, task, coroutine, name;

	if (!read_field(memory, handle, HANDLE_CALLBACK, &callback))
		return 0;
	task = task_of_method(memory, callback);
	if (!task || !read_task(&s, task, &coroutine, &name) ||
	    frame_of(&s, coroutine) != frame)
		return 0;
	add_link(&s, code_of_task(&s, name), 0);
	for (unsigned i = 0; i < MOST_TASKS; i++) {
		task = waiter_of(&s, task);
		if (!task || !add_waiter(&s, task))
			break;
	}
	return s.count;
}

void swz_python_tasks_free(struct swz_python_tasks *tasks)
{
	for (size_t i = 0; i < tasks->count; i++) {
		free(tasks->codes[i].name);
		free(tasks->codes[i].file);
	}
}
