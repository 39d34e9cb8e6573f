/* Times off the processor are ticks from the end of the one before (the first:
 * from the first thread's start) times two, plus 1 if the thread was preempted,
 * and how many ticks long they are. */

#include "profile/formats/html_waiting.h"

#include "profile/file/events.h"
#include "profile/file/switches.h"
#include "profile/formats/html_diff.h"
#include "profile/formats/page_block.h"

#define LEVEL 6 /* of compression */

static struct swz_page_block *begin(FILE *stream, const char *what,
				    size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s %zu", what, number);
	return swz_page_block_begin(stream, name, LEVEL);
}

static void put_functions(FILE *stream, size_t number,
			  const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	struct swz_page_block *block = begin(stream, "waiting", number);
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_report_function *f = &report->functions[i];

		if (!swz_html_has_row(section, i))
			continue;
		swz_page_block_time(block, f->self_waiting_ns);
		swz_page_block_time(block, f->inclusive_waiting_ns);
	}
	swz_page_block_end(block);
}

static void put_off(FILE *stream, size_t number,
		    const struct swz_section *section)
{
	const struct swz_profile_thread *thread = section->thread;
	struct swz_page_block *block = begin(stream, "off", number);
	uint64_t at = swz_profile_origin(section->profile);
	struct swz_switch_reader switches;
	struct swz_off_time off;

	swz_page_block_number(block, thread->switch_count);
	swz_switches_open(&switches, thread);
	while (swz_switches_next(&switches, at, UINT64_MAX, &off)) {
		swz_page_block_number(block,
				      (off.from - at) << 1 | off.preempted);
		swz_page_block_number(block, off.to - off.from);
		at = off.to;
	}
	swz_page_block_end(block);
}

void swz_html_put_waiting(FILE *stream, size_t number,
			  const struct swz_section *section)
{
	const struct swz_profile_thread *thread = section->thread;

	if (section->report->knows_waiting)
		put_functions(stream, number, section);
	if (thread && thread->record.switches_from && !section->old)
		put_off(stream, number, section);
}
