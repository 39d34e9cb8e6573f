/* The string functions that our code and capstone's need, so that no call of
 * ours leaves the library: the libc's own may be patched, or may be reached
 * through symbols that the program interposes. Hidden, therefore never in the
 * program's way. To be built with -ffreestanding -fno-builtin
 * -fno-tree-loop-distribute-patterns, or GCC turns these loops into calls of
 * themselves. Simple on purpose: what they move here is short. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SWZ_HIDDEN __attribute__((visibility("hidden")))

/* glibc 2.43 has macros of these names, which keep what is const so. */
#undef memchr
#undef strchr
#undef strrchr
#undef strstr

/* From how many bytes on the processor's own loop is faster than ours. */
#define MANY 1024

/* Eight bytes at any address, of any type. */
typedef uint64_t __attribute__((aligned(1), may_alias)) word;

SWZ_HIDDEN void *memcpy(void *restrict to, const void *restrict from,
			size_t count)
{
	unsigned char *out = to;
	const unsigned char *in = from;

	for (; count >= sizeof(word); count -= sizeof(word)) {
		*(word *)out = *(const word *)in;
		out += sizeof(word);
		in += sizeof(word);
	}
	while (count--)
		*out++ = *in++;
	return to;
}

SWZ_HIDDEN void *memmove(void *to, const void *from, size_t count)
{
	unsigned char *out = to;
	const unsigned char *in = from;

	if ((uintptr_t)out - (uintptr_t)in < count) {
		while (count--)
			out[count] = in[count];
		return to;
	}
	while (count--)
		*out++ = *in++;
	return to;
}

SWZ_HIDDEN void *memset(void *to, int value, size_t count)
{
	unsigned char *out = to;
	word pattern = (unsigned char)value * UINT64_C(0x0101010101010101);

	if (count >= MANY) {
		size_t words = count / sizeof(word);

		count %= sizeof(word);
		__asm__ volatile("rep stosq"
				 : "+D"(out), "+c"(words)
				 : "a"(pattern)
				 : "memory");
	}
	for (; count >= sizeof(word); count -= sizeof(word)) {
		*(word *)out = pattern;
		out += sizeof(word);
	}
	while (count--)
		*out++ = (unsigned char)value;
	return to;
}

SWZ_HIDDEN int memcmp(const void *left, const void *right, size_t count)
{
	const unsigned char *a = left;
	const unsigned char *b = right;

	for (; count; count--, a++, b++)
		if (*a != *b)
			return *a - *b;
	return 0;
}

SWZ_HIDDEN void *memchr(const void *bytes, int value, size_t count)
{
	const unsigned char *at = bytes;

	for (; count; count--, at++)
		if (*at == (unsigned char)value)
			return (void *)(uintptr_t)at;
	return NULL;
}

SWZ_HIDDEN size_t strlen(const char *string)
{
	size_t length = 0;

	while (string[length])
		length++;
	return length;
}

SWZ_HIDDEN size_t strnlen(const char *string, size_t limit)
{
	size_t length = 0;

	while (length < limit && string[length])
		length++;
	return length;
}

SWZ_HIDDEN int strncmp(const char *left, const char *right, size_t limit)
{
	for (; limit; limit--, left++, right++) {
		unsigned char a = (unsigned char)*left;
		unsigned char b = (unsigned char)*right;

		if (a != b || !a)
			return a - b;
	}
	return 0;
}

SWZ_HIDDEN int strcmp(const char *left, const char *right)
{
	return strncmp(left, right, SIZE_MAX);
}

SWZ_HIDDEN char *strchr(const char *string, int wanted)
{
	for (;; string++) {
		if (*string == (char)wanted)
			return (char *)(uintptr_t)string;
		if (!*string)
			return NULL;
	}
}

SWZ_HIDDEN char *strrchr(const char *string, int wanted)
{
	const char *last = NULL;

	for (;; string++) {
		if (*string == (char)wanted)
			last = string;
		if (!*string)
			return (char *)(uintptr_t)last;
	}
}

SWZ_HIDDEN char *strstr(const char *string, const char *wanted)
{
	size_t length = strlen(wanted);

	for (;; string++) {
		if (!strncmp(string, wanted, length))
			return (char *)(uintptr_t)string;
		if (!*string)
			return NULL;
	}
}

SWZ_HIDDEN char *strncpy(char *restrict to, const char *restrict from,
			 size_t count)
{
	size_t i;

	for (i = 0; i < count && from[i]; i++)
		to[i] = from[i];
	for (; i < count; i++)
		to[i] = '\0';
	return to;
}

SWZ_HIDDEN char *strcpy(char *restrict to, const char *restrict from)
{
	memcpy(to, from, strlen(from) + 1);
	return to;
}
