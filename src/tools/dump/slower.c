/* What is new has no percentage: its time is in the total, as that outside of
 * all functions is. */

#include "tools/dump/slower.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/formats/diff.h"
#include "profile/support/memory.h"
#include "tools/dump/message.h"

/* Where the noise is not known, what takes so little is not judged. */
#define LEAST_SHARE 0.001 /* of the larger total */

static bool is_slower(const struct swz_diff_function *function, double least,
		      double percent)
{
	double old = (double)function->costs.old.self_ns;
	double more = (double)function->costs.new.self_ns - old;

	if (!(more > 0) || old <= 0 || !(more * 100 > percent * old))
		return false;
	return function->noise.known ? function->kind == SWZ_DIFF_SLOWER
				     : more > least;
}

/* "shop::work (prog): +40.2%, 12300 ns; noise 500 ns"; to be freed. */
static char *describe(const char *name, const char *module,
		      const struct swz_diff_function *function)
{
	int64_t old = function->costs.old.self_ns;
	int64_t more = function->costs.new.self_ns - old;
	char noise[64] = "noise unknown: give several runs of each";

	if (function->noise.known)
		snprintf(noise, sizeof(noise), "noise %" PRIu64 " ns",
			 function->noise.self_ns);
	return swz_print("%s%s%s%s +%.1f%% (+%" PRId64 " ns, %s)", name,
			 module ? " (" : "", module ? module : "",
			 module ? "): self" : "",
			 100 * (double)more / (double)old, more, noise);
}

bool swz_dump_is_slower(const struct swz_section *section,
			const struct swz_dump_options *options)
{
	double least = LEAST_SHARE * (double)swz_diff_total(section);
	struct swz_diff_function total = swz_diff_of_total(section),
				 worst = {0};
	bool filtered = options->table.filters.count > 0;
	char *of_total = NULL, *of_worst = NULL;
	uint32_t i, at = 0;
	bool slower;
	size_t count = 0;

	if (!filtered && is_slower(&total, least, options->fail_above))
		of_total = describe("total", NULL, &total);
	for (i = 0; i < section->report->function_capacity; i++) {
		struct swz_diff_function function;

		function = swz_diff_function(section, i);
		if (!SWZ_CATALOG_IS_REAL(i) || !function.present)
			continue;
		if (filtered && !swz_patterns_match(&options->table.filters,
						    section->catalog, i, NULL))
			continue;
		if (!is_slower(&function, least, options->fail_above))
			continue;
		if (!count++ || swz_diff_self(&function.costs) >
					swz_diff_self(&worst.costs)) {
			worst = function;
			at = i;
		}
	}
	if (count)
		of_worst = describe(section->catalog->functions[at].name,
				    swz_module_name(section, at), &worst);
	slower = of_total || of_worst;
	if (slower)
		swz_dump_complain(
			"slower by more than %g%%%s%s: %s%s%s%s",
			options->fail_above,
			section->thread_name ? " in threads called " : "",
			section->thread_name ? section->thread_name : "",
			of_total ? of_total : "",
			of_total && of_worst ? "; " : "",
			of_worst ? of_worst : "",
			count > 1 ? "; and other functions" : "");
	free(of_total);
	free(of_worst);
	return slower;
}
