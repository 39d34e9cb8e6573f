#include "tests/unit/module_builder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/support/scratch_memory.h"

static _Alignas(4096) uint8_t loaded[MODULE_END - MODULE_TEXT];
static uint8_t *memory;
static uint8_t file[MODULE_END - MODULE_TEXT];

enum { MOST_TAKEN = 256 };

static void *taken[MOST_TAKEN]; /* until the next module begins */
static unsigned taken_count;

static void *take(size_t bytes)
{
	ck_assert_uint_lt(taken_count, MOST_TAKEN);
	taken[taken_count] = calloc(1, bytes ? bytes : 1);
	return taken[taken_count++];
}

/* In place of src/runtime/support/scratch_memory.c: a sanitizer sees what is
 * read behind the end. */
void *swz_scratch_alloc(size_t bytes)
{
	return take(bytes);
}

void *swz_scratch_alloc_brief(size_t bytes)
{
	return take(bytes);
}

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

static void add_segment(struct built_module *b, unsigned i, uint64_t start,
			uint64_t end, uint32_t flags)
{
	b->segments[i] = (ElfW(Phdr)){.p_type = PT_LOAD,
				      .p_flags = flags,
				      .p_vaddr = start,
				      .p_offset = start - MODULE_TEXT,
				      .p_filesz = end - start,
				      .p_memsz = end - start};
}

static void begin(struct built_module *b)
{
	static struct swz_decoder *decoder;

	while (taken_count)
		free(taken[--taken_count]);
	memset(b, 0, sizeof(*b));
	memset(memory, 0xcc, MODULE_CONSTANTS - MODULE_TEXT);
	memset(memory + MODULE_CONSTANTS - MODULE_TEXT, 0,
	       MODULE_END - MODULE_CONSTANTS);
	memcpy(file, memory, sizeof(file));
	add_segment(b, 0, MODULE_TEXT, MODULE_CONSTANTS, PF_R | PF_X);
	add_segment(b, 1, MODULE_CONSTANTS, MODULE_DATA, PF_R);
	add_segment(b, 2, MODULE_DATA, MODULE_END, PF_R | PF_W);
	b->m.segments = b->segments;
	b->m.segment_count = 3;
	b->m.load_bias = (uintptr_t)memory - MODULE_TEXT;
	b->m.start = (uintptr_t)memory;
	b->m.end = (uintptr_t)memory + sizeof(loaded);
	b->m.text[0] = (struct swz_range){MODULE_TEXT, MODULE_CONSTANTS};
	b->m.text_count = 1;
	b->m.in_scope = true;
	b->m.path = "/lib/libbuilt.so";
	b->m.file.file = (struct swz_bytes){file, sizeof(file)};
	b->m.functions = b->functions;
	if (!decoder)
		decoder = swz_decoder_new(zeroed);
	ck_assert_ptr_nonnull(decoder);
	b->decoder = decoder;
}

void module_begin(struct built_module *b)
{
	memory = loaded;
	begin(b);
}

void module_begin_fixed(struct built_module *b)
{
	static uint8_t *fixed;

	if (!fixed)
		fixed = mmap((void *)(uintptr_t)MODULE_TEXT, sizeof(loaded),
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			     -1, 0);
	ck_assert_uint_eq((uintptr_t)fixed, MODULE_TEXT);
	memory = fixed;
	begin(b);
}

void module_put(uint64_t address, const void *bytes, size_t size)
{
	ck_assert_uint_ge(address, MODULE_TEXT);
	ck_assert_uint_le(address + size, MODULE_END);
	memcpy(memory + (address - MODULE_TEXT), bytes, size);
	memcpy(file + (address - MODULE_TEXT), bytes, size);
}

void module_put32(uint64_t address, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(memory + (address - MODULE_TEXT), &v, sizeof(v));
}

void module_put32_in_file(uint64_t address, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(file + (address - MODULE_TEXT), &v, sizeof(v));
}

struct swz_function *module_function(struct built_module *b, uint64_t start,
				     const void *code, size_t size)
{
	struct swz_function *f = &b->functions[b->m.function_count++];

	ck_assert_uint_le(b->m.function_count, MODULE_MOST_FUNCTIONS);
	module_put(start, code, size);
	*f = (struct swz_function){
		.start = start, .size = (uint32_t)size, .room = (uint32_t)size};
	return f;
}

struct swz_encoding module_encoding(const struct built_module *b,
				    uint64_t address, uint64_t *next)
{
	struct swz_bytes code = {swz_module_bytes(&b->m, address),
				 MODULE_CONSTANTS - address};
	struct swz_encoding e;

	ck_assert_int_eq(swz_encoding_read(code, &e), SWZ_OK);
	*next = address + e.operands_at + e.immediate_bytes;
	return e;
}
