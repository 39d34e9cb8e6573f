#ifndef SWZ_PROFILE_SUPPORT_MEMORY_H
#define SWZ_PROFILE_SUPPORT_MEMORY_H

/* Allocation for the offline tools. These never return NULL: without memory
 * a tool can do nothing but say so, so they print "swizzle: out of memory" and
 * exit(1). Whatever asks for memory here has first bounded the amount by the
 * size of its input. Free with free(). */

#include <stddef.h>
#include <stdio.h>

_Noreturn void swz_out_of_memory(void);

void *swz_allocate(size_t count, size_t size); /* zeroed */
void *swz_reallocate(void *old, size_t count, size_t size);
/* The same for a large array of which every byte will be used: in large pages,
 * where the system has them. */
void *swz_allocate_dense(size_t count, size_t size);
/* Asks for them for memory that is there. */
void swz_use_large_pages(void *memory, size_t bytes);

char *swz_duplicate(const char *string);
char *swz_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A stream into a text in memory, which is *text, and *size bytes, when the
 * stream has been ended; to be freed. open_memstream(3) tells nobody that it
 * had no memory for a part. */
FILE *swz_text_stream(char **text, size_t *size);
void swz_text_stream_end(FILE *stream);

/* Makes room in *array (of *capacity elements of SIZE bytes) for one element
 * more than COUNT; grows by half. */
void swz_grow(void *array, size_t *capacity, size_t count, size_t size);

/* Ends as swz_allocate() does if errno, which was 0 before, is ENOMEM: what a
 * library cannot allocate it may take for what is not there. */
void swz_check_memory(void);

#endif
