/* -f calls of a profile that is no trace: for each context the values of its
 * last call, and between what its numbers were. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/summaries.h"
#include "profile/formats/calls.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"

#define MOST_CALLERS 5u

struct writing {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_binding *binding;
	struct swz_tree tree;
	struct swz_text text;
};

static void put_line(struct writing *w, enum swz_colour colour)
{
	swz_calls_put(w->stream, w->trace, colour, w->text.text);
	putc('\n', w->stream);
	swz_text_clear(&w->text);
}

static uint32_t function_of(const struct writing *w,
			    const struct swz_tree_node *node)
{
	uint32_t function = swz_binding_function(w->binding, node->function,
						 node->id);

	if (function >= w->binding->catalog->resolved)
		swz_catalog_resolve(w->binding->catalog);
	return function;
}

static const char *name_of(const struct writing *w,
			   const struct swz_tree_node *node)
{
	return w->trace->catalog->functions[function_of(w, node)].name;
}

/* "12 calls, from main < start" */
static void put_head(struct writing *w, const struct swz_tree_node *node,
		     uint64_t calls)
{
	const struct swz_tree_node *at = node;
	char count[SWZ_FIGURE_BYTES];
	unsigned i;

	swz_text_put(&w->text, "# %s: %s call%s", name_of(w, node),
		     swz_figure_count(count, calls), calls == 1 ? "" : "s");
	for (i = 0; i < MOST_CALLERS; i++) {
		at = &w->tree.nodes[at->parent];
		if (at->id == SWZ_FUNCTION_ROOT)
			break;
		swz_text_put(&w->text, "%s%s", i ? " < " : ", from ",
			     name_of(w, at));
	}
	if (i == MOST_CALLERS)
		swz_text_put(&w->text, " < ...");
	put_line(w, SWZ_COLOUR_DIM);
}

static void put_last(struct writing *w, const struct swz_tree_node *node,
		     const struct swz_profile_summary *summary)
{
	struct swz_call_values entry, back;
	const struct swz_value *result;
	bool given = swz_summary_values(summary, SWZ_VALUES_ENTRY, &entry);
	bool returned = swz_summary_values(summary, SWZ_VALUES_RETURN, &back);
	struct swz_text out = {0};
	struct swz_pointed_values before = {0};

	if (!given && !returned) {
		swz_text_put(&w->text, "  last: cannot be read, as it was "
				       "being written");
		put_line(w, SWZ_COLOUR_NONE);
		return;
	}
	swz_text_put(&w->text, "  last: %s", name_of(w, node));
	if (given) {
		swz_text_put(&w->text, "(");
		swz_pointed_arguments(&w->text, &before, w->binding, &entry);
		swz_text_put(&w->text, ")");
	}
	result = returned ? swz_value_result(&back) : NULL;
	if (result) {
		swz_text_put(&w->text, " = ");
		swz_value_print(&w->text, w->binding, result);
	}
	swz_text_clear(&out);
	if (returned)
		swz_pointed_print(&out, w->binding, &back, &before);
	if (out.size)
		swz_text_put(&w->text, "  %s", out.text);
	swz_text_free(&out);
	swz_pointed_free(&before);
	put_line(w, SWZ_COLOUR_NONE);
}

static void put_ranges(struct writing *w,
		       const struct swz_profile_summary *summary)
{
	unsigned i;

	for (i = 0; i < summary->head->ranges; i++) {
		struct swz_value low, high;

		if (!swz_summary_range(summary, i, &low, &high))
			continue;
		swz_text_put(&w->text, "  %s: ", low.name);
		swz_value_print(&w->text, w->binding, &low);
		if (memcmp(low.plain.bytes, high.plain.bytes, low.plain.size) !=
		    0) {
			swz_text_put(&w->text, " to ");
			swz_value_print(&w->text, w->binding, &high);
		}
		put_line(w, SWZ_COLOUR_NONE);
	}
}

static void put_thread(struct writing *w,
		       const struct swz_profile_thread *thread)
{
	const struct swz_profile *profile = w->binding->profile;
	bool any = false;
	size_t i;

	swz_tree_build(&w->tree, w->binding->profile, thread, false);
	if (w->trace->view && !swz_view_is_whole(w->trace->view))
		swz_view_apply(w->trace->view, w->binding, &w->tree);
	for (i = 1; i < w->tree.count; i++) {
		const struct swz_tree_node *node = &w->tree.nodes[i];
		const struct swz_profile_summary *summary = swz_summary_find(
			profile, node->unit);

		if (!summary || node->flags & SWZ_NODE_HIDDEN)
			continue;
		if (!any)
			swz_calls_put_thread(w->stream, w->trace, w->binding,
					     thread);
		any = true;
		put_head(w, node,
			 summary->head->entry.calls
				 ? summary->head->entry.calls
				 : summary->head->result.calls);
		put_last(w, node, summary);
		put_ranges(w, summary);
	}
	swz_tree_free(&w->tree);
}

void swz_write_calls_last(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.stream = stream, .trace = trace};
	size_t i, j;

	swz_text_clear(&w.text);
	for (i = 0; i < trace->count; i++) {
		w.binding = &trace->bindings[i];
		for (j = 0; j < w.binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &w.binding->profile->threads[j]))
				put_thread(&w, &w.binding->profile->threads[j]);
	}
	swz_text_free(&w.text);
}
