/* Code that is made at run time and calls functions of the program: chains of
 * such callers, recursion, a caller without a frame of its own, one that was
 * compiled twice. Prints how often `work` was called below each of them.
 *
 *   made_callers map   says what the code is called, in /tmp/perf-PID.map
 *   made_callers dump  the same in jit-PID.dump in the current directory, at
 *                      the end
 *   made_callers       says nothing
 *
 * With a number of seconds behind that it stays for so long. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; mov $CALLEE,%rax; call *%rax; pop %rbp; ret */
static const uint8_t framed[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8,
				 0,    0,    0,    0,    0,    0,
				 0,    0,    0xff, 0xd0, 0x5d, 0xc3};
#define FRAMED_CALLEE 6
/* sub $8,%rsp; mov $CALLEE,%rax; call *%rax; add $8,%rsp; ret */
static const uint8_t bare[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0xb8, 0,
			       0,    0,    0,    0,    0,    0,    0,
			       0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
#define BARE_CALLEE 6

typedef void function(void);

enum { DISTANCE = 64 };

static uint8_t *pages, *next;
static FILE *map, *dump;
static volatile int depth, sink;

static void write_load(const void *at, size_t size, const char *name)
{
	static uint64_t index;
	struct timespec now;
	struct {
		uint32_t id, total_size;
		uint64_t timestamp;
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
	} load = {0,
		  (uint32_t)(sizeof(load) + strlen(name) + 1 + size),
		  0,
		  (uint32_t)getpid(),
		  (uint32_t)getpid(),
		  (uintptr_t)at,
		  (uintptr_t)at,
		  size,
		  ++index};

	clock_gettime(CLOCK_MONOTONIC, &now);
	load.timestamp = (uint64_t)now.tv_sec * 1000000000u +
			 (uint64_t)now.tv_nsec;
	fwrite(&load, sizeof(load), 1, dump);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(at, size, 1, dump);
}

static function *make(const uint8_t *code, size_t size, size_t callee_at,
		      function *callee, const char *name)
{
	function *made;
	uint8_t *at = next;

	next += DISTANCE;
	memcpy(at, code, size);
	memcpy(at + callee_at, &callee, sizeof(callee));
	memcpy(&made, &at, sizeof(made));
	if (map)
		fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)at, size,
			name);
	if (dump)
		write_load(at, size, name);
	return made;
}

static function *make_framed(function *callee, const char *name)
{
	return make(framed, sizeof(framed), FRAMED_CALLEE, callee, name);
}

static function *make_bare(function *callee, const char *name)
{
	return make(bare, sizeof(bare), BARE_CALLEE, callee, name);
}

__attribute__((noinline)) void work(void)
{
	sink++;
}

__attribute__((noinline)) void drive(function *made, int times)
{
	while (times--)
		made();
	sink++;
}

static function *again;

__attribute__((noinline)) void back(void)
{
	if (depth-- > 0)
		again();
	else
		work();
	sink++;
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

static void begin_dump(void)
{
	uint32_t header[10] = {0x4a695444, 1, sizeof(header),
			       62,         0, (uint32_t)getpid()};

	dump = create("jit-%d.dump");
	fwrite(header, sizeof(header), 1, dump);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	function *one, *inner, *outer, *without, *slow, *fast;

	pages = next = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 1;
	if (strcmp(how, "map") == 0)
		map = create("/tmp/perf-%d.map");
	else if (strcmp(how, "dump") == 0)
		begin_dump();
	one = make_framed(work, "one");
	if (map) /* what was there before is not what is there now */
		fprintf(map, "%lx 40 stale\n%lx %zx one\n",
			(unsigned long)(uintptr_t)pages,
			(unsigned long)(uintptr_t)pages, sizeof(framed));
	inner = make_framed(work, "inner");
	outer = make_framed(inner, "outer");
	without = make_bare(work, "without a frame");
	slow = make_framed(work, "JS:~twice file.js:1:1");
	fast = make_framed(work, "JS:*twice file.js:1:1");
	again = make_framed(back, "again");
	drive(one, 7);
	drive(inner, 2);
	drive(outer, 5);
	drive(without, 3);
	drive(slow, 4);
	drive(fast, 6);
	depth = 9;
	drive(again, 1);
	puts("one 7\ninner 2\nouter;inner 5\nwithout a frame 3\n"
	     "twice file.js:1:1 10\nagain 1");
	fflush(NULL);
	if (argc > 2)
		sleep((unsigned)atoi(argv[2]));
	return 0;
}
