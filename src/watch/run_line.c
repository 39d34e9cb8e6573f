#include "watch/run_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/sampling.h"
#include "profile/support/memory.h"

static void put_count(FILE *to, uint64_t number, const char *what)
{
	char digits[32];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			putc(',', to);
		putc(digits[i], to);
	}
	fprintf(to, "%s%s", what, *what && number != 1 ? "s" : "");
}

static void put_time(FILE *to, uint64_t ns)
{
	if (ns < 1000000000)
		fprintf(to, "%.2f ms", (double)ns / 1e6);
	else
		fprintf(to, "%.2f s", (double)ns / 1e9);
}

/* As a shell reads it. */
static void put_word(FILE *to, const char *word, bool star)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._/+:=@%,-";
	bool quoted = word[strspn(word, plain)] != '\0';

	if (quoted)
		putc('\'', to);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", to);
		else
			putc((unsigned char)*word < ' ' ? '?' : *word, to);
	if (quoted)
		putc('\'', to);
	if (star)
		putc('*', to);
}

/* The user's own name for the file or, with a *, all. */
static void put_files(FILE *to, const struct swz_run *run,
		      const struct swz_sample_totals *totals)
{
	char *name = swz_duplicate(totals->files > 1 ? run->output
						     : totals->first_path);
	char *mark = totals->files > 1 ? strstr(name, "%p") : NULL;
	size_t shown = run->shown < strlen(name) ? run->shown : 0;

	if (mark)
		*mark = '\0';
	if (strncmp(name, run->output, shown) != 0)
		shown = 0;
	put_word(to, name + shown, totals->files > 1);
	if (mark && mark[2])
		put_word(to, mark + 2, false);
	free(name);
}

static bool is_default(const struct swz_run *run)
{
	return strcmp(run->output + run->shown, "swizzle.out.%p") == 0;
}

static void put_missing(FILE *to, const struct swz_sample_totals *totals)
{
	if (totals->lost) {
		fputs("; ", to);
		put_count(to, totals->lost, " sample");
		fputs(" lost", to);
	}
	if (totals->missed * 50 > totals->samples) {
		fputs("; ", to);
		put_count(to, totals->missed, " sample");
		fputs(" missed", to);
	}
	if (totals->cut + totals->broken) {
		fputs("; ", to);
		put_count(to, totals->cut + totals->broken, " stack");
		fputs(" cut", to);
	}
	if (totals->unread) {
		fputs("; ", to);
		put_count(to, totals->unread, " stack");
		fputs(" without the script's functions", to);
	}
	if (totals->processes)
		fprintf(to, "; %zu process%s still run%s", totals->processes,
			totals->processes == 1 ? "" : "es",
			totals->processes == 1 ? "s" : "");
}

char *swz_run_line(const struct swz_sample_run *sampled,
		   const struct swz_run *run,
		   const struct swz_sample_totals *totals)
{
	char *text = NULL;
	size_t size;
	FILE *to;

	if (!totals->files || !totals->first_path)
		return NULL;
	to = swz_text_stream(&text, &size);
	fputs("swizzle: ", to);
	put_count(to, totals->samples, " sample");
	fputs(" of ", to);
	put_time(to, totals->processor_ns);
	fputs(" processor time, ", to);
	if (totals->files > 1)
		put_count(to, totals->files, " profile");
	else
		put_count(to, totals->threads, " thread");
	fputs(" -> ", to);
	put_files(to, run, totals);
	put_missing(to, totals);
	fputs(". Next: swizzle-dump", to);
	if (totals->scripts)
		fputs(" --script", to);
	if (totals->files > 1 || !is_default(run)) {
		putc(' ', to);
		put_files(to, run, totals);
	}
	putc('\n', to);
	swz_text_stream_end(to);
	(void)sampled;
	return text;
}

#define MUCH 10u /* one in so many ns */
#define HITS 4u  /* of a thread of average length */

/* In thousands. */
static uint64_t rate_for(uint64_t thread_ns)
{
	uint64_t rate = thread_ns ? HITS * UINT64_C(1000000000) / thread_ns
				  : UINT64_MAX;

	if (rate > SWZ_MOST_RATE)
		return SWZ_MOST_RATE;
	return (rate + 999) / 1000 * 1000;
}

char *swz_rate_advice(const struct swz_sample_run *sampled,
		      const struct swz_sample_totals *totals)
{
	uint64_t ns = totals->unsampled_ns, rate;

	if (sampled->engine != SWZ_ENGINE_PERF || !sampled->period_ns ||
	    !totals->processor_ns || ns * MUCH < totals->processor_ns)
		return NULL;
	rate = rate_for(ns / totals->unsampled_threads);
	if (rate <= 1000000000u / sampled->period_ns)
		return NULL;
	return swz_print("%" PRIu64 "%% of the time is in threads that ended "
			 "before their first sample. To see into them: -r "
			 "%" PRIu64,
			 100 * ns / totals->processor_ns, rate);
}
