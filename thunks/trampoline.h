#ifndef SWZ_THUNKS_TRAMPOLINE_H
#define SWZ_THUNKS_TRAMPOLINE_H

/* Trampolines: the entry side, one per hooked function, in a region within
 * reach of its module.
 *
 *     push %rax
 *     lea  body(%rip), %rax
 *     jmp  *hook(%rip)
 *     .long function id
 * body:
 *     displaced instructions, relocated, and a jump to the rest
 *
 * With -m count the code of thunks/counting.h lies between head and body, and
 * is where the jump goes; what is called a function's trampoline is then that
 * place.
 *
 * A region is written while it is read+write, then sealed read+execute. It ends
 * in unwind information for its trampolines.
 * See docs/internals/relocation.md. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/eh_frame.h"
#include "thunks/counting.h"
#include "thunks/unwind_table.h"

/* The regions of trampolines that there are, for those who look for unwind
 * information. Finding takes no lock and is async-signal-safe; adding and
 * removing is for one thread at a time. */

struct swz_region {
	const uint8_t *start;
	size_t bytes;
	const uint8_t *unwind_header; /* its .eh_frame_hdr */
	/* Jumps into the region that lie in foreign places: their distances
	 * from `start`, in order. The unwind information is theirs too. */
	const int32_t *islands;
	uint32_t island_count;
};

/* At most 4096 regions are known; false: it is not. Those of modules that are
 * gone should not be: all are looked at for each frame that is unwound. */
bool swz_region_add(const struct swz_region *region);
void swz_region_remove(const uint8_t *start);

/* The region that holds the address, or the place of one of its islands that
 * does (start and bytes are the island's then); false: none does. */
bool swz_region_at(uint64_t address, struct swz_region *found);

/* The region at place `*at`, or at the next that holds one; moves *at behind
 * it. Begin with 0; false: there are no more. */
bool swz_region_next(unsigned *at, struct swz_region *found);

/* The code that trampolines refer to. */
struct swz_hooks {
	void (*any)(void);
	void (*leaf)(void);     /* those of functions that call nothing */
	const char *arena[2];   /* of return thunks: where it begins and ends */
	void (*captured)(void); /* those of functions whose arguments are
				 * recorded: see swz_trampoline_capture */
	void (*past)(void);     /* those that lead past their hooks at present:
				 * see swz_trampoline_switch */
	struct swz_count_access access; /* with `counts` */
	bool counts;                    /* calls are counted on the way */
	bool first_only;                /* with `counts`: first calls are */
	uint32_t factor_bytes; /* in a sealed region: see swz_trampolines */
};

struct swz_trampolines {
	uint8_t *start; /* swz_hooks, then trampolines */
	size_t bytes;
	size_t used;
	size_t code_bytes; /* of those, before the unwind information: once it
			    * is sealed */
	struct swz_unwind_table unwind;
	/* with `counts`: of pages below `start`, which hold factors; factor N
	 * lies N + 1 words below it, and number 0 stays 0 */
	size_t factor_bytes;
	uint32_t factor_count, factor_room;
	int32_t *islands; /* see swz_region; in the region once it is sealed */
	uint32_t island_count, island_room;
	struct swz_region sealed; /* as unwinders know it */
	/* of a part: where it begins, and offsets of the 32-bit displacements
	 * in it to what is not in the same trampoline */
	bool is_part;
	size_t begin;
	uint32_t *outward;
	uint32_t outward_count, outward_room;
};

/* A stub between a function and its callers: control goes to `entry`, an
 * assembly stub, with %r10 = `data` and %rax = the relocated function, all
 * other registers as the caller left them: %r11 may have the number of a
 * relocation, on the way through mold's PLT to the dynamic linker. For
 * functions that leave %rax and %r10 to their callers' care. */
struct swz_wrapper {
	void (*entry)(void);
	const void *data;
};

/* A function to be hooked. */
struct swz_patch_site {
	struct swz_bytes code; /* from the site on: the function's, padding */
	uint64_t address;      /* of the site, at run time */
	unsigned wanted;       /* bytes to displace at least */
	uint32_t function_id;
	bool is_leaf;                      /* see thunks/relocate.h */
	const uint8_t *loads;              /* of the return address: offsets */
	uint8_t load_count;                /* of these */
	uint8_t loads_keep_flags;          /* a bit for each */
	const struct swz_fde *fde;         /* the function's, or NULL */
	uint64_t fde_address;              /* of the site, as the fde counts */
	const struct swz_wrapper *wrapper; /* or NULL */
};

/* Maps BYTES within reach of [start, end), and below it, if calls are counted,
 * room for so many factors. False: no hole there. */
bool swz_trampolines_map(struct swz_trampolines *region, uint64_t start,
			 uint64_t end, size_t bytes,
			 uint32_t factors) SWZ_MUST_CHECK;

/* Maps a region that reaches [start, end). `scratch` (of at least
 * swz_unwind_table_bytes(functions) bytes) is needed until the region is
 * sealed; with NULL it gets no unwind information. SWZ_E_NOMEM: no hole there.
 */
enum swz_status swz_trampolines_open(
	struct swz_trampolines *region, uint64_t start, uint64_t end,
	uint32_t functions, void *scratch,
	const struct swz_hooks *hooks) SWZ_MUST_CHECK;

/* A region that is empty still may be filled in parts, by several threads, and
 * then be filled on. `part` is for trampolines number `first` and on, so many
 * of them; `scratch`, of swz_trampolines_part_bytes, is needed until it is
 * joined. Some of them may find no room: after the joining there is. */
size_t swz_trampolines_part_bytes(uint32_t functions);
void swz_trampolines_divide(const struct swz_trampolines *region,
			    struct swz_trampolines *part, uint32_t first,
			    uint32_t functions, void *scratch);

/* Moves the next part's trampolines to where the region's end, and returns by
 * how many bytes: they lie so much lower now. */
uint32_t swz_trampolines_join(struct swz_trampolines *region,
			      const struct swz_trampolines *part);

/* Writes a trampoline for the function; returns where the jump goes, or NULL
 * with *refusal set. *moved is the number of bytes of the site that are
 * executed in the trampoline: without a call at their end, which pushes its own
 * return address. */
const uint8_t *swz_trampoline_write(struct swz_trampolines *region,
				    struct swz_decoder *decoder,
				    const struct swz_patch_site *site,
				    uint8_t *moved, enum swz_refusal *refusal);

/* Where in the trampoline, which was written for the site, the copy of the
 * instruction at this offset from the site is; NULL: none begins there that was
 * displaced. */
const uint8_t *swz_trampoline_copy_of(const struct swz_trampolines *region,
				      struct swz_decoder *decoder,
				      const struct swz_patch_site *site,
				      const uint8_t *trampoline,
				      unsigned offset);

/* Writes a copy of the instruction at the site, a load of the return address
 * (which `loads` need not name), and of what else a jump there takes, and a
 * jump to what is behind that. NULL, and the region as before: no room or no
 * reach, it cannot be moved, or there would be nothing that tells unwinders.
 * Not in a part. */
const uint8_t *swz_trampoline_write_load(struct swz_trampolines *region,
					 struct swz_decoder *decoder,
					 const struct swz_patch_site *site);

/* Writes one for a function that stays as it is: its body is a jump to the
 * address that lies at `target`, within reach. NULL: no room, or no reach. */
const uint8_t *swz_trampoline_write_jump(struct swz_trampolines *region,
					 uint32_t function_id,
					 const uint64_t *target);

/* Writes the way to a wrapper, without a hook: the function is what lies at
 * `target`. Only the registers that any call through a PLT may change are. */
const uint8_t *swz_trampoline_write_wrapper(struct swz_trampolines *region,
					    const struct swz_wrapper *wrapper,
					    const uint64_t *target);

/* Where a trampoline's body begins; what of it leads to a wrapper. */
#define SWZ_TRAMPOLINE_BODY 18
#define SWZ_TRAMPOLINE_WRAPPING 31

/* Writes that part. */
void swz_trampoline_wrap(uint8_t *body, const struct swz_wrapper *wrapper);

/* True if the processor keeps a second stack of return addresses (CET) for this
 * thread, to which displaced calls do not conform. */
bool swz_has_shadow_stack(void);

/* The trampoline of the region (its start), which may be written to now, goes
 * to hooks->captured instead of the hook that it has: a leaf's is another one.
 */
void swz_trampoline_capture(uint8_t *trampoline, const uint8_t *region);

/* The four bytes of a trampoline that say which hook it goes to, or which
 * factor it takes; *PAST: those with which it goes past it. They belong to one
 * instruction, so a thread may be anywhere when they are changed. REGION: where
 * its trampolines begin. */
#define SWZ_TRAMPOLINE_SWITCH_BYTES 4
const uint8_t *swz_trampoline_switch(const uint8_t *trampoline,
				     const uint8_t *region,
				     uint8_t past[SWZ_TRAMPOLINE_SWITCH_BYTES]);

/* The 5-byte jump to one of the trampolines will lie at `at`, not in a function
 * of its own: makes unwinders know. `scratch` is the caller's, for `room`
 * islands in all. False: there is no room. */
void swz_trampolines_hold_islands(struct swz_trampolines *region,
				  int32_t *scratch, uint32_t room);
bool swz_trampolines_add_island(struct swz_trampolines *region,
				uint64_t at) SWZ_MUST_CHECK;

/* Unmaps what is unused, makes the rest executable and its unwind information
 * known to swz_region_at. */
enum swz_status swz_trampolines_seal(struct swz_trampolines *region)
	SWZ_MUST_CHECK;

/* True if unwinders know of it, at first they do: not where its module is gone,
 * as something else may lie where its islands were. */
void swz_trampolines_show(const struct swz_trampolines *region, bool shown);

/* Unmaps it; nothing may lead to it any more. */
void swz_trampolines_close(struct swz_trampolines *region);

/* A jump that fills 2 bytes only. */
#define SWZ_SHORT_JUMP_BYTES 2

/* Writes the jump to the trampoline at `site`, or, if `island` is not 0, at
 * that distance from it, and at the site a short jump there (all writable now).
 */
void swz_patch_write(uint8_t *site, int island, const uint8_t *trampoline);

/* Has a branch with a distance of 32 bits, of which the last byte before that
 * is at `at` (writable now), go to the target. */
void swz_patch_lead(uint8_t *at, const uint8_t *target);

/* From a function, as its code is now, to the way past its hook. The controller
 * may take the hook out or put it in at any moment, while it has stopped all
 * threads (base/control.h): what is returned was right then, and leads on, but
 * it may be the function itself, which is hooked by now. */

/* The way past a function's hook, if it has one: its relocated prologue. NULL
 * for NULL. */
const void *swz_unhooked(const void *function);

/* Returns where a function that leads to this wrapper goes on behind it; NULL:
 * it does not lead there. */
const void *swz_unwrapped(const void *function, void (*entry)(void));

#endif
