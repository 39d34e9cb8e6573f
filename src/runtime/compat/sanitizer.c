/* What the run-time libraries of compilers' sanitizers ask the program that
 * they are in. They look the functions up by name and take the first: the
 * program's own, if it has one, before ours.
 *
 * AddressSanitizer's shared runtime refuses to start if it is not the first
 * library, for the sake of what may hide its own malloc and the like; we hide
 * nothing, but are before it. And the sanitizers record a stack with each
 * malloc by following the saved %rbp; these must be the program's functions and
 * not our thunks. Where the load that finds them could not be made to see what
 * thunks stand for (runtime/discovery/frame_walker.h), they are told to use
 * unwind tables, which takes some 30 times longer. */

#include "runtime/compat/sanitizer.h"

#include "runtime/discovery/frame_walker.h"
#include "runtime/support/config.h"

#define PUBLIC __attribute__((visibility("default")))
#define FIRST "verify_asan_link_order=0"
#define BY_UNWIND_TABLES \
	"fast_unwind_on_malloc=0:fast_unwind_on_check=0:fast_unwind_on_fatal=" \
	"0"

static bool sees_through_thunks;

#define JMP 0xe9

void swz_sanitizer_patched(const struct swz_module *m)
{
	for (uint32_t i = 0; i < m->inner_site_count; i++) {
		uint64_t at = m->inner_sites[i].at;
		const struct swz_function *f = swz_function_at(m, at);

		if (!m->inner_sites[i].keeps_opcode && f &&
		    swz_is_frame_walker(f) && *swz_module_bytes(m, at) == JMP)
			sees_through_thunks = true;
	}
}

PUBLIC const char *__asan_default_options(void)
{
	if (swz_config.linked)
		return "";
	return sees_through_thunks ? FIRST : FIRST ":" BY_UNWIND_TABLES;
}

PUBLIC const char *__lsan_default_options(void)
{
	return swz_config.linked || sees_through_thunks ? "" : BY_UNWIND_TABLES;
}
