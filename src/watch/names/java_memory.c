/* libjvm.so says itself where its fields are, in tables for debuggers
 * (gHotSpotVMStructs, vmStructs.cpp). They are filled when it is loaded, the
 * code cache is made later: so both are looked for until they are there.
 *
 * The code cache is made of heaps, these of segments. A blob is some segments,
 * and for each of these a byte leads back to the first (heap.cpp). */

#include "watch/names/java_memory.h"

#include <string.h>

#define MOST_ENTRIES 20000u
#define ENTRY_BYTES 64u
#define FIELD_NAME_BYTES 48u
#define MOST_OFFSET 4096u
#define OLDEST 17u
#define NEWEST 25u

static const struct {
	const char *type, *name;
} fields[] = {
	[SWZ_JAVA_CACHE_HEAPS] = {"CodeCache", "_heaps"},
	[SWZ_JAVA_ARRAY_COUNT] = {"GrowableArrayBase", "_len"},
	[SWZ_JAVA_ARRAY_DATA] = {"GrowableArray<int>", "_data"},
	[SWZ_JAVA_HEAP_MEMORY] = {"CodeHeap", "_memory"},
	[SWZ_JAVA_HEAP_SEGMENTS] = {"CodeHeap", "_segmap"},
	[SWZ_JAVA_HEAP_SEGMENT_BITS] = {"CodeHeap", "_log2_segment_size"},
	[SWZ_JAVA_SPACE_LOW] = {"VirtualSpace", "_low"},
	[SWZ_JAVA_SPACE_HIGH] = {"VirtualSpace", "_high"},
	[SWZ_JAVA_BLOCK_USED] = {"HeapBlock::Header", "_used"},
	[SWZ_JAVA_BLOB_NAME] = {"CodeBlob", "_name"},
	[SWZ_JAVA_BLOB_SIZE] = {"CodeBlob", "_size"},
	[SWZ_JAVA_BLOB_COMPLETE] = {"CodeBlob", "_frame_complete_offset"},
	[SWZ_JAVA_BLOB_FRAME] = {"CodeBlob", "_frame_size"},
	[SWZ_JAVA_METHOD_CONST] = {"Method", "_constMethod"},
	[SWZ_JAVA_CONST_POOL] = {"ConstMethod", "_constants"},
	[SWZ_JAVA_CONST_BYTES] = {"ConstMethod", "_constMethod_size"},
	[SWZ_JAVA_CONST_CODE_BYTES] = {"ConstMethod", "_code_size"},
	[SWZ_JAVA_CONST_NAME] = {"ConstMethod", "_name_index"},
	[SWZ_JAVA_POOL_TAGS] = {"ConstantPool", "_tags"},
	[SWZ_JAVA_POOL_HOLDER] = {"ConstantPool", "_pool_holder"},
	[SWZ_JAVA_POOL_LENGTH] = {"ConstantPool", "_length"},
	[SWZ_JAVA_POOL_FILE] = {"ConstantPool", "_source_file_name_index"},
	[SWZ_JAVA_KLASS_NAME] = {"Klass", "_name"},
	[SWZ_JAVA_SYMBOL_LENGTH] = {"Symbol", "_length"},
	[SWZ_JAVA_SYMBOL_TEXT] = {"Symbol", "_body"},
	[SWZ_JAVA_COMPILED_METHOD] = {"CompiledMethod", "_method"},
	[SWZ_JAVA_NATIVE_METHOD] = {"nmethod", "_method"},
	[SWZ_JAVA_CODE_BEGIN] = {"CodeBlob", "_code_begin"},
	[SWZ_JAVA_CODE_OFFSET] = {"CodeBlob", "_code_offset"},
	[SWZ_JAVA_CONST_FLAGS] = {"ConstMethod", "_flags"},
	[SWZ_JAVA_CONST_FLAGS_21] = {"ConstMethod", "_flags._flags"},
	[SWZ_JAVA_SCOPES_PCS] = {"nmethod", "_scopes_pcs_offset"},
	[SWZ_JAVA_SCOPES_DATA] = {"CompiledMethod", "_scopes_data_begin"},
	[SWZ_JAVA_SCOPES_DATA_25] = {"nmethod", "_scopes_data_offset"},
	[SWZ_JAVA_SCOPES_END] = {"nmethod", "_dependencies_offset"},
	[SWZ_JAVA_METADATA] = {"nmethod", "_metadata_offset"},
	[SWZ_JAVA_IMMUTABLE] = {"nmethod", "_immutable_data"},
	[SWZ_JAVA_MUTABLE] = {"CodeBlob", "_mutable_data"},
	[SWZ_JAVA_RELOCATION_BYTES] = {"CodeBlob", "_relocation_size"},
	[SWZ_JAVA_COMPILE_NUMBER] = {"nmethod", "_compile_id"},
	[SWZ_JAVA_MAJOR_VERSION] = {"Abstract_VM_Version", "_vm_major_version"},
};

static const char *const types[] = {[SWZ_JAVA_BLOCK_TYPE] = "HeapBlock",
				    [SWZ_JAVA_CONST_TYPE] = "ConstMethod",
				    [SWZ_JAVA_POOL_TYPE] = "ConstantPool"};

/* Constants that say how a table is laid out. */
enum constant {
	FIELD_TABLE,
	FIELD_TYPE,
	FIELD_NAME,
	FIELD_STATIC,
	FIELD_OFFSET,
	FIELD_ADDRESS,
	FIELD_STRIDE,
	TYPE_TABLE,
	TYPE_NAME,
	TYPE_SIZE,
	TYPE_STRIDE,
	CONSTANTS
};

_Static_assert(CONSTANTS == SWZ_JAVA_CONSTANTS, "constants");

static const char *const constants[] = {
	[FIELD_TABLE] = "gHotSpotVMStructs",
	[FIELD_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[FIELD_NAME] = "gHotSpotVMStructEntryFieldNameOffset",
	[FIELD_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[FIELD_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[FIELD_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[FIELD_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[TYPE_TABLE] = "gHotSpotVMTypes",
	[TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
};

/* --- reading the tables -------------------------------------------------- */

static void read_name(const struct swz_java_memory *memory, uint64_t address,
		      char name[FIELD_NAME_BYTES])
{
	size_t n = address ? memory->read(memory->context, address, name,
					  FIELD_NAME_BYTES - 1)
			   : 0;

	name[n] = '\0';
}

static void take_field(struct swz_java_memory *memory, const uint8_t *entry,
		       const uint64_t *layout, const char *type,
		       const char *name)
{
	for (size_t i = 0; i < SWZ_JAVA_FIELDS; i++) {
		bool is_static;

		if (strcmp(fields[i].name, name) != 0 ||
		    strcmp(fields[i].type, type) != 0)
			continue;
		is_static = swz_script_half(entry, layout[FIELD_STATIC]) != 0;
		memory->at[i] = swz_script_word(
			entry,
			layout[is_static ? FIELD_ADDRESS : FIELD_OFFSET]);
		memory->has[i] = is_static || memory->at[i] < MOST_OFFSET;
	}
}

static void take_type(struct swz_java_memory *memory, const uint8_t *entry,
		      const uint64_t *layout, const char *name)
{
	for (size_t i = 0; i < SWZ_JAVA_TYPES; i++)
		if (strcmp(types[i], name) == 0)
			memory->bytes[i] = swz_script_word(entry,
							   layout[TYPE_SIZE]);
}

/* Fields, or types. */
static void read_table(struct swz_java_memory *memory, const uint64_t *layout,
		       bool is_of_types)
{
	uint64_t at = layout[is_of_types ? TYPE_TABLE : FIELD_TABLE];
	uint64_t stride = layout[is_of_types ? TYPE_STRIDE : FIELD_STRIDE];
	uint64_t last = 0;
	char type[FIELD_NAME_BYTES] = "", name[FIELD_NAME_BYTES];
	uint8_t entry[ENTRY_BYTES];

	for (unsigned i = 0; i < MOST_ENTRIES; i++, at += stride) {
		uint64_t text;

		if (!swz_java_read(memory, at, entry, stride))
			return;
		text = swz_script_word(
			entry, layout[is_of_types ? TYPE_NAME : FIELD_TYPE]);
		if (!text)
			return;
		if (text != last)
			read_name(memory, text, type);
		last = text;
		if (is_of_types) {
			take_type(memory, entry, layout, type);
			continue;
		}
		read_name(memory, swz_script_word(entry, layout[FIELD_NAME]),
			  name);
		take_field(memory, entry, layout, type, name);
	}
}

/* False: they are not filled yet, or make no sense. */
static bool read_layout(const struct swz_java_memory *memory, uint64_t *layout)
{
	for (size_t i = 0; i < CONSTANTS; i++) {
		uint64_t most = i == FIELD_TABLE || i == TYPE_TABLE ? UINT64_MAX
				: i == FIELD_STRIDE || i == TYPE_STRIDE
					? ENTRY_BYTES
					: ENTRY_BYTES - 8;

		if (!swz_java_read_word(memory, memory->addresses[i],
					&layout[i]) ||
		    layout[i] > most)
			return false;
	}
	return layout[FIELD_TABLE] && layout[TYPE_TABLE] &&
	       layout[FIELD_STRIDE] && layout[TYPE_STRIDE];
}

static bool is_understood(const struct swz_java_memory *memory)
{
	for (size_t i = 0; i < SWZ_JAVA_NEEDED_FIELDS; i++)
		if (!memory->has[i])
			return false;
	for (size_t i = 0; i < SWZ_JAVA_TYPES; i++)
		if (!memory->bytes[i] || memory->bytes[i] > MOST_OFFSET)
			return false;
	return (memory->has[SWZ_JAVA_COMPILED_METHOD] ||
		memory->has[SWZ_JAVA_NATIVE_METHOD]) &&
	       (memory->has[SWZ_JAVA_CODE_BEGIN] ||
		memory->has[SWZ_JAVA_CODE_OFFSET]) &&
	       memory->version >= OLDEST && memory->version <= NEWEST;
}

static void read_tables(struct swz_java_memory *memory)
{
	uint64_t layout[CONSTANTS];

	if (!read_layout(memory, layout))
		return;
	read_table(memory, layout, false);
	read_table(memory, layout, true);
	if (!memory->has[SWZ_JAVA_MAJOR_VERSION] ||
	    !swz_java_read(memory, memory->at[SWZ_JAVA_MAJOR_VERSION],
			   &memory->version, sizeof(memory->version)))
		memory->version = 0;
	memory->state = is_understood(memory) ? SWZ_JAVA_TABLES_READ
					      : SWZ_JAVA_UNKNOWN;
}

/* --- the code cache ------------------------------------------------------ */

static bool read_heap(const struct swz_java_memory *memory, uint64_t address,
		      struct swz_java_heap *heap)
{
	uint64_t space = address + memory->at[SWZ_JAVA_HEAP_MEMORY];
	uint64_t segments = address + memory->at[SWZ_JAVA_HEAP_SEGMENTS];

	return swz_java_read_word(memory,
				  space + memory->at[SWZ_JAVA_SPACE_LOW],
				  &heap->low) &&
	       swz_java_read_word(memory,
				  space + memory->at[SWZ_JAVA_SPACE_HIGH],
				  &heap->high) &&
	       swz_java_read_word(memory,
				  segments + memory->at[SWZ_JAVA_SPACE_LOW],
				  &heap->segments) &&
	       swz_java_read_word(memory,
				  segments + memory->at[SWZ_JAVA_SPACE_HIGH],
				  &heap->segments_end) &&
	       swz_java_read(memory,
			     address + memory->at[SWZ_JAVA_HEAP_SEGMENT_BITS],
			     &heap->segment_bits, sizeof(heap->segment_bits)) &&
	       heap->segment_bits < 32;
}

/* The heaps grow. */
static void read_heaps(struct swz_java_memory *memory, uint64_t stack)
{
	uint64_t array, data, heaps[SWZ_JAVA_MOST_HEAPS];
	uint32_t count;

	memory->heaps_stack = stack;
	memory->heap_count = 0;
	if (!swz_java_read_word(memory, memory->at[SWZ_JAVA_CACHE_HEAPS],
				&array) ||
	    !array ||
	    !swz_java_read(memory, array + memory->at[SWZ_JAVA_ARRAY_COUNT],
			   &count, sizeof(count)) ||
	    !count || count > SWZ_JAVA_MOST_HEAPS ||
	    !swz_java_read_word(memory, array + memory->at[SWZ_JAVA_ARRAY_DATA],
				&data) ||
	    !swz_java_read(memory, data, heaps, count * sizeof(*heaps)))
		return;
	for (uint32_t i = 0; i < count; i++)
		memory->heap_count += read_heap(
			memory, heaps[i], &memory->heaps[memory->heap_count]);
	if (memory->heap_count)
		memory->state = SWZ_JAVA_READY;
}

bool swz_java_memory_ready(struct swz_java_memory *memory, uint64_t stack)
{
	if (memory->state == SWZ_JAVA_NOTHING_READ)
		read_tables(memory);
	if (memory->state == SWZ_JAVA_TABLES_READ)
		read_heaps(memory, stack);
	return memory->state == SWZ_JAVA_READY;
}

static const struct swz_java_heap *heap_with(
	const struct swz_java_memory *memory, uint64_t pc)
{
	for (size_t i = 0; i < memory->heap_count; i++)
		if (pc >= memory->heaps[i].low && pc < memory->heaps[i].high)
			return &memory->heaps[i];
	return NULL;
}

#define FREE_SEGMENT 0xffu
#define SEGMENTS_AT_ONCE 256u
#define MOST_STEPS 100000u

/* The first segment of the block that has SEGMENT: a byte for each says how far
 * back at least it is; 0: it is the first. False: there is no block. */
static bool first_segment(const struct swz_java_memory *memory,
			  const struct swz_java_heap *heap, uint64_t *segment)
{
	uint8_t some[SEGMENTS_AT_ONCE];
	uint64_t first = 0, past = 0;

	for (unsigned i = 0; i < MOST_STEPS; i++) {
		uint8_t back;

		if (*segment < first || *segment >= past) {
			past = *segment + 1;
			first = past > sizeof(some) ? past - sizeof(some) : 0;
			if (past > heap->segments_end - heap->segments ||
			    !swz_java_read(memory, heap->segments + first, some,
					   past - first))
				return false;
		}
		back = some[*segment - first];
		if (!back)
			return true;
		if (back == FREE_SEGMENT || back > *segment)
			return false;
		*segment -= back;
	}
	return false;
}

uint64_t swz_java_blob_with(struct swz_java_memory *memory, uint64_t pc,
			    uint64_t stack)
{
	const struct swz_java_heap *heap;
	uint64_t segment, block;
	uint8_t used;

	if (!heap_with(memory, pc) && memory->heaps_stack != stack)
		read_heaps(memory, stack);
	heap = heap_with(memory, pc);
	if (!heap)
		return 0;
	segment = (pc - heap->low) >> heap->segment_bits;
	if (!first_segment(memory, heap, &segment))
		return 0;
	block = heap->low + (segment << heap->segment_bits);
	if (!swz_java_read(memory, block + memory->at[SWZ_JAVA_BLOCK_USED],
			   &used, 1) ||
	    !used)
		return 0;
	return block + memory->bytes[SWZ_JAVA_BLOCK_TYPE];
}

uint64_t swz_java_blob_word(const struct swz_java_memory *memory,
			    const struct swz_java_blob *blob,
			    enum swz_java_field field)
{
	uint64_t at = memory->at[field];

	return memory->has[field] && at <= SWZ_JAVA_BLOB_BYTES - 8
		       ? swz_script_word(blob->head, at)
		       : 0;
}

uint32_t swz_java_blob_half(const struct swz_java_memory *memory,
			    const struct swz_java_blob *blob,
			    enum swz_java_field field)
{
	return (uint32_t)swz_java_blob_word(memory, blob, field);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static enum swz_java_kind kind_of(const char *name)
{
	if (begins(name, "nmethod") || begins(name, "native nmethod"))
		return SWZ_JAVA_COMPILED;
	if (begins(name, "Interpreter"))
		return SWZ_JAVA_INTERPRETER;
	/* they jump to what they lead to */
	if (begins(name, "I2C/C2I") || begins(name, "vtable") ||
	    begins(name, "MethodHandles"))
		return SWZ_JAVA_FRAMELESS;
	return SWZ_JAVA_OTHER;
}

/* The name is a constant of the virtual machine's. */
static void take_name(const struct swz_java_memory *memory,
		      struct swz_java_blob *blob, uint64_t address)
{
	char name[FIELD_NAME_BYTES];

	if (address == blob->name)
		return;
	read_name(memory, address, name);
	blob->name = address;
	blob->kind = kind_of(name);
}

bool swz_java_blob_read(const struct swz_java_memory *memory,
			struct swz_java_blob *blob)
{
	if (memory->read(memory->context, blob->start, blob->head,
			 SWZ_JAVA_BLOB_BYTES) < SWZ_JAVA_BLOB_BYTES)
		return false;
	take_name(memory, blob,
		  swz_java_blob_word(memory, blob, SWZ_JAVA_BLOB_NAME));
	blob->end = blob->start +
		    swz_java_blob_half(memory, blob, SWZ_JAVA_BLOB_SIZE);
	blob->code = memory->has[SWZ_JAVA_CODE_BEGIN]
			     ? swz_java_blob_word(memory, blob,
						  SWZ_JAVA_CODE_BEGIN)
			     : blob->start +
				       swz_java_blob_half(memory, blob,
							  SWZ_JAVA_CODE_OFFSET);
	blob->frame_bytes = swz_java_blob_half(memory, blob,
					       SWZ_JAVA_BLOB_FRAME);
	blob->frame_bytes = blob->frame_bytes < (1u << 24)
				    ? 8 * blob->frame_bytes
				    : 0;
	blob->complete = swz_java_blob_half(memory, blob,
					    SWZ_JAVA_BLOB_COMPLETE);
	if (!memory->has[SWZ_JAVA_CODE_BEGIN]) /* it has 16 bits then */
		blob->complete = (uint32_t)(int16_t)blob->complete;
	blob->method = 0;
	if (blob->kind == SWZ_JAVA_COMPILED)
		blob->method = swz_java_blob_word(
			memory, blob,
			memory->has[SWZ_JAVA_COMPILED_METHOD]
				? SWZ_JAVA_COMPILED_METHOD
				: SWZ_JAVA_NATIVE_METHOD);
	blob->number = swz_java_blob_half(memory, blob,
					  SWZ_JAVA_COMPILE_NUMBER);
	return blob->code >= blob->start && blob->code <= blob->end;
}

/* --- life ---------------------------------------------------------------- */

bool swz_java_memory_open(struct swz_java_memory *memory,
			  const struct swz_script_module *module)
{
	*memory = (struct swz_java_memory){.read = module->read,
					   .context = module->memory};
	for (size_t i = 0; i < CONSTANTS; i++) {
		memory->addresses[i] = module->symbol(module->module,
						      constants[i]);
		if (!memory->addresses[i])
			return false;
	}
	return true;
}
