/* Holds the assembly's numbers against the structures. */

#include <stddef.h>

#include "asm/x86_64/offsets.h"
#include "runtime/imports/plan.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/thread.h"
#include "swizzle/format.h"
#include "thunks/arena.h"

#define SAME(number, type, member) \
	_Static_assert((number) == offsetof(struct type, member), #number)

SAME(SWZ_THREAD_LINKS, swz_thread, links);
SAME(SWZ_THREAD_KEY, swz_thread, key);
SAME(SWZ_THREAD_TOP, swz_thread, top);
SAME(SWZ_THREAD_TABLES, swz_thread, tables);
SAME(SWZ_THREAD_OPEN, swz_thread, open);
SAME(SWZ_THREAD_RECORD, swz_thread, record);
SAME(SWZ_THREAD_EPOCH, swz_thread, epoch);
SAME(SWZ_THREAD_FILE, swz_thread, file);
SAME(SWZ_THREAD_EXPECTED, swz_thread, expected);
SAME(SWZ_THREAD_COLD, swz_thread, cold);
SAME(SWZ_THREAD_EVENT, swz_thread, event);
SAME(SWZ_THREAD_MIN_TICKS, swz_thread, min_ticks);
SAME(SWZ_THREAD_SEEN, swz_thread, seen);

SAME(SWZ_COLD_RECORDS, swz_thread_cold, records);
SAME(SWZ_COLD_RANDOM, swz_thread_cold, random);
SAME(SWZ_COLD_HOME_LOW, swz_thread_cold, home_low);
SAME(SWZ_COLD_HOME_HIGH, swz_thread_cold, home_high);

SAME(SWZ_DLSYM_START, swz_dlsym_way, start);
SAME(SWZ_DLSYM_END, swz_dlsym_way, end);
SAME(SWZ_DLSYM_RETURN, swz_dlsym_way, return_at);

SAME(SWZ_LINKS_FREE, swz_links, free);
SAME(SWZ_LINKS_FIRST, swz_links, first);
SAME(SWZ_LINKS_NEXT, swz_links, next);
SAME(SWZ_LINKS_CHILDREN, swz_links, children);
SAME(SWZ_LINKS_TABLE, swz_links, children[SWZ_TABLE_AT]);
SAME(SWZ_LINKS_TABLE_MASK, swz_links, children[SWZ_TABLE_MASK]);
_Static_assert(sizeof(struct swz_links) == 1 << SWZ_LINKS_SHIFT, "links");

SAME(SWZ_THUNK_BODY, swz_thunk, body);
SAME(SWZ_THUNK_RETURN, swz_thunk, return_address);
SAME(SWZ_THUNK_NODE, swz_thunk, node);
SAME(SWZ_THUNK_START, swz_thunk, start_ticks);
SAME(SWZ_THUNK_PARENT, swz_thunk, parent);
SAME(SWZ_THUNK_NEXT_FREE, swz_thunk, next_free);
SAME(SWZ_THUNK_LINK, swz_thunk, link);
SAME(SWZ_THUNK_SLOT, swz_thunk, slot);
SAME(SWZ_THUNK_PENDING, swz_thunk, pending);

SAME(SWZ_NODE_KEY, swz_node, function);
SAME(SWZ_NODE_KEY + 4, swz_node, parent);
SAME(SWZ_NODE_CALL_SITE, swz_node, call_site);
SAME(SWZ_NODE_CALLS, swz_node, calls);
SAME(SWZ_NODE_TICKS, swz_node, ticks);
SAME(SWZ_NODE_OUTER_TICKS, swz_node, outer_ticks);
SAME(SWZ_NODE_MIN_TICKS, swz_node, min_ticks);
SAME(SWZ_NODE_WEIGHT, swz_node, weight);
SAME(SWZ_NODE_SKIP, swz_node, skip);
SAME(SWZ_NODE_SCORE, swz_node, score);
SAME(SWZ_NODE_TIMED, swz_node, timed);
SAME(SWZ_NODE_SQUARES, swz_node, squares);
SAME(SWZ_NODE_MAX_TICKS, swz_node, max_ticks);
SAME(SWZ_NODE_CONTEXT, swz_node, context);
SAME(SWZ_NODE_OPEN, swz_node, open);

_Static_assert(SWZ_NODE_OPEN_ONE == 1 << SWZ_NODE_OPEN_SHIFT, "open");
_Static_assert(SWZ_NODE_OPEN_PASS == SWZ_NODE_PASS, "open");
_Static_assert(SWZ_EVENT_RETURN_KIND == SWZ_EVENT_RETURN, "events");
_Static_assert(SWZ_EVENT_SHIFT_TICKS == SWZ_EVENT_TICKS_SHIFT, "events");
_Static_assert(SWZ_EVENT_SHIFT_NODE == SWZ_EVENT_NODE_SHIFT, "events");
_Static_assert(SWZ_TURN_IS_AGAIN == SWZ_TURN_AGAIN, "events");
_Static_assert(SWZ_EVENT_PAGE_MASK == SWZ_EVENT_PAGE - 1, "events");
_Static_assert(SWZ_EVENT_MOST_TICKS == (1 << SWZ_EVENT_TICKS_BITS) - 1,
	       "events");
_Static_assert(SWZ_FILTER_IS_ONLY == SWZ_FILTER_ONLY, "filters");
_Static_assert((uint32_t)SWZ_NODE_IS_ROOT == SWZ_FUNCTION_ROOT, "root");

_Static_assert(SWZ_REQUEST_PAUSED ==
		       SWZ_REQUEST_OFFSET +
			       offsetof(struct swz_request, paused),
	       "request");
SAME(SWZ_RECORD_LAST, swz_thread_record, last_ticks);
