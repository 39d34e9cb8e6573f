/* Records are in the order of time, but for those of signal handlers, which may
 * come a little before or behind the call that they interrupted. So those near
 * the event's time are kept in a window, and the one with the event's node and
 * time is looked for there. */

#include "profile/file/values.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

#define WINDOW 512u   /* records, a power of two */
#define AHEAD 32u     /* of them, at least so many are later than the event */
#define LOOKED_AT 64u /* the first of them, where no time fits */
/* An event may be later than its values by what it takes to turn a page. */
#define LATEST ((uint64_t)1 << 26)

struct entry {
	struct swz_value_record record; /* node 0: it has been handed out */
	uint8_t *bytes;
	size_t size, capacity;
};

struct swz_value_reader {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	size_t chunk; /* the next to be read */
	uint8_t *block;
	size_t block_capacity, block_size, position;
	struct entry window[WINDOW];
	uint64_t first, end; /* of the window: numbers of records */
	unsigned later;      /* at its end, later than the last event */
	bool done;
};

struct swz_value_reader *swz_values_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	struct swz_value_reader *reader;

	if (!thread->value_chunk_count || !profile->signature_count)
		return NULL;
	reader = swz_allocate(1, sizeof(*reader));
	reader->profile = profile;
	reader->thread = thread;
	return reader;
}

void swz_values_close(struct swz_value_reader *reader)
{
	size_t i;

	if (!reader)
		return;
	for (i = 0; i < WINDOW; i++)
		free(reader->window[i].bytes);
	free(reader->block);
	free(reader);
}

/* ---------------------------------------------------------------- records */

static bool read_block(struct swz_value_reader *reader)
{
	const struct swz_value_chunk *chunk;

	if (reader->chunk >= reader->thread->value_chunk_count)
		return false;
	chunk = &reader->thread->value_chunks[reader->chunk++];
	if (chunk->bytes > reader->block_capacity) {
		reader->block = swz_reallocate(reader->block,
					       (size_t)chunk->bytes, 1);
		reader->block_capacity = (size_t)chunk->bytes;
	}
	reader->block_size = swz_profile_bytes(reader->profile, chunk->offset,
					       reader->block,
					       (size_t)chunk->bytes);
	reader->position = 0;
	return true;
}

static void keep(struct swz_value_reader *reader,
		 const struct swz_value_record *record, const uint8_t *body,
		 size_t size)
{
	struct entry *entry = &reader->window[reader->end++ % WINDOW];

	if (reader->end - reader->first > WINDOW)
		reader->first++;
	if (size > entry->capacity) {
		entry->bytes = swz_reallocate(entry->bytes, size, 1);
		entry->capacity = size;
	}
	entry->record = *record;
	entry->size = size;
	if (size)
		memcpy(entry->bytes, body, size);
}

/* The next record into the window. False: there is no more. */
static bool read_record(struct swz_value_reader *reader)
{
	for (;;) {
		struct swz_value_record record;
		size_t left = reader->block_size - reader->position;
		const uint8_t *at;

		if (left < sizeof(record)) {
			if (!read_block(reader))
				return false;
			continue;
		}
		at = reader->block + reader->position;
		memcpy(&record, at, sizeof(record));
		if (record.bytes < sizeof(record) || record.bytes % 8 ||
		    record.bytes > left) {
			reader->position += 8;
			continue;
		}
		reader->position += record.bytes;
		if (record.whole != 1 || !record.node)
			continue;
		keep(reader, &record, at + sizeof(record),
		     record.bytes - sizeof(record));
		return true;
	}
}

static void fill_window(struct swz_value_reader *reader, uint64_t ticks)
{
	uint64_t at;

	/* those that were later may not be any more */
	for (reader->later = 0, at = reader->end; at > reader->first;
	     at--, reader->later++)
		if (reader->window[(at - 1) % WINDOW].record.ticks <= ticks)
			break;
	while (!reader->done && reader->later < AHEAD) {
		reader->done = !read_record(reader);
		if (reader->done)
			break;
		if (reader->window[(reader->end - 1) % WINDOW].record.ticks >
		    ticks)
			reader->later++;
		else
			reader->later = 0;
	}
	while (reader->first < reader->end) {
		const struct swz_value_record *record =
			&reader->window[reader->first % WINDOW].record;

		if (record->node && record->ticks + LATEST >= ticks)
			break;
		reader->first++;
	}
}

static struct entry *find(struct swz_value_reader *reader,
			  const struct swz_event *event)
{
	struct entry *near = NULL;
	uint64_t i;

	for (i = reader->first; i < reader->end; i++) {
		struct entry *entry = &reader->window[i % WINDOW];
		const struct swz_value_record *record = &entry->record;
		bool entered = record->kind == SWZ_VALUES_ENTRY;

		if (record->node != event->node || entered != event->begins ||
		    record->kind > SWZ_VALUES_EXCEPTION ||
		    record->ticks > event->ticks)
			continue;
		if (record->ticks == event->ticks)
			return entry;
		if (!near && i - reader->first < LOOKED_AT)
			near = entry;
	}
	return near;
}

/* ----------------------------------------------------------------- values */

struct decoding {
	const uint8_t *at;
	size_t left;
	struct swz_call_values *to;
};

static const uint8_t *take(struct decoding *d, size_t size)
{
	const uint8_t *at = d->at;

	if (size > d->left || !at)
		return NULL;
	d->at += size;
	d->left -= size;
	return at;
}

static bool take_text(struct decoding *d, struct swz_value_bytes *text)
{
	const uint8_t *head = take(d, 2);
	uint16_t word;

	if (!head)
		return false;
	memcpy(&word, head, sizeof(word));
	text->size = word & SWZ_TEXT_LENGTH;
	text->bytes = take(d, text->size);
	text->bad = word & SWZ_TEXT_BAD;
	text->cut = word & SWZ_TEXT_CUT;
	return text->bytes != NULL;
}

/* Parts of a value follow each other; those of its own bytes, too. */
static bool take_part(struct decoding *d, const struct swz_value_part *part,
		      struct swz_value *value)
{
	struct swz_value_bytes *plain = &value->plain;
	const uint8_t *at;
	bool good = true;

	if (part->kind == SWZ_PART_KEEP)
		return true;
	if (part->kind == SWZ_PART_FILE || part->kind == SWZ_PART_FILE_AT) {
		plain->size = sizeof(struct swz_file_value);
		plain->bytes = take(d, plain->size);
		return plain->bytes != NULL;
	}
	if (part->kind != SWZ_PART_PLAIN && part->kind != SWZ_PART_MEMORY)
		return take_text(d, &value->text);
	if (part->kind == SWZ_PART_MEMORY) {
		at = take(d, 1);
		if (!at)
			return false;
		good = *at == 1;
		value->memory = true;
	}
	at = good ? take(d, part->bytes) : d->at;
	if (!at)
		return false;
	plain->bad |= !good;
	if (!plain->bytes)
		plain->bytes = at;
	plain->size += good ? part->bytes : 0;
	return true;
}

static bool same_value(const struct swz_value_part *a,
		       const struct swz_value_part *b)
{
	return a->value == b->value && a->pointed == b->pointed &&
	       a->type == b->type;
}

void swz_signature_decode(const struct swz_profile_signature *signature,
			  enum swz_value_moment moment, const uint8_t *bytes,
			  size_t size, struct swz_call_values *to)
{
	bool entered = moment == SWZ_VALUES_ENTRY;
	const struct swz_value_part *part = signature->parts, *last = NULL;
	size_t count = signature->entry_parts, i;
	struct decoding d = {bytes, size, to};
	struct swz_value *value = NULL;

	if (!entered) {
		part += count;
		count = signature->return_parts;
	}
	for (i = 0; i < count; i++, part++) {
		if (part->kind == SWZ_PART_KEEP)
			continue;
		if (!last || !same_value(last, part)) {
			if (to->count == SWZ_MOST_VALUES)
				return;
			value = &to->values[to->count++];
			*value = (struct swz_value){
				.name = swz_signature_text(signature->set,
							   part->name),
				.type = &signature->set->types[part->type],
				.set = signature->set,
				.pointed = part->pointed != 0,
				.field = part->pointed == 2,
			};
		}
		last = part;
		if (!take_part(&d, part, value)) {
			to->count--; /* the record was full */
			return;
		}
	}
}

bool swz_values_next(struct swz_value_reader *reader,
		     struct swz_value_item *item)
{
	const struct entry *entry;

	do {
		if (!read_record(reader))
			return false;
		entry = &reader->window[(reader->end - 1) % WINDOW];
	} while (!swz_thread_has_node(reader->thread, entry->record.node));
	item->record = entry->record;
	item->bytes = entry->bytes;
	item->size = entry->size;
	item->signature = swz_signature_find(
		reader->profile,
		swz_profile_node(reader->profile, entry->record.node)
			->function);
	return true;
}

void swz_values_decode(struct swz_value_reader *reader,
		       const struct swz_value_item *item,
		       struct swz_call_values *values)
{
	const struct entry *entry = &reader->window[(reader->end - 1) % WINDOW];

	values->count = 0;
	values->exception = NULL;
	values->moment = item->record.kind;
	swz_signature_decode(item->signature, values->moment, entry->bytes,
			     entry->size, values);
}

/* NULL: there are none. */
static struct entry *take_entry(struct swz_value_reader *reader,
				const struct swz_event *event,
				const struct swz_profile_signature **signature)
{
	const struct swz_node *node;
	struct entry *entry;

	if (!reader || event->cut || event->untraced)
		return NULL;
	node = swz_profile_node(reader->profile, event->node);
	*signature = node ? swz_signature_find(reader->profile, node->function)
			  : NULL;
	if (!*signature)
		return NULL;
	fill_window(reader, event->ticks);
	entry = find(reader, event);
	if (entry)
		entry->record.node = 0;
	return entry;
}

bool swz_values_of(struct swz_value_reader *reader,
		   const struct swz_event *event,
		   struct swz_call_values *values)
{
	const struct swz_profile_signature *signature;
	struct entry *entry = take_entry(reader, event, &signature);

	values->count = 0;
	values->exception = NULL;
	if (!entry)
		return false;
	values->moment = entry->record.kind;
	if (values->moment == SWZ_VALUES_EXCEPTION) {
		if (entry->size < 3 || entry->bytes[entry->size - 1])
			return false;
		values->exception = (const char *)entry->bytes + 2;
		return true;
	}
	swz_signature_decode(signature, values->moment, entry->bytes,
			     entry->size, values);
	return values->count != 0;
}

void swz_values_keep(struct swz_value_reader *reader,
		     const struct swz_event *event,
		     struct swz_kept_values *kept)
{
	const struct swz_profile_signature *signature;
	struct entry *entry = event->begins
				      ? take_entry(reader, event, &signature)
				      : NULL;

	kept->signature = NULL;
	if (!entry)
		return;
	if (entry->size > kept->capacity) {
		kept->bytes = swz_reallocate(kept->bytes, entry->size, 1);
		kept->capacity = entry->size;
	}
	if (entry->size)
		memcpy(kept->bytes, entry->bytes, entry->size);
	kept->size = entry->size;
	kept->signature = signature;
}

bool swz_values_of_kept(const struct swz_kept_values *kept,
			struct swz_call_values *values)
{
	values->count = 0;
	values->exception = NULL;
	values->moment = SWZ_VALUES_ENTRY;
	if (!kept->signature)
		return false;
	swz_signature_decode(kept->signature, SWZ_VALUES_ENTRY, kept->bytes,
			     kept->size, values);
	return values->count != 0;
}

void swz_kept_values_free(struct swz_kept_values *kept)
{
	free(kept->bytes);
	*kept = (struct swz_kept_values){0};
}
