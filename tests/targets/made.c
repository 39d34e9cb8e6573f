/* Makes code at run time and says what it is called, in one of the ways that
 * profilers read:
 *
 *   made map    /tmp/perf-PID.map, a line before each function runs
 *   made late   the same, all lines at the end
 *   made alone  the same, `second one` alone, for 200 ms
 *   made dump   jit-PID.dump in the current directory, all records at the end
 *
 * `first one` works for 200 ms, `second one` for 400 ms: at the same address,
 * but for `late`. With dump, a third lies at the address of the first two
 * later, but was made elsewhere and moved there. Prints what each has taken. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* mov %rdi,%rcx; 1: dec %rcx; jnz 1b; ret */
static const uint8_t code[] = {0x48, 0x89, 0xf9, 0x48, 0xff,
			       0xc9, 0x75, 0xfb, 0xc3};

enum { DISTANCE = 1024, ROUNDS = 100000 };

static uint8_t *pages;
static FILE *map, *dump;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void work(const char *name, const void *function, uint64_t ms)
{
	void (*run)(uint64_t) = NULL;
	uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), taken;

	memcpy(&run, &function, sizeof(run));
	do {
		run(ROUNDS);
		taken = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	} while (taken < ms * 1000000);
	printf("%s %.1f\n", name, (double)taken / 1e6);
}

static void *make(size_t at)
{
	return memcpy(pages + at, code, sizeof(code));
}

static void write_line(const void *at, const char *name)
{
	fprintf(map, "0x%lx %zx %s\n", (unsigned long)(uintptr_t)at,
		sizeof(code), name);
}

static void with_map(void)
{
	void *function = make(0);

	setvbuf(map, NULL, _IOLBF, 0);
	write_line(function, "JS:~first one");
	work("first", function, 100);
	write_line(function, "JS:*first one");
	work("first", function, 100);
	usleep(100000);
	make(0);
	write_line(function, "second one");
	work("second", function, 400);
}

static void with_late_map(void)
{
	void *first = make(0), *second = make(DISTANCE);

	work("first", first, 200);
	work("second", second, 400);
	fputs("no line\n\nffffffffffffffffff 1 x\n", map);
	write_line(first, "first one");
	write_line(second, "second one");
}

struct record {
	uint32_t id, total_size;
	uint64_t timestamp;
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
};

static void write_load(uint64_t time, uint64_t at, uint64_t index,
		       const char *name)
{
	struct record load = {
		0,
		(uint32_t)(sizeof(load) + strlen(name) + 1 + sizeof(code)),
		time,
		(uint32_t)getpid(),
		(uint32_t)getpid(),
		at,
		at,
		sizeof(code),
		index};

	fwrite(&load, sizeof(load), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, sizeof(code), 1, dump);
}

static void write_move(uint64_t time, uint64_t from, uint64_t to,
		       uint64_t index)
{
	uint64_t move[] = {1 | 64ull << 32,
			   time,
			   (uint64_t)getpid() | (uint64_t)getpid() << 32,
			   to,
			   from,
			   to,
			   sizeof(code),
			   index};

	fwrite(move, sizeof(move), 1, dump);
}

static void with_dump(void)
{
	uint32_t header[10] = {0x4a695444, 1, sizeof(header),
			       62,         0, (uint32_t)getpid()};
	void *function = make(0);
	uint64_t first, second, at = (uintptr_t)function, moved;

	fwrite(header, sizeof(header), 1, dump);
	fflush(dump);
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump),
		 0) == MAP_FAILED)
		exit(1);
	first = clock_ns(CLOCK_MONOTONIC);
	work("first", function, 200);
	second = clock_ns(CLOCK_MONOTONIC);
	work("second", function, 400);
	moved = clock_ns(CLOCK_MONOTONIC);
	work("third", function, 200);
	write_load(first, at, 1, "first one");
	write_load(first, at + DISTANCE, 3, "third one");
	write_load(second, at, 2, "second one");
	write_move(moved, at + DISTANCE, at, 3);
}

static FILE *create(const char *format)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), format, (int)getpid());
	file = fopen(path, "w+e");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	pages = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 1;
	if (strcmp(how, "dump") == 0) {
		dump = create("jit-%d.dump");
		with_dump();
		fclose(dump);
		return 0;
	}
	map = create("/tmp/perf-%d.map");
	if (strcmp(how, "alone") == 0) {
		write_line(make(DISTANCE), "second one");
		work("second", pages + DISTANCE, 200);
	} else if (strcmp(how, "late") == 0) {
		with_late_map();
	} else {
		with_map();
	}
	fclose(map);
	return 0;
}
