/* Functions that libcapstone.a refers to and never calls here: its default
 * allocators (swz_decoder_new replaces them before anything is allocated), its
 * text output (the printers are left out; version 5 has messages, too), the
 * sorting of tables that only cs_regs_access() reads, and what _FORTIFY_SOURCE
 * makes of some functions, for a library that was built with it. Hidden
 * stand-ins keep these references, and with them any chance of a call, away
 * from the program's libc. For libswizzle.so alone: linked into an ordinary
 * program, they would be its malloc. */

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "thunks/relocate.h"

#define SWZ_HIDDEN __attribute__((visibility("hidden")))

SWZ_HIDDEN void *malloc(size_t bytes);
SWZ_HIDDEN void *calloc(size_t count, size_t bytes);
SWZ_HIDDEN void *realloc(void *block, size_t bytes);
SWZ_HIDDEN void free(void *block);
SWZ_HIDDEN int vsnprintf(char *text, size_t size, const char *format,
			 va_list arguments);
SWZ_HIDDEN void qsort(void *base, size_t count, size_t bytes,
		      int (*compare)(const void *, const void *));

SWZ_HIDDEN int printf(const char *format, ...);
SWZ_HIDDEN int __printf_chk(int flag, const char *format, ...);
SWZ_HIDDEN int puts(const char *text);
SWZ_HIDDEN size_t fwrite(const void *data, size_t bytes, size_t count,
			 void *file);
SWZ_HIDDEN extern void *stderr;
SWZ_HIDDEN void *__memcpy_chk(void *to, const void *from, size_t bytes,
			      size_t room);
SWZ_HIDDEN char *__strcpy_chk(char *to, const char *from, size_t room);
SWZ_HIDDEN _Noreturn void __assert_fail(const char *assertion, const char *file,
					unsigned line, const char *function);

void *malloc(size_t bytes)
{
	(void)bytes;
	return NULL;
}

void *calloc(size_t count, size_t bytes)
{
	(void)count;
	(void)bytes;
	return NULL;
}

void *realloc(void *block, size_t bytes)
{
	(void)block;
	(void)bytes;
	return NULL;
}

void free(void *block)
{
	(void)block;
}

int vsnprintf(char *text, size_t size, const char *format, va_list arguments)
{
	(void)format;
	(void)arguments;
	if (size)
		*text = '\0';
	return 0;
}

void qsort(void *base, size_t count, size_t bytes,
	   int (*compare)(const void *, const void *))
{
	(void)base;
	(void)count;
	(void)bytes;
	(void)compare;
}

void *stderr;

int printf(const char *format, ...)
{
	(void)format;
	return 0;
}

int __printf_chk(int flag, const char *format, ...)
{
	(void)flag;
	(void)format;
	return 0;
}

int puts(const char *text)
{
	(void)text;
	return 0;
}

size_t fwrite(const void *data, size_t bytes, size_t count, void *file)
{
	(void)data;
	(void)bytes;
	(void)file;
	return count;
}

void __assert_fail(const char *assertion, const char *file, unsigned line,
		   const char *function)
{
	(void)assertion;
	(void)file;
	(void)line;
	(void)function;
	swz_decoder_escape();
}

void *__memcpy_chk(void *to, const void *from, size_t bytes, size_t room)
{
	if (bytes > room)
		swz_decoder_escape();
	return memcpy(to, from, bytes);
}

char *__strcpy_chk(char *to, const char *from, size_t room)
{
	return __memcpy_chk(to, from, strlen(from) + 1, room);
}
