/* What the run-time libraries of compilers' sanitizers ask the program that
 * they are in. They look the functions up by name and take the first: the
 * program's own, if it has one, before ours.
 *
 * AddressSanitizer's shared runtime refuses to start if it is not the first
 * library, for the sake of what may hide its own malloc and the like; we hide
 * nothing, but are before it. And the sanitizers record a stack with each
 * malloc by following the saved %rbp; these must be the program's functions and
 * not our thunks, so they are told to use unwind tables. */

#include "runtime/compat/sanitizer.h"

#define PUBLIC __attribute__((visibility("default")))
#define BY_UNWIND_TABLES \
	"fast_unwind_on_malloc=0:fast_unwind_on_check=0:fast_unwind_on_fatal=" \
	"0"

PUBLIC const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0:" BY_UNWIND_TABLES;
}

PUBLIC const char *__lsan_default_options(void)
{
	return BY_UNWIND_TABLES;
}
