/* Arguments and results: their signatures, the values of a trace's calls, and
 * the last values of a profile's contexts. The file is not trusted. */

#include "profile/file/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "swizzle/values.h"
#include "util/memory.h"
#include "profile/file/events.h"
#include "profile/file/reader.h"
#include "profile/file/scan.h"

/* --- signatures ---------------------------------------------------------- */

const char *swz_signature_text(const struct swz_signature_set *set,
			       uint32_t name)
{
	return name < set->text_bytes ? set->text + name : "";
}

static int compare_ids(const void *left, const void *right)
{
	const struct swz_profile_signature *a = left, *b = right;

	return a->function < b->function ? -1 : a->function > b->function;
}

/* The signature of the function with this id, or NULL. */
static const struct swz_profile_signature *signature_find(
	const struct swz_profile *profile, uint32_t function)
{
	struct swz_profile_signature key = {.function = function};

	if (!profile->signature_count)
		return NULL;
	return bsearch(&key, profile->signatures, profile->signature_count,
		       sizeof(key), compare_ids);
}

bool swz_signature_is_known(const struct swz_profile *profile,
			    uint32_t function)
{
	return signature_find(profile, function) != NULL;
}

/* Copies COUNT elements of SIZE bytes to *TO, and moves on. False: there are
 * not as many. */
static bool take_array(const uint8_t **body, size_t *left, void *to,
		       uint64_t count, size_t size)
{
	void *copy;

	if (count > UINT32_MAX || count > *left / size)
		return false;
	copy = swz_allocate((size_t)count + 1, size);
	if (count)
		memcpy(copy, *body, (size_t)count * size);
	memcpy(to, &copy, sizeof(copy));
	*body += count * size;
	*left -= (size_t)count * size;
	return true;
}

static bool types_are_valid(const struct swz_signature_set *set)
{
	uint32_t i;

	for (i = 0; i < set->type_count; i++) {
		const struct swz_value_type *t = &set->types[i];

		if (t->of > set->type_count || t->first > set->member_count ||
		    t->members > set->member_count - t->first)
			return false;
	}
	for (i = 0; i < set->member_count; i++)
		if (set->members[i].type >= set->type_count &&
		    set->members[i].type)
			return false;
	for (i = 0; i < set->part_count; i++)
		if (set->parts[i].type >= set->type_count ||
		    set->parts[i].kind >= SWZ_PART_KINDS)
			return false;
	return true;
}

static void free_set(struct swz_signature_set *set)
{
	free(set->parts);
	free(set->types);
	free(set->members);
	free(set->text);
	free(set->rules);
	free(set);
}

void swz_scan_signatures(struct swz_scan *scan, const struct swz_chunk *chunk,
			 const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_signature_set *set = swz_allocate(1, sizeof(*set));
	struct swz_signature *all = NULL;
	uint64_t bytes = chunk->reserved[SWZ_SIGNATURES_TEXT];
	uint32_t i;
	bool valid;

	set->part_count = (uint32_t)chunk->reserved[SWZ_SIGNATURES_PARTS];
	set->type_count = (uint32_t)chunk->reserved[SWZ_SIGNATURES_TYPES];
	set->member_count = (uint32_t)chunk->reserved[SWZ_SIGNATURES_MEMBERS];
	set->text_bytes = (uint32_t)bytes;
	valid = take_array(&body, &size, &all, chunk->count, sizeof(*all)) &&
		take_array(&body, &size, &set->parts, set->part_count,
			   sizeof(*set->parts)) &&
		take_array(&body, &size, &set->types, set->type_count,
			   sizeof(*set->types)) &&
		take_array(&body, &size, &set->members, set->member_count,
			   sizeof(*set->members)) &&
		take_array(&body, &size, &set->text, bytes, 1) && bytes &&
		!set->text[0] && !set->text[bytes - 1] && types_are_valid(set);
	for (i = 0; valid && i < chunk->count; i++) {
		const struct swz_signature *s = &all[i];
		struct swz_profile_signature *to;
		uint32_t count = (uint32_t)s->entry_parts + s->return_parts;

		if (s->first > set->part_count ||
		    count > set->part_count - s->first)
			continue;
		swz_grow(&profile->signatures, &scan->signature_capacity,
			 profile->signature_count, sizeof(*to));
		to = &profile->signatures[profile->signature_count++];
		*to = (struct swz_profile_signature){
			.function = s->function,
			.entry_parts = s->entry_parts,
			.return_parts = s->return_parts,
			.parts = set->parts + s->first,
			.set = set,
		};
	}
	free(all);
	if (!valid) {
		profile->damage.bad_chunks++;
		free_set(set);
		return;
	}
	swz_grow(&profile->signature_sets, &scan->signature_set_capacity,
		 profile->signature_set_count,
		 sizeof(struct swz_signature_set *));
	profile->signature_sets[profile->signature_set_count++] = set;
}

void swz_signatures_index(struct swz_profile *profile)
{
	if (profile->signature_count > 1)
		qsort(profile->signatures, profile->signature_count,
		      sizeof(*profile->signatures), compare_ids);
}

void swz_signatures_free(struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->signature_set_count; i++)
		free_set(profile->signature_sets[i]);
	free(profile->signature_sets);
	free(profile->signatures);
}

/* --- values of calls ----------------------------------------------------- */

/* Records are in the order of time, but for those of signal handlers, which may
 * come a little before or behind the call that they interrupted. So those near
 * the event's time are kept in a window, and the one with the event's node and
 * time is looked for there. */

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

void swz_values_skip(struct swz_value_reader *reader, uint64_t ticks)
{
	const struct swz_value_chunk *chunks;
	struct swz_value_record first;
	size_t i;

	if (!reader)
		return;
	chunks = reader->thread->value_chunks;
	for (i = reader->thread->value_chunk_count; i-- > 0;) {
		if (swz_profile_bytes(reader->profile, chunks[i].offset, &first,
				      sizeof(first)) == sizeof(first) &&
		    first.whole == 1 && first.node && first.ticks < ticks &&
		    ticks - first.ticks > LATEST)
			break;
	}
	reader->chunk = i == SIZE_MAX ? 0 : i;
}

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

/* Reads the BYTES of a record, by the signature. */
static void signature_decode(const struct swz_profile_signature *signature,
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
	item->signature = signature_find(
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
	signature_decode(item->signature, values->moment, entry->bytes,
			 entry->size, values);
}

bool swz_values_lack(const struct swz_profile *profile,
		     struct swz_value_reader *reader,
		     const struct swz_event *event)
{
	const struct swz_node *node = swz_profile_node(profile, event->node);
	const struct swz_profile_signature *signature =
		node ? signature_find(profile, node->function) : NULL;

	if (!signature ||
	    (event->how != SWZ_EVENT_ENTER && event->how != SWZ_EVENT_RETURN))
		return false;
	if (!(event->begins ? signature->entry_parts : signature->return_parts))
		return false;
	if (!reader)
		return true;
	fill_window(reader, event->ticks);
	return !find(reader, event);
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
	*signature = node ? signature_find(reader->profile, node->function)
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
	signature_decode(signature, values->moment, entry->bytes, entry->size,
			 values);
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
	signature_decode(kept->signature, SWZ_VALUES_ENTRY, kept->bytes,
			 kept->size, values);
	return values->count != 0;
}

void swz_kept_values_free(struct swz_kept_values *kept)
{
	free(kept->bytes);
	*kept = (struct swz_kept_values){0};
}

/* --- last values of contexts --------------------------------------------- */

void swz_scan_summary(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_value_summary *head;

	(void)chunk;
	if (size < sizeof(*head)) {
		profile->damage.bad_chunks++;
		return;
	}
	head = swz_allocate(size, 1);
	memcpy(head, body, size);
	swz_grow(&profile->summaries, &scan->summary_capacity,
		 profile->summary_count, sizeof(*profile->summaries));
	profile->summaries[profile->summary_count] =
		(struct swz_profile_summary){
			.node = head->node,
			.order = (uint32_t)profile->summary_count,
			.head = head,
			.bytes = size};
	profile->summary_count++;
}

static int by_node(const void *left, const void *right)
{
	const struct swz_profile_summary *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void swz_summaries_index(struct swz_profile *profile)
{
	if (profile->summary_count > 1)
		qsort(profile->summaries, profile->summary_count,
		      sizeof(*profile->summaries), by_node);
}

void swz_summaries_free(struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->summary_count; i++)
		free(profile->summaries[i].head);
	free(profile->summaries);
}

/* True if all that it says is there. */
static bool is_whole(const struct swz_profile_summary *s)
{
	const struct swz_profile_signature *signature = s->signature;
	size_t bytes = sizeof(*s->head) +
		       s->head->ranges * sizeof(struct swz_value_range);

	bytes += signature->entry_parts ? SWZ_LAST_VALUE_BYTES : 0;
	bytes += signature->return_parts ? SWZ_LAST_VALUE_BYTES : 0;
	return bytes <= s->bytes &&
	       s->head->entry.bytes <= SWZ_LAST_VALUE_BYTES &&
	       s->head->result.bytes <= SWZ_LAST_VALUE_BYTES;
}

const struct swz_profile_summary *swz_summary_find(
	const struct swz_profile *profile, uint32_t node)
{
	struct swz_profile_summary *found;
	uint32_t at = SWZ_SEARCH(profile->summaries, profile->summary_count,
				 node, node);

	if (at == SWZ_INDEX_NONE)
		return NULL;
	found = &profile->summaries[at];
	if (!found->signature)
		found->signature = signature_find(
			profile, swz_profile_node(profile, node)->function);
	return found->signature && is_whole(found) ? found : NULL;
}

bool swz_summary_values(const struct swz_profile_summary *s,
			enum swz_value_moment moment,
			struct swz_call_values *values)
{
	bool entered = moment == SWZ_VALUES_ENTRY;
	const struct swz_last_values *last = entered ? &s->head->entry
						     : &s->head->result;
	const uint8_t *bytes =
		entered ? swz_summary_entry(s->head)
			: swz_summary_result(s->head,
					     s->signature->entry_parts != 0);

	values->count = 0;
	values->exception = NULL;
	values->moment = moment;
	if (!last->calls || last->sequence & 1 ||
	    !(entered ? s->signature->entry_parts : s->signature->return_parts))
		return false;
	signature_decode(s->signature, moment, bytes, last->bytes, values);
	return values->count != 0;
}

bool swz_summary_range(const struct swz_profile_summary *s, unsigned index,
		       struct swz_value *low, struct swz_value *high)
{
	const struct swz_profile_signature *signature = s->signature;
	const struct swz_value_range *range = &swz_summary_ranges(
		s->head)[index];
	const struct swz_value_part *part = &signature->parts[range->part];

	if (!range->count ||
	    range->part >= signature->entry_parts + signature->return_parts ||
	    part->bytes > sizeof(range->low))
		return false;
	*low = (struct swz_value){
		.name = swz_signature_text(signature->set, part->name),
		.type = &signature->set->types[part->type],
		.set = signature->set,
		.plain = {.bytes = (const uint8_t *)&range->low,
			  .size = part->bytes},
	};
	*high = *low;
	high->plain.bytes = (const uint8_t *)&range->high;
	return true;
}
