/* What programs call that are compiled with -finstrument-functions. For us they
 * do nothing, as the functions are hooked. Being preloaded, we stand before the
 * library that another tool brings for them: it gets the calls. */

#include <stdatomic.h>
#include <stddef.h>

#include "runtime/module/dynamic_symbol.h"

#define PUBLIC __attribute__((visibility("default"), weak))

typedef void profile_function(void *function, void *call_site);

static void do_nothing(void *function, void *call_site)
{
	(void)function;
	(void)call_site;
}

/* The one that would be called without us; looked up once. */
static profile_function *next(_Atomic(void *) *known, const char *name)
{
	void *found = atomic_load_explicit(known, memory_order_relaxed);
	profile_function *function;

	if (!found) {
		found = swz_next_symbol(name);
		if (!found) {
			function = do_nothing;
			found = *(void **)&function;
		}
		atomic_store_explicit(known, found, memory_order_relaxed);
	}
	*(void **)&function = found;
	return function;
}

PUBLIC void __cyg_profile_func_enter(void *function, void *call_site);
PUBLIC void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
	static _Atomic(void *) known;

	next(&known, "__cyg_profile_func_enter")(function, call_site);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	static _Atomic(void *) known;

	next(&known, "__cyg_profile_func_exit")(function, call_site);
}
