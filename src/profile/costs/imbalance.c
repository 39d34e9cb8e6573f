#include "profile/costs/imbalance.h"

#include <math.h>

#include "profile/support/arith.h"

struct swz_imbalance swz_imbalance_of(const int64_t *ns, size_t count)
{
	struct swz_imbalance found = {.least_ns = ns[0], .most_ns = ns[0]};
	int64_t sum = ns[0];
	double mean;
	size_t i;

	for (i = 1; i < count; i++) {
		sum = swz_add(sum, ns[i]);
		if (ns[i] < found.least_ns)
			found.least_ns = ns[i];
		if (ns[i] <= found.most_ns)
			continue;
		found.most_ns = ns[i];
		found.most_at = i;
	}
	found.mean_ns = sum / (int64_t)count;
	mean = (double)sum / (double)count;
	if (mean > 0)
		found.tenths = llround(((double)found.most_ns / mean - 1.0) *
				       1000.0);
	return found;
}
