#ifndef SWZ_TOOLS_DUMP_SIGNATURES_H
#define SWZ_TOOLS_DUMP_SIGNATURES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "swizzle/signature_exchange.h"

/* swizzle-run --args: writes to STREAM, as struct swz_signature_file, what is
 * to be recorded of the functions of an ELF file that match, by its debug
 * information, which may be in another file. PATTERNS as of the option; those
 * with a ! take away. The file must have the build-id, if there are BYTES of
 * one. What it returns but for SWZ_ANSWER_SIGNATURES has written nothing. */
enum swz_answer swz_dump_find_signatures(FILE *stream, const char *path,
					 const uint8_t *build_id, size_t bytes,
					 int count, char **patterns);

#endif
