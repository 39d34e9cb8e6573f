/* Most symbols match nothing, and to demangle one takes a microsecond or two.
 * So of each pattern a part is looked for first which a demangler only copies:
 * the longest piece of an identifier that none of its own words contains; the
 * last of these, as most names differ at their ends. */

#include "runtime/discovery/filter.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/qualified_name.h"
#include "base/syscall.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch_memory.h"

/* --- libiberty's demanglers ---------------------------------------------- */

/* libiberty's demanglers, for patterns, in the profiled process: with memory
 * and a stack that are mapped for the time of planning, and without libc. One
 * thread at a time. */

/* Blocks are taken from one mapping, one behind the other, and none is given
 * back before the next name. */

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

static void demangler_end(void);

/* False: there is no memory. */
static bool demangler_begin(void)
{
	all = swz_map_far(ALL_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!all)
		return false;
	if (swz_sys_mprotect(all, GUARD_BYTES, PROT_NONE) != 0) {
		demangler_end();
		return false;
	}
	swz_stack_announce(all + GUARD_BYTES, all + STACK_BYTES);
	blocks = all + STACK_BYTES;
	return true;
}

static void demangler_end(void)
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

/* As swz_shown_name; NULL for false. There until it is asked for the next one
 * with the same FULL. */
static const char *demangler_name(const char *symbol, unsigned languages,
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

/* --- matching ------------------------------------------------------------ */

#define MOST_FORMS 8
#define MOST_HINTS 64u

/* Words that the demanglers of C++ and Rust write by themselves. */
static const char own_words[] =
	"signed char boolean byte double long float __float128 unsigned int "
	"__int128 short void wchar_t decimal32 decimal64 decimal128 half "
	"char8_t char16_t char32_t decltype nullptr auto std allocator "
	"basic_string basic_istream basic_ostream basic_iostream string "
	"istream ostream iostream char_traits operator new delete sizeof "
	"alignof __alignof__ typeid throw noexcept dynamic_cast const_cast "
	"reinterpret_cast static_cast lambda unnamed type anonymous namespace "
	"vtable for VTT construction in typeinfo name fn non virtual thunk to "
	"covariant return guard variable reference temporary TLS init function "
	"wrapper transaction clone initializer module template parameter "
	"object "
	"hidden alias java Class global constructors destructors keyed default "
	"arg string literal const volatile restrict complex imaginary _Complex "
	"_Imaginary _Fract _Accum _Sat __vector requires true false this "
	"co_await abi local enum struct union class typename concept "
	"instantiation parms gnu __cxx ptrdiff_t _Float16 _Float32 _Float64 "
	"_Float128 std__bfloat16_t _BitInt pack expansion ull llu "
	"i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 str bool "
	"dyn extern unsafe mut as impl closure shim punycode core error";

struct hint {
	uint16_t at, length; /* in the pattern; of 0 bytes: there is none */
};

static const char **const lists[SWZ_NAME_OPTIONS] = {
	[SWZ_HIDE] = &swz_config.hide,
	[SWZ_ONLY] = &swz_config.filter,
	[SWZ_NOTRACE] = &swz_config.notrace,
	[SWZ_CAPTURE] = &swz_signature_patterns,
	[SWZ_START_AT] = &swz_config.start_at.pattern,
	[SWZ_STOP_AT] = &swz_config.stop_at.pattern,
	[SWZ_PERCENTILES] = &swz_config.percentiles_patterns,
};

static struct swz_pattern_hits all_hits[SWZ_NAME_OPTIONS];
static struct hint hints[SWZ_NAME_OPTIONS][MOST_HINTS];
static bool hints_are_known;
static bool any_asks_for_parameters, any_asks_for_address;

/* The names that were asked for last. */
static const char *forms[MOST_FORMS];
static unsigned form_count;
static char qualified[512];
static char with_address[MOST_FORMS / 2][512];

bool swz_symbol_match_is_wanted(void)
{
	return swz_config.hide || swz_config.filter || swz_config.notrace ||
	       swz_config.percentiles_patterns || swz_signature_patterns ||
	       swz_config_has_triggers();
}

/* ------------------------------------------------------------------ hints */

static bool is_of_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_';
}

static bool is_own_word(const char *text, unsigned length)
{
	for (const char *w = own_words; *w; w++)
		if (strncmp(w, text, length) == 0)
			return true;
	return false;
}

static struct hint hint_of(const struct swz_pattern *p)
{
	struct hint best = {0, 0};
	bool in_set = false;

	for (unsigned at = p->excludes, end; at < p->length; at = end + 1) {
		const char *text = p->text + at;

		for (end = at; end < p->length; end++)
			if (!is_of_identifier(p->text[end]))
				break;
		if (!in_set && end > at && end - at >= best.length &&
		    end <= UINT16_MAX && (*text < '0' || *text > '9') &&
		    !is_own_word(text, end - at))
			best = (struct hint){(uint16_t)at,
					     (uint16_t)(end - at)};
		if (end < p->length && p->text[end] == '[')
			in_set = true;
		else if (end < p->length && p->text[end] == ']')
			in_set = false;
	}
	return best;
}

static bool has_character(const struct swz_pattern *p, char c)
{
	for (unsigned i = 0; i < p->length; i++)
		if (p->text[i] == c)
			return true;
	return false;
}

static void find_hints(void)
{
	for (unsigned o = 0; o < SWZ_NAME_OPTIONS; o++) {
		const char *list = *lists[o];
		struct swz_pattern p;

		for (unsigned i = 0; swz_patterns_next(&list, &p); i++) {
			if (i < MOST_HINTS)
				hints[o][i] = hint_of(&p);
			any_asks_for_parameters |= has_character(&p, '(');
			any_asks_for_address |= has_character(&p, '@');
		}
	}
	hints_are_known = true;
}

static bool has(const char *symbol, const char *text, unsigned length)
{
	for (; (symbol = strchr(symbol, *text)); symbol++)
		if (strncmp(symbol, text, length) == 0)
			return true;
	return false;
}

/* True if any pattern could match a name that is made of the symbol. */
static bool may_match(const char *symbol)
{
	for (unsigned o = 0; o < SWZ_NAME_OPTIONS; o++) {
		const char *list = *lists[o];
		struct swz_pattern p;

		for (unsigned i = 0; swz_patterns_next(&list, &p); i++) {
			const struct hint *h = &hints[o][i];

			if (i >= MOST_HINTS || !h->length ||
			    has(symbol, p.text + h->at, h->length))
				return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------ names */

static void add_form(const char *form)
{
	if (form)
		forms[form_count++] = form;
}

/* Functions that would be shown by one name are told apart by their addresses:
 * name@1139. */
static void add_forms_with_address(uint64_t address)
{
	unsigned count = form_count;

	for (unsigned i = 0; i < count; i++) {
		char *to = with_address[i], digits[16];
		size_t length = strlen(forms[i]);
		unsigned n = 0;
		uint64_t left = address;

		if (length + sizeof(digits) + 2 > sizeof(with_address[i]))
			continue;
		do
			digits[n++] = "0123456789abcdef"[left & 15];
		while (left >>= 4);
		memcpy(to, forms[i], length);
		to[length++] = '@';
		while (n)
			to[length++] = digits[--n];
		to[length] = '\0';
		add_form(to);
	}
}

static bool is_mangled_with_mark(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

static void demangle(const char *symbol, unsigned languages)
{
	if (symbol[0] != '_' && !languages)
		return;
	if (swz_qualified_name(symbol, qualified, sizeof(qualified)))
		add_form(qualified);
	add_form(demangler_name(symbol, languages, false));
	if (any_asks_for_parameters || languages & SWZ_ADA)
		add_form(demangler_name(symbol, languages, true));
}

static void find_forms(const char *symbol, uint64_t address, unsigned languages)
{
	form_count = 0;
	if (is_mangled_with_mark(symbol) && !may_match(symbol))
		return;
	add_form(symbol);
	demangle(symbol, languages);
	if (any_asks_for_address)
		add_forms_with_address(address);
}

static swz_name_marks match_forms(bool note)
{
	swz_name_marks marks = 0;

	for (unsigned o = 0; o < SWZ_NAME_OPTIONS && form_count; o++)
		marks |= (swz_name_marks)(swz_patterns_find(
						  *lists[o], forms, form_count,
						  note ? &all_hits[o] : NULL)
					  << 2 * o);
	return marks;
}

enum swz_status swz_symbol_match_begin(void)
{
	if (!hints_are_known)
		find_hints();
	return demangler_begin() ? SWZ_OK : SWZ_E_NOMEM;
}

void swz_symbol_match_end(void)
{
	demangler_end();
}

swz_name_marks swz_symbol_match(const char *symbol, uint64_t address,
				unsigned languages)
{
	find_forms(symbol, address, languages);
	return match_forms(false);
}

swz_name_marks swz_name_match(const char *name)
{
	form_count = 0;
	add_form(name);
	return match_forms(false);
}

void swz_symbol_match_note(void)
{
	match_forms(true);
}

int swz_symbol_match_first(enum swz_name_option option)
{
	const char *list = *lists[option];
	struct swz_pattern p;

	for (int i = 0; swz_patterns_next(&list, &p); i++)
		if (swz_pattern_matches(&p, forms, form_count))
			return i;
	return -1;
}

bool swz_symbol_match_decides(enum swz_name_option option, swz_name_marks marks)
{
	return swz_patterns_decide(*lists[option], marks >> 2 * option & 3);
}

const char *swz_name_patterns(enum swz_name_option option,
			      const struct swz_pattern_hits **hits)
{
	*hits = &all_hits[option];
	return *lists[option];
}
