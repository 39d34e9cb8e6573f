#ifndef SWZ_PROFILE_FILE_ARCHIVE_H
#define SWZ_PROFILE_FILE_ARCHIVE_H

/* A profile in less room: its bytes in blocks, each transformed such that what
 * is alike lies together, and compressed by zstd. docs/file-format.md describes
 * it. */

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "profile/file/reader.h"

/* Writes the profile, with its events and the chunks that are added to it. */
void swz_write_archive(FILE *stream, struct swz_profile *profile);

/* True if the file begins as an archive does. */
bool swz_archive_begins(int fd);

/* Makes *profile a descriptor of the profile that is in an archive: of a file
 * that has no name. On failure *error says why. */
enum swz_status swz_archive_expand(int fd, int *profile,
				   struct swz_error *error) SWZ_MUST_CHECK;

#endif
