#include "profile/costs/imbalance.h"

#include <math.h>

#include "profile/support/arith.h"

static void see(struct swz_imbalance *imbalance, size_t at, int64_t ns)
{
	if (!imbalance->count || ns < imbalance->least_ns)
		imbalance->least_ns = ns;
	if (!imbalance->count || ns > imbalance->most_ns) {
		imbalance->most_ns = ns;
		imbalance->most_at = at;
	}
	imbalance->count = at + 1;
}

void swz_imbalance_add(struct swz_imbalance *imbalance, size_t at, int64_t ns)
{
	if (at > imbalance->count)
		see(imbalance, imbalance->count, 0);
	see(imbalance, at, ns);
	imbalance->sum_ns = swz_add(imbalance->sum_ns, ns);
}

void swz_imbalance_end(struct swz_imbalance *imbalance, size_t count)
{
	double mean;

	if (imbalance->count < count)
		see(imbalance, imbalance->count, 0);
	imbalance->mean_ns = imbalance->sum_ns / (int64_t)count;
	mean = (double)imbalance->sum_ns / (double)count;
	if (mean > 0)
		imbalance->tenths = llround(
			((double)imbalance->most_ns / mean - 1.0) * 1000.0);
}
