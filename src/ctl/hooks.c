#include "ctl/hooks.h"

#include <stdio.h>

#include "control/injected.h"
#include "control/native.h"

static void note(const struct swz_live_profile *profile, bool native)
{
	__atomic_store_n(&profile->request->native, native, __ATOMIC_RELAXED);
}

static void tell(const struct swz_attached *a, bool hooked,
		 char told[SWZ_CTL_TOLD_BYTES])
{
	char stops[SWZ_STOPS_BYTES];

	swz_attached_tell_stops(a, stops);
	snprintf(told, SWZ_CTL_TOLD_BYTES, "%s: %s",
		 hooked ? "functions hooked" : "hooks taken out", stops);
}

bool swz_ctl_hook(struct swz_live_profile *profile, int32_t pid,
		  char told[SWZ_CTL_TOLD_BYTES])
{
	static struct swz_attached a;
	bool done;

	told[0] = '\0';
	if (swz_ctl_hooks_of(profile, pid).hooks == SWZ_CTL_HOOKED)
		return true;
	done = swz_native_open(&a, pid) && swz_native_put_back(&a);
	swz_attached_close(&a);
	if (done) {
		note(profile, false);
		tell(&a, true, told);
		return true;
	}
	snprintf(profile->problem, sizeof(profile->problem),
		 "its functions cannot be hooked again: %.180s", a.problem);
	return false;
}

void swz_ctl_unhook(struct swz_live_profile *profile, int32_t pid,
		    bool detached, char told[SWZ_CTL_TOLD_BYTES])
{
	static struct swz_attached a;

	told[0] = '\0';
	if (swz_native_open(&a, pid) &&
	    (detached ? swz_native_detach(&a) : swz_native_take_out(&a))) {
		note(profile, true);
		if (a.stops.count)
			tell(&a, false, told);
	} else {
		snprintf(told, SWZ_CTL_TOLD_BYTES,
			 "its hooks stay in place and follow the request: "
			 "%.400s",
			 a.problem);
	}
	swz_attached_close(&a);
}

static enum swz_ctl_hooks hooks_by(const struct swz_control *control)
{
	switch (control->code_state) {
	case SWZ_CODE_HOOKED:
		return SWZ_CTL_HOOKED;
	case SWZ_CODE_NATIVE:
		return SWZ_CTL_NATIVE;
	default:
		return SWZ_CTL_PARTLY;
	}
}

struct swz_ctl_hooks_state swz_ctl_hooks_of(
	const struct swz_live_profile *profile, int32_t pid)
{
	static struct swz_attached a;
	struct swz_ctl_hooks_state state = {
		.hooks = __atomic_load_n(&profile->request->native,
					 __ATOMIC_RELAXED)
				 ? SWZ_CTL_NATIVE
				 : SWZ_CTL_HOOKED,
	};

	if (swz_attached_open(&a, pid) && swz_injected_find(&a)) {
		state.hooks = hooks_by(&a.control);
		state.left_out = a.control.left_out;
		state.lasting = a.control.lasting;
	}
	swz_attached_close(&a);
	return state;
}
