/* What a profile file holds, without a look at the modules themselves. */

#include "profile/formats/mark_lines.h"
#include "profile/formats/formats.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "profile/formats/info_modules.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "profile/costs/tree.h"
#include "profile/file/ranks.h"
#include "profile/file/thread_times.h"
#include "profile/file/writer.h"

double swz_hook_cost_ns(const struct swz_profile *profile)
{
	double ticks = ((double)profile->header.cost_inside +
			(double)profile->header.cost_outside) /
		       1024.0;

	return ticks * (double)profile->clock_ns / (double)profile->clock_ticks;
}

void swz_put_command(FILE *stream, const struct swz_profile *profile)
{
	size_t i;

	if (!profile->argument_count)
		swz_put_text(stream, profile->executable);
	for (i = 0; i < profile->argument_count; i++) {
		if (i)
			putc(' ', stream);
		swz_put_text(stream, profile->arguments[i]);
	}
}

char *swz_command_text(const struct swz_profile *profile)
{
	char *command = NULL;
	size_t size;
	FILE *memory = swz_text_stream(&command, &size);

	swz_put_command(memory, profile);
	swz_text_stream_end(memory);
	return command;
}

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
	fprintf(stream,
		"cut stacks: %" PRIu64 " (of %" PRIu64 " bytes), %" PRIu64
		" by frames that nothing explains\n",
		swz_add_count(header->cut_stacks, header->broken_stacks),
		header->stack_bytes, header->broken_stacks);
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
		{SWZ_FILE_SHORT, "short"},
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
	}
	findings->contexts = swz_add_count(findings->contexts, tree.count - 1);
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
		fprintf(stream, "%*s %16" PRIu64 "         ", padding, "",
			count_calls(profile, thread, findings));
		put_seconds(stream, swz_profile_ns(profile, (int64_t)ticks));
		put_processor(stream, profile, thread);
	}
}

/* Of code made at run time there is a symbol for each function. */
static void put_embedded(FILE *stream, const struct swz_profile *profile)
{
	size_t names = profile->symbol_count - profile->code_functions;

	if (names || profile->line_count)
		fprintf(stream, "embedded: %zu names, %zu source lines\n",
			names, profile->line_count);
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

	if (findings->repaired)
		fprintf(stream,
			"\nrepaired: the times of %" PRIu64
			" contexts, torn by a kill, a jump or a signal\n",
			findings->repaired);
	if (!swz_profile_damaged(profile) && !findings->dropped)
		return;
	fprintf(stream,
		"\ndamaged: %" PRIu64 " bytes missing, %" PRIu32
		" bad chunks, %" PRIu64 " contexts left out\n",
		damage->missing_bytes, damage->bad_chunks,
		swz_add_count(damage->stray_nodes, findings->dropped));
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
			"merged: %" PRIu64 " profiles, %" PRIu64 " threads\n",
			header->merged_profiles, header->merged_threads);
	if (profile->ranks)
		fprintf(stream, "times by rank: of %zu, %" PRIu64 " profiles\n",
			profile->ranks->count,
			swz_profile_ranked_processes(profile));
	fputs("duration: ", stream);
	put_seconds(stream, duration);
	fputs(is_sampled(profile) ? " s\n" : " s, with the cost of the hooks\n",
	      stream);
	if (is_sampled(profile))
		put_sampling(stream, header);
	else if (!(header->flags & SWZ_FILE_MERGED))
		put_clock(stream, profile);
	put_flags(stream, header->flags);
	put_end(stream, profile);
	if (is_sampled(profile))
		fprintf(stream, "used: %" PRIu64 " bytes\n",
			header->used_bytes);
	else
		put_losses(stream, profile);
	put_threads(stream, profile, &findings);
	fprintf(stream, "contexts: %" PRIu64 "\n", findings.contexts);
	if (findings.unwound)
		fprintf(stream, "ended by an exception: %" PRIu64 " calls\n",
			findings.unwound);
	put_embedded(stream, profile);
	put_code(stream, profile);
	swz_put_events(stream, profile);
	swz_put_marks_of(stream, profile);
	swz_info_put_modules(stream, profile);
	swz_info_put_imports(stream, profile);
	put_damage(stream, profile, &findings);
}
