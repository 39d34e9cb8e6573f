#ifndef SWZ_PROFILE_COSTS_MERGE_H
#define SWZ_PROFILE_COSTS_MERGE_H

/* The sum of any number of profiles, which is a profile itself
 * (SWZ_FILE_MERGED): one tree for all threads of a name, those of processes
 * with a rank and those of others apart. It needs the memory of its own
 * contexts, of what each rank has spent in which function, and of one profile
 * at a time. The order in which profiles are added makes no difference to what
 * is in it, nor does it whether they are sums themselves. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/memory.h"
#include "profile/file/reader.h"

struct swz_merge_module {
	const char *path;
	struct swz_module_record record; /* as in the first profile */
	bool by_name; /* its code is in no file: functions are known by name,
		       * too */
};

struct swz_merge_function {
	uint32_t module; /* SWZ_INDEX_NONE: unknown */
	uint64_t address;
	const char *asked; /* swz_profile_function.name; may be NULL */
	uint32_t size;
	uint16_t status, flags;
};

struct swz_merge_symbol {
	uint32_t module, number, languages;
	uint64_t address, size;
	const char *name, *file;
};

struct swz_merge_line {
	uint32_t module;
	int line, outer_line;
	uint64_t address;
	const char *file, *inlined;
};

struct swz_merge_node {
	uint32_t function, parent, context, flags;
	uint32_t site_module; /* SWZ_INDEX_NONE: `site` is 0 or unknown */
	uint64_t site;        /* ELF virtual address, or SWZ_CALL_SITE_TAIL */
	uint64_t calls, unwound;
	int64_t ns; /* a context's own; of another node all */
	int64_t outer_ns, min_ns, max_ns, waiting_ns;
};

/* How many calls took so long. */
struct swz_merge_times {
	uint32_t function; /* UINT32_MAX: of any, there was no room */
	uint32_t bucket;   /* base/time_bucket.h; of ns */
	uint64_t calls;
};

struct swz_merge_thread {
	const char *name;
	bool has_rank;
	struct swz_merge_node *nodes; /* [0] is the root */
	size_t count, capacity;
	struct swz_map index; /* of nodes */
	uint32_t last;        /* node that was found */
	struct swz_merge_times *times;
	size_t times_count, times_capacity;
	struct swz_map times_index; /* by function and bucket */
	int64_t raw_ns;             /* with the cost of the hooks */
	int64_t processor_ns;
	bool processor_known;
};

/* The costs of its processes. */
struct swz_merge_rank {
	uint32_t rank;
	int32_t pid; /* the least of them, and its host */
	const char *host;
	uint64_t processes;
	uint8_t *packed; /* ranks.h, numbers as in the chunk */
	size_t bytes;
	uint32_t cost_count;
};

struct swz_merge {
	struct swz_intern strings;
	struct swz_file_header header; /* what it takes of the profiles' */
	const char *executable, *cwd;
	const char **arguments;
	size_t argument_count;
	const char **labels; /* as in struct swz_profile */
	size_t label_count, label_capacity;
	struct swz_merge_module *modules;
	size_t module_count, module_capacity;
	struct swz_merge_function *functions;
	size_t function_count, function_capacity;
	struct swz_merge_symbol *symbols;
	size_t symbol_count, symbol_capacity;
	struct swz_merge_line *lines;
	size_t line_count, line_capacity;
	struct swz_merge_thread *threads;
	size_t thread_count, thread_capacity;
	struct swz_merged_record *sources;
	size_t source_count, source_capacity;
	struct swz_map by_address, by_name; /* functions */
	struct swz_map by_symbol, by_line;  /* symbols, lines */
	struct swz_map by_source;
	struct swz_merge_rank *ranks;
	size_t rank_count, rank_capacity;
	struct swz_map by_rank;
};

enum swz_merge_status {
	SWZ_MERGE_ADDED,
	SWZ_MERGE_KNOWN,   /* it is in the sum already */
	SWZ_MERGE_PARTLY,  /* the same of some of those that it is the sum of */
	SWZ_MERGE_KIND,    /* its figures are of another kind: inputs.h */
	SWZ_MERGE_SAMPLED, /* --timing sampled: estimates are not added */
	SWZ_MERGE_DAMAGED  /* a sum, of which not all ranks can be read */
};

/* Zero-initialise it before the first. PROFILE is not needed any more then. */
enum swz_merge_status swz_merge_add(struct swz_merge *merge,
				    struct swz_profile *profile) SWZ_MUST_CHECK;
void swz_merge_free(struct swz_merge *merge);

/* --- modules, functions, places ------------------------------------------ */

/* Modules, functions and call sites of a profile, in a sum of profiles. */

struct swz_merge_names {
	struct swz_merge *merge;
	struct swz_profile *profile;
	uint32_t *modules;    /* the profile's index to the sum's */
	uint32_t *functions;  /* the same; SWZ_INDEX_NONE: not asked for yet */
	uint32_t last;        /* function that was found */
	struct swz_map named; /* (module of the profile, address): symbol */
	struct swz_map sites; /* call sites by page: module of the profile */
};

/* The profile's modules become the sum's. */
void swz_merge_names_begin(struct swz_merge_names *names,
			   struct swz_merge *merge,
			   struct swz_profile *profile);

/* INDEX is into the profile's functions. */
uint32_t swz_merge_function(struct swz_merge_names *names, uint32_t index);

/* Where a call returns to: sets the node's site_module and site. */
void swz_merge_site(struct swz_merge_names *names, uint64_t call_site,
		    struct swz_merge_node *node);

/* Takes over the names that the profile holds, of functions that were asked
 * for, and of calls. Frees what NAMES has. */
void swz_merge_names_end(struct swz_merge_names *names);

#endif
