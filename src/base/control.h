#ifndef SWZ_BASE_CONTROL_H
#define SWZ_BASE_CONTROL_H

/* libswizzle.so, loaded into a process that runs already, shares this with the
 * process that loaded it (the controller, src/control/).
 *
 * One `struct swz_control` lies in the library, exported as `swizzle_control`.
 * The controller finds it by that symbol, and reads and writes it as memory of
 * another process. The target never waits for the controller longer than
 * SWZ_CONTROL_PATIENCE_NS: a controller may be killed at any moment.
 *
 * `state` says whose turn it is. All other fields belong to who has the turn;
 * the store to `state` comes last. See docs/attach.md. */

#include <stdint.h>

#define SWZ_CONTROL_MAGIC UINT64_C(0x6c6f72746e6f6373) /* "scontrol" */
#define SWZ_CONTROL_VERSION 4u
#define SWZ_CONTROL_SYMBOL "swizzle_control"
/* long (struct swz_attach_request *), on a borrowed thread: 0, or a negated
 * error */
#define SWZ_ATTACH_SYMBOL "swizzle_attach"
#define SWZ_CONTROL_PATIENCE_NS UINT64_C(5000000000)

enum swz_control_state {
	SWZ_CONTROL_IDLE,      /* loaded; no thread knows it */
	SWZ_CONTROL_PLANNING,  /* a thread of the library's own is at work */
	SWZ_CONTROL_PLANNED,   /* sites, texts are there; nothing is patched */
	SWZ_CONTROL_COMMIT,    /* controller: all other threads are stopped.
				* PLANNED is the answer where one of them is
				* about to load or unload something */
	SWZ_CONTROL_COMMITTED, /* library: patch now; its thread has ended, or
				* is about to */
	SWZ_CONTROL_RECORDING, /* controller: patched, all run */
	SWZ_CONTROL_ENDING,    /* controller: the sites are restored */
	SWZ_CONTROL_FINISHING, /* a thread of the library's own closes the
				* profile; all others are stopped */
	SWZ_CONTROL_ENDED,     /* the profile is closed, `frames_left` says
				* whether anything still leads to the library */
	SWZ_CONTROL_FAILED,    /* `message` says why; nothing is patched */
	SWZ_CONTROL_ABANDONED  /* controller: what was planned is not wanted */
};

/* Says of a process that was started with the library where its hooks are. The
 * controller (swizzle-ctl) changes it; whoever finds CHANGING may make it
 * either. */
enum swz_code_state {
	SWZ_CODE_HOOKED,   /* in the code */
	SWZ_CODE_CHANGING, /* in some of it */
	SWZ_CODE_NATIVE    /* nowhere, but for SWZ_SITE_STAYS */
};

/* When a site is written: those of a higher phase rely on those below. They are
 * restored the other way round. */
enum swz_control_phase {
	SWZ_PHASE_LINKER, /* calls by which the dynamic linker tells of changes:
			   * in the stop in which the library commits */
	SWZ_PHASE_INNER,  /* behind a function's beginning */
	SWZ_PHASE_JUMP,   /* a jump at a function's beginning */
	SWZ_PHASE_ISLAND, /* a jump that a short one leads to */
	SWZ_PHASE_SHORT,  /* the short one */
	SWZ_PHASES
};

enum {
	SWZ_SITE_GONE = 1,    /* its module was unloaded */
	SWZ_SITE_LASTS = 2,   /* the library's: see below */
	SWZ_SITE_SKIPPED = 4, /* by the controller: a thread stood in it */
	SWZ_SITE_STAYS = 8,   /* while recording is stopped, too: no function's
			       * hook (docs/control.md) */
	SWZ_SITE_ONCE = 16    /* holds a call: a thread may return into it, so
			       * once restored it is not written again */
};

/* Bytes of code that change. What the controller writes spans no two pages, and
 * a page is written at once: so a site is written or not, whatever becomes of
 * the writer.
 *
 * One jump in a thousand does span two pages. The library writes it while
 * nothing can execute it, at a program's or a module's start. It lasts
 * (SWZ_SITE_LASTS): while recording is stopped the trampoline that it leads to
 * leads past the hook, which is a site of its own. When the profile is
 * detached the library puts other pages in the place of those two
 * (src/runtime/support/live_sites.h). */
struct swz_control_site {
	uint64_t address;
	uint32_t function; /* sites with the same number belong together */
	uint32_t host;     /* the function whose bytes an island takes, or ~0 */
	uint8_t length;    /* 1 to 5 */
	uint8_t phase;
	uint8_t flags;
	uint8_t spare;
	uint8_t before[5], after[5];
	uint8_t spare2[2];
};

/* Code of ours outside the library: trampolines, bridges. */
struct swz_control_code {
	uint64_t start, end;
};

#define SWZ_CONTROL_MOST_SITES (1u << 21)
#define SWZ_CONTROL_MOST_CODE 4096u
#define SWZ_CONTROL_MESSAGE_BYTES 3072u
#define SWZ_CONTROL_PATH_BYTES 4224u

struct swz_control {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes; /* of this structure */
	/* Functions to be called on a borrowed thread. */
	uint64_t finish; /* (void): starts the thread that closes the profile */
	uint64_t release;    /* (void), as swizzle_attach: modules may be
			      * unloaded again */
	uint32_t state;      /* enum swz_control_state */
	uint32_t code_state; /* enum swz_code_state */
	/* of the controller, as the controller's own /proc has it */
	int32_t controller_pid;
	int32_t agent_tid; /* the library's own thread, while there is one */
	uint64_t controller_start;
	uint64_t heartbeat; /* counted up by the controller */
	uint64_t handle;    /* of dlopen */
	/* The word at a thread's pointer + thread_slot leads to the library's
	 * memory. It becomes `nobody` when the profile is closed. */
	int64_t thread_slot;
	uint64_t nobody;
	/* A thread is paused from outside when what it has at thread_slot, its
	 * state, is kept at paused_state_slot, and `paused` put in its place.
	 * It is a state if the word at file_offset in it is `file`. */
	int64_t paused_state_slot;
	uint64_t paused;
	uint64_t file, file_offset;
	uint64_t resume;               /* base/resume_call.h */
	uint64_t region, region_bytes; /* mapped by the controller */
	/* of the plan */
	uint64_t sites; /* struct swz_control_site[] */
	uint32_t site_count;
	uint32_t code_count;
	uint64_t code;         /* struct swz_control_code[] */
	uint64_t site_changes; /* of the table, counted by the library */
	uint32_t functions, hooked;
	uint64_t planning_ns;
	uint32_t frames_left; /* that will yet return by way of the library */
	uint32_t late_busy;   /* a thread is hooking what it has just loaded */
	uint32_t message_bytes;
	uint32_t preloaded;  /* not by an attach: it profiles from the start */
	uint32_t left_out;   /* by the controller: functions that are not hooked
			      * since recording was started again */
	uint32_t was_hooked; /* once: what frames of hooked functions need
			      * must be there from then on */
	uint32_t lasting;    /* jumps in functions that stay while recording is
			      * stopped, or when it was detached */
	uint32_t spare;
	/* Two words (-m count), which become 0 when the profile is closed. */
	int64_t count_slot;
	char path[SWZ_CONTROL_PATH_BYTES]; /* of the profile */
	char message[SWZ_CONTROL_MESSAGE_BYTES];
};

/* Handed to swizzle_attach. All pointers are the target's, and stay valid. */
struct swz_attach_request {
	uint64_t environment; /* char **: the settings, SWIZZLE_*; behind its
			       * NULL an auxiliary vector */
	uint64_t arguments;   /* char **: the program's */
	uint64_t argument_count;
	uint64_t main_stack; /* where the first thread's stack begins */
	uint64_t dlopen, dlclose;
	uint64_t handle;
	uint64_t region, region_bytes;
	uint64_t controller_start;
	int32_t controller_pid;
	uint32_t spare;
};

#endif
