#ifndef SWZ_RUNTIME_CACHE_START_RECORD_FILE_H
#define SWZ_RUNTIME_CACHE_START_RECORD_FILE_H

/* A file of facts, as it lies in the cache. */

#include "image/hash.h"
#include "runtime/cache/start_record.h"
#include "thunks/saved_plan.h"

#define SWZ_FACTS_MAGIC "SWZfact\n"
#define SWZ_MOST_OTHERS 12 /* modules */

struct swz_start_record_file {
	char magic[8];
	uint64_t hash; /* of all behind it */
	/* for whom: */
	struct swz_saved_key linker; /* `options` are those of hooks */
	uint64_t boot_ns;            /* since the epoch */
	uint32_t other_count;
	uint32_t reserved;
	struct swz_start_record facts;
	struct swz_other_module others[SWZ_MOST_OTHERS]; /* the newest last */
};

static inline uint64_t swz_start_record_file_hash(
	const struct swz_start_record_file *file)
{
	const uint8_t *from = (const uint8_t *)&file->linker;
	const uint8_t *end = (const uint8_t *)(file + 1);

	return swz_hash(0, (struct swz_bytes){from, (size_t)(end - from)});
}

#endif
