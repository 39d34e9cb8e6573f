/* A child has a copy of all that is ours in its parent, at the same addresses:
 * code, library, its thread's borrowed stack. In the library's control block it
 * says who attached. So children of children are found, too, and those whose
 * parent has ended; and each is detached from as its parent was. */

#include "control/children.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/process_start.h"
#include "control/finish.h"
#include "control/injected.h"
#include "control/patch.h"
#include "watch/proc_task.h"

#define ROUNDS 50u /* they may fork meanwhile */

struct search {
	const struct swz_attached *parent;
	uint64_t our_start;
	struct swz_children *children;
	bool again;
};

static bool is_open(uint32_t state)
{
	return state != SWZ_CONTROL_IDLE && state != SWZ_CONTROL_ENDED &&
	       state != SWZ_CONTROL_FAILED;
}

static bool is_ours(const struct search *s, const struct swz_attached *child)
{
	return child->control.controller_pid == getpid() &&
	       child->control.controller_start == s->our_start &&
	       is_open(child->control.state);
}

/* Forked while the library's thread planned: nothing is patched, but modules
 * are held. */
static bool release(struct swz_attached *child)
{
	uint64_t result;

	return swz_injected_call(child, child->control.release, 0, 0, true,
				 &result);
}

static bool end(struct swz_attached *child)
{
	if (!swz_attached_lock(child, 0))
		return false;
	if (!swz_borrow_begin(&child->borrower, child->control.region))
		return swz_attached_fail(child, "%s", child->borrower.problem);
	switch (child->control.state) {
	case SWZ_CONTROL_COMMITTED:
	case SWZ_CONTROL_RECORDING:
		return swz_attach_patch(child, false) &&
		       swz_attach_finish(child);
	case SWZ_CONTROL_ENDING:
		return swz_attach_finish(child);
	default:
		return release(child) && swz_attach_finish(child);
	}
}

static void look_at(void *context, int32_t pid)
{
	struct search *s = context;
	struct swz_children *children = s->children;
	struct swz_attached child;

	/* (it began after us) */
	if (pid == getpid() || pid == s->parent->target.pid ||
	    swz_process_start(pid) < s->our_start)
		return;
	if (swz_attached_open(&child, pid)) {
		child.control_at = s->parent->control_at;
		if (swz_attached_read(&child) && is_ours(s, &child)) {
			if (end(&child)) {
				children->ended++;
				s->again = true;
			} else if (swz_process_start(pid)) {
				children->left++;
				snprintf(children->problem,
					 sizeof(children->problem),
					 "process %d: %.900s", (int)pid,
					 child.problem);
			}
		}
	}
	swz_attached_close(&child);
}

void swz_attach_end_children(const struct swz_attached *attached,
			     struct swz_children *children)
{
	struct search search = {.parent = attached,
				.our_start = swz_process_start(0),
				.children = children,
				.again = true};

	*children = (struct swz_children){0};
	for (unsigned i = 0; search.again && i < ROUNDS; i++) {
		search.again = false;
		children->left = 0;
		swz_proc_numbers("/proc", look_at, &search);
	}
}
