/* -f info says what a profile file holds, without a look at the modules
 * themselves. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/call_tree.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/file/ranks.h"
#include "profile/file/records.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"

/* --- modules ------------------------------------------------------------- */

/* A module that nothing was to be hooked in. */
static bool is_left_out(const struct swz_profile_module *module)
{
	unsigned int i;

	if (swz_module_is_code(module))
		return true;
	if (module->record.in_scope)
		return false;
	for (i = 0; i < SWZ_REFUSAL_SLOTS; i++)
		if (module->record.counts[i])
			return false;
	return true;
}

static size_t path_width(const struct swz_profile *profile)
{
	size_t width = 24;
	size_t i;

	for (i = 0; i < profile->module_count; i++) {
		size_t length = strlen(profile->modules[i].path);

		if (!is_left_out(&profile->modules[i]) && length > width &&
		    length <= 60)
			width = length;
	}
	return width;
}

/* A function that the user did not want is no refusal, and has a column of its
 * own, if there is any. */
static bool any_filtered(const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->module_count; i++)
		if (profile->modules[i].record.counts[SWZ_REFUSE_FILTERED])
			return true;
	return false;
}

static void put_module(FILE *stream, const struct swz_profile_module *module,
		       int width, bool filtered)
{
	const uint32_t *counts = module->record.counts;
	uint32_t left_out = counts[SWZ_REFUSE_FILTERED];
	int padding = width - (int)strlen(module->path);
	uint64_t others = 0;
	unsigned int i;

	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++)
		others += counts[i];
	swz_put_text(stream, module->path);
	fprintf(stream, "%*s %9" PRIu64 " %9" PRIu32 " %9" PRIu64,
		padding > 0 ? padding : 0, "", others + counts[SWZ_PATCHED],
		counts[SWZ_PATCHED], others - left_out);
	if (filtered)
		fprintf(stream, " %9" PRIu32, left_out);
	putc('\n', stream);
	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++)
		if (counts[i] && i != SWZ_REFUSE_FILTERED)
			fprintf(stream, "    %-*s %9" PRIu32 "\n", width + 16,
				swz_refusal_text(i), counts[i]);
}

static void put_left_out(FILE *stream, const struct swz_profile *profile)
{
	const char *separator = "\nnot in scope: ";
	size_t i;

	for (i = 0; i < profile->module_count; i++) {
		if (!is_left_out(&profile->modules[i]) ||
		    swz_profile_repeats_module(profile, i) ||
		    swz_module_is_no_file(&profile->modules[i]))
			continue;
		fputs(separator, stream);
		swz_put_text(stream, swz_base_name(profile->modules[i].path));
		separator = ", ";
	}
	if (separator[0] == ',')
		putc('\n', stream);
}

static void put_loads(FILE *stream, const struct swz_profile *profile,
		      size_t index)
{
	const struct swz_profile_module *module = &profile->modules[index];
	uint64_t loads = 0;
	bool loaded = false;
	size_t i;

	for (i = index; i < profile->module_count; i++)
		if (swz_profile_same_module(module, &profile->modules[i])) {
			loads += profile->modules[i].record.loads;
			loaded |= !profile->modules[i].record.unload_ticks;
		}
	swz_put_text(stream, swz_base_name(module->path));
	if (loads > 1)
		fprintf(stream, " (%" PRIu64 " times%s)", loads,
			loaded ? "" : ", unloaded");
	else if (!loaded)
		fputs(" (unloaded)", stream);
}

static void put_late(FILE *stream, const struct swz_profile *profile)
{
	const char *separator = "\nloaded later: ";
	size_t i;

	for (i = 0; i < profile->module_count; i++) {
		if (!profile->modules[i].record.load_ticks ||
		    swz_profile_repeats_module(profile, i))
			continue;
		fputs(separator, stream);
		put_loads(stream, profile, i);
		separator = ", ";
	}
	if (separator[0] == ',')
		putc('\n', stream);
}

/* Lists the modules that samples hit. */
static void put_sampled_modules(FILE *stream, const struct swz_profile *profile,
				int width)
{
	size_t i;

	fprintf(stream, "\n%-*s %9s\n", width, "module", "functions");
	for (i = 0; i < profile->module_count; i++) {
		const struct swz_profile_module *module = &profile->modules[i];
		int padding = width - (int)strlen(module->path);

		if (!module->record.function_count ||
		    swz_profile_repeats_module(profile, i))
			continue;
		swz_put_text(stream, module->path);
		fprintf(stream, "%*s %9" PRIu32 "\n", padding > 0 ? padding : 0,
			"", module->record.function_count);
	}
}

/* How many functions each has, how many of them were patched, and why the
 * others were not; which were not in scope; which were loaded later. */
static void info_put_modules(FILE *stream, const struct swz_profile *profile)
{
	bool filtered = any_filtered(profile);
	int width = (int)path_width(profile);
	size_t i;

	if (profile->header.flags & SWZ_FILE_SAMPLES) {
		put_sampled_modules(stream, profile, width);
		return;
	}
	fprintf(stream, "\n%-*s %9s %9s %9s%s\n", width, "module", "functions",
		"patched", "refused", filtered ? "  filtered" : "");
	for (i = 0; i < profile->module_count; i++)
		if (!is_left_out(&profile->modules[i]) &&
		    !swz_profile_repeats_module(profile, i))
			put_module(stream, &profile->modules[i], width,
				   filtered);
	put_left_out(stream, profile);
	put_late(stream, profile);
}

/* Functions of one module that others import, by what was made of them. */
static void put_imports_of(FILE *stream, const struct swz_profile *profile,
			   size_t module, int width)
{
	uint64_t counts[SWZ_REFUSAL_SLOTS] = {0}, total = 0;
	const char *path = profile->modules[module].path;
	int padding = width - (int)strlen(path);
	size_t i;

	for (i = 0; i < profile->function_count; i++) {
		const struct swz_profile_function *f = &profile->functions[i];

		if (!(f->flags & SWZ_FUNCTION_IMPORT) || f->module != module ||
		    f->status >= SWZ_REFUSAL_SLOTS)
			continue;
		counts[f->status]++;
		total++;
	}
	if (!total)
		return;
	swz_put_text(stream, path);
	fprintf(stream, "%*s %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n",
		padding > 0 ? padding : 0, "", total, counts[SWZ_PATCHED],
		total - counts[SWZ_PATCHED]);
	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++)
		if (counts[i])
			fprintf(stream, "    %-*s %9" PRIu64 "\n", width + 16,
				swz_refusal_text((unsigned int)i), counts[i]);
}

/* The same of imported functions, by the modules that they are in. Nothing
 * where there are none. */
static void info_put_imports(FILE *stream, const struct swz_profile *profile)
{
	int width = (int)path_width(profile);
	bool any = false;
	size_t i;

	for (i = 0; i < profile->function_count; i++)
		any |= (profile->functions[i].flags & SWZ_FUNCTION_IMPORT) != 0;
	if (!any)
		return;
	fprintf(stream, "\n%-*s %9s %9s %9s\n", width, "imported from",
		"functions", "timed", "refused");
	for (i = 0; i < profile->module_count; i++)
		put_imports_of(stream, profile, i, width);
}

/* --- a trace ------------------------------------------------------------- */

/* -f info describes a trace. */

struct totals {
	uint64_t begins, ends; /* that the file holds */
	uint64_t calls;        /* begins that are calls */
	uint64_t unwound;
	uint64_t first, last; /* ticks */
	struct swz_events_damage damage;
};

static void add_damage(struct swz_events_damage *to,
		       const struct swz_events_damage *from)
{
	to->foreign += from->foreign;
	to->stray += from->stray;
	to->torn += from->torn;
	to->lost_pages += from->lost_pages;
}

static struct totals count(const struct swz_profile *profile,
			   const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_events_open(profile, thread);
	struct totals totals = {0};
	struct swz_event event;

	swz_events_show_hidden(events);
	while (swz_events_next(events, &event)) {
		if (event.cut)
			continue;
		if (!totals.begins && !totals.ends)
			totals.first = event.ticks;
		totals.last = event.ticks;
		if (!event.begins) {
			totals.ends++;
			totals.unwound += event.how == SWZ_EVENT_UNWIND;
			continue;
		}
		totals.begins++;
		totals.calls += event.how != SWZ_EVENT_RESUME;
	}
	totals.damage = *swz_events_damage(events);
	swz_events_close(events);
	return totals;
}

static void put_time(FILE *stream, const struct swz_profile *profile,
		     uint64_t ticks)
{
	int64_t ns = swz_events_ns(profile, ticks);

	if (ns < 0)
		ns = 0;
	fprintf(stream, " %5" PRId64 ".%09" PRId64, ns / 1000000000,
		ns % 1000000000);
}

/* How often each thread lost the processor, and for how long. */
static void put_switches(FILE *stream, const struct swz_profile *profile)
{
	size_t unknown = 0, i;

	if (!(profile->header.flags & SWZ_FILE_SWITCHES))
		return;
	fputs("\ncontext switches (--switches), durations as they were:\n",
	      stream);
	fprintf(stream, "%10s %16s %16s %16s %16s %16s\n", "tid", "switches",
		"missing", "off, ns", "preempted, ns", "unknown, ns");
	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		uint64_t preempted, off = swz_switches_sum(thread, &preempted);
		uint64_t unseen = swz_switches_unseen(
			thread, thread->record.start_ticks, thread->last_ticks);

		if (!thread->record.switches_from) {
			unknown++;
			continue;
		}
		fprintf(stream, "%10" PRId32 " %16zu %16" PRIu64,
			thread->record.tid, thread->switch_count,
			swz_switches_missing(thread));
		if (unseen < thread->last_ticks - thread->record.start_ticks)
			fprintf(stream, " %16" PRId64 " %16" PRId64,
				swz_profile_ns(profile, (int64_t)off),
				swz_profile_ns(profile, (int64_t)preempted));
		else
			fprintf(stream, " %16s %16s", "-", "-");
		fprintf(stream, " %16" PRId64 "\n",
			swz_profile_ns(profile, (int64_t)unseen));
	}
	if (unknown)
		fprintf(stream,
			"not recorded, as the kernel refused: %zu thread%s\n",
			unknown, unknown == 1 ? "" : "s");
}

/* Says what the profile has of events. */
static void put_events(FILE *stream, const struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;
	struct swz_events_damage damage = {0};
	uint64_t untraced = 0, short_calls = 0;
	size_t i;

	if (!swz_profile_traced(profile))
		return;
	fprintf(stream, "\ntrace: %" PRIu64 " bytes of events in %zu chunks",
		header->event_bytes, profile->event_chunk_count);
	/* (that of a program that has ended is for what still comes) */
	if (!(header->flags & SWZ_FILE_ENDED))
		fprintf(stream, ", at most %" PRIu64,
			header->event_limit_bytes);
	putc('\n', stream);
	for (i = 0; i < profile->slow_rule_count; i++) {
		fputs("slow calls of ", stream);
		swz_put_slow_rule(stream, profile, i, false);
		putc('\n', stream);
	}
	fprintf(stream, "%10s %16s %16s %16s %15s %15s\n", "tid",
		"calls traced", "ends", "by exception", "from, s", "to, s");
	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		struct totals totals = count(profile, thread);

		untraced += thread->record.untraced;
		short_calls += thread->record.short_calls;
		add_damage(&damage, &totals.damage);
		fprintf(stream,
			"%10" PRId32 " %16" PRIu64 " %16" PRIu64 " %16" PRIu64,
			thread->record.tid, totals.calls, totals.ends,
			totals.unwound);
		if (totals.begins || totals.ends) {
			put_time(stream, profile, totals.first);
			put_time(stream, profile, totals.last);
		}
		putc('\n', stream);
	}
	if (header->min_ticks)
		fprintf(stream,
			"left out: %" PRIu64 " call%s shorter than %" PRId64
			" ns\n",
			short_calls, swz_s(short_calls),
			swz_profile_ns(profile, (int64_t)header->min_ticks));
	if (untraced)
		fprintf(stream,
			"not traced: %" PRIu64 " event%s, for want of room\n",
			untraced, swz_s(untraced));
	if (damage.foreign || damage.stray || damage.torn || damage.lost_pages)
		fprintf(stream,
			"events that do not fit: %" PRIu64 " of no known "
			"context, %" PRIu64 " ends and %" PRIu64
			" begins without the other, %" PRIu64
			" pages unreadable\n",
			damage.foreign, damage.stray, damage.torn,
			damage.lost_pages);
	put_switches(stream, profile);
}

/* --- the profile --------------------------------------------------------- */

/* -f info describes a profile file, without a look at the modules themselves.
 */

static void put_start(FILE *stream, const struct swz_profile *profile)
{
	uint64_t ns = profile->header.start_realtime_ns;
	time_t seconds = (time_t)(ns / 1000000000u);
	char text[64];
	struct tm when;

	if (localtime_r(&seconds, &when) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &when) > 0)
		fprintf(stream, "started: %s.%09u\n", text,
			(unsigned int)(ns % 1000000000u));
}

static void put_labels(FILE *stream, const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->label_count; i++) {
		const char *name = profile->labels[2 * i];

		if (strcmp(name, "ranks") == 0 &&
		    swz_profile_label(profile, "rank"))
			continue;
		swz_put_text(stream, name);
		fputs(": ", stream);
		swz_put_text(stream, profile->labels[2 * i + 1]);
		if (strcmp(name, "rank") == 0 &&
		    swz_profile_label(profile, "ranks")) {
			fputs(" of ", stream);
			swz_put_text(stream,
				     swz_profile_label(profile, "ranks"));
		}
		putc('\n', stream);
	}
}

static void put_seconds(FILE *stream, int64_t ns)
{
	fprintf(stream, "%" PRId64 ".%09u", ns / 1000000000,
		(unsigned int)(ns % 1000000000));
}

static bool is_counted(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_COUNTS;
}

static void put_clock(FILE *stream, const struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;
	double scale = (double)profile->clock_ns /
		       (double)profile->clock_ticks / 1024.0;

	if (profile->clock_known)
		fprintf(stream, "clock: %.6f GHz%s\n",
			(double)profile->clock_ticks /
				(double)profile->clock_ns,
			profile->clock_uneven ? " at the start, uneven" : "");
	else
		fputs("clock: not calibrated\n", stream);
	if (is_counted(profile))
		return;
	fprintf(stream, "cost per call: %.2f ns (inside %.2f, outside %.2f)\n",
		swz_hook_cost_ns(profile), (double)header->cost_inside * scale,
		(double)header->cost_outside * scale);
	if (header->flags & SWZ_FILE_SAMPLED)
		fprintf(stream,
			"cost per call that is not timed: %.2f ns (%.2f of a "
			"function that calls nothing)\n",
			(double)header->cost_untimed * scale,
			(double)header->cost_leaf * scale);
}

/* How samples were taken, and how many. */
static void put_sampling(FILE *stream, const struct swz_file_header *header)
{
	fprintf(stream, "engine: %s\n",
		header->sample_engine == SWZ_ENGINE_PAUSE ? "pause" : "perf");
	if (header->sample_period_ns)
		fprintf(stream, "rate: %.0f samples a second of %s time\n",
			1e9 / (double)header->sample_period_ns,
			header->sample_engine == SWZ_ENGINE_PAUSE
				? "wall-clock"
				: "processor");
	fprintf(stream,
		"samples: %" PRIu64 "%s%s\nlost samples: %" PRIu64
		"\nmissed samples: %" PRIu64 "\n",
		header->samples,
		header->sample_flags & SWZ_SAMPLES_OF_KERNEL
			? ", those in the kernel, too"
			: ", none in the kernel",
		header->sample_flags & SWZ_SAMPLES_OF_WAITING
			? ", those of threads that wait, too"
			: "",
		header->lost_samples, header->missed_samples);
	if (header->untimed_samples)
		fprintf(stream, "samples without times: %" PRIu64 "\n",
			header->untimed_samples);
	fprintf(stream,
		"cut stacks: %" PRIu64 " (copies of up to %" PRIu64
		" bytes), %" PRIu64 " by frames that nothing explains\n",
		swz_add_count(header->cut_stacks, header->broken_stacks),
		header->stack_bytes, header->broken_stacks);
	if (header->own_samples)
		fprintf(stream,
			"samples in the profiler's code: %" PRIu64
			" (%.3f s of processor time, which is no function's)\n",
			header->own_samples,
			(double)header->profiling_ns / 1e9);
	if (header->unread_scripts)
		fprintf(stream, "without the script's functions: %" PRIu64 "\n",
			header->unread_scripts);
}

static void put_flags(FILE *stream, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} names[] = {
		{SWZ_FILE_FORKED, "forked"},   {SWZ_FILE_ENDED, "ended"},
		{SWZ_FILE_FOLDED, "folded"},   {SWZ_FILE_FILTERED, "filtered"},
		{SWZ_FILE_SAMPLED, "sampled"}, {SWZ_FILE_TRACED, "traced"},
		{SWZ_FILE_RING, "ring"},       {SWZ_FILE_SAMPLES, "samples"},
		{SWZ_FILE_MERGED, "merged"},   {SWZ_FILE_FLOWS, "flows"},
		{SWZ_FILE_SHORT, "short"},     {SWZ_FILE_COUNTS, "counts"},
		{SWZ_FILE_COVER, "cover"},     {SWZ_FILE_LISTED, "listed"},
	};
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(flags & names[i].flag))
			continue;
		fprintf(stream, "%s %s", any ? "" : "flags:", names[i].text);
		any = true;
	}
	if (any)
		putc('\n', stream);
}

static void put_end(FILE *stream, const struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;
	const char *full = swz_full_reason(header);

	if (header->flags & SWZ_FILE_ENDED)
		fputs("end: in order\n", stream);
	else if (profile->written)
		fprintf(stream, "end: none yet, process %" PRId32 " runs\n",
			header->pid);
	else
		fputs("end: by _exit, exec or a signal\n", stream);
	if (full)
		fprintf(stream, "incomplete: %s\n", full);
}

/* In the trees of all threads: contexts that could not be used, or only in
 * part. */
struct findings {
	uint64_t dropped;
	uint64_t repaired;
	uint64_t unwound; /* calls that an exception has ended */
	uint64_t contexts;
	uint64_t edges; /* nodes with calls */
};

static uint64_t count_calls(struct swz_profile *profile,
			    const struct swz_profile_thread *thread,
			    struct findings *findings)
{
	struct swz_tree tree;
	uint64_t calls = 0;
	size_t i;

	swz_tree_build(&tree, profile, thread, false);
	for (i = 1; i < tree.count; i++) {
		calls = swz_add_count(calls, tree.nodes[i].calls);
		findings->unwound = swz_add_count(findings->unwound,
						  tree.nodes[i].unwound);
		/* (work of ours is no context of the program's) */
		findings->contexts += tree.nodes[i].id !=
				      SWZ_FUNCTION_OURSELVES;
		findings->edges += tree.nodes[i].calls != 0;
	}
	findings->dropped = swz_add_count(findings->dropped,
					  tree.dropped_nodes);
	findings->repaired = swz_add_count(findings->repaired,
					   tree.repaired_nodes);
	swz_tree_free(&tree);
	return calls;
}

/* Where the thread went on for long after it was read last, it is at least so
 * much. */
static void put_processor(FILE *stream, const struct swz_profile *profile,
			  const struct swz_profile_thread *thread)
{
	struct swz_thread_times times = swz_thread_times(profile, thread);

	if (!times.known) {
		fputs(" s    not known\n", stream);
		return;
	}
	fputs(times.unknown_ns ? " s  >=  " : " s      ", stream);
	put_seconds(stream, times.processor_ns);
	fputs(" s\n", stream);
}

static bool is_sampled(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_SAMPLES;
}

static void put_threads(FILE *stream, struct swz_profile *profile,
			struct findings *findings)
{
	size_t i;

	fprintf(stream, "\n%10s  %-16s %16s %20s   %18s\n", "tid", "name",
		is_sampled(profile) ? "samples" : "calls", "duration, raw",
		"processor time");
	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		uint64_t ticks = thread->last_ticks -
				 thread->record.start_ticks;
		int padding = 16 - (int)strlen(thread->name);

		fprintf(stream, "%10" PRId32 "  ", thread->record.tid);
		swz_put_text(stream, thread->name[0] ? thread->name : "-");
		if (!thread->name[0])
			padding--;
		fprintf(stream, "%*s %16" PRIu64 "  %s", padding, "",
			count_calls(profile, thread, findings),
			swz_thread_times(profile, thread).wall_is_bound
				? "   >=  "
				: "       ");
		put_seconds(stream, swz_profile_ns(profile, (int64_t)ticks));
		put_processor(stream, profile, thread);
	}
}

/* Code made at run time has a symbol for each function. */
static void put_embedded(FILE *stream, const struct swz_profile *profile)
{
	size_t names = profile->symbol_count - profile->code_functions;

	if (names || profile->line_count)
		fprintf(stream, "embedded: %zu name%s, %zu source line%s\n",
			names, swz_s(names), profile->line_count,
			swz_s(profile->line_count));
}

static void put_code(FILE *stream, const struct swz_profile *profile)
{
	if (!profile->named_code_nodes && !profile->unnamed_code_nodes)
		return;
	fprintf(stream,
		"callers made at run time: %" PRIu32 " contexts, %" PRIu32
		" of them without a name; names: %s\n",
		profile->named_code_nodes + profile->unnamed_code_nodes,
		profile->unnamed_code_nodes,
		!profile->code ? "none"
		: profile->code_from_files
			? "in files that the process has left"
			: "in the profile");
}

static void put_damage(FILE *stream, const struct swz_profile *profile,
		       const struct findings *findings)
{
	const struct swz_damage *damage = &profile->damage;
	uint64_t left_out = swz_add_count(damage->stray_nodes,
					  findings->dropped);

	if (findings->repaired)
		fprintf(stream,
			"\nrepaired: the times of %" PRIu64
			" context%s, torn by a kill, a jump or a signal\n",
			findings->repaired, swz_s(findings->repaired));
	if (!swz_profile_damaged(profile) && !findings->dropped)
		return;
	fprintf(stream,
		"\ndamaged: %" PRIu64 " byte%s missing, %" PRIu32
		" bad chunk%s, %" PRIu64 " context%s left out\n",
		damage->missing_bytes, swz_s(damage->missing_bytes),
		damage->bad_chunks, swz_s(damage->bad_chunks), left_out,
		swz_s(left_out));
}

static void put_losses(FILE *stream, const struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;

	fprintf(stream,
		"lost calls: %" PRIu64 "\nfolded calls: %" PRIu64
		"\nfolded recursion: %" PRIu64 " calls\nused: %" PRIu64
		" of %" PRIu64 " bytes\n",
		header->lost_calls, profile->folded_calls,
		profile->folded_recursion, header->used_bytes,
		header->limit_bytes);
}

static void put_trigger(FILE *stream, const char *option, uint64_t number,
			uint64_t calls, bool came, const char *note)
{
	if (!number)
		return;
	fprintf(stream, "%s: call %" PRIu64 ", ", option, number);
	if (came)
		fprintf(stream, "came%s\n", note);
	else
		fprintf(stream, "never came; calls seen: %" PRIu64 "\n", calls);
}

static void put_triggers(FILE *stream, const struct swz_file_header *h)
{
	const uint32_t flags = h->trigger_flags;

	put_trigger(stream, "--start-at", h->start_at_number, h->start_at_calls,
		    flags & SWZ_TRIGGER_STARTED, "");
	put_trigger(stream, "--stop-at", h->stop_at_number, h->stop_at_calls,
		    flags & SWZ_TRIGGER_STOPPED,
		    flags & SWZ_TRIGGER_EARLY ? " while nothing was recorded"
					      : "");
}

void swz_write_info(FILE *stream, struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;
	struct findings findings = {0};
	int64_t duration = swz_profile_ns(
		profile, (int64_t)swz_profile_duration_ticks(profile));

	fputs("file: ", stream);
	swz_put_text(stream, profile->name);
	fprintf(stream, "\npid: %" PRId32 "\nparent: %" PRId32 "\n",
		header->pid, header->parent_pid);
	fputs("executable: ", stream);
	swz_put_text(stream, profile->executable);
	fputs("\ncommand: ", stream);
	swz_put_command(stream, profile);
	fputs("\ndirectory: ", stream);
	swz_put_text(stream, profile->cwd);
	putc('\n', stream);
	put_labels(stream, profile);
	put_start(stream, profile);
	if (header->flags & SWZ_FILE_MERGED)
		fprintf(stream,
			"merged: %" PRIu64 " profile%s, %" PRIu64 " thread%s\n",
			header->merged_profiles, swz_s(header->merged_profiles),
			header->merged_threads, swz_s(header->merged_threads));
	if (profile->ranks)
		fprintf(stream, "times by rank: of %zu, %" PRIu64 " profiles\n",
			profile->ranks->count,
			swz_profile_ranked_processes(profile));
	fputs(swz_profile_end_known(profile) ? "duration: " : "duration: >= ",
	      stream);
	put_seconds(stream, duration);
	fputs(is_sampled(profile) ? " s\n" : " s, with the cost of the hooks\n",
	      stream);
	if (is_sampled(profile))
		put_sampling(stream, header);
	else if (!(header->flags & SWZ_FILE_MERGED))
		put_clock(stream, profile);
	put_flags(stream, header->flags);
	put_end(stream, profile);
	put_triggers(stream, header);
	if (is_sampled(profile))
		fprintf(stream, "used: %" PRIu64 " bytes\n",
			header->used_bytes);
	else
		put_losses(stream, profile);
	put_threads(stream, profile, &findings);
	if (is_counted(profile))
		fprintf(stream,
			header->flags & SWZ_FILE_COVER
				? "first calls: %" PRIu64
				  "; later ones are not counted (-m cover)\n"
				: "call edges: %" PRIu64
				  ", exact; no times (-m count)\n",
			findings.edges);
	else
		fprintf(stream, "contexts: %" PRIu64 "\n", findings.contexts);
	if (findings.unwound)
		fprintf(stream, "ended by an exception: %" PRIu64 " call%s\n",
			findings.unwound, swz_s(findings.unwound));
	put_embedded(stream, profile);
	put_code(stream, profile);
	put_events(stream, profile);
	swz_put_marks_of(stream, profile);
	info_put_modules(stream, profile);
	info_put_imports(stream, profile);
	put_damage(stream, profile, &findings);
}
