#ifndef SWZ_PROFILE_FORMATS_LOSSES_H
#define SWZ_PROFILE_FORMATS_LOSSES_H

/* What is not in the figures, or is not what was asked for: of all profiles of
 * a section together, so that each format says the same. */

#include "profile/formats/formats.h"

struct swz_losses {
	uint64_t lost_calls;   /* not recorded */
	uint64_t folded_calls; /* without a context */
	uint64_t lost_marks;   /* and spans */
	uint64_t lost_values;  /* records of arguments or results */
	uint64_t lost_events;
	uint64_t samples; /* that were taken and are there */
	uint64_t lost_samples, missed_samples;
	uint64_t cut_stacks;     /* of the samples: without their outermost part
				  */
	size_t without_switches; /* threads, where the others have them */
	uint32_t full, flags;    /* of the headers; see swz_file_bound() */
	size_t incomplete;       /* profiles, as all that follow */
	size_t damaged;
	size_t overwritten;
	size_t running;
};

struct swz_losses swz_losses_find(const struct swz_section *section);

/* A line for each that there is, each with PREFIX before it. Of samples there
 * is always one. */
void swz_put_loss_lines(FILE *stream, const struct swz_section *section,
			const char *prefix);

/* The members of an object, each with a comma before it; all of them. */
void swz_put_loss_members(FILE *stream, const struct swz_section *section);

/* Each by its name, as JSON has them: at INDEX from 0 on. NULL: past the last.
 */
const char *swz_loss_at(const struct swz_losses *losses, size_t index,
			uint64_t *count);

#endif
