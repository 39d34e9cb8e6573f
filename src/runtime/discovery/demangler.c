/* Blocks are taken from one mapping, one behind the other, and none is given
 * back before the next name. */

#include "runtime/discovery/demangler.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/shown_name.h"
#include "base/syscall.h"
#include "runtime/hooks/stack_request.h"
#include "runtime/record/slow_stack.h"
#include "runtime/support/aside.h"

#define GUARD_BYTES 4096u
#define STACK_BYTES (2u << 20)
#define BLOCKS_BYTES (1u << 20)
#define ALL_BYTES (STACK_BYTES + BLOCKS_BYTES + 2 * SWZ_SHOWN_NAME_BYTES)

static char *all;
static char *blocks; /* behind the stack */
static size_t used;

/* --------------------------------------- what libiberty expects to be there */

#define SWZ_HIDDEN __attribute__((visibility("hidden")))

SWZ_HIDDEN void *xmalloc(size_t bytes);
SWZ_HIDDEN void *xrealloc(void *block, size_t bytes);
SWZ_HIDDEN char *xstrdup(const char *string);
SWZ_HIDDEN int sprintf(char *text, const char *format, ...);
SWZ_HIDDEN int snprintf(char *text, size_t room, const char *format, ...);
SWZ_HIDDEN int __sprintf_chk(char *text, int flag, size_t room,
			     const char *format, ...);
SWZ_HIDDEN int __snprintf_chk(char *text, size_t bytes, int flag, size_t room,
			      const char *format, ...);

struct block {
	_Alignas(16) size_t bytes;
};

void *xmalloc(size_t bytes)
{
	struct block *block = (struct block *)(void *)(blocks + used);
	size_t taken = sizeof(*block) + ((bytes + 15) & ~(size_t)15);

	if (bytes > BLOCKS_BYTES || taken > BLOCKS_BYTES - used)
		swz_shown_name_give_up();
	used += taken;
	block->bytes = bytes;
	return block + 1;
}

void *xrealloc(void *old, size_t bytes)
{
	size_t old_bytes = old ? ((struct block *)old - 1)->bytes : 0;
	void *block;

	if (old && bytes <= old_bytes)
		return old;
	block = xmalloc(bytes);
	if (old)
		memcpy(block, old, old_bytes);
	return block;
}

char *xstrdup(const char *string)
{
	size_t bytes = strlen(string) + 1;

	return memcpy(xmalloc(bytes), string, bytes);
}

struct printed {
	char *text;
	size_t room, length;
};

static void put(struct printed *p, char c)
{
	if (p->length + 1 < p->room)
		p->text[p->length] = c;
	p->length++;
}

static void put_number(struct printed *p, uint64_t value, unsigned base)
{
	char digits[24];
	unsigned count = 0;

	do
		digits[count++] = "0123456789abcdef"[value % base];
	while (value /= base);
	while (count)
		put(p, digits[--count]);
}

/* %s, and integers without a width: there are no others. */
static void put_value(struct printed *p, char kind, bool is_long,
		      va_list *arguments)
{
	const char *string;
	int64_t value;

	if (kind == 's') {
		string = va_arg(*arguments, const char *);
		while (*string)
			put(p, *string++);
		return;
	}
	if (kind != 'd') {
		put_number(p,
			   is_long ? va_arg(*arguments, uint64_t)
				   : va_arg(*arguments, unsigned),
			   kind == 'x' ? 16 : 10);
		return;
	}
	value = is_long ? va_arg(*arguments, int64_t) : va_arg(*arguments, int);
	if (value < 0)
		put(p, '-');
	put_number(p, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

static int print(char *text, size_t room, const char *format,
		 va_list *arguments)
{
	struct printed p = {.text = text, .room = room};

	for (; *format; format++) {
		bool is_long = false;

		if (*format != '%') {
			put(&p, *format);
			continue;
		}
		while (*++format == 'l')
			is_long = true;
		put_value(&p, *format, is_long, arguments);
	}
	if (room)
		text[p.length < room ? p.length : room - 1] = '\0';
	return (int)p.length;
}

#define PRINT(room) \
	({ \
		va_list arguments; \
		int length; \
\
		va_start(arguments, format); \
		length = print(text, room, format, &arguments); \
		va_end(arguments); \
		length; \
	})

int sprintf(char *text, const char *format, ...)
{
	return PRINT(BLOCKS_BYTES);
}

int snprintf(char *text, size_t room, const char *format, ...)
{
	return PRINT(room);
}

int __sprintf_chk(char *text, int flag, size_t room, const char *format, ...)
{
	(void)flag;
	return PRINT(room);
}

int __snprintf_chk(char *text, size_t bytes, int flag, size_t room,
		   const char *format, ...)
{
	(void)flag;
	(void)room;
	return PRINT(bytes);
}

/* ----------------------------------------------------------------------- */

bool swz_demangler_begin(void)
{
	all = swz_map_aside(ALL_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!all)
		return false;
	if (swz_sys_mprotect(all, GUARD_BYTES, PROT_NONE) != 0) {
		swz_demangler_end();
		return false;
	}
	swz_stack_announce(all + GUARD_BYTES, all + STACK_BYTES);
	blocks = all + STACK_BYTES;
	return true;
}

void swz_demangler_end(void)
{
	swz_sys_munmap(all, ALL_BYTES);
	all = NULL;
}

struct question {
	const char *symbol;
	char *out;
	unsigned languages;
	bool full, known;
};

static void answer(void *argument)
{
	struct question *q = argument;

	q->known = swz_shown_name(q->symbol, q->languages, q->full, q->out,
				  SWZ_SHOWN_NAME_BYTES);
}

const char *swz_demangler_name(const char *symbol, unsigned languages,
			       bool full)
{
	char *outs = blocks + BLOCKS_BYTES;
	struct question q = {.symbol = symbol,
			     .languages = languages,
			     .full = full,
			     .out = full ? outs + SWZ_SHOWN_NAME_BYTES : outs};

	used = 0;
	swz_call_on_stack(answer, &q, all + STACK_BYTES);
	return q.known ? q.out : NULL;
}
