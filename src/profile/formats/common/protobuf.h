#ifndef SWZ_PROFILE_FORMATS_COMMON_PROTOBUF_H
#define SWZ_PROFILE_FORMATS_COMMON_PROTOBUF_H

/* Writes messages of protocol buffers (version 3 of the language, the encoding
 * is the same in all): fields one after the other into a buffer. As the
 * language has it, a number that is 0 is the same as a field that is missing.
 */

#include <stddef.h>
#include <stdint.h>

struct swz_message {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
};

/* An integer, or a boolean. Negative ones take ten bytes, as the encoding
 * says. */
void swz_message_add(struct swz_message *message, uint32_t field,
		     uint64_t value);
/* The same where 0 has to be written: one of a kind, or in a list. */
void swz_message_put(struct swz_message *message, uint32_t field,
		     uint64_t value);
/* A number in eight bytes, whatever it is. */
void swz_message_fixed64(struct swz_message *message, uint32_t field,
			 uint64_t value);
/* Fields that were encoded already. */
void swz_message_append(struct swz_message *message, const void *fields,
			size_t size);
/* A string, which has to be UTF-8, or bytes. */
void swz_message_bytes(struct swz_message *message, uint32_t field,
		       const void *bytes, size_t size);
/* A string; bytes of it that are no UTF-8 become question marks. */
void swz_message_text(struct swz_message *message, uint32_t field,
		      const char *text);
/* Another message, which is empty afterwards. */
void swz_message_nest(struct swz_message *message, uint32_t field,
		      struct swz_message *inner);
/* A number of a packed list, which is nested when it is complete. */
void swz_message_item(struct swz_message *message, uint64_t value);

void swz_message_free(struct swz_message *message);

#endif
