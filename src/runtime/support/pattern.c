#include "runtime/support/config.h"

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

bool swz_patterns_next(const char **list, struct swz_pattern *pattern)
{
	const char *at = *list;

	while (at && *at == '\n')
		at++;
	if (!at || !*at)
		return false;
	pattern->excludes = *at == '!';
	pattern->text = at;
	while (*at && *at != '\n')
		at++;
	pattern->length = (unsigned)(at - pattern->text);
	*list = at;
	return true;
}

bool swz_pattern_matches(const struct swz_pattern *p, const char *const *texts,
			 unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (matches(p->text + p->excludes, p->length - p->excludes,
			    texts[i]))
			return true;
	return false;
}

static void note_hit(struct swz_pattern_hits *hits, unsigned pattern)
{
	if (hits && pattern < SWZ_PATTERNS_NOTED)
		hits->bits[pattern / 64] |= UINT64_C(1) << pattern % 64;
}

unsigned swz_patterns_find(const char *list, const char *const *texts,
			   unsigned count, struct swz_pattern_hits *hits)
{
	struct swz_pattern p;
	unsigned found = 0;

	for (unsigned i = 0; swz_patterns_next(&list, &p); i++) {
		if (!swz_pattern_matches(&p, texts, count))
			continue;
		found |= p.excludes ? SWZ_PATTERN_EXCLUDES : SWZ_PATTERN_WANTS;
		note_hit(hits, i);
	}
	return found;
}

bool swz_patterns_any_positive(const char *list)
{
	struct swz_pattern p;

	while (swz_patterns_next(&list, &p))
		if (!p.excludes)
			return true;
	return false;
}

bool swz_patterns_decide(const char *list, unsigned found)
{
	if (!list || found & SWZ_PATTERN_EXCLUDES)
		return false;
	return found & SWZ_PATTERN_WANTS || !swz_patterns_any_positive(list);
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
