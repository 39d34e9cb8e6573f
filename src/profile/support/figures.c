/* Times are rounded in integers: 999,950 ns is 1.00 ms, never 1000 us. */

#include "profile/support/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

char *swz_figure_count(char *out, uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = out;
	int i;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

/* The first step of which there are less than a thousand is that to show. */
static char *put_time(char *out, uint64_t ns, bool utf8)
{
	static const char *const units[] = {"us", "ms", "s"};
	uint64_t step = 1, rounded = ns;
	unsigned int i;

	if (ns < 1000) {
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64 " ns", ns);
		return out;
	}
	for (i = 0; i < 9 && rounded >= 1000; i++) {
		step *= 10;
		rounded = (ns + step / 2) / step;
	}
	if (rounded >= 1000) {
		swz_figure_count(out, rounded);
		strcat(out, " s");
		return out;
	}
	i--; /* steps of 10 ns: 1.23 us, 100 ns: 12.3 us, 1 us: 123 us, ... */
	if (i % 3 == 2)
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64, rounded);
	else if (i % 3 == 1)
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64 ".%" PRIu64,
			 rounded / 10, rounded % 10);
	else
		snprintf(out, SWZ_FIGURE_BYTES, "%" PRIu64 ".%02" PRIu64,
			 rounded / 100, rounded % 100);
	strcat(out, " ");
	strcat(out, i < 3 && utf8 ? "\xc2\xb5s" : units[i / 3]);
	return out;
}

char *swz_figure_time(char *out, int64_t ns, bool utf8)
{
	if (ns >= 0)
		return put_time(out, (uint64_t)ns, utf8);
	out[0] = '-';
	put_time(out + 1, -(uint64_t)ns, utf8);
	return out;
}

char *swz_figure_share(char *out, int64_t part, int64_t whole)
{
	double percent = 100.0 * (double)part / (double)whole;

	if (!whole)
		strcpy(out, "-");
	else if (part > 0 && percent < 0.05)
		strcpy(out, "<0.1%");
	else
		snprintf(out, SWZ_FIGURE_BYTES, "%.*f%%", percent < 99.95,
			 percent);
	return out;
}

static char *put_sign(char *out, bool more)
{
	*out = more ? '+' : '-';
	return out + 1;
}

char *swz_figure_count_change(char *out, uint64_t old, uint64_t new)
{
	if (old == new)
		strcpy(out, "0");
	else
		swz_figure_count(put_sign(out, new > old),
				 new > old ? new - old : old - new);
	return out;
}

char *swz_figure_time_change(char *out, int64_t old, int64_t new, bool utf8)
{
	uint64_t distance = new > old ? (uint64_t) new - (uint64_t)old
				      : (uint64_t)old - (uint64_t) new;

	if (old == new)
		strcpy(out, "0");
	else
		put_time(put_sign(out, new > old), distance, utf8);
	return out;
}

char *swz_figure_percent_change(char *out, int64_t old, int64_t new)
{
	double percent = 100.0 * ((double)new - (double)old) / (double)old;

	if (old == new)
		strcpy(out, "0%");
	else if (!old)
		strcpy(out, "-");
	else if (fabs(percent) < 999.95)
		snprintf(out, SWZ_FIGURE_BYTES, "%+.1f%%", percent);
	else {
		swz_figure_count(put_sign(out, percent > 0),
				 fabs(percent) < 1e15
					 ? (uint64_t)(fabs(percent) + 0.5)
					 : (uint64_t)1e15);
		strcat(out, "%");
	}
	return out;
}
