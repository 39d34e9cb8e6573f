#ifndef SWZ_PROFILE_CODE_CODE_PLACE_H
#define SWZ_PROFILE_CODE_CODE_PLACE_H

#include <stdint.h>

/* FNV-1a */
static inline uint64_t swz_code_hash(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash;
}

/* Where a function that lies in no file is in its module, SWZ_CODE_MODULE_NAME
 * or a script. A reader takes functions of two profiles that lie at one address
 * of a module for the same, so a name has the same address everywhere. Two that
 * have one, which is rare, are to be told apart by taking the next. */
static inline uint32_t swz_code_place(const char *name, uint32_t line)
{
	uint64_t hash = swz_code_hash(name);

	return (uint32_t)(hash ^ hash >> 32) +
	       line * 0x9e3779b1u; /* 2^32 / golden ratio */
}

#endif
