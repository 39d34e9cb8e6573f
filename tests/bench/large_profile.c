/* Writes a profile of so many contexts to standard output, for measuring the
 * tools: 8 threads, 20,000 functions of a module that is not there, each called
 * from one place in another. The tree is random, up to 60 deep; one tick is
 * one ns.
 *
 *	large_profile [CONTEXTS]     (1,000,000) */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "swizzle/format.h"

#define THREADS 8u
#define FUNCTIONS 20000u
#define FUNCTION_BYTES 0x100u
#define DEPTH 60
#define BIAS 0x400000u
#define LAST (UINT64_C(1) << 40)

static uint64_t state = 88172645463325252u;
static uint64_t offset; /* of what is written next */

static uint32_t random_below(uint32_t high)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state % high);
}

static void put(const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, stdout) != size)
		exit(EXIT_FAILURE);
	offset += size;
}

static uint64_t chunk_bytes(uint64_t body)
{
	return sizeof(struct swz_chunk) + (body + 63) / 64 * 64;
}

static void put_chunk(uint32_t type, uint32_t count, uint32_t owner,
		      uint64_t body)
{
	struct swz_chunk chunk = {
		.magic = SWZ_CHUNK_MAGIC,
		.type = type,
		.bytes = chunk_bytes(body),
		.count = count,
		.owner = owner,
	};

	put(&chunk, sizeof(chunk));
}

static void pad(void)
{
	static const char zeros[64];

	if (offset % 64)
		put(zeros, 64 - offset % 64);
}

static void put_header(uint64_t used)
{
	char page[SWZ_HEADER_BYTES] = {0};
	struct swz_file_header header = {
		.magic = SWZ_FILE_MAGIC,
		.version = SWZ_FILE_VERSION,
		.header_bytes = SWZ_HEADER_BYTES,
		.byte_order = SWZ_FILE_BYTE_ORDER,
		.used_bytes = used,
		.limit_bytes = used,
		.pid = 4242,
		.start_ticks = 1000,
		.clock = {{1000, 1000}, {LAST, LAST}},
	};

	memcpy(page, &header, sizeof(header));
	put(page, sizeof(page));
}

static void put_module(void)
{
	static const char path[] = "/nowhere/program";
	struct swz_module_record module = {
		.load_bias = BIAS,
		.start = BIAS,
		.end = BIAS + (FUNCTIONS + 1) * FUNCTION_BYTES,
		.first_function = 1,
		.function_count = FUNCTIONS,
		.in_scope = 1,
		.counts = {[SWZ_PATCHED] = FUNCTIONS},
	};
	uint32_t i;

	put_chunk(SWZ_CHUNK_MODULE, 1, 0, sizeof(module) + sizeof(path));
	put(&module, sizeof(module));
	put(path, sizeof(path));
	pad();
	put_chunk(SWZ_CHUNK_FUNCTIONS, FUNCTIONS, 0,
		  FUNCTIONS * sizeof(struct swz_function_record));
	for (i = 0; i < FUNCTIONS; i++) {
		struct swz_function_record function = {
			.address = (i + 1) * FUNCTION_BYTES,
			.size = FUNCTION_BYTES,
			.id = 1 + i,
		};

		put(&function, sizeof(function));
	}
	pad();
}

struct plan {
	uint32_t *parents;
	uint64_t *ticks;
};

/* The last of those before it, mostly: deep rather than wide. */
static uint32_t choose_parent(const uint8_t *depths, uint32_t i)
{
	uint32_t parent = i - 1 - random_below(i < 64 ? i : 64);

	return depths[parent] < DEPTH ? parent : 0;
}

/* Times are added up from the leaves: a node lasts as long as what it calls,
 * and some. */
static void make_plan(struct plan *plan, uint32_t count)
{
	uint8_t *depths = calloc(count, 1);
	uint32_t *parents = calloc(count, sizeof(*parents));
	uint64_t *ticks = calloc(count, sizeof(*ticks));
	uint32_t i;

	if (!parents || !ticks || !depths)
		exit(EXIT_FAILURE);
	for (i = 1; i < count; i++) {
		parents[i] = choose_parent(depths, i);
		depths[i] = (uint8_t)(depths[parents[i]] + 1);
	}
	for (i = count - 1; i > 0; i--) {
		ticks[i] += 100 + random_below(1000);
		ticks[parents[i]] += ticks[i];
	}
	free(depths);
	*plan = (struct plan){parents, ticks};
}

static void put_nodes(const struct plan *plan, uint32_t root, uint32_t count)
{
	struct swz_node node = {
		.function = SWZ_FUNCTION_ROOT, .parent = root, .context = root};
	uint32_t i;

	put(&node, sizeof(node));
	for (i = 1; i < count; i++) {
		uint64_t ticks = plan->ticks[i];
		uint32_t function = 1 + random_below(FUNCTIONS);

		node = (struct swz_node){
			.function = function,
			.parent = root + plan->parents[i],
			.call_site = BIAS + (uint64_t)function * FUNCTION_BYTES,
			.calls = 1 + random_below(9),
			.ticks = (int64_t)ticks,
			.outer_ticks = (int64_t)ticks,
			.min_ticks = 1,
			.max_ticks = ticks,
			.context = root + i,
		};
		put(&node, sizeof(node));
	}
}

static void put_thread(uint32_t index, uint32_t count)
{
	struct swz_thread_record thread = {
		.tid = 4242 + (int32_t)index,
		.start_ticks = 1000,
		.name = "thread",
	};
	struct plan nodes;

	make_plan(&nodes, count);
	thread.last_ticks = 1000 + nodes.ticks[0] + 5000;
	thread.root = (uint32_t)((offset + chunk_bytes(sizeof(thread)) +
				  sizeof(struct swz_chunk)) /
				 SWZ_UNIT_BYTES);
	put_chunk(SWZ_CHUNK_THREAD, 1, index, sizeof(thread));
	put(&thread, sizeof(thread));
	put_chunk(SWZ_CHUNK_NODES, count, index,
		  count * sizeof(struct swz_node));
	put_nodes(&nodes, thread.root, count);
	free(nodes.parents);
	free(nodes.ticks);
}

int main(int argc, char **argv)
{
	size_t contexts = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	uint32_t count = (uint32_t)(contexts / THREADS) + 1;
	uint64_t used =
		SWZ_HEADER_BYTES +
		chunk_bytes(sizeof(struct swz_module_record) + 17) +
		chunk_bytes(FUNCTIONS * sizeof(struct swz_function_record)) +
		THREADS * (chunk_bytes(sizeof(struct swz_thread_record)) +
			   chunk_bytes(count * sizeof(struct swz_node)));
	uint32_t i;

	put_header(used);
	put_module();
	for (i = 0; i < THREADS; i++)
		put_thread(i, count);
	return offset == used && fflush(stdout) == 0 ? EXIT_SUCCESS
						     : EXIT_FAILURE;
}
