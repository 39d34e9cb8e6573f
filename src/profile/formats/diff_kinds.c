/* What has changed, and what may be chance.
 *
 * A function is noise if its calls, its self time and its inclusive time all
 * are. Beside the runs' own spread there is a floor for times: the test knows
 * what differs from run to run, not what differs from build to build, as where
 * the code happens to lie. */

#include "profile/formats/diff.h"

#include <inttypes.h>
#include <math.h>

#include "profile/costs/runs.h"
#include "profile/formats/time_kind.h"
#include "profile/support/arith.h"
#include "profile/support/output.h"

#define FLOOR_SHARE 0.001 /* of the larger total */

static struct swz_costs costs_of(const struct swz_section *section,
				 uint32_t function)
{
	struct swz_report_function costs = swz_report_function(section->report,
							       function);

	return (struct swz_costs){costs.calls, costs.self_ns,
				  costs.inclusive_ns};
}

static bool is_nothing(const struct swz_costs *costs)
{
	return !costs->calls && !costs->self_ns && !costs->inclusive_ns;
}

const char *swz_diff_remark(const struct swz_costs_diff *costs)
{
	if (is_nothing(&costs->old) && !is_nothing(&costs->new))
		return "  (new)";
	if (is_nothing(&costs->new) && !is_nothing(&costs->old))
		return "  (gone)";
	return "";
}

int64_t swz_diff_total(const struct swz_section *section)
{
	int64_t new = section->report->total_ns;
	int64_t old = section->old->report->total_ns;

	return new > old ? new : old;
}

static bool is_known(const struct swz_section *section)
{
	return section->runs && section->runs->count > 1 &&
	       section->old->runs && section->old->runs->count > 1;
}

static uint64_t noise_of(const struct swz_spread *new,
			 const struct swz_spread *old, double least)
{
	double noise = swz_spread_noise(new, old);

	if (noise < least)
		noise = least;
	return noise < 0x1p63 ? (uint64_t)ceil(noise) : UINT64_MAX;
}

static enum swz_diff_kind kind_of(const struct swz_diff_function *function)
{
	const struct swz_costs_diff *costs = &function->costs;
	const struct swz_diff_noise *noise = &function->noise;

	if (!noise->known)
		return SWZ_DIFF_UNKNOWN;
	if (swz_diff_self(costs) > noise->self_ns)
		return costs->new.self_ns > costs->old.self_ns
			       ? SWZ_DIFF_SLOWER
			       : SWZ_DIFF_FASTER;
	if (swz_diff_inclusive(costs) > noise->inclusive_ns ||
	    swz_diff_calls(costs) > noise->calls)
		return SWZ_DIFF_OTHER;
	return SWZ_DIFF_NOISE;
}

struct swz_diff_function swz_diff_function(const struct swz_section *section,
					   uint32_t index)
{
	struct swz_diff_function function = {
		.costs = {.new = costs_of(section, index),
			  .old = costs_of(section->old, index)},
		.noise.known = is_known(section),
		.present =
			swz_report_function(section->report, index).present ||
			swz_report_function(section->old->report, index)
				.present,
	};
	double least = FLOOR_SHARE * (double)swz_diff_total(section);

	if (function.noise.known) {
		struct swz_function_spread *new = &function.new_runs;
		struct swz_function_spread *old = &function.old_runs;

		*new = swz_runs_function(section->runs, index);
		*old = swz_runs_function(section->old->runs, index);
		function.noise.calls = noise_of(&new->calls, &old->calls, 0);
		function.noise.self_ns = noise_of(&new->self_ns, &old->self_ns,
						  least);
		function.noise.inclusive_ns = noise_of(
			&new->inclusive_ns, &old->inclusive_ns, least);
	}
	function.kind = kind_of(&function);
	return function;
}

struct swz_diff_function swz_diff_of_total(const struct swz_section *section)
{
	struct swz_diff_function total = {
		.costs.new.self_ns = section->report->total_ns,
		.costs.old.self_ns = section->old->report->total_ns,
		.noise.known = is_known(section),
		.present = true,
	};

	if (total.noise.known) {
		struct swz_spread new = swz_runs_total(section->runs);
		struct swz_spread old = swz_runs_total(section->old->runs);

		total.noise.self_ns = noise_of(
			&new, &old,
			FLOOR_SHARE * (double)swz_diff_total(section));
	}
	total.kind = kind_of(&total);
	return total;
}

const char *swz_diff_kind_name(const struct swz_diff_function *function)
{
	if (is_nothing(&function->costs.old) &&
	    !is_nothing(&function->costs.new))
		return "new";
	if (is_nothing(&function->costs.new) &&
	    !is_nothing(&function->costs.old))
		return "gone";
	switch (function->kind) {
	case SWZ_DIFF_NOISE:
		return "noise";
	case SWZ_DIFF_SLOWER:
		return "slower";
	case SWZ_DIFF_FASTER:
		return "faster";
	case SWZ_DIFF_OTHER:
		return "other";
	default:
		return NULL;
	}
}

struct swz_diff_counts swz_diff_count(const struct swz_section *section)
{
	struct swz_diff_counts counts = {0};
	uint32_t i;

	for (i = 0; i < section->report->function_capacity; i++) {
		struct swz_diff_function function = swz_diff_function(section,
								      i);

		if (!function.present || i == SWZ_CATALOG_UNKNOWN)
			continue;
		counts.functions[function.kind]++;
		counts.self_ns[function.kind] = swz_add_count(
			counts.self_ns[function.kind],
			swz_diff_self(&function.costs));
	}
	return counts;
}

const char *swz_diff_verdict(const struct swz_diff_function *total)
{
	return total->kind == SWZ_DIFF_SLOWER   ? "slower"
	       : total->kind == SWZ_DIFF_FASTER ? "faster"
						: "no change beyond the noise";
}

/* ---- the lines above tables ---- */

static void put_threads(FILE *stream, const struct swz_section *section)
{
	size_t least = section->report->thread_count, most = least, i;

	for (i = 0; section->runs && i < section->runs->count; i++) {
		size_t count = section->runs->items[i].thread_count;

		least = i && least < count ? least : count;
		most = i && most > count ? most : count;
	}
	if (least == most)
		fprintf(stream, "%zu thread%s", least, least == 1 ? "" : "s");
	else
		fprintf(stream, "%zu to %zu threads", least, most);
}

static void put_side(FILE *stream, const char *side,
		     const struct swz_section *section)
{
	size_t runs = section->runs ? section->runs->count : 1;

	fprintf(stream, "# %s: process %" PRId32 ": ", side,
		section->profile->header.pid);
	swz_put_command(stream, section->profile);
	putc('\n', stream);
	if (section->profile_count > runs)
		fprintf(stream, "# %s: %zu profiles merged\n", side,
			section->profile_count);
	fprintf(stream, "# %s: total %" PRId64 " ns in ", side,
		section->report->total_ns);
	put_threads(stream, section);
	if (section->thread_name) {
		fputs(" called ", stream);
		swz_put_text(stream, section->thread_name);
	}
	if (runs > 1) {
		struct swz_spread total = swz_runs_total(section->runs);

		fprintf(stream,
			", mean of %zu runs with a standard deviation of "
			"%.0f ns",
			runs, swz_spread_deviation(&total));
	}
	putc('\n', stream);
}

static void put_total(FILE *stream, const struct swz_section *section)
{
	struct swz_diff_function total = swz_diff_of_total(section);
	int64_t new = total.costs.new.self_ns, old = total.costs.old.self_ns;

	fprintf(stream, "# total: %+" PRId64 " ns", new - old);
	if (old)
		fprintf(stream, " (%+.2f%%)",
			100 * ((double)new - (double)old) / (double)old);
	if (!total.noise.known) {
		fputs("; the noise is unknown: compare several runs of each, "
		      "--diff OLD... -- NEW...\n",
		      stream);
		return;
	}
	fprintf(stream, ", noise %" PRIu64 " ns: %s\n", total.noise.self_ns,
		swz_diff_verdict(&total));
}

static void put_functions(FILE *stream, const struct swz_section *section)
{
	struct swz_diff_counts counts = swz_diff_count(section);

	if (counts.functions[SWZ_DIFF_UNKNOWN])
		return;
	fprintf(stream,
		"# functions: %zu slower (self +%" PRIu64
		" ns), %zu faster (self -%" PRIu64
		" ns), %zu changed otherwise, %zu within the noise\n",
		counts.functions[SWZ_DIFF_SLOWER],
		counts.self_ns[SWZ_DIFF_SLOWER],
		counts.functions[SWZ_DIFF_FASTER],
		counts.self_ns[SWZ_DIFF_FASTER],
		counts.functions[SWZ_DIFF_OTHER],
		counts.functions[SWZ_DIFF_NOISE]);
}

void swz_diff_put_heading(FILE *stream, const struct swz_section *section)
{
	put_side(stream, "old", section->old);
	put_side(stream, "new", section);
	fprintf(stream, "# times in ns%s\n",
		swz_time_kind(section) == SWZ_PROCESSOR_TIME
			? ", of processor time"
		: swz_time_kind(section) == SWZ_THREAD_TIME
			? ", running or waiting"
		: section->compensated ? ", without those of the hooks"
				       : "");
	put_total(stream, section);
	put_functions(stream, section);
}
