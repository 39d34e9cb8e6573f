#include "runtime/hooks/hook_choice.h"

#include "runtime/record/events.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/sampling.h"
#include "thunks/leaders.h"

void swz_hook_enter(void);
void swz_hook_enter_filtered(void);
void swz_hook_enter_sampled(void);
void swz_hook_enter_sampled_filtered(void);
void swz_hook_enter_leaf(void);
void swz_hook_enter_leaf_filtered(void);
void swz_hook_enter_traced(void);
void swz_hook_enter_traced_filtered(void);
void swz_hook_enter_captured(void);
void swz_past_hook(void);

void swz_hook_exit(void);
void swz_hook_exit_following(void);

void swz_hooks_begin(void)
{
	/* the others have been set where that was decided */
	if (!swz_sampling && !swz_tracing)
		swz_arena_set_exit(swz_hook_exit, swz_hook_exit_following);
	swz_leaders_begin();
}

const struct swz_hooks *swz_hooks_choose(void)
{
#define ARENA \
	{swz_arena_start, swz_arena_end}, swz_hook_enter_captured, swz_past_hook
	static const struct swz_hooks exact[] = {
		{swz_hook_enter, swz_hook_enter, ARENA},
		{swz_hook_enter_filtered, swz_hook_enter_filtered, ARENA},
	};
	static const struct swz_hooks traced[] = {
		{swz_hook_enter_traced, swz_hook_enter_traced, ARENA},
		{swz_hook_enter_traced_filtered, swz_hook_enter_traced_filtered,
		 ARENA},
	};
	static const struct swz_hooks sampled[] = {
		{swz_hook_enter_sampled, swz_hook_enter_leaf, ARENA},
		{swz_hook_enter_sampled_filtered, swz_hook_enter_leaf_filtered,
		 ARENA},
	};

#undef ARENA
	if (swz_tracing)
		return &traced[swz_ids_filtered];
	return swz_sampling ? &sampled[swz_ids_filtered]
			    : &exact[swz_ids_filtered];
}
