#ifndef SWZ_IMAGE_HASH_H
#define SWZ_IMAGE_HASH_H

/* A 64-bit hash for large amounts of bytes: quick, and any accidental change of
 * them changes it. It does not withstand those who look for collisions. */

#include <stdint.h>

#include "image/elf_view.h"

/* With the hash of what came before as the seed several pieces are hashed as a
 * list. Pure. */
uint64_t swz_hash(uint64_t seed, struct swz_bytes bytes);

#endif
