#ifndef SWZ_PROFILE_NAMES_RUST_LAYOUT_H
#define SWZ_PROFILE_NAMES_RUST_LAYOUT_H

/* How rustc passes an object by value, from its type alone: it makes a scalar,
 * or a pair of scalars, of what has no more than that in it (rustc_abi,
 * "backend representation"). */

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum swz_rust_shape {
	SWZ_RUST_NOTHING, /* it has no size, and takes no register */
	SWZ_RUST_SCALAR,
	SWZ_RUST_PAIR,
	SWZ_RUST_AGGREGATE, /* bytes in registers, or an address */
	SWZ_RUST_UNKNOWN    /* versions of rustc differ, or it is a rarity */
};

struct swz_rust_scalar {
	uint64_t offset, bytes;
	bool is_float;
};

struct swz_rust_layout {
	enum swz_rust_shape shape;
	struct swz_rust_scalar of[2]; /* SCALAR, PAIR; by their offsets */
};

/* TYPE is peeled. */
struct swz_rust_layout swz_rust_layout(Dwarf_Die *type);

#endif
