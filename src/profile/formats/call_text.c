/* What the views of calls have in common: how a call, and how its end, reads.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/calls.h"
#include "profile/names/value_condition.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

static const struct swz_settings *settings_of(const struct swz_trace *trace,
					      uint32_t function)
{
	return swz_rules_of(trace->choice.rules.rules, trace->catalog,
			    function);
}

static bool hides_values(const struct swz_settings *settings)
{
	return settings && settings->list_args == SWZ_NO;
}

enum swz_colour swz_call_colour(const struct swz_trace *trace,
				uint32_t function)
{
	const struct swz_settings *settings = settings_of(trace, function);
	const char *name;
	size_t i;

	for (i = 0; settings && settings->colour &&
		    (name = swz_config_colour_at(i)) != NULL;
	     i++)
		if (strcmp(name, settings->colour) == 0)
			return (enum swz_colour)(SWZ_COLOUR_FIRST_NAMED + i);
	return SWZ_COLOUR_NONE;
}

/* -22 is also -EINVAL, where the configuration says so. */
static void put_errno(struct swz_text *text,
		      const struct swz_settings *settings,
		      const struct swz_call_end *end)
{
	const char *name;

	if (!settings || settings->is_errno != SWZ_YES || !end->has_number ||
	    end->number >= 0 || end->number < -INT16_MAX)
		return;
	name = strerrorname_np((int)-end->number);
	if (name)
		swz_text_put(text, " (-%s)", name);
}

/* By the configuration, if it says what is; otherwise by its type. */
static bool is_exceptional(const struct swz_settings *settings,
			   const struct swz_value *result)
{
	size_t i;

	if (!settings ||
	    (!settings->never_exceptional && !settings->exceptional_count))
		return swz_value_is_exceptional(result);
	for (i = 0; i < settings->exceptional_count; i++)
		if (swz_value_decide(result, &settings->exceptional[i]) ==
		    SWZ_HOLDS)
			return true;
	return false;
}

void swz_call_print(struct swz_text *text, struct swz_pointed_values *before,
		    struct swz_trace *trace, struct swz_binding *binding,
		    const struct swz_call_values *arguments,
		    const struct swz_event *event)
{
	uint32_t function = swz_trace_function(binding, event);
	const char *name = trace->catalog->functions[function].name;
	const struct swz_settings *settings = settings_of(trace, function);

	swz_text_clear(text);
	if (before)
		swz_pointed_clear(before);
	swz_text_put(text, "%s%s",
		     settings && settings->prefix ? settings->prefix : "",
		     name);
	if (event->how == SWZ_EVENT_RESUME)
		swz_text_put(text, " [resumed]");
	if (!arguments->count || hides_values(settings))
		return;
	swz_text_put(text, "(");
	swz_pointed_arguments(text, before, binding, arguments);
	swz_text_put(text, ")");
}

void swz_call_begin_print(struct swz_text *text,
			  struct swz_pointed_values *before,
			  struct swz_trace *trace, struct swz_binding *binding,
			  struct swz_value_reader *values,
			  const struct swz_event *event)
{
	struct swz_call_values of;

	if (!swz_values_of(values, event, &of))
		of.count = 0;
	swz_call_print(text, before, trace, binding, &of, event);
}

static void read_end(struct swz_call_end *end,
		     struct swz_pointed_values *before, struct swz_trace *trace,
		     struct swz_binding *binding,
		     struct swz_value_reader *values,
		     const struct swz_event *event)
{
	const struct swz_settings *settings = settings_of(
		trace, swz_trace_function(binding, event));
	const char *ending = swz_trace_ending(event);
	const struct swz_value *result;
	struct swz_call_values of;

	swz_text_clear(&end->text);
	swz_text_clear(&end->out);
	swz_text_clear(&end->unlike);
	end->exceptional = event->how == SWZ_EVENT_UNWIND && !event->cut;
	end->has_number = false;
	if (swz_values_of(values, event, &of) && of.exception) {
		swz_text_put(&end->text, "! ");
		swz_exception_print(&end->text, of.exception);
		return;
	}
	if (end->exceptional) {
		swz_text_put(&end->text, SWZ_ANY_EXCEPTION);
		return;
	}
	if (ending) {
		swz_text_put(&end->text, "[%s]", ending);
		return;
	}
	result = hides_values(settings) ? NULL : swz_value_result(&of);
	if (result) {
		swz_text_put(&end->text, "= ");
		swz_value_print(&end->text, binding, result);
		end->exceptional = is_exceptional(settings, result);
		end->has_number = swz_value_number(result, &end->number);
		put_errno(&end->text, settings, end);
	}
	if (!hides_values(settings))
		swz_pointed_print(&end->out, binding, &of, before);
}

void swz_call_end_read(struct swz_call_end *end,
		       struct swz_pointed_values *before,
		       struct swz_trace *trace, struct swz_binding *binding,
		       struct swz_value_reader *values,
		       const struct swz_event *event)
{
	read_end(end, before, trace, binding, values, event);
	/* (what is open still has not succeeded) */
	if (before->objects && before->object.text.size && !event->cut)
		swz_object_put_unlike(
			&end->unlike, before->objects, &before->object,
			swz_trace_function(binding, event), end->exceptional);
}

void swz_call_end_free(struct swz_call_end *end)
{
	swz_text_free(&end->text);
	swz_text_free(&end->out);
	swz_text_free(&end->unlike);
}

static void put_piece(FILE *stream, const struct swz_style *style,
		      enum swz_colour colour, const char *text, size_t length)
{
	char *piece, *shown;

	if (!length)
		return;
	piece = swz_print("%.*s", (int)length, text);
	shown = swz_printable(piece, style->utf8);
	swz_put_cell(stream, style, colour, shown, 0);
	free(shown);
	free(piece);
}

void swz_calls_put(FILE *stream, const struct swz_trace *trace,
		   enum swz_colour colour, const char *text)
{
	static const struct swz_style plain = {.utf8 = true};
	const struct swz_style *style = trace->calls->style;
	bool changed = false;

	if (!style)
		style = &plain;
	while (*text) {
		size_t length = strcspn(text, SWZ_MARKS);

		put_piece(stream, style, changed ? SWZ_COLOUR_WARM : colour,
			  text, length);
		text += length;
		if (*text == *SWZ_CHANGED || *text == *SWZ_UNCHANGED)
			changed = *text == *SWZ_CHANGED;
		text += *text != 0;
	}
}

void swz_calls_put_thread(FILE *stream, const struct swz_trace *trace,
			  const struct swz_binding *binding,
			  const struct swz_profile_thread *thread)
{
	char buffer[32];
	char *line = swz_print(
		"# %s, process %" PRId32 ", thread %" PRId32 " (%s)",
		swz_base_name(binding->profile->executable),
		binding->profile->header.pid, thread->record.tid,
		swz_trace_thread_name(thread, buffer, sizeof(buffer)));

	swz_calls_put(stream, trace, SWZ_COLOUR_DIM, line);
	putc('\n', stream);
	free(line);
}
