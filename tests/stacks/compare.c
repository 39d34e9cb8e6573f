/* Walks stacks of a program with swizzle's unwinder and with libunwind:
 *
 *   compare [-n STACKS] [-b STACK_BYTES] [-i INTERVAL_US] [-s SEED] [-v]
 * PROGRAM ARG...
 *
 * Runs the program, again if need be, and stops it at random moments. Prints
 * how many stacks are equal and how ours ended, then each kind of difference,
 * and of stacks that do not reach the root; with -v an example of each. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/stacks/capture.h"
#include "tests/stacks/truth.h"
#include "watch/unwind/unwinder.h"

enum { MOST_FRAMES = 4096, MOST_KINDS = 256, MOST_RUNS_IN_VAIN = 20 };

struct kind {
	char name[160];
	size_t count;
	char *example;
};

struct comparison {
	struct swz_unwinder *unwinder;
	struct truth *truth;
	bool verbose;
	size_t stacks, equal, further, astray, frames, ends[4];
	struct kind kinds[MOST_KINDS];
	size_t kind_count;
};

static const char *const end_names[] = {"root", "cut", "lost", "full"};

static const struct truth_mapping *mapping_of(const struct captured *c,
					      uint64_t pc)
{
	size_t i;

	for (i = 0; i < c->mapping_count; i++)
		if (pc >= c->mappings[i].start && pc < c->mappings[i].end)
			return &c->mappings[i];
	return NULL;
}

static const char *module(const struct captured *c, uint64_t pc)
{
	const struct truth_mapping *m = mapping_of(c, pc);
	const char *slash;

	if (!m)
		return "nowhere";
	slash = strrchr(m->path, '/');
	return slash ? slash + 1 : *m->path ? m->path : "anonymous";
}

static void map(struct comparison *compare, const struct captured *c)
{
	size_t i;

	truth_map(compare->truth, c->mappings, c->mapping_count);
	swz_unwinder_clear(compare->unwinder);
	for (i = 0; i < c->mapping_count; i++) {
		const struct truth_mapping *m = &c->mappings[i];

		if (c->executable[i])
			swz_unwinder_map(compare->unwinder,
					 &(struct swz_unwinder_mapping){
						 .start = m->start,
						 .end = m->end,
						 .offset = m->offset,
						 .path = m->path});
	}
}

static void print_frames(FILE *to, const struct captured *c,
			 const uint64_t *pcs, size_t count, size_t from)
{
	size_t i;

	for (i = from; i < count && i < from + 4; i++) {
		const struct truth_mapping *m = mapping_of(c, pcs[i]);

		fprintf(to, "    %zu: %#lx %s+%#lx\n", i, pcs[i],
			module(c, pcs[i]),
			m ? pcs[i] - m->start + m->offset : 0);
	}
}

static void note(struct comparison *compare, const struct captured *c,
		 const char *name, const uint64_t *ours, size_t our_count,
		 const uint64_t *theirs, size_t their_count, size_t same)
{
	size_t i, size, from = same ? same - 1 : 0;
	FILE *text;

	for (i = 0; i < compare->kind_count; i++) {
		if (!strcmp(compare->kinds[i].name, name)) {
			compare->kinds[i].count++;
			return;
		}
	}
	if (i == MOST_KINDS)
		return;
	compare->kind_count++;
	snprintf(compare->kinds[i].name, sizeof(compare->kinds[i].name), "%s",
		 name);
	compare->kinds[i].count = 1;
	text = open_memstream(&compare->kinds[i].example, &size);
	fprintf(text, "  ours, %zu frames:\n", our_count);
	print_frames(text, c, ours, our_count, from);
	fprintf(text, "  libunwind, %zu frames:\n", their_count);
	print_frames(text, c, theirs, their_count, from);
	fclose(text);
}

/* One of these is no code. */
static bool is_astray(const struct captured *c, const uint64_t *pcs,
		      size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct truth_mapping *m = mapping_of(c, pcs[i]);

		if (!m || !c->executable[m - c->mappings])
			return true;
	}
	return false;
}

/* A program that goes on, as most samplers let it, has nothing but its code as
 * it was: ours may read no more. */
static bool read_code(void *context, uint64_t address, void *into, size_t size)
{
	const struct captured *c = context;
	const struct truth_mapping *m = mapping_of(c, address);

	return m && c->executable[m - c->mappings] &&
	       c->stack.read(c->stack.context, address, into, size);
}

static void take(void *context, const struct captured *c)
{
	static uint64_t ours[MOST_FRAMES], theirs[MOST_FRAMES];
	struct comparison *compare = context;
	struct swz_stack our_stack = c->stack;
	size_t our_count, their_count, same = 0;
	enum swz_walk_end end;
	char name[160];
	int status;

	if (c->maps_changed)
		map(compare, c);
	our_stack.read = read_code;
	our_stack.context = (void *)(uintptr_t)c;
	our_count = swz_unwinder_walk(compare->unwinder, &c->registers,
				      &our_stack, ours, MOST_FRAMES, &end);
	their_count = truth_walk(compare->truth, &c->registers, &c->stack,
				 theirs, MOST_FRAMES, &status);
	while (same < our_count && same < their_count &&
	       ours[same] == theirs[same])
		same++;
	compare->stacks++;
	compare->frames += our_count;
	compare->ends[end]++;
	if (our_count == their_count && same == our_count) {
		compare->equal++;
		if (end == SWZ_WALK_ROOT)
			return;
		snprintf(name, sizeof(name), "(equal) after %s: %s",
			 module(c, ours[same - 1] - 1), end_names[end]);
		note(compare, c, name, ours, our_count, theirs, their_count,
		     same);
		return;
	}
	if (is_astray(c, theirs, their_count))
		compare->astray++;
	else if (same == their_count && end == SWZ_WALK_ROOT)
		compare->further++;
	snprintf(name, sizeof(name), "after %s: ours %s, libunwind %s (%d)",
		 same ? module(c, ours[same - 1] - 1) : "nothing",
		 same < our_count ? "goes on" : end_names[end],
		 same < their_count ? "goes on" : "ends", status < 0);
	note(compare, c, name, ours, our_count, theirs, their_count, same);
}

int main(int argc, char **argv)
{
	static struct comparison compare;
	size_t most = 1000, bytes = 1 << 20, i;
	unsigned interval = 500, runs_in_vain = 0;
	int option;

	while ((option = getopt(argc, argv, "+n:b:i:s:v")) != -1) {
		switch (option) {
		case 'n':
			most = strtoul(optarg, NULL, 0);
			break;
		case 'b':
			bytes = strtoul(optarg, NULL, 0);
			break;
		case 'i':
			interval = (unsigned)strtoul(optarg, NULL, 0);
			break;
		case 's':
			srand((unsigned)strtoul(optarg, NULL, 0));
			break;
		case 'v':
			compare.verbose = true;
			break;
		default:
			return 2;
		}
	}
	if (optind == argc || !bytes || !interval)
		return 2;
	compare.unwinder = swz_unwinder_create();
	compare.truth = truth_create(false);
	/* a short run may end before it is ever stopped */
	while (compare.stacks < most && runs_in_vain < MOST_RUNS_IN_VAIN)
		if (capture(argv + optind, most - compare.stacks, bytes,
			    interval, take, &compare))
			runs_in_vain = 0;
		else
			runs_in_vain++;
	printf("stacks %zu equal %zu further %zu astray %zu frames %zu "
	       "root %zu cut %zu lost %zu full %zu\n",
	       compare.stacks, compare.equal, compare.further, compare.astray,
	       compare.frames, compare.ends[0], compare.ends[1],
	       compare.ends[2], compare.ends[3]);
	for (i = 0; i < compare.kind_count; i++) {
		printf("%zu %s\n", compare.kinds[i].count,
		       compare.kinds[i].name);
		if (compare.verbose)
			fputs(compare.kinds[i].example, stdout);
		free(compare.kinds[i].example);
	}
	truth_destroy(compare.truth);
	swz_unwinder_destroy(compare.unwinder);
	return 0;
}
