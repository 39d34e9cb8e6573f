#ifndef SWZ_CTL_REPORT_H
#define SWZ_CTL_REPORT_H

/* What list and status print. */

#include <stdbool.h>
#include <stdio.h>

#include "ctl/live_profile.h"

void swz_ctl_report_begin(FILE *stream, const struct swz_ctl_options *options);
void swz_ctl_report(FILE *stream, const struct swz_ctl_options *options,
		    const struct swz_ctl_process *process,
		    const struct swz_live_profile *profile, bool first);
void swz_ctl_report_end(FILE *stream, const struct swz_ctl_options *options);

#endif
