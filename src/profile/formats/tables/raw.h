#ifndef SWZ_PROFILE_FORMATS_TABLES_RAW_H
#define SWZ_PROFILE_FORMATS_TABLES_RAW_H

/* A profile file's header, chunks and records as they are. Nothing is believed
 * and nothing left out: for finding out what is wrong with a file. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "profile/file/reader.h"

/* Writes what is in the file at PATH, of each chunk at most ROWS records (0:
 * all). *problems is the number of places that are not as they should be.
 * SWZ_E_SYSTEM if it cannot be read, SWZ_E_FORMAT if it is no regular file;
 * *error says why. */
enum swz_status swz_write_raw(FILE *stream, const char *path, size_t rows,
			      uint64_t *problems,
			      struct swz_error *error) SWZ_MUST_CHECK;

#endif
