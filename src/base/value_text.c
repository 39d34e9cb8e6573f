#include "base/value_text.h"

#include <stddef.h>
#include <string.h>

#define MOST_ARGUMENTS 64u

const char *swz_value_specs(const char *text, unsigned length)
{
	const char *at = text + length;

	/* the last one: a function may be called name@1139 */
	while (at > text && at[-1] != '@')
		at--;
	return at > text + 1 && at < text + length ? at : NULL;
}

/* A number at *AT, up to MOST; false: none. */
static bool number(const char **at, const char *end, unsigned most,
		   unsigned *value)
{
	const char *s = *at;

	for (*value = 0; s < end && *s >= '0' && *s <= '9'; s++) {
		*value = *value * 10 + (unsigned)(*s - '0');
		if (*value > most)
			return false;
	}
	if (s == *at)
		return false;
	*at = s;
	return true;
}

static bool word(const char **at, const char *end, const char *w)
{
	size_t length = strlen(w);

	if ((size_t)(end - *at) < length || memcmp(*at, w, length) != 0)
		return false;
	*at += length;
	return true;
}

static void on_stack(struct swz_value_spec *spec, unsigned words)
{
	spec->part.place = SWZ_PLACE_STACK;
	spec->part.offset = (int32_t)(8 * words);
}

/* "%rdi", "%stack+2", "%xmm3": elsewhere than where it usually is. */
static bool read_place(const char **at, const char *end,
		       struct swz_value_spec *spec)
{
	static const char names[6][4] = {"rdi", "rsi", "rdx",
					 "rcx", "r8",  "r9"};
	unsigned n;

	if (word(at, end, "stack+")) {
		if (!number(at, end, 4095, &n) || !n)
			return false;
		on_stack(spec, n - 1);
		return true;
	}
	if (word(at, end, "xmm")) {
		if (!number(at, end, 7, &n))
			return false;
		spec->part.place = (uint8_t)(SWZ_PLACE_VECTOR + n);
		return true;
	}
	for (n = 0; n < 6; n++)
		if (word(at, end, names[n])) {
			spec->part.place = (uint8_t)n;
			return true;
		}
	if (!word(at, end, "rax"))
		return false;
	spec->part.place = SWZ_PLACE_RAX;
	return true;
}

static const struct {
	char letter;
	uint8_t type, bytes;
} formats[] = {
	{'d', SWZ_TYPE_SIGNED, 8},   {'i', SWZ_TYPE_SIGNED, 8},
	{'u', SWZ_TYPE_UNSIGNED, 8}, {'x', SWZ_TYPE_HEX, 8},
	{'o', SWZ_TYPE_OCTAL, 8},    {'c', SWZ_TYPE_CHAR, 1},
	{'b', SWZ_TYPE_BOOL, 1},     {'s', SWZ_TYPE_STRING, 8},
	{'S', SWZ_TYPE_STRING, 8},   {'p', SWZ_TYPE_POINTER, 8},
	{'f', SWZ_TYPE_FLOAT, 8},
};

static bool has_size(uint8_t type)
{
	return type != SWZ_TYPE_CHAR && type != SWZ_TYPE_BOOL &&
	       type != SWZ_TYPE_STRING && type != SWZ_TYPE_POINTER;
}

static bool read_format(const char **at, const char *end,
			struct swz_value_spec *spec)
{
	bool known = false;
	unsigned bits;

	for (unsigned i = 0;
	     *at < end && i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (formats[i].letter != **at)
			continue;
		spec->type = formats[i].type;
		spec->part.bytes = formats[i].bytes;
		if (spec->type == SWZ_TYPE_STRING)
			spec->part.kind = **at == 'S' ? SWZ_PART_COUNTED
						      : SWZ_PART_STRING;
		if (**at == 'S')
			spec->part.other = 8;
		known = true;
		++*at;
		break;
	}
	if (*at == end || **at == ',')
		return known;
	if (!has_size(spec->type) || !number(at, end, 80, &bits))
		return false;
	if (spec->type == SWZ_TYPE_FLOAT && bits == 80)
		bits = 128;
	else if (bits == 80 ||
		 (spec->type == SWZ_TYPE_FLOAT && bits != 32 && bits != 64))
		return false;
	if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128)
		return false;
	spec->part.bytes = (uint16_t)(bits / 8);
	return true;
}

/* Where the classes of the calling convention put it (SysV ABI, 3.2.3). */
static void usual_place(struct swz_value_spec *spec, bool is_float, unsigned n)
{
	if (spec->at_return)
		spec->part.place = SWZ_PLACE_RAX;
	else if (is_float)
		n <= 8 ? (void)(spec->part.place = (uint8_t)(SWZ_PLACE_VECTOR +
							     n - 1))
		       : on_stack(spec, n - 9);
	else if (n <= 6)
		spec->part.place = (uint8_t)(n - 1);
	else
		on_stack(spec, n - 7);
}

bool swz_value_spec_read(const char **text, const char *end,
			 struct swz_value_spec *spec)
{
	const char *at = *text;
	bool is_float = false;
	unsigned n = 1;

	memset(spec, 0, sizeof(*spec));
	spec->name = at;
	spec->part.bytes = 8;
	if (word(&at, end, "retval"))
		spec->at_return = true;
	else if (word(&at, end, "fparg"))
		is_float = true;
	else if (!word(&at, end, "arg"))
		return false;
	if (!spec->at_return && (!number(&at, end, MOST_ARGUMENTS, &n) || !n))
		return false;
	spec->name_length = (unsigned)(at - *text);
	if (is_float)
		spec->type = SWZ_TYPE_FLOAT;
	usual_place(spec, is_float, n);
	if (at < end && *at == '/') {
		at++;
		if (!read_format(&at, end, spec))
			return false;
	}
	if (at < end && *at == '%') {
		at++;
		if (spec->at_return || !read_place(&at, end, spec))
			return false;
		if (at < end && *at == '/') {
			at++;
			if (!read_format(&at, end, spec))
				return false;
		}
	}
	if (spec->type == SWZ_TYPE_FLOAT && spec->at_return)
		spec->part.place = spec->part.bytes == 16 ? SWZ_PLACE_X87
							  : SWZ_PLACE_VECTOR;
	if (at < end && *at == ',' && at + 1 < end)
		at++;
	else if (at < end)
		return false;
	*text = at;
	return true;
}
