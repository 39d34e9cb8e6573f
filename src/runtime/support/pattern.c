#include "runtime/support/pattern.h"

#include <stddef.h>
#include <string.h>

/* Matches one [set] at *pattern against c; moves *pattern behind it. */
static bool in_set(const char **pattern, const char *end, char c)
{
	const char *p = *pattern + 1;
	bool negated = p < end && (*p == '!' || *p == '^'), found = false;

	if (negated)
		p++;
	for (const char *first = p; p < end && (*p != ']' || p == first); p++) {
		if (p + 2 < end && p[1] == '-' && p[2] != ']') {
			found |= c >= p[0] && c <= p[2];
			p += 2;
		} else {
			found |= c == *p;
		}
	}
	*pattern = p < end ? p + 1 : end;
	return found != negated;
}

static bool matches(const char *pattern, unsigned length, const char *text)
{
	const char *end = pattern + length;
	const char *star = NULL, *star_text = NULL;

	/* at a mismatch, the last star takes one character more */
	for (;;) {
		const char *next = pattern;
		bool ok;

		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			star_text = text;
			continue;
		}
		if (!*text && pattern == end)
			return true;
		ok = pattern < end && *text;
		if (ok && *pattern == '[') {
			ok = in_set(&next, end, *text);
		} else if (ok) {
			ok = *pattern == '?' || *pattern == *text;
			next++;
		}
		if (ok) {
			pattern = next;
			text++;
			continue;
		}
		if (!star || !*star_text)
			return false;
		pattern = star;
		text = ++star_text;
	}
}

static bool any(const char *list, bool negative, const char *a, const char *b)
{
	while (list && *list) {
		unsigned length = 0;
		bool negated = *list == '!';

		while (list[length] && list[length] != '\n')
			length++;
		if (negated == negative && length > negated &&
		    (!a || matches(list + negated, length - negated, a) ||
		     (b && matches(list + negated, length - negated, b))))
			return true;
		list += length;
		list += *list == '\n';
	}
	return false;
}

bool swz_patterns_any_positive(const char *list)
{
	return any(list, false, NULL, NULL);
}

bool swz_patterns_include(const char *list, const char *a, const char *b)
{
	return any(list, false, a, b);
}

bool swz_patterns_exclude(const char *list, const char *a, const char *b)
{
	return any(list, true, a, b);
}

bool swz_patterns_name(const char *list, const char *a, const char *b)
{
	if (!list || swz_patterns_exclude(list, a, b))
		return false;
	return !swz_patterns_any_positive(list) ||
	       swz_patterns_include(list, a, b);
}

static bool is_valid(const char *p, const char *end)
{
	if (p < end && *p == '!' && ++p == end)
		return false;
	while (p < end) {
		if (*p++ != '[')
			continue;
		if (p < end && (*p == '!' || *p == '^'))
			p++;
		do /* the first one may be a ']' */
			p++;
		while (p < end && *p != ']');
		if (p >= end)
			return false;
		p++;
	}
	return true;
}

bool swz_patterns_are_valid(const char *list)
{
	while (*list) {
		const char *end = list;

		while (*end && *end != '\n')
			end++;
		if (!is_valid(list, end))
			return false;
		list = end + (*end == '\n');
	}
	return true;
}
