#ifndef SWZ_WATCH_NAMES_JAVA_MEMORY_H
#define SWZ_WATCH_NAMES_JAVA_MEMORY_H

/* The memory of a Java virtual machine (HotSpot 17 to 25): where its fields
 * are, and the blobs of its code cache. Nothing that is read is trusted. */

#include "watch/names/script_language.h"

enum swz_java_field {
	SWZ_JAVA_CACHE_HEAPS,
	SWZ_JAVA_ARRAY_COUNT,
	SWZ_JAVA_ARRAY_DATA,
	SWZ_JAVA_HEAP_MEMORY,
	SWZ_JAVA_HEAP_SEGMENTS,
	SWZ_JAVA_HEAP_SEGMENT_BITS,
	SWZ_JAVA_SPACE_LOW,
	SWZ_JAVA_SPACE_HIGH,
	SWZ_JAVA_BLOCK_USED,
	SWZ_JAVA_BLOB_NAME,
	SWZ_JAVA_BLOB_SIZE,
	SWZ_JAVA_BLOB_COMPLETE,
	SWZ_JAVA_BLOB_FRAME,
	SWZ_JAVA_METHOD_CONST,
	SWZ_JAVA_CONST_POOL,
	SWZ_JAVA_CONST_BYTES,
	SWZ_JAVA_CONST_CODE_BYTES,
	SWZ_JAVA_CONST_NAME,
	SWZ_JAVA_POOL_TAGS,
	SWZ_JAVA_POOL_HOLDER,
	SWZ_JAVA_POOL_LENGTH,
	SWZ_JAVA_POOL_FILE,
	SWZ_JAVA_KLASS_NAME,
	SWZ_JAVA_SYMBOL_LENGTH,
	SWZ_JAVA_SYMBOL_TEXT,
	SWZ_JAVA_NEEDED_FIELDS,
	/* some versions have the one, some the other */
	SWZ_JAVA_COMPILED_METHOD = SWZ_JAVA_NEEDED_FIELDS,
	SWZ_JAVA_NATIVE_METHOD,
	SWZ_JAVA_CODE_BEGIN,
	SWZ_JAVA_CODE_OFFSET,
	SWZ_JAVA_CONST_FLAGS,
	SWZ_JAVA_CONST_FLAGS_21,
	SWZ_JAVA_SCOPES_PCS,
	SWZ_JAVA_SCOPES_DATA,
	SWZ_JAVA_SCOPES_DATA_25,
	SWZ_JAVA_SCOPES_END,
	SWZ_JAVA_METADATA,
	SWZ_JAVA_IMMUTABLE,
	SWZ_JAVA_MUTABLE,
	SWZ_JAVA_RELOCATION_BYTES,
	SWZ_JAVA_COMPILE_NUMBER,
	SWZ_JAVA_MAJOR_VERSION,
	SWZ_JAVA_FIELDS
};

enum swz_java_type {
	SWZ_JAVA_BLOCK_TYPE,
	SWZ_JAVA_CONST_TYPE,
	SWZ_JAVA_POOL_TYPE,
	SWZ_JAVA_TYPES
};

#define SWZ_JAVA_BLOB_BYTES 448u
#define SWZ_JAVA_MOST_HEAPS 8u
#define SWZ_JAVA_CONSTANTS 11u

/* SWZ_JAVA_FRAMELESS: it jumps to what it leads to. */
enum swz_java_kind {
	SWZ_JAVA_COMPILED,
	SWZ_JAVA_INTERPRETER,
	SWZ_JAVA_FRAMELESS,
	SWZ_JAVA_OTHER
};

/* A blob of the code cache, as it was when it was read last. */
struct swz_java_blob {
	uint64_t start, end, code;
	uint64_t name, method;
	uint64_t stack; /* for which it was read */
	uint32_t frame_bytes, complete, number;
	enum swz_java_kind kind;
	bool is_gone;
	uint8_t head[SWZ_JAVA_BLOB_BYTES];
};

/* A part of the code cache. */
struct swz_java_heap {
	uint64_t low, high, segments, segments_end;
	uint32_t segment_bits;
};

struct swz_java_memory {
	swz_script_read *read;
	void *context;
	uint64_t addresses[SWZ_JAVA_CONSTANTS];
	enum {
		SWZ_JAVA_NOTHING_READ,
		SWZ_JAVA_TABLES_READ,
		SWZ_JAVA_READY,
		SWZ_JAVA_UNKNOWN
	} state;
	uint64_t
		at[SWZ_JAVA_FIELDS]; /* offsets; of what is static: addresses */
	bool has[SWZ_JAVA_FIELDS];
	uint64_t bytes[SWZ_JAVA_TYPES];
	uint32_t version;
	uint64_t heaps_stack; /* for which the heaps were read */
	struct swz_java_heap heaps[SWZ_JAVA_MOST_HEAPS];
	size_t heap_count;
};

/* False: the module is no virtual machine. */
bool swz_java_memory_open(struct swz_java_memory *memory,
			  const struct swz_script_module *module);

/* True if the tables and the code cache have been found. STACK: the number of
 * the one that is read. */
bool swz_java_memory_ready(struct swz_java_memory *memory, uint64_t stack);

/* The address of the blob that has PC; 0: there is none. */
uint64_t swz_java_blob_with(struct swz_java_memory *memory, uint64_t pc,
			    uint64_t stack);

/* Reads the blob at its start as it is now. False: that is none. */
bool swz_java_blob_read(const struct swz_java_memory *memory,
			struct swz_java_blob *blob);

/* A field of a blob; 0: this version has none. */
uint64_t swz_java_blob_word(const struct swz_java_memory *memory,
			    const struct swz_java_blob *blob,
			    enum swz_java_field field);
uint32_t swz_java_blob_half(const struct swz_java_memory *memory,
			    const struct swz_java_blob *blob,
			    enum swz_java_field field);

static inline bool swz_java_read(const struct swz_java_memory *memory,
				 uint64_t address, void *into, size_t size)
{
	return address &&
	       memory->read(memory->context, address, into, size) == size;
}

static inline bool swz_java_read_word(const struct swz_java_memory *memory,
				      uint64_t address, uint64_t *word)
{
	return swz_java_read(memory, address, word, sizeof(*word));
}

#endif
