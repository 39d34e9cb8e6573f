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
 * A region is written while it is read+write, then sealed read+execute. */

#include "thunks/relocate.h"

struct swz_trampolines {
	uint8_t *start; /* the hook's address, then trampolines */
	size_t bytes;
	size_t used;
};

/* Bytes to reserve for this many functions. */
size_t swz_trampolines_room(uint32_t functions);

/* Maps a region that reaches [start, end). SWZ_E_NOMEM: no hole there. */
enum swz_status swz_trampolines_open(struct swz_trampolines *region,
				     uint64_t start, uint64_t end, size_t bytes,
				     void (*hook)(void)) SWZ_MUST_CHECK;

/* Writes a trampoline for the function whose patch site has this code and
 * (run-time) address, displacing `wanted` bytes or more (at least
 * SWZ_JUMP_BYTES); returns its start, or NULL with *refusal set.
 * *displaced is the number of bytes of the site that it stands for. */
const uint8_t *swz_trampoline_write(struct swz_trampolines *region,
				    struct swz_decoder *decoder,
				    struct swz_bytes site, uint64_t address,
				    unsigned wanted, uint32_t function_id,
				    uint8_t *displaced,
				    enum swz_refusal *refusal);

/* Where a trampoline's body begins, and whether these are the first bytes of
 * one. */
#define SWZ_TRAMPOLINE_BODY 18
bool swz_trampoline_is(const uint8_t *code);

/* Unmaps what is unused, makes the rest executable. */
enum swz_status swz_trampolines_seal(struct swz_trampolines *region)
	SWZ_MUST_CHECK;

/* Writes the jump to the trampoline at `site` (writable now). */
void swz_patch_write(uint8_t *site, const uint8_t *trampoline);

#endif
