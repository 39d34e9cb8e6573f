/* What a walk costs for each frame: bench [-n STACKS] [-b STACK_BYTES] PROGRAM
 * ARG...
 *
 * Takes stacks of a program that runs, and then walks them again and again:
 * with what nobody knows yet (first), and with all that is known (warm). Files
 * that are read for the first time are part of the former. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/stacks/capture.h"
#include "watch/unwind/unwinder.h"

enum { MOST_FRAMES = 4096, WARM_ROUNDS = 9 };

struct kept {
	struct swz_registers registers;
	struct swz_stack stack;
};

struct bench {
	struct kept *kept;
	size_t count, frames;
	uint8_t *buffer; /* of one stack */
	struct truth_mapping *mappings;
	bool *executable;
	size_t mapping_count;
	struct swz_unwinder *unwinder;
	struct truth *truth;
};

static uint64_t pcs[MOST_FRAMES];

static void drop_all(struct bench *b)
{
	size_t i;

	for (i = 0; i < b->count; i++)
		free((void *)(uintptr_t)b->kept[i].stack.bytes);
	b->count = 0;
	for (i = 0; i < b->mapping_count; i++)
		free((void *)(uintptr_t)b->mappings[i].path);
	free(b->mappings);
	free(b->executable);
	b->mappings = NULL;
	b->executable = NULL;
	b->mapping_count = 0;
}

static void keep_mappings(struct bench *b, const struct captured *c)
{
	size_t i;

	drop_all(b);
	b->mappings = calloc(c->mapping_count, sizeof(*b->mappings));
	b->executable = calloc(c->mapping_count, sizeof(bool));
	b->mapping_count = c->mapping_count;
	for (i = 0; i < c->mapping_count; i++) {
		b->mappings[i] = c->mappings[i];
		b->mappings[i].path = strdup(c->mappings[i].path);
		b->executable[i] = c->executable[i];
	}
}

/* The same code must be mapped; the heap may grow. */
static bool has_same_code(const struct bench *b, const struct captured *c)
{
	size_t i, other = 0;

	for (i = 0; i < c->mapping_count; i++) {
		if (!c->executable[i])
			continue;
		while (other < b->mapping_count && !b->executable[other])
			other++;
		if (other == b->mapping_count ||
		    b->mappings[other].start != c->mappings[i].start ||
		    b->mappings[other].end != c->mappings[i].end)
			return false;
		other++;
	}
	return true;
}

static void take(void *context, const struct captured *c)
{
	struct bench *b = context;
	uint8_t *bytes = malloc(c->stack.size);
	struct kept *k;

	if (!has_same_code(b, c))
		keep_mappings(b, c);
	k = &b->kept[b->count++];
	k->registers = c->registers;
	k->stack = c->stack;
	memcpy(bytes, c->stack.bytes, c->stack.size);
	k->stack.bytes = bytes;
	k->stack.read = NULL;
}

static size_t walk(struct bench *b, const struct kept *k)
{
	enum swz_walk_end end;
	int status;

	return b->unwinder
		       ? swz_unwinder_walk(b->unwinder, &k->registers,
					   &k->stack, pcs, MOST_FRAMES, &end)
		       : truth_walk(b->truth, &k->registers, &k->stack, pcs,
				    MOST_FRAMES, &status);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ns for each frame of all stacks. A sampler has just got the stack: it is in
 * the cache. */
static double measure(struct bench *b)
{
	double start, ns = 0;
	size_t i, frames = 0;

	for (i = 0; i < b->count; i++) {
		struct kept k = b->kept[i];

		memcpy(b->buffer, k.stack.bytes, k.stack.size);
		k.stack.bytes = b->buffer;
		start = now_ns();
		frames += walk(b, &k);
		ns += now_ns() - start;
	}
	b->frames = frames;
	return ns / (double)frames;
}

static void print(const char *name, struct bench *b)
{
	double first = measure(b), warm = measure(b);
	unsigned i;

	for (i = 1; i < WARM_ROUNDS; i++) {
		double again = measure(b);

		if (again < warm)
			warm = again;
	}
	printf("%-10s first %8.1f ns  warm %8.1f ns a frame\n", name, first,
	       warm);
}

int main(int argc, char **argv)
{
	static struct bench b;
	size_t most = 2000, bytes = 1 << 16, i;
	int option;

	while ((option = getopt(argc, argv, "+n:b:")) != -1) {
		if (option == 'n')
			most = strtoul(optarg, NULL, 0);
		else if (option == 'b')
			bytes = strtoul(optarg, NULL, 0);
		else
			return 2;
	}
	b.kept = calloc(most, sizeof(*b.kept));
	b.buffer = malloc(bytes);
	if (optind == argc || !b.kept || !b.buffer)
		return 2;
	capture(argv + optind, most, bytes, 400, take, &b);
	b.unwinder = swz_unwinder_create();
	for (i = 0; i < b.mapping_count; i++)
		if (b.executable[i])
			swz_unwinder_map(b.unwinder,
					 &(struct swz_unwinder_mapping){
						 .start = b.mappings[i].start,
						 .end = b.mappings[i].end,
						 .offset = b.mappings[i].offset,
						 .path = b.mappings[i].path});
	print("swizzle", &b);
	swz_unwinder_destroy(b.unwinder);
	b.unwinder = NULL;
	b.truth = truth_create(true);
	truth_map(b.truth, b.mappings, b.mapping_count);
	print("libunwind", &b);
	truth_destroy(b.truth);
	printf("%zu stacks, %zu frames\n", b.count, b.frames);
	drop_all(&b);
	free(b.kept);
	free(b.buffer);
	return 0;
}
