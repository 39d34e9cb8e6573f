/* Allocation that cannot fail, for the offline tools. */

#include "profile/support/memory.h"

#include <errno.h>
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

struct text {
	char **text;
	size_t *size;
	size_t capacity;
	char buffer[4096]; /* of the stream */
};

static ssize_t add_text(void *cookie, const char *bytes, size_t count)
{
	struct text *to = cookie;

	if (count >= to->capacity - *to->size) {
		to->capacity += to->capacity / 2 + count;
		*to->text = swz_reallocate(*to->text, to->capacity, 1);
	}
	memcpy(*to->text + *to->size, bytes, count);
	*to->size += count;
	(*to->text)[*to->size] = '\0';
	return (ssize_t)count;
}

static int end_text(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *swz_text_stream(char **text, size_t *size)
{
	struct text *to = swz_allocate(1, sizeof(*to));
	FILE *stream = fopencookie(
		to, "w",
		(cookie_io_functions_t){.write = add_text, .close = end_text});

	if (!stream)
		swz_out_of_memory();
	to->text = text;
	to->size = size;
	to->capacity = 128;
	*text = swz_allocate(to->capacity, 1);
	*size = 0;
	(void)setvbuf(stream, to->buffer, _IOFBF, sizeof(to->buffer));
	return stream;
}

void swz_text_stream_end(FILE *stream)
{
	if (fclose(stream) != 0)
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
