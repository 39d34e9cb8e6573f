#ifndef SWIZZLE_THUNK_H
#define SWIZZLE_THUNK_H

/* The sampler finds real return addresses behind the thunks of another process
 * by this. The address that a hooked function finds as its return address lies
 * in the address range of libswizzle.so, SWZ_THUNK_T bytes behind the start of
 * a thunk's code. The real return address is in the thunk's data. See
 * docs/internals/thunks.md. */

#define SWZ_THUNK_CODE_BYTES 64u
#define SWZ_THUNK_T 6u
#define SWZ_THUNK_DATA_DISTANCE 0x100000u /* from the code to the data */
#define SWZ_THUNK_REAL_RETURN 8u          /* in the data */

#endif
