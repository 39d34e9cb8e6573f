/* build: -O1 -fno-inline -fno-optimize-sibling-calls -ldl */
/* generated RUNTIME [COMPILED]: code that is made at run time calls functions
 * of the library RUNTIME (libgenerated.c), which looks for the return address;
 * so does COMPILED. What is printed is where it lies in the calling code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CALLS 100

static long calls;

long other(long base)
{
	calls++;
	return base ? 1 : 0;
}

typedef long function(long base);

/* sub $8, %rsp; movabs $place, %rax; lea -8(%rsp), %r10; mov %r10, (%rax);
 * movabs $callee, %rax; call *%rax; add $8, %rsp; ret */
static const uint8_t pattern[] = {
	0x48, 0x83, 0xec, 0x08, 0x48, 0xb8, 0,    0,    0,    0,
	0,    0,    0,    0,    0x4c, 0x8d, 0x54, 0x24, 0xf8, 0x4c,
	0x89, 0x10, 0x48, 0xb8, 0,    0,    0,    0,    0,    0,
	0,    0,    0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3,
};

static function *generate(uint8_t *at, const void *place, const void *callee)
{
	memcpy(at, pattern, sizeof(pattern));
	memcpy(at + 6, &place, sizeof(place));
	memcpy(at + 24, &callee, sizeof(callee));
	return (function *)(uintptr_t)at;
}

static void *open_library(const char *name)
{
	void *library = dlopen(name, RTLD_NOW);

	if (!library) {
		fputs(dlerror(), stderr);
		exit(1);
	}
	return library;
}

int main(int argc, char **argv)
{
	void *runtime = open_library(argc > 1 ? argv[1] : "libgenerated.so");
	void *entry = dlsym(runtime, "runtime_entry");
	const long **place = dlsym(runtime, "last_place");
	uint8_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	function *to_runtime = generate(memory, place, entry);
	function *to_other = generate(memory + 256, place,
				      (const void *)(uintptr_t)other);
	long own = 0, sum = 0;

	for (int i = 0; i < CALLS; i++) {
		sum += to_runtime((long)(uintptr_t)memory);
		sum += to_other(1);
	}
	printf("%ld\n", sum);
	*place = &own;
	for (int i = 0; i < 5; i++)
		sum += ((function *)(uintptr_t)entry)(-i);
	printf("%ld\n", sum);
	if (argc > 2) {
		void *compiled = dlsym(open_library(argv[2]), "compiled");
		long (*call)(long, const void *, const void *) = (long (*)(
			long, const void *, const void *))(uintptr_t)compiled;

		for (int i = 0; i < CALLS; i++)
			sum += call((long)(uintptr_t)compiled, entry, place);
		printf("%ld\n", sum);
	}
	return 0;
}
