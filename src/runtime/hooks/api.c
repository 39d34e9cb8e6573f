#include "swizzle.h"

#include "thunks/arena.h"

#define PUBLIC __attribute__((visibility("default")))

PUBLIC uintptr_t swizzle_resolve_return_address(uintptr_t address)
{
	return swz_arena_contains(address)
		       ? swz_arena_thunk_at(address)->return_address
		       : address;
}

PUBLIC uintptr_t swizzle_resolve_return_location(uintptr_t location)
{
	uintptr_t address = *(const uintptr_t *)location;

	return swz_arena_contains(address)
		       ? (uintptr_t)&swz_arena_thunk_at(address)->return_address
		       : location;
}
