/* Figures are those of swizzle-dump -f info, but that it does not know when a
 * process was killed. */

#include "base/run_summary.h"

#include <stdbool.h>
#include <string.h>

#include "base/file_bound.h"
#include "base/syscall.h"

#define MOST_TICKS (UINT64_C(1) << 62)

/* value * by / per, to six digits, for what 64 bits may hold. */
static uint64_t scale(uint64_t value, uint64_t by, uint64_t per)
{
	unsigned shift = 0;

	while (by >> 20 || per >> 20) {
		by >>= 1;
		per >>= 1;
	}
	while (by && value >> shift > UINT64_MAX / by)
		shift++;
	return per ? ((value >> shift) * by / per) << shift : 0;
}

/* The rate is that between the samples that are farthest apart: the end's, or
 * where the machine was suspended in between (so that they say something else
 * than those of the start, by more than a hundredth), the start's. */
static uint64_t nanoseconds(const struct swz_run_totals *t)
{
	const struct swz_clock_sample *c = t->clock;
	uint64_t ticks = t->last_ticks - t->start_ticks;
	uint64_t start_ticks = c[1].ticks - c[0].ticks;
	uint64_t start_ns = c[1].monotonic_ns - c[0].monotonic_ns;
	uint64_t all_ticks = c[2].ticks - c[0].ticks;
	uint64_t all_ns = c[2].monotonic_ns - c[0].monotonic_ns;
	uint64_t expected, off;

	if (t->last_ticks < t->start_ticks || ticks > MOST_TICKS)
		return 0;
	if (!c[2].ticks || all_ticks > MOST_TICKS)
		return scale(ticks, start_ns, start_ticks);
	expected = scale(all_ticks, start_ns, start_ticks);
	off = expected > all_ns ? expected - all_ns : all_ns - expected;
	if (off > expected / 100 + 20000 + scale(20000, expected, start_ns))
		return scale(ticks, start_ns, start_ticks);
	return scale(ticks, all_ns, all_ticks);
}

struct line {
	char *text;
	size_t length;
};

static void put(struct line *l, const char *s)
{
	/* one for the newline */
	while (*s && l->length < SWZ_SUMMARY_BYTES - 1)
		l->text[l->length++] = *s++;
}

/* WIDTH digits at least; GROUPED: 1,234,567. */
static void put_digits(struct line *l, uint64_t number, unsigned width,
		       bool grouped)
{
	char digits[40];
	unsigned at = sizeof(digits) - 1;

	digits[at] = '\0';
	for (unsigned n = 0; number || n < width; n++, number /= 10) {
		if (grouped && n && n % 3 == 0)
			digits[--at] = ',';
		digits[--at] = (char)('0' + number % 10);
	}
	put(l, digits + at);
}

static void put_count(struct line *l, uint64_t number, const char *what)
{
	put_digits(l, number, 1, true);
	put(l, what);
	if (number != 1)
		put(l, "s");
}

static void put_time(struct line *l, uint64_t ns)
{
	const bool short_one = ns < 1000000000;
	const uint64_t unit = short_one ? 1000000 : 1000000000;
	uint64_t hundredths = (ns + unit / 200) / (unit / 100);

	put_digits(l, hundredths / 100, 1, true);
	put(l, ".");
	put_digits(l, hundredths % 100, 2, false);
	put(l, short_one ? " ms" : " s");
}

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("._/+:=@%,-", c)) ||
	       (unsigned char)c >= 0x80;
}

/* As a shell reads it; what would control the terminal is shown as ?. STAR: at
 * the end, left for the shell to expand. */
static void put_word(struct line *l, const char *word, size_t length, bool star)
{
	bool quoted = false;

	for (size_t i = 0; i < length; i++)
		quoted |= !is_plain(word[i]);
	put(l, quoted ? "'" : "");
	for (size_t i = 0; i < length; i++) {
		const char one[2] = {word[i], '\0'};

		if (word[i] == '\'')
			put(l, "'\\''");
		else
			put(l, (unsigned char)word[i] < ' ' || word[i] == 127
				       ? "?"
				       : one);
	}
	put(l, quoted ? "'" : "");
	put(l, star ? "*" : "");
}

/* The user's own name for the folder, and the first file or, with a *, all. */
static void put_files(struct line *l, struct swz_run_files *w, bool all)
{
	const char *from = w->run->output + w->run->shown;
	size_t folder = from < w->name ? (size_t)(w->name - from) : 0;
	const char *name = all ? w->name : w->totals.first;
	const char *end = all ? strstr(name, "%p") : NULL;
	size_t length = end ? (size_t)(end - name) : strlen(name);

	if (folder + length >= sizeof(w->path))
		return;
	memcpy(w->path, w->name - folder, folder);
	memcpy(w->path + folder, name, length);
	if (w->path[0] == '-') /* or it is an option */
		put(l, "./");
	put_word(l, w->path, folder + length, all);
	if (end)
		put_word(l, end + 2, strlen(end + 2), false);
}

/* "; 5 events not traced (disk full)" */
static void put_lost(struct line *l, const struct swz_run_totals *t,
		     uint64_t count, const char *what, const char *happened,
		     const char *option)
{
	const char *bound = swz_file_bound(t->full, t->flags, option);

	if (!count)
		return;
	put(l, "; ");
	put_count(l, count, what);
	put(l, happened);
	if (!bound)
		return;
	put(l, " (");
	put(l, bound);
	put(l, ")");
}

static void put_missing(struct line *l, const struct swz_run_totals *t)
{
	put_lost(l, t, t->lost, " call", " lost", NULL);
	put_lost(l, t, t->folded, " call", " folded into other contexts",
		 "--max-memory");
	put_lost(l, t, t->untraced, " event", " not traced", "--max-size");
	if (t->full && !t->lost && !t->folded && !t->untraced) {
		put(l, "; the profile could not grow (");
		put(l, swz_file_bound(t->full, 0, ""));
		put(l, ")");
	}
	if (t->overwritten)
		put(l, "; oldest events overwritten (--ring)");
	if (t->running) {
		put(l, "; ");
		put_digits(l, t->running, 1, true);
		put(l, t->running == 1 ? " process still runs"
				       : " processes still run");
	}
}

static bool is_default(const struct swz_run_files *w)
{
	static const char name[] = "swizzle.out.%p";

	return w->run->output + w->run->shown == w->name &&
	       strcmp(w->name, name) == 0;
}

static void put_line(struct line *l, struct swz_run_files *w)
{
	const struct swz_run_totals *t = &w->totals;
	const bool tree = t->files > 1, all = tree && !t->others;

	put(l, "swizzle: ");
	put_count(l, t->calls, " call");
	put(l, " in ");
	put_time(l, nanoseconds(t));
	put(l, ", ");
	put_count(l, tree ? t->files : t->threads,
		  tree ? " profile" : " thread");
	put(l, " -> ");
	put_files(l, w, all);
	if (tree && !all) {
		put(l, " and ");
		put_digits(l, t->files - 1, 1, true);
		put(l, " more (-o DIR/ keeps those of a run together)");
	}
	put_missing(l, t);
	put(l, ". Next: swizzle-dump");
	/* (the newest file will be the sampler's) */
	if (tree || t->sampled || !is_default(w)) {
		put(l, " ");
		put_files(l, w, all);
	}
	l->text[l->length++] = '\n';
}

size_t swz_run_summarize(const struct swz_run *run, char *text)
{
	struct line line = {.text = text};
	struct swz_run_files *w;

	if (!run->root_pid)
		return 0;
	w = swz_sys_mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!w)
		return 0;
	w->run = run;
	if (swz_run_add_folder(w) && run->end_ticks)
		w->totals.last_ticks = run->end_ticks;
	if (run->only_used && w->totals.calls)
		swz_run_leave_used(w);
	if (w->totals.first[0] && !w->totals.told)
		put_line(&line, w);
	swz_sys_munmap(w, sizeof(*w));
	return line.length;
}
