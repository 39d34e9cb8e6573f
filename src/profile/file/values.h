#ifndef SWZ_PROFILE_FILE_VALUES_H
#define SWZ_PROFILE_FILE_VALUES_H

/* Signatures of the arguments and results that a trace holds (see
 * swizzle/values.h). The file is not trusted: signatures refer only to what is
 * here, and texts end. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/values.h"
#include "profile/file/events.h"

struct swz_chunk;
struct swz_profile;
struct swz_scan;
struct swz_value_reader;

struct swz_profile;
struct swz_rule;
struct swz_scan;

/* A type's rule in the configuration. */
struct swz_type_rule {
	const struct swz_rule *rule; /* NULL: nothing */
	uint8_t kind; /* enum swz_type_kind, as it was recorded */
};

/* A chunk of signatures. */
struct swz_signature_set {
	struct swz_value_part *parts;
	struct swz_value_type *types;
	struct swz_value_member *members;
	char *text;
	uint32_t part_count, type_count, member_count, text_bytes;
	struct swz_type_rule *rules; /* of each type; NULL: there are none */
};

struct swz_profile_signature {
	uint32_t function; /* id */
	uint16_t entry_parts, return_parts;
	const struct swz_value_part *parts; /* those of the return behind */
	const struct swz_signature_set *set;
};

/* The text of a name; "" where there is none. */
const char *swz_signature_text(const struct swz_signature_set *set,
			       uint32_t name);

/* True if arguments or results of a function, of that id, are recorded. */
bool swz_signature_is_known(const struct swz_profile *profile,
			    uint32_t function);

/* For the scan and the index: a chunk's body; all in their order; the end. */
void swz_scan_signatures(struct swz_scan *scan, const struct swz_chunk *chunk,
			 const uint8_t *body, size_t size);
void swz_signatures_index(struct swz_profile *profile);
void swz_signatures_free(struct swz_profile *profile);

/* --- values of calls ----------------------------------------------------- */

/* The values that a trace holds of a thread's calls, read beside its events
 * (events.h): in bounded memory, whatever the file says. */

/* Memory, or text, that belongs to a value. */
struct swz_value_bytes {
	const uint8_t *bytes; /* NULL: there are none */
	size_t size;
	bool bad; /* it could not be read; of a text: or not all of it */
	bool cut; /* of a text: there is more of it */
};

/* One argument, or the result, as it was recorded. What it points to are
 * bytes of the reader, valid until its next call is asked for. */
struct swz_value {
	const char *name;
	const struct swz_value_type *type;
	const struct swz_signature_set *set; /* which the type is of */
	bool pointed; /* of what the argument points at: an out-parameter */
	bool field;   /* of that a text in a field: "this.name" */
	bool memory;  /* `plain` is of memory that could not be read: bad */
	struct swz_value_bytes plain; /* of the value itself */
	struct swz_value_bytes text;  /* of a string */
};

#define SWZ_MOST_VALUES 64u /* of one moment of a call */

struct swz_call_values {
	enum swz_value_moment moment;
	size_t count;
	struct swz_value values[SWZ_MOST_VALUES];
	const char *exception; /* EXCEPTION: the type's name, as the ABI mangles
				* it; otherwise NULL */
};

/* For the events of a thread in their order; NULL: the trace has no values of
 * it, so that all answers are no. Both must outlive it. */
struct swz_value_reader *swz_values_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread);
void swz_values_close(struct swz_value_reader *reader); /* NULL is fine */

/* Before anything is read: no event before TICKS will be asked for, so that
 * chunks that are older need not be read. */
void swz_values_skip(struct swz_value_reader *reader, uint64_t ticks);

/* A record, as it lies in the file: of any moment, and of none (--flows). */
struct swz_value_item {
	struct swz_value_record record; /* its node is one of the thread's */
	const struct swz_profile_signature *signature; /* of what was called;
							* NULL: none */
	const uint8_t *bytes; /* behind it; the reader's, until the next */
	size_t size;
};

/* The next record of the thread; false: there is no more. A reader serves this
 * or swz_values_of(), not both. */
bool swz_values_next(struct swz_value_reader *reader,
		     struct swz_value_item *item);

/* The values of such a record, which is of an entry or a return. */
void swz_values_decode(struct swz_value_reader *reader,
		       const struct swz_value_item *item,
		       struct swz_call_values *values);

/* The values of an event that swz_events_next() has just handed out: the
 * arguments at a begin, the result or the exception at an end. False: there are
 * none. */
bool swz_values_of(struct swz_value_reader *reader,
		   const struct swz_event *event,
		   struct swz_call_values *values);

/* True if the event should have values and there are none (yet). A thread
 * writes them before the event, but READER reads blocks ahead, and may have
 * been there before. Takes nothing; READER: NULL is fine. */
bool swz_values_lack(const struct swz_profile *profile,
		     struct swz_value_reader *reader,
		     const struct swz_event *event);

/* The arguments of a call, to be decoded later or not at all. Begins with
 * zeros. */
struct swz_kept_values {
	const struct swz_profile_signature
		*signature; /* NULL: there are none */
	uint8_t *bytes;
	size_t size, capacity;
};

/* In place of swz_values_of(), of an event that begins a call; what KEPT has
 * had is replaced. */
void swz_values_keep(struct swz_value_reader *reader,
		     const struct swz_event *event,
		     struct swz_kept_values *kept);

/* The values point to bytes of KEPT. False: there are none. */
bool swz_values_of_kept(const struct swz_kept_values *kept,
			struct swz_call_values *values);
void swz_kept_values_free(struct swz_kept_values *kept);

/* --- last values of contexts --------------------------------------------- */

/* Arguments and results of a profile that is no trace, by context (see
 * swizzle/values.h). The file is not trusted. */

struct swz_scan;
struct swz_profile_summary {
	uint32_t node;
	uint32_t order; /* in the file */
	const struct swz_profile_signature *signature;
	struct swz_value_summary *head; /* owned, with what follows it */
	size_t bytes;
};

/* That of a node; NULL: there is none. */
const struct swz_profile_summary *swz_summary_find(
	const struct swz_profile *profile, uint32_t node);

/* The values of the last call; false: there are none, or they were being
 * written. */
bool swz_summary_values(const struct swz_profile_summary *summary,
			enum swz_value_moment moment,
			struct swz_call_values *values);

/* The smallest and the largest of a range; false: it has none. They refer to
 * the summary. */
bool swz_summary_range(const struct swz_profile_summary *summary,
		       unsigned index, struct swz_value *low,
		       struct swz_value *high);

/* For the scan and the index: a chunk's body; all in their order, after the
 * signatures; the end. */
void swz_scan_summary(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size);
void swz_summaries_index(struct swz_profile *profile);
void swz_summaries_free(struct swz_profile *profile);

#endif
