#ifndef SWZ_PROFILE_FORMATS_EXPORTS_PPROF_H
#define SWZ_PROFILE_FORMATS_EXPORTS_PPROF_H

/* Labels of samples: which process they are of, on which host, for which
 * service. Names are those of --push: Prometheus has no dots. */

#include "profile/formats/common/section.h"

struct swz_pprof_label {
	const char *key;
	const char *text; /* NULL: it is a number */
	uint64_t number;
};

#define SWZ_PPROF_MOST_LABELS 8

/* The labels that all processes of the section have in common. Returns how
 * many. Texts are the profiles'. */
size_t swz_pprof_labels(const struct swz_section *section,
			struct swz_pprof_label *labels);

/* The name of times there. */
const char *swz_pprof_time(const struct swz_profile *profile);

/* The value of a label that all processes of the section have; the name of the
 * program that all of them are. NULL: it is not the same. */
const char *swz_common_label(const struct swz_section *section,
			     const char *name);
const char *swz_common_program(const struct swz_section *section);

#endif
