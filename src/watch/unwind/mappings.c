#include "watch/unwind/mappings.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

static void drop(struct swz_source *source)
{
	if (--source->users)
		return;
	swz_unwind_file_release(source->file);
	free(source->path);
	free(source);
}

static struct swz_source *source_of(const struct swz_unwinder_mapping *mapping)
{
	struct swz_source *source = swz_allocate(1, sizeof(*source));
	const char *path = mapping->path;

	source->users = 1;
	source->pid = mapping->pid;
	source->inode = mapping->inode;
	if (strcmp(path, "[vdso]") == 0 || (path[0] == '/' && path[1] != '/'))
		source->path = swz_duplicate(path);
	return source;
}

/* The first that ends behind the address. */
static size_t first_behind(const struct swz_mappings *mappings,
			   uint64_t address)
{
	size_t low = 0, high = mappings->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mappings->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct swz_mappings *mappings, size_t at,
		   struct swz_mapping mapping)
{
	swz_grow(&mappings->list, &mappings->capacity, mappings->count,
		 sizeof(*mappings->list));
	memmove(mappings->list + at + 1, mappings->list + at,
		(mappings->count - at) * sizeof(*mappings->list));
	mappings->list[at] = mapping;
	mappings->count++;
}

static void cut_front(struct swz_mapping *mapping, uint64_t start)
{
	mapping->offset += start - mapping->start;
	mapping->start = start;
}

void swz_mappings_remove(struct swz_mappings *mappings, uint64_t start,
			 uint64_t end)
{
	size_t first = first_behind(mappings, start), last;
	struct swz_mapping *list = mappings->list;

	if (end <= start || first == mappings->count ||
	    list[first].start >= end)
		return;
	if (list[first].start < start) {
		if (list[first].end > end) {
			struct swz_mapping behind = list[first];

			list[first].end = start;
			cut_front(&behind, end);
			behind.source->users++;
			insert(mappings, first + 1, behind);
			return;
		}
		list[first++].end = start;
	}
	for (last = first; last < mappings->count && list[last].end <= end;
	     last++)
		drop(list[last].source);
	if (last < mappings->count && list[last].start < end)
		cut_front(&list[last], end);
	memmove(list + first, list + last,
		(mappings->count - last) * sizeof(*list));
	mappings->count -= last - first;
}

void swz_mappings_put(struct swz_mappings *mappings,
		      const struct swz_unwinder_mapping *mapping)
{
	struct swz_mapping put = {.start = mapping->start,
				  .end = mapping->end,
				  .offset = mapping->offset};

	if (put.end <= put.start)
		return;
	swz_mappings_remove(mappings, put.start, put.end);
	put.source = source_of(mapping);
	insert(mappings, first_behind(mappings, put.start), put);
}

void swz_mappings_clear(struct swz_mappings *mappings)
{
	size_t i;

	for (i = 0; i < mappings->count; i++)
		drop(mappings->list[i].source);
	free(mappings->list);
	*mappings = (struct swz_mappings){0};
}

void swz_mappings_copy(struct swz_mappings *to, const struct swz_mappings *from)
{
	size_t i;

	swz_mappings_clear(to);
	if (!from->count)
		return;
	to->list = swz_allocate(from->count, sizeof(*to->list));
	to->count = to->capacity = from->count;
	memcpy(to->list, from->list, from->count * sizeof(*to->list));
	for (i = 0; i < to->count; i++)
		to->list[i].source->users++;
}

/* ----------------------------------------------------------------- look-up */

static void open_source(struct swz_source *source)
{
	source->opened = true;
	if (source->path && source->path[0] == '/')
		source->file = swz_unwind_file_of(source->pid, source->path,
						  source->inode);
	else if (source->path)
		source->file = swz_unwind_vdso();
}

static void find_file(struct swz_mapping *mapping)
{
	struct swz_source *source = mapping->source;
	uint64_t address;

	if (!source->opened)
		open_source(source);
	mapping->known = true;
	if (source->file &&
	    swz_unwind_file_address(source->file, mapping->offset, &address)) {
		mapping->file = source->file;
		mapping->bias = mapping->start - address;
	}
}

struct swz_mapping *swz_mappings_at(struct swz_mappings *mappings,
				    uint64_t address)
{
	size_t i = first_behind(mappings, address);
	struct swz_mapping *mapping = &mappings->list[i];

	if (i == mappings->count || mapping->start > address)
		return NULL;
	if (!mapping->known)
		find_file(mapping);
	return mapping;
}
