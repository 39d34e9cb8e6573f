#ifndef SWIZZLE_H
#define SWIZZLE_H

/* What a program may ask of the profiler that it runs under. The functions are
 * in libswizzle.so, which a profiled program has loaded already: look them up
 * with dlsym(RTLD_DEFAULT, ...) so that the program needs no library of ours
 * otherwise. Or link it with -lswizzle: it is profiled only under swizzle-run
 * all the same. All are async-signal-safe and thread safe.
 *
 * The library has __cyg_profile_func_enter and __cyg_profile_func_exit, too,
 * which do nothing, so that a program that was compiled with
 * -finstrument-functions can be linked with -lswizzle alone. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* While a hooked function runs, its return slot holds the address of a return
 * thunk. Returns the real return address for the address of a thunk, of
 * whichever thread; any other address is returned as it is. */
uintptr_t swizzle_resolve_return_address(uintptr_t address);

/* For the location of a return address: where the real one is kept while a
 * thunk's is there, or the location itself. What is stored at the result takes
 * effect at the return. The form is that of V8's ReturnAddressLocationResolver
 * (v8-initialization.h). The location must be readable. */
uintptr_t swizzle_resolve_return_location(uintptr_t location);

#ifdef __cplusplus
}
#endif

#endif
