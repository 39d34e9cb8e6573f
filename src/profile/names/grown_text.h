#ifndef SWZ_PROFILE_NAMES_GROWN_TEXT_H
#define SWZ_PROFILE_NAMES_GROWN_TEXT_H

#include <stddef.h>

/* Text that grows; begins with zeros. */
struct swz_text {
	char *text; /* with a NUL, once there is any */
	size_t size, capacity;
};
void swz_text_clear(struct swz_text *text);
void swz_text_add(struct swz_text *text, const char *bytes, size_t size);
void swz_text_put(struct swz_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void swz_text_put_plain(struct swz_text *text, const char *s);
void swz_text_free(struct swz_text *text);

#endif
