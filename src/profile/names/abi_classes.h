#ifndef SWZ_PROFILE_NAMES_ABI_CLASSES_H
#define SWZ_PROFILE_NAMES_ABI_CLASSES_H

/* How the C and C++ conventions see a type (SysV ABI for x86-64, 3.2.3; Itanium
 * C++ ABI, 3.1). */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum swz_abi_class {
	SWZ_ABI_NONE,
	SWZ_ABI_INTEGER,
	SWZ_ABI_SSE,
	SWZ_ABI_MEMORY,
	SWZ_ABI_X87
};

/* Adds to the classes of the two halves of an object what lies at OFFSET of it.
 * DEPTH is 0. */
void swz_abi_classify(Dwarf_Die *of, uint64_t offset,
		      enum swz_abi_class halves[2], unsigned depth);

/* Objects with a copy constructor or a destructor of their own are passed by
 * the address of a copy. Clang says which those are. */
bool swz_abi_by_address(Dwarf_Die *type);

#endif
