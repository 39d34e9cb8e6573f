#ifndef SWZ_TOOLS_DUMP_SIGNATURES_H
#define SWZ_TOOLS_DUMP_SIGNATURES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options/settings.h"
#include "swizzle/signature_exchange.h"
#include "swizzle/values.h"

/* Of which functions what is recorded. */
struct swz_signature_choice {
	char **patterns; /* --args; those with a ! take away */
	int pattern_count;
	const struct swz_config_file *config;
	const char *marks[SWZ_MOST_MARKS]; /* functions that its conditions
					    * look for among callers */
	unsigned mark_count;
};

/* Writes to STREAM, as struct swz_signature_file, what is to be recorded of the
 * functions of an ELF file, by its debug information, which may be in another
 * file. The file must have the build-id, if there are BYTES of one. What it
 * returns but for SWZ_ANSWER_SIGNATURES has written nothing. */
enum swz_answer swz_dump_find_signatures(
	FILE *stream, const char *path, const uint8_t *build_id, size_t bytes,
	const struct swz_signature_choice *choice);

#endif
