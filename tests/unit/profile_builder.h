#ifndef SWZ_TESTS_PROFILE_BUILDER_H
#define SWZ_TESTS_PROFILE_BUILDER_H

/* Makes profile files in memory, for tests of what reads them. Everything can
 * be damaged afterwards. */

#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"
#include "swizzle/format.h"

struct profile_builder {
	uint8_t *data; /* the file; moves when something is added */
	size_t size;
};

/* A header with pid 4242, start at tick 1000 and a clock of 2 ticks per ns. */
void builder_begin(struct profile_builder *builder);
void builder_free(struct profile_builder *builder);

struct swz_file_header *builder_header(struct profile_builder *builder);

/* Adds a chunk with BODY bytes (rounded up to 64) of zeros; returns the
 * offset of its header. */
size_t builder_chunk(struct profile_builder *builder, uint32_t type,
		     uint32_t count, uint32_t owner, size_t body);

/* The command "/bin/prog" in "/tmp", with arguments "prog" and "a b". */
void builder_command(struct profile_builder *builder);

/* A module at [BIAS, BIAS + 1 MiB), with COUNT functions with the ids FIRST...
 * at ELF addresses 0x1000, 0x1100..., 0x100 bytes each, all patched. */
void builder_module(struct profile_builder *builder, uint32_t index,
		    const char *path, uint64_t bias, uint32_t first,
		    uint32_t count);

/* The module record and its path; valid until something is added. */
struct swz_module_record *builder_module_record(struct profile_builder *builder,
						uint32_t index);

/* One of its function records; valid until something is added. */
struct swz_function_record *builder_function_record(
	struct profile_builder *builder, uint32_t module, uint32_t index);

/* The names, each with its NUL, by which the functions with the ids FIRST...
 * were asked for. */
void builder_names(struct profile_builder *builder, uint32_t module,
		   uint32_t first, uint32_t count, const char *names,
		   size_t bytes);

/* A thread with COUNT node slots, of which the first is its root. It starts
 * at tick 1000 and its last event is at LAST. Returns the root's unit: node n
 * has that unit + n. */
uint32_t builder_thread(struct profile_builder *builder, uint32_t index,
			int32_t tid, const char *name, uint64_t last,
			uint32_t count);

/* A chunk with a page of events of a thread; TICKS is the page's time. At most
 * 503. Valid until something is added. */
struct swz_chunk *builder_events(struct profile_builder *builder,
				 uint32_t thread, uint64_t ticks,
				 const uint64_t *events, size_t count);

/* A chunk of packed ones; TICKS is the time that they begin at. No page is said
 * to be packed. Valid until something is added. */
struct swz_chunk *builder_packed(struct profile_builder *builder,
				 uint32_t thread, uint64_t ticks,
				 const uint8_t *stream, size_t size);

/* A table of COUNT slots with the calls of a thread's edges; function
 * 0xffffffff: the slot is unused. Returns the offset of the chunk. */
struct builder_edge {
	uint64_t call_site;
	uint32_t function; /* id */
	uint64_t calls;
};
size_t builder_counts(struct profile_builder *builder, uint32_t thread,
		      const struct builder_edge *edges, uint32_t count);

struct swz_thread_record *builder_thread_record(struct profile_builder *builder,
						uint32_t index);

/* The slot at a unit; valid until something is added. */
struct swz_node *builder_node(struct profile_builder *builder, uint32_t unit);

/* Fills a slot whose activations have all ended; TICKS and OUTER as stored.
 * Every activation lasted the same. */
void builder_call(struct profile_builder *builder, uint32_t unit,
		  uint32_t parent, uint32_t context, uint32_t function,
		  uint64_t call_site, uint64_t calls, int64_t ticks,
		  int64_t outer);

/* Reads what was built; aborts the test if that is refused. */
struct swz_profile *builder_read(const struct profile_builder *builder);

/* Writes what was built to a new file in the directory for temporary files;
 * returns its path, for free() and unlink(). */
char *builder_save(const struct profile_builder *builder);

#endif
