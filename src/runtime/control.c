#include "runtime/control.h"

#include <stddef.h>
#include <stdint.h>

#include "runtime/record/file.h"
#include "runtime/record/thread.h"
#include "runtime/support/live_sites.h"
#include "thunks/arena.h"

/* asm/x86_64/landing.S: three of 64 bytes, the last one somewhat longer */
void swz_landing_rax_pushed(void);
#define LANDING_BYTES 256

extern const char swz_hooks_start[], swz_hooks_end[];

static int64_t slot_of(const void *variable)
{
	return (const char *)variable -
	       (const char *)__builtin_thread_pointer();
}

void swz_control_describe(void)
{
	struct swz_control *c = &swizzle_control;

	c->thread_slot = slot_of(&swz_thread_self);
	c->aside_slot = slot_of(&swz_thread_aside);
	c->nobody = (uintptr_t)&swz_nobody;
	c->paused = (uintptr_t)&swz_paused_process;
	c->file_offset = offsetof(struct swz_thread, file);
}

bool swz_control_begin_tables(void)
{
	if (!swz_live_sites_begin())
		return false;
	swz_live_sites_code(swz_hooks_start,
			    (uintptr_t)swz_hooks_end -
				    (uintptr_t)swz_hooks_start);
	swz_live_sites_code((const void *)&swz_landing_rax_pushed,
			    LANDING_BYTES);
	/* a thunk that is about to call goes to a trampoline */
	swz_live_sites_code(swz_arena_start,
			    (uintptr_t)swz_arena_end -
				    (uintptr_t)swz_arena_start);
	return true;
}
