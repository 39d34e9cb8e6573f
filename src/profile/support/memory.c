/* Allocation that cannot fail, for the offline tools. */

#include "profile/support/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u
#define LARGE_PAGE ((size_t)2 << 20)

void swz_out_of_memory(void)
{
	fputs("swizzle: out of memory\n", stderr);
	exit(1);
}

void *swz_allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);

	if (!memory)
		swz_out_of_memory();
	return memory;
}

void swz_use_large_pages(void *memory, size_t bytes)
{
	uintptr_t start = ((uintptr_t)memory + PAGE - 1) &
			  ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGE - 1);

	/* (where there are none it costs some time, no more) */
	if (start < end && end - start >= LARGE_PAGE)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void *swz_allocate_dense(size_t count, size_t size)
{
	void *memory = swz_allocate(count, size);

	swz_use_large_pages(memory, count * size);
	return memory;
}

void *swz_reallocate(void *old, size_t count, size_t size)
{
	void *memory = reallocarray(old, count ? count : 1, size ? size : 1);

	if (!memory)
		swz_out_of_memory();
	return memory;
}

char *swz_duplicate(const char *string)
{
	char *copy = strdup(string);

	if (!copy)
		swz_out_of_memory();
	return copy;
}

char *swz_print(const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		swz_out_of_memory();
	return text;
}

FILE *swz_text_stream(char **text, size_t *size)
{
	FILE *stream = open_memstream(text, size);

	if (!stream)
		swz_out_of_memory();
	return stream;
}

/* fclose(3) alone may succeed though a write before had no memory. */
void swz_text_stream_end(FILE *stream)
{
	bool whole = fflush(stream) == 0 && !ferror(stream);

	if (fclose(stream) != 0 || !whole)
		swz_out_of_memory();
}

void swz_grow(void *array, size_t *capacity, size_t count, size_t size)
{
	void *memory;
	size_t wanted;

	if (count < *capacity)
		return;
	wanted = count + count / 2 + 16;
	memcpy(&memory, array, sizeof(memory));
	memory = swz_reallocate(memory, wanted, size);
	memcpy(array, &memory, sizeof(memory));
	*capacity = wanted;
}

void swz_check_memory(void)
{
	if (errno == ENOMEM)
		swz_out_of_memory();
}
