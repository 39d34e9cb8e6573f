#ifndef SWZ_RUNTIME_CACHE_KEY_H
#define SWZ_RUNTIME_CACHE_KEY_H

/* By what a plan in the cache is found, and taken for the module's. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/module/module.h"
#include "thunks/saved_plan.h"

/* Our own build-id, which is part of all keys. False: it cannot be. */
bool swz_cache_key_begin(struct swz_bytes build_id);

void swz_cache_key_make(struct swz_saved_key *key,
			const struct swz_module *module);

/* Writes the name of the file for that key, of SWZ_CACHE_NAME_BYTES at most. */
void swz_cache_key_name(const char *prefix, const struct swz_saved_key *key,
			size_t build_id_bytes, char *name);

/* Whether the text is the file's, and will be as long as the file's times are
 * what they are. */
bool swz_cache_text_is_of_file(const struct swz_module *module);

/* Whether a change of the module's file would show in its times: they are not
 * exact. */
bool swz_cache_file_is_settled(const struct swz_module *module);

/* Whether the text is that which the plan was made of. */
bool swz_cache_text_is_that_of(const struct swz_module *module,
			       const struct swz_saved_header *header);

#endif
