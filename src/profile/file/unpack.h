#ifndef SWZ_PROFILE_FILE_UNPACK_H
#define SWZ_PROFILE_FILE_UNPACK_H

#include "profile/file/reader.h"

/* Makes a chunk PACKED_NODES in memory, and CHUNK, its header, one of NODES.
 * Its body is at OFFSET, SIZE bytes of it are there. What is not whole is
 * damage. */
void swz_unpack_nodes(struct swz_profile *profile, struct swz_chunk *chunk,
		      size_t offset, size_t size);

#endif
