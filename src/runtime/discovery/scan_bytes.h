#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_BYTES_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_BYTES_H

/* The search of scan_branches.c for bytes that look like a branch to a marked
 * byte. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "image/eh_frame.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/module/module.h"
#include "runtime/support/worker_threads.h"
#include "thunks/encoding.h"

/* A piece of a text that is searched for itself, by any thread. What the first
 * search finds out is noted, so that it can be made again with other marks in a
 * tenth of the time. */
struct swz_byte_part {
	uint64_t begin, end; /* where branches may be; their targets may be
			      * anywhere */
	/* of the search: offsets that long branches, jumps and calls apart,
	 * lead to, and how many there are before each block of the part; and
	 * where addresses are loaded, and what leads to other texts is */
	uint32_t *targets[2];
	uint32_t *before[2];
	uint32_t *others;
	uint32_t other_count;
	bool searched;
	bool noted; /* all of it */
};

/* One text. */
struct swz_byte_scan {
	const uint8_t *code;
	uint64_t size;
	bool stores; /* jumps through memory are to be looked at, too */
	/* Looks at what may be a branch to a marked byte, at this offset. */
	void (*look)(void *context, uint64_t at);
	/* True if something may lead to another text; an offset from here.
	 * NULL: there is none. */
	bool (*leads_on)(void *context, uint64_t to);
	/* Looks at a load of an address. True: again the next time. */
	bool (*look_at_load)(void *context, uint64_t at);
	/* bitmaps, a bit for each byte: what a branch may lead to that
	 * matters; and what a jump may, but no call */
	uint8_t *marks;
	uint8_t *starts;
	struct swz_byte_digest *digest;
	struct swz_byte_part *parts;
	unsigned part_count;
};

/* Prepares all but what is given: code, size and the parts' ends (one begins
 * where the one before ends); for the search the functions, too. In scratch
 * memory that is reused. */
enum swz_status swz_byte_scan_init(struct swz_byte_scan *scan) SWZ_MUST_CHECK;

/* Takes back all marks. */
void swz_byte_scan_clear(struct swz_byte_scan *scan);

/* To be called when the marks are set, before the parts are searched. */
void swz_byte_scan_prepare(struct swz_byte_scan *scan);

/* Branches whose offset has one byte come first, then all others, in order of
 * what they lead to and of where they are. The same one may come twice.
 * Meanwhile marks may be taken back. */
void swz_byte_scan_part(const struct swz_byte_scan *scan,
			struct swz_byte_part *part, void *context);

/* True if a branch with an offset of one byte begins like that. */
static inline bool swz_is_short_branch(uint8_t op)
{
	return (op & 0xf0) == 0x70 || op == 0xeb || (op & 0xfc) == 0xe0;
}

/* Two bitmaps of a module's text, a bit for each byte, with which the scans are
 * asked what leads where. */

enum swz_text_map { SWZ_TEXT_MARKS, SWZ_TEXT_STARTS };

/* Makes both, all clear, in scratch memory that is reused. */
enum swz_status swz_text_maps_clear(struct swz_module *m) SWZ_MUST_CHECK;

void swz_text_mark(const struct swz_module *m, enum swz_text_map map,
		   uint64_t address);
void swz_text_unmark(const struct swz_module *m, enum swz_text_map map,
		     uint64_t address);
bool swz_text_is_marked(const struct swz_module *m, enum swz_text_map map,
			uint64_t address);

/* --- slots ---------------------------------------------------------------- */

/* Refuses functions that use the memory of their own return address (CFA - 8,
 * by their CFI), or whose CFI moves it; without CFI see return_slot.h. Finds
 * those that read a caller's (reads_above). */
void swz_scan_return_slots(struct swz_module *module,
			   const struct swz_decoders *decoders);

/* The same for one function. */
void swz_scan_return_slot(struct swz_module *module,
			  struct swz_function *function,
			  struct swz_decoder *decoder);

/* Search for instructions in the rows of a function's unwind table. */

struct swz_row_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	struct swz_function *function;
	uint64_t readable_end; /* of the text that the function is in */
	bool leaves;           /* for another frame */
	bool moves_frame;      /* see swz_released_frame_find() */
	struct swz_slot_loader loader;
};

/* Eight bytes at any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) swz_word;

#define SWZ_ONES UINT64_C(0x0101010101010101)

/* Not zero if any byte of `x` is zero. */
static inline uint64_t swz_has_zero(uint64_t x)
{
	return (x - SWZ_ONES) & ~x & (SWZ_ONES << 7);
}

/* Parts of functions without a frame, whose unwind tables look like those of
 * functions. */

/* A symbol says that it is a function (those of parts have said otherwise
 * before); so does endbr64, which only what is called needs. */
static inline bool swz_may_be_cold_part(const struct swz_function *function)
{
	return function->fde && !function->is_piece && !function->site &&
	       !function->name;
}

/* True if the function, whose first row this is, is such a part and may find
 * values below the stack pointer (in the red zone, SysV ABI 3.2.2), which hooks
 * would write over. */
bool swz_is_cold_part(const struct swz_module *module,
		      const struct swz_function *function,
		      const struct swz_cfi_row *first);

/* --- frames that are released before -------------------------------------- */

/* Functions that are handed what lies below the stack pointer. */

/* Sets finds_below of those that the function jumps to when it has given its
 * frame up, with the address of something in it in a register for arguments
 * that they may use. It may be called for several functions at a time. */
void swz_released_frame_find(const struct swz_module *module,
			     const struct swz_function *function);

/* Hand-written code finds its frame by whatever register it likes: it takes the
 * address of its return slot there (lea (%rsp), %r11), by which the unwind
 * table then finds the frame, and %rsp from there in the end (lea (%r11),
 * %rsp). That is no use of the return address, as long as nothing else is done
 * with the register. */

/* True if the instruction at `pc`, which takes the slot's address, takes it to
 * the register by which, from the next one on, the frame is found. */
bool swz_frame_moves(const struct swz_row_scan *scan, uint64_t pc,
		     const struct swz_encoding *encoding);

/* True if, in a row where such a register holds the slot's address, an
 * instruction refers to the slot or hands the address on, or may do so. False
 * for other rows. */
bool swz_frame_register_strays(const struct swz_row_scan *scan,
			       const struct swz_cfi_row *row);

#endif
