#ifndef SWZ_ASM_OFFSETS_H
#define SWZ_ASM_OFFSETS_H

/* Offsets in C structures that the hooks use; src/runtime/start.c asserts each.
 */

/* struct swz_thread (src/runtime/record/thread.h) */
#define SWZ_THREAD_LINKS 0
#define SWZ_THREAD_KEY 8
#define SWZ_THREAD_TOP 16
#define SWZ_THREAD_EXPECTED 24
#define SWZ_THREAD_OPEN 32
#define SWZ_THREAD_RECORD 40
#define SWZ_THREAD_EPOCH 48
#define SWZ_THREAD_FILE 56
#define SWZ_THREAD_TABLES 64
#define SWZ_THREAD_COLD 72
#define SWZ_THREAD_EVENT 80
#define SWZ_THREAD_MIN_TICKS 88
#define SWZ_THREAD_SEEN 96
#define SWZ_THREAD_TIMES 120

/* struct swz_thread_cold */
#define SWZ_COLD_RECORDS 8
#define SWZ_COLD_RANDOM 16
#define SWZ_COLD_HOME_LOW 24
#define SWZ_COLD_HOME_HIGH 32

/* The expression for a thunk's CFA, in bytes (asm/x86_64/arena.S): by its
 * beginning src/runtime/hooks/unwind.c finds it. */
#define SWZ_THUNK_CFA_BYTES 20

/* So far below the slot the entry hooks keep the program's %rbp when they call
 * C (enter.S). */
#define SWZ_SAVED_RBP 88

/* struct swz_dlsym_way (src/runtime/imports/imports.h) */
#define SWZ_DLSYM_START 0
#define SWZ_DLSYM_END 8
#define SWZ_DLSYM_RETURN 16

/* struct swz_links (src/runtime/record/thread.h), 32 bytes */
#define SWZ_LINKS_FREE 0
#define SWZ_LINKS_FIRST 8
#define SWZ_LINKS_NEXT 12
#define SWZ_LINKS_CHILDREN 16
#define SWZ_LINKS_TABLE \
	16 /* in place of children: src/runtime/record/edge_table.h */
#define SWZ_LINKS_TABLE_MASK 20
#define SWZ_LINKS_SHIFT 5
#define SWZ_IS_LIST 1  /* a bit of `free`: src/runtime/record/context.h */
#define SWZ_CHILDREN 4 /* a power of two */

/* An edge that shares its thunks may get its own each time it has been called
 * so many times again: a power of two (src/runtime/hooks/thread_thunks.c). */
#define SWZ_HOT_CALLS 128

/* struct swz_thunk (thunks/arena.h) */
#define SWZ_THUNK_BODY 0
#define SWZ_THUNK_RETURN 8
#define SWZ_THUNK_NODE 16   /* units */
#define SWZ_THUNK_PARENT 20 /* units */
#define SWZ_THUNK_START 24
#define SWZ_THUNK_NEXT_FREE 32
#define SWZ_THUNK_LINK 40
#define SWZ_THUNK_SLOT 48
#define SWZ_THUNK_PENDING 56
#define SWZ_IS_CLOSED 1 /* as the address of a record */
#define SWZ_IS_JUMPS 2  /* a bit of it: src/runtime/record/thread.h */
#define SWZ_JUMPS_SHIFT 8

/* struct swz_node (include/swizzle/format.h) */
#define SWZ_NODE_KEY 0 /* function, and parent above it */
#define SWZ_NODE_FUNCTION 0
#define SWZ_NODE_CALL_SITE 8
#define SWZ_NODE_CALLS 16
#define SWZ_NODE_TICKS 24
#define SWZ_NODE_OUTER_TICKS 32
#define SWZ_NODE_WEIGHT 32
#define SWZ_NODE_MIN_TICKS 40
#define SWZ_NODE_SKIP 40
#define SWZ_NODE_SCORE 41
#define SWZ_NODE_TIMED 44
#define SWZ_NODE_MAX_TICKS 48
#define SWZ_NODE_SQUARES 48
#define SWZ_NODE_CONTEXT 56
#define SWZ_NODE_OPEN 60

/* The low bits of a thunk's start_ticks (src/runtime/record/sampling.h) */
#define SWZ_START_LEVEL 3 /* a mask */
#define SWZ_START_UNTIMED 4
#define SWZ_START_UNSEEN 8
#define SWZ_START_STEP 16

/* Sampling (src/runtime/record/sampling.c). From so many ticks on a call is
 * long: the clock costs some thousandths of it. At a score of so much the level
 * rises. */
#define SWZ_LONG_TICKS 16384
/* From so many on it counts for itself alone. Frames that know no time are
 * looked for at times that are so far apart. */
#define SWZ_ALONE_TICKS 131072
#define SWZ_SEE_TICKS 16384
#define SWZ_SCORE_OF_LEVEL 16
#define SWZ_LEVEL_SHIFT 4 /* of swz_node.open */
/* The state of the random numbers is multiplied by this, and one is added
 * (Knuth, "The Art of Computer Programming" 2, 3.3.4: the multiplier of MMIX).
 */
#define SWZ_RANDOM_MULTIPLIER 6364136223846793005

/* Events (include/swizzle/format.h, src/runtime/record/events.h) */
#define SWZ_EVENT_PAGE_MASK 0xfff
#define SWZ_EVENT_MOST_TICKS 0x1fffffff
#define SWZ_EVENTS_OFF -8
#define SWZ_EVENT_RETURN_KIND 1
#define SWZ_EVENT_SHIFT_TICKS 3
#define SWZ_EVENT_SHIFT_NODE 32
#define SWZ_TURN_IS_AGAIN 1

/* Histograms (include/swizzle/format.h, src/base/time_bucket.h): log2 of how many
 * buckets an octave has; a unit is a chunk, whose body is behind its header. */
#define SWZ_BLOCK_SHIFT 6
#define SWZ_NOTED_TIME (1 << 16)
#define SWZ_CHUNK_BODY 64

/* struct swz_thread_record (include/swizzle/format.h) */
#define SWZ_RECORD_LAST 16

/* struct swz_request in the header's page */
#define SWZ_REQUEST_PAUSED 2052

#define SWZ_NODE_OPEN_ONE 256
#define SWZ_NODE_OPEN_PASS 1
#define SWZ_NODE_OPEN_CYCLE 128
#define SWZ_NODE_IS_ROOT -1  /* its function */
#define SWZ_FILTER_IS_ONLY 1 /* src/runtime/record/annotations.h */

/* Thunk units. A unit is 1 MiB of code, then 1 MiB of data; code and data of
 * a thunk are 64 bytes each, at the same offset of their half. */
#define SWZ_UNIT_CODE_BYTES 0x100000
#define SWZ_THUNK_BYTES 64
#define SWZ_THUNK_AFTER_CALL 6 /* the thunk address T, from its code's start \
				*/
#define SWZ_THUNK_RETURN_PUSHED 12
#define SWZ_THUNK_RAX_PUSHED 13
#define SWZ_ARENA_BYTES 0x20000000 /* 512 MiB: 4 Mi live frames */

/* The hash in a context's table: ((site + 9 * function + key) * this) >> 33.
 * Among its children, while they are few, an edge's first place is the sum's
 * last bits. */
#define SWZ_HASH_MULTIPLIER 0x9e3779b97f4a7c15
#define SWZ_HASH_SHIFT 33
/* How many places from there on the hooks look at (asm/x86_64/macros.h). */
#define SWZ_TABLE_PROBES 5
/* A table lies so many times 2^this bytes before the end of the room for
 * tables. */
#define SWZ_TABLE_SHIFT 4

#endif
