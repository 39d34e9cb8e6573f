#include "profile/code/shown_code_name.h"

#include <string.h>

#define NAMELESS "(anonymous)"
#define MOST_BYTES 4096u

/* How V8 says by which of its compilers code was made: a sign, before it an o
 * where that replaces a loop that was running, behind it an apostrophe where it
 * serves one closure only. Returns its bytes; 0: it is none. */
static size_t mark_bytes(const char *text, size_t length)
{
	size_t n = length > 1 && text[0] == 'o' && strchr("*+", text[1]);

	if (n == length || !text[n] || !strchr("~^*+", text[n]))
		return 0;
	n++;
	return n < length && text[n - 1] != '~' && text[n] == '\'' ? n + 1 : n;
}

/* Whether it begins so, with a mark behind it; *name is then what follows. */
static bool skip_mark(const char *prefix, const char **name, size_t *length)
{
	size_t n = strlen(prefix), mark;

	if (*length <= n || memcmp(*name, prefix, n) != 0)
		return false;
	mark = mark_bytes(*name + n, *length - n);
	if (!mark)
		return false;
	*name += n + mark;
	*length -= n + mark;
	return true;
}

static void skip_tier(const char **name, size_t *length)
{
	static const char *const prefixes[] = {
		"JS:", "LazyCompile:", "Function:", "Eval:", "Script:"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (skip_mark(prefixes[i], name, length))
			return;
}

void swz_add_code(struct swz_code_ranges *ranges, uint64_t start, uint64_t size,
		  uint64_t time_ns, const char *name, size_t length)
{
	char text[MOST_BYTES + sizeof(NAMELESS)];
	const char *whole = name;
	size_t used = 0;

	if (length > MOST_BYTES)
		length = MOST_BYTES;
	while (used < length && (unsigned char)name[used] >= ' ' &&
	       name[used] != 0x7f)
		used++;
	length = used;
	skip_tier(&name, &length);
	if (name == whole || (length && *name != ' ')) {
		swz_code_ranges_add(ranges, start, size, time_ns, name, length);
		return;
	}
	memcpy(text, NAMELESS, sizeof(NAMELESS) - 1);
	memcpy(text + sizeof(NAMELESS) - 1, name, length);
	swz_code_ranges_add(ranges, start, size, time_ns, text,
			    sizeof(NAMELESS) - 1 + length);
}
