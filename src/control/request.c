#include "control/request.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/control.h"
#include "base/process_start.h"
#include "profile/support/memory.h"

#define ROOM (SWZ_REGION_TEXTS_END - SWZ_REGION_TEXTS)
#define MOST_ARGUMENT_BYTES (64u << 10)
#define PATH_BYTES 4096u

/* Grows from the region's texts on. */
struct block {
	uint64_t at; /* in the target */
	size_t used;
	bool full;
	uint8_t bytes[ROOM];
};

static uint64_t add(struct block *b, const void *bytes, size_t count)
{
	uint64_t address;

	b->used = (b->used + 15) & ~(size_t)15;
	address = b->at + b->used;
	if (count > sizeof(b->bytes) - b->used) {
		b->full = true;
		return 0;
	}
	memcpy(b->bytes + b->used, bytes, count);
	b->used += count;
	return address;
}

static uint64_t add_text(struct block *b, const char *text)
{
	return add(b, text, strlen(text) + 1);
}

/* A link of /proc/PID. */
static bool read_link(int32_t pid, const char *name, char path[PATH_BYTES])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", (int)pid, name);
	n = readlink(link, path, PATH_BYTES - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return true;
}

/* The program's file, as the process itself would open it: where it has no
 * /proc it cannot find out. 0: not known. */
static uint64_t add_program(struct block *b, const struct swz_target *t)
{
	char program[PATH_BYTES], root[PATH_BYTES], link[64], *inside;
	struct stat wanted, st;
	size_t skipped = 0;
	bool found;

	if (!read_link(t->pid, "exe", program) ||
	    !read_link(t->pid, "root", root))
		return 0;
	if (root[1] && strncmp(program, root, strlen(root)) == 0)
		skipped = strlen(root);
	inside = swz_target_path(t, program + skipped);
	snprintf(link, sizeof(link), "/proc/%d/exe", (int)t->pid);
	found = stat(link, &wanted) == 0 && stat(inside, &st) == 0 &&
		st.st_dev == wanted.st_dev && st.st_ino == wanted.st_ino;
	free(inside);
	return found ? add_text(b, program + skipped) : 0;
}

/* NULL at the end, and behind that an auxiliary vector, as at a program's
 * start.
 */
static uint64_t add_environment(struct block *b, const struct swz_target *t,
				char **environment)
{
	const uint64_t program = add_program(b, t);
	const Elf64_auxv_t vector[3] = {
		{.a_type = AT_SECURE},
		{.a_type = program ? AT_EXECFN : AT_NULL,
		 .a_un.a_val = program},
		{.a_type = AT_NULL}};
	size_t count = 0, bytes;
	uint64_t *words, at;

	while (environment[count])
		count++;
	bytes = (count + 1) * sizeof(*words);
	words = swz_allocate(1, bytes + sizeof(vector));
	for (size_t i = 0; i < count; i++)
		words[i] = add_text(b, environment[i]);
	memcpy((char *)words + bytes, vector, sizeof(vector));
	at = add(b, words, bytes + sizeof(vector));
	free(words);
	return at;
}

/* /proc/PID/cmdline; what is too long is cut. */
static uint64_t add_arguments(struct block *b, int32_t pid, uint64_t *count)
{
	static char text[MOST_ARGUMENT_BYTES + 1];
	uint64_t words[1025] = {0};
	char path[64];
	size_t size = 0, n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	file = fopen(path, "re");
	if (file) {
		size = fread(text, 1, MOST_ARGUMENT_BYTES, file);
		fclose(file);
	}
	text[size] = '\0';
	for (size_t at = 0; at < size && n < 1024; at += strlen(text + at) + 1)
		words[n++] = add_text(b, text + at);
	*count = n;
	return add(b, words, (n + 1) * sizeof(*words));
}

/* Where the first thread's stack begins: the 28th field. */
static uint64_t main_stack_of(int32_t pid)
{
	char path[64], text[1024];
	unsigned long long start = 0;
	const char *at;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	at = strrchr(text, ')');
	for (int field = 2; at && field < 28; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at, NULL, 10);
	return start;
}

bool swz_request_write(const struct swz_borrower *b, const char *library_path,
		       char **environment, uint64_t *library, uint64_t *request)
{
	struct block *block = swz_allocate(1, sizeof(*block));
	struct swz_attach_request r = {
		.region = b->region,
		.region_bytes = SWZ_REGION_BYTES,
		.controller_pid = getpid(),
		.controller_start = swz_process_start(0),
		.main_stack = main_stack_of(b->target->pid),
	};
	bool done;

	block->at = b->region + SWZ_REGION_TEXTS;
	*library = add_text(block, library_path);
	r.environment = add_environment(block, b->target, environment);
	r.arguments = add_arguments(block, b->target->pid, &r.argument_count);
	*request = add(block, &r, sizeof(r));
	done = !block->full && swz_target_write(b->target, block->at,
						block->bytes, block->used);
	free(block);
	return done;
}
