#include "profile/formats/losses.h"

#include <inttypes.h>
#include <stddef.h>

#include "profile/file/writer.h"
#include "profile/support/arith.h"

static void add(uint64_t *sum, uint64_t count)
{
	*sum = swz_add_count(*sum, count);
}

static void add_header(struct swz_losses *losses,
		       const struct swz_file_header *header)
{
	add(&losses->lost_calls, header->lost_calls);
	add(&losses->lost_marks, header->lost_marks);
	add(&losses->lost_values, header->lost_values);
	if (header->full)
		losses->full = header->full;
	losses->flags |= header->flags;
	losses->incomplete += swz_full_reason(header) != NULL;
	losses->overwritten += (header->flags & SWZ_FILE_RING) != 0;
	if (!(header->flags & SWZ_FILE_SAMPLES))
		return;
	add(&losses->samples, header->samples);
	add(&losses->lost_samples, header->lost_samples);
	add(&losses->missed_samples, header->missed_samples);
	add(&losses->cut_stacks, header->cut_stacks);
	add(&losses->cut_stacks, header->broken_stacks);
}

static void add_profile(struct swz_losses *losses,
			const struct swz_profile *profile)
{
	size_t i;

	add_header(losses, &profile->header);
	add(&losses->folded_calls, profile->folded_calls);
	losses->damaged += swz_profile_damaged(profile);
	losses->running += profile->written;
	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_thread_record *record =
			&profile->threads[i].record;

		add(&losses->lost_events, record->untraced);
		losses->without_switches += profile->header.flags &
						    SWZ_FILE_SWITCHES &&
					    !record->switches_from;
	}
}

struct swz_losses swz_losses_find(const struct swz_section *section)
{
	struct swz_losses losses = {0};
	size_t i;

	for (i = 0; i < section->profile_count; i++)
		add_profile(&losses, section->profiles[i]);
	for (i = 0; i < section->sampled_count; i++)
		add_profile(&losses, section->sampled[i]);
	return losses;
}

static void put_line(FILE *stream, const char *prefix, const char *what,
		     uint64_t count)
{
	if (count)
		fprintf(stream, "%s%s: %" PRIu64 "\n", prefix, what, count);
}

void swz_put_loss_lines(FILE *stream, const struct swz_section *section,
			const char *prefix)
{
	struct swz_losses losses = swz_losses_find(section);

	if (section->report->samples || section->sampled_count)
		fprintf(stream,
			"%ssamples: %" PRIu64 ", lost %" PRIu64
			", missed %" PRIu64 ", of these stacks cut %" PRIu64
			"\n",
			prefix, losses.samples, losses.lost_samples,
			losses.missed_samples, losses.cut_stacks);
	put_line(stream, prefix, "lost calls", losses.lost_calls);
	put_line(stream, prefix, "calls in folded contexts",
		 losses.folded_calls);
	put_line(stream, prefix, "lost events", losses.lost_events);
	put_line(stream, prefix, "lost arguments and results",
		 losses.lost_values);
	put_line(stream, prefix, "lost marks and spans", losses.lost_marks);
	put_line(stream, prefix, "inconsistent contexts, left out",
		 section->report->dropped_nodes);
	put_line(stream, prefix, "damaged profiles", losses.damaged);
	put_line(stream, prefix, "incomplete profiles, which could not grow",
		 losses.incomplete);
	put_line(stream, prefix, "processes that still ran", losses.running);
}

const char *swz_loss_at(const struct swz_losses *losses, size_t index,
			uint64_t *count)
{
	const struct {
		const char *name;
		uint64_t count;
	} all[] = {
		{"lost_calls", losses->lost_calls},
		{"folded_calls", losses->folded_calls},
		{"lost_events", losses->lost_events},
		{"lost_values", losses->lost_values},
		{"lost_marks", losses->lost_marks},
		{"lost_samples", losses->lost_samples},
		{"missed_samples", losses->missed_samples},
		{"cut_stacks", losses->cut_stacks},
		{"damaged_profiles", losses->damaged},
		{"incomplete_profiles", losses->incomplete},
		{"running_processes", losses->running},
	};

	if (index >= sizeof(all) / sizeof(all[0]))
		return NULL;
	*count = all[index].count;
	return all[index].name;
}

void swz_put_loss_members(FILE *stream, const struct swz_section *section)
{
	struct swz_losses losses = swz_losses_find(section);
	const char *name;
	uint64_t count;
	size_t i;

	for (i = 0; (name = swz_loss_at(&losses, i, &count)) != NULL; i++)
		fprintf(stream, ",\"%s\":%" PRIu64, name, count);
	fprintf(stream, ",\"dropped_contexts\":%" PRIu64,
		section->report->dropped_nodes);
}
