#include "profile/code/shown_code_name.h"

#include <string.h>

#define NAMELESS "(anonymous)"
#define MOST_BYTES 4096u

/* Whether it begins so, with a mark behind it; *name is then what follows. */
static bool skip_mark(const char *prefix, const char **name, size_t *length)
{
	size_t n = strlen(prefix);

	if (*length <= n || memcmp(*name, prefix, n) != 0 ||
	    !strchr("~^*+", (*name)[n]))
		return false;
	*name += n + 1;
	*length -= n + 1;
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
