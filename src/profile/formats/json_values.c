#include "profile/formats/json_values.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/costs/tree.h"
#include "profile/formats/context_values.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

struct writing {
	FILE *stream;
	const struct swz_section *section;
	struct swz_binding *binding;
	struct swz_tree tree;
	struct swz_context_value value;
	enum swz_value_moment moment; /* of the list that is open */
	bool any, any_context;
	const struct swz_tree_node **path;
	size_t path_capacity;
};

static const char *name_of(const struct writing *w,
			   const struct swz_tree_node *node)
{
	struct swz_catalog *catalog = w->binding->catalog;
	uint32_t function = swz_binding_function(w->binding, node->function,
						 node->id);

	if (function >= catalog->resolved)
		swz_catalog_resolve(catalog);
	return catalog->functions[function].name;
}

/* From the thread's first call on, without what is not shown. */
static void put_path(struct writing *w, const struct swz_tree_node *node)
{
	const struct swz_tree_node *at = node;
	size_t count = 0;

	for (; at->id != SWZ_FUNCTION_ROOT; at = &w->tree.nodes[at->parent]) {
		if (at->flags & SWZ_NODE_HIDDEN)
			continue;
		swz_grow(&w->path, &w->path_capacity, count, sizeof(*w->path));
		w->path[count++] = at;
	}
	while (count--) {
		swz_put_json(w->stream, name_of(w, w->path[count]));
		if (count)
			putc(',', w->stream);
	}
}

static void put_member(FILE *stream, const char *key, bool known,
		       const struct swz_text *text)
{
	if (!known)
		return;
	fprintf(stream, ",\"%s\":", key);
	swz_put_json(stream, text->text);
}

static void put_value(void *to, const struct swz_context_value *value)
{
	struct writing *w = to;

	if (value->moment != w->moment) {
		fputs("],\"results\":[", w->stream);
		w->moment = value->moment;
		w->any = false;
	}
	fputs(w->any ? ",{\"name\":" : "{\"name\":", w->stream);
	w->any = true;
	swz_put_json(w->stream, value->name.text);
	put_member(w->stream, "last", value->has_last, &value->last);
	put_member(w->stream, "low", value->has_range, &value->low);
	put_member(w->stream, "high", value->has_range, &value->high);
	putc('}', w->stream);
}

static void put_context(struct writing *w,
			const struct swz_profile_thread *thread,
			const struct swz_tree_node *node,
			const struct swz_profile_summary *summary)
{
	uint64_t calls = summary->head->entry.calls
				 ? summary->head->entry.calls
				 : summary->head->result.calls;

	fprintf(w->stream,
		"%s\n{\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"path\":[",
		w->any_context ? "," : "", w->binding->profile->header.pid,
		thread->record.tid);
	w->any_context = true;
	put_path(w, node);
	fprintf(w->stream, "],\"calls\":%" PRIu64 ",\"arguments\":[", calls);
	w->moment = SWZ_VALUES_ENTRY;
	w->any = false;
	swz_context_values_each(summary, w->binding, &w->value, put_value, w);
	fputs(w->moment == SWZ_VALUES_ENTRY ? "],\"results\":[]}" : "]}",
	      w->stream);
}

static void put_thread(struct writing *w,
		       const struct swz_profile_thread *thread)
{
	const struct swz_view *view = w->section->view;
	size_t i;

	swz_tree_build(&w->tree, w->binding->profile, thread, false);
	if (view && !swz_view_is_whole(view))
		swz_view_apply(view, w->binding, &w->tree);
	for (i = 1; i < w->tree.count; i++) {
		const struct swz_tree_node *node = &w->tree.nodes[i];
		const struct swz_profile_summary *summary = swz_summary_find(
			w->binding->profile, node->unit);

		if (summary && !(node->flags & SWZ_NODE_HIDDEN))
			put_context(w, thread, node, summary);
	}
	swz_tree_free(&w->tree);
}

void swz_json_put_values(FILE *stream, const struct swz_section *section)
{
	struct writing w = {.stream = stream, .section = section};
	size_t i, j, all = 0;

	for (i = 0; section->binding && i < section->profile_count; i++)
		all += section->profiles[i]->summary_count;
	if (!all || section->old)
		return;
	fputs(",\n\"values\":[", stream);
	for (i = 0; i < section->profile_count; i++) {
		const struct swz_profile *profile = section->profiles[i];

		w.binding = &section->binding[i];
		for (j = 0; j < profile->thread_count; j++) {
			const struct swz_profile_thread *thread =
				&profile->threads[j];

			if (section->thread ? section->thread == thread
					    : swz_thread_is_chosen(
						      section->threads, thread))
				put_thread(&w, thread);
		}
	}
	fputs("]", stream);
	free(w.path);
	swz_context_value_free(&w.value);
}
