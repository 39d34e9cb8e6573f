/* build: -ldl */
/* Preloaded: the allocation with the number in FAIL_AT fails (malloc, calloc,
 * realloc, aligned ones, mmap), and with FAIL_ON all after it; COUNT_TO names a
 * file that the number of all of them is written to. Those that libdw and
 * libelf make for themselves do not count: they do not survive it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static unsigned long done, fail_at, lasting;
static int started;

__attribute__((constructor)) static void start(void)
{
	const char *at = getenv("FAIL_AT");

	fail_at = at ? strtoul(at, NULL, 10) : 0;
	lasting = getenv("FAIL_ON") != NULL;
	started = 1;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("COUNT_TO");
	char digits[24], *d = digits + sizeof(digits);
	int fd;

	started = 0;
	if (!path)
		return;
	*--d = '\n';
	for (unsigned long n = done; n; n /= 10)
		*--d = (char)('0' + n % 10);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (write(fd, d, (size_t)(digits + sizeof(digits) - d)) < 0)
		_exit(99);
	close(fd);
}

static int fails(const void *caller)
{
	Dl_info info;

	if (!started)
		return 0;
	started = 0;
	if (dladdr(caller, &info) && info.dli_fname &&
	    (strstr(info.dli_fname, "libdw") ||
	     strstr(info.dli_fname, "libelf"))) {
		started = 1;
		return 0;
	}
	started = 1;
	done++;
	if (done != fail_at && !(lasting && fail_at && done > fail_at))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL
						  : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails(__builtin_return_address(0)) ? NULL
						  : __libc_realloc(old, bytes);
}

void *reallocarray(void *old, size_t count, size_t bytes)
{
	size_t all;

	if (__builtin_mul_overflow(count, bytes, &all) ||
	    fails(__builtin_return_address(0)))
		return NULL;
	return __libc_realloc(old, all);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	if (fails(__builtin_return_address(0)))
		return ENOMEM;
	*out = __libc_memalign(alignment, bytes);
	return *out ? 0 : ENOMEM;
}

void *mmap(void *hint, size_t bytes, int protection, int flags, int fd,
	   off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t);

	*(void **)&real = dlsym(RTLD_NEXT, "mmap");
	return fails(__builtin_return_address(0))
		       ? MAP_FAILED
		       : real(hint, bytes, protection, flags, fd, offset);
}
