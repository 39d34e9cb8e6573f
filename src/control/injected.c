#include "control/injected.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "control/carry.h"
#include "control/request.h"
#include "watch/clock.h"

const struct swz_target_mapping *swz_injected_mapping(
	const struct swz_target *t)
{
	for (size_t i = 0; i < t->mapping_count; i++) {
		if (swz_target_is_library(t->mappings[i].path))
			return &t->mappings[i];
	}
	return NULL;
}

bool swz_injected_find(struct swz_attached *a)
{
	const struct swz_target_mapping *m;

	if (!swz_target_read_mappings(&a->target))
		return false;
	m = swz_injected_mapping(&a->target);
	a->control_at = m ? swz_target_symbol_in(&a->target, m,
						 SWZ_CONTROL_SYMBOL)
			  : 0;
	return a->control_at && swz_attached_read(a);
}

bool swz_injected_call(struct swz_attached *a, uint64_t function,
		       uint64_t first, uint64_t second, bool safe,
		       uint64_t *result)
{
	const uint64_t arguments[4] = {first, second};
	bool done = swz_borrow_call(&a->borrower, function, arguments, safe,
				    result);

	return done || swz_attached_fail(a, "%s", a->borrower.problem);
}

bool swz_injected_call_when_free(struct swz_attached *a, uint64_t function,
				 uint64_t argument, bool safe)
{
	uint64_t end = swz_watch_now() + 2 * SWZ_CONTROL_PATIENCE_NS;
	uint64_t result;

	for (;;) {
		if (!swz_injected_call(a, function, argument, 0, safe, &result))
			return false;
		if (!result)
			return true;
		if ((int64_t)result != -EBUSY || swz_watch_now() > end)
			return swz_attached_fail(a, "the library refuses: %s",
						 strerror(-(int)result));
		swz_watch_rest(1000000);
	}
}

/* What the dynamic linker has to say. */
static bool fail_to_load(struct swz_attached *a)
{
	uint64_t function = swz_target_symbol(&a->target, "dlerror"), text = 0;
	char why[512] = "";

	if (function && swz_injected_call(a, function, 0, 0, true, &text) &&
	    text)
		(void)!pread(a->target.memory, why, sizeof(why) - 1,
			     (off_t)text);
	return swz_attached_fail(
		a, "its dynamic linker cannot load the library: %s", why);
}

/* One that an earlier attach has loaded is there to stay. */
static bool load_library(struct swz_attached *a, uint64_t open, uint64_t path,
			 uint64_t *handle)
{
	*handle = a->control_at ? a->control.handle : 0;
	if (*handle)
		return true;
	return swz_injected_call(a, open, path, RTLD_NOW, true, handle) &&
	       (*handle || fail_to_load(a));
}

/* Writes the request, loads the library. */
static bool bring(struct swz_attached *a, uint64_t open, const char *library,
		  char **environment, uint64_t *request, uint64_t *handle)
{
	const bool there = a->control_at && a->control.handle;
	struct swz_carried carried = {.fd = -1, .root = -1};
	uint64_t path;
	bool done;

	a->has_other_root = swz_carry_is_needed(a, library);
	if (a->has_other_root && !there && !swz_carry(a, library, &carried))
		return false;
	done = swz_request_write(&a->borrower,
				 carried.path[0] ? carried.path : library,
				 environment, &path, request) ||
	       swz_attached_fail(a, "the settings are too long");
	done = done && load_library(a, open, path, handle);
	swz_carry_end(a, &carried);
	return done;
}

bool swz_injected_load(struct swz_attached *a, const char *library,
		       char **environment)
{
	uint64_t open = swz_target_symbol(&a->target, "dlopen");
	uint64_t close = swz_target_symbol(&a->target, "dlclose");
	uint64_t request, handle, begin;
	struct swz_attach_request r;

	if (!open || !close)
		return swz_attached_fail(a, "its libc has no dlopen");
	if (!bring(a, open, library, environment, &request, &handle))
		return false;
	if (!swz_injected_find(a))
		return swz_attached_fail(
			a,
			"the library that is loaded is of another version "
			"than %s",
			library);
	if (!swz_target_read(&a->target, request, &r, sizeof(r)))
		return swz_attached_fail(a, "the process has ended");
	r.dlopen = open;
	r.dlclose = close;
	r.handle = handle;
	if (!swz_target_write(&a->target, request, &r, sizeof(r)))
		return swz_attached_fail(a, "the process has ended");
	begin = swz_target_symbol_in(&a->target,
				     swz_injected_mapping(&a->target),
				     SWZ_ATTACH_SYMBOL);
	return swz_injected_call_when_free(a, begin, request, true);
}

bool swz_injected_was_preloaded(struct swz_attached *a)
{
	return swz_injected_mapping(&a->target) && swz_injected_find(a) &&
	       a->control.preloaded;
}
