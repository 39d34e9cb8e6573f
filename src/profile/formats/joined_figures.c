#include "profile/formats/joined_figures.h"

#include <inttypes.h>

bool swz_is_counted(const struct swz_report *report, uint32_t function)
{
	return function >= report->function_capacity ||
	       !report->functions[function].uncounted;
}

int64_t swz_bound_of(const struct swz_report *report, uint32_t function,
		     int64_t ns)
{
	/* outside of all functions no sample can be */
	return ns || function == SWZ_CATALOG_OUTSIDE ? 0 : report->bound_ns;
}

void swz_put_plain_count(FILE *stream, int width, uint64_t count, bool counted)
{
	if (counted)
		fprintf(stream, "%*" PRIu64, width, count);
	else
		fprintf(stream, "%*s", width, "-");
}

void swz_put_plain_time(FILE *stream, int width, int64_t ns, int64_t bound_ns)
{
	char figure[24];

	snprintf(figure, sizeof(figure), "%s%" PRId64, bound_ns ? "<" : "",
		 bound_ns ? bound_ns : ns);
	fprintf(stream, "%*s", width, figure);
}

void swz_put_joined_note(FILE *stream, const struct swz_section *section)
{
	const struct swz_joined *joined = section->joined;

	fprintf(stream,
		"counts are of the recorded run, times of the sampled one "
		"(%" PRIu64 " samples)",
		joined->samples);
}
